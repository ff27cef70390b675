//! A stored exchange as a state machine: a fold of its journal, with the same code live and on replay.
//!
//! [`Task::decide`] may refuse and changes nothing; its records are one atomic append. [`Task::apply`] runs after the append
//! and cannot fail. Effects are what the hub does once the records are safe; on replay nobody asks for them. The crash rule
//! is a decision like any other: [`Happening::Restarted`].
//!
//! | state | record | next |
//! |---|---|---|
//! | none | `Accepted` | Accepted |
//! | Accepted, Running, Waiting | `Asked` | Waiting |
//! | Accepted | `Sent{open}`, then `Started` | Running |
//! | Accepted, Running | `Selected` | Accepted: nothing was begun where it was sent, or nothing was sent |
//! | Running, Waiting | `Said`, `Progress`, `Step`, `Artifact`, `Sent`, `Started` | same |
//! | Waiting | `Settled` of the last open question | Running, or Accepted when nothing was sent |
//! | not Done | `Received` | same; a cancel marks it `cancelling` |
//! | not Done | `Finished` | Done |
//!
//! Deliberately absent: clocks, timers, peers. [`Task::next_timer`] says when to come back.

mod apply;
mod decide;
mod join;
#[cfg(test)]
mod scenarios;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use apply::{Damaged, fold};
pub use decide::merge_args;
pub use join::join;
pub use steps::Steps;

use interlingua_model::call::{Call, DeadlineBy};
use interlingua_model::content::{Part, Party, Role};
use interlingua_model::event::{Chunk, Event, Finished, Route, Signal};
use interlingua_model::fault::Fault;
use interlingua_model::id::{ArtifactId, MessageId, QuestionId, SkillId, TaskId, Text, Time};
use interlingua_model::journal::{Record, Selected, Sent};
use interlingua_model::json::Json;
use interlingua_model::loss::Loss;
use interlingua_model::ports::TaskPhase;
use interlingua_model::principal::Principal;
use interlingua_model::question::Answer;
use interlingua_model::question::{Addressee, Question, QuestionKind};
use interlingua_model::secret::Secret;

/// How long a peer has to end what it was told to cancel, before the hub ends it itself.
pub const CANCEL_GRACE: Duration = Duration::from_secs(10);
/// How many questions one task may have open.
pub const MAX_OPEN_QUESTIONS: usize = 16;
/// Bytes of one question of a peer's.
pub const MAX_QUESTION: usize = 256 * 1024;
/// How many bytes of artifacts one task may hold: as many as a transcript. Large blobs are stored beside it and count as references.
pub const MAX_ARTIFACTS_HELD: usize = interlingua_model::transcript::MAX_MADE;

/// Written down as it is for a snapshot, which only ever saves reading the records behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    /// Its owner is the subjects of this.
    pub by: Principal,
    /// Answers to the hub's own questions are merged into its arguments.
    pub call: Box<Call>,
    pub state: State,
    pub route: Option<Route>,
    pub sent: Option<Sent>,
    /// Which of several skills of one capability it is for, once that is fixed.
    #[serde(default)]
    pub selected: Option<Selected>,
    /// Of the last record applied.
    pub seq: u64,
    pub cancelling: Option<Cancelling>,
    pub open: BTreeMap<QuestionId, Question>,
    /// Answers to questions with which the peer ended its request, while others of them are open: they go to it together.
    #[serde(default)]
    pub given: Vec<(Question, Answer)>,
    /// How many questions were asked so far.
    pub asked: u32,
    /// A yes that was given, for exactly this digest; spent by the dispatch.
    pub granted: Option<interlingua_model::digest::Digest>,
    pub messages: Vec<Spoken>,
    /// Answers told in pieces, under the ids they were told by; bounded like the messages.
    #[serde(default)]
    pub pieces: BTreeMap<MessageId, Vec<Part>>,
    /// At most [`MAX_ARTIFACTS_HELD`] of memory; a peer that sends more is refused.
    pub artifacts: BTreeMap<ArtifactId, Vec<Chunk>>,
    /// What was done on the way, as it stands now.
    #[serde(default)]
    pub steps: Steps,
    /// The first [`MAX_LOSSES`](interlingua_model::transcript::MAX_LOSSES); the journal has them all.
    pub losses: Vec<Loss>,
    pub created: Time,
    pub updated: Time,
    /// When the last open question was settled after a wait: the hub's own deadline stood still meanwhile.
    pub paused: Duration,
    waiting_since: Option<Time>,
    /// What messages and artifacts take of memory, in bytes.
    #[serde(default)]
    weight: Weight,
}

impl Task {
    /// About how many bytes it holds besides its call: what was said, artifacts, steps, and questions of its peer that are open.
    pub fn held(&self) -> usize {
        let Weight { messages, pieces, artifacts } = self.weight;
        let asked_by_peer = |question: &&Question| question.asked_by != Party::Hub;
        let open: usize = self.open.values().filter(asked_by_peer).map(Question::weight).sum();
        messages + pieces + artifacts + self.steps.weight() + open
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Weight {
    messages: usize,
    pieces: usize,
    artifacts: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum State {
    Accepted,
    Running,
    Waiting,
    Done(Box<Finished>),
}

/// A message of a task's history, under the id it came or went by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spoken {
    pub id: MessageId,
    pub role: Role,
    pub parts: Vec<Part>,
}

impl Spoken {
    /// About how many bytes it takes to hold it.
    fn weight(&self) -> usize {
        size_of::<Spoken>() + self.parts.iter().map(Part::weight).sum::<usize>()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelling {
    pub why: interlingua_model::event::CancelWhy,
    pub since: Time,
}

/// What may happen to a task.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The hub is about to send it, with the arguments as resolved. `repeatable`: the skill is idempotent, it may be sent
    /// again under the same key.
    Dispatch {
        route: Route,
        repeatable: bool,
        args: Option<Json>,
    },
    /// The call is for this skill of those that offer its capability. `fault`: why the one before was given up; it is certain
    /// that nothing was begun there.
    Select {
        skill: SkillId,
        others: Vec<SkillId>,
        fault: Option<Fault>,
    },
    /// The hub itself asks.
    Ask(Asking),
    /// The peer says something. Its questions are numbered by the task.
    Peer {
        event: Event,
        losses: Vec<Loss>,
        raw: Option<interlingua_model::Raw>,
    },
    /// The peer told the id under which it knows the task, or ended its request with a question.
    Learnt {
        remote: Option<Secret>,
        open: bool,
    },
    /// The peer's side ended without an outcome.
    PeerLost,
    Signal {
        by: Principal,
        standing: Standing,
        signal: Signal,
    },
    QuestionExpired(QuestionId),
    DeadlineReached,
    CancelGraceOver,
    /// The caller's connection is gone, and its manners say what then.
    CallerGone,
    /// It has not come back in the time its manners give it.
    CallerStayedAway,
    /// The hub cannot go on with it: policy changed, the skill vanished, admission failed.
    Refused(Fault),
    /// The hub was started again and has folded this from the journal.
    Restarted,
}

/// What will happen by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Deadline,
    CancelGrace,
    Question(QuestionId),
}

impl From<Due> for Happening {
    fn from(due: Due) -> Happening {
        match due {
            Due::Deadline => Happening::DeadlineReached,
            Due::CancelGrace => Happening::CancelGraceOver,
            Due::Question(question) => Happening::QuestionExpired(question),
        }
    }
}

/// A question of the hub's own.
#[derive(Debug, Clone)]
pub struct Asking {
    pub to: Addressee,
    pub kind: QuestionKind,
    pub text: Text,
    pub expires: Time,
}

/// What policy says of whoever sends a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The task is theirs.
    pub owns: bool,
    /// They may say yes.
    pub approves: bool,
}

/// Records to append as one, then effects to perform.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Nothing is open and nothing was sent: go on through the phases to the dispatch.
    Proceed,
    /// Send it to the peer.
    Dispatch(Sent),
    /// The peer knows it by an id: take it up again.
    Reattach(Sent),
    /// Pass this on to the peer.
    Forward(Signal),
    /// The caller may come back within this time; then [`Happening::CallerStayedAway`].
    AwaitCaller(Duration),
    /// It is over: let go of the peer.
    Stop,
}

impl Task {
    pub fn phase(&self) -> TaskPhase {
        use interlingua_model::event::Outcome;
        match &self.state {
            State::Accepted => TaskPhase::Accepted,
            State::Running => TaskPhase::Running,
            State::Waiting => TaskPhase::Waiting,
            State::Done(finished) => match finished.outcome {
                Outcome::Completed => TaskPhase::Completed,
                Outcome::Failed(_) => TaskPhase::Failed,
                Outcome::Cancelled { .. } => TaskPhase::Cancelled,
            },
        }
    }

    pub fn finished(&self) -> Option<&Finished> {
        match &self.state {
            State::Done(finished) => Some(finished),
            State::Accepted | State::Running | State::Waiting => None,
        }
    }

    /// The earliest thing that will happen by itself, and when.
    pub fn next_timer(&self) -> Option<(Time, Happening)> {
        self.next_due().map(|(at, due)| (at, due.into()))
    }

    /// The same as a word: what happens is large, and is asked for before everything that is waited for.
    pub fn next_due(&self) -> Option<(Time, Due)> {
        if self.finished().is_some() {
            return None;
        }
        let grace = self.cancelling.map(|cancelling| (cancelling.since.after(CANCEL_GRACE), Due::CancelGrace));
        let expires = self.open.values().min_by_key(|question| question.expires);
        let question = expires.map(|question| (question.expires, Due::Question(question.id)));
        // Of those at the same time the first counts.
        let deadline = self.deadline().map(|at| (at, Due::Deadline));
        [deadline, grace, question].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// The hub's own deadline stands still while only questions are open; a caller's never does.
    fn deadline(&self) -> Option<Time> {
        let deadline = self.call.limits.deadline?;
        match deadline.set_by {
            DeadlineBy::Caller => Some(deadline.at),
            DeadlineBy::Hub if self.open.is_empty() => Some(deadline.at.after(self.paused)),
            DeadlineBy::Hub => None,
        }
    }

    /// Whether the peer can have heard of it by its last dispatch only: it told no id and asked nothing.
    pub fn is_only_dispatched(&self) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.open && sent.remote.is_none() && sent.key == self.call_key())
    }

    /// The oldest open question that someone of this standing may answer.
    pub fn answerable(&self, standing: Standing) -> Option<&Question> {
        self.open.values().find(|question| decide::may_answer(question, standing))
    }
}
