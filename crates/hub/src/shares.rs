//! Memory budget with a share for each caller, for what the hub holds beyond one request: a limit in bytes for all callers, and a limit for
//! one. There is one table for each kind of data; dropping a [`Share`] returns it.
//!
//! One caller may use a quarter of a table. All anonymous callers count as one, and so do all orchestrators, because they choose their own
//! names; what an agent does for a caller counts for the caller. The hub's Owner may use all of it.
//!
//! The code that holds the data decides whether a caller without budget is refused, or older data is evicted ([`Shares::most_of`]).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlingua_model::{Fault, FaultKind, Owner, Text};

/// Which part of a table may be one caller's.
const ONE_CALLER: u64 = 4;
/// The hub's Owner, as text.
pub const HUB_OWNER: &str = "owner";

/// A budget of bytes in memory, by owner. One caller may use a quarter of it.
#[derive(Debug)]
pub struct Shares {
    most: AtomicU64,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    all: u64,
    /// Of those who hold something.
    of: HashMap<Text, u64>,
}

/// Why there is no budget left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// This caller holds as much as one may.
    #[error("of all that may be held at once, one caller may hold a quarter")]
    OfOne,
    /// All together hold as much as may be held.
    #[error("as much is held as may be at once")]
    OfAll,
}

impl NoRoom {
    /// The fault for the driver of an exchange.
    pub(crate) fn for_exchanges(self) -> Fault {
        let text = match self {
            NoRoom::OfOne => "your exchanges hold as much of the hub's memory as one caller's may",
            NoRoom::OfAll => "exchanges hold as much of the hub's memory as they may",
        };
        Fault::hub(FaultKind::Busy, text)
    }
}

impl Shares {
    /// A table of so many bytes.
    pub fn new(most: u64) -> Arc<Shares> {
        Arc::new(Shares { most: AtomicU64::new(most), table: Mutex::default() })
    }

    /// Replaces the size; bytes in use are released in their time.
    pub fn resize(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// How many bytes are held.
    pub fn taken(&self) -> u64 {
        self.table().all
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes this many bytes for this owner.
    pub fn take(self: &Arc<Self>, whose: &Text, bytes: u64) -> Result<Share, NoRoom> {
        let mut share = Share { shares: self.clone(), whose: whose.clone(), bytes: 0 };
        share.resize(bytes)?;
        Ok(share)
    }

    /// For existing data, such as what was stored before a restart: it counts, even beyond the budget.
    pub fn count_in(self: &Arc<Self>, whose: &Text, bytes: u64) -> Share {
        self.table().change(whose, 0, bytes);
        Share { shares: self.clone(), whose: whose.clone(), bytes }
    }

    /// The owner that holds most.
    pub fn most_of(&self) -> Option<Text> {
        self.table().of.iter().max_by_key(|(_, bytes)| **bytes).map(|(whose, _)| whose.clone())
    }
}

impl Table {
    fn change(&mut self, whose: &Text, before: u64, after: u64) {
        self.all = self.all.saturating_sub(before).saturating_add(after);
        let held = self.of.get(whose).copied().unwrap_or(0).saturating_sub(before).saturating_add(after);
        if held == 0 {
            self.of.remove(whose);
        } else {
            self.of.insert(whose.clone(), held);
        }
    }
}

/// The tables of the hub.
#[derive(Debug)]
pub struct Holdings {
    /// Exchanges that run or wait.
    pub exchanges: Arc<Shares>,
    /// Messages that wait for agents, and answers that are remembered.
    pub inboxes: Arc<Shares>,
    /// Sessions that are kept in memory, a table for each protocol that has such.
    sessions: Mutex<Sessions>,
    /// Frames that wait to be sent to devices and orchestrators.
    pub frames: Arc<Shares>,
}

#[derive(Debug)]
struct Sessions {
    /// What the sessions of one protocol may take.
    most: u64,
    of: HashMap<&'static str, Arc<Shares>>,
}

/// Room of frames that is always there, beside four frames of the largest size.
const FRAMES: u64 = 64 << 20;

/// The size of each table in bytes.
#[derive(Debug, Clone, Copy)]
pub struct HoldingLimits {
    /// Exchanges that run or wait.
    pub exchanges: u64,
    /// Messages that wait for agents.
    pub inboxes: u64,
    /// Sessions of one protocol.
    pub sessions: u64,
    /// The largest message. One of this size fits into the share of one caller.
    pub message: u64,
}

impl Default for Holdings {
    fn default() -> Self {
        Holdings {
            exchanges: Shares::new(512 << 20),
            inboxes: Shares::new(256 << 20),
            sessions: Mutex::new(Sessions { most: 64 << 20, of: HashMap::new() }),
            frames: Shares::new(5 * FRAMES),
        }
    }
}

impl Holdings {
    /// Replaces the limits.
    pub fn set(&self, limits: HoldingLimits) {
        self.exchanges.resize(limits.exchanges);
        self.inboxes.resize(limits.inboxes);
        self.frames.resize(limits.message.saturating_mul(ONE_CALLER).saturating_add(FRAMES));
        let mut sessions = self.sessions();
        sessions.most = limits.sessions;
        sessions.of.values().for_each(|shares| shares.resize(limits.sessions));
    }

    /// The table of a protocol's sessions.
    pub fn sessions_of(&self, protocol: &'static str) -> Arc<Shares> {
        let mut sessions = self.sessions();
        let most = sessions.most;
        sessions.of.entry(protocol).or_insert_with(|| Shares::new(most)).clone()
    }

    /// How many bytes the sessions of all protocols take.
    pub(crate) fn session_bytes(&self) -> u64 {
        self.sessions().of.values().map(|shares| shares.taken()).sum()
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An owner's share, until it is dropped.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    whose: Text,
    bytes: u64,
}

impl Share {
    /// The owner of the share, as text.
    pub fn whose(&self) -> &Text {
        &self.whose
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes its size. Without budget for more it stays as it is; it can always shrink.
    pub fn resize(&mut self, bytes: u64) -> Result<(), NoRoom> {
        let most = self.shares.most.load(Ordering::Relaxed);
        let mut table = self.shares.table();
        if let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) {
            let theirs = table.of.get(&self.whose).copied().unwrap_or(0).saturating_add(more);
            if &*self.whose != HUB_OWNER && theirs > most / ONE_CALLER {
                return Err(NoRoom::OfOne);
            }
            if table.all.saturating_add(more) > most {
                return Err(NoRoom::OfAll);
            }
        }
        table.change(&self.whose, self.bytes, bytes);
        drop(table);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.table().change(&self.whose, self.bytes, 0);
    }
}

/// The owner in whose share something counts.
pub fn whose(owner: &Owner) -> Text {
    whose_text(&owner.to_string())
}

/// The same for an owner as text: its first subject, and only the kind for subjects that choose their own names.
pub fn whose_text(owner: &str) -> Text {
    let first = first_subject(owner);
    match first.split_once(':') {
        Some((kind @ "orchestrator", _)) => kind.into(),
        Some(_) | None => first.into(),
    }
}

/// `>` separates subjects; in a name it is doubled, and `>0` is a NUL.
fn first_subject(owner: &str) -> &str {
    let mut from = 0;
    while let Some(at) = owner.get(from..).and_then(|rest| rest.find('>')).map(|at| from + at) {
        match owner.as_bytes().get(at + 1) {
            Some(b'>' | b'0') => from = at + 2,
            Some(_) | None => return owner.get(..at).unwrap_or(owner),
        }
    }
    owner
}

#[cfg(test)]
mod tests {
    use interlingua_model::Subject;

    use super::*;

    fn text(name: &str) -> Text {
        name.into()
    }

    #[test]
    fn one_caller_has_a_quarter_and_all_together_have_the_whole() {
        let shares = Shares::new(100);
        let ada = shares.take(&text("user:ada"), 25).expect("a quarter");
        assert_eq!(shares.take(&text("user:ada"), 1).expect_err("more"), NoRoom::OfOne);
        let mut others: Vec<Share> =
            ["b", "c", "d"].map(|name| shares.take(&text(name), 25).expect("a quarter")).into();
        assert_eq!(shares.take(&text("user:eve"), 1).expect_err("full"), NoRoom::OfAll);
        assert_eq!(shares.take(&text("owner"), 1).expect_err("full"), NoRoom::OfAll);
        drop(ada);
        let mut owner = shares.take(&text("owner"), 20).expect("there is room again");
        others.pop();
        owner.resize(50).expect("the Owner may have more than a quarter");
        assert_eq!((shares.taken(), shares.most_of()), (100, Some(text("owner"))));
        owner.resize(51).expect_err("but no more than all");
        owner.resize(10).expect("less always");
        drop((owner, others));
        assert_eq!((shares.taken(), shares.most_of()), (0, None), "nothing is left of those who hold nothing");
    }

    #[test]
    fn what_is_there_already_counts_and_a_smaller_table_takes_nothing_away() {
        let shares = Shares::new(100);
        let old = shares.count_in(&text("user:ada"), 300);
        assert_eq!(shares.take(&text("user:bob"), 1).expect_err("full"), NoRoom::OfAll);
        drop(old);
        let bob = shares.take(&text("user:bob"), 20).expect("room");
        shares.resize(10);
        assert_eq!(shares.taken(), 20);
        drop(bob);
        shares.take(&text("user:bob"), 3).expect_err("a quarter of less");
    }

    #[test]
    fn a_callers_share_does_not_grow_with_names_of_its_choice() {
        let owner = |subjects: Vec<Subject>| whose(&Owner(subjects.into()));
        let ada = || Subject::User("ada".into());
        assert_eq!(&*owner(vec![ada(), Subject::Agent("helper".into())]), "user:ada");
        assert_eq!(&*owner(vec![Subject::User("a>b".into()), Subject::Agent("x".into())]), "user:a>>b");
        assert_eq!(owner(vec![Subject::Orchestrator("x".into())]), owner(vec![Subject::Orchestrator("y".into())]));
        assert_eq!(&*owner(vec![Subject::Anonymous, Subject::Agent("helper".into())]), "anonymous");
        assert_eq!(&*owner(vec![Subject::HubOwner]), HUB_OWNER);
    }
}
