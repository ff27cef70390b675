//! Debounced change notices of a server: many notices in a row cause one refresh.

use std::sync::Mutex;
use std::sync::PoisonError;

use crate::client::list::List;
use interlingua_model::Uri;
use interlingua_wire::members::Members;
use tokio::sync::Notify;

/// How many updated resources are remembered between two looks; beyond that the list counts as changed.
const MAX_UPDATED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Changes {
    seen: Mutex<Seen>,
    notify: Notify,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) lists: Vec<List>,
    pub(super) updated: Vec<Uri>,
}

impl Changes {
    /// A notification of the server's; true when it was one of changes.
    pub(super) fn heard(&self, method: &str, params: &Members) -> bool {
        let lists = List::changed(method);
        if !lists.is_empty() {
            self.add(lists);
            return true;
        }
        if method != "notifications/resources/updated" {
            return false;
        }
        if let Some(uri) = params.text("uri") {
            self.updated([(&*uri).into()]);
        }
        true
    }

    pub(super) fn updated(&self, uris: impl IntoIterator<Item = Uri>) {
        let mut seen = self.lock();
        for uri in uris {
            if !seen.updated.contains(&uri) && seen.updated.len() < MAX_UPDATED {
                seen.updated.push(uri);
            }
        }
        drop(seen);
        self.notify.notify_one();
    }

    pub(super) fn add(&self, lists: &[List]) {
        let mut seen = self.lock();
        for list in lists {
            if !seen.lists.contains(list) {
                seen.lists.push(*list);
            }
        }
        drop(seen);
        self.notify.notify_one();
    }

    /// Has somebody looked at all of it?
    pub(super) fn are_seen(&self) -> bool {
        *self.lock() == Seen::default()
    }

    /// Waits until there is something.
    pub(super) async fn wait(&self) {
        loop {
            if !self.are_seen() {
                return;
            }
            self.notify.notified().await;
        }
    }

    pub(super) fn take(&self) -> Seen {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
