//! Converts the messages before a run to a model's history. Roles are claims of the caller: only the operator speaks as the system, through
//! the agent's own instructions.

use crate::llm::Message;
use interlingua_model::content::{Body, Input, Part, Provenance, Role, Turn};

/// Earlier turns of the conversation, those the caller sent along, and what it asks now.
pub fn history(earlier: &[Turn], input: &Input) -> Vec<Message> {
    let mut messages = messages(earlier.iter().chain(&input.history));
    let mut asked = input.parts.clone();
    match &input.args {
        Some(args) if asked.is_empty() => asked.push(Part::text(args.as_str(), Provenance::caller())),
        Some(args) => asked.push(Part::new(Body::Data(args.clone()), Provenance::caller())),
        None => {}
    }
    for part in &mut asked {
        part.provenance.trust = part.provenance.trust.min(input.trust);
    }
    messages.push(Message::User(asked));
    messages
}

/// Turns as messages; a turn without content gives no message.
pub(crate) fn messages<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> Vec<Message> {
    turns.into_iter().filter(|turn| !turn.parts.is_empty()).map(message).collect()
}

fn message(turn: &Turn) -> Message {
    match turn.role {
        Role::System | Role::User | Role::Tool => Message::User(turn.parts.clone()),
        Role::Agent => Message::Agent { parts: turn.parts.clone(), calls: Vec::new() },
    }
}
