//! The ways by which a client names a skill and its arguments, one for each protocol.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use interlingua_testkit::{Hub, WebSocket};
use serde_json::{Value, json};

use crate::mcp::{Modern, Session, last_message};
use crate::support::{send, streaming, until};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Api,
    Mcp,
    McpSession,
    A2a,
    A2aOlder,
    Nlip,
    NlipSocket,
    Envelope,
}

impl Way {
    pub(super) const ALL: [Way; 8] =
        [Way::Api, Way::Mcp, Way::McpSession, Way::A2a, Way::A2aOlder, Way::Nlip, Way::NlipSocket, Way::Envelope];

    /// Calls a skill by its name as the Owner, up to the end or the first question: all that came back.
    pub(super) async fn call(self, hub: &Hub, skill: &str, arguments: &Value) -> Value {
        match self {
            Way::Api => {
                let body = json!({"skill": skill, "arguments": arguments});
                hub.post_json("/api/exchanges", &body).await.json()
            }
            Way::Mcp => {
                let client = Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(hub) };
                let call = json!({"name": skill.replace('/', "__"), "arguments": arguments});
                last_message(&client.ask("tools/call", call).await)
            }
            Way::McpSession => by_session(hub, skill, arguments).await,
            Way::A2a => {
                let message = json!({"messageId": id(), "role": "ROLE_USER", "parts": [{"data": arguments}],
                    "metadata": {"urn:interlingua:hub:1": {"skill": skill}}});
                rpc(hub, "SendMessage", message, &[("a2a-version", "1.0")]).await
            }
            Way::A2aOlder => {
                let message = json!({"kind": "message", "messageId": id(), "role": "user",
                    "parts": [{"kind": "data", "data": arguments}], "metadata": {"urn:interlingua:hub:1": {"skill": skill}}});
                rpc(hub, "message/send", message, &[]).await
            }
            Way::Nlip => hub.post_json("/nlip", &nlip(skill, arguments)).await.json(),
            Way::NlipSocket => {
                let mut socket = hub.websocket("/nlip/ws/text").await;
                socket.send_text(nlip(skill, arguments).to_string()).await;
                socket.next_json().await
            }
            Way::Envelope => hub.post_json("/nlip/route", &routed(skill, arguments)).await.json(),
        }
    }
}

/// Each message is another one.
fn id() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("m{}", COUNT.fetch_add(1, Ordering::SeqCst))
}

async fn by_session(hub: &Hub, skill: &str, arguments: &Value) -> Value {
    let session = Session::begin(hub, "2025-06-18", json!({"elicitation": {}})).await;
    let params = json!({"name": skill.replace('/', "__"), "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let (_connection, mut events) = streaming(hub, Method::POST, "/mcp", &session.headers(), Some(body)).await;
    // What ends at once is no stream.
    events.next().await.map_or(Value::Null, |event| serde_json::from_str(&event).expect("JSON"))
}

async fn rpc(hub: &Hub, method: &str, message: Value, headers: &[(&str, &str)]) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": message}});
    send(hub, Method::POST, "/a2a", headers, Some(body)).await.json()
}

fn nlip(skill: &str, arguments: &Value) -> Value {
    let named = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": skill, "arguments": arguments}});
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [named]})
}

fn routed(skill: &str, arguments: &Value) -> Value {
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": id(), "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_results": null, "metadata": {},
        "tool_calls": [{"tool_id": "t1", "tool_name": skill, "parameters": arguments, "require_confirmation": false}],
    })
}

/// Every text in an answer that asks for a yes.
pub(super) fn questions(answer: &Value) -> Vec<String> {
    match answer {
        Value::String(text) if text.starts_with("Shall I run") => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(questions).collect(),
        Value::Object(all) => all.values().flat_map(questions).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A device that is connected, with a tool that erases and says so to nobody.
pub(super) async fn device(hub: &Hub) -> WebSocket {
    let tool = json!({"tool_key": "action::erase", "tool_name": "erase", "namespace": "UI", "tool_type": "action",
        "description": "Erases the disk", "input_schema": {"type": "object"}});
    let info = json!({"device_id": "dev1", "platform": "linux", "os_version": "6.1", "cpu_count": 2,
        "memory_total_gb": 3.8, "hostname": "box", "ip_address": "127.0.0.1", "supported_features": [],
        "platform_type": "computer", "schema_version": "1.0", "custom_metadata": {}});
    let metadata = json!({"platform": "linux", "registration_time": "2026-11-15T06:28:04.245606+00:00",
        "system_info": info, "tools": [tool]});
    let mut socket = hub.websocket("/ws").await;
    let register = json!({"type": "register", "status": "ok", "client_type": "device", "client_id": "dev1",
        "timestamp": "2026-11-15T06:28:04.245606+00:00", "metadata": metadata});
    socket.send_text(register.to_string()).await;
    assert_eq!(socket.next_json().await["status"], "ok");
    until("its tool", async || hub.get("/api/skills?limit=1000").await.text().contains("dev1/erase")).await;
    socket
}
