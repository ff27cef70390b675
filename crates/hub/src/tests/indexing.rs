//! A peer that is listed can be found by words, however slow the index is.

use interlingua_model::ports::{Hit, Indexed, Pending, SkillIndex, Store};
use tokio::sync::{Semaphore, oneshot};

use super::*;
use crate::registry::Change;

/// Indexes nothing before it is let.
struct SlowIndex {
    inner: Arc<dyn SkillIndex>,
    gate: Arc<Semaphore>,
}

impl SkillIndex for SlowIndex {
    fn replace(&self, peer: &str, skills: Vec<Indexed>) -> Pending<'_, ()> {
        let peer = peer.to_owned();
        Box::pin(async move {
            let _permit = self.gate.acquire().await;
            self.inner.replace(&peer, skills).await
        })
    }

    fn search(&self, words: &str, limit: usize) -> Pending<'_, Vec<Hit>> {
        self.inner.search(words, limit)
    }
}

#[tokio::test]
async fn a_search_waits_for_a_peer_that_is_listed_and_not_indexed_yet() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(dir.path(), Options::default()).expect("opens");
    let (ports, gate) = (store.ports(), Arc::new(Semaphore::new(0)));
    let index = Arc::new(SlowIndex { inner: ports.index.clone(), gate: gate.clone() });
    let keys = Keyring::from_text(&"07".repeat(32)).expect("a key");
    let ports = Store { index, ..ports };
    let hub = Hub::new("test".into(), ports, Arc::new(keys), AdmissionLimits::default(), Settings::default());
    let (placed, seen) = oneshot::channel();
    let listed = || placed.send(()).expect("somebody waits");
    let changes = vec![Change::Put(Box::new(card()), Arc::new(Fake { calls: Arc::default() }))];
    let mut registering = std::pin::pin!(hub.register_all(changes, listed));
    tokio::select! {
        biased;
        _ = &mut registering => panic!("it was indexed at once"),
        seen = seen => seen.expect("it is listed"),
    }
    let mut searching = std::pin::pin!(hub.search_skills("echo", 5));
    tokio::select! {
        found = &mut searching => panic!("it was searched before the peer was indexed: {found:?}"),
        _ = &mut registering => panic!("nobody let it be indexed"),
        // As much time as a search takes that does not wait.
        () = tokio::time::sleep(Duration::from_millis(100)) => {}
    }
    gate.add_permits(1);
    let (registered, found) = tokio::join!(registering, searching);
    registered.expect("registers");
    let hits = found.expect("a search");
    assert!(hits.iter().any(|hit| &*hit.skill == "fake/echo"), "{hits:?}");
}
