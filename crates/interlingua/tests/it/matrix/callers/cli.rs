//! The program itself, from a script: no terminal.

use std::process::{Command, Output, Stdio};

use interlingua_testkit::Process;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::super::behaviour::{Behaviour, Door, Scene};
use super::super::seen::Seen;
use super::super::stage::{Stage, base64};
use crate::support::until;

fn command(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(arguments).args(["--hub", &stage.hub.url("")]);
    command
        .env("INTERLINGUA_TOKEN", stage.hub.token().expect("a token"))
        .env_remove("INTERLINGUA_HUB")
        .env_remove("INTERLINGUA_DATA");
    command.stdin(Stdio::null());
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
        Behaviour::Deadline => whole(stage, scene, &["--deadline", &scene.deadline()]).await,
        Behaviour::Large | Behaviour::Artifact => saved(stage, scene).await,
        Behaviour::Answer | Behaviour::Failure | Behaviour::Cancel => whole(stage, scene, &[]).await,
    }
}

pub(super) async fn give_up(stage: &Stage, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
    let mut process = Process::start(calling(stage, scene, &[]));
    begun.await;
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

/// Both outputs are read as they come: each time something is there is a piece.
async fn streamed(stage: &Stage, scene: &Scene) -> Seen {
    let mut command = tokio::process::Command::from(calling(stage, scene, &[]));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let (mut said, mut aside) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let (mut seen, mut text) = (Seen::default(), Vec::new());
    let (mut told, mut noted) = ([0; 4096], [0; 4096]);
    let (mut says, mut notes) = (true, true);
    while says || notes {
        let piece = tokio::select! {
            count = said.read(&mut told), if says => {
                let piece = &told[..count.expect("it is read")];
                says = !piece.is_empty();
                text.extend_from_slice(piece);
                piece
            }
            count = aside.read(&mut noted), if notes => {
                let piece = &noted[..count.expect("it is read")];
                notes = !piece.is_empty();
                piece
            }
        };
        seen.pieces.push(String::from_utf8_lossy(piece).into_owned());
    }
    let status = child.wait().await.expect("it ends");
    seen.outcome = if status.success() { "completed" } else { "failed" }.to_owned();
    seen.texts.push(String::from_utf8_lossy(&text).into_owned());
    seen
}

async fn whole(stage: &Stage, scene: &Scene, more: &[&str]) -> Seen {
    let output = run(calling(stage, scene, &[more, &["--json"]].concat())).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut seen = Seen::new("failed");
    let Ok(view) = serde_json::from_str::<Value>(&said) else {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        seen.fault = Some(if output.status.code() == Some(6) { format!("deadline: {told}") } else { told });
        return seen;
    };
    seen.lost(&view["losses"]);
    seen.task = view["task"].as_str().map(str::to_owned);
    seen.finished(&view["finished"]);
    seen
}

/// What a result holds is saved as files, which are read.
async fn saved(stage: &Stage, scene: &Scene) -> Seen {
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = whole(stage, scene, &["--save", &folder.path().display().to_string()]).await;
    // Only files count.
    seen.blobs.clear();
    for file in std::fs::read_dir(folder.path()).expect("a folder") {
        let file = file.expect("a file");
        seen.names.push(file.file_name().to_string_lossy().into_owned());
        seen.blobs.push(base64(&std::fs::read(file.path()).expect("it can be read")));
    }
    seen
}

/// The question ends the program with 5; it is answered as its last line says, and the task is looked at.
async fn questioned(stage: &Stage, scene: &Scene) -> Seen {
    let output = run(calling(stage, scene, &["--json"])).await;
    let view: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if output.status.code() != Some(5) {
        let mut seen = Seen { fault: Some(String::from_utf8_lossy(&output.stderr).into_owned()), ..Seen::default() };
        seen.finished(&view["finished"]);
        return seen;
    }
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
    seen.finished(&shown["finished"]);
    // What was streamed is kept with the events of the task, and not said again at its end.
    let events = stage.hub.get(&format!("/api/tasks/{task}/events")).await;
    seen.texts.push(events.text());
    seen
}
