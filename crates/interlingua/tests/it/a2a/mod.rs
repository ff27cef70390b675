//! A2A over the wire, requirement by requirement: what a client of 1.0 or 0.3 sends, byte for byte, to the real program.

mod access;
mod cards;
mod errors;
mod grpc;
mod grpc_errors;
mod older;
mod one_peer;
mod push;
mod signing;
mod streams;
mod table;
mod tasks;

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Connection, Events, Hub, HubBuilder, request};
use serde_json::{Value, json};

/// A hub whose front door is the agent that behaves by the id of a message.
fn builder(more: &str) -> HubBuilder {
    let agent = interlingua_testkit::root().join("conformance/a2a/agent.yaml");
    let agent = std::fs::read_to_string(agent).expect("the conformance agent");
    let config = format!("scripts: {{ agent: ./agent.yaml }}\nfront_door: agent\n{more}");
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("agent.yaml", agent).config(&config)
}

async fn hub() -> Hub {
    builder("").start().await
}

fn text(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }]})
}

/// A message to a task.
fn to(task: &Value, mut message: Value) -> Value {
    message["taskId"] = task["id"].clone();
    message
}

fn post(path: &str, headers: &[(&str, &str)], body: &Value) -> http::Request<Full<bytes::Bytes>> {
    let mut builder = request(Method::POST, path).header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Full::new(body.to_string().into())).expect("a request")
}

fn get(path: &str, headers: &[(&str, &str)]) -> http::Request<Full<bytes::Bytes>> {
    let mut builder = request(Method::GET, path).header("a2a-version", "1.0");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Full::default()).expect("a request")
}

const V1: (&str, &str) = ("a2a-version", "1.0");

/// One JSON-RPC call of 1.0; the whole response.
async fn call(hub: &Hub, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let answer = hub.connect().await.send(post("/a2a", &[V1], &body)).await;
    let response = answer.json();
    assert_eq!((answer.status, &response["id"]), (200, &json!(7)), "{}", answer.text());
    response
}

/// The result of a call that must succeed.
async fn result(hub: &Hub, method: &str, params: Value) -> Value {
    let mut response = call(hub, method, params).await;
    assert!(response.get("error").is_none(), "{method}: {response}");
    response["result"].take()
}

/// The code and reason of a call that must not.
async fn refused(hub: &Hub, method: &str, params: Value) -> (i64, String) {
    let response = call(hub, method, params).await;
    let error = &response["error"];
    let reason = error["data"][0]["reason"].as_str().unwrap_or_default();
    (error["code"].as_i64().unwrap_or_else(|| panic!("{method} was not refused: {response}")), reason.to_owned())
}

/// A message that becomes a task.
async fn task(hub: &Hub, id: &str) -> Value {
    result(hub, "SendMessage", json!({"message": text(id, "hi")})).await["task"].take()
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("no state: {task}"))
}

/// A stream of events over HTTP with JSON, on a connection of its own.
async fn stream(hub: &Hub, request: http::Request<Full<bytes::Bytes>>) -> (Connection, Events) {
    let mut connection = hub.connect().await;
    let events = connection.events(request).await;
    assert_eq!(events.status, 200);
    (connection, events)
}

/// All events of a stream, to its end.
async fn all(events: &mut Events) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(serde_json::from_str(&event).expect("JSON"));
    }
    all
}

async fn send(hub: &Hub, request: http::Request<Full<bytes::Bytes>>) -> Answer {
    hub.connect().await.send(request).await
}
