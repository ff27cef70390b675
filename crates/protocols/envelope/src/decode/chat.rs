//! `content.messages`: a chat in the format of model APIs, a list of `{role, content}`, with the calls that a model made and their results in
//! any of their forms. The last message is the current one, those before it are history.

use interlingua_model::json::Tree;
use interlingua_model::{Body, Input, Json, Loss, LossKind, Part, Provenance, Role, Trust, Turn};

use super::native;
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

/// A message with members that its turn does not have.
fn says_more(message: &Tree) -> bool {
    let is_read = |key: &str| match (message.get("role").and_then(Tree::as_str), key) {
        (None, "type" | "id" | "call_id" | "name" | "arguments" | "output" | "status") => true,
        (Some("tool"), "tool_call_id" | "name") => true,
        (Some(_), "role" | "content" | "parts" | "tool_calls") => true,
        (None | Some(_), _) => false,
    };
    message.as_object().is_some_and(|members| members.keys().any(|key| !is_read(key)))
}

fn turn((index, message): (usize, &Tree)) -> Result<Turn, Rule> {
    let role = match message.get("role").and_then(Tree::as_str) {
        Some("user") => Role::User,
        Some("assistant" | "model") => Role::Agent,
        Some("system" | "developer") => Role::System,
        Some("tool" | "function") => Role::Tool,
        None => {
            let (role, said) = native::item(message).ok_or(Rule::UnknownRole(index))?;
            return Ok(Turn { role, parts: vec![data(said)] });
        }
        Some(_) => return Err(Rule::UnknownRole(index)),
    };
    let mut parts = match message.get("content").or_else(|| message.get("parts")) {
        None | Some(Tree::Null) => Vec::new(),
        Some(Tree::String(text)) => vec![Part::text(text.as_str(), Provenance::caller())],
        Some(Tree::Array(blocks)) => blocks.iter().map(block).collect(),
        Some(_) => return Err(Rule::BadTurn(index)),
    };
    if role == Role::Tool
        && let Some(result) = native::answered(message)
    {
        parts = vec![data(result)];
    }
    let calls = message.get("tool_calls").and_then(Tree::as_array).into_iter().flatten();
    parts.extend(calls.map(|call| data(native::call(call).unwrap_or_else(|| call.clone()))));
    Ok(Turn { role, parts })
}

/// A block of text is text, a call and its result are what they are in any form; whatever else a model provider has for a block is kept
/// as data.
fn block(block: &Tree) -> Part {
    match block.get("text").and_then(Tree::as_str) {
        Some(text) => Part::text(text, Provenance::caller()),
        None => data(native::call(block).or_else(|| native::result(block)).unwrap_or_else(|| block.clone())),
    }
}

fn data(said: Tree) -> Part {
    Part::new(Body::Data(Json::from_tree(said)), Provenance::caller())
}
