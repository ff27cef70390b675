//! Records of the journal of an exchange, in the order they happened. State is a fold of these (event sourcing).

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::event::{Event, Signal};
use crate::fault::Fault;
use crate::id::{MessageId, SkillId, TaskId, Time, TopicId};
use crate::json::Json;
use crate::loss::Loss;
use crate::principal::Principal;
use crate::secret::Secret;
use crate::wire::Raw;

/// Which journal: a task's own; the records of an agent, team or graph run; events that belong to no task; the audit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Log {
    /// The records of an exchange.
    Task(TaskId),
    /// The records of an agent, team or plan that runs as this task.
    Run(TaskId),
    /// The records of a topic, such as an inbox.
    Topic(TopicId),
    /// The audit log of the hub.
    Audit,
}

impl Log {
    /// How stores name it: a number for the kind, and the bytes of the id. What is sealed is bound to them, so they never change.
    pub fn columns(&self) -> (i64, Vec<u8>) {
        match self {
            Log::Task(task) => (0, task.0.to_be_bytes().to_vec()),
            Log::Run(task) => (1, task.0.to_be_bytes().to_vec()),
            Log::Topic(topic) => (2, topic.as_str().as_bytes().to_vec()),
            Log::Audit => (3, Vec::new()),
        }
    }

    /// The log that a store names so.
    pub fn of_columns(kind: i64, id: &[u8]) -> Option<Log> {
        let task = || id.try_into().ok().map(|bytes| TaskId(u128::from_be_bytes(bytes)));
        match kind {
            0 => task().map(Log::Task),
            1 => task().map(Log::Run),
            2 => std::str::from_utf8(id).ok().map(|name| Log::Topic(TopicId::from(name))),
            3 => Some(Log::Audit),
            _ => None,
        }
    }
}

/// `seq` is the expected sequence of the append. An exchange that is not stored yields the same, without the append.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<R = Record> {
    /// Its place in the log, from 1.
    pub seq: u64,
    /// When it was written.
    pub at: Time,
    /// What happened.
    pub record: R,
}

/// One thing that happened in an exchange. A task is a fold of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The hub took the call. Always the first record.
    Accepted {
        /// Who called.
        by: Principal,
        /// What was asked for, whole.
        call: Box<Call>,
    },
    /// It was sent to a peer, or more became known of a dispatch.
    Sent(Sent),
    /// A peer was chosen, or another in its place.
    Selected(Selected),
    /// The running exchange received something.
    Received {
        /// Who it came from.
        by: Principal,
        /// What it was.
        signal: Signal,
    },
    /// Something that readers see.
    Emitted {
        /// What they see.
        event: Event,
        /// Losses on the way here.
        losses: Vec<Loss>,
        /// What the peer wrote, for a caller that speaks the same protocol.
        raw: Option<Raw>,
    },
}

impl Record {
    /// An event without losses and without the original.
    pub fn emitted(event: Event) -> Record {
        Record::Emitted { event, losses: Vec::new(), raw: None }
    }

    /// The event, where the record is one that readers see.
    pub fn event(&self) -> Option<&Event> {
        match self {
            Record::Emitted { event, .. } => Some(event),
            Record::Accepted { .. } | Record::Sent(_) | Record::Selected(_) | Record::Received { .. } => None,
        }
    }
}

/// Which of the skills of a capability the call is for. Written before a person is asked about it, so that the approved call is the
/// dispatched one, and when another replaces one at which nothing was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selected {
    /// The chosen skill.
    pub skill: SkillId,
    /// The skills to try if nothing can be begun at this one, the best last.
    pub others: Vec<SkillId>,
    /// How often the call was sent before.
    pub attempt: u32,
    /// Why the one before was given up; `None` for the first choice.
    pub fault: Option<Fault>,
}

/// A dispatch. `remote`: the id under which the peer knows it. `open` turns false when the peer ended that request with a
/// question. `repeatable`: the skill was idempotent when it was sent, so it may be sent again under the same key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Which dispatch it is, from 1.
    pub attempt: u32,
    /// The idempotency key that the peer was given.
    pub key: MessageId,
    /// The id under which the peer knows the call: how it is resumed, polled or cancelled.
    pub remote: Option<Secret>,
    /// Is the peer still working on it?
    pub open: bool,
    /// May it be sent again under the same key?
    pub repeatable: bool,
    /// The arguments as they were resolved and sent: plain words may be read differently later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// They are those of the call, which is in the journal already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_called: bool,
}

impl Sent {
    /// What a peer reports of its side while it runs: its id of the call, and whether it still works on it.
    pub fn learnt(key: MessageId, remote: Option<Secret>, open: bool) -> Sent {
        Sent { attempt: 1, key, remote, open, repeatable: false, args: None, as_called: false }
    }
}

/// The first byte of every stored record. A reader of a later hub knows what it looks at.
pub const SCHEMA_VERSION: u8 = 1;

/// A stored record that this hub cannot read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Another version of the hub wrote it.
    #[error("record schema {found} is not {SCHEMA_VERSION}: it was written by another version")]
    Version {
        /// The version of the record.
        found: u8,
    },
    /// It is not the JSON of a record.
    #[error("record is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// There is not even a version.
    #[error("record is empty")]
    Empty,
}

/// A record as the journal stores it.
pub fn to_bytes<R: Serialize>(record: &R) -> Result<Bytes, serde_json::Error> {
    let mut bytes = vec![SCHEMA_VERSION];
    serde_json::to_writer(&mut bytes, record)?;
    Ok(bytes.into())
}

/// Reads what [`to_bytes`] wrote.
pub fn from_bytes<R: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<R, Unreadable> {
    match bytes.split_first() {
        None => Err(Unreadable::Empty),
        Some((&SCHEMA_VERSION, body)) => Ok(serde_json::from_slice(body)?),
        Some((&found, _)) => Err(Unreadable::Version { found }),
    }
}
