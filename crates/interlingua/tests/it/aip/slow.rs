//! Clients that do not read what they are sent.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{Client, constellation, device, task};
use crate::support::{builder, logged, send, until};

/// One message is 1 MiB; of the 68 MiB that may wait for all clients a quarter may be one caller's.
const CONFIG: &str = "
tools: { directory: ./tools }
limits: { body: 1MiB }
aip: { list_tools: 0s, heartbeat: 10m }
confirm: { unknown: allow }
access:
  tokens:
    - { name: ann, token: ilg_ann, skills: [anns/*, local/*], register: true }
";
/// Bytes of each result or argument.
const LARGE: usize = 900 * 1024;
/// More than waits for one caller and fits into the buffers of a connection together.
const MANY: usize = 60;

async fn hub() -> Hub {
    builder().config(CONFIG).start().await
}

async fn connected(hub: &Hub, who: &str, register: Value) -> Client {
    Client::registered(hub, &format!("/ws?token=ilg_{who}"), register).await
}

/// The rest of what was sent, up to the end of the connection.
async fn rest(client: &mut Client) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(message) = client.socket.next().await {
        if let Some(text) = message.as_text() {
            all.push(serde_json::from_str(text).expect("JSON"));
        }
    }
    all
}

fn of_kind(frames: &[Value], kind: &str) -> usize {
    frames.iter().filter(|frame| frame["type"] == kind).count()
}

/// Gives a large result as soon as it may.
const GROW: &str = r#"
name: grow
description: Grows.
phrases: { en: [please grow] }
effects: { reads: true, idempotent: true }
parallel: 60
command: [sh, -c, 'until [ -e "$0/go" ]; do sleep 0.1; done; printf "{\"x\":\"%0900000d\"}" 0', DIRECTORY]
"#;

#[tokio::test]
async fn attack_an_orchestrator_has_large_results_sent_and_does_not_read_them() {
    let builder = builder();
    let directory = builder.directory().to_owned();
    let grow = GROW.replace("DIRECTORY", &directory.display().to_string());
    let hub = builder.file("tools/grow.yaml", grow).config(CONFIG).start().await;
    let mut ann = connected(&hub, "ann", constellation("gal@local", "local")).await;
    for number in 0..MANY {
        ann.say(task("local", &format!("s{number}"), "please grow")).await;
        ann.hear_a("heartbeat").await;
    }
    std::fs::write(directory.join("go"), "").expect("a file");
    // Nothing is read until the hub has had enough of it.
    logged(&hub, &["slow_client"]).await;
    let told = rest(&mut ann).await;
    let ends = of_kind(&told, "task_end");
    assert!(ends < MANY, "{ends} of {MANY} results waited for a client that does not read");
}

#[tokio::test]
async fn attack_a_device_is_sent_large_arguments_and_does_not_read_them() {
    let hub = hub().await;
    let mut anns = connected(&hub, "ann", device("anns")).await;
    let ann = [("authorization", "Bearer ilg_ann")];
    let large = json!([{"tool_name": "keep", "parameters": {"text": "x".repeat(LARGE)}}]).to_string();
    let mut tasks = Vec::new();
    for _ in 0..MANY {
        let body = json!({"skill": "anns/do", "arguments": {"request": large}});
        let begun = send(&hub, Method::POST, "/api/tasks", &ann, Some(body)).await.json();
        match begun["id"].as_str() {
            Some(id) => tasks.push(id.to_owned()),
            // It was let go meanwhile.
            None => break,
        }
    }
    for id in &tasks {
        let mut last = json!(null);
        until("the end of a task whose device does not read", async || {
            last = send(&hub, Method::GET, &format!("/api/tasks/{id}"), &ann, None).await.json();
            last["finished"].is_object()
        })
        .await;
        let kind = last["finished"]["fault"]["kind"].as_str().unwrap_or_default();
        assert!(["outcome_unknown", "unreachable"].contains(&kind), "{last}");
    }
    let told = rest(&mut anns).await;
    let commands = of_kind(&told, "command");
    assert!(commands > 0 && commands < tasks.len(), "{commands} of {}", tasks.len());
}
