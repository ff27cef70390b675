//! The client side: the hub calls an NLIP agent.
//!
//! [`encode`] makes the messages of a call and of an answer, [`decode`] reads the reply, [`jar`] stores the tokens of one leg (one
//! conversation with one agent), [`skills`] reads the skills of another hub. A question in plain words is the agent's answer: the
//! conversation continues.

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
