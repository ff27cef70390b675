//! Clients that do not read what they are sent.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{Client, commands, constellation, device, task};
use crate::support::{builder, send, until};

/// One message is 1 MiB; of the 68 MiB that may wait for all clients a quarter may be one caller's.
const CONFIG: &str = "
tools: { directory: ./tools }
limits: { body: 1MiB }
aip: { list_tools: 0s, heartbeat: 10m }
confirm: { unknown: allow }
access:
  tokens:
    - { name: ann, token: ilg_ann, skills: [anns/*, busy/*], register: true }
    - { name: bob, token: ilg_bob, skills: [busy/*], register: true }
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

#[tokio::test]
async fn attack_an_orchestrator_has_large_results_sent_and_does_not_read_them() {
    let hub = hub().await;
    let mut busy = connected(&hub, "bob", device("busy")).await;
    let mut ann = connected(&hub, "ann", constellation("gal@busy", "busy")).await;
    for number in 0..MANY {
        ann.say(task("busy", &format!("s{number}"), &commands(&["look"]))).await;
    }
    let large = "x".repeat(LARGE);
    let (mut answered, mut over) = (0, 0);
    while over < MANY {
        let frame = busy.hear().await;
        match frame["type"].as_str() {
            Some("command") => {
                let call = &frame["actions"][0]["call_id"];
                let result =
                    json!([{"status": "success", "error": null, "result": large, "namespace": "T", "call_id": call}]);
                busy.results(&frame, result).await;
                answered += 1;
            }
            Some("task_end") => over += 1,
            _ => {}
        }
    }
    // The device reads, so it stays, whatever else waits.
    busy.is_quiet("device").await;
    let told = rest(&mut ann).await;
    let ends = of_kind(&told, "task_end");
    assert!(ends < MANY, "{ends} of {answered} results waited for a client that does not read");
}

#[tokio::test]
async fn attack_a_device_is_sent_large_arguments_and_does_not_read_them() {
    let hub = hub().await;
    let mut anns = connected(&hub, "ann", device("anns")).await;
    let ann = [("x-api-key", "ilg_ann")];
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
