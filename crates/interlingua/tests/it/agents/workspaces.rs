//! Members of a team that use files: each works in a directory of its own, reads the files behind others' answers under labels, and only
//! the presenting member writes the shared directories.

use std::fs;
use std::path::PathBuf;

use interlingua_testkit::{Hub, HubBuilder};
use serde_json::{Value, json};

use super::told;
use crate::support::{self, reaches, start, until};

/// Writes a file, tries to write where all read, answers; then reads the other's file and votes for the other.
const ANN: &str = r#"
replies:
  - { when: "Answer agent2.", again: true, call: [{ name: local__read_file, arguments: { path: answers/1/agent2.1/plan.txt } }] }
  - { when: the plan of bob, again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: I read its plan } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - when: There are no answers yet
    call:
      - { name: local__write_file, arguments: { path: plan.txt, content: the plan of ann } }
      - { name: local__write_file, arguments: { path: shared/early.txt, content: too early } }
      - { name: local__write_file, arguments: { path: answers/mine.txt, content: not mine } }
  - { when: read-only, call: [{ name: new_answer, arguments: { content: "It is in plan.txt, says one." } }] }
"#;

/// The same, votes for itself, and writes the result where all can read it.
const BOB: &str = r#"
replies:
  - { when: You received, call: [{ name: local__write_file, arguments: { path: shared/result.txt, content: the result } }] }
  - { when: created shared/result.txt, say: The result is written. }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: mine } }] }
  - { when: There are no answers yet, call: [{ name: local__write_file, arguments: { path: plan.txt, content: the plan of bob } }] }
  - { when: created plan.txt, call: [{ name: new_answer, arguments: { content: "It is in plan.txt, says the other." } }] }
"#;

const CONFIG: &str = r#"
tools: { workspace: ./common }
models:
  of_ann: { provider: scripted, file: ./ann.yaml }
  of_bob: { provider: scripted, file: ./bob.yaml }
agents:
  ann: { model: of_ann, skills: ["local/*"], confirm: { writes: allow } }
  bob: { model: of_bob, skills: ["local/*"], confirm: { writes: allow } }
teams:
  panel: { agents: [ann, bob] }
"#;

fn builder() -> HubBuilder {
    support::builder().file("ann.yaml", ANN).file("bob.yaml", BOB).config(CONFIG)
}

async fn begun(hub: &Hub) -> String {
    start(hub, json!({"skill": "panel/chat", "text": "What is the plan?"})).await
}

/// Who presents has read others' words, so what it writes needs a human yes.
async fn approve(hub: &Hub) {
    let mut waiting = Value::Null;
    until("a confirmation", async || {
        waiting = hub.get("/api/confirmations").await.json()["items"][0].clone();
        !waiting.is_null()
    })
    .await;
    let path = format!("/api/confirmations/{}", waiting["id"].as_str().expect("an id"));
    let decided = hub.post_json(&path, &json!({"approve": true})).await;
    assert!(decided.status < 300, "{}", decided.text());
}

fn behind(hub: &Hub, task: &str, label: &str) -> PathBuf {
    hub.data().join("teams").join(task).join("answers/1").join(label)
}

#[tokio::test]
async fn s_01_s_04_each_member_writes_its_own_files_reads_others_and_only_the_winner_writes_what_is_shared() {
    let hub = builder().start().await;
    let task = begun(&hub).await;
    approve(&hub).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "The result is written.");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    assert_eq!(read(behind(&hub, &task, "agent1.1/plan.txt")), "the plan of ann");
    assert_eq!(read(behind(&hub, &task, "agent2.1/plan.txt")), "the plan of bob");
    let common = hub.directory().join("common");
    assert_eq!(read(common.join("result.txt")), "the result");
    assert!(!common.join("early.txt").exists() && !common.join("plan.txt").exists());
    // Ann voted by what she had read of the other.
    let steps = hub.get(&format!("/api/tasks/{task}/timeline?limit=200")).await.json();
    assert!(steps.to_string().contains("I read its plan"), "{steps}");
}

#[tokio::test]
async fn c_04_files_behind_an_answer_outlive_kill_9_and_are_read_by_who_comes_later() {
    let slow = ANN.replacen("replies:\n", "replies:\n  - { events: [{ wait: 600000 }] }\n", 1);
    let mut hub = builder().file("ann.yaml", slow).start().await;
    let task = begun(&hub).await;
    let kept = behind(&hub, &task, "agent2.1/plan.txt");
    until("bob's files are kept", async || kept.exists()).await;
    // The script of a hub that starts again begins anew: without its first, endless line.
    hub.write("ann.yaml", ANN);
    hub.restart().await;
    approve(&hub).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "The result is written.");
    let steps = hub.get(&format!("/api/tasks/{task}/timeline?limit=200")).await.json();
    assert!(steps.to_string().contains("I read its plan"), "{steps}");
}

#[tokio::test]
async fn c_18_a_team_that_is_cancelled_keeps_the_files_there_are_answered_for_or_not() {
    let slow = ANN.replace(
        "{ when: read-only, call:",
        "{ when: read-only, events: [{ wait: 600000 }] }\n  - { when: never, call:",
    );
    let hub = builder().file("ann.yaml", slow).start().await;
    let task = begun(&hub).await;
    let run = hub.data().join("teams").join(&task);
    let (partial, kept) = (run.join("members/agent1/plan.txt"), behind(&hub, &task, "agent2.1/plan.txt"));
    until("both have written", async || partial.exists() && kept.exists()).await;
    hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"cancel": true})).await;
    reaches(&hub, &task, "cancelled").await;
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap_or_default();
    assert_eq!((read(&partial).as_str(), read(&kept).as_str()), ("the plan of ann", "the plan of bob"));
}

#[tokio::test]
async fn a_team_can_be_told_to_work_in_one_place() {
    let config = CONFIG.replace("agents: [ann, bob] }", "agents: [bob], workspaces: shared, ending: reuse }");
    let lines = BOB.replace("agent_id: agent2", "agent_id: agent1");
    let hub = support::builder().file("ann.yaml", ANN).file("bob.yaml", lines).config(&config).start().await;
    let task = begun(&hub).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(fs::read_to_string(hub.directory().join("common/plan.txt")).expect("a file"), "the plan of bob");
    assert!(!hub.data().join("teams").exists());
}
