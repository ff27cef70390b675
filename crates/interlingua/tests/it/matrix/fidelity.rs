//! The richest message a caller can say, to those who tell back what they heard: what does not arrive is declared lost.

use http::Method;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::support::send;

/// One thing a message holds: what it is called in the page, and a word of it that can be looked for.
const HELD: [(&str, &str); 9] = [
    ("text", "alpha-text"),
    ("language", "french"),
    ("label", "beta-label"),
    ("data", "gamma-data"),
    ("bytes", "ZGVsdGEtYnl0ZXM="),
    ("link", "https://epsilon.example/"),
    ("code", "zeta_code"),
    ("place", "eta street"),
    ("extension", "theta-other"),
];

/// What of the message arrived, and what was declared lost.
#[derive(Debug, Clone)]
pub(super) struct Carried {
    pub(super) caller: &'static str,
    pub(super) callee: &'static str,
    pub(super) missing: Vec<&'static str>,
    pub(super) losses: Vec<String>,
}

/// Every pair of a caller that can say such things and a callee that tells back what it heard.
pub(super) async fn carried(stage: &Stage) -> Vec<Result<Carried, String>> {
    let mut all = Vec::new();
    for (callee, peer) in [("NLIP agent", "desk"), ("A2A agent", "scholar"), ("NLWeb endpoint", "almanac")] {
        all.push(judged("NLIP", callee, &HELD, &by_nlip(stage, peer).await));
        let said: Vec<_> = HELD.into_iter().filter(|(what, _)| *what != "bytes").collect();
        all.push(judged("A2A", callee, &said, &by_a2a(stage, peer).await));
    }
    all
}

async fn by_nlip(stage: &Stage, peer: &str) -> Value {
    let part = |format: &str, subformat: &str, content: Value| json!({"format": format, "subformat": subformat, "content": content});
    let mut labelled = part("text", "french", json!("deux"));
    labelled["label"] = json!("beta-label");
    let message = json!({
        "format": "text", "subformat": "english", "content": "richest alpha-text",
        "submessages": [
            labelled,
            part("structured", "json", json!({"held": "gamma-data"})),
            part("binary", "image/png", json!("ZGVsdGEtYnl0ZXM=")),
            part("structured", "uri", json!("https://epsilon.example/")),
            part("structured", "python", json!("zeta_code()")),
            part("location", "text", json!("eta street")),
            part("generic", "weather", json!("theta-other")),
        ],
    });
    stage.hub.post_json(&format!("/agents/{peer}/nlip"), &message).await.json()
}

/// Code, places and extensions are no parts of A2A: it says them as data. Bytes are refused where a card does not take them.
async fn by_a2a(stage: &Stage, peer: &str) -> Value {
    let ours = "urn:interlingua:hub:1";
    let message = json!({
        "messageId": format!("richest-{peer}"), "role": "ROLE_USER",
        "parts": [
            {"text": "richest alpha-text"},
            {"text": "deux", "metadata": {ours: {"language": "french", "label": "beta-label"}}},
            {"data": {"held": "gamma-data"}, "mediaType": "application/json"},
            {"url": "https://epsilon.example/"},
            {"data": {"code": "zeta_code()", "place": "eta street", "other": "theta-other"}},
        ],
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let path = format!("/agents/{peer}/a2a");
    send(&stage.hub, Method::POST, &path, &[("a2a-version", "1.0")], Some(body)).await.json()
}

fn judged(
    caller: &'static str,
    callee: &'static str,
    held: &[(&'static str, &str)],
    answer: &Value,
) -> Result<Carried, String> {
    let told = answer.to_string();
    let missing: Vec<&str> = held.iter().filter(|(_, word)| !told.contains(word)).map(|(what, _)| *what).collect();
    let mut losses = Vec::new();
    losses_in(answer, &mut losses);
    losses.sort();
    losses.dedup();
    let shown: String = told.chars().take(1_500).collect();
    if !told.contains("alpha-text") {
        return Err(format!("{caller} → {callee}, richest message: it was not told back: {shown}"));
    }
    if !missing.is_empty() && losses.is_empty() {
        return Err(format!("{caller} → {callee}, richest message: {missing:?} lost, and not declared: {shown}"));
    }
    Ok(Carried { caller, callee, missing, losses })
}

/// Whatever declares a loss, wherever it stands.
fn losses_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(inner) => inner.iter().for_each(|value| losses_in(value, found)),
        Value::Object(inner) => {
            if let (Some(Value::String(what)), Some(Value::String(kind)), 2) =
                (inner.get("what"), inner.get("kind"), inner.len())
            {
                found.push(format!("`{what}` {kind}"));
            }
            inner.values().for_each(|value| losses_in(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
