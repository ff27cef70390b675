//! Every seed of every fuzz target at every endpoint, over real sockets, while honest callers of all five protocols continue. Speed is not
//! measured here: `make bench` compares the honest callers' times with those under a harmless load.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use interlingua_testkit::raw::{Fin, Opcode, Raw};
use interlingua_testkit::{Connection, Hub, grpc};
use serde_json::{Value, json};

use super::{STALL, settle};
use crate::mcp::Modern;
use crate::support::{hub, send};

/// Where a body can be posted, and as what.
const POSTED: [(&str, &str); 10] = [
    ("/nlip", "application/json"),
    ("/nlip", "application/cbor"),
    ("/mcp", "application/json"),
    ("/a2a", "application/json"),
    ("/a2a/message:send", "application/a2a+json"),
    ("/a2a/message:stream", "application/json"),
    ("/ask", "application/json"),
    ("/api/exchanges", "application/json"),
    ("/nlip/route", "application/json"),
    ("/await", "application/json"),
];
const SOCKETS: [(&str, Opcode); 4] =
    [("/nlip/ws", Opcode::Binary), ("/nlip/ws/text", Opcode::Text), ("/ws", Opcode::Text), ("/aip/ws", Opcode::Text)];
const CALLS: [&str; 3] =
    ["/lf.a2a.v1.A2AService/SendMessage", "/lf.a2a.v1.A2AService/ListTasks", "/a2a.v1.A2AService/SendStreamingMessage"];

struct Seed {
    name: String,
    bytes: Vec<u8>,
}

fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let files = |directory: &Path| {
        let listed = std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
        listed.collect::<Vec<_>>()
    };
    for target in files(&interlingua_testkit::root().join("fixtures/fuzz")) {
        for file in files(&target) {
            seeds.push(Seed { name: file.display().to_string(), bytes: std::fs::read(&file).expect("a seed") });
        }
    }
    seeds
}

/// What is wrong with how the hub took these bytes as the body of a request: anything but an answer that blames the caller, or
/// that does what he asked for.
async fn posted(hub: &Hub, seed: &Seed, (path, media): (&str, &str)) -> Option<String> {
    let mut raw = Raw::connect(hub.address()).await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: {media}\r\naccept: application/json, text/event-stream\r\n\
         connection: close\r\ncontent-length: {}\r\n{}\r\n",
        hub.address(),
        seed.bytes.len(),
        hub.bearer_line(),
    );
    raw.write(head.as_bytes()).await;
    raw.write(&seed.bytes).await;
    match raw.read_status().await {
        Some((status, _)) if status < 500 => None,
        Some((status, text)) => Some(format!("{} at {path} as {media}: {status}, {text}", seed.name)),
        None => Some(format!("{} at {path} as {media}: no answer", seed.name)),
    }
}

/// A socket that gets a seed is left at once: what the hub makes of it is its own affair, as long as it goes on.
async fn framed(hub: &Hub, seed: &Seed, (path, opcode): (&str, Opcode)) {
    let mut socket = hub.frames(path, &[]).await.unwrap_or_else(|status| panic!("{path}: {status}"));
    socket.send(Fin::Last, opcode, &seed.bytes).await;
}

async fn called(calls: &mut Connection, seed: &Seed, path: &str) -> Option<String> {
    let answer = calls.messages(grpc::call(path, &[("a2a-version", "1.0")], &seed.bytes)).await;
    (answer.status != 200).then(|| format!("{} at {path}: {}", seed.name, answer.status))
}

async fn replay(hub: &Hub) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut calls = hub.connect_h2c().await;
    for seed in seeds() {
        for door in POSTED {
            complaints.extend(posted(hub, &seed, door).await);
        }
        for door in SOCKETS {
            framed(hub, &seed, door).await;
        }
        for path in CALLS {
            complaints.extend(called(&mut calls, &seed, path).await);
        }
    }
    complaints
}

/// Whoever asks the hub something while it is attacked, again and again, and is answered rightly and in time.
async fn honest(name: &str, rounds: &AtomicUsize, ask: impl AsyncFn()) {
    loop {
        tokio::time::timeout(STALL, ask()).await.unwrap_or_else(|_| panic!("{name} is stalled"));
        rounds.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn nlip(hub: &Hub) {
    let greeting = json!({"format": "text", "subformat": "english", "content": "hello"});
    let answer = hub.post_json("/nlip", &greeting).await;
    assert_eq!((answer.status, &answer.json()["format"]), (200, &json!("text")), "{}", answer.text());
}

async fn mcp(hub: &Hub) {
    let said = Modern::new(hub).call("hub__echo", json!({"text": "still here"})).await;
    assert!(said.to_string().contains("still here"), "{said}");
}

async fn a2a(hub: &Hub) {
    let message = json!({"messageId": uuid(), "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": message}});
    let answer = send(hub, Method::POST, "/a2a", &[("a2a-version", "1.0")], Some(body)).await;
    assert!(answer.json()["result"].is_object(), "{}", answer.text());
}

async fn ask(hub: &Hub) {
    let body = json!({"query": {"text": "hello"}, "prefer": {"streaming": false}});
    let answer = hub.post_json("/ask", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Each message has an id of its own.
fn uuid() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("mix-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A device that stays connected through all of it.
async fn device(hub: &Hub, rounds: &AtomicUsize) {
    let mut socket = hub.websocket("/ws").await;
    let metadata = json!({"platform": "linux"});
    let mut frame = json!({"type": "register", "status": "ok", "client_type": "device", "client_id": "steady", "metadata": metadata});
    loop {
        socket.send_text(frame.to_string()).await;
        let answer: Value = tokio::time::timeout(STALL, socket.next_json()).await.expect("the device is stalled");
        assert_eq!(answer["type"], "heartbeat", "{answer}");
        rounds.fetch_add(1, Ordering::Relaxed);
        frame = json!({"type": "heartbeat", "status": "ok", "client_type": "device", "client_id": "steady"});
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn n_46_hostile_bytes_at_every_door_disturb_no_honest_caller() {
    let hub = hub("aip: { list_tools: 0s }").await;
    let rounds: [AtomicUsize; 5] = Default::default();
    let callers = async {
        tokio::join!(
            honest("NLIP", &rounds[0], async || nlip(&hub).await),
            honest("MCP", &rounds[1], async || mcp(&hub).await),
            honest("A2A", &rounds[2], async || a2a(&hub).await),
            honest("NLWeb", &rounds[3], async || ask(&hub).await),
            device(&hub, &rounds[4]),
        )
    };
    let complaints = tokio::select! {
        complaints = replay(&hub) => complaints,
        _ = callers => unreachable!("they have no end"),
    };
    settle(&complaints);
    for one in &rounds {
        assert!(one.load(Ordering::Relaxed) > 2, "everyone was served: {rounds:?}");
    }
    super::assert_well(&hub).await;
}
