//! The state of a task and its message, in one place, so that a snapshot and the events before it agree.

use interlingua_machines::task::{State, Task};
use interlingua_model::{Addressee, Fault, FaultKind, Outcome, Question, Time};

use super::question;
use crate::ext;
use crate::wire::{Message, Part, Role, Status, TaskState};

/// The state and, where it says something, its message.
pub(super) fn status(task: &Task) -> Status {
    let (state, message) = match &task.state {
        State::Accepted => (TaskState::Submitted, None),
        State::Running => (TaskState::Working, None),
        State::Waiting => waiting(task),
        State::Done(finished) => match &finished.outcome {
            Outcome::Completed => (TaskState::Completed, None),
            Outcome::Failed(fault) => (failed(fault), Some(complaint(task, fault))),
            Outcome::Cancelled { why, .. } => {
                (TaskState::Canceled, Some(note(task, "cancelled", format!("cancelled: {}", why.as_str()))))
            }
        },
    };
    Status { state, message: message.map(|message| addressed(message, task)), at: Some(task.updated) }
}

/// A state with a message of its own making.
pub(super) fn saying(task: &Task, message: Message, at: Time) -> Status {
    Status { message: Some(addressed(message, task)), at: Some(at), ..status(task) }
}

/// A question of the caller's is put; one for somebody else is only mentioned.
fn waiting(task: &Task) -> (TaskState, Option<Message>) {
    let asked: Option<&Question> = task.open.values().find(|question| question.to == Addressee::Caller);
    match asked.or_else(|| task.open.values().next()) {
        Some(asked) if asked.to == Addressee::Caller => (question::state(asked), Some(question::message(asked))),
        Some(asked) => {
            let text = format!("waits for approval: {}", asked.text);
            (TaskState::Working, Some(note(task, &asked.id.to_string(), text)))
        }
        None => (TaskState::Working, None),
    }
}

/// A person or a peer that says no rejects; everything else fails.
fn failed(fault: &Fault) -> TaskState {
    match fault.kind {
        FaultKind::Denied | FaultKind::PeerDeclined => TaskState::Rejected,
        FaultKind::Malformed
        | FaultKind::Unsupported(_)
        | FaultKind::Unauthenticated
        | FaultKind::NotFound(_)
        | FaultKind::InvalidInput
        | FaultKind::Unanswered
        | FaultKind::Conflict
        | FaultKind::AlreadyFinished
        | FaultKind::TooLarge
        | FaultKind::Busy
        | FaultKind::BudgetSpent
        | FaultKind::Loop
        | FaultKind::Unreachable
        | FaultKind::PeerFailed
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline
        | FaultKind::Internal => TaskState::Failed,
    }
}

fn complaint(task: &Task, fault: &Fault) -> Message {
    let mut message = note(task, "fault", fault.public.to_string());
    message.metadata = Some(ext::metadata(|ours| ext::fault(ours, fault)));
    message.extensions = vec![ext::URI.into()];
    message
}

/// A message of the hub's own about a task; its id is the same whenever it is told.
pub(super) fn note(task: &Task, what: &str, text: String) -> Message {
    Message::new(format!("{}-{what}", task.id), Role::Agent, vec![Part::text(text)])
}

/// Every message inside a task says which.
pub(super) fn addressed(mut message: Message, task: &Task) -> Message {
    message.task = Some(task.id.to_string().into());
    message.context = task.call.conversation.as_ref().map(|context| context.0.clone());
    message
}
