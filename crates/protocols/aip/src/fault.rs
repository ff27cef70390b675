//! Faults in this protocol: a frame that refuses, the end of a task, or no frame.
//!
//! A refusal is an error frame followed by the end of the task it refuses; an outcome is the end of a task that was accepted.

use interlingua_model::{Fault, FaultKind, Noun, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// An error frame; the connection stays.
    Error,
    /// An error frame and the end of the task.
    Refusal,
    /// The end of the task, failed.
    Outcome,
    /// The frame is dropped.
    Silence,
    /// The connection is closed with this code.
    Close(u16),
    /// The connection is never made: HTTP 403.
    NoUpgrade,
}

pub fn spelling(kind: FaultKind) -> Spelling {
    match kind {
        FaultKind::Malformed | FaultKind::Unsupported(_) => Spelling::Error,
        FaultKind::Unauthenticated => Spelling::NoUpgrade,
        FaultKind::TooLarge => Spelling::Close(1009),
        FaultKind::NotFound(Noun::Task | Noun::Resource | Noun::Session) | FaultKind::AlreadyFinished => {
            Spelling::Silence
        }
        FaultKind::NotFound(Noun::Skill)
        | FaultKind::Denied
        | FaultKind::InvalidInput
        | FaultKind::Conflict
        | FaultKind::Busy
        | FaultKind::Loop
        | FaultKind::Unreachable
        | FaultKind::Internal => Spelling::Refusal,
        FaultKind::Unanswered
        | FaultKind::BudgetSpent
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline => Spelling::Outcome,
    }
}

/// The text of an error frame. Where the Python server has words of its own, clients get those.
pub fn refusal(fault: &Fault, target: &str, session: &str) -> Text {
    match fault.kind {
        FaultKind::NotFound(Noun::Skill) | FaultKind::Unreachable => {
            format!("Target device '{target}' is not connected").into()
        }
        FaultKind::Conflict => format!("session_id '{session}' is owned by another client").into(),
        FaultKind::Malformed
        | FaultKind::Unsupported(_)
        | FaultKind::Unauthenticated
        | FaultKind::Denied
        | FaultKind::NotFound(Noun::Task | Noun::Resource | Noun::Session)
        | FaultKind::InvalidInput
        | FaultKind::Unanswered
        | FaultKind::AlreadyFinished
        | FaultKind::TooLarge
        | FaultKind::Busy
        | FaultKind::BudgetSpent
        | FaultKind::Loop
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline
        | FaultKind::Internal => fault.public.clone(),
    }
}

/// What a server's error frame means to us who asked. It has nothing but text.
pub fn of_refusal(text: Option<&str>, peer: interlingua_model::PeerId) -> Fault {
    let text = text.unwrap_or("the server refused and did not say why");
    let kind = if text.starts_with("Target device ") && text.ends_with(" is not connected") {
        FaultKind::Unreachable
    } else if text.ends_with(" is owned by another client") {
        FaultKind::Conflict
    } else {
        FaultKind::PeerDeclined
    };
    Fault::new(kind, interlingua_model::Party::Peer(peer), text)
}
