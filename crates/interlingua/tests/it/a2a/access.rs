//! Ownership of tasks (section 13.1): a task of another owner is reported as not found.

use http::Method as Verb;
use http_body_util::Full;
use interlingua_a2a::Version;
use interlingua_a2a::method::Method;
use interlingua_testkit::request;
use serde_json::{Value, json};

use super::grpc::Caller;
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

/// An operation by HTTP, for a task of this id.
fn by_http(method: Method, base: &str, id: &str, body: &Value) -> (Verb, String, Value) {
    let configs = format!("{base}/tasks/{id}/pushNotificationConfigs");
    let card = if base.ends_with("/v1") { "card" } else { "extendedAgentCard" };
    match method {
        Method::Send => (Verb::POST, format!("{base}/message:send"), body.clone()),
        Method::Stream => (Verb::POST, format!("{base}/message:stream"), body.clone()),
        Method::Get => (Verb::GET, format!("{base}/tasks/{id}"), Value::Null),
        Method::List => (Verb::GET, format!("{base}/tasks"), Value::Null),
        Method::Cancel => (Verb::POST, format!("{base}/tasks/{id}:cancel"), json!({})),
        Method::Subscribe => (Verb::POST, format!("{base}/tasks/{id}:subscribe"), json!({})),
        Method::PushCreate => (Verb::POST, configs, body.clone()),
        Method::PushGet => (Verb::GET, format!("{configs}/c"), Value::Null),
        Method::PushList => (Verb::GET, configs, Value::Null),
        Method::PushDelete => (Verb::DELETE, format!("{configs}/c"), Value::Null),
        Method::ExtendedCard => (Verb::GET, format!("{base}/{card}"), Value::Null),
    }
}

/// Parameters of 1.0, for JSON-RPC and as the message of gRPC.
fn of_v1(method: Method, id: &str) -> Value {
    match method {
        Method::Send | Method::Stream => json!({"message": text("tck-complete-task-1", "hi")}),
        Method::Get | Method::Cancel | Method::Subscribe => json!({ "id": id }),
        Method::List | Method::ExtendedCard => json!({}),
        Method::PushCreate => json!({"taskId": id, "id": "c", "url": "https://example.com/hook"}),
        Method::PushList => json!({ "taskId": id }),
        Method::PushGet | Method::PushDelete => json!({"taskId": id, "id": "c"}),
    }
}

/// The same of 0.3, for JSON-RPC.
fn of_v03(method: Method, id: &str) -> Value {
    let message =
        json!({"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]});
    match method {
        Method::Send | Method::Stream => json!({ "message": message }),
        Method::PushCreate => json!({"taskId": id, "pushNotificationConfig": {"url": "https://example.com/hook"}}),
        Method::PushGet | Method::PushDelete => json!({"id": id, "pushNotificationConfigId": "c"}),
        Method::Get | Method::Cancel | Method::Subscribe | Method::PushList => json!({ "id": id }),
        Method::List | Method::ExtendedCard => json!({}),
    }
}

/// The same by HTTP, where 0.3 has the names of its proto.
fn of_http(method: Method, version: Version, id: &str) -> Value {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]});
    match (version, method) {
        (Version::V03, Method::Send | Method::Stream) => json!({ "message": message }),
        (Version::V03, Method::PushCreate) => {
            json!({"config": {"pushNotificationConfig": {"url": "https://example.com/hook"}}})
        }
        (Version::V1 | Version::V03, method) => of_v1(method, id),
    }
}

/// The two who are not known: a page in a browser, and one with a credential that nobody gave.
const UNKNOWN: [(&str, &str); 2] = [("sec-fetch-site", "same-origin"), ("authorization", "Bearer token-eve")];

#[tokio::test]
async fn a_39_every_operation_on_every_binding_of_both_generations_wants_the_credential() {
    let hub = builder(TOKENS).start().await;
    let sent = call(&hub, "token-ann", "SendMessage", json!({"message": text("tck-input-required-1", "hi")})).await;
    let id = sent["result"]["task"]["id"].as_str().expect("a task");
    for (method, unknown) in Method::ALL.into_iter().flat_map(|method| UNKNOWN.map(|unknown| (method, unknown))) {
        for (version, base) in [(Version::V1, "/a2a"), (Version::V03, "/a2a/v1")] {
            let params = if version == Version::V1 { of_v1(method, id) } else { of_v03(method, id) };
            let headers = [("a2a-version", version.as_str()), unknown];
            if let Some(name) = method.name(version) {
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": params});
                let answer = send(&hub, post("/a2a", &headers, &body)).await;
                let told = (answer.status, answer.header("www-authenticate"));
                assert_eq!(told, (401, Some("Bearer")), "JSON-RPC {version:?} {method:?}: {}", answer.text());
            }
            let (verb, path, body) = by_http(method, base, id, &of_http(method, version, id));
            let body = if body.is_null() { Full::default() } else { Full::new(body.to_string().into()) };
            let asked = request(verb, &path).header("content-type", "application/json");
            let asked = asked.header(headers[0].0, headers[0].1).header(unknown.0, unknown.1);
            let answer = send(&hub, asked.body(body).expect("a request")).await;
            // 0.3 has no list of tasks.
            if (version, method) != (Version::V03, Method::List) {
                let told = (answer.status, answer.header("www-authenticate"));
                assert_eq!(told, (401, Some("Bearer")), "HTTP {version:?} {method:?}: {}", answer.text());
            }
        }
        let refused = Caller::new(&hub, Version::V1).await.all(method, &[unknown], &of_v1(method, id)).await;
        assert_eq!(refused.expect_err("refused").code, 16, "gRPC {method:?}");
        if method.grpc(Version::V03).is_some() {
            let named = match method {
                Method::Send | Method::Stream => {
                    json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}})
                }
                Method::Get | Method::Cancel | Method::Subscribe => json!({"name": format!("tasks/{id}")}),
                Method::PushGet | Method::PushDelete => {
                    json!({"name": format!("tasks/{id}/pushNotificationConfigs/c")})
                }
                Method::PushList => json!({"parent": format!("tasks/{id}")}),
                Method::PushCreate => json!({"parent": format!("tasks/{id}"), "configId": "c",
                    "config": {"pushNotificationConfig": {"url": "https://example.com/hook"}}}),
                Method::List | Method::ExtendedCard => json!({}),
            };
            let refused = Caller::new(&hub, Version::V03).await.all(method, &[unknown], &named).await;
            assert_eq!(refused.expect_err("refused").code, 16, "gRPC of 0.3 {method:?}");
        }
    }
    let listed = call(&hub, "token-ann", "ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 1, "nothing was begun, and nothing cancelled: {listed}");
    assert_eq!(listed["result"]["tasks"][0]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
}
