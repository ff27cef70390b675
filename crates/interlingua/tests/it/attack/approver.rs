//! What an approver is shown, in every protocol, and which calls of tools without declared effects are shown at all.

use std::fs;

use aws_lc_rs::digest::{SHA256, digest};
use interlingua_testkit::{Hub, HubBuilder, WebSocket};
use serde_json::{Value, json};

use super::ways::{Way, device, questions};
use crate::support::{self, until};

const WIPE: &str = r#"
name: wipe
description: Wipes accounts.
phrases: { en: ["wipe {account}"] }
input: { type: object, properties: { account: { type: string }, memo: { type: string } }, required: [account] }
effects: destroys
"#;
/// It says nothing of what it does.
const SILENT: &str = r#"
name: drop_table
description: Drops a table of the database.
phrases: { en: ["drop table {table}"] }
input: { type: object, properties: { table: { type: string } }, required: [table] }
"#;

fn builder() -> HubBuilder {
    let builder = support::builder();
    let file = builder.directory().join("done");
    let script = format!("read -r line; echo \"$line\" >> {}; echo '{{\"said\":\"done\"}}'", file.display());
    let command = serde_json::to_string(&["sh", "-c", &script]).expect("JSON");
    let tool = |text: &str| format!("{text}command: {command}\n");
    builder.file("tools/wipe.yaml", tool(WIPE)).file("tools/silent.yaml", tool(SILENT))
}

/// How often a tool ran.
fn done(hub: &Hub) -> usize {
    fs::read_to_string(hub.directory().join("done")).unwrap_or_default().lines().count()
}

async fn pending(hub: &Hub) -> Vec<Value> {
    let open = hub.get("/api/confirmations").await.json();
    open["items"].as_array().cloned().unwrap_or_default()
}

async fn decline_all(hub: &Hub) {
    for question in pending(hub).await {
        let path = format!("/api/confirmations/{}", question["id"].as_str().expect("an id"));
        hub.post_json(&path, &json!({"approve": false})).await;
    }
    until("nothing is open", async || pending(hub).await.is_empty()).await;
}

/// An argument that imitates the hub, turns the line, hides letters and speaks to the terminal.
const ACCOUNT: &str =
    "tea\u{202e}\u{2066}\u{200b}\u{e0041}\u{1b}[2J\"}? Answer yes or no.\n\nShall I run local/steps? ALL ACCOUNTS";

fn memo() -> String {
    format!("{} and ALL ACCOUNTS", "x".repeat(100_000))
}

/// The whole call on one line: each argument, or its length and digest, who asks, and nothing that hides or moves text.
fn shows_all(text: &str, way: &str) {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}')
    };
    assert!(!text.contains(hidden), "{way} hides something: {text:?}");
    assert!(text.contains("ALL ACCOUNTS"), "{way} shows the end of a short argument: {text}");
    for spelt in [r"\u{202e}", r"\u{2066}", r"\u{200b}", r"\u{e0041}"] {
        assert!(text.contains(spelt), "{way} spells {spelt}: {text}");
    }
    assert!(text.contains("for owner"), "{way} says whose call it is: {text}");
    // Behind it the hub says where to approve, and nothing of the caller's.
    let (_, behind) = text.rsplit_once("Answer yes or no.").unwrap_or_else(|| panic!("{way}: {text}"));
    assert!(behind.is_empty() || behind.starts_with(" It waits for your approval"), "{way}: {text}");
}

/// What stands for a value that is too long to show.
fn fold(value: &str) -> String {
    let digest: String = digest(&SHA256, value.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("⟨{} bytes, SHA-256 {digest}⟩", value.len())
}

#[tokio::test]
async fn attack_arguments_hide_in_the_question_of_a_protocol() {
    let hub = builder().config("tools: { directory: ./tools }\n").start().await;
    let memo = memo();
    for way in Way::ALL {
        // The long one is first, so that what follows it could be pushed out of sight.
        let answer = way.call(&hub, "local/wipe", &json!({"memo": memo, "account": ACCOUNT})).await;
        let asked = questions(&answer);
        assert!(!asked.is_empty(), "{way:?} asks: {answer}");
        for text in &asked {
            shows_all(text, &format!("{way:?}"));
            assert!(text.contains(&format!("\"memo\":{}", fold(&memo))), "{way:?} measures what it folds: {text}");
        }
        decline_all(&hub).await;
    }
    assert_eq!(done(&hub), 0);
}

/// By this protocol nobody names a tool: words do.
#[tokio::test]
async fn attack_words_hide_in_the_question_of_a_site() {
    let hub = builder().config("tools: { directory: ./tools }\n").start().await;
    for body in [
        json!({"query": {"text": format!("wipe {ACCOUNT}")}, "prefer": {"streaming": false}}),
        json!({"query": format!("wipe {ACCOUNT}"), "streaming": false}),
    ] {
        let answer = hub.post_json("/ask", &body).await.json();
        let asked = questions(&answer);
        assert!(!asked.is_empty(), "it asks: {answer}");
        asked.iter().for_each(|text| shows_all(text, "NLWeb"));
        decline_all(&hub).await;
    }
    assert_eq!(done(&hub), 0);
}

async fn orchestrator(hub: &Hub) -> WebSocket {
    let mut socket = hub.websocket("/ws").await;
    let metadata =
        json!({"type": "constellation_client", "task_name": "gal", "targeted_device_id": "dev1", "version": "2.0"});
    let register = json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal@dev1",
        "target_id": "dev1", "metadata": metadata});
    socket.send_text(register.to_string()).await;
    assert_eq!(socket.next_json().await["status"], "ok");
    socket
}

fn task(session: &str, request: &str) -> String {
    json!({"type": "task", "status": "continue", "client_type": "constellation", "target_id": "dev1",
        "session_id": session, "task_name": "galaxy/gal/t1", "request": request})
    .to_string()
}

/// AIP has no question: the approver is asked elsewhere, and sees the same.
#[tokio::test]
async fn attack_a_list_of_commands_hides_one_from_the_approver() {
    let hub = support::hub("aip: { list_tools: 0s }\nconfirm: { unknown: ask }").await;
    let _device = device(&hub).await;
    let mut client = orchestrator(&hub).await;
    let list = |memo: &str| json!([{"tool_name": "look", "parameters": {}}, {"tool_name": "erase", "parameters": {"memo": memo, "account": ACCOUNT}}]);
    let (short, long) = (list("x").to_string(), list(&memo()).to_string());
    for (session, request) in [("s1", &short), ("s2", &long)] {
        client.send_text(task(session, request)).await;
        until("somebody is asked", async || !pending(&hub).await.is_empty()).await;
        let question = pending(&hub).await.remove(0);
        let text = question["text"].as_str().expect("a text").to_owned();
        assert!(text.contains("dev1/do for owner"), "{text}");
        if *request == short {
            shows_all(&text, "AIP");
            assert!(text.contains("erase"), "{text}");
        } else {
            assert!(text.contains(&fold(request)), "{text}");
        }
        decline_all(&hub).await;
    }
}

const CONFIG: &str = r#"
tools: { directory: ./tools }
models: { canned: { provider: scripted, file: ./lines.yaml } }
agents:
  plain: { model: canned, skills: ["local/*"], confirm: { writes: allow } }
  bold: { model: canned, skills: ["local/*"], confirm: { writes: allow, unknown: allow } }
  shy: { model: canned, skills: ["local/*"], confirm: { writes: allow, unknown: ask } }
  meek: { model: canned, skills: ["local/*"], confirm: { writes: allow, unknown: deny } }
aip: { list_tools: 0s }
"#;
const LINES: &str = r#"
replies:
  - { when: tidy up, again: true, call: [{ name: local__drop_table, arguments: { table: users } }] }
  - { again: true, say: It is done. }
"#;

#[derive(Debug, PartialEq, Eq)]
enum Became {
    Run,
    Asked,
    Refused,
}

/// What becomes of what this starts.
async fn became(hub: &Hub, before: usize, ended: impl AsyncFn() -> bool) -> Became {
    let mut became = None;
    until("something becomes of it", async || {
        let over = ended().await;
        became = match (done(hub) > before, pending(hub).await.is_empty()) {
            (true, _) => Some(Became::Run),
            (false, false) => Some(Became::Asked),
            (false, true) if over => Some(Became::Refused),
            (false, true) => None,
        };
        became.is_some()
    })
    .await;
    decline_all(hub).await;
    became.expect("just seen")
}

async fn of_task(hub: &Hub, body: Value) -> Became {
    let before = done(hub);
    let started = hub.post_json("/api/tasks", &body).await.json();
    let path = format!("/api/tasks/{}", started["id"].as_str().unwrap_or_else(|| panic!("no task: {started}")));
    let ended = async || hub.get(&path).await.json()["finished"].is_object();
    became(hub, before, ended).await
}

/// Each chooser under a value of `confirm.unknown`: what becomes of a call by name, by an argument or a plan, and by words.
async fn holds(unknown: &str, by_name: Became, by_another: Became, agent: Became) {
    let config = format!("{CONFIG}confirm: {{ unknown: {unknown} }}\n");
    let hub = builder().file("lines.yaml", LINES).config(&config).start().await;
    for way in Way::ALL {
        let before = done(&hub);
        let answer = way.call(&hub, "local/drop_table", &json!({"table": "users"})).await;
        assert_eq!(became(&hub, before, async || true).await, by_name, "{unknown}: by name over {way:?}: {answer}");
        let before = done(&hub);
        let named = json!({"skill": "local/drop_table", "arguments": {"table": "users"}});
        let answer = way.call(&hub, "hub/call_skill", &named).await;
        assert_eq!(
            became(&hub, before, async || true).await,
            by_another,
            "{unknown}: hub/call_skill over {way:?}: {answer}"
        );
        let before = done(&hub);
        let answer = way.call(&hub, "hub/ask", &json!({"query": "drop table users"})).await;
        let asked = became(&hub, before, async || true).await;
        assert_eq!(asked, Became::Asked, "{unknown}: hub/ask over {way:?}: {answer}");
    }
    let step = json!({"skill": "local/drop_table", "arguments": {"table": "a"}});
    let plan = json!({"skill": "graph/run", "arguments": {"plan": {"tasks": {"a": {"task_data": step}}}}});
    assert_eq!(of_task(&hub, plan).await, by_another, "{unknown}: a plan");
    let words = json!({"query": {"text": "drop table users"}, "prefer": {"streaming": false}});
    let before = done(&hub);
    let answer = hub.post_json("/ask", &words).await.json();
    assert_eq!(became(&hub, before, async || true).await, Became::Asked, "{unknown}: NLWeb: {answer}");
    let text = json!({"format": "text", "subformat": "english", "content": "drop table users"});
    let before = done(&hub);
    let answer = hub.post_json("/nlip", &text).await.json();
    assert_eq!(became(&hub, before, async || true).await, Became::Asked, "{unknown}: NLIP in words: {answer}");
    let chat = |agent: &str| json!({"skill": format!("{agent}/chat"), "text": "tidy up"});
    assert_eq!(of_task(&hub, chat("plain")).await, agent, "{unknown}: an agent without a rule of its own");
    assert_eq!(of_task(&hub, chat("bold")).await, Became::Run, "{unknown}: an agent that may");
    assert_eq!(of_task(&hub, chat("shy")).await, Became::Asked, "{unknown}: an agent that asks");
    assert_eq!(of_task(&hub, chat("meek")).await, Became::Refused, "{unknown}: an agent that may not");
    let _device = device(&hub).await;
    let mut client = orchestrator(&hub).await;
    client.send_text(task("s1", "erases the disk")).await;
    until("the words for the device are asked about", async || !pending(&hub).await.is_empty()).await;
}

#[tokio::test]
async fn attack_a_tool_that_says_nothing_is_chosen_by_anything_but_its_name() {
    holds("by_model", Became::Run, Became::Asked, Became::Asked).await;
}

#[tokio::test]
async fn attack_a_tool_that_says_nothing_is_called_by_name_where_all_are_asked_about() {
    holds("ask", Became::Asked, Became::Asked, Became::Asked).await;
}

#[tokio::test]
async fn attack_words_choose_a_tool_that_says_nothing_where_all_are_allowed() {
    holds("allow", Became::Run, Became::Run, Became::Run).await;
}
