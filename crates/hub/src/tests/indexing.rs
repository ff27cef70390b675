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
    let registering = tokio::spawn({
        let (hub, peer) = (hub.clone(), Arc::new(Fake { calls: Arc::default() }));
        async move { hub.register_all(vec![Change::Put(Box::new(card()), peer)], || drop(placed.send(()))).await }
    });
    seen.await.expect("it is listed");
    let searching = tokio::spawn({
        let hub = hub.clone();
        async move { hub.search_skills("echo", 5).await }
    });
    // As much time as a search takes that does not wait.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!searching.is_finished(), "it was searched before the peer was indexed");
    gate.add_permits(1);
    registering.await.expect("no panic").expect("registers");
    let hits = searching.await.expect("no panic").expect("a search");
    assert!(hits.iter().any(|hit| &*hit.skill == "fake/echo"), "{hits:?}");
}
