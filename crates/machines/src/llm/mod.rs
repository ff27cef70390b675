//! A model as the hub sees it: a prompt goes in, typed events come out, and the last of them is an end mark.
//!
//! Providers disagree about everything else. Arguments of a tool call come in pieces, as all there is so far, or whole; a
//! connection may close between two events as if nothing were missing; usage comes before or after the end. The
//! [`Assembler`] makes one [`Reply`] of it and calls a stream without an end mark what it is, a failure. [`Failure`] says
//! what can be tried again and [`Backoff`] when; [`Patience`] ends streams that are silent or drip; [`Asking`] is all of
//! this for one question, [`Lane`] what one provider is asked at once. A provider is a [`Model`].
//!
//! Deliberately absent: connections, keys, and the name of any provider. [`script`] is a model that reads its part.

mod asking;
mod assemble;
mod failure;
mod lane;
mod patience;
mod port;
pub mod script;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use asking::{Asking, Manners, Next};
pub use assemble::{Assembler, Bounds, Broken};
pub use failure::{Backoff, Failure, FailureKind};
pub use lane::{Lane, Pace, Wait};
pub use patience::{Listening, Patience};
pub use port::{Model, Speaking, Speech};

use interlingua_model::card::Schema;
use interlingua_model::content::{Part, Trust};
use interlingua_model::id::Text;
use interlingua_model::json::Json;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub system: Text,
    pub messages: Vec<Arc<Message>>,
    pub tools: Vec<Offered>,
    pub max_tokens: Option<u64>,
    /// The answer is to be JSON of this form. A provider that knows schemas is told; the answer is checked all the same.
    pub output: Option<Schema>,
}

impl Prompt {
    /// The lowest trust of what the model will have read.
    pub fn trust(&self) -> Trust {
        lowest(&self.messages)
    }
}

/// The lowest trust of anything in these messages.
pub fn lowest(messages: &[Arc<Message>]) -> Trust {
    let trusts = messages.iter().flat_map(|message| message.parts()).map(|part| part.provenance.trust);
    trusts.min().unwrap_or(Trust::Operator)
}

/// One message of the history of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    User(Vec<Part>),
    Agent {
        parts: Vec<Part>,
        calls: Vec<ToolCall>,
    },
    /// The result of one call.
    Tool {
        call: Text,
        name: Text,
        parts: Vec<Part>,
        failed: bool,
    },
}

impl Message {
    pub fn parts(&self) -> &[Part] {
        match self {
            Message::User(parts) | Message::Agent { parts, .. } | Message::Tool { parts, .. } => parts,
        }
    }
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    pub name: Text,
    pub description: Text,
    pub input: Schema,
}

/// What a model says while it answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Text(Text),
    Reasoning(Text),
    Tool(Piece),
    Usage(Tokens),
    /// The end mark. Only usage may follow it.
    End(Stop),
    Error(Failure),
}

/// A piece of a tool call. `slot` tells the calls of one answer apart; id and name come with the first piece, or later.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub slot: u32,
    pub id: Option<Text>,
    pub name: Option<Text>,
    pub args: Args,
}

/// How a provider hands over arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Args {
    /// Nothing in this piece.
    None,
    /// What follows the pieces before.
    Piece(Text),
    /// All there is so far, in place of what came before.
    SoFar(Text),
    Whole(Json),
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    Done,
    /// It waits for the results of its calls. Some providers say Done then; the calls count, not the word.
    Tools,
    /// It ran into its limit of tokens.
    Length,
    /// It, or its provider, would not answer.
    Declined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    pub read: u64,
    pub written: u64,
}

/// One whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: Text,
    pub reasoning: Text,
    pub calls: Vec<ToolCall>,
    pub stop: Stop,
    /// What the provider counted; not all do.
    pub tokens: Option<Tokens>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within its answer.
    pub id: Text,
    pub name: Text,
    pub args: Arguments,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Arguments {
    Object(Json),
    /// Not an object of JSON: the call is not made, and the model is told.
    Unreadable {
        why: Text,
    },
}
