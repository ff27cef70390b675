//! Converts the end of an exchange with an agent to the hub's outcome.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use crate::client::Replied;
use interlingua_model::peer::{Dispatch, Duplex, Reply};
use interlingua_model::{
    Carried, Event, Fault, FaultKind, Feature, Finished, Loss, Outcome, Question, QuestionKind, Record, Sent, Signal,
};

/// A reply, read.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) said: Carried<Replied>,
    pub(super) control: bool,
}

impl Heard {
    /// The credential it asks for before it goes on (first draft, clause 6.5).
    pub(super) fn wanted_credential(&self) -> Option<&Question> {
        match &self.said.value {
            Replied::Asked(question) if matches!(question.kind, QuestionKind::Credential { .. }) => Some(question),
            Replied::Asked(_) | Replied::Finished(_) | Replied::GoesOn(_) => None,
        }
    }

    /// A control message that says no more than that the credential was taken.
    pub(super) fn acknowledges(&self) -> bool {
        match &self.said.value {
            Replied::Finished(finished) => self.control && finished.outcome == Outcome::Completed,
            Replied::Asked(_) | Replied::GoesOn(_) => false,
        }
    }

    /// What the hub is told. A question ends the agent's reply, not the exchange; one the caller has no way to answer is
    /// not asked.
    pub(super) fn reply(self, dispatch: &Dispatch, mut losses: Vec<Loss>) -> Reply {
        losses.extend(self.said.losses);
        match self.said.value {
            Replied::Finished(finished) if losses.is_empty() => Reply::Done(finished, None),
            Replied::Finished(finished) => told([emitted(Event::Finished(*finished), losses)]),
            Replied::Asked(question) if !dispatch.call.caller.is_answered_for(&question.kind) => {
                let text = format!("{} asks, and nobody here can answer: {}", dispatch.skill.id.peer, question.text);
                Reply::Done(Box::new(Finished::failed(Fault::caller(FaultKind::Unanswered, text))), None)
            }
            // Only an answer to what was asked about a task is followed.
            Replied::GoesOn(_) => {
                let text = format!("{} does not answer", dispatch.skill.id.peer);
                Reply::Done(Box::new(Finished::failed(Fault::caller(FaultKind::BadReply, text))), None)
            }
            Replied::Asked(question) => {
                let sent = Sent::learnt(dispatch.key.clone(), None, false);
                told([Record::Sent(sent), emitted(Event::Asked(*question), losses)])
            }
        }
    }
}

fn emitted(event: Event, losses: Vec<Loss>) -> Record {
    Record::Emitted { event, losses, raw: None }
}

fn told<const N: usize>(records: [Record; N]) -> Reply {
    Reply::Live(Box::new(Told(records.into())))
}

/// All that the agent said, at once.
struct Told(VecDeque<Record>);

impl Duplex for Told {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        Poll::Ready(self.0.pop_front())
    }

    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), "the agent has answered already"))
    }
}
