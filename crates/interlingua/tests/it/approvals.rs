//! Pending approvals as the operator sees them: metrics, log, hooks.

use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{builder, logged, reaches, until};

async fn asked(hub: &Hub) -> (String, String) {
    let asks = json!({"skill": "local/erase", "arguments": {"what": "all"}});
    let answer = hub.post_json("/api/exchanges", &asks).await.json();
    let question = &answer["questions"][0];
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no question: {answer}")).to_owned();
    (text(&question["id"]), text(&question["task"]))
}

async fn pending(hub: &Hub) -> String {
    let metrics = hub.get("/metrics").await.text();
    let line = metrics.lines().find(|line| line.starts_with("interlingua_questions_pending{kind=\"confirm\"}"));
    line.and_then(|line| line.split_whitespace().last()).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_pending_approval_is_counted_logged_and_told_to_a_hook_that_cannot_approve() {
    let pager = Scripted::http(|_, _| Say::Json(json!({"approve": true}))).await;
    let config = format!(
        "tools: {{ directory: ./tools }}\nhooks:\n  pager: {{ on: confirm, url: \"http://{}/page\" }}\n",
        pager.address()
    );
    let hub = builder().config(&config).start().await;
    assert_eq!(pending(&hub).await, "0");
    let (question, task) = asked(&hub).await;
    assert_eq!(pending(&hub).await, "1");
    logged(&hub, &["approval_pending", &task, "local/erase", "until="]).await;
    until("the hook is told", async || !pager.heard().is_empty()).await;
    let told = pager.heard()[0].json();
    assert_eq!((&told["on"], &told["question"], &told["task"]), (&json!("confirm"), &json!(question), &json!(task)));
    assert_eq!((&told["skill"], &told["arguments"]), (&json!("local/erase"), &json!({"what": "all"})));
    assert!(told["by"].is_string() && told["until"].is_string(), "{told}");
    assert_eq!(pending(&hub).await, "1", "what the hook answers decides nothing");
    hub.post_json(&format!("/api/confirmations/{question}"), &json!({"approve": true})).await;
    reaches(&hub, &task, "completed").await;
    logged(&hub, &["approval_decided", &task, "approved"]).await;
    assert_eq!(pending(&hub).await, "0");
    let (question, task) = asked(&hub).await;
    hub.post_json(&format!("/api/confirmations/{question}"), &json!({"approve": false})).await;
    logged(&hub, &["approval_decided", &task, "declined"]).await;
}

#[tokio::test]
async fn a_hook_that_is_only_told_has_no_say_in_failure() {
    let hook = "hooks:\n  pager: { on: confirm, url: \"http://127.0.0.1:9/\", on_failure: refuse }\n";
    let (status, said) = builder().config(hook).refused().await;
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("is only told"), "{said}");
}
