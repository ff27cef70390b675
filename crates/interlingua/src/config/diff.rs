//! What a reload would change. A reload is whole or not at all: one that needs a restart is refused as a whole, and the
//! text says which keys.

use super::{Config, Telemetry};

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
    // Taken apart, so that a new key must be thought about here.
    let Config {
        hub,
        listen,
        insecure,
        tls,
        store,
        limits,
        retention,
        audit,
        peers,
        nlip,
        mcp,
        a2a,
        aip,
        browser,
        tools,
        hooks,
        scripts,
        models,
        agents,
        teams,
        front_door,
        confirm,
        access,
        telemetry: Telemetry { otlp, log },
    } = old;
    let changed = |keys: &[(&'static str, bool)]| keys.iter().filter(|(_, same)| !same).map(|(key, _)| *key).collect();
    Changes {
        restart: changed(&[
            ("hub", *hub == new.hub),
            ("listen", *listen == new.listen),
            ("insecure", *insecure == new.insecure),
            ("tls", tls.is_some() == new.tls.is_some()),
            ("store", store.embedded == new.store.embedded),
            ("store.encryption", store.encryption.is_some() == new.store.encryption.is_some()),
            ("scripts", *scripts == new.scripts),
            ("browser", *browser == new.browser),
            ("limits.connections", limits.connections == new.limits.connections),
            ("limits.connections_per_address", limits.connections_per_address == new.limits.connections_per_address),
            ("limits.anonymous_sockets", limits.anonymous_sockets == new.limits.anonymous_sockets),
            ("telemetry.otlp", *otlp == new.telemetry.otlp),
            ("telemetry.log.format", log.format == new.telemetry.log.format),
        ]),
        live: changed(&[
            ("tls", *tls == new.tls),
            ("store.encryption", store.encryption == new.store.encryption),
            ("limits", *limits == new.limits),
            ("retention", *retention == new.retention),
            ("audit", *audit == new.audit),
            ("peers", *peers == new.peers),
            ("nlip", *nlip == new.nlip),
            ("mcp", *mcp == new.mcp),
            ("a2a", *a2a == new.a2a),
            ("aip", *aip == new.aip),
            ("tools", *tools == new.tools),
            ("hooks", *hooks == new.hooks),
            ("models", *models == new.models),
            ("agents", *agents == new.agents),
            ("teams", *teams == new.teams),
            ("front_door", *front_door == new.front_door),
            ("confirm", *confirm == new.confirm),
            ("access", *access == new.access),
            ("telemetry.log.level", log.level == new.telemetry.log.level),
        ]),
        peers: peer_changes(old, new),
    }
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
    use super::{PeerChange, diff};
    use crate::config::{Config, NlipPeer, Peer, Speaks, Store};

    fn peer(url: &str) -> Peer {
        Peer::new(Speaks::Nlip(NlipPeer::new(url)))
    }

    #[test]
    fn a_reload_says_what_it_changes_and_what_it_cannot() {
        let mut old = Config::default();
        old.peers.insert("a".into(), peer("http://127.0.0.1:1/nlip"));
        old.peers.insert("b".into(), peer("http://127.0.0.1:2/nlip"));
        let mut new = old.clone();
        assert!(diff(&old, &new).is_empty());
        new.store = Store { embedded: "elsewhere".into(), ..Store::default() };
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
