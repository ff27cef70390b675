//! Calls that a model made before, and their results, in the messages of a chat (O-33). Whatever API wrote them, they become data in the
//! envelope's own words: `{tool_id, tool_name, parameters}` and `{tool_id, tool_name, status, result}`. They are history, and nothing runs.

use bytes::Bytes;
use interlingua_model::json::Tree;
use interlingua_model::{Json, Role};
use serde_json::Map;

/// Arguments in a text are read to this depth; deeper ones stay text.
const DEPTH: usize = 64;

/// A call in any of the forms of [`NativeForm`](crate::wire::NativeForm).
pub(super) fn call(block: &Tree) -> Option<Tree> {
    if let Some(held) = either(block, ["functionCall", "function_call"]) {
        return Some(made(held.get("id"), held.get("name"), held.get("args")));
    }
    if let Some(held) = block.get("function").filter(|held| held.is_object()) {
        return Some(made(block.get("id"), held.get("name"), held.get("arguments")));
    }
    match block.get("type")?.as_str()? {
        "tool_use" => Some(made(block.get("id"), block.get("name"), block.get("input"))),
        "function_call" => Some(made(block.get("call_id"), block.get("name"), block.get("arguments"))),
        _ => None,
    }
}

/// A result in any of these forms, where it is an object of its own.
pub(super) fn result(block: &Tree) -> Option<Tree> {
    if let Some(held) = either(block, ["functionResponse", "function_response"]) {
        let response = held.get("response");
        let is_error = response.and_then(|response| response.get("error")).is_some();
        return Some(given(held.get("id"), held.get("name"), response, is_error));
    }
    match block.get("type")?.as_str()? {
        "tool_result" => {
            let is_error = block.get("is_error").and_then(Tree::as_bool) == Some(true);
            Some(given(block.get("tool_use_id"), None, block.get("content"), is_error))
        }
        "function_call_output" => Some(given(block.get("call_id"), None, block.get("output"), false)),
        _ => None,
    }
}

/// A whole message of the role `tool` that says which call it answers.
pub(super) fn answered(message: &Tree) -> Option<Tree> {
    let id = message.get("tool_call_id").filter(|id| id.is_string())?;
    Some(given(Some(id), message.get("name"), message.get("content"), false))
}

/// An item that has no role: OpenAI's responses API has calls and results beside its messages.
pub(super) fn item(message: &Tree) -> Option<(Role, Tree)> {
    match message.get("type")?.as_str()? {
        "function_call" => Some((Role::Agent, call(message)?)),
        "function_call_output" => Some((Role::Tool, result(message)?)),
        _ => None,
    }
}

fn either<'a>(block: &'a Tree, keys: [&str; 2]) -> Option<&'a Tree> {
    keys.into_iter().find_map(|key| block.get(key)).filter(|held| held.is_object())
}

fn made(id: Option<&Tree>, name: Option<&Tree>, arguments: Option<&Tree>) -> Tree {
    members([("tool_id", id.cloned()), ("tool_name", name.cloned()), ("parameters", arguments.map(parsed))])
}

fn given(id: Option<&Tree>, name: Option<&Tree>, content: Option<&Tree>, is_error: bool) -> Tree {
    let status = if is_error { "error" } else { "success" };
    let members_of = [("tool_id", id.cloned()), ("tool_name", name.cloned()), ("status", Some(status.into()))];
    members(members_of.into_iter().chain([("result", content.cloned())]))
}

fn members(all: impl IntoIterator<Item = (&'static str, Option<Tree>)>) -> Tree {
    let there = all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.filter(|it| !it.is_null())?)));
    Tree::Object(there.collect::<Map<String, Tree>>())
}

/// Arguments that came as text are what the text says, if it is JSON.
fn parsed(arguments: &Tree) -> Tree {
    let written = arguments.as_str().map(|text| Json::parse_within(Bytes::copy_from_slice(text.as_bytes()), DEPTH));
    match written {
        Some(Ok(json)) if json.is_object() => json.tree().clone(),
        Some(_) | None => arguments.clone(),
    }
}
