//! What a reload would change. A reload is applied whole or not at all: a change that needs a restart is refused as a whole, and the text
//! names the keys.

use super::Config;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Keys whose change a running hub cannot take.
    pub restart: Vec<&'static str>,
    /// Keys whose change takes effect at once.
    pub live: Vec<&'static str>,
    /// Peers by name, in the order of the new file, then those that went.
    pub peers: Vec<(String, PeerChange)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerChange {
    Added,
    Changed,
    Removed,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.restart.is_empty() && self.live.is_empty()
    }
}

pub fn diff(old: &Config, new: &Config) -> Changes {
    let changed =
        |keys: Vec<(&'static str, bool)>| keys.into_iter().filter(|(_, same)| !same).map(|(key, _)| key).collect();
    Changes {
        restart: changed(needing_restart(old, new)),
        live: changed(taken_live(old, new)),
        peers: peer_changes(old, new),
    }
}

/// Keys whose change a running hub cannot take, and whether each is as it was.
fn needing_restart(old: &Config, new: &Config) -> Vec<(&'static str, bool)> {
    vec![
        ("hub", old.hub == new.hub),
        ("listen", old.listen == new.listen),
        ("insecure", old.insecure == new.insecure),
        ("tls", old.tls.is_some() == new.tls.is_some()),
        ("store", old.store.directory() == new.store.directory() && old.store.postgres == new.store.postgres),
        ("store.encryption", old.store.encryption.is_some() == new.store.encryption.is_some()),
        ("scripts", old.scripts == new.scripts),
        ("browser", old.browser == new.browser),
        ("limits.connections", old.limits.connections == new.limits.connections),
        ("limits.connections_per_address", old.limits.connections_per_address == new.limits.connections_per_address),
        ("limits.anonymous_sockets", old.limits.anonymous_sockets == new.limits.anonymous_sockets),
        ("telemetry.otlp", old.telemetry.otlp == new.telemetry.otlp),
        ("telemetry.log.format", old.telemetry.log.format == new.telemetry.log.format),
    ]
}

/// Keys whose change takes effect at once, and whether each is as it was.
fn taken_live(old: &Config, new: &Config) -> Vec<(&'static str, bool)> {
    let first = [
        ("tls", old.tls == new.tls),
        ("store.encryption", old.store.encryption == new.store.encryption),
        ("limits", old.limits == new.limits),
        ("retention", old.retention == new.retention),
        ("audit", old.audit == new.audit),
        ("peers", old.peers == new.peers),
    ];
    let last = [
        ("tools", old.tools == new.tools),
        ("hooks", old.hooks == new.hooks),
        ("models", old.models == new.models),
        ("agents", old.agents == new.agents),
        ("teams", old.teams == new.teams),
        ("front_door", old.front_door == new.front_door),
        ("confirm", old.confirm == new.confirm),
        ("access", old.access == new.access),
        ("console", old.console == new.console),
        ("telemetry.log.level", old.telemetry.log.level == new.telemetry.log.level),
    ];
    first.into_iter().chain(new.same_sections(old)).chain(last).collect()
}

fn peer_changes(old: &Config, new: &Config) -> Vec<(String, PeerChange)> {
    let now = new.peers.iter().filter_map(|(name, peer)| match old.peers.get(name) {
        None => Some((name.clone(), PeerChange::Added)),
        Some(before) if before != peer => Some((name.clone(), PeerChange::Changed)),
        Some(_) => None,
    });
    let gone = old.peers.keys().filter(|name| !new.peers.contains_key(*name));
    now.chain(gone.map(|name| (name.clone(), PeerChange::Removed))).collect()
}

#[cfg(test)]
mod tests {
    use super::{PeerChange, diff, needing_restart, taken_live};
    use crate::config::{Config, NlipPeer, Peer, Speaks, Store};

    fn peer(url: &str) -> Peer {
        Peer::new(Speaks::Nlip(Box::new(NlipPeer::new(url))))
    }

    #[test]
    fn a_new_key_must_be_thought_about() {
        let (same, schema) = (Config::default(), crate::config::schema::schema());
        let compared = [needing_restart(&same, &same), taken_live(&same, &same)].concat();
        let is_compared = |key: &str| compared.iter().any(|(path, _)| path.split('.').next() == Some(key));
        for key in schema["properties"].as_object().expect("keys").keys() {
            assert!(is_compared(key), "{key}");
        }
        assert!(!is_compared("unheard_of"));
    }

    #[test]
    fn a_reload_says_what_it_changes_and_what_it_cannot() {
        let mut old = Config::default();
        old.peers.insert("a".into(), peer("http://127.0.0.1:1/nlip"));
        old.peers.insert("b".into(), peer("http://127.0.0.1:2/nlip"));
        let mut new = old.clone();
        assert!(diff(&old, &new).is_empty());
        new.store = Store { embedded: Some("elsewhere".into()), ..Store::default() };
        new.limits.depth = 7;
        new.peers.shift_remove("a");
        new.peers.insert("b".into(), peer("http://127.0.0.1:3/nlip"));
        new.peers.insert("c".into(), peer("http://127.0.0.1:4/nlip"));
        let changes = diff(&old, &new);
        assert_eq!(changes.restart, ["store"]);
        assert_eq!(changes.live, ["limits", "peers"]);
        let named = |name: &str, change| (name.to_owned(), change);
        let peers = [named("b", PeerChange::Changed), named("c", PeerChange::Added), named("a", PeerChange::Removed)];
        assert_eq!(changes.peers, peers);
    }
}
