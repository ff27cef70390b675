//! The program against a real hub: every command, its exit code, and what survives a crash.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use http::Method;
use http_body_util::Full;
use interlingua_testkit::Hub;
use interlingua_testkit::raw::Raw;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::{hub, reaches, start, streaming, until};

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.current_dir(folder).env_remove("INTERLINGUA_HUB").env_remove("INTERLINGUA_TOKEN");
    command.env_remove("INTERLINGUA_DATA").args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command beside the hub, which it finds by the socket in the data directory.
async fn run(hub: &Hub, arguments: &[&str]) -> Output {
    let ran = command(hub.directory(), arguments).output();
    tokio::time::timeout(Duration::from_secs(60), ran).await.expect("it ends").expect("it runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn lists_and_calls_find_the_hub_by_its_socket() {
    let hub = hub("").await;
    let peers = run(&hub, &["peers"]).await;
    assert!(code(&peers) == 0 && out(&peers).contains("local"), "{}{}", out(&peers), err(&peers));
    let skills = run(&hub, &["skills", "erases", "--json"]).await;
    let skills: Value = serde_json::from_slice(&skills.stdout).expect("JSON");
    assert_eq!(skills["items"][0]["id"], "local/erase");
    let done = run(&hub, &["call", "local/steps", "{}"]).await;
    assert_eq!(code(&done), 0, "{}", err(&done));
    assert!(out(&done).contains("\"counted\": 2"), "{}", out(&done));
    let asked = run(&hub, &["ask", "echo", "good", "morning"]).await;
    assert_eq!((code(&asked), out(&asked).as_str()), (0, "good morning\n"), "{}", err(&asked));
    let elsewhere =
        run(&hub, &["call", "local/steps", "--json", "--hub", &hub.url(""), "--token", &hub.token().expect("a token")])
            .await;
    let view: Value = serde_json::from_slice(&elsewhere.stdout).expect("JSON");
    assert_eq!(view["finished"]["structured"]["counted"], 2);
    let detached = run(&hub, &["call", "local/steps", "--detach"]).await;
    let task = out(&detached).trim().to_owned();
    reaches(&hub, &task, "completed").await;
    let one = run(&hub, &["tasks", &task]).await;
    assert!(out(&one).contains("state     completed"), "{}", out(&one));
    let listed = out(&run(&hub, &["tasks"]).await);
    assert!(listed.contains(&task[..12]), "by its beginning, which is enough to name it: {listed}");
    let one = run(&hub, &["tasks", &task[..12]]).await;
    assert!(out(&one).contains("state     completed"), "{}", out(&one));
}

#[tokio::test]
async fn each_end_of_a_call_has_its_exit_code() {
    let yaml = "access:\n  tokens:\n    - { name: ana, token: ana-token, skills: [\"local/steps\"] }\n";
    let hub = hub(yaml).await;
    let url = hub.url("");
    let cases: [(&[&str], i32); 8] = [
        (&["call", "local/steps"], 0),
        (&["call", "local/fails"], 1),
        (&["call", "local/none"], 2),
        (&["call", "local/erase", "{\"what\":7}"], 2),
        (&["call", "local/erase", "{\"what\":\"x\"}"], 5),
        (&["call", "local/slow", "--deadline", "300ms"], 6),
        (&["call", "local/steps", "--hub", &url, "--token", "wrong"], 7),
        (&["call", "local/steps", "--hub", &url, "--token", "ana-token"], 0),
    ];
    for (arguments, expected) in cases {
        let ended = run(&hub, arguments).await;
        assert_eq!(code(&ended), expected, "{arguments:?}: {}{}", out(&ended), err(&ended));
    }
    let failed = run(&hub, &["call", "local/fails"]).await;
    assert!(err(&failed).contains("out of paper"), "{}", err(&failed));
}

#[tokio::test]
async fn ctrl_c_cancels_the_call_and_ends_with_130() {
    let hub = hub("").await;
    let child = command(hub.directory(), &["call", "local/slow", "--key", "k"]).spawn().expect("it starts");
    let mut task = String::new();
    until("the call runs", async || {
        let running = hub.get("/api/tasks?state=running").await.json();
        task = running["items"][0]["id"].as_str().unwrap_or_default().to_owned();
        !task.is_empty()
    })
    .await;
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).expect("it runs");
    kill_process(pid, Signal::INT).expect("a child of ours");
    let ended = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await.expect("it ends");
    assert_eq!(code(&ended.expect("an output")), 130);
    reaches(&hub, &task, "cancelled").await;
}

#[tokio::test]
async fn what_one_terminal_asks_another_approves_or_denies() {
    let hub = hub("").await;
    let asked = run(&hub, &["call", "local/erase", "{\"what\":\"x\"}"]).await;
    assert_eq!(code(&asked), 5);
    let question = err(&asked)
        .split("interlingua approve ")
        .nth(1)
        .expect("it says how")
        .split(' ')
        .next()
        .expect("an id")
        .to_owned();
    let approved = run(&hub, &["approve", &question]).await;
    assert_eq!(code(&approved), 0, "{}", err(&approved));
    let task = question.split('.').next().expect("its task").to_owned();
    reaches(&hub, &task, "completed").await;
    assert_eq!(code(&run(&hub, &["approve", &question]).await), 2, "a yes counts once");

    let task = start(&hub, json!({"skill": "local/erase", "arguments": {"what": "y"}})).await;
    let denied = run(&hub, &["deny", &task]).await;
    assert_eq!(code(&denied), 0, "{}", err(&denied));
    reaches(&hub, &task, "failed").await;
}

#[tokio::test]
async fn tasks_questions_and_conversations_outlive_a_kill() {
    let mut hub = hub("").await;
    let done = start(&hub, json!({"skill": "local/steps"})).await;
    reaches(&hub, &done, "completed").await;
    let waiting = start(&hub, json!({"skill": "local/erase", "arguments": {"what": "x"}})).await;
    reaches(&hub, &waiting, "waiting").await;
    let first = hub.post_json("/api/exchanges", &json!({"words": "echo one"})).await.json();
    let again = json!({"words": "echo two", "conversation": first["conversation"]});
    assert_eq!(hub.post_json("/api/exchanges", &again).await.status, 200);

    hub.kill_9();
    hub.restart().await;
    let finished = hub.get(&format!("/api/tasks/{done}")).await.json();
    assert_eq!(finished["finished"]["structured"], json!({"counted": 2}));
    let third = hub.post_json("/api/exchanges", &again).await;
    assert_eq!(third.status, 200, "{}", third.text());
    assert_eq!(hub.get("/api/conversations").await.json()["items"][0]["turn"], 2);
    let approved = run(&hub, &["approve", &waiting]).await;
    assert_eq!(code(&approved), 0, "{}", err(&approved));
    reaches(&hub, &waiting, "completed").await;
}

#[tokio::test]
async fn a_second_signal_does_not_wait_for_what_runs() {
    let mut hub = hub("").await;
    let (_connection, mut running) =
        streaming(&hub, Method::POST, "/api/exchanges", &[], Some(json!({"skill": "local/slow"}))).await;
    while !running.next().await.expect("it runs").contains("begun") {}
    hub.signal(Signal::TERM);
    until("it stops", async || hub.log().contains("stopping")).await;
    assert_eq!(hub.stop().await.code(), Some(0));
    assert!(!hub.log().contains("exchanges_not_ended"), "it did not wait: {}", hub.log());
}

#[tokio::test]
async fn beyond_the_limit_connections_wait_for_a_place_and_the_owners_socket_has_its_own() {
    let hub = hub("limits: { connections: 2, connections_per_address: 9 }\n").await;
    let (mut first, second) = (hub.connect().await, hub.connect().await);
    let health = || interlingua_testkit::request(Method::GET, "/healthz").body(Full::default()).expect("a request");
    let mut held = vec![second];
    for connection in held.iter_mut().chain([&mut first]) {
        assert_eq!(connection.send(health()).await.status, 200);
    }
    let mut third = Raw::connect(hub.address()).await;
    let asked = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", hub.address());
    assert!(third.write(asked.as_bytes()).await);
    for _ in 0..50 {
        assert_eq!(first.send(health()).await.status, 200, "who is in is served");
    }
    assert!(!third.has_bytes(), "no place is free");
    let peers = run(&hub, &["peers"]).await;
    assert_eq!(code(&peers), 0, "{}", err(&peers));
    drop(held);
    assert_eq!(third.read_status().await.map(|(status, _)| status), Some(200), "a place was free");
}

/// As root a directory that was given away; as anybody else one of root's.
#[tokio::test]
async fn the_doctor_refuses_the_data_of_another_user_as_serve_does() {
    let folder = tempfile::tempdir().expect("a directory");
    let given = folder.path().join("given");
    std::fs::create_dir(&given).expect("made");
    let place = if std::os::unix::fs::chown(&given, Some(65_534), None).is_ok() { given } else { "/".into() };
    let place = place.to_str().expect("UTF-8");
    for arguments in [&["doctor", "--data", place][..], &["serve", "--data", place, "--listen", "127.0.0.1:0"]] {
        let ended = command(folder.path(), arguments).output().await.expect("it runs");
        let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
        assert!(!ended.status.success(), "{arguments:?}: {said}");
        assert!(said.contains("belongs to another user"), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn the_doctor_looks_at_the_machine() {
    let folder = tempfile::tempdir().expect("a directory");
    let healthy = command(folder.path(), &["doctor"]).output().await.expect("it runs");
    assert!(out(&healthy).contains("data"), "{}{}", out(&healthy), err(&healthy));
}
