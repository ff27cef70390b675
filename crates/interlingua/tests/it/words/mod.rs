//! Plain words and an ordinary MCP server, without a model: greetings, values in the sentence, phrases of the operator; over NLIP, A2A,
//! NLWeb, MCP, the API and the command line.

mod help;
mod phrases;
mod values;

use std::process::{Command, Output, Stdio};

use http::Method;
use interlingua_testkit::{Hub, HubBuilder, mcp};
use serde_json::{Value, json};

use crate::mcp::Modern;
use crate::support::{send, until};

/// What an operator may say of the tools of `orders.py`, which says nothing of itself.
const READS: &str = "skills: { get_order: { effects: reads }, list_orders: { effects: reads } }";

/// A hub with the orders behind it; `more` are further keys of the peer.
fn builder(more: &str) -> HubBuilder {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("orders.py", include_str!("orders.py")).config(&config(more))
}

fn config(more: &str) -> String {
    let python = mcp::python(2);
    let more = if more.is_empty() { String::new() } else { format!(", {more}") };
    format!("peers: {{ orders: {{ mcp: {{ command: {python:?}, args: [orders.py] }}{more} }} }}\n")
}

async fn hub(more: &str) -> Hub {
    let hub = builder(more).start().await;
    known(&hub).await;
    hub
}

async fn known(hub: &Hub) {
    until("the orders are listed", async || hub.get("/api/skills?limit=200").await.text().contains("orders/get_order"))
        .await;
}

/// The ways in, each with plain words alone.
const WAYS: [&str; 5] = ["nlip", "a2a", "ask", "mcp", "api"];

/// What is answered there, whole.
async fn said_by(hub: &Hub, way: &str, words: &str) -> Value {
    let answer = match way {
        "nlip" => hub.post_json("/nlip", &json!({"format": "text", "subformat": "english", "content": words})).await,
        "a2a" => {
            let message = json!({"messageId": format!("m-{words}"), "role": "ROLE_USER", "parts": [{"text": words}]});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
            send(hub, Method::POST, "/a2a", &[("a2a-version", "1.0")], Some(body)).await
        }
        "ask" => hub.post_json("/ask", &json!({"query": {"text": words}, "prefer": {"streaming": false}})).await,
        "mcp" => {
            let call = json!({"name": "hub__ask", "arguments": {"query": words}});
            Modern::new(hub).ask("tools/call", call).await
        }
        "api" => hub.post_json("/api/exchanges", &json!({ "words": words })).await,
        other => panic!("no way {other}"),
    };
    answer.json()
}

/// Every text in a value, a line each.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(members) => members.values().map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// A command of the Owner's.
fn typed(hub: &Hub, arguments: &[&str]) -> Output {
    typed_with(hub, arguments, "")
}

/// The same with these lines on standard input.
fn typed_with(hub: &Hub, arguments: &[&str], lines: &str) -> Output {
    let folder = tempfile::tempdir().expect("a directory");
    let input = folder.path().join("input");
    std::fs::write(&input, lines).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    for name in ["INTERLINGUA_HUB", "INTERLINGUA_TOKEN", "INTERLINGUA_DATA", "COLUMNS"] {
        command.env_remove(name);
    }
    command.args(arguments).arg("--data").arg(hub.data());
    command.stdin(Stdio::from(std::fs::File::open(&input).expect("there"))).output().expect("the program runs")
}

/// How it ended, and both of its streams.
fn ended(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}
