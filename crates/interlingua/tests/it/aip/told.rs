//! Readers of a plan: subscribers of events, orchestrators that requested it, and the planner, which may change it.

use serde_json::{Value, json};

use super::{Client, constellation, hub, task};
use crate::support::{builder, events, reaches, send, start};

fn call(skill: &str) -> Value {
    json!({"task_data": {"skill": skill}})
}

fn line(from: &str, to: &str, kind: &str) -> Value {
    json!({"from_task_id": from, "to_task_id": to, "dependency_type": kind})
}

fn small() -> Value {
    json!({
        "tasks": {"a": call("local/steps"), "b": call("local/fails")},
        "dependencies": {"1": line("a", "b", "success_only")},
    })
}

/// What happened, in the words of the Python orchestrator; how far it is, left out.
fn kinds(events: impl IntoIterator<Item = Value>) -> Vec<String> {
    let kind =
        |event: Value| Some(format!("{} {}", event["event_type"].as_str()?, event["task_id"].as_str().unwrap_or("")));
    events.into_iter().filter_map(kind).map(|text| text.trim().to_owned()).collect()
}

const STORY: [&str; 6] = [
    "constellation_started",
    "task_started a",
    "task_completed a",
    "task_started b",
    "task_failed b",
    "constellation_completed",
];

#[tokio::test]
async fn events_of_a_plan_are_a_stream_that_can_be_read_from_the_beginning() {
    let hub = hub("").await;
    let id = start(&hub, json!({"skill": "graph/run", "arguments": {"plan": small()}})).await;
    reaches(&hub, &id, "failed").await;
    let headers = [("accept", "text/event-stream")];
    let stream = send(&hub, http::Method::GET, &format!("/api/tasks/{id}/events"), &headers, None).await;
    let told = events(&stream.text()).into_iter().filter_map(|(_, _, data)| data["parts"][0].get("data").cloned());
    assert_eq!(kinds(told), STORY, "{}", stream.text());
}

#[tokio::test]
async fn an_orchestrator_asks_for_a_plan_like_for_any_task_and_hears_its_events() {
    let hub = hub("").await;
    let mut client = Client::registered(&hub, "/aip/ws", constellation("gal@graph", "graph")).await;
    client.say(task("graph", "gal@p1", &small().to_string())).await;
    let mut told = Vec::new();
    let end = loop {
        let frame = client.hear().await;
        assert_eq!(frame["session_id"], "gal@p1", "{frame}");
        if frame["type"] == "task_end" {
            break frame;
        }
        let lines = frame["messages"].as_array().cloned().unwrap_or_default();
        told.extend(lines.iter().filter_map(|line| serde_json::from_str::<Value>(line.as_str()?).ok()));
    };
    assert_eq!(kinds(told), STORY);
    assert_eq!((&end["status"], &end["result"]["state"]), (&json!("failed"), &json!("partially_failed")), "{end}");
    client.say(task("graph", "gal@p2", "make me a plan")).await;
    let refused = loop {
        let frame = client.hear().await;
        if frame["type"] == "task_end" {
            break frame;
        }
    };
    assert_eq!((&refused["status"], &refused["error"]), (&json!("failed"), &json!("there is no plan")));
}

#[tokio::test]
async fn p_63_the_planner_mends_a_plan_after_a_failure_and_an_edit_that_cannot_be_made_changes_nothing() {
    let mended =
        json!({"tasks": {"bad": call("local/fails"), "mend": call("local/steps")}, "dependencies": {}}).to_string();
    // It would change what has ended, and close a circle: all of it is refused.
    let circle = json!({
        "tasks": {"mend": call("local/steps"), "x": call("local/steps"), "y": call("local/steps")},
        "dependencies": {"1": line("x", "y", "unconditional"), "2": line("y", "x", "unconditional")},
    })
    .to_string();
    let script = format!(
        "scenes:\n  - text: Step bad of\n    play: [{{ answer: {{ text: '{mended}' }} }}]\n  - text: Step mend of\n    play: [{{ answer: {{ text: '{circle}' }} }}]\n"
    );
    let hub = builder()
        .file("planner.yaml", script)
        .config("tools: { directory: ./tools }\nscripts: { planner: ./planner.yaml }")
        .start()
        .await;
    let arguments = json!({"plan": {"tasks": {"bad": call("local/fails")}}, "planner": "planner"});
    let id = start(&hub, json!({"skill": "graph/run", "arguments": arguments})).await;
    let task = reaches(&hub, &id, "failed").await;
    let tasks = task["finished"]["structured"]["tasks"].as_object().expect("steps").clone();
    let statuses: Value = tasks.into_iter().map(|(id, task)| (id, task["status"].clone())).collect();
    assert_eq!(statuses, json!({"bad": "failed", "mend": "completed"}), "{task}");
}

#[tokio::test]
async fn p_54_p_55_what_is_shown_of_a_plan_is_a_plan_with_the_same_rules() {
    let hub = hub("").await;
    let plan = json!({
        "name": "again",
        "tasks": {"bad": call("local/fails"), "never": call("local/steps"), "always": call("local/steps")},
        "dependencies": {"1": line("bad", "never", "success_only"), "2": line("bad", "always", "completion_only")},
    });
    let run = async |plan: Value| {
        let id = start(&hub, json!({"skill": "graph/run", "arguments": {"plan": plan}})).await;
        reaches(&hub, &id, "failed").await["finished"]["structured"].clone()
    };
    let shown = run(plan).await;
    let keys: Vec<&str> = shown["tasks"]["bad"].as_object().expect("a task").keys().map(String::as_str).collect();
    for key in [
        "task_id",
        "name",
        "description",
        "tips",
        "task_description",
        "target_device_id",
        "device_type",
        "priority",
        "status",
        "result",
        "error",
        "timeout",
        "retry_count",
        "current_retry",
        "task_data",
        "expected_output_type",
        "created_at",
        "updated_at",
        "execution_start_time",
        "execution_end_time",
        "execution_duration",
        "dependencies",
        "dependents",
    ] {
        assert!(keys.contains(&key), "{key} is not in {keys:?}");
    }
    let line = &shown["dependencies"]["1"];
    for key in [
        "line_id",
        "from_task_id",
        "to_task_id",
        "dependency_type",
        "condition_description",
        "metadata",
        "is_satisfied",
        "last_evaluation_result",
        "last_evaluation_time",
        "created_at",
        "updated_at",
    ] {
        assert!(line.get(key).is_some(), "{key} is not in {line}");
    }
    // The same once more, as if nothing of it had been done.
    let mut fresh = shown.clone();
    for task in fresh["tasks"].as_object_mut().expect("tasks").values_mut() {
        task["status"] = json!("pending");
        task["error"] = Value::Null;
        task["result"] = Value::Null;
    }
    let again = run(fresh).await;
    for task in ["bad", "never", "always"] {
        assert_eq!(again["tasks"][task]["status"], shown["tasks"][task]["status"], "{again}");
    }
    assert_eq!(again["tasks"]["never"]["status"], "cancelled");
}

#[tokio::test]
async fn to_run_a_plan_twice_is_not_called_harmless() {
    let hub = hub("").await;
    let skills = hub.get("/api/skills").await.json();
    let run = skills["items"].as_array().expect("skills").iter().find(|skill| skill["id"] == "graph/run").cloned();
    assert_eq!(run.expect("a skill")["effects"]["idempotent"], false);
}
