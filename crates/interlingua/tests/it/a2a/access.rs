//! Whose tasks are whose (section 13.1): what is not yours is not there.

use serde_json::{Value, json};

use super::{V1, builder, post, send, text};

const TOKENS: &str =
    "access:\n  anonymous: refused\n  tokens: [{ name: ann, token: token-ann }, { name: bob, token: token-bob }]\n";

async fn call(hub: &interlingua_testkit::Hub, token: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let bearer = format!("Bearer {token}");
    send(hub, post("/a2a", &[V1, ("authorization", &bearer)], &body)).await.json()
}

#[tokio::test]
async fn a_38_another_callers_task_looks_like_one_that_never_was() {
    let hub = builder(TOKENS).start().await;
    let sent = call(&hub, "token-ann", "SendMessage", json!({"message": text("tck-input-required-1", "hi")})).await;
    let id = &sent["result"]["task"]["id"];
    let config = json!({"taskId": id, "id": "c", "url": "https://example.com/hook"});
    assert!(call(&hub, "token-ann", "CreateTaskPushNotificationConfig", config).await.get("result").is_some());
    let to_it = |id: &Value| {
        let mut message = text("m2", "x");
        message["taskId"] = id.clone();
        json!({ "message": message })
    };
    for (method, params) in [
        ("GetTask", json!({ "id": id })),
        ("CancelTask", json!({ "id": id })),
        ("SubscribeToTask", json!({ "id": id })),
        ("SendMessage", to_it(id)),
        ("CreateTaskPushNotificationConfig", json!({"taskId": id, "url": "https://example.com/hook"})),
        ("GetTaskPushNotificationConfig", json!({"taskId": id, "id": "c"})),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": id })),
        ("DeleteTaskPushNotificationConfig", json!({"taskId": id, "id": "c"})),
    ] {
        let theirs = call(&hub, "token-bob", method, params.clone()).await;
        let unknown = json!("0123456789abcdef0123456789abcdef");
        let never = params.to_string().replace(id.as_str().expect("an id"), unknown.as_str().expect("an id"));
        let never = call(&hub, "token-bob", method, serde_json::from_str(&never).expect("JSON")).await;
        assert_eq!(theirs, never, "{method}");
        assert_eq!(theirs["error"]["code"], -32001);
    }
    let named = json!({"taskId": id, "id": "c"});
    assert!(call(&hub, "token-ann", "GetTaskPushNotificationConfig", named).await.get("result").is_some(), "it stayed");
    assert_eq!(call(&hub, "token-bob", "ListTasks", json!({})).await["result"]["tasks"], json!([]));
    assert_eq!(call(&hub, "token-ann", "ListTasks", json!({})).await["result"]["totalSize"], 1);
}

#[tokio::test]
async fn a_39_a_credential_that_the_card_requires_is_required_everywhere() {
    let hub = builder(TOKENS).start().await;
    let page = [V1, ("sec-fetch-site", "same-origin")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": text("m1", "hi")}});
    let answer = send(&hub, post("/a2a", &page, &body)).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{}", answer.text());
    let answer = send(&hub, post("/a2a/message:send", &page, &json!({"message": text("m1", "hi")}))).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{}", answer.text());
    let bearer = [V1, ("authorization", "Bearer token-ann")];
    let card = send(&hub, super::get("/.well-known/agent-card.json", &bearer[1..])).await.json();
    assert!(card["securityRequirements"][0]["schemes"]["bearer"].is_object(), "{card}");
    assert_eq!(card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
}
