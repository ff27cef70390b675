//! The hub is killed with -9 while an agent works. Its work is resumed; a call with effects is not made twice.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use interlingua_testkit::Hub;
use serde_json::json;

use super::told;
use crate::support::{reaches, start, until};

/// Writes a line each time it runs, then takes a while.
const NOTE: &str = "name: note\ndescription: Writes a line.\neffects: { writes: true }\ntimeout: 30s\n";

pub(super) const LINES: &str = r#"
replies:
  - { when: write it down, say: "I write it down. ", call: [{ name: local__note }] }
  - { when: may have happened, say: It may be written. }
  - { when: written, say: It is written. }
"#;

const CONFIG: &str = r#"
tools: { directory: ./tools }
models: { canned: { provider: scripted, file: ./lines.yaml } }
agents: { ann: { model: canned, skills: ["local/*"], confirm: { writes: allow } } }
"#;

pub(super) async fn hub(pause: &str) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let notes = builder.directory().join("notes");
    let program =
        format!("#!/bin/sh\necho noted >> '{}'\nsleep {pause}\necho '{{\"note\":\"written\"}}'\n", notes.display());
    let builder = builder.file("tools/note/tool.yaml", NOTE).file("tools/note/note", program);
    let program = builder.directory().join("tools/note/note");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("may be run");
    builder.file("lines.yaml", LINES).config(CONFIG).start().await
}

fn notes(hub: &Hub) -> usize {
    fs::read_to_string(hub.directory().join("notes")).map(|text| text.lines().count()).unwrap_or(0)
}

#[tokio::test]
async fn a_call_with_effects_that_was_under_way_is_not_made_again() {
    let mut hub = hub("20").await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "write it down"})).await;
    until("the tool runs", async || notes(&hub) == 1).await;
    hub.restart().await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It may be written.", "the model is told");
    assert_eq!(notes(&hub), 1);
}

#[tokio::test]
async fn a_run_that_was_asked_for_a_yes_still_waits_after_a_restart_and_goes_on() {
    let mut hub = hub("0").await;
    hub.write("interlingua.yaml", CONFIG.replace("writes: allow", "writes: ask"));
    hub.restart().await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "write it down"})).await;
    let asked = async |hub: &Hub| hub.get(&format!("/api/tasks/{task}")).await.json()["questions"][0]["id"].clone();
    until("the question", async || asked(&hub).await.is_string()).await;
    hub.restart().await;
    until("the question again", async || asked(&hub).await.is_string()).await;
    let question = asked(&hub).await;
    let answer = json!({"answer": {"question": question, "approve": true}});
    let taken = hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
    assert!(taken.status < 300, "{}", taken.text());
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is written.");
    assert_eq!(notes(&hub), 1);
}

#[tokio::test]
async fn a_result_is_written_while_the_model_thinks_about_it_and_its_call_is_not_made_again() {
    let mut hub = hub("0").await;
    hub.write("lines.yaml", LINES.replace("say: It is written.", "events: [{ wait: 3600000 }]"));
    hub.restart().await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "write it down"})).await;
    let mut steps = Vec::new();
    until("the result", async || {
        let timeline = hub.get(&format!("/api/tasks/{task}/timeline?limit=100")).await.json();
        let items = timeline["items"].as_array().cloned().unwrap_or_default();
        steps = items.iter().map(|item| item["step"].as_str().unwrap_or_default().to_owned()).collect();
        steps.iter().any(|step| step == "returned")
    })
    .await;
    assert_eq!(steps, ["begun", "thought", "called", "returned"], "nothing is kept back, and nothing is written twice");
    hub.write("lines.yaml", LINES);
    hub.restart().await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is written.");
    assert_eq!(notes(&hub), 1);
}
