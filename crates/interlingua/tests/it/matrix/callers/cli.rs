//! The program itself, from a script: no terminal.

use std::process::{Command, Output};

use interlingua_testkit::Process;
use serde_json::{Value, json};

use super::super::behaviour::{Behaviour, DEADLINE, Door, Scene};
use super::super::seen::Seen;
use super::super::stage::Stage;
use crate::support::until;

fn command(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(arguments).args(["--hub", &stage.hub.url("")]);
    command
        .env("INTERLINGUA_TOKEN", stage.hub.token().expect("a token"))
        .env_remove("INTERLINGUA_HUB")
        .env_remove("INTERLINGUA_DATA");
    command.stdin(std::process::Stdio::null());
    command
}

async fn run(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().expect("the program runs")).await.expect("it ran")
}

/// What the program says, called so.
pub(in super::super) async fn said(stage: &Stage, arguments: &[&str]) -> Output {
    run(command(stage, arguments)).await
}

fn calling(stage: &Stage, scene: &Scene, more: &[&str]) -> Command {
    let mut command = match scene.door {
        Door::Words(_) => command(stage, &["ask", "--peer", scene.peer, &scene.words]),
        Door::Tool => command(stage, &["call", &format!("{}/{}", scene.peer, scene.skill)]),
    };
    command.args(more);
    if let Some(key) = &scene.key {
        command.args(["--key", key]);
    }
    command
}

pub(super) async fn call(stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
    match on {
        Behaviour::Stream => streamed(stage, scene).await,
        Behaviour::Question => questioned(stage, scene).await,
        Behaviour::Deadline => whole(stage, scene, &["--json", "--deadline", DEADLINE]).await,
        Behaviour::Answer | Behaviour::Failure | Behaviour::Cancel | Behaviour::Large | Behaviour::Artifact => {
            whole(stage, scene, &["--json"]).await
        }
    }
}

pub(super) async fn give_up(stage: &Stage, scene: &Scene) -> Seen {
    let mut process = Process::start(calling(stage, scene, &[]));
    stage.at_work().await;
    let interrupt = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(interrupt.expect("it runs").success(), "{}", process.output());
    let mut status = None;
    until("the program ends", async || {
        status = process.ended();
        status.is_some()
    })
    .await;
    let interrupted = status.and_then(|status| status.code()) == Some(130);
    Seen::new(if interrupted { "left" } else { "broken" })
}

/// Each line beside the answer is a piece.
async fn streamed(stage: &Stage, scene: &Scene) -> Seen {
    let output = run(calling(stage, scene, &[])).await;
    let mut seen = Seen::new(if output.status.success() { "completed" } else { "failed" });
    seen.texts.push(String::from_utf8_lossy(&output.stdout).into_owned());
    seen.pieces = String::from_utf8_lossy(&output.stderr).lines().filter(|line| line.contains('·')).count();
    seen
}

async fn whole(stage: &Stage, scene: &Scene, more: &[&str]) -> Seen {
    let output = run(calling(stage, scene, more)).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut seen = Seen::new("failed");
    let Ok(view) = serde_json::from_str::<Value>(&said) else {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        seen.fault = Some(if output.status.code() == Some(6) { format!("deadline: {told}") } else { told });
        return seen;
    };
    seen.lost(&view["losses"]);
    seen.task = view["task"].as_str().map(str::to_owned);
    read(stage, &view["finished"], &mut seen).await;
    seen
}

/// The question ends the program with 5; it is answered as its last line says, and the task is looked at.
async fn questioned(stage: &Stage, scene: &Scene) -> Seen {
    let output = run(calling(stage, scene, &["--json"])).await;
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    let view: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let question = &view["questions"][0];
    let id = question["id"].as_str().expect("an id");
    let task = question["task"].as_str().expect("a task").to_owned();
    let text = question["text"].to_string();
    let mut seen = Seen { question: Some(text), task: Some(task.clone()), ..Seen::new("failed") };
    if question["kind"] == "confirm" {
        let approved = run(command(stage, &["approve", id])).await;
        assert!(approved.status.success(), "{}", String::from_utf8_lossy(&approved.stderr));
    } else {
        let answer = json!({"answer": {"question": id, "text": scene.answer}});
        let answered = stage.hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
        assert!(answered.status < 300, "{}", answered.text());
    }
    let mut shown = Value::Null;
    until("the task ends", async || {
        let output = run(command(stage, &["tasks", &task, "--json"])).await;
        shown = serde_json::from_slice(&output.stdout).unwrap_or_default();
        !shown["finished"].is_null()
    })
    .await;
    read(stage, &shown["finished"], &mut seen).await;
    // What was streamed is kept with the events of the task, and not said again at its end.
    let events = stage.hub.get(&format!("/api/tasks/{task}/events")).await;
    seen.texts.push(events.text());
    seen
}

async fn read(stage: &Stage, finished: &Value, seen: &mut Seen) {
    seen.outcome = finished["outcome"].as_str().unwrap_or_default().to_owned();
    if let Some(kind) = finished["fault"]["kind"].as_str() {
        seen.fault = Some(format!("{kind}: {}", finished["fault"]["message"]));
    }
    for part in finished["parts"].as_array().into_iter().flatten() {
        seen.texts.extend(part["text"].as_str().map(str::to_owned));
        seen.blobs.extend(part["base64"].as_str().map(str::to_owned));
        seen.names.extend(["name", "uri"].iter().filter_map(|key| part[*key].as_str()).map(str::to_owned));
        if !part["data"].is_null() {
            seen.data.push(part["data"].clone());
        }
        if let Some(digest) = part["sha256"].as_str() {
            stage.stored(digest, seen).await;
        }
    }
    for artifact in finished["artifacts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        seen.names.push(artifact.to_owned());
    }
    if !finished["structured"].is_null() {
        seen.data.push(finished["structured"].clone());
    }
}
