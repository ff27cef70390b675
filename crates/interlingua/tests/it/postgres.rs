//! A hub alone on PostgreSQL: what is stored is in the database and survives the hub and its machine; a database that is away,
//! refuses, or belongs to another hub is reported in words that say what to do.

use std::process::Command;

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::proxy::{Proxy, Weather};
use interlingua_testkit::{Hub, HubBuilder, PostgresBuilder, PostgresServer, postgres, request, skipped};
use serde_json::json;

use crate::support::{builder, logged, reaches, send, start, until};

const TOOLS: &str = "tools: { directory: ./tools }\n";
const PASSWORD: &str = "correct-horse-battery";

fn steps() -> serde_json::Value {
    json!({"skill": "local/steps"})
}

async fn on(server: &PostgresServer) -> Hub {
    builder().on_postgres(&server.url()).config(TOOLS).start().await
}

/// Bytes that are stored as an artifact of the caller; the path they are read at.
async fn upload(hub: &Hub, bytes: Vec<u8>) -> String {
    let made = hub.post_json("/api/artifacts", &json!({"name": "photo", "media": "image/png"})).await.json();
    let path = made["content_path"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let sent = request(Method::PUT, &path).header("content-type", "application/octet-stream");
    let answer = hub.connect().await.send(sent.body(Full::new(Bytes::from(bytes))).expect("a request")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    path
}

async fn hub_keys(hub: &Hub) -> usize {
    hub.get("/api/keys").await.json()["keys"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn a_machine_that_is_lost_takes_no_task_and_no_key_with_it() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let mut first = on(&server).await;
    let task = start(&first, steps()).await;
    reaches(&first, &task, "completed").await;
    let rotated = send(&first, Method::POST, "/api/keys/rotate", &[], Some(json!({"what": "key"}))).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text());
    let path = upload(&first, vec![7; 400_000]).await;
    assert_eq!(send(&first, Method::DELETE, "/api/keys/old", &[], None).await.status, 202);
    until("the old key is deleted", async || hub_keys(&first).await == 1).await;
    let after = start(&first, steps()).await;
    reaches(&first, &after, "completed").await;
    assert!(!first.data().join("hub.db").exists() && !first.data().join("blobs").exists(), "nothing is kept here");
    assert!(first.stop().await.success());
    // Another machine: an empty directory, the same database and the same outer key.
    let second = builder().on_the_database_of(&first).config(TOOLS).start().await;
    for task in [&task, &after] {
        reaches(&second, task, "completed").await;
    }
    assert_eq!(second.get(&path).await.body.len(), 400_000);
    assert_ne!(first.data(), second.data());
    assert_eq!(hub_keys(&second).await, 1, "the ring of the database, as it was left");
}

#[tokio::test]
async fn a_database_that_is_away_makes_the_hub_unready_and_tasks_go_on_when_it_is_back() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let proxy = Proxy::before_bytes(server.address()).await;
    let hub = builder().on_postgres(&server.url_at(proxy.address())).config(TOOLS).start().await;
    assert_eq!(hub.get("/readyz").await.text(), "ready\n");
    proxy.turn(Weather::Cut);
    // Nobody calls it: it finds out by itself.
    until("it is unready", async || hub.get("/readyz").await.status == 503).await;
    assert!(hub.get("/readyz").await.text().contains("the database cannot be reached"));
    assert_eq!(hub.get("/healthz").await.status, 200, "it is alive");
    let refused = hub.post_json("/api/tasks", &steps()).await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(refused.json()["error"]["kind"], "busy");
    logged(&hub, &["database_away"]).await;
    proxy.turn(Weather::Fair);
    until("it is ready again", async || hub.get("/readyz").await.status == 200).await;
    let task = start(&hub, steps()).await;
    reaches(&hub, &task, "completed").await;
}

async fn refused(builder: HubBuilder) -> String {
    let (status, said) = builder.refused().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(!said.contains(PASSWORD) && !said.contains("wrong-horse"), "{said}");
    said
}

#[tokio::test]
async fn a_hub_that_cannot_use_its_database_says_why_and_what_to_do_and_never_the_password() {
    let server = match PostgresBuilder::default().password(PASSWORD).start().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let nowhere = interlingua_testkit::port::free();
    let said = refused(builder().on_postgres(&format!("postgres://hub:{PASSWORD}@{nowhere}/postgres"))).await;
    assert!(said.contains("check that the server runs"), "{said}");
    let wrong = format!("postgres://hub:wrong-horse@{}/postgres", server.address());
    let said = refused(builder().on_postgres(&wrong)).await;
    assert!(said.contains("check user and password"), "{said}");
    let first = builder().on_postgres(&server.url()).start().await;
    let said = refused(builder().on_the_database_of(&first)).await;
    assert!(
        said.contains("hub_name_taken") && said.contains("another hub named `hub` runs on this database"),
        "{said}"
    );
    assert_eq!(first.get("/readyz").await.status, 200, "the first goes on");
    assert!(!first.log().contains(PASSWORD));
}

#[tokio::test]
async fn k_02_a_hub_that_was_killed_holds_the_lock_of_its_directory_again_and_does_not_wait() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let mut hub = on(&server).await;
    let task = start(&hub, steps()).await;
    hub.kill_9();
    hub.restart().await;
    assert!(!hub.log().contains("hub_name_taken"), "{}", hub.log());
    until("the task ends", async || hub.get(&format!("/api/tasks/{task}")).await.json()["finished"].is_object()).await;
}

#[tokio::test]
async fn tasks_keep_their_key_their_question_and_their_end_over_a_kill() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let mut hub = on(&server).await;
    let key = [("idempotency-key", "order-7")];
    let ordered = send(&hub, Method::POST, "/api/tasks", &key, Some(steps())).await.json();
    reaches(&hub, ordered["id"].as_str().expect("an id"), "completed").await;
    let erase = json!({"skill": "local/erase", "arguments": {"what": "all"}});
    let waiting = start(&hub, erase.clone()).await;
    let asked = reaches(&hub, &waiting, "waiting").await;
    let cancelled = start(&hub, erase).await;
    reaches(&hub, &cancelled, "waiting").await;
    send(&hub, Method::DELETE, &format!("/api/tasks/{cancelled}"), &[], None).await;
    reaches(&hub, &cancelled, "cancelled").await;
    hub.kill_9();
    hub.restart().await;
    let again = send(&hub, Method::POST, "/api/tasks", &key, Some(steps())).await.json();
    assert_eq!(again["id"], ordered["id"], "the same task: {again}");
    let found = reaches(&hub, &waiting, "waiting").await;
    assert_eq!(found["questions"], asked["questions"]);
    let question = hub.get("/api/confirmations").await.json()["items"][0]["id"].as_str().expect("an id").to_owned();
    hub.post_json(&format!("/api/confirmations/{question}"), &json!({"approve": true})).await;
    reaches(&hub, &waiting, "completed").await;
    reaches(&hub, &cancelled, "cancelled").await;
    let listed = hub.get("/api/tasks").await.json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(3), "{listed}");
}

#[tokio::test]
async fn a_directory_of_another_store_and_another_hubs_database_are_refused() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let said = refused(builder().on_postgres(&server.url()).file("data/hub.db", "")).await;
    assert!(said.contains("store.local"), "{said}");
    let mut first = builder().on_postgres(&server.url()).config("hub: { id: hotels }\n").start().await;
    assert!(first.stop().await.success());
    let said = refused(builder().on_the_database_of(&first).config("hub: { id: rooms }\n")).await;
    assert!(said.contains("belongs to the hub `hotels`"), "{said}");
}

#[tokio::test]
async fn large_content_is_in_the_database() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let mut hub = on(&server).await;
    let bytes: Vec<u8> = (0..700_000_u32).map(|number| u8::try_from(number % 251).expect("small")).collect();
    let path = upload(&hub, bytes.clone()).await;
    hub.restart().await;
    let answer = hub.get(&path).await;
    assert_eq!((answer.status, answer.body.len()), (200, bytes.len()));
    assert!(answer.body == bytes, "every byte");
}

/// `check` and `doctor` of a configuration.
fn said(command: &str, yaml: &str) -> (bool, String) {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("hub.yaml"), yaml).expect("a file");
    let mut program = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    let flag: &[&str] = if command == "check" { &["hub.yaml"] } else { &["-c", "hub.yaml"] };
    let done = program.arg(command).args(flag).current_dir(directory.path()).output().expect("it runs");
    let text = [done.stdout, done.stderr].concat();
    (done.status.success(), String::from_utf8_lossy(&text).into_owned())
}

const KEY: &str = "encryption: { key: '2222222222222222222222222222222222222222222222222222222222222222' }";

#[tokio::test]
async fn check_refuses_a_database_without_encryption_beside_a_directory_or_in_plain_text() {
    let url = format!("postgres://hub:{PASSWORD}@db.example/hub");
    for (yaml, problem) in [
        (format!("store: {{ postgres: {{ url: '{url}' }} }}"), "store.encryption"),
        (format!("store: {{ postgres: {{ url: '{url}' }}, embedded: data, {KEY} }}"), "remove `embedded`"),
        (format!("store: {{ postgres: {{ url: '{url}?sslmode=disable' }}, {KEY} }}"), "insecure: true"),
        (format!("store: {{ postgres: {{ url: 'mysql://{PASSWORD}' }}, {KEY} }}"), "expected postgres://"),
        (format!("store: {{ postgres: {{ url: '{url}', writers: 0 }}, {KEY} }}"), "from 1 to 64"),
        (format!("store: {{ postgres: {{ url: '{url}', ca: missing.pem }}, {KEY} }}"), "missing.pem"),
        ("store: { local: data }".to_owned(), "only a hub on `postgres`"),
    ] {
        let (valid, text) = said("check", &yaml);
        assert!(!valid && text.contains(problem), "{yaml}: {text}");
    }
    for more in ["", ", insecure: true, schema: mine, writers: 2, readers: 3"] {
        let (valid, text) = said("check", &format!("store: {{ postgres: {{ url: '{url}'{more} }}, {KEY} }}"));
        assert!(valid && !text.contains(PASSWORD), "{text}");
    }
}

#[tokio::test]
async fn doctor_looks_at_the_database() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let yaml = |url: &str| format!("listen: 127.0.0.1:0\nstore: {{ postgres: {{ url: '{url}' }}, {KEY} }}");
    let (_, text) = said("doctor", &yaml(&server.url()));
    assert!(text.contains("PostgreSQL 15") && text.contains("no checksums"), "{text}");
    let nowhere = interlingua_testkit::port::free();
    let (well, text) = said("doctor", &yaml(&format!("postgres://hub:{PASSWORD}@{nowhere}/hub")));
    assert!(!well && text.contains("check that the server runs") && !text.contains(PASSWORD), "{text}");
}
