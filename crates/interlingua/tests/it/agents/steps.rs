//! The steps of an agent and a team, as their caller sees them: each step begins, is updated and ends, once.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{builder, crash, hub, teams};
use crate::support::{self, reaches, send, start, until};

/// Takes arguments, one of which is a secret.
const COUNT: &str = r#"
name: count
description: Counts.
input: { type: object, properties: { upto: { type: integer }, api_key: { type: string } } }
effects: { reads: true, idempotent: true }
command: [sh, -c, 'echo "{\"counted\":2}"']
"#;

/// Returns much.
const LARGE: &str = r#"
name: large
description: Much.
input: { type: object, properties: { note: { type: string } } }
effects: { reads: true }
command: [sh, -c, 'printf "{\"z\":\""; head -c 100000 /dev/zero | tr "\\0" z; printf "\"}"']
"#;

/// The steps of a stream: id, state and all of it, in their order.
fn steps(stream: &str) -> Vec<(String, String, Value)> {
    let events = support::events(stream).into_iter().filter(|(name, ..)| name == "step");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    events.map(|(_, _, data)| (text(&data["id"]), text(&data["state"]), data)).collect()
}

fn is_over(state: &str) -> bool {
    ["done", "failed", "cancelled"].contains(&state)
}

/// How each step ended: exactly once, and nothing is told of it after.
fn ends(told: &[(String, String, Value)]) -> BTreeMap<String, String> {
    let mut ends: BTreeMap<String, String> = BTreeMap::new();
    for (id, state, step) in told {
        assert!(!ends.contains_key(id), "it was over: {step}");
        if is_over(state) {
            ends.insert(id.clone(), state.clone());
        }
    }
    let begun: BTreeSet<&String> = told.iter().map(|(id, ..)| id).collect();
    assert_eq!(begun, ends.keys().collect(), "all of them end: {told:?}");
    ends
}

/// The events of a task that has ended.
async fn stream(hub: &Hub, task: &str) -> String {
    let path = format!("/api/tasks/{task}/events");
    send(hub, Method::GET, &path, &[("accept", "text/event-stream")], None).await.text()
}

#[tokio::test]
async fn a_call_is_told_as_a_step_that_runs_and_is_done_with_its_arguments_and_result() {
    let lines = r#"
replies:
  - call: [{ name: local__count, arguments: { upto: 2, api_key: SWORDFISH } }, { name: local__fails }]
  - { when: out of paper, say: Done. }
"#;
    let hub = builder(lines, "").file("tools/count.yaml", COUNT).start().await;
    let body = json!({"skill": "ann/chat", "text": "count"});
    let accept = [("accept", "text/event-stream")];
    let answer = send(&hub, Method::POST, "/api/exchanges", &accept, Some(body)).await;
    let told = steps(&answer.text());
    let of = |skill: &str| told.iter().filter(|(_, _, step)| step["skill"] == skill).cloned().collect::<Vec<_>>();
    let counted = of("local/count");
    let states: Vec<&str> =
        counted.iter().map(|(_, state, _)| state.as_str()).filter(|state| *state != "pending").collect();
    assert_eq!(states, ["running", "done"], "{told:?}");
    let (_, _, done) = counted.last().expect("a step");
    assert_eq!((&done["kind"], &done["title"]), (&json!("read"), &json!("local/count")), "{done}");
    assert_eq!(done["arguments"], json!({"upto": 2, "api_key": "[secret]"}), "{done}");
    assert_eq!(done["parts"][0]["data"], json!({"counted": 2}), "{done}");
    let failed = of("local/fails");
    let (_, state, last) = failed.last().expect("a step");
    assert_eq!(state, "failed", "{last}");
    assert!(last["parts"].to_string().contains("out of paper"), "{last}");
    assert_eq!(ends(&told).len(), 2);
    let task = answer.header("location").expect("a task").rsplit('/').next().expect("its id").to_owned();
    let folded = hub.get(&format!("/api/tasks/{task}")).await.json();
    let folded: Vec<&Value> = folded["steps"].as_array().expect("steps").iter().collect();
    assert_eq!(folded, [done, last], "the task shows how they stand");
}

#[tokio::test]
async fn a_call_that_waits_for_approval_is_pending_and_one_that_is_denied_has_failed() {
    let lines = r#"
replies:
  - call: [{ name: local__erase, arguments: { what: everything } }]
  - { when: denied, say: Then not. }
"#;
    let hub = hub(lines, "").await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "erase"})).await;
    let mut seen = Value::Null;
    until("the question", async || {
        seen = hub.get(&format!("/api/tasks/{task}")).await.json();
        seen["questions"][0]["id"].is_string()
    })
    .await;
    assert_eq!(
        (&seen["steps"][0]["state"], &seen["steps"][0]["kind"]),
        (&json!("pending"), &json!("delete")),
        "{seen}"
    );
    let no = json!({"answer": {"question": seen["questions"][0]["id"], "approve": false}});
    hub.post_json(&format!("/api/tasks/{task}/signals"), &no).await;
    let ended = reaches(&hub, &task, "completed").await;
    assert_eq!(ended["steps"][0]["state"], "failed", "{ended}");
}

#[tokio::test]
async fn a_run_that_is_cancelled_cancels_the_step_that_was_under_way() {
    let lines = "replies: [{ call: [{ name: local__slow }] }]";
    let hub = hub(lines, "    confirm: { writes: allow }\n").await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "go"})).await;
    until("the step runs", async || {
        hub.get(&format!("/api/tasks/{task}")).await.json()["steps"][0]["state"] == "running"
    })
    .await;
    hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"cancel": true})).await;
    reaches(&hub, &task, "cancelled").await;
    let told = stream(&hub, &task).await;
    assert_eq!(ends(&steps(&told)).into_values().collect::<Vec<_>>(), ["cancelled"], "{told}");
    let names: Vec<String> = support::events(&told).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names.last().map(String::as_str), Some("finished"), "before the end of the task: {names:?}");
}

#[tokio::test]
async fn a_run_that_is_taken_up_after_kill_9_ends_each_of_its_steps_once() {
    let mut hub = crash::hub("3").await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "write it down"})).await;
    until("the step runs", async || {
        hub.get(&format!("/api/tasks/{task}")).await.json()["steps"][0]["state"] == "running"
    })
    .await;
    hub.kill_9();
    hub.restart().await;
    reaches(&hub, &task, "completed").await;
    let told = steps(&stream(&hub, &task).await);
    assert_eq!(ends(&told).into_values().collect::<Vec<_>>(), ["failed"], "it may have happened: {told:?}");
    assert_eq!(told.iter().filter(|(_, state, _)| state == "running").count(), 1, "{told:?}");
}

#[tokio::test]
async fn a_step_that_was_over_before_kill_9_is_not_told_again() {
    let mut hub = crash::hub("0").await;
    hub.write("lines.yaml", crash::LINES.replace("say: It is written.", "events: [{ wait: 3600000 }]"));
    hub.restart().await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "write it down"})).await;
    until("the step is done", async || {
        hub.get(&format!("/api/tasks/{task}")).await.json()["steps"][0]["state"] == "done"
    })
    .await;
    hub.write("lines.yaml", crash::LINES);
    hub.kill_9();
    hub.restart().await;
    reaches(&hub, &task, "completed").await;
    let told = steps(&stream(&hub, &task).await);
    assert_eq!(ends(&told).into_values().collect::<Vec<_>>(), ["done"], "{told:?}");
}

#[tokio::test]
async fn an_agent_that_asks_another_shows_the_steps_of_that_one_within_its_own() {
    let lines = r#"
replies:
  - { when: please, call: [{ name: bob__chat, arguments: { message: count } }] }
  - { when: It counted, say: Bob counted. }
"#;
    let bob = "replies: [{ when: count, call: [{ name: local__steps }] }, { say: It counted to two. }]";
    let config = r#"
tools: { directory: ./tools }
models: { canned: { provider: scripted, file: ./lines.yaml }, bobs: { provider: scripted, file: ./bob.yaml } }
agents:
  ann: { model: canned, skills: ["bob/*", "local/*"] }
  bob: { model: bobs, skills: ["local/*"] }
"#;
    let hub = support::builder().file("lines.yaml", lines).file("bob.yaml", bob).config(config).start().await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "please"})).await;
    let ended = reaches(&hub, &task, "completed").await;
    let told = steps(&stream(&hub, &task).await);
    assert_eq!(ends(&told).len(), 2, "{told:?}");
    let (outer, inner) = (&ended["steps"][0], &ended["steps"][1]);
    assert_eq!((&outer["skill"], &outer["kind"]), (&json!("bob/chat"), &json!("think")), "{ended}");
    assert_eq!((&inner["skill"], &inner["parent"]), (&json!("local/steps"), &outer["id"]), "{ended}");
    assert!(inner["parts"].is_null() && inner["arguments"].is_null(), "bob's run is not ann's to show: {inner}");
}

#[tokio::test]
async fn a_team_has_a_step_for_each_turn_of_a_member() {
    let hub = teams::builder("").start().await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": "What is the answer?"})).await;
    let ended = reaches(&hub, &task, "completed").await;
    let members: BTreeSet<&str> =
        ended["steps"].as_array().expect("steps").iter().filter_map(|step| step["title"].as_str()).collect();
    assert_eq!(members, BTreeSet::from(["ann", "bob", "cid"]), "{ended}");
    let told = steps(&stream(&hub, &task).await);
    ends(&told);
    assert!(told.iter().all(|(_, _, step)| step["kind"] == "think"), "{told:?}");
}

#[tokio::test]
async fn attack_a_huge_result_and_huge_arguments_are_cut_in_what_travels() {
    let long = "x".repeat(40_000);
    let lines = format!(
        "replies:\n  - call: [{{ name: local__large, arguments: {{ note: {long} }} }}]\n  - {{ when: zzzz, say: Read. }}\n"
    );
    let hub = builder(&lines, "").file("tools/large.yaml", LARGE).start().await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "read"})).await;
    let ended = reaches(&hub, &task, "completed").await;
    let step = &ended["steps"][0];
    assert_eq!(step["state"], "done", "{step}");
    assert!(step["arguments"].as_str().is_some_and(|args| args.ends_with("bytes]")), "{}", step["arguments"]);
    assert!(step.to_string().len() < 20_000, "{} bytes", step.to_string().len());
    assert!(step["parts"].to_string().contains("the rest is left out"), "it says so");
    let longest = stream(&hub, &task).await.split("\n\n").map(str::len).max();
    assert!(longest < Some(20_000), "{longest:?}");
}
