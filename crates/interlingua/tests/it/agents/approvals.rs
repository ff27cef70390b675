//! An agent calls a dangerous skill: its caller is asked in its own protocol, and the approval is for exactly that call, once. If a
//! protocol cannot carry the question, the approval comes by another endpoint.

use std::fs;
use std::process::{Command, Output};

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::told;
use crate::mcp::Modern;
use crate::support::{self, reaches, send, start, until};

/// Writes down what it wiped, and says it.
const WIPE: &str = r#"
name: wipe
description: Wipes something.
input: { type: object, properties: { what: { type: string } }, required: [what] }
effects: { destroys: true }
"#;

const LINES: &str = r#"
replies:
  - { when: tidy up, again: true, call: [{ name: local__wipe, arguments: { what: disk } }] }
  - { when: denied, again: true, say: Then not. }
  - { when: gone, again: true, say: It is gone. }
"#;

async fn hub_with(lines: &str) -> Hub {
    let builder = support::builder();
    let file = builder.directory().join("wiped");
    let script = format!("read -r line; echo \"$line\" >> {}; echo \"{{\\\"gone\\\":$line}}\"", file.display());
    let command = serde_json::to_string(&["sh", "-c", &script]).expect("JSON");
    let config = "tools: { directory: ./tools }\nmodels: { canned: { provider: scripted, file: ./lines.yaml } }\n\
                  agents: { ann: { model: canned, skills: [\"local/wipe\"] } }\nfront_door: ann\n";
    let builder = builder.file("tools/wipe.yaml", format!("{WIPE}command: {command}\n")).file("lines.yaml", lines);
    builder.config(config).start().await
}

async fn hub() -> Hub {
    hub_with(LINES).await
}

/// What was wiped, in its order.
fn wiped(hub: &Hub) -> Vec<String> {
    let text = fs::read_to_string(hub.directory().join("wiped")).unwrap_or_default();
    let what = |line: &str| serde_json::from_str::<Value>(line).ok()?["what"].as_str().map(str::to_owned);
    text.lines().filter_map(what).collect()
}

async fn program(hub: &Hub, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(arguments).args(["--hub", &hub.url("")]);
    command.env("INTERLINGUA_TOKEN", hub.token().expect("a token")).env_remove("INTERLINGUA_HUB");
    tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("ran")
}

#[tokio::test]
async fn by_the_command_line() {
    let hub = hub().await;
    let asked = program(&hub, &["ask", "--peer", "ann", "tidy up"]).await;
    let told_how = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert_eq!(asked.status.code(), Some(5), "{told_how}");
    assert!(told_how.contains("It waits for your approval at "), "whose agent it is may approve: {told_how}");
    let question = told_how.split("\n  interlingua approve ").nth(1).and_then(|rest| rest.split(' ').next());
    let question = question.unwrap_or_else(|| panic!("it says how: {told_how}")).to_owned();
    assert!(wiped(&hub).is_empty(), "nothing happens before the yes");
    assert!(program(&hub, &["approve", &question]).await.status.success());
    reaches(&hub, question.split('.').next().expect("its task"), "completed").await;
    assert_eq!(wiped(&hub), ["disk"]);
    assert_eq!(program(&hub, &["approve", &question]).await.status.code(), Some(2), "a yes counts once");
}

#[tokio::test]
async fn in_nlip() {
    let hub = hub().await;
    let say = async |text: &str, token: Option<Value>| {
        let mut message = json!({"format": "text", "subformat": "english", "content": text});
        if let Some(token) = token {
            message["submessages"] = json!([token]);
        }
        hub.post_json("/agents/ann/nlip", &message).await.json()
    };
    let asked = say("tidy up", None).await;
    assert!(asked.to_string().contains("disk"), "the very call is shown: {asked}");
    let parts = asked["submessages"].as_array().cloned().unwrap_or_default();
    let token = parts.into_iter().find(|part| part["format"] == "token").expect("a token of the conversation");
    let done = say("yes", Some(token)).await;
    assert_eq!((done["content"].as_str(), wiped(&hub)), (Some("It is gone."), vec!["disk".to_owned()]), "{done}");
}

#[tokio::test]
async fn in_mcp() {
    let hub = hub().await;
    let client = Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(&hub) };
    let call = json!({"name": "ann__chat", "arguments": {"message": "tidy up"}});
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (key, _) = asked["inputRequests"].as_object().and_then(|requests| requests.iter().next()).expect("a request");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "accept", "content": {"approve": true}}});
    let done = client.result("tools/call", again).await;
    assert_eq!((done["content"][0]["text"].as_str(), wiped(&hub).len()), (Some("It is gone."), 1), "{done}");
}

#[tokio::test]
async fn in_a2a() {
    let hub = hub().await;
    let say = async |id: &str, text: &str, task: &Value| {
        let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
        if task.is_object() {
            message["taskId"] = task["id"].clone();
            message["contextId"] = task["contextId"].clone();
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        let answer = send(&hub, Method::POST, "/agents/ann/a2a", &[("a2a-version", "1.0")], Some(body)).await;
        answer.json()["result"]["task"].clone()
    };
    let asked = say("m1", "tidy up", &Value::Null).await;
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{asked}");
    let done = say("m2", "yes", &asked).await;
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert!(done.to_string().contains("It is gone."), "{done}");
    assert_eq!(wiped(&hub), ["disk"]);
}

#[tokio::test]
async fn in_nlweb() {
    let hub = hub().await;
    let ask = async |text: &str, more: Value| -> Answer {
        let mut body = json!({"query": {"text": text}, "prefer": {"streaming": false}});
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        hub.post_json("/agents/ann/ask", &body).await
    };
    let asked = ask("tidy up", json!({})).await.json();
    assert_eq!(asked["_meta"]["response_type"], "elicitation", "{asked}");
    let session = asked["_meta"]["session_context"].clone();
    let done = ask("yes", json!({"meta": {"session_context": session}})).await.text();
    assert!(done.contains("It is gone."), "{done}");
    assert_eq!(wiped(&hub), ["disk"]);
}

#[tokio::test]
async fn in_the_routing_envelope() {
    let hub = hub().await;
    let request = |id: &str| json!({"control": {"message_type": "request", "message_id": id}, "content": {}});
    let mut said = request("e1");
    said["content"] = json!({"messages": [{"role": "user", "content": "tidy up"}]});
    let asked = hub.post_json("/nlip/route", &said).await.json();
    let confirmation = asked.as_array().and_then(|all| all.last()).map(|last| &last["metadata"]["confirmation"]["id"]);
    let confirmation = confirmation.filter(|id| id.is_string()).unwrap_or_else(|| panic!("no confirmation: {asked}"));
    let mut yes = request("e2");
    yes["metadata"] = json!({"confirmation": {"id": confirmation, "approve": true}});
    let done = hub.post_json("/nlip/route", &yes).await.text();
    assert!(done.contains("It is gone."), "{done}");
    assert_eq!(wiped(&hub), ["disk"]);
}

/// The open question of a task.
async fn question(hub: &Hub, task: &str, about: &str) -> Value {
    let mut found = Value::Null;
    until("a question", async || {
        found = hub.get(&format!("/api/tasks/{task}")).await.json()["questions"][0].clone();
        found.to_string().contains(about)
    })
    .await;
    found
}

async fn answer(hub: &Hub, task: &str, question: &Value, approve: bool) -> u16 {
    let answer = json!({"answer": {"question": question["id"], "approve": approve}});
    hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await.status
}

#[tokio::test]
async fn an_aip_orchestrator_waits_while_somebody_else_says_yes() {
    let hub = hub().await;
    let mut socket = hub.websocket("/ws").await;
    let register = json!({
        "type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal@ann", "target_id": "ann",
        "metadata": {"type": "constellation_client", "task_name": "gal", "targeted_device_id": "ann", "version": "2.0"},
    });
    let task = json!({
        "type": "task", "status": "continue", "client_type": "constellation", "target_id": "ann",
        "session_id": "gal@t1", "task_name": "gal", "request": "tidy up",
    });
    socket.send_text(register.to_string()).await;
    socket.send_text(task.to_string()).await;
    let mut waiting = Value::Null;
    until("somebody is asked", async || {
        waiting = hub.get("/api/confirmations").await.json()["items"][0].clone();
        !waiting.is_null()
    })
    .await;
    let path = format!("/api/confirmations/{}", waiting["id"].as_str().expect("an id"));
    hub.post_json(&path, &json!({"approve": true})).await;
    let end = loop {
        let message = socket.next_data().await;
        let frame: Value = serde_json::from_str(message.as_text().expect("text")).expect("JSON");
        if frame["type"] == "task_end" {
            break frame;
        }
    };
    assert!(end["status"] == "completed" && end["result"].to_string().contains("It is gone."), "{end}");
    assert_eq!(wiped(&hub), ["disk"]);
}

/// The first yes is for the disk; the backup needs one of its own, and the old one cannot be used for it.
#[tokio::test]
async fn a_yes_is_for_one_call_with_its_arguments_and_is_used_up() {
    let lines = r#"
replies:
  - { when: tidy up, call: [{ name: local__wipe, arguments: { what: disk } }] }
  - { when: '"disk"', call: [{ name: local__wipe, arguments: { what: backup } }] }
  - { when: denied, say: The backup stays. }
"#;
    let hub = hub_with(lines).await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "tidy up"})).await;
    let first = question(&hub, &task, "disk").await;
    assert!(answer(&hub, &task, &first, true).await < 300);
    let second = question(&hub, &task, "backup").await;
    assert_ne!(first["id"], second["id"]);
    assert!(answer(&hub, &task, &first, true).await >= 400, "the first yes is spent");
    assert_eq!(wiped(&hub), ["disk"]);
    assert!(answer(&hub, &task, &second, false).await < 300);
    reaches(&hub, &task, "completed").await;
    assert_eq!((told(&hub, &task).await.as_str(), wiped(&hub).len()), ("The backup stays.", 1));
}

/// The run asks its caller, its call asks the approvers: each names the other, and the answer to either settles both.
#[tokio::test]
async fn the_two_questions_about_one_call_name_each_other_and_one_answer_settles_both() {
    let hub = hub().await;
    for answers_the_run in [true, false] {
        let run = start(&hub, json!({"skill": "ann/chat", "text": "tidy up"})).await;
        let asked = question(&hub, &run, "disk").await;
        let mut open = Vec::new();
        until("both are listed", async || {
            open = hub.get("/api/confirmations").await.json()["items"].as_array().cloned().unwrap_or_default();
            open.len() == 2
        })
        .await;
        let is_run = |question: &&Value| question["id"] == asked["id"];
        let of_run = open.iter().find(is_run).unwrap_or_else(|| panic!("the run asks: {open:?}"));
        let of_call = open.iter().find(|question| !is_run(question)).expect("two of them");
        assert_eq!((&of_run["twin"], &of_call["twin"]), (&of_call["id"], &of_run["id"]), "{open:?}");
        assert_eq!(of_run["call"], of_call["call"], "the same call: {open:?}");
        // Who decides on the command line is shown it once.
        let listed = program(&hub, &["approve"]).await;
        let table = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert_eq!(table.matches("local/wipe").count(), 1, "{table}");
        let decided = if answers_the_run { of_run } else { of_call };
        let path = format!("/api/confirmations/{}", decided["id"].as_str().expect("an id"));
        assert_eq!(hub.get(&path).await.json()["twin"], decided["twin"], "also when it is read alone");
        assert_eq!(hub.post_json(&path, &json!({"approve": true})).await.status, 200);
        reaches(&hub, &run, "completed").await;
        assert_eq!(hub.get("/api/confirmations").await.json()["items"], json!([]), "both are settled");
        // The next time both show what was approved, whichever was answered.
        let last = |question: &Value| question["last"].clone();
        match answers_the_run {
            true => assert!(last(of_run).is_null() && last(of_call).is_null(), "the first time: {open:?}"),
            false => {
                assert_eq!(last(of_run), last(of_call), "{open:?}");
                assert_eq!(last(of_run)["arguments"], json!({"what": "disk"}), "{open:?}");
            }
        }
    }
    assert_eq!(wiped(&hub), ["disk", "disk"]);
}

/// Calls with the same arguments have the same digest; each pair is still its own.
#[tokio::test]
async fn equal_calls_of_two_runs_are_not_taken_for_one() {
    let hub = hub().await;
    for _ in 0..2 {
        let run = start(&hub, json!({"skill": "ann/chat", "text": "tidy up"})).await;
        question(&hub, &run, "disk").await;
    }
    let mut open = Vec::new();
    until("all four are listed", async || {
        open = hub.get("/api/confirmations").await.json()["items"].as_array().cloned().unwrap_or_default();
        open.len() == 4
    })
    .await;
    for question in &open {
        let twin = open.iter().find(|other| other["id"] == question["twin"]).unwrap_or_else(|| panic!("{open:?}"));
        assert_eq!(twin["twin"], question["id"], "{open:?}");
    }
    let calls: std::collections::BTreeSet<&str> =
        open.iter().filter_map(|question| question["call"].as_str()).collect();
    assert_eq!(calls.len(), 1, "{open:?}");
}
