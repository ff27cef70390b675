//! Addresses of content in answers: the caller that received one fetches it with the credential of its call, and gets the bytes; nobody
//! else does. MCP's are read by MCP and are in its own folder.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{builder, send};

pub(crate) const ANN: (&str, &str) = ("authorization", "Bearer ilg_ann-token-of-some-length");
pub(crate) const BOB: (&str, &str) = ("authorization", "Bearer ilg_bob-token-of-some-length");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");
const TOKENS: &str = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['*'] }, \
                      { name: bob, token: ilg_bob-token-of-some-length, skills: ['*'] }] }\n";

pub(crate) fn picture() -> Vec<u8> {
    (0..300_000_u32).map(|n| u8::try_from(n * 7 % 251).expect("a byte")).collect()
}

/// A hub with an agent that answers with a large picture.
pub(crate) async fn hub(more: &str) -> (Hub, Scripted) {
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
pub(crate) fn addresses(value: &Value, part: &str) -> Vec<String> {
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
    is_the_picture(hub, path).await;
}

/// Ann fetches the picture here, as bytes that a browser does not run; for anybody else there is nothing.
async fn is_the_picture(hub: &Hub, path: &str) {
    let fetched = send(hub, Method::GET, path, &[ANN], None).await;
    assert_eq!(fetched.status, 200, "{path}");
    assert!(fetched.body == picture(), "{path}: other bytes");
    assert_eq!(fetched.header("interlingua-media-type"), Some("image/png"), "{path}");
    assert_eq!(fetched.header("content-type"), Some("application/octet-stream"), "{path}");
    assert_eq!(fetched.header("content-security-policy"), Some("sandbox; default-src 'none'"), "{path}");
    assert!(!path.contains(ANN.1.trim_start_matches("Bearer ")), "{path}: says whose it is");
    let others = send(hub, Method::GET, path, &[BOB], None).await;
    let (folder, name) = path.rsplit_once('/').expect("a path");
    let mut letters: Vec<char> = name.chars().rev().collect();
    letters.rotate_left(1);
    let missing = format!("{folder}/{}", letters.iter().collect::<String>());
    let missing = send(hub, Method::GET, &missing, &[BOB], None).await;
    assert_eq!((others.status, missing.status), (404, 404), "{path}");
    assert_eq!(others.text(), missing.text(), "{path}: another's is told from a missing one");
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

/// Requests of the generations that have a place for it, whole and as a stream.
fn questions() -> Vec<Value> {
    let nested = |version: &str, streaming: bool| {
        json!({
            "query": {"text": "a picture, please", "site": "desk"}, "meta": {"api_version": version},
            "prefer": {"streaming": streaming},
        })
    };
    let flat = |streaming: bool| json!({"query": "a picture, please", "site": "desk", "streaming": streaming});
    let both = [false, true].into_iter();
    both.flat_map(|streaming| [nested("0.55", streaming), nested("0.54", streaming), flat(streaming)]).collect()
}

fn has_url(item: &Value) -> bool {
    item["url"].as_str().is_some_and(|url| !url.is_empty())
}

/// The items of an answer, whole or as a stream.
fn items(answer: &str) -> Vec<Value> {
    let data = answer.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let messages = data.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|message| message["results"].as_array().cloned()).flatten().collect()
}

#[tokio::test]
async fn q_06_q_22_an_address_in_an_answer_over_nlweb_can_be_fetched() {
    let (hub, _agent) = hub("").await;
    for question in questions() {
        let answer = send(&hub, Method::POST, "/ask", &[ANN], Some(question.clone())).await.text();
        let found: Vec<Value> = items(&answer).into_iter().filter(has_url).collect();
        assert_eq!(found.len(), 1, "{question}: {answer}");
        let url = found[0]["url"].as_str().expect("an address");
        let path = url.strip_prefix(&hub.url("")).unwrap_or_else(|| panic!("another hub's: {url}"));
        is_the_picture(&hub, path).await;
        assert!(!answer.contains("output.parts"), "nothing is lost: {answer}");
        let object = found[0].get("schema_object").unwrap_or(&found[0]);
        assert_eq!((&object["@type"], &object["encodingFormat"]), (&json!("MediaObject"), &json!("image/png")));
    }
}

#[tokio::test]
async fn addresses_in_answers_of_the_api_can_be_fetched() {
    let (hub, _agent) = hub("").await;
    let call = json!({"skill": "desk/chat", "arguments": {"message": "a picture, please"}});
    let exchange = as_ann(&hub, "/api/exchanges", call.clone()).await;
    leads_to_the_picture(&hub, &exchange, "/content/").await;

    let events = send(&hub, Method::POST, "/api/exchanges", &[ANN, EVENTS], Some(call.clone())).await;
    let told: Vec<Value> = crate::support::events(&events.text()).into_iter().map(|(.., data)| data).collect();
    leads_to_the_picture(&hub, &Value::Array(told), "/content/").await;

    let task = send(&hub, Method::POST, "/api/tasks", &[ANN], Some(call)).await.json();
    let path = format!("/api/tasks/{}", task["id"].as_str().expect("an id"));
    let mut shown = json!(null);
    crate::support::until("the task ends", async || {
        shown = send(&hub, Method::GET, &path, &[ANN], None).await.json();
        shown.get("finished").is_some()
    })
    .await;
    leads_to_the_picture(&hub, &shown, "/content/").await;
    let events = format!("{path}/events");
    let listed = send(&hub, Method::GET, &events, &[ANN], None).await.json();
    leads_to_the_picture(&hub, &listed, "/content/").await;
    let told = send(&hub, Method::GET, &events, &[ANN, EVENTS], None).await;
    let told: Vec<Value> = crate::support::events(&told.text()).into_iter().map(|(.., data)| data).collect();
    leads_to_the_picture(&hub, &Value::Array(told), "/content/").await;
    let timeline = send(&hub, Method::GET, &format!("{path}/timeline"), &[ANN], None).await;
    assert!(!timeline.text().contains("/content/"), "nothing of it is told there: {}", timeline.text());
}

#[tokio::test]
async fn addresses_begin_with_the_configured_one() {
    let (hub, _agent) = hub("hub: { url: \"https://hub.example\" }\n").await;
    let answer = as_ann(&hub, "/agents/desk/nlip", nlip()).await;
    let found = addresses(&answer, "/nlip/uploads/");
    assert!(found.len() == 1 && found[0].starts_with("https://hub.example/nlip/uploads/"), "{found:?}");
    let answer = as_ann(&hub, "/ask", questions().remove(0)).await;
    let found = addresses(&answer["results"], "/content/");
    assert!(found.iter().all(|url| url.starts_with("https://hub.example/content/")) && !found.is_empty(), "{answer}");
    let call = json!({"skill": "desk/chat", "arguments": {"message": "a picture, please"}});
    let found = addresses(&as_ann(&hub, "/api/exchanges", call).await, "/content/");
    assert!(found.len() == 1 && found[0].starts_with("https://hub.example/content/"), "{found:?}");
    let path = found[0].strip_prefix("https://hub.example").expect("just seen");
    is_the_picture(&hub, path).await;
}
