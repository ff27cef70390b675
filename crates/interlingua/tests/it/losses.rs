//! Losses in the audit log: what a caller's own protocol could not carry is a line that names the exchange, the protocol and each loss;
//! without a loss there is no line. Tested for every kind of request, over its real wire.

use http::Method;
use interlingua_a2a::grpc::service;
use interlingua_a2a::method::Method as Operation;
use interlingua_a2a::{Version, ext, proto};
use interlingua_testkit::grpc::call;
use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::{Value, json};

use crate::mcp::{Modern, Session};
use crate::support::{builder, send, until};
use crate::trust::audit::{audit, verified};

/// What the first generation of NLWeb sends by POST.
const FORM: &str = "application/x-www-form-urlencoded";

/// Says what every protocol can say.
const PLAIN: &str = r#"
scenes: [{ play: [{ answer: { text: "Hello." } }] }]
"#;

/// What it says bears a label that only the hub may use: NLIP has no other place for a name.
const FORGER: &str = r#"
scenes: [{ play: [{ answer: { text: "Hello.", name: interlingua-route } }] }]
"#;

/// An agent whose answer is text, source, bytes, a place and something of its own.
async fn rich() -> Scripted {
    Scripted::http(|_, _| {
        Say::Json(json!({"format": "text", "subformat": "english", "content": "Look.", "submessages": [
            {"format": "structured", "subformat": "python", "content": "print(1)"},
            {"format": "binary", "subformat": "image/png", "content": "AAEC"},
            {"format": "location", "subformat": "text", "content": "the kitchen"},
            {"format": "generic", "subformat": "mood", "content": {"joy": 1}},
        ]}))
    })
    .await
}

async fn hub(agent: &Scripted) -> Hub {
    let config = format!(
        "scripts: {{ plain: ./plain.yaml, forger: ./forger.yaml }}\npeers: {{ rich: {{ nlip: {{ url: 'http://{}/nlip' }} }} }}\n",
        agent.address()
    );
    let hub = builder().file("plain.yaml", PLAIN).file("forger.yaml", FORGER).config(&config).start().await;
    let listed = async |peer: &str| {
        let peers = hub.get("/api/peers").await.json();
        let mut all = peers["items"].as_array().cloned().unwrap_or_default().into_iter();
        all.any(|shown| shown["name"] == peer && shown["skills"].as_u64() > Some(0))
    };
    until("the agents to be listed", async || listed("rich").await && listed("forger").await).await;
    hub
}

/// How somebody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Nlip,
    NlipSocket,
    NlipSeveral,
    Envelope,
    EnvelopeStream,
    Mcp,
    McpSession,
    A2aRpc,
    A2aHttp,
    A2aGrpc,
    A2aStream,
    A2aOlder,
    Aip,
    Nlweb,
    NlwebStream,
    NlwebSeveral,
    Api,
}

struct Row {
    caller: Caller,
    wire: &'static str,
    /// Who answers with what the caller's protocol cannot say.
    peer: &'static str,
    lost: &'static [&'static str],
}

const FLATTENED: &[&str] =
    &["output.parts.code: flattened", "output.parts.place: flattened", "output.parts.other: flattened"];
const LABEL: &[&str] = &["output.parts.label: dropped"];
const EXTRA: &[&str] = &["message.extra: dropped"];
const PARTS: &[&str] = &["output.parts.code: dropped", "output.parts.other: dropped", "output.parts.place: dropped"];
/// Beside these its bytes, for which that wire has no place.
const AND_BYTES: &[&str] = &[
    "output.parts.blob: dropped",
    "output.parts.code: dropped",
    "output.parts.other: dropped",
    "output.parts.place: dropped",
];

const ROWS: [Row; 17] = [
    Row { caller: Caller::Nlip, wire: "nlip/1", peer: "forger", lost: LABEL },
    Row { caller: Caller::NlipSocket, wire: "nlip/1", peer: "forger", lost: LABEL },
    Row { caller: Caller::NlipSeveral, wire: "nlip/1", peer: "forger", lost: LABEL },
    // It has a place for every kind of content; what it does not know of a request is lost.
    Row { caller: Caller::Envelope, wire: "envelope/1.0", peer: "rich", lost: EXTRA },
    Row { caller: Caller::EnvelopeStream, wire: "envelope/1.0", peer: "rich", lost: EXTRA },
    Row { caller: Caller::Mcp, wire: "mcp/2026-07-28", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::McpSession, wire: "mcp/2025-06-18", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::A2aRpc, wire: "a2a/1.0", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::A2aHttp, wire: "a2a/1.0", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::A2aGrpc, wire: "a2a/1.0", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::A2aStream, wire: "a2a/1.0", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::A2aOlder, wire: "a2a/0.3", peer: "rich", lost: FLATTENED },
    Row { caller: Caller::Aip, wire: "aip/ufo", peer: "rich", lost: AND_BYTES },
    Row { caller: Caller::Nlweb, wire: "nlweb/0.55", peer: "rich", lost: PARTS },
    Row { caller: Caller::NlwebStream, wire: "nlweb/0.1", peer: "rich", lost: PARTS },
    Row { caller: Caller::NlwebSeveral, wire: "nlweb/0.1", peer: "rich", lost: PARTS },
    // The hub's own interface shows the model itself.
    Row { caller: Caller::Api, wire: "api", peer: "rich", lost: &[] },
];

/// Asks a peer, and returns when all of the answer is there.
async fn ask(hub: &Hub, caller: Caller, peer: &str) -> String {
    match caller {
        Caller::Nlip => hub.post_json(&format!("/agents/{peer}/nlip"), &text()).await.text(),
        Caller::NlipSocket => {
            let mut socket = hub.websocket("/nlip/ws/text").await;
            socket.send_text(with_calls(&[peer]).to_string()).await;
            socket.next_json().await.to_string()
        }
        Caller::NlipSeveral => hub.post_json("/nlip", &with_calls(&["plain", peer])).await.text(),
        Caller::Envelope => envelope(hub, peer, "application/json").await,
        Caller::EnvelopeStream => envelope(hub, peer, "text/event-stream").await,
        Caller::Mcp => Modern::new(hub).call(&tool(hub, peer).await, json!({"message": "hi"})).await.to_string(),
        Caller::McpSession => {
            let session = Session::begin(hub, "2025-06-18", json!({})).await;
            let params = json!({"name": tool(hub, peer).await, "arguments": {"message": "hi"}});
            session.result("tools/call", params).await.to_string()
        }
        Caller::A2aRpc => a2a(hub, peer, "SendMessage").await,
        Caller::A2aStream => a2a(hub, peer, "SendStreamingMessage").await,
        Caller::A2aHttp => {
            let path = format!("/agents/{peer}/a2a/message:send");
            let body = json!({"message": message(peer)});
            send(hub, Method::POST, &path, &[("a2a-version", "1.0")], Some(body)).await.text()
        }
        Caller::A2aGrpc => grpc(hub, peer).await,
        Caller::A2aOlder => {
            let said = json!({"kind": "message", "messageId": id(), "role": "user",
                "parts": [{"kind": "text", "text": "hi"}]});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": said}});
            hub.post_json(&format!("/agents/{peer}/a2a"), &body).await.text()
        }
        Caller::Aip => aip(hub, peer).await,
        Caller::Nlweb => {
            let body = json!({"query": {"text": "hi", "site": peer}, "prefer": {"streaming": false}});
            hub.post_json("/ask", &body).await.text()
        }
        Caller::NlwebStream => hub.post("/ask", FORM, format!("query=hi&site={peer}")).await.text(),
        Caller::NlwebSeveral => {
            hub.post("/ask", FORM, format!("query=hi&site=plain,{peer}&streaming=false")).await.text()
        }
        Caller::Api => {
            let skill = format!("{peer}/chat");
            hub.post_json("/api/exchanges", &json!({"skill": skill, "text": "hi"})).await.text()
        }
    }
}

fn text() -> Value {
    json!({"format": "text", "subformat": "english", "content": "hi"})
}

fn with_calls(peers: &[&str]) -> Value {
    let call = |peer: &&str| {
        json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
            "content": {"skill": format!("{peer}/chat"), "arguments": {}}})
    };
    let mut message = text();
    message["submessages"] = peers.iter().map(call).collect();
    message
}

/// To the one who says it all, something is added that the wire does not know.
async fn envelope(hub: &Hub, peer: &str, accept: &str) -> String {
    let mut message = json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": id(), "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_results": null, "metadata": {},
        "tool_calls": [{"tool_id": "t", "tool_name": format!("{peer}/chat"), "parameters": {"message": "hi"},
            "require_confirmation": false}],
    });
    if peer == "rich" {
        message["extra"] = json!(1);
    }
    send(hub, Method::POST, "/nlip/route", &[("accept", accept)], Some(message)).await.text()
}

/// What MCP calls a peer's skill.
async fn tool(hub: &Hub, peer: &str) -> String {
    let listed = Modern::new(hub).result("tools/list", json!({})).await;
    let mut names = listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str());
    names.find(|name| name.starts_with(&format!("{peer}__"))).expect("the agent's tool").to_owned()
}

/// A name that no other message has.
fn id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("m{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn message(peer: &str) -> Value {
    let metadata = json!({ext::URI: {"skill": format!("{peer}/chat")}});
    json!({"messageId": id(), "role": "ROLE_USER", "parts": [{"text": "hi"}], "metadata": metadata})
}

async fn a2a(hub: &Hub, peer: &str, method: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message(peer)}});
    let path = format!("/agents/{peer}/a2a");
    send(hub, Method::POST, &path, &[("a2a-version", "1.0")], Some(body)).await.text()
}

async fn grpc(hub: &Hub, peer: &str) -> String {
    let asked = json!({"message": message(peer)}).to_string();
    let bytes = proto::request_from_json(Operation::Send, Version::V1, asked.as_bytes()).expect("a request");
    let path = format!("/{}/{}", service(Version::V1), Operation::Send.grpc(Version::V1).expect("a name"));
    let mut connection = hub.connect_h2c().await;
    let mut messages = connection.messages(call(&path, &[("a2a-version", "1.0")], &bytes)).await;
    let mut told = String::new();
    while let Some(message) = messages.next().await {
        let json = proto::answer_to_json(Operation::Send, Version::V1, &message, 128).expect("an answer");
        told.push_str(&String::from_utf8_lossy(&json));
    }
    assert_eq!(messages.code(), Some("0"), "{told}");
    told
}

/// An orchestrator that gives a task to the peer as if it were a device.
async fn aip(hub: &Hub, peer: &str) -> String {
    let mut socket = hub.websocket("/ws").await;
    let session = id();
    let register = json!({
        "type": "register", "status": "ok", "client_type": "constellation", "client_id": format!("{session}@{peer}"),
        "target_id": peer, "metadata": {"type": "constellation_client", "task_name": "losses",
            "targeted_device_id": peer, "version": "2.0"},
    });
    socket.send_text(register.to_string()).await;
    assert_eq!(socket.next_json().await["status"], "ok");
    let task = json!({
        "type": "task", "status": "continue", "client_type": "constellation", "target_id": peer,
        "session_id": session, "task_name": format!("losses/{session}"), "request": "hi",
    });
    socket.send_text(task.to_string()).await;
    loop {
        let frame = socket.next_json().await;
        if frame["type"] == "task_end" {
            return frame.to_string();
        }
    }
}

/// Lines of the audit after one, oldest first.
async fn since(hub: &Hub, seq: u64) -> Vec<Value> {
    let page = hub.get("/api/audit?limit=200").await.json();
    let mut lines = page["items"].as_array().cloned().expect("lines");
    lines.retain(|line| line["seq"].as_u64() > Some(seq));
    lines.reverse();
    lines
}

async fn newest(hub: &Hub) -> u64 {
    since(hub, 0).await.last().and_then(|line| line["seq"].as_u64()).unwrap_or_default()
}

/// What the audit holds of one call of a peer: its `return`, and the `lost` lines that belong to it. The latter are written
/// before the answer is told, so they are there whenever the answer is.
async fn told_of(hub: &Hub, caller: Caller, peer: &str) -> (Value, Vec<Value>) {
    let before = newest(hub).await;
    let answer = ask(hub, caller, peer).await;
    let skill = format!("{peer}/chat");
    let is_return = |line: &&Value| line["action"] == "return" && line["on"] == skill.as_str();
    let returned = async || since(hub, before).await.iter().find(is_return).cloned();
    until("the end to be written", async || returned().await.is_some()).await;
    let returned = returned().await.unwrap_or_default();
    assert_eq!(returned["outcome"], "completed", "{caller:?}: {answer}");
    let mut lost = since(hub, before).await;
    lost.retain(|line| line["action"] == "lost" && line["task"] == returned["task"]);
    (returned, lost)
}

#[tokio::test]
async fn r_39_n_64_what_a_caller_s_own_protocol_could_not_carry_is_in_the_audit_and_nothing_else_is() {
    let agent = rich().await;
    let hub = hub(&agent).await;
    for Row { caller, wire, peer, lost } in ROWS {
        let (_, plain) = told_of(&hub, caller, "plain").await;
        assert_eq!(plain, Vec::<Value>::new(), "{caller:?}: what can be said leaves no line");
        let (returned, lines) = told_of(&hub, caller, peer).await;
        assert_eq!(returned["wire"], wire, "{caller:?}");
        if lost.is_empty() {
            assert_eq!(lines, Vec::<Value>::new(), "{caller:?}");
            continue;
        }
        let [line] = &*lines else { panic!("{caller:?}: one line tells it: {lines:?}") };
        let mut told: Vec<&str> = line["losses"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut wanted = lost.to_vec();
        told.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(told, wanted, "{caller:?}: {line}");
        assert_eq!((&line["wire"], &line["outcome"]), (&json!(wire), &json!("told")), "{caller:?}: {line}");
        assert_eq!((&line["on"], &line["who"]), (&returned["on"], &returned["who"]), "{caller:?}: {line}");
        assert_eq!(line["trace"], returned["trace"], "{caller:?}: {line}");
    }
    verified(&hub);
}

#[tokio::test]
async fn an_answer_that_is_looked_at_again_leaves_one_line_and_the_line_goes_with_its_caller() {
    let agent = rich().await;
    let hub = hub(&agent).await;
    let (returned, lines) = told_of(&hub, Caller::A2aStream, "rich").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    let task = returned["task"].as_str().expect("a task");
    for _ in 0..3 {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task}});
        let got = send(&hub, Method::POST, "/a2a", &[("a2a-version", "1.0")], Some(body)).await;
        assert!(got.text().contains("output.parts.code"), "it is told each time: {}", got.text());
    }
    let all = since(&hub, 0).await;
    assert_eq!(all.iter().filter(|line| line["action"] == "lost").count(), 1, "{all:?}");
    let (code, shown) = audit(hub.directory(), &["show"]);
    assert!(code == Some(0) && shown.contains("output.parts.code: flattened"), "for people, too: {shown}");

    let (code, said) = audit(hub.directory(), &["forget", "owner"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!hub.get("/api/audit?limit=200").await.text().contains("output.parts.code"), "what is forgotten is gone");
    verified(&hub);
}
