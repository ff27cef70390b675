//! Records of an agent's run. State is a fold of these.

use serde::{Deserialize, Serialize};

use super::context::Folded;
use super::plan::Plan;
use crate::llm::{Failure, Message, Reply, Tokens};
use interlingua_model::content::Part;
use interlingua_model::event::{Finished, Usage};
use interlingua_model::id::{SkillId, Text};
use interlingua_model::json::Json;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// `messages`: what was said before, and what is asked now.
    Begun {
        plan: Box<Plan>,
        messages: Vec<Message>,
    },
    /// The model answered.
    Thought {
        reply: Box<Reply>,
        tokens: Tokens,
        micro_money: u64,
    },
    /// It did not; what it had said until then was shown.
    Broke {
        failure: Failure,
        text: Text,
        tokens: Option<Tokens>,
    },
    /// A call is about to be made: synced before it is. `confirm`: it waits for a human yes first.
    Called {
        call: Text,
        skill: SkillId,
        confirm: bool,
    },
    /// The caller is about to be asked.
    Asked {
        call: Text,
        question: Text,
    },
    /// The caller is about to be asked to run a tool of its own.
    Handed {
        call: Text,
    },
    /// A call that is not made; the model is told why.
    Refused {
        call: Text,
        why: Text,
    },
    Returned {
        call: Text,
        result: ToolResult,
    },
    /// Said to the agent while it runs.
    Told(Vec<Part>),
    /// A decision was not taken: a result for each call, and a word where there was none.
    SentBack {
        results: Vec<(Text, Text)>,
        say: Option<Text>,
    },
    /// The answer is this value, which is to be checked.
    Proposed(Json),
    /// The answer does not fit; the model is asked to repair it.
    Misfit {
        problem: Text,
    },
    /// More had been said meanwhile, so the answer is not the last word.
    WentOn,
    /// The model is asked for a summary of the messages up to this one.
    SummaryAsked {
        upto: usize,
    },
    Folded(Folded),
    Finished(Box<Finished>),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub parts: Vec<Part>,
    pub failed: bool,
    /// What a child agent used; it counts for its parent too.
    pub usage: Usage,
}
