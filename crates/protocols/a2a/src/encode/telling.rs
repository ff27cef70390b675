//! A task's events, one journal entry at a time, for a stream or a webhook.
//!
//! It folds the entries as the task itself does and reads each status off the fold, so a stream that began with a snapshot and
//! one that began with the task tell the same.

use interlingua_machines::task::Task;
use interlingua_model::{Carried, Channel, Chunk, Entry, Event, Loss, MessageId, Part, Piece, Record, TaskId, Time};

use super::status::{saying, status};
use super::task::{View, answer, artifact, returned, task};
use super::{Addresses, part};
use crate::ext;
use crate::wire::{self, Artifact, ArtifactUpdate, Message, Role, Status, StatusUpdate, Update};

/// Tells one task.
#[derive(Debug)]
pub struct Telling {
    task: Task,
}

impl Telling {
    /// From the beginning: `None` unless this is the entry a task begins with.
    pub fn begin(id: TaskId, entry: &Entry) -> Option<Telling> {
        match &entry.record {
            Record::Accepted { by, call } => {
                let mut task = Task::accepted(id, by.clone(), call.clone(), entry.at);
                task.seq = entry.seq;
                Some(Telling { task })
            }
            Record::Sent(_) | Record::Selected(_) | Record::Received { .. } | Record::Emitted { .. } => None,
        }
    }

    /// From where a task stands.
    pub fn from(task: Task) -> Telling {
        Telling { task }
    }

    /// What is told.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The task as it stands now, and what could not be said of it.
    pub fn snapshot(&self, view: View, addresses: &dyn Addresses) -> Carried<wire::Task> {
        task(&self.task, view, addresses)
    }

    /// What the next entry makes known, and what of it could not be said; what was lost before is told with it.
    pub fn next(&mut self, entry: &Entry, addresses: &dyn Addresses) -> Carried<Vec<Update>> {
        let begun = entry.record.event().and_then(said).is_some_and(|id| self.task.pieces.contains_key(id));
        self.task.take(entry);
        let Record::Emitted { event, losses, .. } = &entry.record else { return Carried::whole(Vec::new()) };
        let (mut all, before) = (losses.clone(), losses.len());
        let value = self.updates(event, begun, entry, addresses, &mut all);
        Carried { value, losses: all.split_off(before) }
    }

    /// `losses` are those before; what is lost here is added and told with them.
    fn updates(
        &self,
        event: &Event,
        begun: bool,
        entry: &Entry,
        addresses: &dyn Addresses,
        losses: &mut Vec<Loss>,
    ) -> Vec<Update> {
        match event {
            Event::Artifact(chunk) => vec![self.chunk(chunk, addresses, losses)],
            Event::Said { message, channel: Channel::Answer, piece: Piece::Delta | Piece::End, parts } => {
                let last = matches!(event, Event::Said { piece: Piece::End, .. });
                let parts = if parts.is_empty() { vec![empty()] } else { parts.clone() };
                let told = answer(message, &parts, addresses, losses);
                vec![self.artifact(told, begun, last, losses)]
            }
            Event::Said { message, channel, piece: _, parts } => {
                vec![self.said(message, *channel, parts, entry.at, addresses, losses)]
            }
            Event::Progress { done, total, note } => {
                vec![self.progress((*done, *total), note.as_deref(), entry, losses)]
            }
            Event::Step(step) => {
                let note = step.note().into_iter();
                note.map(|note| self.progress((None, None), Some(&note), entry, losses)).collect()
            }
            Event::Finished(finished) => {
                let result = returned(&self.task, finished, addresses, losses);
                let mut told: Vec<Update> =
                    result.map(|result| self.artifact(result, false, true, &[])).into_iter().collect();
                told.push(self.status(status(&self.task), losses));
                told
            }
            Event::Started(_) | Event::Asked(_) | Event::Settled { .. } => {
                vec![self.status(status(&self.task), losses)]
            }
        }
    }

    fn chunk(&self, chunk: &Chunk, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Update {
        let parts = chunk.parts.iter().map(|given| part::encode(given, addresses, losses)).collect();
        let header = chunk.header.as_ref();
        self.artifact(artifact(chunk.artifact.0.clone(), header, parts), chunk.index > 0, chunk.last, losses)
    }

    fn said(
        &self,
        id: &MessageId,
        channel: Channel,
        parts: &[Part],
        at: Time,
        addresses: &dyn Addresses,
        losses: &mut Vec<Loss>,
    ) -> Update {
        let parts = parts.iter().map(|given| part::encode(given, addresses, losses)).collect();
        let mut message = Message::new(id.0.clone(), Role::Agent, parts);
        if channel != Channel::Answer {
            message.metadata = Some(ext::metadata(|ours| ext::channel(ours, channel)));
            message.extensions = vec![ext::URI.into()];
        }
        self.status(saying(&self.task, message, at), losses)
    }

    fn progress(
        &self,
        (done, total): (Option<f64>, Option<f64>),
        note: Option<&str>,
        entry: &Entry,
        losses: &[Loss],
    ) -> Update {
        let status = match note {
            Some(note) => {
                let id = format!("{}-{}", self.task.id, entry.seq);
                saying(&self.task, Message::new(id, Role::Agent, vec![wire::Part::text(note)]), entry.at)
            }
            None => status(&self.task),
        };
        let mut update = self.status_update(status);
        update.metadata = Some(ext::metadata(|ours| {
            ext::progress(ours, done, total);
            ext::losses(ours, losses);
        }));
        Update::Status(update)
    }

    fn status(&self, status: Status, losses: &[Loss]) -> Update {
        let mut update = self.status_update(status);
        update.metadata = with_losses(losses);
        Update::Status(update)
    }

    fn status_update(&self, status: Status) -> StatusUpdate {
        StatusUpdate { task: self.task.id.to_string().into(), context: self.context(), status, metadata: None }
    }

    fn artifact(&self, artifact: Artifact, append: bool, last: bool, losses: &[Loss]) -> Update {
        Update::Artifact(ArtifactUpdate {
            task: self.task.id.to_string().into(),
            context: self.context(),
            artifact,
            append,
            last,
            metadata: with_losses(losses),
        })
    }

    fn context(&self) -> interlingua_model::Text {
        self.task.call.conversation.as_ref().map_or_else(|| "".into(), |context| context.0.clone())
    }
}

fn with_losses(losses: &[Loss]) -> Option<interlingua_model::Json> {
    (!losses.is_empty()).then(|| ext::metadata(|ours| ext::losses(ours, losses)))
}

/// A part with nothing in it: a chunk has at least one.
fn empty() -> Part {
    Part::text("", interlingua_model::Provenance::hub())
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
