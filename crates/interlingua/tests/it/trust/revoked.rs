//! Whatever is open when a credential is revoked ends, by itself and in the form of its protocol; what others have open continues.

use http::Method;
use interlingua_a2a::grpc::service;
use interlingua_a2a::method::Method as Operation;
use interlingua_a2a::{Version, proto};
use interlingua_testkit::grpc::{self, Messages};
use interlingua_testkit::raw::{Fin, Opcode};
use interlingua_testkit::{Connection, Events, Hub};
use serde_json::{Value, json};

use super::LINGER;
use crate::mcp::{MODERN, meta};
use crate::support::{builder, send, streaming};

const CONFIG: &str = "
tools: { directory: ./tools }
aip: { list_tools: 0s }
access: { tokens: file:./tokens.yaml }
";
pub(super) const BOTH: &str = "- { name: ann, token: ilg_ann }\n- { name: bob, token: ilg_bob }\n";
pub(super) const BOB: &str = "- { name: bob, token: ilg_bob }\n";
/// Ann's, in the head of a request.
pub(super) const ANN: (&str, &str) = ("authorization", "Bearer ilg_ann");
pub(super) const V1: (&str, &str) = ("a2a-version", "1.0");
/// The word for why, in whatever protocol has words.
pub(super) const WHY: &str = "credential";

async fn hub() -> Hub {
    let files = builder().file("tools/linger.yaml", LINGER).file("tokens.yaml", BOTH);
    files.config(CONFIG).start().await
}

/// A stream, how it must end, and what it needs to stay open.
pub(super) struct Open {
    pub(super) name: &'static str,
    pub(super) events: Events,
    end: End,
    _connection: Connection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With an event that says why.
    Told,
    /// A stream of MCP just ends; the next request is told why.
    Silent,
}

/// Opens streams and remembers them, each with its first event read.
struct Streams<'a> {
    hub: &'a Hub,
    open: Vec<Open>,
}

impl Streams<'_> {
    async fn open(
        &mut self,
        name: &'static str,
        (method, path): (Method, &str),
        headers: &[(&str, &str)],
        body: Option<Value>,
        end: End,
    ) {
        let (connection, events) = streaming(self.hub, method, path, headers, body).await;
        self.open.push(Open { name, events, end, _connection: connection });
    }
}

pub(super) async fn task(hub: &Hub, who: &str) -> String {
    let bearer = format!("Bearer {who}");
    let body = Some(json!({"skill": "local/slow"}));
    let answer = send(hub, Method::POST, "/api/tasks", &[("authorization", &bearer)], body).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["id"].as_str().expect("an id").to_owned()
}

pub(super) fn message(id: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"data": {"skill": "local/slow"}}]})
}

fn rpc(method: &str, params: Value) -> Option<Value> {
    Some(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
}

fn envelope() -> Value {
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": "m-1", "correlation_id": null, "auth_token": "ilg_ann",
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_results": null, "metadata": {},
        "tool_calls": [{"tool_id": "t", "tool_name": "custom_tool__slow", "parameters": {}, "require_confirmation": false}],
    })
}

/// A session of MCP's older versions.
async fn session(hub: &Hub) -> String {
    let client = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let begun = send(hub, Method::POST, "/mcp", &[ANN], rpc("initialize", params)).await;
    begun.header("mcp-session-id").unwrap_or_else(|| panic!("a session: {}", begun.text())).to_owned()
}

pub(super) async fn all(hub: &Hub) -> Vec<Open> {
    let task = task(hub, "ilg_ann").await;
    let (get, post) = (|path: &'static str| (Method::GET, path), |path: &'static str| (Method::POST, path));
    let of_task = |path: &str| path.replace("NAME", &task);
    let mut streams = Streams { hub, open: Vec::new() };
    let (events, timeline) = (of_task("/api/tasks/NAME/events"), of_task("/api/tasks/NAME/timeline"));
    streams.open("/api: a task", (Method::GET, &events), &[ANN], None, End::Told).await;
    streams.open("/api: a timeline", (Method::GET, &timeline), &[ANN], None, End::Told).await;
    streams.open("/api: a topic", get("/api/messages?topic=**"), &[ANN], None, End::Told).await;
    let call = Some(json!({"skill": "local/slow"}));
    streams.open("/api: a call", post("/api/exchanges"), &[ANN], call, End::Told).await;
    let sent = rpc("SendStreamingMessage", json!({"message": message("m1")}));
    streams.open("A2A by JSON-RPC: a message", post("/a2a"), &[ANN, V1], sent, End::Told).await;
    let followed = rpc("SubscribeToTask", json!({"id": task}));
    streams.open("A2A by JSON-RPC: a task", post("/a2a"), &[ANN, V1], followed, End::Told).await;
    let sent = Some(json!({"message": message("m2")}));
    streams.open("A2A by HTTP: a message", post("/a2a/message:stream"), &[ANN, V1], sent, End::Told).await;
    let followed = of_task("/a2a/tasks/NAME:subscribe");
    streams.open("A2A by HTTP: a task", (Method::GET, &followed), &[ANN, V1], None, End::Told).await;
    let words = Some(json!({"query": {"text": "linger a while"}, "prefer": {"streaming": true}}));
    streams.open("NLWeb", post("/ask"), &[ANN], words, End::Told).await;
    streams.open("the envelope, by its own token", post("/nlip/route"), &[], Some(envelope()), End::Told).await;
    let listen =
        rpc("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}, "_meta": meta(json!({}))}));
    let headers = [ANN, ("mcp-protocol-version", MODERN), ("mcp-method", "subscriptions/listen")];
    streams.open("MCP: what changes", post("/mcp"), &headers, listen, End::Silent).await;
    let id = session(hub).await;
    let headers = [ANN, ("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    streams.open("MCP: a session", get("/mcp"), &headers, None, End::Silent).await;
    streams.open
}

/// The last event of a stream; none when it had none.
pub(super) async fn last(events: &mut Events) -> Option<String> {
    let mut last = None;
    while let Some(data) = events.next().await {
        last = Some(data);
    }
    last
}

#[tokio::test]
async fn every_stream_of_events_ends_with_its_credential_and_others_go_on() {
    let hub = hub().await;
    let his = task(&hub, "ilg_bob").await;
    let bob = ("authorization", "Bearer ilg_bob");
    let path = format!("/api/tasks/{his}");
    let (_connection, mut bobs) = streaming(&hub, Method::GET, &format!("{path}/events"), &[bob], None).await;
    let open = all(&hub).await;
    hub.write("tokens.yaml", BOB);
    for Open { name, mut events, end, _connection } in open {
        let told = last(&mut events).await.unwrap_or_default();
        assert_eq!(told.contains(WHY), end == End::Told, "{name}: {told}");
    }
    let cancel = Some(json!({"cancel": true}));
    let cancelled = send(&hub, Method::POST, &format!("{path}/signals"), &[bob], cancel).await;
    assert!(cancelled.status < 300, "{}", cancelled.text());
    let told = last(&mut bobs).await.expect("his is told to its end");
    assert!(told.contains("cancelled") && !told.contains(WHY), "{told}");
}

pub(super) async fn streamed(hub: &Hub, connection: &mut Connection, operation: Operation, asked: &Value) -> Messages {
    let bytes = proto::request_from_json(operation, Version::V1, asked.to_string().as_bytes()).expect("a request");
    let path = format!("/{}/{}", service(Version::V1), operation.grpc(Version::V1).expect("a name"));
    let mut messages = connection.messages(grpc::call(&path, &[ANN, V1], &bytes)).await;
    assert!(messages.next().await.is_some(), "{path} begins at {}", hub.address());
    messages
}

#[tokio::test]
async fn every_stream_of_grpc_ends_with_its_credential_by_the_status_for_it() {
    let hub = hub().await;
    let task = task(&hub, "ilg_ann").await;
    let mut connection = hub.connect_h2c().await;
    let asked = json!({"message": message("m1")});
    let mut sent = streamed(&hub, &mut connection, Operation::Stream, &asked).await;
    let mut followed = streamed(&hub, &mut connection, Operation::Subscribe, &json!({"id": task})).await;
    hub.write("tokens.yaml", BOB);
    for messages in [&mut sent, &mut followed] {
        while messages.next().await.is_some() {}
        assert_eq!(messages.code(), Some("16"), "{:?}", messages.text("grpc-message"));
    }
}

#[tokio::test]
async fn every_socket_is_closed_with_its_credential_though_nobody_speaks() {
    let hub = hub().await;
    let mut open = Vec::new();
    for path in ["/nlip/ws", "/nlip/ws/text", "/ws", "/aip/ws"] {
        let socket = hub.frames(path, &[ANN]).await;
        open.push((path, socket.unwrap_or_else(|status| panic!("{path}: {status}"))));
    }
    let socket = hub.frames("/ws?token=ilg_ann", &[]).await;
    open.push(("by a key in its address", socket.expect("opened")));
    // Nobody's socket, that listens because a message showed a token.
    let page = [("sec-fetch-site", "same-origin")];
    let mut listening = hub.frames("/nlip/ws/text", &page).await.expect("opened");
    let wish = json!({"format": "structured", "subformat": "json", "label": "interlingua-topic",
        "content": {"subscribe": "**"}});
    let asked = json!({"format": "text", "subformat": "english", "content": "", "submessages": [wish]});
    let asked = super::with_token(asked, "ilg_ann").to_string();
    listening.send(Fin::Last, Opcode::Text, asked.as_bytes()).await;
    let (_, said) = listening.read().await.expect("an answer");
    assert!(String::from_utf8_lossy(&said).contains("Listening"), "{}", String::from_utf8_lossy(&said));
    open.push(("by a token in a message", listening));
    let mut owners = hub.frames("/nlip/ws/text", &[]).await.expect("opened");
    hub.write("tokens.yaml", BOB);
    for (name, mut socket) in open {
        assert_eq!(socket.read_close_code().await, Some(1008), "{name}");
    }
    owners.send(Fin::Last, Opcode::Text, super::echo().to_string().as_bytes()).await;
    let (_, said) = owners.read().await.expect("the Owner's goes on");
    assert!(String::from_utf8_lossy(&said).contains(super::WORD));
}
