//! What of an exchange's records is a decision for the audit: that a person was asked for a yes, and what they said.

use interlingua_core::task::Task;
use interlingua_core::{Answer, Confirm, Event, How, QuestionId, QuestionKind, Record, Signal};

use super::super::audit::AuditLine;

/// The line that a record leaves, as the task stands before it is applied.
pub(super) fn of(task: &Task, record: &Record) -> Option<AuditLine> {
    let (confirm, by, outcome) = match record {
        Record::Received { by, signal: Signal::Answered { question, answer, .. } } => {
            let outcome = match answer {
                Answer::Granted | Answer::Given(_) | Answer::Token(_) | Answer::Visited => "granted",
                Answer::Declined | Answer::Dismissed => "declined",
            };
            (open(task, *question)?, by.owner().to_string(), outcome)
        }
        Record::Emitted { event: Event::Asked(question), .. } => {
            let QuestionKind::Confirm(confirm) = &question.kind else { return None };
            (confirm, task.by.owner().to_string(), "asked")
        }
        Record::Emitted { event: Event::Settled { question, how, .. }, .. } => {
            let outcome = match how {
                How::Expired => "expired",
                How::Withdrawn => "withdrawn",
                // Written with the answer itself, which says whose it was.
                How::Answered | How::Declined => return None,
            };
            (open(task, *question)?, "hub".to_owned(), outcome)
        }
        Record::Received { .. } | Record::Emitted { .. } | Record::Accepted { .. } | Record::Sent(_) => return None,
    };
    let line = AuditLine::new("confirm", by).on(&confirm.skill).task(task.id).call(&task.call);
    Some(line.outcome(outcome))
}

fn open(task: &Task, question: QuestionId) -> Option<&Confirm> {
    let QuestionKind::Confirm(confirm) = &task.open.get(&question)?.kind else { return None };
    Some(confirm)
}
