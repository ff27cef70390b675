//! Addresses that answers hold: whoever was given one fetches it with the credential that the call was made with, and gets the
//! bytes; nobody else does. MCP's are read by MCP and are in its own folder.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{builder, send};

const ANN: (&str, &str) = ("authorization", "Bearer ilg_ann-token-of-some-length");
const BOB: (&str, &str) = ("authorization", "Bearer ilg_bob-token-of-some-length");
const TOKENS: &str = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['*'] }, \
                      { name: bob, token: ilg_bob-token-of-some-length, skills: ['*'] }] }\n";

fn picture() -> Vec<u8> {
    (0..300_000_u32).map(|n| u8::try_from(n * 7 % 251).expect("a byte")).collect()
}

/// A hub with an agent that answers with a large picture.
async fn hub(more: &str) -> (Hub, Scripted) {
    let content = STANDARD.encode(picture());
    let agent = Scripted::http(move |_, _| {
        let large = json!({"format": "binary", "subformat": "image/png", "content": content});
        Say::Json(json!({"format": "text", "subformat": "english", "content": "look", "submessages": [large]}))
    })
    .await;
    let peer = format!("peers: {{ desk: {{ effects: reads, nlip: {{ url: 'http://{}/nlip' }} }} }}\n", agent.address());
    (builder().config(&format!("{TOKENS}{peer}{more}")).start().await, agent)
}

/// Every text in a value that begins like an address of this kind.
fn addresses(value: &Value, part: &str) -> Vec<String> {
    match value {
        Value::String(text) if text.starts_with("http") && text.contains(part) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(|item| addresses(item, part)).collect(),
        Value::Object(members) => members.values().flat_map(|member| addresses(member, part)).collect(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The one address in an answer leads to the picture, for ann and for nobody else.
async fn leads_to_the_picture(hub: &Hub, answer: &Value, part: &str) {
    let found = addresses(answer, part);
    assert_eq!(found.len(), 1, "{answer}");
    let path = found[0].strip_prefix(&hub.url("")).unwrap_or_else(|| panic!("another hub's: {}", found[0]));
    let fetched = send(hub, Method::GET, path, &[ANN], None).await;
    assert_eq!(fetched.status, 200, "{path}");
    assert!(fetched.body == picture(), "{path}: other bytes");
    assert_eq!(send(hub, Method::GET, path, &[BOB], None).await.status, 404, "{path}");
    assert!(hub.connect_anonymous().await.send(get(path)).await.status >= 400, "{path}");
}

fn get(path: &str) -> http::Request<http_body_util::Full<bytes::Bytes>> {
    interlingua_testkit::request(Method::GET, path).body(http_body_util::Full::default()).expect("a request")
}

async fn as_ann(hub: &Hub, path: &str, body: Value) -> Value {
    let answer = send(hub, Method::POST, path, &[ANN, ("a2a-version", "1.0")], Some(body)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn nlip() -> Value {
    json!({"format": "text", "subformat": "english", "content": "a picture, please"})
}

#[tokio::test]
async fn an_address_in_an_answer_over_nlip_can_be_fetched() {
    let (hub, _agent) = hub("").await;
    leads_to_the_picture(&hub, &as_ann(&hub, "/agents/desk/nlip", nlip()).await, "/nlip/uploads/").await;
}

#[tokio::test]
async fn an_address_in_an_answer_over_a2a_can_be_fetched() {
    let (hub, _agent) = hub("").await;
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "a picture, please"}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    leads_to_the_picture(&hub, &as_ann(&hub, "/agents/desk/a2a", body).await, "/blobs/").await;
}

#[tokio::test]
async fn an_address_in_an_answer_over_the_envelope_can_be_fetched() {
    let (hub, _agent) = hub("").await;
    let request = json!({
        "control": {"message_type": "request", "message_id": "e1"},
        "tool_calls": [{"tool_id": "t", "tool_name": "desk/chat", "parameters": {"message": "a picture, please"}}],
    });
    let answer = as_ann(&hub, "/nlip/route", request).await;
    leads_to_the_picture(&hub, &answer[0]["tool_results"], "/nlip/uploads/").await;
}

#[tokio::test]
async fn addresses_begin_with_the_configured_one() {
    let (hub, _agent) = hub("hub: { url: \"https://hub.example\" }\n").await;
    let answer = as_ann(&hub, "/agents/desk/nlip", nlip()).await;
    let found = addresses(&answer, "/nlip/uploads/");
    assert!(found.len() == 1 && found[0].starts_with("https://hub.example/nlip/uploads/"), "{found:?}");
}
