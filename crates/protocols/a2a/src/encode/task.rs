//! Snapshot of a task, for a read, a subscription or the answer to a blocking send.

use interlingua_machines::task::Task;
use interlingua_model::{
    ArtifactHeader, Carried, Chunk, Finished, Input, Loss, MessageId, Part, Role as Spoke, Text, Way,
};

use super::message::result;
use super::status::{addressed, status};
use super::{Addresses, part};
use crate::ext;
use crate::wire::{self, Artifact, Content, Message, Role};

/// The artifact that holds what an exchange returned.
pub(super) const RESULT: &str = "result";
/// What pieces of an answer are called.
pub(super) const ANSWER: &str = "answer";

/// How much of a task is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The newest messages, at most so many; `None`: all there are.
    pub history: Option<u32>,
    pub artifacts: bool,
}

impl View {
    pub const WHOLE: View = View { history: None, artifacts: true };
}

/// Beside it what could not be said of it here; what was lost before is told with it.
pub fn task(task: &Task, view: View, addresses: &dyn Addresses) -> Carried<wire::Task> {
    let mut losses = Vec::new();
    let artifacts = if view.artifacts { artifacts(task, addresses, &mut losses) } else { Vec::new() };
    let history = history(task, view.history, addresses, &mut losses);
    let told = [&*task.losses, &losses].concat();
    let says = task.route.is_some() || !told.is_empty();
    let value = wire::Task {
        id: task.id.to_string().into(),
        context: task.call.conversation.as_ref().map(|context| context.0.clone()),
        status: status(task),
        artifacts,
        history,
        metadata: says.then(|| {
            ext::metadata(|ours| {
                if let Some(route) = &task.route {
                    ext::route(ours, route);
                }
                ext::losses(ours, &told);
            })
        }),
    };
    Carried { value, losses }
}

/// The call itself first, then what was said since, oldest first.
fn history(task: &Task, limit: Option<u32>, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Vec<Message> {
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let total = 1 + task.messages.len();
    let skipped = total.saturating_sub(limit);
    let first = (skipped == 0).then(|| task.call.input()).flatten().map(|input| called(task, input, addresses, losses));
    let mut all: Vec<Message> = first.into_iter().collect();
    for spoken in task.messages.iter().skip(skipped.saturating_sub(1)) {
        let role = match spoken.role {
            Spoke::User => Role::User,
            Spoke::System | Spoke::Agent | Spoke::Tool => Role::Agent,
        };
        let parts = spoken.parts.iter().map(|given| part::encode(given, Way::Output, addresses, losses)).collect();
        all.push(addressed(Message::new(spoken.id.0.clone(), role, parts), task));
    }
    all.truncate(limit);
    all
}

/// The message that began it. Arguments were a part of it.
fn called(task: &Task, input: &Input, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Message {
    let mut parts: Vec<wire::Part> =
        input.parts.iter().map(|given| part::encode(given, Way::Output, addresses, losses)).collect();
    parts.extend(input.args.iter().map(|args| wire::Part::new(Content::Data(args.clone()))));
    let mut message = Message::new(task.call.id.0.clone(), Role::User, parts);
    message.metadata.clone_from(&task.call.meta.0);
    addressed(message, task)
}

fn artifacts(task: &Task, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Vec<Artifact> {
    let mut all: Vec<Artifact> =
        task.artifacts.values().filter_map(|chunks| whole(chunks, addresses, losses)).collect();
    for (message, parts) in &task.pieces {
        all.push(answer(message, parts, addresses, losses));
    }
    all.extend(task.finished().and_then(|finished| returned(task, finished, addresses, losses)));
    all
}

/// The chunks one after the other, as a client puts them together.
fn whole(chunks: &[Chunk], addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Option<Artifact> {
    let first = chunks.first()?;
    let parts = chunks.iter().flat_map(|chunk| &chunk.parts);
    let parts = parts.map(|given| part::encode(given, Way::Output, addresses, losses)).collect();
    Some(artifact(first.artifact.0.clone(), first.header.as_ref(), parts))
}

pub(super) fn artifact(id: Text, header: Option<&ArtifactHeader>, parts: Vec<wire::Part>) -> Artifact {
    Artifact {
        id,
        parts,
        name: header.and_then(|header| header.name.clone()),
        description: None,
        metadata: header.and_then(|header| header.meta.0.clone()),
        extensions: Vec::new(),
    }
}

/// An answer that came in pieces.
pub(super) fn answer(id: &MessageId, parts: &[Part], addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Artifact {
    let parts = parts.iter().map(|given| part::encode(given, Way::Output, addresses, losses)).collect();
    Artifact { name: Some(ANSWER.into()), ..artifact(id.0.clone(), None, parts) }
}

/// What an exchange returned besides what it had told already. A result belongs into an artifact, also when it was said as a
/// message before.
pub(super) fn returned(
    task: &Task,
    finished: &Finished,
    addresses: &dyn Addresses,
    losses: &mut Vec<Loss>,
) -> Option<Artifact> {
    let output = &finished.output;
    let said = output.said.as_ref().and_then(|id| task.messages.iter().find(|spoken| spoken.id == *id));
    let mut parts: Vec<Part> = said.map(|spoken| spoken.parts.clone()).unwrap_or_default();
    parts.extend(output.parts.iter().cloned());
    if parts.is_empty() && output.structured.is_none() {
        return None;
    }
    let parts = result(output.structured.as_ref(), &parts, addresses, losses);
    Some(Artifact { name: Some(RESULT.into()), ..artifact(RESULT.into(), None, parts) })
}
