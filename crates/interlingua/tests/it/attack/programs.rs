//! Programs that the hub starts leave nothing behind, not even a process that has left its group and its parent.

use std::path::Path;

use http::Method;
use interlingua_testkit::{Hub, HubBuilder};
use serde_json::{Value, json};

use crate::support::{builder, send, start, until};

/// Starts a process in a session of its own whose parent ends at once, and says its id in a file.
const STRAY: &str =
    "setsid sh -c 'sleep 4321 & echo $! > strays.new; mv strays.new stray.$!' < /dev/null > /dev/null 2>&1";

fn tool(name: &str, script: &str, more: &str) -> String {
    let command = json!(["sh", "-c", script]);
    format!(
        "name: {name}\ndescription: Leaves a process behind.\neffects: {{ reads: true, idempotent: true }}\ncommand: {command}\n{more}\n"
    )
}

fn with_tools() -> HubBuilder {
    builder()
        .file("tools/leaves.yaml", tool("leaves", &format!("{STRAY}; echo '\"done\"'"), ""))
        .file("tools/stays.yaml", tool("stays", &format!("{STRAY}; exec sleep 600"), "timeout: 5m"))
        .file("tools/late.yaml", tool("late", &format!("{STRAY}; exec sleep 600"), "timeout: 2s"))
        .config("tools: { directory: ./tools }\n")
}

/// The processes that were left in this folder, in the order of their ids.
fn strays(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut ids: Vec<String> =
        names.filter_map(|name| name.to_str()?.strip_prefix("stray.").map(str::to_owned)).collect();
    ids.sort();
    ids
}

/// Not a zombie that nobody has waited for yet, and no other that was given the id since.
fn alive(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.contains("(sleep)") && !state.contains(") Z ")
}

async fn gone(ids: &[String]) {
    assert!(!ids.is_empty(), "the attack happened");
    until("what was left behind is gone", async || !ids.iter().any(|id| alive(id))).await;
}

/// So many processes were left behind, and run.
async fn left(folder: &Path, many: usize) -> Vec<String> {
    until("the processes run", async || strays(folder).len() == many && strays(folder).iter().all(|id| alive(id)))
        .await;
    strays(folder)
}

async fn called(hub: &Hub, skill: &str) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": {}})).await.json()
}

async fn cancelled(hub: &Hub, task: &str) {
    let bearer = format!("Bearer {}", hub.token().expect("the Owner's"));
    let answer = send(hub, Method::DELETE, &format!("/api/tasks/{task}"), &[("authorization", &bearer)], None).await;
    assert!((200..300).contains(&answer.status), "{}", answer.text());
}

#[tokio::test]
async fn attack_a_tool_leaves_a_process_behind_after_its_call() {
    let hub = with_tools().start().await;
    let ended = called(&hub, "local/leaves").await;
    assert_eq!(ended["finished"]["outcome"], "completed", "{ended}");
    gone(&strays(&hub.directory().join("tools"))).await;
}

#[tokio::test]
async fn attack_a_tool_leaves_a_process_behind_after_its_time_is_up() {
    let hub = with_tools().start().await;
    let ended = called(&hub, "local/late").await;
    assert!(ended.to_string().contains("deadline"), "{ended}");
    gone(&strays(&hub.directory().join("tools"))).await;
}

/// Calls of one tool that run at the same time have nothing of one another.
#[tokio::test]
async fn attack_a_tool_leaves_a_process_behind_after_a_cancel() {
    let mut hub = with_tools().start().await;
    let folder = hub.directory().join("tools");
    let first = start(&hub, json!({"skill": "local/stays", "arguments": {}})).await;
    let one = left(&folder, 1).await;
    start(&hub, json!({"skill": "local/stays", "arguments": {}})).await;
    let both = left(&folder, 2).await;
    cancelled(&hub, &first).await;
    gone(&one).await;
    let other: Vec<String> = both.into_iter().filter(|id| !one.contains(id)).collect();
    called(&hub, "local/leaves").await;
    assert!(other.iter().all(|id| alive(id)), "it is another call's, which goes on");
    hub.stop().await;
    gone(&other).await;
}

#[tokio::test]
async fn attack_a_tool_leaves_a_process_behind_after_the_hub_has_stopped() {
    let mut hub = with_tools().start().await;
    start(&hub, json!({"skill": "local/stays", "arguments": {}})).await;
    let ids = left(&hub.directory().join("tools"), 1).await;
    assert!(hub.stop().await.success());
    gone(&ids).await;
}

#[tokio::test]
async fn attack_an_mcp_server_leaves_a_process_behind_after_the_hub_has_stopped() {
    let script = json!(["-c", format!("{STRAY}; exec sleep 600")]);
    let mut hub =
        builder().config(&format!("peers: {{ near: {{ mcp: {{ command: sh, args: {script} }} }} }}\n")).start().await;
    let ids = left(hub.directory(), 1).await;
    hub.stop().await;
    gone(&ids).await;
}
