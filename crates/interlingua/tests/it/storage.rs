//! A disk that is full or fails under the whole program: nothing spins, nothing is lost, and the condition is reported.

use std::sync::Arc;

use http::Method;
use interlingua_testkit::{Disk, DiskFault, Hub, HubBuilder, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{builder, logged, send, until};

/// A hub whose data directory is on a disk that can be told to fail.
pub(crate) fn on(disk: &Disk, builder: HubBuilder) -> HubBuilder {
    let environment = disk.environment();
    let spelt = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    environment.iter().fold(builder, |builder, (name, path)| builder.environment(name, &spelt(path)))
}

async fn started(yaml: &str) -> (Arc<Disk>, Hub) {
    let builder = builder().config(&format!("tools: {{ directory: ./tools }}\n{yaml}"));
    let disk = Disk::below(builder.directory());
    let hub = on(&disk, builder).start().await;
    (Arc::new(disk), hub)
}

fn steps() -> Value {
    json!({"skill": "local/steps"})
}

#[tokio::test]
async fn a_full_store_makes_the_hub_unready_until_there_is_room() {
    let (disk, hub) = started("").await;
    assert_eq!(hub.get("/readyz").await.text(), "ready\n");
    disk.begin(DiskFault::Full);
    let refused = hub.post_json("/api/tasks", &steps()).await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    let unready = hub.get("/readyz").await;
    assert_eq!(unready.status, 503, "{}", unready.text());
    assert!(unready.text().contains("the store is full"), "{}", unready.text());
    assert_eq!(hub.get("/healthz").await.status, 200, "it is alive");
    logged(&hub, &["store_full"]).await;
    disk.end(DiskFault::Full);
    // Nobody calls it: it finds out by itself.
    until("it is ready again", async || hub.get("/readyz").await.status == 200).await;
    logged(&hub, &["store_writable"]).await;
    assert_eq!(hub.post_json("/api/tasks", &steps()).await.status, 202);
}

#[tokio::test]
async fn a_store_that_failed_ends_the_hub_so_that_it_is_started_again() {
    let (disk, mut hub) = started("").await;
    let kept = hub.post_json("/api/tasks", &steps()).await.json()["id"].as_str().expect("an id").to_owned();
    disk.begin(DiskFault::Fail);
    let refused = hub.post_json("/api/tasks", &steps()).await;
    assert_eq!(refused.status, 500, "{}", refused.text());
    until("it ends", async || !hub.is_running()).await;
    let status = hub.stop().await;
    assert_eq!(status.code(), Some(1), "{status}");
    for words in [["event=", "store_failed"], ["the store failed", "start the hub again"]] {
        logged(&hub, &words).await;
    }
    disk.end(DiskFault::Fail);
    hub.restart().await;
    assert_eq!(hub.get("/readyz").await.status, 200);
    assert_eq!(hub.get(&format!("/api/tasks/{kept}")).await.status, 200, "what was confirmed is kept");
}

/// A webhook that takes an event; by then the hub cannot store that it did.
#[tokio::test]
async fn a_22_a_webhook_is_told_the_rest_after_the_store_was_full() {
    let agent = interlingua_testkit::root().join("conformance/a2a/agent.yaml");
    let agent = std::fs::read_to_string(agent).expect("the conformance agent");
    let config = "scripts: { agent: ./agent.yaml }\nfront_door: agent\na2a: { push_private_addresses: true }\n";
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("agent.yaml", agent).config(config);
    let disk = Arc::new(Disk::below(builder.directory()));
    let hub = on(&disk, builder).start().await;
    let filled = disk.clone();
    let webhook = Scripted::http(move |_, before| {
        if before == 0 {
            filled.begin(DiskFault::Full);
        }
        Say::Json(Value::Null)
    })
    .await;
    let push = json!({"taskPushNotificationConfig": {"url": format!("http://{}/hook", webhook.address())}});
    let message = json!({"messageId": "tck-complete-task-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    let params = json!({"message": message, "configuration": push});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": params});
    // Its caller may be told that the store is full: the webhook counts here.
    send(&hub, Method::POST, "/a2a", &[("a2a-version", "1.0")], Some(call)).await;
    logged(&hub, &["database or disk is full"]).await;
    until("it has heard the first event", async || !webhook.heard().is_empty()).await;
    disk.end(DiskFault::Full);
    let state = |heard: &interlingua_testkit::Heard| heard.json()["statusUpdate"]["status"]["state"].clone();
    until("it is told the end", async || {
        webhook.heard().last().is_some_and(|last| state(last) == "TASK_STATE_COMPLETED")
    })
    .await;
    let told: Vec<Value> = webhook.heard().iter().map(interlingua_testkit::Heard::json).collect();
    let mut once = told.clone();
    once.dedup();
    assert_eq!(told, once, "what was taken is not told again");
}

#[tokio::test]
async fn a_file_that_does_not_fit_is_refused_with_the_systems_word() {
    let (disk, hub) = started("").await;
    disk.begin(DiskFault::Full);
    let write = json!({"skill": "local/write_file", "arguments": {"path": "a.txt", "content": "a"}});
    let refused = hub.post_json("/api/exchanges", &write).await;
    assert!(refused.text().contains("no space left on device"), "{}", refused.text());
}

/// As the health check of a container asks: exit code and text.
fn health(hub: &Hub) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(["health", "--data"]).arg(hub.data());
    let ended = command.env_remove("INTERLINGUA_HUB").env_remove("INTERLINGUA_TOKEN").output().expect("it runs");
    (ended.status.code(), String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned())
}

#[tokio::test]
async fn health_tells_a_hub_that_is_ready_from_one_that_is_full_and_one_that_is_gone() {
    let (disk, mut hub) = started("access: { anonymous: refused }\n").await;
    assert_eq!(health(&hub), (Some(0), "ready\n".to_owned()));
    disk.begin(DiskFault::Full);
    assert_eq!(hub.post_json("/api/tasks", &steps()).await.status, 503);
    let (code, said) = health(&hub);
    assert!(code == Some(1) && said.contains("the store is full"), "{code:?} {said}");
    hub.kill_9();
    let (code, said) = health(&hub);
    assert!(code == Some(4) && said.contains("no hub runs with the data directory"), "{code:?} {said}");
}
