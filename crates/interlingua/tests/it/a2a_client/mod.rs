//! The hub as a client of A2A agents: cards, interfaces, streams that break off, questions, cancels, restarts, and agents that
//! are not what they say.

mod between;
mod calls;
mod cards;
mod faults;
mod grpc;
mod questions;
mod registered;
mod signed;
mod streams;
mod tasks;
mod wires;

use std::sync::{Arc, Mutex, PoisonError};

use interlingua_testkit::{Heard, Hub, HubBuilder, Piece, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{reaches, until};

/// An agent whose card and answers the test decides.
struct Agent {
    scripted: Scripted,
    card: Arc<Mutex<Value>>,
}

impl Agent {
    /// `script` is given every request but those for the card.
    async fn start(card: Value, script: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> Agent {
        let card = Arc::new(Mutex::new(card));
        let shown = card.clone();
        let scripted = Scripted::web(move |heard, _| match heard.path.as_str() {
            "/.well-known/agent-card.json" => {
                let card = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                card_answer(heard, card)
            }
            path if path.starts_with("/.well-known") => Say::Status(404, Vec::new(), Value::Null),
            _ => script(heard),
        })
        .await;
        Agent { scripted, card }
    }

    fn shows(&self, card: Value) {
        *self.card.lock().unwrap_or_else(PoisonError::into_inner) = card;
    }

    /// What it was asked, besides its card.
    fn heard(&self) -> Vec<Heard> {
        let heard = self.scripted.heard();
        heard.into_iter().filter(|heard| !heard.path.starts_with("/.well-known")).collect()
    }

    /// The JSON-RPC methods it was asked, in order.
    fn methods(&self) -> Vec<String> {
        self.heard().iter().map(|heard| heard.json()["method"].as_str().unwrap_or_default().to_owned()).collect()
    }

    async fn is_asked(&self, method: &str) {
        until(method, async || self.methods().iter().any(|asked| asked == method)).await;
    }

    fn url(&self) -> String {
        format!("http://{}", self.scripted.address())
    }

    /// A hub with this agent as its peer `agent`.
    fn builder(&self, more: &str) -> HubBuilder {
        let config = format!("peers: {{ agent: {{ a2a: {{ url: \"{}\" {more} }} }} }}\n", self.url());
        Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config)
    }

    async fn hub(&self) -> Hub {
        let hub = self.builder("").start().await;
        listed(&hub).await;
        hub
    }
}

/// By the tag of its content a client can tell that a card is as it was.
fn card_answer(heard: &Heard, card: Value) -> Say {
    let tag = format!("\"{}\"", card.to_string().len());
    match heard.header("if-none-match") {
        Some(known) if known == tag => Say::Status(304, Vec::new(), Value::Null),
        Some(_) | None => Say::Status(200, vec![("etag", tag)], card),
    }
}

/// A card of 1.0 that promises streams, by JSON-RPC at `/rpc`.
fn card() -> Value {
    json!({
        "name": "Hotels", "description": "Finds hotels.", "version": "2.1",
        "supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "find", "name": "Find a hotel", "description": "By town.", "tags": ["travel"]}],
    })
}

/// The same without streams.
fn plain_card() -> Value {
    let mut card = card();
    card["capabilities"]["streaming"] = false.into();
    card
}

async fn listed(hub: &Hub) {
    until("an agent that is listed", async || peer(hub).await["skills"].as_u64() > Some(0)).await;
}

/// What the hub shows of it.
async fn peer(hub: &Hub) -> Value {
    let peers = hub.get("/api/peers").await.json();
    let found = peers["items"].as_array().into_iter().flatten().find(|peer| peer["name"] == "agent");
    found.cloned().unwrap_or_default()
}

/// Says something to the agent, and waits for its answer or question.
async fn say(hub: &Hub, text: &str) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": "agent/chat", "text": text})).await.json()
}

/// The same as a task.
async fn begin(hub: &Hub, text: &str) -> String {
    crate::support::start(hub, json!({"skill": "agent/chat", "text": text})).await
}

async fn signal(hub: &Hub, task: &str, signal: Value) {
    let taken = hub.post_json(&format!("/api/tasks/{task}/signals"), &signal).await;
    assert!(taken.status < 300, "{}", taken.text());
}

fn texts(exchange: &Value) -> Vec<&str> {
    let parts = exchange["finished"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

fn fault(exchange: &Value) -> &Value {
    &exchange["finished"]["fault"]["kind"]
}

/// The answer to a JSON-RPC request.
fn result(result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

fn error(code: i64, reason: &str) -> Say {
    Say::Json(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": reason.to_lowercase(), "data": [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}]}}))
}

fn message(text: &str) -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}})
}

fn task(state: &str) -> Value {
    json!({"id": "t1", "contextId": "c1", "status": {"state": format!("TASK_STATE_{state}")}})
}

fn status(state: &str) -> Value {
    json!({"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": format!("TASK_STATE_{state}")}}})
}

fn saying(state: &str, id: &str, text: &str) -> Value {
    let mut status = status(state);
    status["statusUpdate"]["status"]["message"] =
        json!({"messageId": id, "role": "ROLE_AGENT", "parts": [{ "text": text }]});
    status
}

fn artifact(text: &str, append: bool, last: bool) -> Value {
    json!({"artifactUpdate": {"taskId": "t1", "contextId": "c1", "append": append, "lastChunk": last,
        "artifact": {"artifactId": "page", "name": "page", "parts": [{ "text": text }]}}})
}

/// A stream of JSON-RPC responses.
fn stream(updates: &[Value]) -> Vec<Piece> {
    updates.iter().map(|update| Piece::event(&result(update.clone()))).collect()
}

fn method(heard: &Heard) -> String {
    heard.json()["method"].as_str().unwrap_or_default().to_owned()
}
