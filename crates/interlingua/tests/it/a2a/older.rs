//! Clients of 0.3: no version header, `kind`, states in lower case; and its HTTP binding, which is spelled differently again.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Hub, request};
use serde_json::{Value, json};

use super::{all, hub, post, send};

fn message(id: &str, words: &str) -> Value {
    json!({"kind": "message", "messageId": id, "role": "user", "parts": [{"kind": "text", "text": words}]})
}

async fn call(hub: &Hub, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    send(hub, post("/a2a", &[], &body)).await.json()
}

#[tokio::test]
async fn a_27_without_a_version_a_request_is_read_and_answered_as_0_3() {
    let hub = hub().await;
    let sent = call(&hub, "message/send", json!({"message": message("tck-artifact-file-1", "hi")})).await;
    let task = &sent["result"];
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")), "{sent}");
    assert_eq!(task["history"][0]["kind"], "message");
    let file = &task["artifacts"][0]["parts"][0];
    assert_eq!((&file["kind"], &file["file"]["name"]), (&json!("file"), &json!("output.txt")));
    let answer = call(&hub, "message/send", json!({"message": message("tck-message-response-1", "hi")})).await;
    assert_eq!((&answer["result"]["kind"], &answer["result"]["role"]), (&json!("message"), &json!("agent")));
    let got = call(&hub, "tasks/get", json!({"id": task["id"]})).await;
    assert_eq!(got["result"]["id"], task["id"]);
    let again = call(&hub, "tasks/cancel", json!({"id": task["id"]})).await;
    assert_eq!(again["error"]["code"], -32002);
    assert!(again["error"]["data"].is_object(), "no list of details there: {again}");
    let card = call(&hub, "agent/getAuthenticatedExtendedCard", json!({})).await;
    assert_eq!(card["result"]["preferredTransport"], "JSONRPC");
    let new = call(&hub, "SendMessage", json!({"message": message("m", "hi")})).await;
    assert_eq!(new["error"]["code"], -32009, "a method of 1.0 needs its version: {new}");
}

#[tokio::test]
async fn a_27_a_stream_of_0_3_says_which_event_is_its_last() {
    let hub = hub().await;
    let params = json!({"message": message("tck-stream-artifact-chunked-1", "hi")});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params});
    let mut connection = hub.connect().await;
    let mut events = connection.events(post("/a2a", &[], &body)).await;
    let events = all(&mut events).await;
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["result"]["kind"].as_str()).collect();
    assert_eq!(
        kinds,
        ["task", "status-update", "status-update", "artifact-update", "artifact-update", "status-update"]
    );
    let last = &events[5]["result"];
    assert_eq!((&last["final"], &last["status"]["state"]), (&json!(true), &json!("completed")));
}

#[tokio::test]
async fn a_27_a_stream_of_0_3_that_cannot_begin_is_refused_in_an_event() {
    let hub = hub().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": {"id": "nobody"}});
    let answer = send(&hub, post("/a2a", &[], &body)).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{}", answer.text());
    assert!(answer.text().starts_with("data: ") && answer.text().contains("-32001"), "{}", answer.text());
}

#[tokio::test]
async fn a_28_the_http_binding_of_0_3_is_spoken_below_v1() {
    let hub = hub().await;
    let body =
        json!({"message": {"messageId": "tck-artifact-data-1", "role": "ROLE_USER", "content": [{"text": "hi"}]}});
    let sent = send(&hub, post("/a2a/v1/message:send", &[], &body)).await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let task = sent.json()["task"].take();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(task["history"][0]["content"][0]["text"], "hi");
    assert_eq!(task["artifacts"][0]["parts"][0]["data"]["data"], json!({"key": "value", "count": 42}));
    let id = task["id"].as_str().expect("an id");
    let get = |path: String| request(Method::GET, &path).body(Full::default()).expect("a request");
    assert_eq!(send(&hub, get(format!("/a2a/v1/tasks/{id}"))).await.json()["id"], id);
    assert_eq!(send(&hub, get("/a2a/v1/card".to_owned())).await.json()["preferredTransport"], "JSONRPC");
    assert_eq!(send(&hub, get("/a2a/v1/tasks/nobody".to_owned())).await.status, 404);
}

#[tokio::test]
async fn a_19_a_webhook_without_a_name_is_the_one_a_client_of_0_3_sets_anew() {
    let hub = super::builder("a2a: { push_private_addresses: true }\n").start().await;
    let sent = call(&hub, "message/send", json!({"message": message("tck-input-required-1", "hi")})).await;
    let id = &sent["result"]["id"];
    for url in ["https://example.com/one", "https://example.com/two"] {
        let set = json!({"taskId": id, "pushNotificationConfig": {"url": url}});
        let set = call(&hub, "tasks/pushNotificationConfig/set", set).await;
        assert_eq!(set["result"]["pushNotificationConfig"]["id"], "default", "{set}");
    }
    let got = call(&hub, "tasks/pushNotificationConfig/get", json!({ "id": id })).await;
    assert_eq!(got["result"]["pushNotificationConfig"]["url"], "https://example.com/two");
    let listed = call(&hub, "tasks/pushNotificationConfig/list", json!({ "id": id })).await;
    assert_eq!(listed["result"].as_array().map(Vec::len), Some(1), "{listed}");
}
