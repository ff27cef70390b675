//! Options of `serve` that override the file.

use std::path::PathBuf;

use super::{Config, Kind, Listen, Peer, Speaks};
use interlingua_endpoint::sections::NamedBy;
use interlingua_settings::Problem;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    pub listen: Option<Listen>,
    /// The data directory, from the current directory.
    pub data: Option<PathBuf>,
    /// Further peers.
    pub peers: Vec<GivenPeer>,
}

/// A peer of the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenPeer {
    /// The key of its protocol, or `site`; also the flag that it was given with.
    pub key: &'static str,
    /// Where it is: a URL, a command, a file; or either behind `NAME=`.
    pub text: String,
}

impl GivenPeer {
    /// All that were given with one flag.
    pub fn all(key: &'static str, texts: &[String]) -> impl Iterator<Item = GivenPeer> {
        texts.iter().map(move |text| GivenPeer { key, text: text.clone() })
    }

    fn add(&self, config: &mut Config) -> Result<(), Problem> {
        let flag = format!("--{}", self.key);
        let (name, text) = named(&self.text);
        let speaks = Speaks::of_words(self.key, text).map_err(|problem| Problem::new(&*flag, problem))?;
        let name = name.map_or_else(|| name_of(config, &speaks), str::to_owned);
        if config.peers.contains_key(&name) {
            return Err(Problem::new(&*flag, format!("there is already a peer named `{name}`")));
        }
        config.peers.insert(name, Peer::new(speaks));
        Ok(())
    }
}

impl Overrides {
    pub(super) fn apply(&self, config: &mut Config) -> Result<(), Problem> {
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        if let Some(data) = &self.data {
            config.store.set_directory(data.clone());
        }
        self.peers.iter().try_for_each(|peer| peer.add(config))
    }
}

/// `NAME=` in front of an address or a command, which may have one of its own further on.
fn named(argument: &str) -> (Option<&str>, &str) {
    match argument.split_once('=') {
        Some((name, rest)) if !name.contains(['/', ':', ' ']) => (Some(name), rest),
        Some(_) | None => (None, argument),
    }
}

/// What a peer is called that was given without a name.
fn name_of(config: &Config, speaks: &Speaks) -> String {
    let (word, otherwise) = match speaks.kind() {
        Kind::Protocol(_, section) => match section.named_by() {
            NamedBy::Url(url, otherwise) => {
                (host_word(url), otherwise.map_or_else(|| address_word(url), str::to_owned))
            }
            NamedBy::Program { command, args } => (program_word(command, args), "tools".to_owned()),
        },
        Kind::Site(site) => {
            (site.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), "site".to_owned())
        }
    };
    free_name(config, &word, &otherwise)
}

/// The first word of the host that says something: `stripe` for `mcp.stripe.com`.
fn host_word(url: &str) -> String {
    let host = url.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let mut words = host.split('.').filter(|word| !["mcp", "api", "www"].contains(word));
    words.next().unwrap_or_default().to_owned()
}

/// A server that has only a number: `localhost-7859`, `host-10-0-0-5`.
fn address_word(url: &str) -> String {
    let Ok(uri) = url.parse::<http::Uri>() else { return "tools".to_owned() };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let number = host.parse::<std::net::IpAddr>().is_ok();
    let host = match (is_loopback, number) {
        (true, _) => "localhost".to_owned(),
        (false, true) => format!("host-{}", host.replace(['.', ':'], "-").trim_matches('-')),
        (false, false) => return "tools".to_owned(),
    };
    uri.port_u16().map_or(host.clone(), |port| format!("{host}-{port}"))
}

/// What a program is called: `time` for `uvx mcp-server-time`, `filesystem` for
/// `npx -y @modelcontextprotocol/server-filesystem .`.
fn program_word(command: &str, args: &[String]) -> String {
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let starter = base(command);
    let starts_another = ["npx", "uvx", "node", "python", "python3", "bunx", "pipx", "deno", "uv"].contains(&&*starter);
    let words = args.iter().filter(|word| !word.starts_with('-') && !["run", "tool", "exec"].contains(&&***word));
    let mut given = words.map(|word| base(word)).filter(|_| starts_another);
    let name = given.next().unwrap_or(starter);
    let name = name.split('@').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    let name = name.trim_start_matches("mcp-").trim_start_matches("server-");
    name.trim_end_matches("-mcp").trim_end_matches("-server").to_owned()
}

/// This word as far as it can be a name, else another; with a number when that is taken.
fn free_name(config: &Config, word: &str, otherwise: &str) -> String {
    let word = word.replace('_', "-");
    let fits = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !word.ends_with('-')
        && !["localhost", "mcp", "local", "hub", "graph"].contains(&&*word);
    let stem = if fits { word } else { otherwise.to_owned() };
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    names.find(|name| !config.peers.contains_key(name)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::{GivenPeer, Overrides};
    use crate::config::Config;

    fn given(key: &'static str, texts: &[&str]) -> Overrides {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Overrides { peers: GivenPeer::all(key, &texts).collect(), ..Overrides::default() }
    }

    #[test]
    fn peers_of_the_command_line_get_names() {
        let urls =
            ["http://127.0.0.1:1/nlip", "http://127.0.0.1:2/nlip", "https://hotels.example/nlip", "a=http://x/n"];
        let overrides = given("nlip", &urls);
        let mut config = Config::default();
        overrides.apply(&mut config).unwrap();
        assert_eq!(config.peers.keys().collect::<Vec<_>>(), ["nlip", "nlip-2", "hotels", "a"]);
        let commands = [
            "npx -y @modelcontextprotocol/server-filesystem@1.2 .",
            "uvx mcp-server-time --local-timezone=UTC",
            "python3 ./servers/weather_server.py",
            "https://search.example/mcp",
            "mine=/opt/thing --flag",
            "/opt/mcp",
            "https://mcp.stripe.example/",
            "http://127.0.0.1:7859/mcp",
            "http://10.0.0.5/mcp",
        ];
        let overrides = given("mcp", &commands);
        let mut served = Config::default();
        overrides.apply(&mut served).unwrap();
        let names = [
            "filesystem",
            "time",
            "weather-server",
            "search",
            "mine",
            "tools",
            "stripe",
            "localhost-7859",
            "host-10-0-0-5",
        ];
        assert_eq!(served.peers.keys().collect::<Vec<_>>(), names);
        let again = given("nlip", &["a=http://y/n"]);
        assert_eq!(again.apply(&mut config).unwrap_err().to_string(), "--nlip: there is already a peer named `a`");
    }
}
