//! A data directory or a backup that was changed while no hub ran on it: which changes are detected, and which are not.
//!
//! An encrypted store binds every value to its place, so no moved, swapped or planted value is read. An unencrypted store trusts its files;
//! only the hub's own user can write to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use http::Method;
use interlingua_testkit::Hub;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::identity::{api, owner};
use crate::support::{builder, until};

const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const SEALED: &str = "store: { encryption: { key: \"file:outer.key\" } }\n";
const PLAIN: &str = "";
const TENANTS: &str = "access:\n  anonymous: refused\n  tokens:\n    - { name: alice, token: ilg_alice }\n    - { name: bob, token: ilg_bob }\n";
const SECRET: &str = "canary-of-alice";

async fn hub(store: &str) -> Hub {
    builder().file("outer.key", KEY).config(&format!("{TENANTS}{store}")).start().await
}

fn opened(hub: &Hub) -> Connection {
    Connection::open(hub.data().join("hub.db")).expect("the store")
}

/// What a hub says that does not start on this directory.
async fn refuses_to_start(hub: &Hub) -> String {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    serve.current_dir(hub.directory()).args(["serve", "-c", "interlingua.yaml", "--data", "data", "--listen"]);
    serve.arg(hub.address().to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = serve.spawn().expect("the program runs");
    let mut ended = None;
    for _ in 0..600 {
        ended = child.try_wait().expect("its state");
        if ended.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let _ = child.kill();
    let said = child.wait_with_output().expect("its output");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(ended.is_some_and(|status| !status.success()), "it started: {said}");
    said
}

/// A task that is done, with this in it.
async fn kept(hub: &Hub, token: &str, text: &str) -> String {
    let body = json!({"skill": "hub/echo", "arguments": {"text": text}});
    let begun = api(hub, token, Method::POST, "/api/tasks", Some(body)).await.json();
    let id = begun["id"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    until("it is done", async || {
        api(hub, &owner(hub), Method::GET, &format!("/api/tasks/{id}"), None).await.json()["state"] == "completed"
    })
    .await;
    id
}

#[tokio::test]
async fn attack_a_store_of_a_newer_version_is_put_in_place_of_this_one() {
    for store in [PLAIN, SEALED] {
        let mut hub = hub(store).await;
        hub.stop().await;
        opened(&hub).pragma_update(None, "user_version", 999).expect("it can be written to");
        let said = refuses_to_start(&hub).await;
        assert!(said.contains("newer version"), "{store}: {said}");
        let version: i64 = opened(&hub).pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version");
        assert_eq!(version, 999, "{store}: nothing was changed");
    }
}

/// The ring of keys of another hub, under the same outer key.
#[tokio::test]
async fn attack_the_keys_of_another_hub_are_put_in_place_of_these() {
    let (mut hub, mut other) = (hub(SEALED).await, hub(SEALED).await);
    kept(&hub, "ilg_alice", SECRET).await;
    hub.stop().await;
    other.stop().await;
    let rings: Vec<PathBuf> = files(&hub.data()).into_iter().filter(|path| is_ring(path)).collect();
    assert_eq!(rings.len(), 1, "{rings:?}");
    let name = rings[0].strip_prefix(hub.data()).expect("it is there").to_owned();
    fs::copy(other.data().join(name), &rings[0]).expect("copied");
    let said = refuses_to_start(&hub).await;
    assert!(said.to_lowercase().contains("key"), "{said}");
}

fn is_ring(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"interlingua wrapped keys"))
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// Every record of her task's journal is put where his are, and the other way round.
#[tokio::test]
async fn attack_the_journals_of_two_callers_are_swapped_in_a_sealed_store() {
    let mut hub = hub(SEALED).await;
    let (hers, his) = (kept(&hub, "ilg_alice", SECRET).await, kept(&hub, "ilg_bob", "bob's own").await);
    hub.stop().await;
    let store = opened(&hub);
    let logs: Vec<i64> = {
        let mut query = store.prepare("SELECT no FROM logs WHERE kind = 0 ORDER BY no").expect("a query");
        query.query_map([], |row| row.get(0)).expect("rows").flatten().collect()
    };
    let [first, second] = logs[..] else { panic!("{logs:?}") };
    for (from, to) in [(first, -1), (second, first), (-1, second)] {
        store.execute("UPDATE journal SET log = ?2 WHERE log = ?1", [from, to]).expect("it can be written to");
        store.execute("UPDATE snapshots SET log = ?2 WHERE log = ?1", [from, to]).expect("it can be written to");
    }
    store.close().expect("closed");
    hub.restart().await;
    for (who, task) in [("ilg_bob", &his), ("ilg_bob", &hers), ("ilg_alice", &his), ("ilg_alice", &hers)] {
        for path in ["", "/events", "/timeline"] {
            let read = api(&hub, who, Method::GET, &format!("/api/tasks/{task}{path}"), None).await;
            let text = read.text();
            assert!(!text.contains(SECRET) && !text.contains("bob's own"), "{who} {path}: {text}");
        }
    }
    assert_eq!(hub.get("/healthz").await.status, 200, "the rest goes on");
    kept(&hub, "ilg_bob", "another").await;
}

/// An artifact with this content, by its id.
async fn shared(hub: &Hub, name: &str, content: &str) -> String {
    let body = json!({"name": name, "media_type": "text/plain", "content": content});
    let made = api(hub, "ilg_alice", Method::POST, "/api/artifacts", Some(body)).await;
    let made: Value = made.json();
    let id = made["id"].as_str().or_else(|| made["artifact_id"].as_str());
    id.unwrap_or_else(|| panic!("{made}")).to_owned()
}

#[tokio::test]
async fn attack_the_content_of_two_artifacts_is_swapped_in_a_sealed_store() {
    let mut hub = hub(SEALED).await;
    let (one, two) = ("1".repeat(600_000), "2".repeat(600_000));
    let (first, second) = (shared(&hub, "one.txt", &one).await, shared(&hub, "two.txt", &two).await);
    let read = async |hub: &Hub, id: &str| {
        api(hub, "ilg_alice", Method::GET, &format!("/api/artifacts/{id}/content"), None).await.text()
    };
    assert_eq!((read(&hub, &first).await == one, read(&hub, &second).await == two), (true, true));
    hub.stop().await;
    let blobs: Vec<PathBuf> = files(&hub.data().join("blobs"));
    assert_eq!(blobs.len(), 2, "{blobs:?}");
    let aside = hub.data().join("aside");
    for (from, to) in [(&blobs[0], &aside), (&blobs[1], &blobs[0]), (&aside, &blobs[1])] {
        fs::rename(from, to).expect("renamed");
    }
    hub.restart().await;
    assert!(!read(&hub, &first).await.contains("222"), "the other's content");
    assert!(!read(&hub, &second).await.contains("111"), "the other's content");
    assert_eq!(hub.get("/healthz").await.status, 200);
}

/// The last lines of the audit are gone from the store. What was told of it before shows that.
#[tokio::test]
async fn attack_the_end_of_the_audit_is_cut_off_in_the_store() {
    for store in [PLAIN, SEALED] {
        let mut hub = hub(store).await;
        kept(&hub, "ilg_alice", SECRET).await;
        let before = audit(&hub, &[]).await;
        assert!(before.0, "{store}: {}", before.1);
        hub.stop().await;
        let checkpoint = before.1.split("--checkpoint ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let checkpoint = checkpoint.expect("a checkpoint");
        let record: i64 = checkpoint.split_once(':').expect("a number and a digest").0.parse().expect("a number");
        let cut = opened(&hub).execute(
            "DELETE FROM journal WHERE log IN (SELECT no FROM logs WHERE kind = 3) AND seq >= ?1",
            [record.max(1)],
        );
        assert!(cut.expect("it can be written to") >= 1, "{store}");
        hub.restart().await;
        let after = audit(&hub, &["--checkpoint", checkpoint]).await;
        assert!(!after.0, "{store}: it was found to hold: {} before: {}", after.1, before.1);
    }
}

async fn audit(hub: &Hub, more: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(["audit", "verify"]).args(more).args(["--hub", &hub.url("")]).env("INTERLINGUA_TOKEN", owner(hub));
    command.stdin(Stdio::null());
    let output =
        tokio::task::spawn_blocking(move || command.output().expect("the program runs")).await.expect("it ran");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}
