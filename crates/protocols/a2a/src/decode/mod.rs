//! Decodes an operation into a call, a signal to a task, or something that only A2A has. It does not authenticate the caller.
//!
//! [`message`] is the meaning of a message; every other operation is one line of [`decode`]. [`crate::request`] has determined the
//! operation of a frame before.

mod message;
mod part;

use std::time::Duration;

use interlingua_model::{
    CancelWhy, Carried, Input, Json, MessageId, Meta, PeerId, Priority, Signal, TaskId, Text, Time,
};
use interlingua_wire::codec::{self, Meaning};
use interlingua_wire::hub_headers::{Headers, Hop};

use super::Version;
use super::invalid::{Invalid, Problem};
use super::wire::{List, Operation, PushConfig};

pub use part::decode as part;

/// Which agent an operation is asked of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressed {
    /// The hub itself: a skill by name, or plain words.
    Hub,
    Peer(PeerId),
}

/// What the endpoint knows beside the operation.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    pub version: Version,
    pub door: &'a Addressed,
    pub now: Time,
    pub headers: Headers<'a>,
    /// How long a message id is remembered, where that is not the hub's own rule.
    pub replay: Option<Duration>,
}

/// How the answer is wanted.
#[derive(Debug)]
pub struct ReplyTo {
    pub wants: Wants,
    /// Of the task that a message leads to: the newest messages, at most so many.
    pub history: Option<u32>,
    /// Where the events of that task are posted as well.
    pub webhook: Option<Box<PushConfig>>,
}

impl From<Wants> for ReplyTo {
    fn from(wants: Wants) -> ReplyTo {
        ReplyTo { wants, history: None, webhook: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// One answer, when there is one or a question.
    Answer,
    /// The task at once.
    Receipt,
    Stream,
}

/// What only A2A has.
#[derive(Debug)]
pub enum Own {
    /// A message to a task that exists. Whether it answers a question is known when the task is looked at.
    More(Box<More>),
    /// A message that belongs to no task, and is for whoever listens.
    Event(Box<Announcement>),
    Get {
        task: TaskId,
        history: Option<u32>,
    },
    List(List),
    Subscribe {
        task: TaskId,
    },
    PushCreate {
        task: TaskId,
        config: Box<PushConfig>,
    },
    PushGet {
        task: TaskId,
        id: Option<Text>,
    },
    PushList {
        task: TaskId,
    },
    PushDelete {
        task: TaskId,
        id: Text,
    },
    ExtendedCard,
}

/// More input to a task.
#[derive(Debug)]
pub struct More {
    pub task: TaskId,
    pub context: Option<Text>,
    pub message: MessageId,
    pub input: Input,
}

/// Something happened.
#[derive(Debug)]
pub struct Announcement {
    pub id: MessageId,
    pub topic: Text,
    pub content: Json,
    pub priority: Priority,
    pub readers: Vec<Text>,
    pub from: Option<Text>,
    pub correlation: Option<Text>,
    pub meta: Meta,
    /// The way it came.
    pub hop: Hop,
}

pub type Incoming = codec::Incoming<Own, ReplyTo>;

/// A message is a call or more input, `CancelTask` a signal, and the rest is A2A's own.
pub fn decode(operation: Operation, context: &Context<'_>) -> Result<Carried<Incoming>, Invalid> {
    let mut losses = Vec::new();
    let once = |own| (Meaning::Own(own), ReplyTo::from(Wants::Answer));
    let (meaning, reply) = match operation {
        Operation::Send(send) => {
            let wants = if send.configuration.immediate { Wants::Receipt } else { Wants::Answer };
            message::decode(*send, wants, context, &mut losses)?
        }
        Operation::Stream(send) => message::decode(*send, Wants::Stream, context, &mut losses)?,
        Operation::Cancel { task } => {
            let cancel = Meaning::Signal { to: task_id(&task)?, signal: Signal::Cancel(CancelWhy::Asked) };
            (cancel, ReplyTo::from(Wants::Answer))
        }
        Operation::Subscribe { task } => {
            (Meaning::Own(Own::Subscribe { task: task_id(&task)? }), ReplyTo::from(Wants::Stream))
        }
        Operation::Get { task, history } => once(Own::Get { task: task_id(&task)?, history }),
        Operation::List(list) => once(Own::List(list)),
        Operation::PushCreate(config) => {
            let task = task_id(config.task.as_deref().unwrap_or_default())?;
            once(Own::PushCreate { task, config })
        }
        Operation::PushGet { task, id } => once(Own::PushGet { task: task_id(&task)?, id }),
        Operation::PushList { task } => once(Own::PushList { task: task_id(&task)? }),
        Operation::PushDelete { task, id } => once(Own::PushDelete { task: task_id(&task)?, id }),
        Operation::ExtendedCard => once(Own::ExtendedCard),
    };
    Ok(Carried { value: Incoming { meaning, credentials: Vec::new(), reply }, losses })
}

/// An id that is not one of the hub's names no task.
fn task_id(text: &str) -> Result<TaskId, Invalid> {
    text.parse().map_err(|_| Invalid::whole(Problem::NoSuchTask))
}
