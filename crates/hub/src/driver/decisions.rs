//! Audit trail of an exchange: which of its records become audit lines. These are a request for approval and the answer to it, a dispatch
//! that must not be repeated, the outcome, and the losses.

use interlingua_machines::task::Task;
use interlingua_model::{
    Answer, Confirm, Event, Finished, How, Loss, Outcome, QuestionId, QuestionKind, Record, Signal, SkillId,
};

use interlingua_telemetry::trace;

use super::super::audit::{Audit, AuditLine};

/// Lines of decisions that are not in the journal yet. They are written once the records are, so the audit never tells of
/// what could not be stored. There is rarely more than one, which takes no memory of its own.
#[derive(Debug, Default)]
pub(super) struct PendingLines {
    first: Option<AuditLine>,
    more: Vec<AuditLine>,
}

impl PendingLines {
    pub(super) fn add(&mut self, mut line: AuditLine) {
        // The line belongs to the trace in which it was decided.
        line.trace = line.trace.or_else(trace::ambient_id);
        match &self.first {
            None => self.first = Some(line),
            Some(_) => self.more.push(line),
        }
    }

    /// The records are stored, or never will be because the exchange is not kept.
    pub(super) fn write(&mut self, audit: &Audit) {
        self.first.take().into_iter().chain(self.more.drain(..)).for_each(|line| audit.write(line));
    }

    /// The records are given up: nothing of them happened.
    pub(super) fn discard(&mut self) {
        *self = PendingLines::default();
    }
}

/// The audit line of a record, given the task before it is applied.
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
            (&**confirm, task.by.owner().to_string(), "asked")
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
        Record::Emitted { event: Event::Finished(finished), losses, .. } => {
            return Some(returned(task, finished, losses));
        }
        Record::Emitted { event: Event::Started(route), .. } => return dispatched(task, &route.skill),
        Record::Received { .. }
        | Record::Emitted { .. }
        | Record::Accepted { .. }
        | Record::Sent(_)
        | Record::Selected(_) => return None,
    };
    let line = AuditLine::new("confirm", by).on(&confirm.skill).task(task.id).call(&task.call);
    Some(line.outcome(outcome))
}

/// That it ended, however it did.
fn returned(task: &Task, finished: &Finished, losses: &[Loss]) -> AuditLine {
    let line = of_task("return", task).losses(task.losses.iter().chain(losses));
    match &finished.outcome {
        Outcome::Failed(fault) => line.refused(fault.kind),
        Outcome::Completed | Outcome::Cancelled { .. } => line.outcome(finished.outcome.as_str()),
    }
}

/// That it goes to its peer. What may be sent twice leaves no line: its return says that it went.
fn dispatched(task: &Task, skill: &SkillId) -> Option<AuditLine> {
    let matters = task.sent.as_ref().is_some_and(|sent| !sent.repeatable);
    matters.then(|| of_task("dispatch", task).on(skill).outcome("sent"))
}

fn of_task(action: &'static str, task: &Task) -> AuditLine {
    let line = AuditLine::new(action, task.by.owner()).task(task.id).call(&task.call);
    match &task.route {
        Some(route) => line.on(&route.skill),
        None => line,
    }
}

fn open(task: &Task, question: QuestionId) -> Option<&Confirm> {
    let QuestionKind::Confirm(confirm) = &task.open.get(&question)?.kind else { return None };
    Some(confirm)
}
