//! An attacker who can write to the store's file, and has no key, changes its unencrypted columns.

use http::Method;
use interlingua_testkit::Hub;
use rusqlite::Connection;
use serde_json::json;

use super::identity::{api, owner};
use crate::support::{builder, until};

const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const TENANTS: &str = "
access:
  anonymous: refused
  tokens:
    - { name: alice, token: ilg_alice }
    - { name: bob, token: ilg_bob, register: true }
";
const SECRET: &str = "canary-of-alice";

/// Writes to the store while the hub is not running.
async fn tampered(hub: &mut Hub, change: impl FnOnce(&Connection)) {
    hub.stop().await;
    let store = Connection::open(hub.data().join("hub.db")).expect("the store");
    change(&store);
    store.close().expect("closed");
    hub.restart().await;
}

async fn kept(hub: &Hub, token: &str, key: &str, text: &str) -> String {
    let body = json!({"skill": "hub/echo", "arguments": {"text": text}});
    let bearer = format!("Bearer {token}");
    let sent = [("authorization", bearer.as_str()), ("idempotency-key", key)];
    let answer = crate::support::send(hub, Method::POST, "/api/tasks", &sent, Some(body)).await;
    let id = answer.json()["id"].as_str().unwrap_or_else(|| panic!("no id: {}", answer.text())).to_owned();
    until("it is done", async || {
        api(hub, &owner(hub), Method::GET, &format!("/api/tasks/{id}"), None).await.json()["state"] == "completed"
    })
    .await;
    id
}

#[tokio::test]
async fn attack_the_owner_of_a_sealed_task_is_changed_in_the_clear() {
    let config = format!("{TENANTS}store: {{ encryption: {{ key: \"file:outer.key\" }} }}\n");
    let mut hub = builder().file("outer.key", KEY).config(&config).start().await;
    let task = kept(&hub, "ilg_alice", "one", SECRET).await;
    tampered(&mut hub, |store| {
        let changed = store.execute("UPDATE tasks SET owner = 'user:bob' WHERE owner = 'user:alice'", []);
        assert_eq!(changed.expect("it can be written to"), 1);
    })
    .await;
    for path in ["", "/events", "/timeline", "/artifacts"] {
        let read = api(&hub, "ilg_bob", Method::GET, &format!("/api/tasks/{task}{path}"), None).await;
        assert!(read.status == 404 && !read.text().contains(SECRET), "{path}: {} {}", read.status, read.text());
    }
    let get = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "ListTasks", "params": {"includeArtifacts": true}});
    for call in [get, list] {
        let answer = api(&hub, "ilg_bob", Method::POST, "/a2a", Some(call)).await;
        assert!(!answer.text().contains(SECRET), "{}", answer.text());
    }
    let own = api(&hub, &owner(&hub), Method::GET, &format!("/api/tasks/{task}"), None).await;
    assert!(own.text().contains(SECRET), "the hub's Owner reads everything");
}

#[tokio::test]
async fn attack_a_key_of_ones_own_is_made_to_lead_to_anothers_task() {
    let config = format!("{TENANTS}store: {{ encryption: {{ key: \"file:outer.key\" }} }}\n");
    let mut hub = builder().file("outer.key", KEY).config(&config).start().await;
    let hers = kept(&hub, "ilg_alice", "hers", SECRET).await;
    let his = kept(&hub, "ilg_bob", "his", "bob's own").await;
    let (from, to) = (bytes(&his), bytes(&hers));
    tampered(&mut hub, |store| {
        let changed = store.execute("UPDATE keys SET task = ?2 WHERE task = ?1", [&from, &to]);
        assert_eq!(changed.expect("it can be written to"), 1);
    })
    .await;
    let body = json!({"skill": "hub/echo", "arguments": {"text": "bob's own"}});
    for path in ["/api/tasks", "/api/exchanges"] {
        let sent = [("authorization", "Bearer ilg_bob"), ("idempotency-key", "his")];
        let answer = crate::support::send(&hub, Method::POST, path, &sent, Some(body.clone())).await;
        assert!(!answer.text().contains(SECRET) && !answer.text().contains(&hers), "{path}: {}", answer.text());
    }
}

/// As the store writes a task's id.
fn bytes(id: &str) -> Vec<u8> {
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    hex::decode(digits).expect("two digits for each byte")
}

#[tokio::test]
async fn attack_a_registration_of_before_keeps_the_owners_name() {
    let mut hub = builder().config(TENANTS).start().await;
    let agent = json!({"agent_id": "agent-x", "name": "x", "capabilities": []});
    assert_eq!(api(&hub, "ilg_bob", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    tampered(&mut hub, |store| {
        let renamed = "UPDATE records SET key = 'owner',
            value = CAST(replace(CAST(value AS TEXT), 'agent-x', 'owner') AS BLOB) WHERE kind = 'agent'";
        assert_eq!(store.execute(renamed, []).expect("it can be written to"), 1);
    })
    .await;
    let agents = api(&hub, &owner(&hub), Method::GET, "/api/agents?registered=true", None).await;
    assert_eq!(agents.json()["items"], json!([]), "{}", agents.text());
}
