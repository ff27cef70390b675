//! Keys and what they seal: an encrypted store, and key rotation while the hub runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{OWN_PAGE, owner_token, program, rotations};
use crate::support::{builder, logged, send, until};

const CANARY: &str = "canary-77e1b0";
pub(super) const ONE: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const TWO: &str = "0202020202020202020202020202020202020202020202020202020202020202";
pub(super) const ENCRYPTED: &str =
    "tools: { directory: ./tools }\nstore: { encryption: { key: \"file:outer.key\" } }\n";

async fn encrypted() -> Hub {
    builder().file("outer.key", ONE).config(ENCRYPTED).start().await
}

/// The program in the hub's directory, about the hub that holds `data`.
pub(super) fn run(hub: &Hub, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.current_dir(hub.directory()).env_remove("INTERLINGUA_TOKEN").env_remove("INTERLINGUA_HUB");
    command.env("INTERLINGUA_DATA", "data").args(arguments).output().expect("it runs")
}

pub(super) async fn keys(hub: &Hub) -> Value {
    hub.get("/api/keys").await.json()
}

/// A task that is kept, with the canary in what was asked; its id.
async fn kept(hub: &Hub, key: &str) -> String {
    let call = json!({"skill": "hub/echo", "arguments": {"text": CANARY}});
    let headers = [("idempotency-key", key)];
    let answer = send(hub, Method::POST, "/api/tasks", &headers, Some(call)).await;
    let id = answer.json()["id"].as_str().unwrap_or_else(|| panic!("no id: {}", answer.text())).to_owned();
    until("it is done", async || state(hub, &id).await == "completed").await;
    id
}

async fn state(hub: &Hub, id: &str) -> String {
    hub.get(&format!("/api/tasks/{id}")).await.json()["state"].as_str().unwrap_or_default().to_owned()
}

/// Bytes that are kept as a file.
async fn uploaded(hub: &Hub) -> String {
    let share = json!({"name": "notes.txt", "media": "text/plain"});
    let answer = hub.post_json("/api/artifacts", &share).await;
    let id = answer.json()["artifact_id"].as_str().unwrap_or_else(|| panic!("no id: {}", answer.text())).to_owned();
    let content = format!("{CANARY} ").repeat(20_000);
    let request = interlingua_testkit::request(Method::PUT, &format!("/api/artifacts/{id}/content"))
        .header("content-type", "text/plain")
        .body(http_body_util::Full::new(content.into()));
    let stored = hub.connect().await.send(request.expect("a request")).await;
    assert!((200..300).contains(&stored.status), "{}", stored.text());
    id
}

/// What the task said and what was uploaded, word for word.
async fn is_there(hub: &Hub, task: &str, artifact: &str) {
    let told = hub.get(&format!("/api/tasks/{task}")).await.json();
    assert_eq!(told["state"], "completed", "{told}");
    assert!(told["finished"].to_string().contains(CANARY), "{told}");
    let content = hub.get(&format!("/api/artifacts/{artifact}/content")).await;
    assert_eq!(content.text(), format!("{CANARY} ").repeat(20_000));
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("a name").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The files below that hold this text.
pub(super) fn holding(dir: &Path, text: &str) -> Vec<PathBuf> {
    // The socket cannot be read, and what is removed meanwhile holds nothing.
    let read = |file: &PathBuf| std::fs::read(file).unwrap_or_default();
    let holds = |file: &PathBuf| read(file).windows(text.len()).any(|window| window == text.as_bytes());
    files(dir).into_iter().filter(holds).collect()
}

#[tokio::test]
async fn what_an_encrypted_hub_keeps_is_found_again_after_a_kill_and_never_plain_on_its_disk() {
    let mut hub = encrypted().await;
    let (task, artifact) = (kept(&hub, "one").await, uploaded(&hub).await);
    assert_eq!(holding(&hub.data(), CANARY), Vec::<PathBuf>::new());
    assert_eq!(keys(&hub).await["encrypted"], true);
    hub.kill_9();
    assert_eq!(holding(&hub.data(), CANARY), Vec::<PathBuf>::new());
    hub.restart().await;
    is_there(&hub, &task, &artifact).await;
}

#[tokio::test]
async fn a_hub_that_was_not_encrypted_becomes_one_that_is() {
    let mut hub = builder().file("outer.key", ONE).config("tools: { directory: ./tools }\n").start().await;
    let (task, artifact) = (kept(&hub, "one").await, uploaded(&hub).await);
    assert!(!holding(&hub.data(), CANARY).is_empty(), "the search finds what is plain");
    assert_eq!(keys(&hub).await["encrypted"], false);
    hub.stop().await;
    hub.write("interlingua.yaml", ENCRYPTED);
    hub.restart().await;
    assert_eq!(holding(&hub.data(), CANARY), Vec::<PathBuf>::new());
    is_there(&hub, &task, &artifact).await;
}

#[tokio::test]
async fn without_its_key_or_with_another_a_hub_says_so_and_does_not_start() {
    let mut hub = encrypted().await;
    hub.stop().await;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];
    let said = |arguments: &[&str]| {
        let output = run(&hub, arguments);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains(ONE) && !text.contains(TWO), "{text}");
        (output.status.code(), text)
    };
    let (code, text) = said(&serve);
    assert!(code == Some(1) && text.contains("is encrypted") && text.contains("store.encryption"), "{code:?} {text}");
    let (code, text) = said(&["doctor", "--json", "--data", "data", "--listen", "127.0.0.1:0"]);
    assert!(code == Some(1) && text.contains("store.encryption is wanted"), "{code:?} {text}");
    hub.write("outer.key", TWO);
    let with_file = [&serve[..], &["-c", "interlingua.yaml"]].concat();
    let (code, text) = said(&with_file);
    assert!(code == Some(1) && text.contains("which is not the one that was given"), "{code:?} {text}");
    hub.write("outer.key", "no key at all");
    let (code, text) = said(&with_file);
    assert!(code == Some(3) && text.contains("store.encryption.key"), "{code:?} {text}");
    hub.write("interlingua.yaml", "store: { encryption: { command: [\"false\"] } }\n");
    let (code, text) = said(&with_file);
    assert!(code == Some(1) && text.contains("printed no key"), "{code:?} {text}");
    // And with a program that prints the right one it does.
    hub.write("outer.key", ONE);
    hub.write("interlingua.yaml", "store: { encryption: { command: [cat, outer.key] } }\n");
    hub.restart().await;
    assert_eq!(keys(&hub).await["encrypted"], true);
}

/// Which outer key wraps: the first of the list.
async fn wraps(hub: &Hub) -> String {
    keys(hub).await["outer"][0]["id"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn every_key_of_the_store_is_changed_while_the_hub_runs() {
    let mut hub = encrypted().await;
    let (task, artifact) = (kept(&hub, "one").await, uploaded(&hub).await);
    let before = keys(&hub).await;
    let old_outer = wraps(&hub).await;
    // A new key in the ring.
    let output = run(&hub, &["keys", "rotate", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let after = keys(&hub).await;
    // What it seals is counted, and changes.
    assert_eq!(after["keys"][1]["id"], before["keys"][0]["id"]);
    assert_ne!(after["keys"][0]["id"], before["keys"][0]["id"]);
    is_there(&hub, &task, &artifact).await;
    // A new outer key: the hub sees that the file changed, or is told, and wraps what it has.
    assert!(run(&hub, &["keys", "rotate", "--outer", "outer.key"]).status.success());
    hub.reload();
    until("the new outer key wraps", async || wraps(&hub).await != old_outer).await;
    let listed = run(&hub, &["keys", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("wraps the others") && listed.contains(&old_outer), "{listed}");
    // The old one goes; then the ring opens with the new one alone, also after a kill.
    let text = std::fs::read_to_string(hub.directory().join("outer.key")).expect("keys");
    let newest: Vec<&str> = text.lines().take(2).collect();
    hub.write("outer.key", newest.join("\n"));
    hub.reload();
    let outer_keys = async || keys(&hub).await["outer"].as_array().map_or(0, Vec::len);
    until("one outer key is left", async || outer_keys().await == 1).await;
    let second = kept(&hub, "two").await;
    hub.kill_9();
    hub.restart().await;
    is_there(&hub, &task, &artifact).await;
    assert_eq!(state(&hub, &second).await, "completed");
    assert_ne!(wraps(&hub).await, old_outer);
}

#[tokio::test]
async fn an_outer_key_that_does_not_open_the_ring_is_not_taken_by_a_running_hub() {
    let mut hub = encrypted().await;
    let before = wraps(&hub).await;
    hub.write("outer.key", TWO);
    hub.reload();
    logged(&hub, &["configuration not applied", "store.encryption"]).await;
    assert_eq!(wraps(&hub).await, before);
    assert!(!hub.log().contains(TWO) && !hub.log().contains(ONE));
}

#[tokio::test]
async fn a_key_that_is_taken_out_of_the_file_is_forgotten_at_the_next_reload() {
    let mut hub = builder().config("{}\n").start().await;
    let rotated = hub.post_json("/api/keys/rotate", &json!({"what": "key"})).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text());
    let ring = async || keys(&hub).await["keys"].as_array().map_or(0, Vec::len);
    assert_eq!(ring().await, 2);
    let file = hub.data().join("keys");
    let text = std::fs::read_to_string(&file).expect("keys");
    std::fs::write(&file, text.lines().take(2).collect::<Vec<_>>().join("\n")).expect("written");
    hub.reload();
    let ring = async || keys(&hub).await["keys"].as_array().map_or(0, Vec::len);
    until("one key is left", async || ring().await == 1).await;
}

#[tokio::test]
async fn the_owner_gets_a_new_token_and_the_old_one_is_refused_also_after_a_reload() {
    let mut hub = builder().config("{}\n").start().await;
    let old = owner_token(&hub);
    assert_eq!(with(&hub, &old).await, 200);
    assert!(run(&hub, &["keys", "rotate", "--owner-token"]).status.success());
    let new = owner_token(&hub);
    assert_ne!(old, new);
    assert_eq!((with(&hub, &old).await, with(&hub, &new).await), (401, 200));
    hub.write("interlingua.yaml", "limits: { depth: 100 }\n");
    hub.reload();
    logged(&hub, &["configuration applied"]).await;
    assert_eq!((with(&hub, &old).await, with(&hub, &new).await), (401, 200));
}

/// As a page would ask: nothing but the token says who it is.
async fn with(hub: &Hub, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), OWN_PAGE[0], OWN_PAGE[1]];
    send(hub, Method::GET, "/api/keys", &headers, None).await.status
}

#[tokio::test]
async fn only_the_owner_sees_or_changes_keys() {
    let yaml = "access: { tokens: [{ name: ana, token: ana-token, approve: true, register: true }] }\n";
    let hub = builder().config(yaml).start().await;
    let before = keys(&hub).await;
    for headers in [&[("authorization", "Bearer ana-token")][..], OWN_PAGE] {
        assert_eq!(send(&hub, Method::GET, "/api/keys", headers, None).await.status, 403, "{headers:?}");
        let body = Some(json!({"what": "key"}));
        assert_eq!(send(&hub, Method::POST, "/api/keys/rotate", headers, body).await.status, 403, "{headers:?}");
    }
    assert_eq!(keys(&hub).await, before);
    let unknown = hub.post_json("/api/keys/rotate", &json!({"what": "everything"})).await.status;
    assert_eq!(unknown, 422);
}

/// How many keys the ring has.
async fn ring(hub: &Hub) -> usize {
    keys(hub).await["keys"].as_array().map_or(0, Vec::len)
}

/// How many values the key at this place seals.
async fn sealed_by(hub: &Hub, place: usize) -> u64 {
    keys(hub).await["keys"][place]["values"].as_u64().expect("they are counted")
}

#[tokio::test]
async fn old_keys_are_taken_out_once_what_they_sealed_is_sealed_anew_also_through_a_kill() {
    let mut hub = encrypted().await;
    let artifact = uploaded(&hub).await;
    let mut tasks = Vec::new();
    for number in 0..20 {
        tasks.push(kept(&hub, &format!("task-{number}")).await);
    }
    let context = json!({"city": CANARY});
    rotations::context(&hub, "m1", context.clone()).await;
    let one = run(&hub, &["keys", "retire"]);
    assert!(
        !one.status.success() && String::from_utf8_lossy(&one.stderr).contains("there is no old key to delete"),
        "{one:?}"
    );
    assert!(run(&hub, &["keys", "rotate"]).status.success());
    assert!(sealed_by(&hub, 1).await > 40 && ring(&hub).await == 2);
    let listed = run(&hub, &["keys", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("opens what it sealed"), "{listed:?}");
    let begun = run(&hub, &["keys", "retire"]);
    assert!(begun.status.success(), "{begun:?}");
    let told = String::from_utf8_lossy(&begun.stderr).into_owned();
    assert!(told.contains("delete") && told.contains("receipts") && told.contains("is refused once"), "{told}");
    // Wherever it has come to.
    hub.kill_9();
    hub.restart().await;
    until("the old key is gone", async || ring(&hub).await == 1).await;
    assert!(sealed_by(&hub, 0).await > 40);
    for task in &tasks {
        is_there(&hub, task, &artifact).await;
    }
    assert_eq!(rotations::context(&hub, "m2", json!(true)).await, context);
    // The file opens with the newest alone, and so does all there is.
    hub.kill_9();
    hub.restart().await;
    assert_eq!((ring(&hub).await, keys(&hub).await["retiring"] == false), (1, true));
    is_there(&hub, &tasks[0], &artifact).await;
    super::audit::verified(&hub);
}

#[tokio::test]
async fn old_keys_are_taken_out_of_a_hub_that_is_not_encrypted_too() {
    let hub = builder().config("tools: { directory: ./tools }\n").start().await;
    let context = json!({"city": "Lisbon"});
    rotations::context(&hub, "m1", context.clone()).await;
    assert!(run(&hub, &["keys", "rotate"]).status.success());
    assert!(run(&hub, &["keys", "retire"]).status.success());
    until("the old key is gone", async || ring(&hub).await == 1).await;
    let file = std::fs::read_to_string(hub.data().join("keys")).expect("the keys");
    assert_eq!(file.lines().filter(|line| !line.starts_with('#')).count(), 1, "one is left in the file");
    assert_eq!(rotations::context(&hub, "m2", json!(true)).await, context);
    super::audit::verified(&hub);
}
