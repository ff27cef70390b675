//! The routing envelope: messages as MassGen's schema writes them, nulls included, to `/nlip/route`.

use std::sync::atomic::{AtomicU64, Ordering};

use http::Method;
use serde_json::{Value, json};

use super::super::behaviour::{Behaviour, Door, Scene};
use super::super::seen::Seen;
use super::super::stage::Stage;
use crate::support::{events, send};

fn message() -> Value {
    static TURN: AtomicU64 = AtomicU64::new(0);
    let id = format!("matrix-{}-{}", std::process::id(), TURN.fetch_add(1, Ordering::Relaxed));
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": id, "correlation_id": null,
            "timestamp": "2026-11-15T12:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_calls": null, "tool_results": null, "metadata": {},
    })
}

/// A request with one call of a skill, by its id.
pub(in super::super) fn calling(peer: &str, skill: &str, parameters: &Value) -> Value {
    let mut asked = message();
    asked["tool_calls"] = json!([{"tool_id": "t1", "tool_name": format!("{peer}/{skill}"), "parameters": parameters,
        "require_confirmation": false}]);
    asked
}

fn request(scene: &Scene) -> Value {
    let parameters = match scene.door {
        Door::Words(argument) => json!({argument: scene.words}),
        Door::Tool => json!({}),
    };
    calling(scene.peer, scene.skill, &parameters)
}

pub(super) async fn call(stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
    let mut seen = Seen::default();
    let mut asked = request(scene);
    match on {
        Behaviour::Stream => return streamed(stage, &asked).await,
        Behaviour::Deadline => asked["control"]["timeout"] = scene.seconds.into(),
        _ => {}
    }
    let said = route(stage, &asked).await;
    let mut last = said.last().cloned().unwrap_or_default();
    let metadata = last["metadata"].clone();
    let (confirmation, question) = (&metadata["confirmation"], &metadata["question"]);
    if last["content"]["status"] == "pending" {
        let mut answer = message();
        if confirmation.is_object() {
            answer["metadata"] = json!({"confirmation": {"id": confirmation["id"], "approve": true}});
        } else {
            answer["metadata"] = json!({"answer": {"id": question["id"], "value": scene.answer}});
        }
        let text = if confirmation.is_object() { &confirmation["text"] } else { &question["text"] };
        seen.question = Some(format!("{text} {}", confirmation["skill"]));
        last = route(stage, &answer).await.last().cloned().unwrap_or_default();
    }
    read(stage, &last, seen).await
}

pub(super) async fn give_up(stage: &Stage, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
    let asked = request(scene);
    tokio::select! {
        said = route(stage, &asked) => Seen { fault: Some(json!(said).to_string()), ..Seen::new("broken") },
        () = begun => Seen::new("left"),
    }
}

async fn route(stage: &Stage, message: &Value) -> Vec<Value> {
    let answer = stage.hub.post_json("/nlip/route", message).await;
    answer.json().as_array().cloned().unwrap_or_else(|| panic!("no list: {}", answer.text()))
}

/// Everything before the last message is a piece.
async fn streamed(stage: &Stage, asked: &Value) -> Seen {
    let headers = [("accept", "text/event-stream")];
    let text = send(&stage.hub, Method::POST, "/nlip/route", &headers, Some(asked.clone())).await.text();
    let mut said: Vec<Value> = events(&text).into_iter().map(|(_, _, data)| data).collect();
    let last = said.pop().unwrap_or_default();
    let pieces = said.iter().map(ToString::to_string).collect();
    read(stage, &last, Seen { pieces, ..Seen::default() }).await
}

async fn read(stage: &Stage, last: &Value, mut seen: Seen) -> Seen {
    seen.lost(&last["metadata"]["losses"]);
    let result = &last["tool_results"][0];
    seen.outcome = if result["status"] == "success" { "completed" } else { "failed" }.to_owned();
    if seen.outcome == "failed" {
        let text = if result["error"].is_string() { &result["error"] } else { &last["content"]["error"] };
        let code = &result["metadata"]["code"];
        let kind = if code == "timeout" { "deadline" } else { code.as_str().unwrap_or_default() };
        seen.fault = Some(format!("{kind}: {}", text.as_str().unwrap_or_default()));
    }
    match &result["result"] {
        Value::String(text) => seen.texts.push(text.clone()),
        Value::Null => {}
        other => seen.data.push(other.clone()),
    }
    if !result["metadata"]["blocks"].is_null() {
        seen.data.push(result["metadata"]["blocks"].clone());
    }
    let blocks = [&result["result"]["blocks"], &result["metadata"]["blocks"]];
    for block in blocks.into_iter().filter_map(Value::as_array).flatten() {
        seen.names.extend(["name", "label", "uri"].iter().filter_map(|key| block[*key].as_str()).map(str::to_owned));
        seen.blobs.extend(["base64", "data"].iter().filter_map(|key| block[*key].as_str()).map(str::to_owned));
    }
    for address in last["metadata"]["artifacts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        seen.names.push(address.to_owned());
    }
    stage.fetch(&mut seen).await;
    seen
}
