//! Encodes an exchange for A2A: its events one by one ([`encode`]), the state of a task ([`task()`]), or one message for an exchange that
//! never became a task ([`message()`]).

mod message;
mod part;
mod question;
mod status;
mod task;
mod update;

use interlingua_machines::task::Task;
use interlingua_model::{Carried, Channel, Digest, Entry, Event, Loss, MessageId, Piece, Record, TaskId, Uri};
use interlingua_wire::codec;

use self::status::status;
use super::wire::Update;

pub use message::{acknowledged, message};
pub use part::encode as part;
pub use task::{View, task};

/// Where content that is held by reference can be fetched.
pub trait Addresses: std::fmt::Debug {
    fn blob(&self, digest: &Digest) -> Option<Uri>;
}

/// Nothing can be fetched.
#[derive(Debug, Clone, Copy)]
pub struct NoAddresses;

impl Addresses for NoAddresses {
    fn blob(&self, _: &Digest) -> Option<Uri> {
        None
    }
}

/// A task that is told, one journal entry at a time, to a stream or a webhook.
#[derive(Debug)]
pub struct Telling<'a> {
    /// The task as far as it was told. Each status is read off it, so a stream that began with a snapshot and one that began with the
    /// task tell the same.
    pub task: &'a mut Task,
    pub addresses: &'a dyn Addresses,
}

pub type Frames = codec::Frames<Update>;

/// The task that an entry begins; `None` when it begins none.
pub fn begun(id: TaskId, entry: &Entry) -> Option<Task> {
    match &entry.record {
        Record::Accepted { by, call } => {
            let mut task = Task::accepted(id, by.clone(), call.clone(), entry.at);
            task.seq = entry.seq;
            Some(task)
        }
        Record::Sent(_) | Record::Selected(_) | Record::Received { .. } | Record::Emitted { .. } => None,
    }
}

/// What the next entry makes known, and what of it could not be said; what was lost before is told with it. Entries that are no
/// event change the task and say nothing.
pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> {
    let append = entry.record.event().and_then(said).is_some_and(|id| telling.task.pieces.contains_key(id));
    telling.task.take(entry);
    let Record::Emitted { event, losses, .. } = &entry.record else { return Carried::whole(Frames::None) };
    let (mut all, before) = (losses.clone(), losses.len());
    let value = telling.frames(event, append, entry, &mut all);
    Carried { value, losses: all.split_off(before) }
}

impl Telling<'_> {
    /// `append`: whether pieces of the same answer were told before. `losses` are those before; what is lost here is added and told
    /// with them.
    fn frames(&self, event: &Event, append: bool, entry: &Entry, losses: &mut Vec<Loss>) -> Frames {
        match event {
            Event::Artifact(chunk) => Frames::One(self.chunk(chunk, losses)),
            Event::Said { message, channel: Channel::Answer, piece: piece @ (Piece::Delta | Piece::End), parts } => {
                Frames::One(self.piece(message, *piece, parts, append, losses))
            }
            Event::Said { message, channel, piece: _, parts } => {
                Frames::One(self.said(message, *channel, parts, entry.at, losses))
            }
            Event::Progress { done, total, note } => {
                Frames::One(self.progress((*done, *total), note.as_deref(), entry, losses))
            }
            Event::Step(step) => step.note().map(|note| self.progress((None, None), Some(&note), entry, losses)).into(),
            Event::Finished(finished) => match self.returned(finished, losses) {
                Some(result) => Frames::Several(vec![result, self.status(status(self.task), losses)]),
                None => Frames::One(self.status(status(self.task), losses)),
            },
            Event::Started(_) | Event::Asked(_) | Event::Settled { .. } => {
                Frames::One(self.status(status(self.task), losses))
            }
        }
    }
}

/// The id under which an answer is told in pieces.
fn said(event: &Event) -> Option<&MessageId> {
    match event {
        Event::Said { message, channel: Channel::Answer, piece: Piece::Delta | Piece::End, .. } => Some(message),
        Event::Said { .. }
        | Event::Started(_)
        | Event::Progress { .. }
        | Event::Step(_)
        | Event::Artifact(_)
        | Event::Asked(_)
        | Event::Settled { .. }
        | Event::Finished(_) => None,
    }
}
