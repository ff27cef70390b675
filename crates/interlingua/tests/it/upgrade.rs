//! Data directories that an earlier release wrote are opened by the program as it is now: `fixtures/data-0.1.0`.

use std::fs;
use std::path::Path;

use http::Method;
use interlingua_testkit::{Answer, Hub, WallClock, root};
use serde_json::{Value, json};

use super::support::{send, until};
use super::trust::audit::verified;

/// 2026-11-16T21:46:34Z: less than a minute after the data was written, so its questions are still open.
const WRITTEN: i64 = 1_794_865_594;

const PROGRAM: &str = env!("CARGO_BIN_EXE_interlingua");

/// A hub on a copy of one of the directories, with the configuration that it was written with.
async fn opened(data: &str, config: &str) -> Hub {
    let fixture = root().join("fixtures/data-0.1.0");
    let text = |name: &str| fs::read_to_string(fixture.join(name)).expect("part of the fixture");
    let mut builder = Hub::builder(PROGRAM)
        .file("rules.cedar", text("rules.cedar"))
        .file("outer.key", text("outer.key"))
        .file("tools/count.yaml", text("tools/count.yaml"))
        .file("tools/erase.yaml", text("tools/erase.yaml"))
        .config(&text(config));
    copy(&fixture.join(data), &builder.directory().join("data"));
    let clock = WallClock::below(builder.directory(), WRITTEN);
    for (name, value) in clock.environment() {
        builder = builder.environment(name, value);
    }
    builder.start().await
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a new directory");
    for entry in fs::read_dir(from).expect("a directory of the fixture") {
        let entry = entry.expect("an entry");
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).expect("a copy");
        }
    }
}

async fn as_caller(hub: &Hub, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {token}");
    send(hub, method, path, &[("authorization", &bearer)], body).await
}

async fn items(hub: &Hub, token: &str, path: &str) -> Vec<Value> {
    let answer = as_caller(hub, token, Method::GET, path, None).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()["items"].as_array().expect("a list").clone()
}

/// Everything that release 0.1.0 kept is there, belongs to whom it belonged, and can be gone on with.
async fn opens_whole(hub: &Hub) {
    for name in ["alice", "bob"] {
        let token = format!("{name}-token");
        let tasks = items(hub, &token, "/api/tasks").await;
        let mut states: Vec<&str> = tasks.iter().filter_map(|task| task["state"].as_str()).collect();
        states.sort_unstable();
        assert_eq!(states, ["completed", "waiting"], "{name}: {tasks:?}");
        assert!(tasks.iter().all(|task| task["owner"] == format!("user:{name}")), "{tasks:?}");
        let other = if name == "alice" { "bob-token" } else { "alice-token" };
        for task in &tasks {
            let path = format!("/api/tasks/{}", task["id"].as_str().expect("an id"));
            assert_eq!(as_caller(hub, &token, Method::GET, &path, None).await.status, 200, "{name} reads {path}");
            assert_eq!(as_caller(hub, other, Method::GET, &path, None).await.status, 404, "{other} does not");
        }
    }
    assert_eq!(items(hub, "boss-token", "/api/tasks").await, Vec::<Value>::new());

    let artifacts = items(hub, "alice-token", "/api/artifacts").await;
    let path = artifacts[0]["content_path"].as_str().expect("a path");
    assert_eq!(as_caller(hub, "alice-token", Method::GET, path, None).await.text(), "kept by alice");
    assert_eq!(as_caller(hub, "bob-token", Method::GET, path, None).await.status, 404);
    let agents = items(hub, "boss-token", "/api/agents?registered=true").await;
    assert_eq!(agents[0]["agent_id"], "planner", "{agents:?}");

    let open = items(hub, "boss-token", "/api/confirmations").await;
    assert_eq!(open.len(), 2, "{open:?}");
    for question in &open {
        assert_eq!(question["confirm"]["skill"], "local/erase");
        let id = question["task"].as_str().expect("a task");
        let answer = json!({"answer": {"question": question["id"], "approve": true}});
        let signals = format!("/api/tasks/{id}/signals");
        let said = as_caller(hub, "boss-token", Method::POST, &signals, Some(answer)).await;
        assert!((200..300).contains(&said.status), "{}: {}", said.status, said.text());
    }
    for token in ["alice-token", "bob-token"] {
        until("both tasks to be done", async || {
            items(hub, token, "/api/tasks").await.iter().all(|task| task["state"] == "completed")
        })
        .await;
    }
}

#[tokio::test]
async fn a_data_directory_of_0_1_0_opens_with_everything_in_it() {
    let hub = opened("plain", "hub.yaml").await;
    opens_whole(&hub).await;
    verified(&hub);
}

#[tokio::test]
async fn an_encrypted_data_directory_of_0_1_0_opens_with_everything_in_it() {
    let hub = opened("encrypted", "encrypted.yaml").await;
    opens_whole(&hub).await;
    verified(&hub);
}
