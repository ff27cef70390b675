//! The hub as a client of NLIP agents, seen from both ends: a caller in front of it, scripted agents behind it.

mod bindings;
mod certificates;
mod credentials;
mod failures;
mod history;
mod large;
mod questions;
mod tokens;

use interlingua_testkit::{Heard, Hub, Say, Scripted};
use serde_json::{Value, json};

/// A hub with these peers; each is the line of YAML behind its name.
async fn hub(peers: &[(&str, String)]) -> Hub {
    let lines: String = peers.iter().map(|(name, line)| format!("  {name}: {line}\n")).collect();
    Hub::start(env!("CARGO_BIN_EXE_interlingua"), &format!("peers:\n{lines}")).await
}

/// An agent reached over plain HTTP.
fn agent(address: std::net::SocketAddr) -> String {
    format!("{{ nlip: {{ url: \"http://{address}/nlip\" }} }}")
}

fn text(text: &str) -> Value {
    json!({"format": "text", "subformat": "english", "content": text})
}

fn token(kind: &str, content: &str) -> Value {
    json!({"format": "token", "subformat": kind, "content": content})
}

fn with(mut message: Value, submessages: impl IntoIterator<Item = Value>) -> Value {
    let mut list = message["submessages"].as_array().cloned().unwrap_or_default();
    list.extend(submessages);
    message["submessages"] = list.into();
    message
}

fn control(mut message: Value) -> Value {
    message["messagetype"] = "control".into();
    message
}

/// All submessages after the first.
fn submessages(message: &Value) -> Vec<Value> {
    message["submessages"].as_array().cloned().unwrap_or_default()
}

fn tokens(message: &Value) -> Vec<Value> {
    submessages(message).into_iter().filter(|part| part["format"] == "token").collect()
}

fn labelled(message: &Value, label: &str) -> Option<Value> {
    submessages(message).into_iter().find(|part| part["label"] == label)
}

/// The next message of a conversation: these words, and every token of the last answer.
fn then(last: &Value, words: &str) -> Value {
    with(text(words), tokens(last))
}

/// An agent that is a hub is also asked for its skills, which is no part of a conversation.
fn asks_for_skills(body: &[u8]) -> bool {
    let question = b"What can you do?";
    body.windows(question.len()).any(|window| window == question)
}

/// What the agent was sent in conversations, each with its number among all messages.
fn conversed(scripted: &Scripted) -> Vec<(usize, Heard)> {
    scripted.heard().into_iter().enumerate().filter(|(_, heard)| !asks_for_skills(&heard.body)).collect()
}

/// An answer in words.
fn says(words: &str) -> Say {
    Say::Json(text(words))
}
