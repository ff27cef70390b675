//! Encodes a question as the message of an interrupted state.

use interlingua_model::{Question, QuestionKind};

use crate::ext;
use crate::wire::{Content, Message, Part, Role, TaskState};

/// The state a task is in while its caller is asked this.
pub(super) fn state(question: &Question) -> TaskState {
    match question.kind {
        QuestionKind::Input { .. } | QuestionKind::Confirm(_) => TaskState::InputRequired,
        QuestionKind::Credential { .. } | QuestionKind::Visit { .. } => TaskState::AuthRequired,
        // The hub sees to these itself.
        QuestionKind::Model(_) | QuestionKind::Roots | QuestionKind::Tool { .. } => TaskState::Working,
    }
}

pub(super) fn message(question: &Question) -> Message {
    let mut parts = vec![Part::text(question.text.clone())];
    if let QuestionKind::Visit { url } = &question.kind {
        parts.push(Part::new(Content::Url(url.uri().clone())));
    }
    let mut message = Message::new(question.id.to_string(), Role::Agent, parts);
    message.metadata = Some(ext::metadata(|ours| ext::question(ours, question)));
    message.extensions = vec![ext::URI.into()];
    message
}
