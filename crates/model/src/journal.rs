//! What is written down of an exchange, in the order it happened. State is a fold of this.

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
    Task(TaskId),
    Run(TaskId),
    Topic(TopicId),
    Audit,
}

/// `seq` is the expected sequence of the append. An exchange not kept yields the same, without the append.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<R = Record> {
    pub seq: u64,
    pub at: Time,
    pub record: R,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    Accepted { by: Principal, call: Box<Call> },
    Sent(Sent),
    Selected(Selected),
    Received { by: Principal, signal: Signal },
    Emitted { event: Event, losses: Vec<Loss>, raw: Option<Raw> },
}

impl Record {
    pub fn emitted(event: Event) -> Record {
        Record::Emitted { event, losses: Vec::new(), raw: None }
    }

    pub fn event(&self) -> Option<&Event> {
        match self {
            Record::Emitted { event, .. } => Some(event),
            Record::Accepted { .. } | Record::Sent(_) | Record::Selected(_) | Record::Received { .. } => None,
        }
    }
}

/// Which of the skills that offer a capability the call is for. Written before a person is asked about it, so that what was
/// approved is what is dispatched, and when another takes the place of one at which nothing was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selected {
    pub skill: SkillId,
    /// What to try when nothing can be begun at this one, the best last.
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
    pub attempt: u32,
    pub key: MessageId,
    pub remote: Option<Secret>,
    pub open: bool,
    pub repeatable: bool,
    /// The arguments as they were resolved and sent: plain words may be read differently later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// They are those of the call, which is in the journal already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_called: bool,
}

impl Sent {
    /// What a peer tells of its side while it runs: the id under which it knows the call, and whether it still works on it.
    pub fn learnt(key: MessageId, remote: Option<Secret>, open: bool) -> Sent {
        Sent { attempt: 1, key, remote, open, repeatable: false, args: None, as_called: false }
    }
}

/// The first byte of every stored record. A reader of a later hub knows what it looks at.
pub const SCHEMA_VERSION: u8 = 1;

/// A stored record that this hub cannot read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("record schema {found} is not {SCHEMA_VERSION}: it was written by another version")]
    Version { found: u8 },
    #[error("record is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    #[error("record is empty")]
    Empty,
}

/// A record as the journal stores it.
pub fn to_bytes<R: Serialize>(record: &R) -> Result<Bytes, serde_json::Error> {
    let mut bytes = vec![SCHEMA_VERSION];
    serde_json::to_writer(&mut bytes, record)?;
    Ok(bytes.into())
}

pub fn from_bytes<R: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<R, Unreadable> {
    match bytes.split_first() {
        None => Err(Unreadable::Empty),
        Some((&SCHEMA_VERSION, body)) => Ok(serde_json::from_slice(body)?),
        Some((&found, _)) => Err(Unreadable::Version { found }),
    }
}
