//! Memory budget of bodies: when it is used up, large ones are refused in each protocol's own form, and small calls continue; the hub never
//! holds more than the budget.

use std::time::Duration;

use futures_util::future::join_all;
use http::{Method, Request};
use http_body_util::Full;
use interlingua_a2a::Version;
use interlingua_a2a::grpc::service;
use interlingua_testkit::raw::Raw;
use interlingua_testkit::{Connection, Hub, grpc, request};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{LINGER, echo, post, was_let_in};
use crate::support::{builder, until};

const MIB: usize = 1024 * 1024;
/// All of it, in bytes.
const ROOM: f64 = 4_194_304.0;
const CONFIG: &str = "
tools: { directory: ./tools }
limits: { body: 2MiB, bodies: 4MiB }
";
const FULL: &str = "the hub reads as much as it can at once";

async fn hub() -> Hub {
    // Longer than any machine needs for the rest of a test.
    let hold = LINGER.replace("linger", "hold").replace("sleep 60", "sleep 250").replace("timeout: 2m", "timeout: 5m");
    builder().file("tools/hold.yaml", &hold).config(CONFIG).start().await
}

async fn held(hub: &Hub) -> f64 {
    let text = hub.get("/metrics").await.text();
    let line = text.lines().find_map(|line| line.strip_prefix("interlingua_body_bytes "));
    line.and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("no such gauge: {text}"))
}

fn sent(path: &str, headers: &[(&str, &str)], body: &Value) -> Request<Full<bytes::Bytes>> {
    written(path, headers, body.to_string())
}

fn written(path: &str, headers: &[(&str, &str)], body: String) -> Request<Full<bytes::Bytes>> {
    let mut sent = request(Method::POST, path).header("content-type", "application/json");
    for (name, value) in headers {
        sent = sent.header(*name, *value);
    }
    sent.body(Full::new(body.into())).expect("a request")
}

fn called(skill: &str, bytes: usize) -> Value {
    json!({"skill": skill, "arguments": {"text": "x".repeat(bytes)}})
}

/// Takes all the room, with bodies that were read and are being answered, until what is returned is dropped.
async fn filled(hub: &Hub) -> JoinSet<()> {
    let (address, token, mut slow) = (hub.address(), hub.token(), JoinSet::new());
    for _ in 0..2 {
        let token = token.clone();
        slow.spawn(async move {
            let mut connection = Connection::http1(address).await.showing(token);
            let padded = format!("{}{}", json!({"skill": "local/hold"}), " ".repeat(2 * MIB - 1_000));
            let _ = connection.try_send(written("/api/exchanges", &[], padded)).await;
        });
    }
    until("no room", async || held(hub).await > ROOM - 100_000.0).await;
    slow
}

/// More than is small, and little enough to be sent whole before it is refused.
const LARGE: usize = 200 * 1024;

/// Where a body goes, with which headers, what it says, and the status of its refusal.
type Large = (&'static str, Vec<(&'static str, &'static str)>, Value, u16);

/// A large body in every protocol.
fn large() -> Vec<Large> {
    let text = "x".repeat(LARGE);
    let rpc = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let message = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}});
    vec![
        ("/nlip", vec![], json!({"format": "text", "subformat": "english", "content": text}), 503),
        ("/nlip/route", vec![], json!({"content": text}), 429),
        ("/mcp", vec![], rpc("tools/call", json!({"name": "hub__echo", "arguments": {"text": text}})), 503),
        ("/a2a", vec![("a2a-version", "1.0")], rpc("SendMessage", message.clone()), 503),
        ("/a2a/message:send", vec![("a2a-version", "1.0")], message, 503),
        ("/ask", vec![], json!({"query": {"text": text}}), 503),
        ("/api/exchanges", vec![], called("hub/echo", LARGE), 503),
    ]
}

#[tokio::test]
async fn with_no_room_left_large_bodies_are_refused_in_each_protocols_form_and_small_calls_go_on() {
    let hub = hub().await;
    let slow = filled(&hub).await;
    let refused = join_all(large().into_iter().map(async |(path, headers, body, status)| {
        let answer = hub.connect_h2c().await.send(sent(path, &headers, &body)).await;
        assert_eq!((answer.status, answer.header("retry-after")), (status, Some("5")), "{path}: {}", answer.text());
        assert!(answer.text().contains(FULL), "{path}: {}", answer.text());
    }));
    let by_grpc = async {
        let mut connection = hub.connect_h2c().await;
        let path = format!("/{}/SendMessage", service(Version::V1));
        let mut messages = connection.messages(grpc::call(&path, &[("a2a-version", "1.0")], &vec![0; LARGE])).await;
        while messages.next().await.is_some() {}
        assert_eq!(messages.code(), Some("14"), "gRPC: {:?}", messages.text("grpc-message"));
    };
    let on_one_line = async {
        let mut raw = Raw::connect(hub.address()).await;
        let head = format!(
            "POST /nlip HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{}",
            hub.address(),
            hub.bearer_line()
        );
        raw.write(format!("{head}content-length: {MIB}\r\n\r\n").as_bytes()).await;
        raw.write(&vec![b' '; 80 * 1024]).await;
        let (status, said) = raw.read_status().await.expect("an answer");
        assert_eq!(status, 503, "{said}");
    };
    let small = async {
        for _ in 0..20 {
            assert!(was_let_in(&post(&hub, &echo(), &[]).await), "a small call");
        }
    };
    tokio::join!(refused, by_grpc, on_one_line, small);
    drop(slow);
    until("room again", async || held(&hub).await < 1.0).await;
    let answer = hub.post_json("/api/exchanges", &called("hub/echo", MIB)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_hundred_large_bodies_at_once_never_hold_more_than_the_room_there_is() {
    let hub = hub().await;
    let bodies = join_all((0..100).map(async |_| {
        let answer = hub.connect_h2c().await.send(sent("/api/exchanges", &[], &called("hub/echo", LARGE))).await;
        match answer.status {
            200 => true,
            503 => {
                assert!(answer.text().contains(FULL), "{}", answer.text());
                false
            }
            status => panic!("{status}: {}", answer.text()),
        }
    }));
    let watched = async {
        loop {
            let held = held(&hub).await;
            assert!(held <= ROOM, "{held} bytes are held");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let answered = tokio::select! {
        answered = bodies => answered,
        () = watched => unreachable!("the watch has no end"),
    };
    assert!(answered.contains(&true), "some were read");
    until("room again", async || held(&hub).await < 1.0).await;
}
