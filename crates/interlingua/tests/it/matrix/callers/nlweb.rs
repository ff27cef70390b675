//! Callers of NLWeb. No registry has a client of this protocol, so these are requests as the specification has them.

use http::Method;
use serde_json::{Value, json};

use super::super::behaviour::{Behaviour, Scene};
use super::super::seen::Seen;
use super::super::stage::Stage;
use crate::support::send;

pub(super) async fn call(stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
    if on == Behaviour::Stream {
        return streamed(stage, scene).await;
    }
    let mut seen = Seen::default();
    let asking = asked(stage, scene, &scene.words, Value::Null, on).await;
    // On a slow machine the question comes after a promise, too.
    let mut said = kept(stage, asking).await;
    if let Some(elicitation) = said.get("elicitation") {
        seen.question = Some(elicitation.to_string());
        let session = said["_meta"]["session_context"].clone();
        let answering = asked(stage, scene, scene.answer, session, on).await;
        said = kept(stage, answering).await;
    }
    read(stage, &said, seen).await
}

pub(super) async fn give_up(stage: &Stage, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
    let promised = asked(stage, scene, &scene.words, Value::Null, Behaviour::Cancel).await;
    // It may end before it is at work: whoever should do it may have died.
    tokio::select! {
        () = begun => {}
        ended = kept(stage, promised.clone()) => return read(stage, &ended, Seen::default()).await,
    }
    let cancelled = awaited(stage, &promised, "cancel").await;
    let said = kept(stage, cancelled).await;
    read(stage, &said, Seen::default()).await
}

/// What a promise leads to; anything else is what it is.
pub(in super::super) async fn kept(stage: &Stage, mut said: Value) -> Value {
    while said["_meta"]["response_type"] == "promise" {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        said = awaited(stage, &said, "checkin").await;
    }
    said
}

async fn asked(stage: &Stage, scene: &Scene, words: &str, session: Value, on: Behaviour) -> Value {
    let mut body = json!({
        "query": {"text": words, "site": scene.peer}, "prefer": {"streaming": false}, "meta": {"api_version": "0.55"},
    });
    if !session.is_null() {
        body["meta"]["session_context"] = session;
    }
    let deadline = scene.deadline();
    let headers = [("interlingua-deadline", deadline.as_str())];
    let headers = if on == Behaviour::Deadline { &headers[..] } else { &[] };
    send(&stage.hub, Method::POST, "/ask", headers, Some(body)).await.json()
}

async fn awaited(stage: &Stage, promised: &Value, action: &str) -> Value {
    let body = json!({"promise_token": promised["promise"]["token"], "action": action});
    stage.hub.post_json("/await", &body).await.json()
}

/// As the first generation streams: signs of life, then results.
async fn streamed(stage: &Stage, scene: &Scene) -> Seen {
    let words = scene.words.replace(' ', "%20");
    let form = format!("query={words}&site={}&streaming=true", scene.peer);
    let text = stage.hub.post("/ask", "application/x-www-form-urlencoded", form).await.text();
    let mut seen = Seen::new("completed");
    for line in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let message: Value = serde_json::from_str(line).expect("JSON");
        match message["message_type"].as_str().unwrap_or_default() {
            "intermediate_message" => seen.pieces.push(line.to_owned()),
            "error" => seen.outcome = "failed".to_owned(),
            "losses" => seen.lost(&message["losses"]),
            // Results come as they are found.
            "result_batch" => {
                seen.pieces.push(line.to_owned());
                seen.data.push(message);
            }
            _ => seen.data.push(message),
        }
    }
    seen
}

async fn read(stage: &Stage, said: &Value, mut seen: Seen) -> Seen {
    let waits = said.get("elicitation").is_some() || said.get("promise").is_some();
    seen.outcome = if waits { "waiting" } else { "completed" }.to_owned();
    seen.lost(&said["_meta"]["losses"]);
    if let Some(code) = said["error"]["code"].as_str() {
        seen.outcome = if code == "CANCELLED" { "cancelled" } else { "failed" }.to_owned();
        seen.fault = Some(if code == "TIMEOUT" { "deadline" } else { code }.to_owned());
        seen.texts.extend(said["error"]["message"].as_str().map(str::to_owned));
    }
    for item in said["results"].as_array().into_iter().flatten() {
        seen.names.extend(item["name"].as_str().map(str::to_owned));
        // What is small enough stands in the address itself.
        let within = item["contentUrl"].as_str().or(item["url"].as_str()).and_then(|url| url.split_once(";base64,"));
        seen.blobs.extend(within.map(|(_, encoded)| encoded.to_owned()));
        seen.data.push(item.clone());
    }
    stage.fetch(&mut seen).await;
    seen
}
