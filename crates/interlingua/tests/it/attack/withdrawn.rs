//! A credential is revoked while its caller has something open: by its issuer, by its list, by its expiry.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::Method;
use interlingua_a2a::grpc::service;
use interlingua_a2a::method::Method as Operation;
use interlingua_a2a::{Version, proto};
use interlingua_testkit::{Hub, grpc};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{builder, send, streaming, until};
use crate::trust::certificates::{Shown, authority, setting};
use crate::trust::issuers::{ISSUER, Key, Keys};

const V1: (&str, &str) = ("a2a-version", "1.0");

async fn skills(hub: &Hub, token: &str) -> u16 {
    send(hub, Method::GET, "/api/skills", &[("authorization", &format!("Bearer {token}"))], None).await.status
}

#[tokio::test]
async fn attack_a_key_that_its_issuer_withdrew_goes_on_counting() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let keys = Keys::serve(&[&old]).await;
    let issuer = format!("issuer: \"{ISSUER}\", audience: [hub], keys: \"{}\", skills: [\"*\"]", keys.url);
    let config = format!(
        "tools: {{ directory: ./tools }}\naccess: {{ anonymous: refused, issuers: {{ corp: {{ {issuer} }} }} }}\n"
    );
    let hub = builder().config(&config).start().await;
    let token = old.token(&json!({}));
    until("the keys", async || skills(&hub, &token).await == 200).await;
    let bearer = format!("Bearer {token}");
    let by_old = ("authorization", bearer.as_str());
    let body = Some(json!({"skill": "local/slow"}));
    let task =
        send(&hub, Method::POST, "/api/tasks", &[by_old], body).await.json()["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/tasks/{task}/events");
    let (_connection, mut events) = streaming(&hub, Method::GET, &path, &[by_old], None).await;
    let mut socket = hub.frames("/nlip/ws/text", &[by_old]).await.expect("opened");
    let mut connection = hub.connect_h2c().await;
    let asked = json!({"id": task}).to_string();
    let asked = proto::request_from_json(Operation::Subscribe, Version::V1, asked.as_bytes()).expect("a request");
    let path = format!("/{}/{}", service(Version::V1), Operation::Subscribe.grpc(Version::V1).expect("a name"));
    let mut messages = connection.messages(grpc::call(&path, &[by_old, V1], &asked)).await;
    assert!(messages.next().await.is_some(), "the stream of gRPC begins");
    keys.change(&[&new]);
    // A token of a key that is not known has the keys read again.
    until("the new key", async || skills(&hub, &new.token(&json!({}))).await == 200).await;
    assert_eq!(skills(&hub, &token).await, 401, "what was verified before counts no more");
    let mut last = String::new();
    while let Some(event) = events.next().await {
        last = event;
    }
    assert!(last.contains("credential"), "the stream of events ends: {last}");
    assert_eq!(socket.read_close_code().await, Some(1008), "the socket is closed");
    while messages.next().await.is_some() {}
    assert_eq!(messages.code(), Some("16"), "{:?}", messages.text("grpc-message"));
}

/// All that comes until this does.
async fn read_until(stream: &mut (impl AsyncReadExt + Unpin), found: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 16 * 1024]);
    while !found(&all) {
        let read =
            tokio::time::timeout(Duration::from_secs(60), stream.read(&mut piece)).await.expect("it is not left open");
        match read {
            Ok(0) | Err(_) => break,
            Ok(count) => all.extend_from_slice(&piece[..count]),
        }
    }
    all
}

fn has(all: &[u8], words: &[u8]) -> bool {
    all.windows(words.len()).any(|window| window == words)
}

#[tokio::test]
async fn attack_a_certificate_that_was_removed_keeps_its_stream_and_its_socket() {
    let clients = authority("clients");
    let (robot, other) = (Shown::new(&clients, "robot"), Shown::new(&clients, "other"));
    let of = |name: &str, shown: &Shown| format!("- {{ name: {name}, certificate: \"{}\" }}\n", shown.digest());
    let both = format!("{}{}", of("robot", &robot), of("other", &other));
    let setting = setting(&clients, &both).await;
    let listen = "GET /api/messages?topic=** HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
    let upgrade = "GET /nlip/ws/text HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
        sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let mut open = Vec::new();
    for (shown, head) in [(&robot, listen), (&robot, upgrade), (&other, listen)] {
        let mut stream = setting.connect(Some(shown)).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("written");
        let begun = read_until(&mut stream, |all| has(all, b"\r\n\r\n")).await;
        assert!(has(&begun, b"HTTP/1.1 200") || has(&begun, b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&begun));
        open.push(stream);
    }
    setting.hub.write("tokens.yaml", of("other", &other));
    let told = read_until(&mut open[0], |all| has(all, b"credential")).await;
    assert!(has(&told, b"credential"), "{}", String::from_utf8_lossy(&told));
    // A close frame with the code 1008.
    let told = read_until(&mut open[1], |all| has(all, &[0x03, 0xf0])).await;
    assert!(told.contains(&0x88) && has(&told, &[0x03, 0xf0]), "{told:?}");
    let mut again = setting.connect(Some(&other)).await.expect("a connection");
    again.write_all(b"GET /api/skills HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("written");
    assert!(has(&read_until(&mut again, |all| has(all, b"\r\n\r\n")).await, b"HTTP/1.1 200"), "the other goes on");
}

fn rfc3339(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    interlingua_model::Time(seconds * 1000).to_string()
}

/// A call that waits for an approval when its caller's credential is taken back, or expires.
#[tokio::test]
async fn attack_a_call_that_waits_is_approved_after_its_callers_credential_was_taken_back() {
    const BOSS: &str = "- { name: boss, token: ilg_boss, approve: true }\n";
    for expires in [false, true] {
        let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
        let done = builder.directory().join("erase.done");
        let erase = format!(
            "name: erase\ndescription: Erases.\neffects: {{ destroys: true }}\n\
             command: [sh, -c, 'echo x >> {}; echo \"{{}}\"']\n",
            done.display()
        );
        let until_when = match expires {
            true => format!(", expires: \"{}\"", rfc3339(SystemTime::now() + Duration::from_secs(20))),
            false => String::new(),
        };
        let list = format!("- {{ name: ann, token: ilg_ann{until_when} }}\n{BOSS}");
        let config = "tools: { directory: ./tools }\naccess: { tokens: file:./tokens.yaml, anonymous: refused }\n";
        let hub = builder.file("tools/erase.yaml", erase).file("tokens.yaml", list).config(config).start().await;
        let by = |who: &str| format!("Bearer ilg_{who}");
        let (ann, boss) = (by("ann"), by("boss"));
        let body = Some(json!({"skill": "local/erase", "arguments": {}}));
        let begun = send(&hub, Method::POST, "/api/tasks", &[("authorization", &ann)], body).await;
        assert_eq!(begun.status, 202, "{}", begun.text());
        let listed =
            async || send(&hub, Method::GET, "/api/confirmations", &[("authorization", &*boss)], None).await.json();
        until("its question", async || listed().await["items"][0]["id"].is_string()).await;
        let question: Value = listed().await["items"][0].clone();
        if !expires {
            hub.write("tokens.yaml", BOSS);
        }
        let refused =
            async || send(&hub, Method::GET, "/api/tasks", &[("authorization", &*ann)], None).await.status == 401;
        until("her credential counts no more", async || refused().await).await;
        let path = format!("/api/confirmations/{}", question["id"].as_str().expect("an id"));
        send(&hub, Method::POST, &path, &[("authorization", &boss)], Some(json!({"approve": true}))).await;
        until("nothing waits any more", async || listed().await["items"].as_array().is_some_and(Vec::is_empty)).await;
        let owner = fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
        let owner = format!("Bearer {}", owner.trim());
        let path = format!("/api/tasks/{}", begun.json()["id"].as_str().expect("an id"));
        let mut task = Value::Null;
        until("its end", async || {
            task = send(&hub, Method::GET, &path, &[("authorization", &*owner)], None).await.json();
            task["finished"].is_object()
        })
        .await;
        assert_eq!((&task["state"], done.exists()), (&json!("failed"), false), "expires {expires}: {task}");
    }
}
