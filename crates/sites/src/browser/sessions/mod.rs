//! Sessions: contexts that persist between calls, each of one owner, one site and one name, so that a login persists.
//!
//! Reading order: [`Key`] (owner, site and name), `Session` and `Table` here (the sessions, their number and expiry), `visit` (one call at
//! a time in one of them), `kept` (those that outlive the browser, sealed in the hub's records).
//!
//! A session ends when it was idle for as long as its definition says, when its owner revokes it, or with its site's data; a running call
//! in it then ends with it. A process that is replaced hands its sessions on; the sessions of a process that dies are lost, and the next
//! call is informed.

pub(super) mod kept;
pub(super) mod visit;

pub use kept::KIND;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::definition::Trouble;
use crate::definition::session::Sessions;
use interlingua_model::address::Origin;
use interlingua_model::{Digest, Owner, PeerId, Text, Time};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::Background;
use super::page::Page;
use super::state::BrowserState;

/// Whose a session is. Another owner's of the same name is another session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub site: PeerId,
    pub owner: Owner,
    pub name: Text,
}

impl Key {
    /// By which its owner names it. It opens nothing.
    pub fn id(&self) -> Text {
        // A list of subjects: writing it has no way to fail.
        let owner = serde_json::to_vec(&self.owner).unwrap_or_default();
        let digest = Digest::of_fields([self.site.as_str().as_bytes(), &owner, self.name.as_bytes()]);
        format!("{:.16}", digest.to_string()).into()
    }
}

/// What can be seen of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub key: Key,
    pub stands: Stands,
    pub begun: Time,
    pub used: Time,
    /// When it ends if nobody uses it.
    pub until: Time,
    /// Since the browser has it.
    pub calls: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// A call is in it.
    InUse,
    /// It rests in the browser.
    Idle,
    /// It is written down, and no browser has it.
    Kept,
}

impl Stands {
    pub fn as_str(self) -> &'static str {
        match self {
            Stands::InUse => "in_use",
            Stands::Idle => "idle",
            Stands::Kept => "kept",
        }
    }
}

/// One session in the browser.
pub(super) struct Session {
    key: Key,
    /// One call at a time, in the order in which they came.
    turn: Arc<Semaphore>,
    ended: watch::Sender<bool>,
    rest: Mutex<SessionData>,
}

/// What a session has between calls.
struct SessionData {
    page: Option<Page>,
    note: Option<visit::Found>,
    /// What was last taken out of it.
    state: BrowserState,
    origins: Arc<[Origin]>,
    keep: Duration,
    until: Instant,
    begun: Time,
    used: Time,
    calls: u64,
}

impl Session {
    fn rest(&self) -> MutexGuard<'_, SessionData> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    fn seen(&self, now: Time) -> Seen {
        let stands = if self.turn.available_permits() == 0 { Stands::InUse } else { Stands::Idle };
        let rest = self.rest();
        let left = match stands {
            Stands::InUse => rest.keep,
            Stands::Idle | Stands::Kept => rest.until.saturating_duration_since(Instant::now()),
        };
        let (begun, used, calls) = (rest.begun, rest.used, rest.calls);
        Seen { key: self.key.clone(), stands, begun, used, until: now.after(left), calls }
    }
}

/// The sessions of one browser.
pub(super) struct Table {
    live: Mutex<HashMap<Key, Arc<Session>>>,
    /// Of all owners together; one owner has at most half.
    most: usize,
    background: Background,
}

impl Table {
    pub(super) fn new(most: usize, background: Background) -> Arc<Table> {
        Arc::new(Table { live: Mutex::default(), most, background })
    }

    fn live(&self) -> MutexGuard<'_, HashMap<Key, Arc<Session>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.live().contains_key(key)
    }

    pub(super) fn seen(&self, now: Time) -> Vec<Seen> {
        let live: Vec<Arc<Session>> = self.live().values().cloned().collect();
        live.iter().map(|session| session.seen(now)).collect()
    }

    /// The session of this key; a new one where there is room. `beside`: how many more its owner has that no browser has.
    fn claim(self: &Arc<Table>, key: &Key, how: &Sessions, beside: usize, now: Time) -> Result<Arc<Session>, Trouble> {
        let mut live = self.live();
        if let Some(session) = live.get(key) {
            return Ok(Arc::clone(session));
        }
        let theirs = beside + live.keys().filter(|other| other.owner == key.owner).count();
        let each = (self.most / 2).max(1);
        if theirs >= each {
            return Err(Trouble::TooManySessions(theirs));
        }
        if live.len() >= self.most {
            return Err(Trouble::TooManySessions(live.len()));
        }
        let rest = SessionData {
            page: None,
            note: None,
            state: BrowserState::default(),
            origins: Arc::default(),
            keep: how.keep,
            until: Instant::now() + how.keep,
            begun: now,
            used: now,
            calls: 0,
        };
        let (ended, hears) = watch::channel(false);
        let session =
            Arc::new(Session { key: key.clone(), turn: Arc::new(Semaphore::new(1)), ended, rest: Mutex::new(rest) });
        live.insert(key.clone(), Arc::clone(&session));
        let aging = age(Arc::downgrade(self), Arc::downgrade(&session), hears);
        (self.background)(Box::pin(aging));
        Ok(session)
    }

    /// Ends a session; whoever is in it is told.
    pub(super) fn end(&self, key: &Key) -> bool {
        let Some(session) = self.live().remove(key) else { return false };
        session.ended.send_replace(true);
        let page = session.rest().page.take();
        drop(page);
        true
    }

    /// Ends this very session, not another that has taken its place.
    fn end_this(&self, session: &Arc<Session>) {
        let is_this = self.live().get(&session.key).is_some_and(|live| Arc::ptr_eq(live, session));
        if is_this {
            self.end(&session.key);
        }
    }

    pub(super) fn end_all(&self) {
        let all: Vec<Key> = self.live().keys().cloned().collect();
        for key in all {
            self.end(&key);
        }
    }

    /// Sessions that rest on pages for which this is true.
    pub(super) fn resting(&self, on: impl Fn(&Page) -> bool) -> Vec<Arc<Session>> {
        let live: Vec<Arc<Session>> = self.live().values().cloned().collect();
        live.into_iter().filter(|session| session.rest().page.as_ref().is_some_and(&on)).collect()
    }
}

/// Ends a session that nobody has used for long enough.
async fn age(table: Weak<Table>, session: Weak<Session>, mut ended: watch::Receiver<bool>) {
    loop {
        let Some(until) = session.upgrade().map(|session| session.rest().until) else { return };
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = tokio::time::sleep_until(until) => {}
        }
        let (Some(table), Some(session)) = (table.upgrade(), session.upgrade()) else { return };
        // Whoever comes now waits for this turn, finds the session ended and begins another.
        match session.turn.try_acquire() {
            Ok(_turn) if session.rest().until <= Instant::now() => return table.end_this(&session),
            Ok(_turn) => {}
            // In use: when it rests again it has all its time again.
            Err(_) => {
                let mut rest = session.rest();
                rest.until = Instant::now() + rest.keep;
            }
        }
    }
}
