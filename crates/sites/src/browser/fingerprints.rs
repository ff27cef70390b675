//! Element fingerprints: the appearance of elements at their last use, by action and step. They are in memory, and in the hub's records so
//! that they survive a restart. They belong to one definition: a changed definition begins again with the fingerprints it was written with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::definition::repair::Fingerprint;
use crate::definition::{Site, Trouble};
use bytes::Bytes;
use interlingua_model::ports::Expect;
use interlingua_model::{Digest, PeerId, Text};
use tokio::sync::OnceCell;

use super::host::BrowserHost;

const KIND: &str = "site";
/// What was not seen for so long is forgotten.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3_600);

/// By step, from 1.
type Seen = HashMap<usize, Fingerprint>;

pub(super) struct Memory {
    peer: PeerId,
    definition: Digest,
    keeper: Arc<dyn BrowserHost>,
    /// One for each action; read once.
    actions: HashMap<Text, Action>,
}

#[derive(Default)]
struct Action {
    read: OnceCell<()>,
    seen: Mutex<Seen>,
}

impl Action {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unreadable(error: impl std::fmt::Display) -> Trouble {
    tracing::error!(event = "site_memory_unreadable", %error, "the stored fingerprints of a page cannot be read");
    Trouble::MemoryUnreadable
}

impl Memory {
    pub(super) fn new(peer: PeerId, site: &Site, keeper: Arc<dyn BrowserHost>) -> Memory {
        let actions = site.actions.keys().map(|name| (name.clone(), Action::default())).collect();
        Memory { peer, definition: site.digest, keeper, actions }
    }

    fn key(&self, action: &str) -> String {
        format!("{}/{:.16}/{action}", self.peer, self.definition.to_string())
    }

    /// All that is known of an action. When it cannot be read nothing may be pressed: an element that has become another would
    /// pass for one that was never seen.
    pub(super) async fn of(&self, action: &str) -> Result<Seen, Trouble> {
        let Some(known) = self.actions.get(action) else { return Ok(Seen::new()) };
        let read = known.read.get_or_try_init(|| async {
            let Some(records) = self.keeper.records() else { return Ok(()) };
            let found = records.get(KIND, &self.key(action), self.keeper.now()).await.map_err(unreadable)?;
            let read = found.map(|item| serde_json::from_slice::<Seen>(&item.value)).transpose().map_err(unreadable)?;
            // What was seen since is newer.
            let mut seen = known.seen();
            read.into_iter().flatten().for_each(|(step, print)| {
                seen.entry(step).or_insert(print);
            });
            Ok(())
        });
        read.await?;
        Ok(known.seen().clone())
    }

    /// Remembers what was used, and writes it down where it is news.
    pub(super) async fn keep(&self, action: &str, prints: impl Iterator<Item = (usize, Fingerprint)>) {
        let Some(known) = self.actions.get(action) else { return };
        let written = {
            let mut seen = known.seen();
            let mut news = false;
            for (step, print) in prints {
                let print = Fingerprint { selector: String::new(), ..print };
                news |= seen.insert(step, print.clone()).as_ref() != Some(&print);
            }
            news.then(|| serde_json::to_vec(&*seen).ok()).flatten()
        };
        let (Some(written), Some(records)) = (written, self.keeper.records()) else { return };
        let (key, now) = (self.key(action), self.keeper.now());
        let put = records.put(KIND, &key, Bytes::from(written), Some(now.after(KEPT)), Expect::Anything, now);
        if let Err(error) = put.await {
            tracing::warn!(event = "site_memory_not_stored", action, %error, "the fingerprints of a page could not be stored");
        }
    }
}
