//! Storage ports: what durable storage must offer. Drivers implement these traits; the code above does not know which driver runs.
//!
//! A write is acknowledged when it is appended and synced: a future returned here resolves only when the bytes would survive a power cut.
//! Records are opaque to a driver; it never parses one.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::digest::Digest;
use crate::fault::{Fault, FaultKind, Retry};
use crate::id::{ConversationId, TaskId, Text, Time, TopicId};
use crate::journal::Log;

/// After how long a store that was away is worth another attempt.
const AWAY_AGAIN: Duration = Duration::from_secs(1);

/// What every port returns: a future of its result.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreFault>> + Send + 'a>>;

/// Why the store did not do it.
///
/// It is no `std::error::Error`, so that [`Fault::internal`] does not take it: a store that is full is not a failure of the hub, and
/// whoever asked must be told so. It becomes a [`Fault`] by `From`, and in no other way.
#[derive(Debug, Clone)]
pub enum StoreFault {
    /// Someone else appended first (journal) or the revision moved (records).
    Moved {
        /// What the writer expected to find.
        expected: u64,
        /// The actual sequence.
        found: u64,
    },
    /// Nothing is held under this name (any more).
    Missing(Text),
    /// There is no space left: on the disk, or in the store's own limit.
    Full(Text),
    /// The store cannot be reached, or cannot tell yet what became of an earlier write. The condition passes, as
    /// [`StoreFault::Full`] does: whoever asked is busy until then, and a task stands still. What is answered so was not done,
    /// and never will be: a driver that does not know what became of a write finds out before it answers.
    Away(Text),
    /// One owner keeps as many of these as one may.
    Crowded(Text),
    /// The store cannot do its work, such as an I/O error.
    Broken(Text),
    /// Stored bytes are not what was written.
    Damaged(Text),
    /// The store was closed because the hub stops.
    Closed,
}

impl StoreFault {
    /// Is it a condition that passes by itself, so that the same may be attempted again?
    pub fn passes(&self) -> bool {
        match self {
            StoreFault::Full(_) | StoreFault::Away(_) => true,
            StoreFault::Moved { .. }
            | StoreFault::Missing(_)
            | StoreFault::Crowded(_)
            | StoreFault::Broken(_)
            | StoreFault::Damaged(_)
            | StoreFault::Closed => false,
        }
    }
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreFault::Moved { expected, found } => write!(f, "expected {expected}, found {found}"),
            StoreFault::Missing(what) => write!(f, "not held: {what}"),
            StoreFault::Full(what) => write!(f, "the store is full: {what}"),
            StoreFault::Away(why) => write!(f, "the store cannot be reached: {why}"),
            StoreFault::Crowded(what) => write!(f, "as many {what} as one owner may keep"),
            StoreFault::Broken(why) => write!(f, "the store failed: {why}"),
            StoreFault::Damaged(what) => write!(f, "what was stored is damaged: {what}"),
            StoreFault::Closed => f.write_str("the store is closed"),
        }
    }
}

/// What is logged of it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(StoreFault);

/// A store that is full or away is a condition that passes, and its callers may know; so may somebody who keeps too much.
/// Everything else is the hub's own failure.
impl From<StoreFault> for Fault {
    fn from(fault: StoreFault) -> Fault {
        match fault {
            StoreFault::Full(_) => {
                Fault::hub(FaultKind::Busy, "the hub's store is full: nothing can be kept until there is room")
                    .because(Cause(fault))
            }
            StoreFault::Away(_) => Fault::hub(FaultKind::Busy, "the hub's store cannot be reached at the moment")
                .retry(Retry::After(Some(AWAY_AGAIN)))
                .because(Cause(fault)),
            StoreFault::Crowded(what) => {
                let text = format!("as many {what} as one caller may keep here; remove some first");
                Fault::caller(FaultKind::TooLarge, text)
            }
            StoreFault::Moved { .. }
            | StoreFault::Missing(_)
            | StoreFault::Broken(_)
            | StoreFault::Damaged(_)
            | StoreFault::Closed => Fault::internal(Cause(fault)),
        }
    }
}

/// One atomic append to one log.
#[derive(Debug, Clone)]
pub struct Append {
    /// The log that is appended to.
    pub log: Log,
    /// Where the log must stand.
    pub expected: Expected,
    /// The time of all of them.
    pub at: Time,
    /// The records, encoded by [`crate::journal::to_bytes`].
    pub records: Vec<Bytes>,
    /// An idempotency key. When another log holds it (and its window has not passed), nothing is written and the answer is
    /// [`Appended::Exists`].
    pub unique: Option<Unique>,
    /// What lists show of this task, written in the same transaction.
    pub row: Option<TaskRow>,
    /// The limits of this task and its owner. Beyond them the oldest finished tasks of the owner are evicted; if none is finished, the
    /// append is refused as [`StoreFault::Crowded`].
    pub most: Option<TaskRoom>,
    /// Bytes of content that these records speak of and that is stored elsewhere (blobs). They count for the owner of the task
    /// until it is removed.
    pub beside: u64,
    /// The owner of these records of a topic. They count in the owner's bytes until they are removed.
    pub share: Option<Share>,
}

/// An owner, and its quota in bytes. Beyond it its oldest finished tasks are evicted; if that is not enough, more is refused as
/// [`StoreFault::Crowded`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// [`crate::Owner`] as text.
    pub owner: Text,
    /// The quota in bytes.
    pub bytes: u64,
}

/// Limits of what is stored; without a number there is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskRoom {
    /// Tasks of the owner. Counts for a new one.
    pub tasks: Option<u64>,
    /// Bytes of the owner: journals of all tasks with their folds and what is stored beside them, records with what is stored
    /// beside them, and records of topics.
    pub bytes: Option<u64>,
    /// Bytes in the journals of this task.
    pub of_task: Option<u64>,
}

/// The sequence that a log must have for an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The sequence of the last record before these; 0 for a new log. The first record gets one more.
    At(u64),
    /// Any sequence, the store gives the next one: for logs with many writers and no state, audit and topics.
    Any,
}

/// An idempotency key with its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unique {
    /// A digest of the owner, the conversation and the caller's message id.
    pub key: Digest,
    /// Digest of what was asked: the same key with another body is a conflict.
    pub body: Digest,
    /// Until then a repetition finds the first call.
    pub until: Time,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// Written and synced; the sequence of the last record.
    At(u64),
    /// The key is held by this task, whose body had this digest.
    Exists {
        /// The task that holds the key.
        task: TaskId,
        /// The digest of what it asked.
        body: Digest,
    },
}

/// A line in the list of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// The task.
    pub task: TaskId,
    /// [`crate::Owner`] as text.
    pub owner: Text,
    /// The conversation it belongs to.
    pub conversation: Option<ConversationId>,
    /// The task that started it, if one did.
    pub parent: Option<TaskId>,
    /// The skill it went to, as `peer/skill`; `None` until one is chosen.
    pub skill: Option<Text>,
    /// Its phase.
    pub state: TaskPhase,
    /// When it was accepted.
    pub created: Time,
    /// When its last record was written.
    pub updated: Time,
}

/// As much of the state as a list needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskPhase {
    /// Nothing was sent yet.
    Accepted,
    /// A peer works on it.
    Running,
    /// A question is open.
    Waiting,
    /// It ended as it should.
    Completed,
    /// It ended with a fault.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl TaskPhase {
    /// All of them.
    pub const ALL: [TaskPhase; 6] = [
        TaskPhase::Accepted,
        TaskPhase::Running,
        TaskPhase::Waiting,
        TaskPhase::Completed,
        TaskPhase::Failed,
        TaskPhase::Cancelled,
    ];

    /// Has it ended?
    pub fn is_done(self) -> bool {
        match self {
            TaskPhase::Completed | TaskPhase::Failed | TaskPhase::Cancelled => true,
            TaskPhase::Accepted | TaskPhase::Running | TaskPhase::Waiting => false,
        }
    }

    /// The word in lists and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskPhase::Accepted => "accepted",
            TaskPhase::Running => "running",
            TaskPhase::Waiting => "waiting",
            TaskPhase::Completed => "completed",
            TaskPhase::Failed => "failed",
            TaskPhase::Cancelled => "cancelled",
        }
    }

    /// The reverse of [`TaskPhase::as_str`].
    pub fn parse(text: &str) -> Option<TaskPhase> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text)
    }
}

/// Which tasks to list; newest first, `before` is the cursor returned with the last page.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only those of this owner ([`crate::Owner`] as text).
    pub owner: Option<Text>,
    /// Only those of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only tasks in this phase.
    pub state: Option<TaskPhase>,
    /// Only those not done.
    pub live: bool,
    /// Creation time and id of the last one of the page before.
    pub before: Option<(Time, TaskId)>,
    /// How many at most.
    pub limit: usize,
}

/// Which tasks to list by their last change, newest first; `before` is the change of the last one of the page before.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    /// Only those of this owner ([`crate::Owner`] as text).
    pub owner: Option<Text>,
    /// Only those of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only tasks in this phase.
    pub state: Option<TaskPhase>,
    /// Only those that went to a skill of this peer.
    pub peer: Option<Text>,
    /// Only changes after this.
    pub since: Option<Time>,
    /// Change and id of the last one of the page before.
    pub before: Option<(Time, TaskId)>,
    /// How many at most.
    pub limit: usize,
}

/// A stored record with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its place in the log, from 1.
    pub seq: u64,
    /// When it was appended.
    pub at: Time,
    /// The record, as it was appended.
    pub bytes: Bytes,
}

/// A page of records ends with the one that makes it this long, however few they are.
pub const READ_BYTES: usize = 4 * 1024 * 1024;

/// Does nothing follow this page, which was to have `limit` records?
pub fn is_last(page: &[Stored], limit: usize) -> bool {
    page.len() < limit && page.iter().map(|stored| stored.bytes.len()).sum::<usize>() < READ_BYTES
}

/// Append-only records.
pub trait Journal: Send + Sync {
    /// Appends all records or none. Returns when they are synced.
    fn append(&self, append: Append) -> Pending<'_, Appended>;
    /// Records after `after`, oldest first, at most `limit`, and no more once they have [`READ_BYTES`]: see [`is_last`].
    fn read(&self, log: Log, after: u64, limit: usize) -> Pending<'_, Vec<Stored>>;
    /// The sequence of the last record ever appended; 0 for a log that never was. Retention does not lower it.
    fn last(&self, log: Log) -> Pending<'_, u64>;
    /// Keeps the fold of a log up to `upto`, in place of an earlier one. It never replaces records, it saves reading them.
    fn snapshot(&self, log: Log, upto: u64, at: Time, fold: Bytes) -> Pending<'_, ()>;
    /// The newest stored fold of this log; its `seq` is the last record it holds.
    fn latest(&self, log: Log) -> Pending<'_, Option<Stored>>;
    /// The row of a task.
    fn task(&self, task: TaskId) -> Pending<'_, Option<TaskRow>>;
    /// Rows by creation, newest first.
    fn tasks(&self, filter: TaskFilter) -> Pending<'_, Vec<TaskRow>>;
    /// Rows by their last change, newest first.
    fn changed(&self, filter: Changed) -> Pending<'_, Vec<TaskRow>>;
    /// How many there are, whatever the page.
    fn count(&self, filter: Changed) -> Pending<'_, u64>;
    /// The task that holds this idempotency key, and the digest of its request.
    fn unique(&self, key: Digest, now: Time) -> Pending<'_, Option<(TaskId, Digest)>>;
    /// Removes finished tasks, topics and audit lines by their rules, and keys whose window has passed.
    fn retain(&self, rules: Retention, now: Time) -> Pending<'_, Removed>;
    /// Removes one task and all that belongs to it: its journals, its keys, and the tasks it started.
    fn forget(&self, task: TaskId) -> Pending<'_, bool>;
    /// Removes all records of a topic and its fold. Its sequence continues.
    fn clear(&self, topic: TopicId) -> Pending<'_, ()>;
    /// Replaces the bytes of one record; false if there is none. For the audit log, whose chain holds without a redacted line, and for
    /// records of a topic that are not needed any more.
    fn redact(&self, log: Log, seq: u64, bytes: Bytes) -> Pending<'_, bool>;
    /// Removes all tasks of an owner; returns how many.
    fn forget_owner(&self, owner: &str) -> Pending<'_, u64>;
}

/// Age and count for each kind. A task that is not done is never removed, whatever its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long finished tasks are stored.
    pub tasks: Duration,
    /// How many finished tasks are stored.
    pub tasks_count: u64,
    /// How long lines of the audit log are stored.
    pub audit: Duration,
    /// How many lines of the audit log are stored.
    pub audit_count: u64,
    /// How many bytes of the audit log are stored.
    pub audit_bytes: u64,
    /// How long records of topics are stored.
    pub topics: Duration,
    /// Of each topic.
    pub topics_count: u64,
}

/// How much a round of retention removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Tasks.
    pub tasks: u64,
    /// Lines of the audit log.
    pub audit: u64,
    /// Records of topics.
    pub topics: u64,
    /// Idempotency keys whose window had passed.
    pub keys: u64,
}

/// A small keyed value. `kind` separates name spaces: conversations, tokens, secrets, push configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name within its kind.
    pub key: Text,
    /// Counted up by every put, from 1; 0 is one that is not stored.
    pub revision: u64,
    /// The value. The store does not read it.
    pub value: Bytes,
    /// When it is removed; `None` is never.
    pub expires: Option<Time>,
}

impl Item {
    /// One that is not stored yet.
    pub fn new(key: impl Into<Text>, value: Bytes, expires: Option<Time>) -> Item {
        Item { key: key.into(), revision: 0, value, expires }
    }
}

/// When a put may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// In any case.
    Anything,
    /// Nothing is stored under the key, or it has expired.
    Absent,
    /// If the current value has this revision.
    Revision(u64),
}

/// The owner of a new item, and its limits for this kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// What is counted, in words that the owner may read: several kinds may be counted as one.
    pub of: &'static str,
    /// [`crate::Owner`] as text.
    pub owner: Text,
    /// How many of this kind the owner may store.
    pub most: u64,
    /// Bytes of everything that the owner stores; without a number there is no bound. Its oldest finished tasks are evicted.
    pub bytes: Option<u64>,
    /// Bytes of content that the record speaks of and that is stored elsewhere (blobs). They count until it is removed.
    pub beside: u64,
}

/// Small keyed values with revision, compare-and-set and expiry. An expired item is never returned.
pub trait Records: Send + Sync {
    /// The item under this key.
    fn get(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>>;
    /// Returns the new revision.
    fn put(
        &self,
        kind: &'static str,
        key: &str,
        value: Bytes,
        expires: Option<Time>,
        expect: Expect,
        now: Time,
    ) -> Pending<'_, u64>;
    /// Puts the item if its revision is current (0: if absent), within the owner's limits: [`StoreFault::Crowded`] beyond them. Expired
    /// items count until they are removed.
    fn put_within(&self, room: Room, kind: &'static str, item: Item, now: Time) -> Pending<'_, u64>;
    /// The same content in another form (sealed by another key): revision and expiry stay as they are. False if the current value has
    /// another revision.
    fn rewrite(&self, kind: &'static str, key: &str, value: Bytes, revision: u64) -> Pending<'_, bool>;
    /// Removes and returns it: a one-time secret is taken, never read twice.
    fn take(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>>;
    /// In key order, after `after`.
    fn list(&self, kind: &'static str, after: Option<&str>, limit: usize, now: Time) -> Pending<'_, Vec<Item>>;
    /// How many are not expired.
    fn count(&self, kind: &'static str, now: Time) -> Pending<'_, u64>;
    /// Removes expired items; returns how many.
    fn expire(&self, now: Time) -> Pending<'_, u64>;
}

/// What a blob store says of what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobInfo {
    /// Its name: the SHA-256 of its bytes.
    pub digest: Digest,
    /// Its length in bytes.
    pub len: u64,
}

/// A blob that arrives in pieces. Dropping it before `finish` leaves nothing behind.
pub trait BlobWriter: Send {
    /// Adds bytes at the end.
    fn write(&mut self, bytes: Bytes) -> Pending<'_, ()>;
    /// Synced; the digest is of what was stored.
    fn finish(self: Box<Self>) -> Pending<'static, BlobInfo>;
}

/// Content-addressed bytes.
pub trait Blobs: Send + Sync {
    /// Begins a blob whose bytes arrive in pieces.
    fn create(&self) -> Pending<'_, Box<dyn BlobWriter>>;
    /// Is it held, and how long is it?
    fn info(&self, digest: Digest) -> Pending<'_, Option<BlobInfo>>;
    /// At most `limit` bytes from `offset`; empty at the end. [`StoreFault::Missing`] when it is not held.
    fn read(&self, digest: Digest, offset: u64, limit: usize) -> Pending<'_, Bytes>;
    /// Removes the oldest until at most `bytes` are held; returns how many bytes went.
    fn retain(&self, bytes: u64) -> Pending<'_, u64>;
}

/// A skill as the full-text index sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// `peer/skill`.
    pub skill: Text,
    /// Its name for people.
    pub title: Text,
    /// What it does, in words.
    pub description: Text,
    /// Everything else that may be searched for: tags, examples, phrases, category, capability, values to choose from.
    pub keywords: Text,
}

/// One hit, best first. The score lies in 0..=1; a higher one is better, 0 is no match and is not returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// `peer/skill`.
    pub skill: Text,
    /// How well it fits.
    pub score: f64,
}

/// Full-text ranking over skills.
pub trait SkillIndex: Send + Sync {
    /// Replaces all skills of one peer.
    fn replace(&self, peer: &str, skills: Vec<Indexed>) -> Pending<'_, ()>;
    /// The skills that fit these words best, at most `limit`.
    fn search(&self, words: &str, limit: usize) -> Pending<'_, Vec<Hit>>;
}

/// How many values each key seals, by the id of the key.
pub type Counts = std::collections::BTreeMap<String, u64>;

/// The values of a store as they are sealed at rest, and the ring of keys that seals them.
pub trait AtRest: Send + Sync + fmt::Debug {
    /// How many values each key seals; none in a store that is not encrypted.
    fn counts(&self) -> Pending<'_, Counts>;
    /// Seals what older keys sealed with the newest; how much that was.
    fn reseal(&self) -> Pending<'_, u64>;
    /// Keeps the wrapped ring with the values, so that whoever has those and the outer key can open them. Nothing is sealed
    /// by a new key before this is done.
    fn keep_ring(&self, wrapped: String) -> Pending<'_, ()>;
}

/// Whether a store can keep anything, as it last found out. What whoever decides over the hub's readiness goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The last write that changed something was committed.
    Writable,
    /// The last write found no room. This passes: a later one that is committed ends it.
    Full,
    /// The database cannot be reached. This passes: the store tries again.
    Away,
    /// A write or a sync failed, or another hub took over. What is held since is unknown, so this store never writes again.
    Failed,
}

/// The ports together, as the hub holds them.
#[derive(Clone)]
pub struct Store {
    /// The journals.
    pub journal: Arc<dyn Journal>,
    /// The records.
    pub records: Arc<dyn Records>,
    /// The blobs.
    pub blobs: Arc<dyn Blobs>,
    /// The full-text index.
    pub index: Arc<dyn SkillIndex>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type that is an error has two of these, and then it is not known which is meant: the test below does not compile.
    trait NoError<Way> {
        fn is_seen() {}
    }
    impl<T> NoError<()> for T {}
    impl<T: std::error::Error> NoError<u8> for T {}

    #[test]
    fn a_fault_of_the_store_becomes_a_fault_in_one_way_only() {
        <StoreFault as NoError<_>>::is_seen();
        let full = Fault::from(StoreFault::Full("blobs".into()));
        assert_eq!((full.kind, full.retry), (FaultKind::Busy, Retry::After(None)));
        assert!(full.source.as_ref().is_some_and(|cause| cause.to_string() == "the store is full: blobs"), "{full:?}");
        assert_eq!(full.once_answered().retry, Retry::IfIdempotent, "what was done is not done again");
        let away = Fault::from(StoreFault::Away("connection lost".into()));
        assert_eq!((away.kind, away.retry), (FaultKind::Busy, Retry::After(Some(AWAY_AGAIN))));
        assert!(!away.public.contains("connection"), "nothing internal is told: {away}");
        let broken = Fault::from(StoreFault::Broken("disk".into()));
        assert_eq!((broken.kind, broken.clone().once_answered().retry), (FaultKind::Internal, Retry::No));
    }
}
