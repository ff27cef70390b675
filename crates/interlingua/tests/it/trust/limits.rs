//! A caller over a limit is informed, with the time to retry, in the form of its protocol.

use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::Method;
use interlingua_a2a::grpc::service;
use interlingua_a2a::method::Method as Operation;
use interlingua_a2a::{Version, proto};
use interlingua_testkit::{Answer, Hub, grpc};
use serde_json::{Value, json};

use super::{call, program};
use crate::mcp::Modern;
use crate::support::{hub, send};

/// One call for each caller, and the Owner's is used up.
async fn spent() -> Hub {
    let hub = hub("limits: { rate: 1/h }\n").await;
    let body = json!({"skill": "hub/echo", "arguments": {"text": "x"}});
    assert_eq!(hub.post_json("/api/exchanges", &body).await.status, 200);
    hub
}

/// Nearly an hour.
fn is_nearly_an_hour(seconds: f64) -> bool {
    (3_000.0..=3_600.0).contains(&seconds)
}

fn header_tells(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let seconds = answer.header("retry-after").and_then(|text| text.parse().ok());
    assert!(seconds.is_some_and(is_nearly_an_hour), "{:?} {}", answer.headers, answer.text());
}

/// Finds the member of this name, wherever it stands.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(name).or_else(|| members.values().find_map(|member| find(member, name))),
        Value::Array(items) => items.iter().find_map(|item| find(item, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn body_tells(body: &Value) {
    let millis = find(body, "retry_after_ms").and_then(Value::as_f64);
    assert!(millis.is_some_and(|millis| is_nearly_an_hour(millis / 1_000.0)), "{body}");
}

#[tokio::test]
async fn q_44_http_answers_have_the_status_the_header_and_the_time_in_their_body() {
    let hub = spent().await;
    let api = hub.post_json("/api/exchanges", &json!({"skill": "hub/echo", "arguments": {}})).await;
    header_tells(&api, 429);
    body_tells(&api.json());
    let nlip = hub.post_json("/nlip", &call("hub/echo", &json!({"text": "x"}))).await;
    header_tells(&nlip, 429);
    body_tells(&nlip.json());
    crate::nlip::assert_fits_annex_a(&nlip.json());
    let nlweb = send(&hub, Method::GET, "/ask?query=echo%20x&streaming=false", &[], None).await;
    header_tells(&nlweb, 429);
    assert!(nlweb.text().contains("RATE_LIMITED"), "{}", nlweb.text());
    let mcp = Modern::new(&hub).ask("tools/call", json!({"name": "hub__echo", "arguments": {"text": "x"}})).await;
    assert_eq!(mcp.status, 429, "{}", mcp.text());
    body_tells(&mcp.json());
}

#[tokio::test]
async fn the_envelope_is_told_with_429() {
    let hub = spent().await;
    let message = json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": "m1", "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {"messages": [{"role": "user", "content": "echo x"}]},
        "tool_calls": null, "tool_results": null, "metadata": {},
    });
    let answer = hub.post_json("/nlip/route", &message).await;
    header_tells(&answer, 429);
    assert!(answer.text().contains("busy"), "{}", answer.text());
}

#[tokio::test]
async fn a2a_is_told_in_the_details_of_its_error() {
    let hub = spent().await;
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "echo x"}]});
    let v1 = [("a2a-version", "1.0")];
    let rpc = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": message}});
    let answer = send(&hub, Method::POST, "/a2a", &v1, Some(rpc)).await;
    let details = |text: &str| text.contains("google.rpc.RetryInfo") && text.contains("retryDelay");
    assert!(details(&answer.text()), "{}", answer.text());
    let rest = send(&hub, Method::POST, "/a2a/message:send", &v1, Some(json!({"message": message}))).await;
    header_tells(&rest, 429);
    assert!(details(&rest.text()), "{}", rest.text());
}

/// The seconds of the `RetryInfo` in a `google.rpc.Status`: its type, then a value with a span whose first field they are.
fn retry_seconds(status: &[u8]) -> Option<u64> {
    let kind = b"type.googleapis.com/google.rpc.RetryInfo";
    let at = status.windows(kind.len()).position(|window| window == kind)?;
    let [0x12, _, 0x0a, _, 0x08, rest @ ..] = status.get(at + kind.len()..)? else { return None };
    let last = rest.iter().position(|byte| byte & 0x80 == 0)?;
    Some(rest[..=last].iter().rev().fold(0, |number, byte| (number << 7) | u64::from(byte & 0x7f)))
}

#[tokio::test]
async fn a_30_grpc_is_told_by_its_code_and_a_retry_info_with_the_time() {
    let hub = spent().await;
    for (version, content) in [(Version::V1, "parts"), (Version::V03, "content")] {
        let message = json!({"message": {"messageId": "m1", "role": "ROLE_USER", content: [{"text": "echo x"}]}});
        for operation in [Operation::Send, Operation::Stream] {
            let bytes =
                proto::request_from_json(operation, version, message.to_string().as_bytes()).expect("a request");
            let path = format!("/{}/{}", service(version), operation.grpc(version).expect("a name"));
            let mut connection = hub.connect_h2c().await;
            let headers = [("a2a-version", version.as_str())];
            let mut messages = connection.messages(grpc::call(&path, &headers, &bytes)).await;
            assert!(messages.next().await.is_none(), "{path}");
            assert_eq!(messages.code(), Some("8"), "{path}: {:?}", messages.text("grpc-message"));
            let details = messages.text("grpc-status-details-bin").expect("details");
            let details = STANDARD_NO_PAD.decode(details.trim_end_matches('=')).expect("base64");
            let seconds = retry_seconds(&details).unwrap_or_else(|| panic!("{path}: {details:?}"));
            assert!(is_nearly_an_hour(seconds as f64), "{path}: {seconds}");
        }
    }
}

#[tokio::test]
async fn aip_is_told_in_the_text_of_its_error_frame() {
    let hub = spent().await;
    let mut socket = hub.websocket("/ws").await;
    let register = json!({
        "type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal@hub", "target_id": "hub",
        "metadata": {"type": "constellation_client", "task_name": "gal", "targeted_device_id": "hub", "version": "2.0"},
    });
    socket.send_text(register.to_string()).await;
    assert_eq!(socket.next_json().await["type"], "heartbeat");
    let task = json!({
        "type": "task", "status": "continue", "client_type": "constellation", "target_id": "hub", "session_id": "s1",
        "task_name": "t", "request": "echo x",
    });
    socket.send_text(task.to_string()).await;
    let error = socket.next_json().await;
    assert_eq!(error["type"], "error", "{error}");
    assert!(error["error"].as_str().is_some_and(|text| text.contains("try again in")), "{error}");
}

#[tokio::test]
async fn the_command_line_is_told_in_words() {
    let hub = spent().await;
    let output = Command::new(program())
        .current_dir(hub.directory())
        .env_remove("INTERLINGUA_HUB")
        .env_remove("INTERLINGUA_TOKEN")
        .args(["call", "hub/echo", "{\"text\": \"x\"}", "--data", "data"])
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("too many calls from you") && said.contains("try again in"), "{said}");
}
