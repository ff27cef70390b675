//! Attacks on the disk by what is stored beside tasks: pending messages of agents, events, notifications, content.

use std::path::Path;

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::json;

use super::{by, register, waiting};
use crate::support::{builder, until};

/// A mebibyte for each caller.
const CALLERS: &str = "
access:
  tokens:
    - { name: eve, token: eve-token, register: true }
    - { name: ann, token: ann-token, register: true }
retention: { bytes_per_caller: 1MiB, clock_leap: 365d }
limits: { task: 512KiB }
";

/// As many of [`fill`] as a mebibyte has room for.
const FIT: usize = 5;

fn fill() -> String {
    "x".repeat(200_000)
}

async fn hub() -> Hub {
    builder().config(CALLERS).start().await
}

/// The one fault of a caller who keeps too much.
fn is_refused(answer: &Answer) {
    assert_eq!(answer.status, 413, "{:.300}", answer.text());
    assert!(answer.text().contains("stored bytes"), "{:.300}", answer.text());
}

/// Stops the hub, makes journals and uploads 200 days older, and starts it again.
async fn ages(hub: &mut Hub) {
    assert!(hub.stop().await.success());
    let store = rusqlite::Connection::open(hub.data().join("hub.db")).expect("the store");
    let days = 200_i64 * 24 * 3600 * 1000;
    store.execute("UPDATE journal SET at = at - ?1", [days]).expect("older");
    store
        .execute("UPDATE records SET expires = expires - ?1 WHERE kind IN ('upload', 'session_notes')", [days])
        .expect("older");
    drop(store);
    hub.restart().await;
}

async fn message(hub: &Hub, name: &str, to: &str) -> Answer {
    let event = json!({"message_type": "event", "to_agent": to, "content": {"fill": fill()}});
    by(hub, name, Method::POST, "/api/messages", Some(event)).await
}

#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_messages_that_wait() {
    let mut hub = hub().await;
    register(&hub, "first").await;
    register(&hub, "second").await;
    for at in 0..FIT {
        let sent = message(&hub, "eve", if at % 2 == 0 { "first" } else { "second" }).await;
        assert_eq!(sent.status, 202, "{}", sent.text());
    }
    is_refused(&message(&hub, "eve", "first").await);
    is_refused(&message(&hub, "eve", "second").await);
    assert_eq!(message(&hub, "ann", "first").await.status, 202, "another caller has its own bytes");
    hub.restart().await;
    is_refused(&message(&hub, "eve", "second").await);
    let read = waiting(&hub, "second").await;
    let path = format!("/api/messages/{}?agent=second", read[0]);
    assert_eq!(by(&hub, "ann", Method::DELETE, &path, None).await.status, 204);
    assert_eq!(message(&hub, "eve", "first").await.status, 202, "what was read counts no longer");
    is_refused(&message(&hub, "eve", "first").await);
    assert_eq!(by(&hub, "ann", Method::DELETE, "/api/agents/first", None).await.status, 204);
    assert_eq!(message(&hub, "eve", "second").await.status, 202, "nor does what waited for an agent that is gone");
    hub.restart().await;
    assert_eq!(waiting(&hub, "second").await.len(), 2, "what was read stays read");
}

#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_events_of_topics() {
    let mut hub = hub().await;
    let publish = async |hub: &Hub, name: &str| {
        let event = json!({"message_type": "event", "topic": "news", "content": {"fill": fill()}});
        by(hub, name, Method::POST, "/api/messages", Some(event)).await
    };
    for _ in 0..FIT {
        assert_eq!(publish(&hub, "eve").await.status, 202);
    }
    is_refused(&publish(&hub, "eve").await);
    assert_eq!(publish(&hub, "ann").await.status, 202, "another caller has its own bytes");
    ages(&mut hub).await;
    until("old events make room", async || publish(&hub, "eve").await.status == 202).await;
}

#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_notifications() {
    let mut hub = hub().await;
    let notify = async |hub: &Hub, name: &str, session: &str, id: &str| {
        let note = json!({
            "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0"},
            "control": {"message_type": "notification", "message_id": id, "timestamp": "2026-01-01T00:00:00Z"},
            "token": {"session_id": session}, "content": {"fill": "x".repeat(15_000)}, "metadata": {},
        });
        by(hub, name, Method::POST, "/nlip/route", Some(note)).await
    };
    // In one session the oldest make room for the newest: it holds at most 64 KiB.
    for at in 0..100 {
        let sent = notify(&hub, "eve", "s", &format!("n{at}")).await;
        assert_eq!(sent.status, 202, "{}", sent.text());
    }
    // In many sessions they are all the caller's bytes: sixteen of these sessions are a mebibyte.
    let mut refused = None;
    for at in 0..100 {
        let sent = notify(&hub, "eve", &format!("s{}", at / 4), &format!("m{at}")).await;
        if sent.status != 202 {
            refused = Some((at, sent));
            break;
        }
    }
    let (at, refused) = refused.expect("there is a limit");
    is_refused(&refused);
    assert!((48..72).contains(&at), "{at}");
    assert_eq!(notify(&hub, "ann", "s", "n").await.status, 202, "another caller has its own bytes");
    ages(&mut hub).await;
    until("old notifications make room", async || notify(&hub, "eve", "another", "n").await.status == 202).await;
}

/// Where this caller may upload something.
async fn address(hub: &Hub, name: &str) -> String {
    let question = json!({"messagetype": "control", "format": "text", "subformat": "english",
        "content": "Where can I upload a large file?"});
    let reply = by(hub, name, Method::POST, "/nlip", Some(question)).await;
    let told = reply.json();
    let parts = told["submessages"].as_array().cloned().unwrap_or_default();
    let link = parts.iter().find(|part| part["subformat"] == "uri").and_then(|part| part["content"].as_str());
    let link = link.unwrap_or_else(|| panic!("no link: {}", reply.text()));
    link.strip_prefix(&hub.url("")).expect("of this hub").to_owned()
}

async fn put(hub: &Hub, name: &str, path: &str, content: String) -> Answer {
    let bearer = format!("Bearer {name}-token");
    let sent = request(Method::PUT, path).header("authorization", bearer);
    let sent = sent.header("content-type", "application/octet-stream");
    hub.connect().await.send(sent.body(Full::new(Bytes::from(content))).expect("a request")).await
}

/// Bytes of the content that is stored.
fn content(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => content(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_uploads() {
    let mut hub = hub().await;
    for at in 0..FIT {
        let path = address(&hub, "eve").await;
        let sent = put(&hub, "eve", &path, format!("{at}{}", fill())).await;
        assert_eq!(sent.status, 201, "{}", sent.text());
    }
    let before = content(&hub.data().join("blobs"));
    assert!(before > 1_000_000, "{before}");
    let path = address(&hub, "eve").await;
    let refused = put(&hub, "eve", &path, format!("another {}", fill())).await;
    is_refused(&refused);
    assert_eq!(refused.json()["messagetype"], "error", "{}", refused.text());
    assert_eq!(content(&hub.data().join("blobs")), before, "what is refused leaves nothing");
    let another = address(&hub, "ann").await;
    assert_eq!(put(&hub, "ann", &another, fill()).await.status, 201, "another caller has its own bytes");
    ages(&mut hub).await;
    until("uploads that expired make room", async || {
        let path = address(&hub, "eve").await;
        put(&hub, "eve", &path, fill()).await.status == 201
    })
    .await;
}

#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_content_of_artifacts() {
    let mut hub = hub().await;
    let share = async |hub: &Hub, name: &str, content: Option<String>| {
        let artifact = json!({"name": "plan", "media": "text/plain", "content": content});
        by(hub, name, Method::POST, "/api/artifacts", Some(artifact)).await
    };
    let id = |answer: &Answer| answer.json()["artifact_id"].as_str().expect("an id").to_owned();
    let at_once = share(&hub, "eve", Some(fill())).await;
    assert_eq!(at_once.status, 201, "{}", at_once.text());
    for at in 1..FIT {
        let shared = share(&hub, "eve", None).await;
        let path = format!("/api/artifacts/{}/content", id(&shared));
        let filled = put(&hub, "eve", &path, format!("{at}{}", fill())).await;
        assert_eq!(filled.status, 200, "{}", filled.text());
    }
    let before = content(&hub.data().join("blobs"));
    is_refused(&share(&hub, "eve", Some(format!("another {}", fill()))).await);
    let waits = share(&hub, "eve", None).await;
    let path = format!("/api/artifacts/{}/content", id(&waits));
    is_refused(&put(&hub, "eve", &path, format!("another {}", fill())).await);
    assert_eq!(content(&hub.data().join("blobs")), before, "what is refused leaves nothing");
    assert_eq!(share(&hub, "ann", Some(fill())).await.status, 201, "another caller has its own bytes");
    hub.restart().await;
    is_refused(&put(&hub, "eve", &path, fill()).await);
    let forgotten = format!("/api/artifacts/{}", id(&at_once));
    assert_eq!(by(&hub, "eve", Method::DELETE, &forgotten, None).await.status, 204);
    assert_eq!(put(&hub, "eve", &path, fill()).await.status, 200, "what is forgotten makes room");
}
