//! A webhook receives events as long as its owner may read the task: every delivery checks it.

use http::Method;
use interlingua_testkit::{Heard, Hub, Say, Scripted};
use serde_json::{Value, json};

use super::LINGER;
use super::expired::{is_known, opened};
use super::revoked::{ANN, BOB, BOTH, V1};
use crate::support::{builder, logged, send, until};

const CONFIG: &str = "
tools: { directory: ./tools }
a2a: { push_private_addresses: true }
access: { tokens: file:./tokens.yaml, policy: ./rules.cedar }
";
const ALL: &str = "permit (principal, action, resource);";
const NOT_ANN: &str = r#"
permit (principal, action, resource);
forbid (principal == User::"ann", action == Action::"call", resource in Peer::"local");
"#;

async fn hub(tokens: &str) -> Hub {
    builder()
        .file("tools/linger.yaml", LINGER)
        .file("tokens.yaml", tokens)
        .file("rules.cedar", ALL)
        .config(CONFIG)
        .start()
        .await
}

fn heard(webhook: &Scripted) -> Vec<Value> {
    webhook.heard().iter().map(Heard::json).collect()
}

/// Whether it heard of the task's end.
fn has_ended(webhook: &Scripted) -> bool {
    heard(webhook).iter().any(|told| told["statusUpdate"]["status"]["state"] == "TASK_STATE_CANCELED")
}

/// A task of somebody's that takes its time, and its webhook, once that heard of it; nothing when their token was gone before.
async fn telling(hub: &Hub, who: (&str, &str)) -> Option<(String, Scripted)> {
    let webhook = Scripted::http(|_, _| Say::Json(Value::Null)).await;
    let push = json!({"url": format!("http://{}/hook", webhook.address())});
    let configuration = json!({"returnImmediately": true, "taskPushNotificationConfig": push});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"data": {"skill": "local/linger"}}]});
    let params = json!({"message": message, "configuration": configuration});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    let answer = send(hub, Method::POST, "/a2a", &[who, V1], Some(body)).await;
    if answer.status != 200 {
        return None;
    }
    let id = answer.json()["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
    let begun = |told: &Value| told["statusUpdate"]["status"]["state"] == "TASK_STATE_WORKING";
    until("the webhook hears of it", async || heard(&webhook).iter().any(begun) || !is_known(hub).await).await;
    heard(&webhook).iter().any(begun).then_some((id, webhook))
}

/// The hub's Owner ends it: there is something to tell.
async fn cancel(hub: &Hub, task: &str) {
    let answer = hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"cancel": true})).await;
    assert!(answer.status < 300, "{}", answer.text());
}

/// It ends, and its webhook is not told.
async fn is_not_told(hub: &Hub, (task, webhook): &(String, Scripted)) {
    cancel(hub, task).await;
    logged(hub, &["webhook_refused", task]).await;
    assert!(!has_ended(webhook), "{:?}", heard(webhook));
}

#[tokio::test]
async fn a_21_a_webhook_whose_owners_token_was_revoked_is_told_no_more_and_others_are() {
    let hub = hub(BOTH).await;
    let hers = telling(&hub, ANN).await.expect("let in");
    let (his, webhook) = telling(&hub, ("authorization", "Bearer ilg_bob")).await.expect("let in");
    hub.write("tokens.yaml", BOB);
    until("it is revoked", async || !is_known(&hub).await).await;
    is_not_told(&hub, &hers).await;
    cancel(&hub, &his).await;
    until("his hears of the end", async || has_ended(&webhook)).await;
}

#[tokio::test]
async fn a_21_a_webhook_whose_owner_the_rules_do_not_allow_the_call_is_told_no_more() {
    let hub = hub(BOTH).await;
    let hers = telling(&hub, ANN).await.expect("let in");
    hub.write("rules.cedar", NOT_ANN);
    let steps = || Some(json!({"skill": "local/steps"}));
    let refused = async || send(&hub, Method::POST, "/api/exchanges", &[ANN], steps()).await.status == 404;
    until("the rules", refused).await;
    is_not_told(&hub, &hers).await;
}

#[tokio::test]
async fn a_21_a_webhook_whose_owners_token_expired_is_told_no_more() {
    let hub = hub("[]").await;
    let hers = opened(&hub, async |hub| telling(hub, ANN).await).await;
    until("it has expired", async || !is_known(&hub).await).await;
    is_not_told(&hub, &hers).await;
}
