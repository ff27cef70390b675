//! The client's side: the hub calls an NLIP agent.
//!
//! [`encode`] makes the messages of a call and of an answer, [`decode`] reads the reply, [`jar`] keeps the tokens of one
//! leg (one conversation with one agent), [`skills`] reads what another hub can do. What the agent asks in plain words is its answer: the conversation goes on.

pub mod decode;
pub mod encode;
pub mod jar;
pub mod skills;

use interlingua_model::Schema;
use serde_json::json;

pub use decode::{GoesOn, Replied, ReplyContext};
pub use encode::Tongue;
pub use jar::{JarFull, Token, TokenJar};

/// The one skill every agent has: to be spoken to.
pub const CHAT: &str = "chat";

/// The input of `chat`.
pub fn chat_input() -> Schema {
    let input = json!({
        "type": "object",
        "properties": {"message": {"type": "string", "description": "What to say."}},
        "required": ["message"],
    });
    Schema(input.into())
}
