//! Encodes one event of an exchange as an update of its task.

use interlingua_model::{
    Channel, Chunk, Entry, Finished, Json, Loss, MessageId, Part, Piece, Provenance, Text, Time, Way,
};

use super::status::{saying, status};
use super::task::{answer, artifact, returned};
use super::{Telling, part};
use crate::ext;
use crate::wire::{self, Artifact, ArtifactUpdate, Message, Role, Status, StatusUpdate, Update};

impl Telling<'_> {
    pub(super) fn chunk(&self, chunk: &Chunk, losses: &mut Vec<Loss>) -> Update {
        let parts = chunk.parts.iter().map(|given| part::encode(given, Way::Output, self.addresses, losses)).collect();
        let header = chunk.header.as_ref();
        self.artifact(artifact(chunk.artifact.0.clone(), header, parts), chunk.index > 0, chunk.last, losses)
    }

    /// A piece of an answer. A chunk has at least one part, be it empty.
    pub(super) fn piece(
        &self,
        id: &MessageId,
        piece: Piece,
        parts: &[Part],
        append: bool,
        losses: &mut Vec<Loss>,
    ) -> Update {
        let told = match parts {
            [] => answer(id, &[Part::text("", Provenance::hub())], self.addresses, losses),
            parts => answer(id, parts, self.addresses, losses),
        };
        self.artifact(told, append, piece == Piece::End, losses)
    }

    /// What the exchange returned beside what it had told already.
    pub(super) fn returned(&self, finished: &Finished, losses: &mut Vec<Loss>) -> Option<Update> {
        let result = returned(self.task, finished, self.addresses, losses)?;
        Some(self.artifact(result, false, true, &[]))
    }

    pub(super) fn said(
        &self,
        id: &MessageId,
        channel: Channel,
        parts: &[Part],
        at: Time,
        losses: &mut Vec<Loss>,
    ) -> Update {
        let parts = parts.iter().map(|given| part::encode(given, Way::Output, self.addresses, losses)).collect();
        let mut message = Message::new(id.0.clone(), Role::Agent, parts);
        if channel != Channel::Answer {
            message.metadata = Some(ext::metadata(|ours| ext::channel(ours, channel)));
            message.extensions = vec![ext::URI.into()];
        }
        self.status(saying(self.task, message, at), losses)
    }

    pub(super) fn progress(
        &self,
        (done, total): (Option<f64>, Option<f64>),
        note: Option<&str>,
        entry: &Entry,
        losses: &[Loss],
    ) -> Update {
        let status = match note {
            Some(note) => {
                let id = format!("{}-{}", self.task.id, entry.seq);
                saying(self.task, Message::new(id, Role::Agent, vec![wire::Part::text(note)]), entry.at)
            }
            None => status(self.task),
        };
        let mut update = self.status_update(status);
        update.metadata = Some(ext::metadata(|ours| {
            ext::progress(ours, done, total);
            ext::losses(ours, losses);
        }));
        Update::Status(update)
    }

    pub(super) fn status(&self, status: Status, losses: &[Loss]) -> Update {
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

    fn context(&self) -> Text {
        self.task.call.conversation.as_ref().map_or_else(|| "".into(), |context| context.0.clone())
    }
}

fn with_losses(losses: &[Loss]) -> Option<Json> {
    (!losses.is_empty()).then(|| ext::metadata(|ours| ext::losses(ours, losses)))
}
