//! An agent that writes to others: `/api/messages`.

use http::Method;
use serde_json::{Value, json};

use super::super::behaviour::{Behaviour, Door, Scene};
use super::super::seen::Seen;
use super::super::stage::Stage;
use crate::support::send;

/// A request of an agent to another, by capability and content.
pub(in super::super) fn message(peer: &str, capability: &str, content: Value) -> Value {
    json!({
        "from_agent": "planner", "to_agent": peer, "message_type": "request", "capability": capability, "content": content,
        "correlation_id": null, "priority": 5, "timestamp": "2026-11-15T12:00:00.123456", "metadata": {},
    })
}

fn request(scene: &Scene) -> Value {
    let content = match scene.door {
        Door::Words(argument) => json!({argument: scene.words}),
        Door::Tool => json!({}),
    };
    message(scene.peer, scene.skill, content)
}

pub(super) async fn call(stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
    let deadline = scene.deadline();
    let headers = [("interlingua-deadline", deadline.as_str())];
    let headers = if on == Behaviour::Deadline { &headers[..] } else { &[] };
    let answer = send(&stage.hub, Method::POST, "/api/messages", headers, Some(request(scene))).await;
    let said = answer.json();
    let mut seen = Seen { task: said["metadata"]["task"].as_str().map(str::to_owned), ..Seen::default() };
    seen.lost(&said["metadata"]["losses"]);
    let artifacts = said["metadata"]["artifacts"].as_array();
    seen.names.extend(artifacts.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    if !said["error"].is_null() {
        seen.outcome = "failed".to_owned();
        seen.fault = Some(said["error"].to_string());
        return seen;
    }
    let content = &said["content"];
    match content["status"].as_str() {
        Some("success") => {
            seen.outcome = "completed".to_owned();
            read(stage, &content["result"], &mut seen).await;
        }
        Some("pending") => {
            let question = &content["question"];
            let task = question["task"].as_str().expect("a task").to_owned();
            seen.question = Some(question["text"].to_string());
            let ended = stage.answered(&task, question, scene).await;
            seen.finished(&ended["finished"]);
            seen.texts.push(stage.hub.get(&format!("/api/tasks/{task}/events")).await.text());
        }
        _ => {
            seen.outcome = "failed".to_owned();
            seen.fault = Some(content.to_string());
        }
    }
    seen
}

pub(super) async fn give_up(stage: &Stage, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
    let asked = request(scene);
    tokio::select! {
        answer = stage.hub.post_json("/api/messages", &asked) => Seen { fault: Some(answer.text()), ..Seen::new("broken") },
        () = begun => Seen::new("left"),
    }
}

/// A text, a value, or parts; where bytes are kept at the hub, they are fetched there.
async fn read(stage: &Stage, result: &Value, seen: &mut Seen) {
    let is_part = |value: &Value| value["kind"].is_string();
    match result {
        Value::String(text) => seen.texts.push(text.clone()),
        Value::Array(parts) if !parts.is_empty() && parts.iter().all(is_part) => {
            for part in parts {
                seen.part(part);
                if let Some(url) = part["url"].as_str() {
                    seen.blobs.push(super::super::stage::base64(&stage.at(url).await));
                }
            }
        }
        other => {
            seen.data.push(other.clone());
            stage.fetch(seen).await;
        }
    }
}
