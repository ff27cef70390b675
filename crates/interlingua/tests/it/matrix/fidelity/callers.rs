//! The richest message of each caller.

use http::Method;
use serde_json::{Value, json};

use super::super::behaviour::Door;
use super::super::callers::{Caller, asked_by_aip, envelope_of, kept_by_nlweb, message_of_bus, run_cli};
use super::super::stage::Stage;
use super::callees::Listener;
use super::{DATA, Held, PARTS, TEXT};
use crate::mcp::Modern;
use crate::support::send;

/// What it can say to this one.
pub(super) fn says(caller: Caller, to: &Listener) -> Vec<Held> {
    let by_name = || if to.is_tool() { to.heard_in_arguments() } else { vec![TEXT] };
    match caller {
        Caller::Nlip => [TEXT, DATA].into_iter().chain(PARTS).collect(),
        // Bytes are refused where a card does not take them; code, places and extensions are no parts of A2A.
        Caller::A2a => {
            let held = if to.is_tool() { to.heard_in_arguments() } else { vec![TEXT, DATA] };
            let beside = PARTS.into_iter().filter(|(what, _)| ["language", "label", "link"].contains(what));
            held.into_iter().chain(beside).collect()
        }
        Caller::Mcp | Caller::McpTypeScript | Caller::Cli | Caller::Envelope | Caller::Bus => by_name(),
        Caller::Aip | Caller::Nlweb => to.heard_in_words(),
    }
}

pub(super) async fn say(caller: Caller, stage: &Stage, to: &Listener) -> Value {
    match caller {
        Caller::Nlip => by_nlip(stage, to).await,
        Caller::Mcp | Caller::McpTypeScript => by_mcp(stage, to).await,
        Caller::A2a => by_a2a(stage, to).await,
        Caller::Aip => asked_by_aip(stage, to.peer, to.words()).await,
        Caller::Nlweb => by_nlweb(stage, to).await,
        Caller::Envelope => {
            let message = envelope_of(to.peer, to.skill, &arguments(to));
            stage.hub.post_json("/nlip/route", &message).await.json()
        }
        Caller::Bus => {
            let message = message_of_bus(to.peer, to.skill, arguments(to));
            stage.hub.post_json("/api/messages", &message).await.json()
        }
        Caller::Cli => by_cli(stage, to).await,
    }
}

fn arguments(to: &Listener) -> Value {
    match to.door {
        Door::Words(argument) => json!({argument: to.words()}),
        Door::Tool if to.takes_data => json!({"text": "alpha-text", "held": {"within": "gamma-data"}}),
        Door::Tool => json!({"text": "alpha-text"}),
    }
}

async fn by_nlip(stage: &Stage, to: &Listener) -> Value {
    let part = |format: &str, subformat: &str, content: Value| json!({"format": format, "subformat": subformat, "content": content});
    let mut labelled = part("text", "french", json!("deux"));
    labelled["label"] = json!("beta-label");
    let mut submessages = vec![
        labelled,
        part("structured", "json", json!({"held": "gamma-data"})),
        part("binary", "image/png", json!("ZGVsdGEtYnl0ZXM=")),
        part("structured", "uri", json!("https://epsilon.example/")),
        part("structured", "python", json!("zeta_code()")),
        part("location", "text", json!("eta street")),
        part("generic", "weather", json!("theta-other")),
    ];
    if to.is_tool() {
        let skill = format!("{}/{}", to.peer, to.skill);
        let mut call = part("structured", "json", json!({"skill": skill, "arguments": arguments(to)}));
        call["label"] = json!("interlingua-call");
        submessages.push(call);
    }
    let message =
        json!({"format": "text", "subformat": "english", "content": "richest alpha-text", "submessages": submessages});
    stage.hub.post_json(&format!("/agents/{}/nlip", to.peer), &message).await.json()
}

async fn by_mcp(stage: &Stage, to: &Listener) -> Value {
    let name = format!("{}__{}", to.peer, to.skill);
    Modern::new(&stage.hub).call(&name, arguments(to)).await
}

/// One object of data alone is the arguments, a list is data.
async fn by_a2a(stage: &Stage, to: &Listener) -> Value {
    let ours = "urn:interlingua:hub:1";
    let mut parts = vec![
        json!({"text": "richest alpha-text"}),
        json!({"text": "deux", "metadata": {ours: {"language": "french", "label": "beta-label"}}}),
        json!({"url": "https://epsilon.example/"}),
    ];
    let mut message = json!({"messageId": format!("richest-{}", to.peer), "role": "ROLE_USER"});
    if to.is_tool() {
        message["metadata"] = json!({ours: {"skill": to.skill}});
        parts.push(json!({"data": arguments(to)}));
    } else {
        parts.push(json!({"data": ["gamma-data"]}));
    }
    message["parts"] = parts.into();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let path = format!("/agents/{}/a2a", to.peer);
    let mut said = send(&stage.hub, Method::POST, &path, &[("a2a-version", "1.0")], Some(body)).await.json();
    // A task shows what it was told, too: that is not what the callee heard.
    if let Some(task) = said["result"]["task"].as_object_mut() {
        task.remove("history");
    }
    said
}

async fn by_nlweb(stage: &Stage, to: &Listener) -> Value {
    let body = json!({
        "query": {"text": to.words(), "site": to.peer}, "prefer": {"streaming": false}, "meta": {"api_version": "0.55"},
    });
    let said = stage.hub.post_json("/ask", &body).await.json();
    kept_by_nlweb(stage, said).await
}

async fn by_cli(stage: &Stage, to: &Listener) -> Value {
    let skill = format!("{}/{}", to.peer, to.skill);
    let said = match to.door {
        Door::Words(_) => run_cli(stage, &["ask", "--peer", to.peer, to.words(), "--json"]).await,
        Door::Tool => run_cli(stage, &["call", &skill, &arguments(to).to_string(), "--json"]).await,
    };
    serde_json::from_slice(&said.stdout).unwrap_or_else(|_| json!({"broken": String::from_utf8_lossy(&said.stderr)}))
}
