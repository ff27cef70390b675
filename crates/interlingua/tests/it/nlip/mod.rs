//! NLIP over the wire, requirement by requirement: ECMA-430 (messages), 431 (HTTP), 432 (WebSocket), 434 (security).

mod access;
mod control;
mod http;
mod messages;
mod replay;
mod tls;
mod tokens;
mod uploads;
mod websocket;

use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

/// A hub as a newcomer starts it, with a workspace that holds one file.
async fn hub() -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config("tools: { workspace: ./workspace }\n")
        .file("workspace/shopping.txt", "Two lemons\n")
        .start()
        .await
}

fn text(content: &str) -> Value {
    json!({"format": "text", "subformat": "english", "content": content})
}

fn token(kind: &str, content: &str) -> Value {
    json!({"format": "token", "subformat": kind, "content": content})
}

/// `message` with these submessages.
fn with(mut message: Value, submessages: &[Value]) -> Value {
    message["submessages"] = submessages.into();
    message
}

/// Posts a message and reads the answer, which must be a message that fits Annex A of ECMA-430.
async fn ask(hub: &Hub, message: &Value) -> Value {
    let answer = hub.post_json("/nlip", message).await;
    assert_eq!(answer.status, 200, "{message} was refused: {}", answer.text());
    let reply = answer.json();
    assert_fits_annex_a(&reply);
    reply
}

/// Posts a message that must be refused as none, with an error message.
async fn refused(hub: &Hub, message: &Value) -> Answer {
    let answer = hub.post_json("/nlip", message).await;
    assert_eq!(answer.status, 422, "{message}: {}", answer.text());
    assert_eq!(interlingua_testkit::hostile::nlip_complaint(&answer.json()), None, "{}", answer.text());
    answer
}

/// A message that asks `hub/echo` to say these parts again.
fn echo(parts: &[Value]) -> Value {
    let call = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": "hub/echo"}});
    with(text("again, please"), &[std::slice::from_ref(&call), parts].concat())
}

/// What comes back of these parts: everything of the reply but tokens.
async fn echoed(hub: &Hub, parts: &[Value]) -> Vec<Value> {
    let mut reply = ask(hub, &echo(parts)).await;
    let below = reply.as_object_mut().and_then(|reply| reply.remove("submessages"));
    let below = below.and_then(|parts| parts.as_array().cloned()).unwrap_or_default();
    std::iter::once(reply).chain(below.into_iter().filter(|part| part["format"] != "token")).collect()
}

fn tokens(reply: &Value) -> Vec<Value> {
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    parts.into_iter().filter(|part| part["format"] == "token").collect()
}

/// Required fields, their types, the closed list of formats, no other field, no empty list, and nothing below a submessage.
pub(crate) fn assert_fits_annex_a(message: &Value) {
    let part = |part: &Value, allowed: &[&str]| {
        let fields = part.as_object().unwrap_or_else(|| panic!("not an object: {part} in {message}"));
        for (key, value) in fields {
            assert!(allowed.contains(&key.as_str()), "`{key}` is no field here: {part} in {message}");
            assert!(key == "content" || key == "submessages" || value.is_string(), "`{key}` is no text: {message}");
        }
        assert!(fields.contains_key("content") && fields.contains_key("subformat"), "{part} in {message}");
        let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
        let formats = ["text", "token", "structured", "binary", "location", "generic"];
        assert!(formats.contains(&format), "the format `{format}`: {part} in {message}");
    };
    part(message, &["messagetype", "format", "subformat", "content", "label", "submessages"]);
    if let Some(parts) = message.get("submessages") {
        let parts = parts.as_array().unwrap_or_else(|| panic!("submessages are no array: {message}"));
        assert!(!parts.is_empty(), "an empty list is never sent: {message}");
        parts.iter().for_each(|one| part(one, &["format", "subformat", "content", "label"]));
    }
}
