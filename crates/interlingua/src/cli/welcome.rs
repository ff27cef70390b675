//! The first lines of `serve`: where the hub is, and what to do next. Each command is printed as it has to be typed in the directory where the
//! hub was started.

use std::path::Path;

use super::Failure;
use super::screen::Screen;
use crate::config::Config;
use crate::server::run::Server;
use interlingua_access::owner_token;

/// Where commands look for a hub if nobody says otherwise.
const DATA: &str = "data";

pub(super) fn announce(server: &Server, config: &Config, file: Option<&Path>) -> Result<(), Failure> {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", server.address);
    let screen = Screen::people();
    lines(&url, config, file).iter().try_for_each(|line| screen.say(line))
}

/// What is printed here is stored by journals and in the logs of containers: the place of the token, and never the token itself.
fn lines(url: &str, config: &Config, file: Option<&Path>) -> [String; 5] {
    let data = config.data();
    let at = if data == Path::new(DATA) { String::new() } else { format!(" --data {}", typed(data)) };
    let with = file.map_or_else(|| at.clone(), |file| format!(" -c {}", typed(file)));
    let console = match config.console.rules().enabled {
        true => format!("interlingua open{at}"),
        false => "off (`console.enabled`)".to_owned(),
    };
    [
        format!("listening on {url}"),
        format!("data:    {}; the Owner's token is in {}", shown(data), data.join(owner_token::FILE).display()),
        format!("try:     interlingua ask \"what can you do\"{at}"),
        format!(
            "clients: interlingua connect CLIENT --write{with}  (`connect --help` lists them); others over MCP at {url}/mcp"
        ),
        format!("console: {console}"),
    ]
}

/// The whole path, where it can be known.
fn shown(path: &Path) -> String {
    std::path::absolute(path).as_deref().unwrap_or(path).display().to_string()
}

/// A path as a shell takes it.
fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@:,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, load_text};

    fn said(yaml: &str, file: Option<&str>) -> [String; 5] {
        let loaded = load_text(yaml, Path::new("hub.yaml"), &Overrides::default(), &|_| None).expect("valid");
        lines("http://127.0.0.1:7447", &loaded.config, file.map(Path::new))
    }

    #[test]
    fn the_commands_name_the_hub_unless_it_is_the_usual_one() {
        let [listening, data, ask, clients, console] = said("", None);
        assert_eq!(listening, "listening on http://127.0.0.1:7447");
        assert!(data.contains(&std::path::absolute("data").expect("a path").display().to_string()), "{data}");
        assert!(data.ends_with("; the Owner's token is in data/token"), "{data}");
        assert_eq!(ask, "try:     interlingua ask \"what can you do\"");
        assert!(clients.contains("connect CLIENT --write  (") && clients.ends_with("http://127.0.0.1:7447/mcp"));
        assert_eq!(console, "console: interlingua open");
        let [_, _, ask, clients, console] = said("store: { embedded: '/srv/my hub' }", Some("hubs/it's.yaml"));
        assert!(ask.ends_with(" --data '/srv/my hub'"), "{ask}");
        assert!(clients.contains(r"--write -c 'hubs/it'\''s.yaml'  ("), "{clients}");
        assert_eq!(console, "console: interlingua open --data '/srv/my hub'");
    }

    #[test]
    fn a_console_that_is_off_is_not_recommended() {
        assert_eq!(said("console: { enabled: false }", None)[4], "console: off (`console.enabled`)");
    }
}
