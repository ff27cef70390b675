//! An agent: a model that works on what it was asked, with the skills it was given. One run is a state machine over what
//! the model says and what its calls return; a fold of its records, the same code live and on replay.
//!
//! | phase | happening | next |
//! |---|---|---|
//! | Thinking | an answer with calls | Acting: refused calls are reported to the model, the others made, up to a limit at once |
//! | Thinking | an answer without | Done; or Checking, where it must fit a schema; or Deciding, where another party judges |
//! | Thinking | the model failed | Done, with its text so far |
//! | Acting | a call returned | Acting, or Thinking when it was the last |
//! | Checking | it fits, does not fit | Done, or Thinking again, up to a limit |
//! | Deciding | sent back, released | Thinking, Done |
//! | Summarising | the summary | Thinking |
//! | any | the budget is used up, cancelled | Done, with the partial result |
//!
//! What the agent may do is fixed when it begins: its skills, its budget, its rules of consent. What it reads only lowers
//! the trust of the run, and with it what runs without approval ([`mod@permit`]).
//!
//! After a crash a model is asked again, since asking has no effects; a call that was made is resumed under the id it had
//! ([`child`]), so the hub hands back the exchange there is and nothing is done twice.
//!
//! [`Run::decide`] may refuse and changes nothing; its records are one atomic append. [`Run::apply`] runs after the append
//! and cannot fail. Deliberately absent: models, skills, clocks.

mod apply;
mod budget;
mod context;
mod decide;
mod history;
mod layers;
mod permit;
mod plan;
mod record;
mod result;
mod say;
mod structured;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use apply::{Damaged, fold};
pub use context::Folded;
pub use history::history;
pub(crate) use history::messages;
pub use layers::{Layer, Layers};
pub use permit::permit;
pub use plan::{Budget, Fold, Plan, Price, Tool, Window, offer};
pub use record::{Record, ToolResult};
pub use say::{LastSaid, said_in};

use crate::llm::{Broken, Message, Prompt, Reply, Stop, ToolCall};
use interlingua_model::card::Schema;
use interlingua_model::content::{Input, Part, Trust};
use interlingua_model::digest::Digest;
use interlingua_model::event::{CancelWhy, Event, Finished, Usage};
use interlingua_model::id::{MessageId, SkillId, TaskId, Text, Time};
use interlingua_model::json::Json;

/// The tool by which a model asks whoever called the agent.
pub const ASK: &str = "ask_user";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub plan: Arc<Plan>,
    pub phase: Phase,
    pub messages: Vec<Arc<Message>>,
    /// Answers of the model so far; the one being made has this number.
    pub turn: u32,
    pub spent: Usage,
    /// The lowest of all it has ever read: forgetting a text does not undo having read it.
    pub trust: Trust,
    pub repairs: u32,
    /// Said to it while it was busy.
    pub told: Vec<Part>,
    pub last_said: Option<LastSaid>,
    pub began: Time,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    Thinking,
    Acting(Vec<Doing>),
    /// It answered, and nothing stands in the way. Whatever becomes of it is decided in the same append.
    Answered(Stop),
    Checking(Json),
    Deciding {
        calls: Vec<ToolCall>,
        text: Text,
    },
    Summarising {
        upto: usize,
    },
    Done(Box<Finished>),
}

/// One call of the model's last answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Doing {
    pub call: ToolCall,
    pub state: DoingState,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DoingState {
    /// Others are made first.
    Waiting,
    Called {
        skill: SkillId,
        confirm: bool,
    },
    Asked {
        question: Text,
    },
    /// The caller runs it.
    Handed,
    Returned(ToolResult),
}

/// What may happen to a run.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The plan is safe: begin.
    Begin,
    Replied(Box<Reply>),
    /// The model did not answer, and will not be asked again.
    Broke(Broken),
    Returned {
        call: Text,
        result: ToolResult,
    },
    /// Someone says more: the caller, or whoever runs the agent.
    Told(Vec<Part>),
    SentBack {
        results: Vec<(Text, Text)>,
        say: Option<Text>,
    },
    /// Whoever judges its decisions needs no more of them.
    Released,
    /// What became of [`Effect::Check`]: the problem, if there is one.
    Checked(Result<(), Text>),
    /// The time that [`Run::next_timer`] named has come.
    Timer,
    Cancel(CancelWhy),
}

/// Records to append as one, then effects to perform.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the model, and pass on what it says by [`Run::hear`].
    Think(Box<Prompt>),
    /// Ask the model without anyone hearing it.
    Summarise(Box<Prompt>),
    Call(Box<Calling>),
    /// Ask whoever called the agent.
    Ask {
        call: Text,
        question: Text,
    },
    /// Ask whoever called the agent to run a tool of its own.
    Hand(Box<Handing>),
    /// Let go of a call.
    Drop {
        call: Text,
    },
    /// Does this value fit?
    Check {
        schema: Schema,
        value: Json,
    },
    /// Here is a decision; send it back or release the agent.
    Decided {
        calls: Vec<ToolCall>,
        text: Text,
        trust: Trust,
    },
    /// Pass this on to whoever listens.
    Emit(Event),
    Finish(Box<Finished>),
}

/// A call to be made. `turn` and `index` name it within the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Calling {
    pub call: Text,
    pub turn: u32,
    pub index: u32,
    pub skill: SkillId,
    /// Its trust is the run's.
    pub input: Input,
    pub confirm: bool,
}

/// A call of a tool that the caller runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Handing {
    pub call: Text,
    pub turn: u32,
    pub index: u32,
    pub name: Text,
    pub args: Json,
}

/// The id of a child call: the same whenever the run comes to it, so that a parent that calls again is handed the same
/// child.
pub fn child(parent: TaskId, turn: u32, index: u32) -> MessageId {
    let fields = [&parent.0.to_be_bytes()[..], &turn.to_be_bytes()[..], &index.to_be_bytes()[..]];
    MessageId::from(Digest::of_fields(fields).to_string())
}

impl Run {
    /// The state after `Begun`, which is record 1.
    pub fn begun(plan: Plan, messages: Vec<Message>, at: Time) -> Run {
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        Run {
            plan: Arc::new(plan),
            phase: Phase::Thinking,
            trust: crate::llm::lowest(&messages),
            messages,
            turn: 0,
            spent: Usage::default(),
            repairs: 0,
            told: Vec::new(),
            last_said: None,
            began: at,
        }
    }

    pub fn finished(&self) -> Option<&Finished> {
        match &self.phase {
            Phase::Done(finished) => Some(finished),
            Phase::Thinking
            | Phase::Acting(_)
            | Phase::Answered(_)
            | Phase::Checking(_)
            | Phase::Deciding { .. }
            | Phase::Summarising { .. } => None,
        }
    }

    /// When its time is over.
    pub fn next_timer(&self) -> Option<Time> {
        let limit = self.plan.budget.time.filter(|_| self.finished().is_none())?;
        Some(self.began.after(limit))
    }
}
