//! The small HTTP interface of the Python server.

use http::Method;
use serde_json::json;

use super::{Client, commands, hub};
use crate::support::{send, until};

const KEY: (&str, &str) = ("x-api-key", "s3cret");

/// The status for somebody who shows nothing at all.
async fn unshown(hub: &interlingua_testkit::Hub, path: &str) -> u16 {
    let sent = interlingua_testkit::request(Method::GET, path).body(http_body_util::Full::default()).expect("a path");
    hub.connect_anonymous().await.send(sent).await.status
}

#[tokio::test]
async fn p_60_the_key_of_the_interface_and_what_dispatch_refuses() {
    let hub = hub("key: s3cret").await;
    for path in ["/api/clients", "/api/health", "/api/task_result/x"] {
        assert_eq!(unshown(&hub, path).await, 422, "{path}");
        assert_eq!(send(&hub, Method::GET, path, &[("x-api-key", "wrong")], None).await.status, 401, "{path}");
        assert_eq!(send(&hub, Method::GET, path, &[KEY], None).await.status, 200, "{path}");
    }
    let mut device = Client::registered(&hub, "/ws?token=s3cret", super::device("dev1")).await;
    let good = json!({"client_id": "dev1", "request": commands(&["ls"]), "task_name": "nightly"});
    let sent = interlingua_testkit::post("/api/dispatch", "application/json", good.to_string());
    assert_eq!(hub.connect_anonymous().await.send(sent).await.status, 422, "without a key");
    let wrong = send(&hub, Method::POST, "/api/dispatch", &[("x-api-key", "wrong")], Some(good)).await;
    assert_eq!(wrong.status, 401, "{}", wrong.text());
    device.is_quiet("device").await;
    let clients = send(&hub, Method::GET, "/api/clients", &[KEY], None).await.json();
    assert_eq!(clients, json!({"online_clients": ["dev1"]}));
    let health = send(&hub, Method::GET, "/api/health", &[KEY], None).await.json();
    assert_eq!(health, json!({"status": "healthy", "online_clients": ["dev1"]}));
    let cases = [
        (json!({"client_id": "dev1"}), 400),
        (json!({"client_id": "dev1", "request": ""}), 400),
        (json!({"request": "x"}), 400),
        (json!({"client_id": "dev1", "request": "x", "task_name": "../up"}), 400),
        (json!({"client_id": "dev1", "request": "x", "task_name": ""}), 400),
        (json!({"client_id": "ghost", "request": "x"}), 404),
        (json!([]), 422),
    ];
    for (body, status) in cases {
        let answer = send(&hub, Method::POST, "/api/dispatch", &[KEY], Some(body.clone())).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert!(answer.json().get("detail").is_some());
    }
}

#[tokio::test]
async fn p_59_a_dispatched_task_is_announced_asked_for_and_its_result_found_by_name() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    let body = json!({"client_id": "dev1", "request": commands(&["ls"]), "task_name": "nightly"});
    let answer = hub.post_json("/api/dispatch", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.json();
    assert_eq!(
        (&told["status"], &told["task_name"], &told["client_id"]),
        (&json!("dispatched"), &json!("nightly"), &json!("dev1"))
    );
    let announced = device.hear_a("task").await;
    assert_eq!(announced["session_id"], told["session_id"]);
    device
        .say(json!({"type": "task", "status": "continue", "task_name": announced["task_name"], "request": announced["user_request"]}))
        .await;
    assert_ne!(device.hear_a("heartbeat").await["session_id"], told["session_id"], "the run has a session of its own");
    let command = device.hear_a("command").await;
    let live = hub.get("/api/task_result/nightly").await;
    assert_eq!((live.status, live.json()), (200, json!({"status": "pending"})), "a live task is answered for");
    device.does(&command).await;
    device.hear_a("task_end").await;
    let done = hub.get("/api/task_result/nightly").await.json();
    assert_eq!(done, json!({"status": "done", "result": ["ls"]}));
}

#[tokio::test]
async fn a_task_may_be_dispatched_to_any_peer() {
    let hub = hub("").await;
    let body = json!({"client_id": "hub", "request": "echo hello", "task_name": "t"});
    assert_eq!(hub.post_json("/api/dispatch", &body).await.status, 200);
    until("its result is there", async || {
        hub.get("/api/task_result/t").await.json() == json!({"status": "done", "result": "echo hello"})
    })
    .await;
}
