//! Approval: for one call, under the rules of its time, by a caller that may approve.
//!
//! That it is used once, and for no other arguments, is tested with the envelope (`envelope/confirmations.rs`) and with agents
//! (`agents/approvals.rs`).

use http::Method;
use interlingua_testkit::Hub;
use serde_json::json;

use super::as_;
use crate::support::{builder, send, until};

const TOKENS: &str = "
- { name: bob, token: bob-token }
- { name: boss, token: boss-token, approve: true }
";
const CONFIG: &str = "
tools: { directory: ./tools }
access: { tokens: file:./tokens.yaml, policy: ./rules.cedar }
";
const RULES: &str = r#"
permit (principal == User::"bob", action in Action::"use", resource == Skill::"local/erase");
permit (principal == User::"boss", action == Action::"approve", resource);
"#;

/// A task of bob's that waits for a yes: its id, and that of the question.
async fn waiting(hub: &Hub) -> (String, String) {
    let asked = json!({"skill": "local/erase", "arguments": {"what": "all"}});
    let task = as_(hub, "bob", Method::POST, "/api/tasks", Some(asked)).await.json();
    let open = async || as_(hub, "boss", Method::GET, "/api/confirmations", None).await.json();
    until("the question", async || open().await["items"].as_array().is_some_and(|items| items.len() == 1)).await;
    let question = open().await["items"][0]["id"].as_str().expect("an id").to_owned();
    (task["id"].as_str().expect("an id").to_owned(), question)
}

#[tokio::test]
async fn a_yes_to_a_call_that_the_rules_no_longer_allow_does_nothing() {
    let hub = builder().file("tokens.yaml", TOKENS).file("rules.cedar", RULES).config(CONFIG).start().await;
    let (task, question) = waiting(&hub).await;
    // Bob may still see what is his; he may not do this any more.
    hub.write("rules.cedar", "permit (principal == User::\"boss\", action == Action::\"approve\", resource);");
    let asked = json!({"skill": "local/erase", "arguments": {"what": "all"}});
    until("the new rules", async || {
        as_(&hub, "bob", Method::POST, "/api/exchanges", Some(asked.clone())).await.status == 404
    })
    .await;
    as_(&hub, "boss", Method::POST, &format!("/api/confirmations/{question}"), Some(json!({"approve": true}))).await;
    let path = format!("/api/tasks/{task}");
    let mut last = json!(null);
    until("it ends", async || {
        last = hub.get(&path).await.json();
        last["state"] == "failed"
    })
    .await;
    assert!(!last.to_string().contains("erased"), "{last}");
}

#[tokio::test]
async fn nobody_gives_their_own_yes_by_any_door_unless_they_may_approve() {
    let hub = builder().file("tokens.yaml", TOKENS).file("rules.cedar", RULES).config(CONFIG).start().await;
    let (task, question) = waiting(&hub).await;
    let yes = Some(json!({"approve": true}));
    assert_eq!(
        as_(&hub, "bob", Method::POST, &format!("/api/confirmations/{question}"), yes.clone()).await.status,
        403
    );
    let answer = Some(json!({"answer": {"question": question, "approve": true}}));
    let by_signal = as_(&hub, "bob", Method::POST, &format!("/api/tasks/{task}/signals"), answer).await;
    assert_eq!(by_signal.status, 403, "{}", by_signal.text());
    let words = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m2",
        "taskId": task, "role": "ROLE_USER", "parts": [{"text": "yes"}]}}});
    let headers = [("authorization", "Bearer bob-token"), ("a2a-version", "1.0")];
    send(&hub, Method::POST, "/a2a", &headers, Some(words)).await;
    let state = hub.get(&format!("/api/tasks/{task}")).await.json();
    assert_eq!(state["state"], "waiting", "{state}");
    assert_eq!(as_(&hub, "boss", Method::POST, &format!("/api/confirmations/{question}"), yes).await.status, 200);
    until("it is done", async || hub.get(&format!("/api/tasks/{task}")).await.json()["state"] == "completed").await;
}
