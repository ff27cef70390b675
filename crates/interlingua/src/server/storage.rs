//! Store health: logs changes of the store's condition, and tries to write while the store is full.
//!
//! The trial writes matter: a hub whose `/readyz` answers 503 gets no calls, so nothing else would detect that there is space again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use interlingua_model::ports::{Condition, Expect};
use tokio::sync::watch;

use interlingua_hub::Hub;

const KIND: &str = "probe";
const KEY: &str = "room";
/// What a task of a few records takes.
const PROBE: &[u8] = &[0; 16 * 1024];
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// What people are told when the hub ends because of it.
pub(crate) const FAILED: &str = "the store failed: a write did not reach the disk, or another hub took over the database, so nothing \
     that is stored from now on could be relied on. The hub has stopped. What was confirmed before is kept. Check the disk or the \
     database, then start the hub again";

pub(super) async fn follow(hub: Arc<Hub>, mut condition: watch::Receiver<Condition>) {
    loop {
        let now = *condition.borrow_and_update();
        match now {
            // The store itself tries until the database is back.
            Condition::Writable | Condition::Away => {}
            Condition::Full => {
                tracing::error!(event = "store_full", "the disk is full: nothing can be stored until there is room");
                until_there_is_room(&hub, &condition).await;
                if *condition.borrow() == Condition::Writable {
                    tracing::info!(event = "store_writable", "the store can be written again");
                }
                continue;
            }
            // The writer has said why; whoever runs the hub ends it.
            Condition::Failed => return,
        }
        if condition.changed().await.is_err() {
            return;
        }
    }
}

async fn until_there_is_room(hub: &Hub, condition: &watch::Receiver<Condition>) {
    while *condition.borrow() == Condition::Full {
        tokio::time::sleep(PROBE_EVERY).await;
        // The writer takes note of how it goes: what comes back here says nothing more.
        let (records, now) = (hub.store_records(), hub.now());
        let put = records.put(KIND, KEY, Bytes::from_static(PROBE), Some(now), Expect::Anything, now).await;
        if put.is_ok() {
            let _ = records.take(KIND, KEY, now).await;
        }
    }
}
