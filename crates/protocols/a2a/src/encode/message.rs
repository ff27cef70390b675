//! Encodes an answer without a task as one message.

use interlingua_model::{Body, Carried, ConversationId, Finished, Json, Loss, MessageId, Part, Way};

use super::{Addresses, part};
use crate::ext;
use crate::wire::{self, Content, Message, Role};

/// The whole answer of an exchange whose id nobody was told, as a message, and what that could not say. `parts` is all that was
/// said; `losses` are those before, which are told with it.
pub fn message(
    id: MessageId,
    context: Option<&ConversationId>,
    finished: &Finished,
    parts: &[Part],
    losses: &[Loss],
    addresses: &dyn Addresses,
) -> Carried<Message> {
    let mut lost = Vec::new();
    let parts = result(finished.output.structured.as_ref(), parts, addresses, &mut lost);
    let mut message = Message::new(id.0, Role::Agent, parts);
    message.context = context.map(|context| context.0.clone());
    let told = [losses, &lost].concat();
    if !told.is_empty() {
        message.metadata = Some(ext::metadata(|ours| ext::losses(ours, &told)));
        message.extensions = vec![ext::URI.into()];
    }
    Carried { value: message, losses: lost }
}

/// What the hub says to a message that nothing was done for but take it.
pub fn acknowledged(id: MessageId, content: Json) -> Message {
    let part = wire::Part { media: Some("application/json".into()), ..wire::Part::new(Content::Data(content)) };
    Message::new(id.0, Role::Agent, vec![part])
}

/// What a program reads first, then the same for people. A message has at least one part, be it empty.
pub(super) fn result(
    structured: Option<&Json>,
    parts: &[Part],
    addresses: &dyn Addresses,
    losses: &mut Vec<Loss>,
) -> Vec<wire::Part> {
    let data = structured.map(|structured| wire::Part {
        media: Some("application/json".into()),
        ..wire::Part::new(Content::Data(structured.clone()))
    });
    let mut all: Vec<_> = data.into_iter().collect();
    // A peer that says the same twice says it in its first part of data.
    let first = parts.iter().position(|given| matches!(given.body, Body::Data(_)));
    let same =
        first.filter(|at| matches!((&parts[*at].body, structured), (Body::Data(data), Some(said)) if data == said));
    let others = parts.iter().enumerate().filter(|(at, _)| Some(*at) != same);
    all.extend(others.map(|(_, given)| part::encode(given, Way::Output, addresses, losses)));
    if all.is_empty() {
        all.push(wire::Part::text(""));
    }
    all
}
