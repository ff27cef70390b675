//! Questions of the hub or a peer during a call, in both eras.

use http::Method;
use serde_json::{Value, json};

use super::{MODERN, Modern, Session, error};
use crate::support::{hub, streaming};

fn elicitation() -> Value {
    json!({"elicitation": {}})
}

#[tokio::test]
async fn m_14_a_question_ends_the_request_and_the_same_call_goes_on_with_the_answer() {
    let hub = hub("").await;
    let mut modern = Modern::new(&hub);
    modern.capabilities = elicitation();
    let call = json!({"name": "local__erase", "arguments": {"what": "all"}});
    let asked = modern.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().expect("requests");
    let (key, request) = requests.iter().next().expect("one");
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["requestedSchema"]["properties"]["approve"]["type"], "boolean");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "accept", "content": {"approve": true}}});
    let done = modern.result("tools/call", again.clone()).await;
    assert_eq!(done["structuredContent"], json!({"erased": true}), "{done}");
    // Bringing it once more reads the same outcome and does nothing again.
    assert_eq!(modern.result("tools/call", again).await["structuredContent"], json!({"erased": true}));
}

#[tokio::test]
async fn m_14_without_the_answer_it_is_asked_again_and_a_no_is_a_no() {
    let hub = hub("").await;
    let mut modern = Modern::new(&hub);
    modern.capabilities = elicitation();
    let call = json!({"name": "local__erase", "arguments": {"what": "all"}});
    let asked = modern.result("tools/call", call.clone()).await;
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    let repeated = modern.result("tools/call", again.clone()).await;
    assert_eq!(repeated["inputRequests"], asked["inputRequests"]);
    again["inputResponses"] = json!({"q0": {"action": "shrug"}});
    let answer = modern.ask("tools/call", again.clone()).await;
    assert_eq!(error(&answer), (200, -32602), "{}", answer.text());
    again["inputResponses"] = json!({"q0": {"action": "decline"}});
    let declined = modern.result("tools/call", again).await;
    assert_eq!(declined["isError"], true, "{declined}");
    assert_eq!(declined["_meta"]["interlingua/fault"]["kind"], "denied");
}

#[tokio::test]
async fn m_15_state_that_was_altered_or_is_of_another_call_or_caller_is_refused() {
    let hub =
        hub("access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['*'], approve: true }] }")
            .await;
    let mut modern = Modern::new(&hub);
    modern.capabilities = elicitation();
    let call = json!({"name": "local__erase", "arguments": {"what": "all"}});
    let asked = modern.result("tools/call", call.clone()).await;
    let state = asked["requestState"].as_str().expect("a state").to_owned();
    let with = |state: &str, arguments: Value| {
        json!({"name": "local__erase", "arguments": arguments, "requestState": state,
            "inputResponses": {"q0": {"action": "accept", "content": {"approve": true}}}})
    };
    let mut altered = state.clone().into_bytes();
    let last = altered.len() - 3;
    altered[last] = if altered[last] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).expect("ASCII");
    for params in
        [with(&altered, call["arguments"].clone()), with("", json!({})), with(&state, json!({"what": "other"}))]
    {
        let answer = modern.ask("tools/call", params.clone()).await;
        assert_eq!(error(&answer), (200, -32602), "{params}: {}", answer.text());
    }
    let mut ann = Modern::new(&hub);
    ann.capabilities = elicitation();
    ann.headers = vec![("authorization", "Bearer ilg_ann-token-of-some-length")];
    let answer = ann.ask("tools/call", with(&state, call["arguments"].clone())).await;
    assert_eq!(error(&answer), (200, -32602), "somebody else's: {}", answer.text());
    let done = modern.result("tools/call", with(&state, call["arguments"].clone())).await;
    assert_eq!(done["structuredContent"], json!({"erased": true}), "{done}");
}

#[tokio::test]
async fn m_18_a_client_that_declared_nothing_is_never_asked() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let mut body = modern.body("tools/call", json!({"name": "local__erase", "arguments": {"what": "all"}}));
    body["params"]["_meta"]["progressToken"] = 1.into();
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "local__erase")];
    let (_connection, mut events) = streaming(&hub, Method::POST, "/mcp", &headers, Some(body)).await;
    let waits = events.next().await.expect("an event");
    assert!(waits.contains("notifications/progress") && waits.contains("waits for approval"), "{waits}");
    let open = hub.get("/api/confirmations").await.json();
    let id = open["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{open}")).to_owned();
    let yes = hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    assert!(yes.status < 300, "{}", yes.text());
    let mut last = String::new();
    while let Some(event) = events.next().await {
        last = event;
    }
    assert!(last.contains("\"erased\":true"), "{last}");
}

#[tokio::test]
async fn m_17_a_session_is_asked_by_a_request_on_the_stream_of_its_call() {
    let hub = hub("").await;
    let session = Session::begin(&hub, "2025-06-18", elicitation()).await;
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "local__erase", "arguments": {"what": "all"}}});
    let (_connection, mut events) = streaming(&hub, Method::POST, "/mcp", &session.headers(), Some(body)).await;
    let request: Value = serde_json::from_str(&events.next().await.expect("a request")).expect("JSON");
    assert_eq!(request["method"], "elicitation/create", "{request}");
    let answer =
        json!({"jsonrpc": "2.0", "id": request["id"], "result": {"action": "accept", "content": {"approve": true}}});
    assert_eq!(session.post(answer).await.status, 202);
    let result: Value = serde_json::from_str(&events.next().await.expect("a response")).expect("JSON");
    assert_eq!(
        (&result["id"], &result["result"]["structuredContent"]),
        (&json!(9), &json!({"erased": true})),
        "{result}"
    );
    assert!(events.next().await.is_none(), "the response ends the stream");
}
