//! `content.messages`: a chat in the format of model APIs, a list of `{role, content}`. The last message is the current one, those before
//! it are history.

use interlingua_model::json::Tree;
use interlingua_model::{Body, Input, Json, Loss, LossKind, Part, Provenance, Role, Trust, Turn};

use crate::invalid::{Invalid, Rule};

/// More messages than this are refused.
const MOST: usize = 10_000;

/// The input of a chat; none when the content is no chat.
pub(super) fn decode(content: &Json, losses: &mut Vec<Loss>) -> Result<Option<Input>, Invalid> {
    let messages = match content.get("messages") {
        None | Some(Tree::Null) => return Ok(None),
        Some(Tree::Array(messages)) if messages.is_empty() => return Ok(None),
        Some(Tree::Array(messages)) if messages.len() > MOST => {
            return Err(Invalid::TooLarge { path: "content.messages".to_owned(), limit: MOST });
        }
        Some(Tree::Array(messages)) => messages,
        Some(_) => return Err(Rule::NoList.into()),
    };
    // The seed sends `options` for its own model beside the messages; other members are no part of a chat either.
    if content.tree().as_object().is_some_and(|members| members.len() > 1) {
        losses.push(Loss::new("message.content", LossKind::Dropped));
    }
    if messages.iter().any(says_more) {
        losses.push(Loss::new("message.content.messages", LossKind::Dropped));
    }
    let mut history = messages.iter().enumerate().map(turn).collect::<Result<Vec<Turn>, Rule>>()?;
    match history.pop() {
        Some(Turn { role: Role::User, parts }) => Ok(Some(Input { args: None, parts, history, trust: Trust::Caller })),
        Some(_) | None => Err(Rule::EndsWithoutUser.into()),
    }
}

/// A message with members besides the two a turn has: names, calls a model made.
fn says_more(message: &Tree) -> bool {
    message.as_object().is_some_and(|members| members.keys().any(|key| key != "role" && key != "content"))
}

fn turn((index, message): (usize, &Tree)) -> Result<Turn, Rule> {
    let role = match message.get("role").and_then(Tree::as_str) {
        Some("user") => Role::User,
        Some("assistant") => Role::Agent,
        Some("system" | "developer") => Role::System,
        Some("tool") => Role::Tool,
        Some(_) | None => return Err(Rule::UnknownRole(index)),
    };
    let parts = match message.get("content") {
        None | Some(Tree::Null) => Vec::new(),
        Some(Tree::String(text)) => vec![Part::text(text.as_str(), Provenance::caller())],
        Some(Tree::Array(blocks)) => blocks.iter().map(block).collect(),
        Some(_) => return Err(Rule::BadTurn(index)),
    };
    Ok(Turn { role, parts })
}

/// A block of text is text; whatever else a model provider has for a block is kept as data.
fn block(block: &Tree) -> Part {
    match block.get("text").and_then(Tree::as_str) {
        Some(text) => Part::text(text, Provenance::caller()),
        None => Part::new(Body::Data(Json::from_tree(block.clone())), Provenance::caller()),
    }
}
