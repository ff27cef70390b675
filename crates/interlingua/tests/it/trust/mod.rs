//! Authentication and authorization: the Owner and everyone else, tokens, TLS, and the guard before every path.

mod approvals;
pub(crate) mod audit;
mod audit_key;
mod bodies;
mod callers;
mod canaries;
pub(crate) mod certificates;
mod expired;
mod guard;
pub(crate) mod issuers;
mod keys;
mod leaks;
mod limits;
mod machine;
mod outgoing;
mod owner;
mod policy;
mod quotas;
mod revoked;
mod rotations;
mod ruled;
mod table;
mod tenants;
mod tls;
mod tokens;
mod webhooks;

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::{Value, json};

use crate::support::send;

/// What only somebody who may call `hub/echo` hears back, and nobody else.
const WORD: &str = "xyzzy";

/// Long enough to be promised, or streamed.
const LINGER: &str = r#"
name: linger
description: Lingers.
phrases: { en: ["linger a while"] }
effects: { reads: true, idempotent: true }
reply: lines
command: [sh, -c, 'echo "{\"progress\":{\"note\":\"lingering\"}}"; exec sleep 60']
timeout: 2m
"#;

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_interlingua")
}

fn call(skill: &str, arguments: &Value) -> Value {
    let named = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": skill, "arguments": arguments}});
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [named]})
}

/// A call that an Anonymous caller may not make.
fn echo() -> Value {
    call("hub/echo", &json!({"text": WORD}))
}

fn with_token(mut message: Value, token: &str) -> Value {
    let part = json!({"format": "token", "subformat": "authentication", "content": token});
    message["submessages"].as_array_mut().expect("it has submessages").push(part);
    message
}

async fn post(hub: &Hub, message: &Value, headers: &[(&str, &str)]) -> Answer {
    let mut builder = request(Method::POST, "/nlip").header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let sent = builder.body(Full::new(Bytes::from(message.to_string()))).expect("a request");
    hub.connect().await.send(sent).await
}

/// The word came back, so the caller was let in.
fn was_let_in(answer: &Answer) -> bool {
    answer.status == 200 && answer.json()["messagetype"] != "error" && answer.text().contains(WORD)
}

/// What a page of the hub's own address makes a browser send along.
const OWN_PAGE: &[(&str, &str)] = &[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")];

/// A request of somebody whose token is its name and `-token`.
async fn as_(hub: &Hub, who: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {who}-token");
    send(hub, method, path, &[("authorization", &bearer)], body).await
}

fn owner_token(hub: &Hub) -> String {
    std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token")
}
