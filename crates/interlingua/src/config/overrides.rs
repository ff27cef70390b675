//! What the command line of `serve` says on top of the file.

use std::path::PathBuf;

use super::{Config, Listen, NlipPeer, Peer, Problem, Speaks};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    pub listen: Option<Listen>,
    /// The data directory, from the current directory.
    pub data: Option<PathBuf>,
    /// NLIP peers, as `URL` or `NAME=URL`.
    pub nlip: Vec<String>,
}

impl Overrides {
    pub(super) fn apply(&self, config: &mut Config) -> Result<(), Problem> {
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        if let Some(data) = &self.data {
            config.store.embedded.clone_from(data);
        }
        for argument in &self.nlip {
            let (name, url) = match argument.split_once('=') {
                Some((name, url)) if !name.contains(['/', ':']) => (name.to_owned(), url),
                Some(_) | None => (free_name(config, argument), argument.as_str()),
            };
            if config.peers.contains_key(&name) {
                return Err(Problem::new("--nlip", format!("there is already a peer named `{name}`")));
            }
            config.peers.insert(name, Peer::new(Speaks::Nlip(NlipPeer::new(url))));
        }
        Ok(())
    }
}

/// The first word of the host, or `nlip`; with a number when that is taken.
fn free_name(config: &Config, url: &str) -> String {
    let host = url.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let word = host.split('.').next().unwrap_or_default().replace('_', "-");
    let named = word.starts_with(|c: char| c.is_ascii_alphabetic()) && word != "localhost";
    let stem = if named { word } else { "nlip".to_owned() };
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    names.find(|name| !config.peers.contains_key(name)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::Overrides;
    use crate::config::Config;

    #[test]
    fn peers_of_the_command_line_get_names() {
        let urls =
            ["http://127.0.0.1:1/nlip", "http://127.0.0.1:2/nlip", "https://hotels.example/nlip", "a=http://x/n"];
        let overrides = Overrides { nlip: urls.map(String::from).to_vec(), ..Overrides::default() };
        let mut config = Config::default();
        overrides.apply(&mut config).unwrap();
        assert_eq!(config.peers.keys().collect::<Vec<_>>(), ["nlip", "nlip-2", "hotels", "a"]);
        let again = Overrides { nlip: vec!["a=http://y/n".into()], ..Overrides::default() };
        assert_eq!(again.apply(&mut config).unwrap_err().to_string(), "--nlip: there is already a peer named `a`");
    }
}
