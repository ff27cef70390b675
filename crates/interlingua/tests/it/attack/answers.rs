//! Answers of hostile peers and hooks: their size, their number of values, their speed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_websockets::ServerBuilder;

use crate::mcp::Modern;
use crate::support::{logged, until};

/// How a hostile peer answers the calls that it answers badly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// As fast as it is read, without end.
    Flood,
    /// A byte now and then, without end.
    Drip,
    /// Three megabytes, and then nothing.
    Stall,
    /// An answer of so many values that a tree of them takes hundreds of megabytes.
    Values,
}

/// The wire of a hostile peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Nlip,
    Mcp,
    McpEvents,
    McpOld,
    A2a,
    A2aEvents,
    Nlweb,
    NlwebEvents,
}

const WIRES: [Wire; 8] =
    [Wire::Nlip, Wire::Mcp, Wire::McpEvents, Wire::McpOld, Wire::A2a, Wire::A2aEvents, Wire::Nlweb, Wire::NlwebEvents];

impl Wire {
    /// The lines of configuration of the peer `evil`.
    fn peer(self, at: SocketAddr) -> String {
        let spoken = match self {
            Wire::Nlip => format!("nlip: {{ url: 'http://{at}/nlip' }}"),
            Wire::Mcp | Wire::McpEvents | Wire::McpOld => format!("mcp: {{ url: 'http://{at}/mcp' }}"),
            Wire::A2a | Wire::A2aEvents => format!("a2a: {{ url: 'http://{at}' }}"),
            Wire::Nlweb | Wire::NlwebEvents => format!("nlweb: {{ url: 'http://{at}/ask' }}"),
        };
        format!("peers: {{ evil: {{ effects: reads, {spoken} }} }}\n")
    }

    /// What is called there.
    fn call(self) -> Value {
        match self {
            Wire::Nlip => json!({"peer": "evil", "text": "hello"}),
            Wire::Mcp | Wire::McpEvents | Wire::McpOld => json!({"skill": "evil/look", "arguments": {}}),
            Wire::A2a | Wire::A2aEvents => json!({"skill": "evil/find", "text": "hello"}),
            Wire::Nlweb | Wire::NlwebEvents => json!({"skill": "evil/ask", "arguments": {"query": "hello"}}),
        }
    }

    fn streams(self) -> bool {
        match self {
            Wire::McpEvents | Wire::McpOld | Wire::A2aEvents | Wire::NlwebEvents => true,
            Wire::Nlip | Wire::Mcp | Wire::A2a | Wire::Nlweb => false,
        }
    }
}

/// A peer of one wire. While it is evil, what is asked of it is answered without end.
struct Evil {
    at: SocketAddr,
    evil: Arc<AtomicBool>,
    _serving: JoinSet<()>,
}

impl Evil {
    async fn start(wire: Wire, pace: Pace) -> Evil {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let at = listener.local_addr().expect("an address");
        let evil = Arc::new(AtomicBool::new(true));
        let mut serving = JoinSet::new();
        let is_evil = evil.clone();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let is_evil = is_evil.clone();
                connections.spawn(async move { drop(served(stream, wire, pace, &is_evil).await) });
            }
        });
        Evil { at, evil, _serving: serving }
    }

    fn behaves(&self) {
        self.evil.store(false, Ordering::Relaxed);
    }
}

/// One request on a connection: its path, and its body.
async fn asked(stream: &mut TcpStream) -> std::io::Result<(String, Value)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap_or("0");
    let mut body = vec![0; length.trim().parse().unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    let mut words = head.split_whitespace().map(str::to_owned);
    let verb = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default();
    Ok((format!("{verb} {path}"), serde_json::from_slice(&body).unwrap_or_default()))
}

/// One answer, after which the connection is closed.
async fn says(stream: &mut TcpStream, status: &str, media: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).await
}

async fn pours(stream: &mut TcpStream, media: &str, begin: &str, pace: Pace) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media}\r\nconnection: close\r\n\r\n{begin}");
    stream.write_all(head.as_bytes()).await?;
    without_end(stream, pace).await
}

async fn without_end(stream: &mut TcpStream, pace: Pace) -> std::io::Result<()> {
    let (piece, pause) = match pace {
        Pace::Flood => (vec![b'x'; 64 * 1024], Duration::ZERO),
        Pace::Drip => (vec![b'x'], Duration::from_millis(50)),
        Pace::Stall => (vec![b'x'; 3 << 20], Duration::from_secs(600)),
        Pace::Values => {
            stream.write_all(values().as_bytes()).await?;
            return stream.write_all(b"}").await;
        }
    };
    loop {
        stream.write_all(&piece).await?;
        tokio::time::sleep(pause).await;
    }
}

async fn served(mut stream: TcpStream, wire: Wire, pace: Pace, evil: &AtomicBool) -> std::io::Result<()> {
    let (path, asked) = asked(&mut stream).await?;
    let id = asked["id"].clone();
    let good = match (wire, asked["method"].as_str().unwrap_or_default(), path.as_str()) {
        (Wire::McpOld, _, "get /mcp") => return old_stream(stream, pace, evil).await,
        (Wire::McpOld, _, "post /here") => return says(&mut stream, "202 Accepted", "text/plain", "").await,
        (Wire::McpOld, ..) => return says(&mut stream, "405 No", "text/plain", "").await,
        (Wire::Mcp | Wire::McpEvents, method, "post /mcp") => match mcp(method, &id) {
            Some(answer) => answer,
            None => json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "fine"}]}}),
        },
        (Wire::A2a | Wire::A2aEvents, _, "get /.well-known/agent-card.json") => {
            return says(&mut stream, "200 OK", "application/json", &card(wire).to_string()).await;
        }
        (Wire::A2a | Wire::A2aEvents, _, "post /rpc") => {
            json!({"jsonrpc": "2.0", "id": id, "result": {"message": {"messageId": "m1", "role": "ROLE_AGENT", "parts": [{"text": "fine"}]}}})
        }
        (Wire::Nlip, _, "post /nlip") => json!({"format": "text", "subformat": "english", "content": "fine"}),
        (Wire::Nlweb | Wire::NlwebEvents, _, path) if path.contains(" /ask") => {
            json!({"query_id": "1", "results": [{"url": "https://a.example/", "name": "fine", "site": "a", "score": 90, "description": "fine", "schema_object": {}}]})
        }
        _ => return says(&mut stream, "404 Not Found", "text/plain", "").await,
    };
    let is_listing = matches!(asked["method"].as_str(), Some("initialize" | "tools/list" | "ping"))
        || asked["method"].as_str().is_some_and(|method| {
            method.starts_with("notifications/") || method.contains("list") || method.contains("discover")
        });
    if is_listing || !evil.load(Ordering::Relaxed) {
        return says(&mut stream, "200 OK", "application/json", &good.to_string()).await;
    }
    match wire.streams() {
        true => pours(&mut stream, "text/event-stream", "data: {\"jsonrpc\": \"", pace).await,
        false => pours(&mut stream, "application/json", "{\"jsonrpc\": \"", pace).await,
    }
}

/// What an MCP server says that does nothing yet.
fn mcp(method: &str, id: &Value) -> Option<Value> {
    let result = match method {
        "initialize" => {
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "evil", "version": "1"}})
        }
        "tools/list" => {
            json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]})
        }
        "ping" => json!({}),
        "tools/call" => return None,
        method if method.starts_with("notifications/") => json!({}),
        _ => return Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}})),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// A server of 2024, all of whose events go wrong once its stream was opened.
async fn old_stream(mut stream: TcpStream, pace: Pace, evil: &AtomicBool) -> std::io::Result<()> {
    if !evil.load(Ordering::Relaxed) {
        return says(&mut stream, "404 Not Found", "text/plain", "").await;
    }
    pours(&mut stream, "text/event-stream", "event: endpoint\ndata: /here\n\ndata: {\"jsonrpc\": \"", pace).await
}

fn card(wire: Wire) -> Value {
    json!({
        "name": "Hotels", "description": "Finds hotels.", "version": "2.1",
        "supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": wire == Wire::A2aEvents},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "find", "name": "Find a hotel", "description": "By town.", "tags": ["travel"]}],
    })
}

/// A list of four million values in eight megabytes, and before that what ends a string.
fn values() -> String {
    format!("2.0\", \"content\": [{}0]", "0,".repeat(4_000_000))
}

/// The most the hub held of memory, in MiB.
fn memory(hub: &Hub) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("the hub runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line of its memory");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

async fn hub(yaml: &str) -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(yaml).start().await
}

/// Until the peer has something to call.
async fn listed(hub: &Hub) {
    until("a peer that is listed", async || {
        let peers = hub.get("/api/peers").await.json();
        let evil = peers["items"].as_array().into_iter().flatten().find(|peer| peer["name"] == "evil").cloned();
        evil.is_some_and(|evil| evil["skills"].as_u64() > Some(0))
    })
    .await;
}

async fn called(hub: &Hub, call: &Value) -> Value {
    hub.post_json("/api/exchanges", call).await.json()
}

/// The hub answered, and its peer can still be called.
async fn goes_on(hub: &Hub, evil: &Evil, wire: Wire) {
    evil.behaves();
    if wire != Wire::McpOld {
        let mut last = Value::Null;
        until(&format!("{wire:?}: the next call works: "), async || {
            last = called(hub, &wire.call()).await;
            last.to_string().contains("fine")
        })
        .await;
    }
    assert_eq!(hub.get("/healthz").await.status, 200);
    assert!(!hub.log().contains("panicked"), "{}", hub.log());
}

#[tokio::test]
async fn attack_peers_of_every_wire_answer_without_end() {
    for wire in WIRES {
        let evil = Evil::start(wire, Pace::Flood).await;
        let hub = hub(&format!("limits: {{ body: 2MiB }}\n{}", wire.peer(evil.at))).await;
        if wire == Wire::McpOld {
            logged(&hub, &["an event of more than 2097152 bytes"]).await;
        } else {
            listed(&hub).await;
            let before = memory(&hub);
            let answer = called(&hub, &wire.call()).await;
            assert!(answer.to_string().contains("answered with more than is read"), "{wire:?}: {answer}");
            let after = memory(&hub);
            assert!(after < before + 32, "{wire:?}: from {before} to {after} MiB");
        }
        goes_on(&hub, &evil, wire).await;
    }
}

/// An A2A agent that says more and more, in messages that each are short enough; how many of its streams are open.
async fn talker(listener: TcpListener, open: Arc<AtomicUsize>) {
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        let open = open.clone();
        connections.spawn(async move {
            let Ok((path, asked)) = asked(&mut stream).await else { return };
            if path != "post /rpc" {
                drop(says(&mut stream, "200 OK", "application/json", &card(Wire::A2aEvents).to_string()).await);
                return;
            }
            open.fetch_add(1, Ordering::Relaxed);
            drop(talks(&mut stream, &asked["id"]).await);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn talks(stream: &mut TcpStream, id: &Value) -> std::io::Result<()> {
    let event = |result: Value| format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let task = event(json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(format!("{head}{task}").as_bytes()).await?;
    let text = "x".repeat(64 * 1024);
    for number in 0_u64.. {
        let message = json!({"messageId": format!("m{number}"), "role": "ROLE_AGENT", "parts": [{"text": text}],
            "metadata": {"urn:interlingua:hub:1": {"channel": "answer"}}});
        let status = json!({"state": "TASK_STATE_WORKING", "message": message});
        stream
            .write_all(event(json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}})).as_bytes())
            .await?;
    }
    Ok(())
}

/// Each message is short, and there is always another: whoever reads the exchange to its end is told that it is too large, holds no
/// more than is read of one exchange, and lets go of the agent.
#[tokio::test]
async fn attack_a_peer_streams_an_answer_without_end() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let at = listener.local_addr().expect("an address");
    let open = Arc::new(AtomicUsize::new(0));
    let mut serving = JoinSet::new();
    serving.spawn(talker(listener, open.clone()));
    let hub = hub(&Wire::A2aEvents.peer(at)).await;
    listed(&hub).await;
    let before = memory(&hub);
    let told = async |answer: Answer, what: &str| {
        let text = answer.text();
        assert!(
            text.contains("answer is larger than one exchange may hold"),
            "{what}: {}",
            &text[..text.len().min(999)]
        );
        until(&format!("{what}: the agent is let go"), async || open.load(Ordering::Relaxed) == 0).await;
    };
    told(hub.post_json("/api/exchanges", &Wire::A2aEvents.call()).await, "the own API").await;
    let message = json!({"format": "text", "subformat": "english", "content": "hello"});
    told(hub.post_json("/agents/evil/nlip", &message).await, "NLIP").await;
    told(hub.get("/agents/evil/ask?query=hello").await, "NLWeb, as events").await;
    let find = json!({"name": "evil__find", "arguments": {"message": "hello"}});
    told(Modern::new(&hub).ask("tools/call", find).await, "MCP").await;
    let after = memory(&hub);
    assert!(after < before + 300, "from {before} to {after} MiB");
    assert_eq!(hub.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn attack_peers_of_every_wire_drip_their_answers() {
    for wire in WIRES {
        let evil = Evil::start(wire, Pace::Drip).await;
        let hub = hub(&format!("limits: {{ message_time: 1s, deadline: 20s }}\n{}", wire.peer(evil.at))).await;
        if wire == Wire::McpOld {
            logged(&hub, &["did not end in time"]).await;
        } else {
            listed(&hub).await;
            let answer = called(&hub, &wire.call()).await;
            assert!(answer.to_string().contains("began an answer and did not end it in time"), "{wire:?}: {answer}");
        }
        goes_on(&hub, &evil, wire).await;
    }
}

/// An MCP server in a few lines: its tools say too much, or too little at a time.
const SERVER: &str = r#"
import json, sys, time
def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "evil", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": [tool("flood"), tool("drip"), tool("look")]}
    elif asked["method"] == "tools/call":
        while asked["params"]["name"] != "look":
            sys.stdout.write("x" * (65536 if asked["params"]["name"] == "flood" else 1))
            sys.stdout.flush()
            if asked["params"]["name"] == "drip":
                time.sleep(0.05)
        answer["result"] = {"content": [{"type": "text", "text": "fine"}]}
    else:
        answer["error"] = {"code": -32601, "message": "unknown"}
    say(answer)
"#;

#[tokio::test]
async fn attack_a_program_writes_a_line_without_end_or_byte_by_byte() {
    let yaml = "limits: { body: 2MiB, message_time: 1s, deadline: 20s }\n\
                peers: { evil: { effects: reads, mcp: { command: python3, args: [evil.py] } } }\n";
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("evil.py", SERVER).config(yaml).start().await;
    listed(&hub).await;
    let before = memory(&hub);
    for (tool, why, told) in [
        (
            "flood",
            "a line of more than 2097152 bytes (limits.body)",
            "evil answered with more than is read (limits.body)",
        ),
        ("drip", "did not end in time", "evil began an answer and did not end it in time"),
    ] {
        let answer = called(&hub, &json!({"skill": format!("evil/{tool}"), "arguments": {}})).await;
        assert!(answer.to_string().contains(told), "{tool}: {answer}");
        logged(&hub, &[why]).await;
        until(&format!("after {tool} the next call works"), async || {
            called(&hub, &json!({"skill": "evil/look", "arguments": {}})).await.to_string().contains("fine")
        })
        .await;
    }
    let after = memory(&hub);
    assert!(after < before + 32, "from {before} to {after} MiB");
}

/// A WebSocket server whose messages are begun and never end: by fragments, or by one frame.
async fn dripping_sockets(begin: &'static [u8], piece: &'static [u8]) -> (SocketAddr, Arc<AtomicUsize>, JoinSet<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let at = listener.local_addr().expect("an address");
    let (mut serving, count) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    serving.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            connections.spawn(async move {
                let Ok((_, mut socket)) = ServerBuilder::new().accept(stream).await else { return };
                let stream = socket.get_mut();
                let _ = stream.write_all(begin).await;
                while stream.write_all(piece).await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            });
        }
    });
    (at, count, serving)
}

/// A fragment of one byte and then more of them, with pings between; and a frame of 60 bytes that comes byte by byte.
const ENDLESS: [(&[u8], &[u8]); 2] = [(&[0x01, 1, b'{'], &[0x89, 0, 0x00, 1, b' ']), (&[0x81, 120], b" ")];

#[tokio::test]
async fn attack_an_nlip_agent_begins_a_message_on_a_socket_that_never_ends() {
    for (begin, piece) in ENDLESS {
        let (at, _, _serving) = dripping_sockets(begin, piece).await;
        let yaml = format!(
            "limits: {{ message_time: 1s, deadline: 20s }}\n\
             peers: {{ evil: {{ effects: reads, nlip: {{ url: 'ws://{at}/nlip', binding: ws-text }} }} }}\n"
        );
        let hub = hub(&yaml).await;
        let answer = called(&hub, &json!({"peer": "evil", "text": "hello"})).await;
        assert!(answer.to_string().contains("began an answer and did not end it in time"), "{answer}");
    }
}

#[tokio::test]
async fn attack_an_aip_server_begins_a_message_that_never_ends() {
    for (begin, piece) in ENDLESS {
        let (at, connections, _serving) = dripping_sockets(begin, piece).await;
        let yaml = format!(
            "limits: {{ message_time: 1s }}\npeers: {{ lab: {{ aip: {{ url: 'ws://{at}/ws', target: dev1 }} }} }}\n"
        );
        let hub = hub(&yaml).await;
        until("the hub leaves and comes again", async || connections.load(Ordering::Relaxed) > 1).await;
        assert_eq!(hub.get("/healthz").await.status, 200);
    }
}

#[tokio::test]
async fn attack_many_answers_at_once_hold_more_than_the_hub_has_for_them() {
    let evil = Evil::start(Wire::Nlip, Pace::Stall).await;
    let yaml = format!("limits: {{ answers: 4MiB, deadline: 20s, message_time: 10s }}\n{}", Wire::Nlip.peer(evil.at));
    let hub = hub(&yaml).await;
    let held = async || {
        let text = hub.get("/metrics").await.text();
        let line =
            text.lines().find_map(|line| line.strip_prefix("interlingua_answer_bytes ")).expect("a gauge").to_owned();
        line.trim().parse::<f64>().expect("a number")
    };
    let call = Wire::Nlip.call();
    let calls = futures_util::future::join_all((0..6).map(|_| called(&hub, &call)));
    let watch = async {
        loop {
            let now = held().await;
            assert!(now <= 4.0 * 1_048_576.0, "{now} bytes");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let answers = tokio::select! {
        answers = calls => answers,
        () = watch => unreachable!("it watches until the calls are over"),
    };
    let busy = answers.iter().filter(|answer| answer.to_string().contains("as much of its peers' answers as it may"));
    assert!(busy.count() >= 4, "{answers:?}");
    goes_on(&hub, &evil, Wire::Nlip).await;
    until("nothing is held", async || held().await < 1.0).await;
}

#[tokio::test]
async fn attack_peers_answer_with_millions_of_values() {
    for wire in [Wire::Nlip, Wire::Mcp, Wire::A2a, Wire::Nlweb] {
        let evil = Evil::start(wire, Pace::Values).await;
        let hub = hub(&wire.peer(evil.at)).await;
        listed(&hub).await;
        let before = memory(&hub);
        let answer = called(&hub, &wire.call()).await;
        assert_eq!(answer["state"], "failed", "{wire:?}: {answer}");
        let after = memory(&hub);
        assert!(after < before + 120, "{wire:?}: from {before} to {after} MiB");
        goes_on(&hub, &evil, wire).await;
    }
}

/// What a caller sends on each path, with a value of its own in it.
fn messages(value: &str) -> [(&'static str, String); 6] {
    let rpc = |method: &str, params: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}")
    };
    [
        ("/nlip", format!("{{\"format\":\"structured\",\"subformat\":\"json\",\"content\":{value}}}")),
        ("/nlip/route", format!("{{\"content\":{{\"a\":{value}}}}}")),
        ("/mcp", rpc("tools/call", &format!("{{\"name\":\"hub_help\",\"arguments\":{{\"a\":{value}}}}}"))),
        ("/a2a", rpc("SendMessage", &format!("{{\"message\":{{\"parts\":[{{\"data\":{value}}}]}}}}"))),
        ("/api/exchanges", format!("{{\"skill\":\"hub/help\",\"arguments\":{{\"a\":{value}}}}}")),
        ("/ask", format!("{{\"query\":{value}}}")),
    ]
}

#[tokio::test]
async fn attack_a_caller_sends_millions_of_values() {
    let hub = hub("").await;
    let before = memory(&hub);
    for (path, message) in messages(&format!("[{}0]", "0,".repeat(4_000_000))) {
        let answer = hub.post(path, "application/json", message).await;
        assert!(answer.text().contains("more than 1000000 values"), "{path}: {} {}", answer.status, answer.text());
    }
    let after = memory(&hub);
    assert!(after < before + 120, "from {before} to {after} MiB");
    for (path, message) in messages("[0]") {
        let answer = hub.post(path, "application/json", message).await;
        assert!(!answer.text().contains("values"), "{path}: {}", answer.text());
    }
}

/// The operator may allow fewer, also while the hub runs.
#[tokio::test]
async fn attack_a_caller_sends_more_values_than_this_hub_takes() {
    let hub = hub("limits: { values: 5000 }\n").await;
    for (path, message) in messages(&format!("[{}0]", "0,".repeat(6_000))) {
        let answer = hub.post(path, "application/json", message).await;
        assert!(answer.text().contains("more than 5000 values"), "{path}: {} {}", answer.status, answer.text());
    }
    for (path, message) in messages(&format!("[{}0]", "0,".repeat(4_000))) {
        let answer = hub.post(path, "application/json", message).await;
        assert!(!answer.text().contains("values"), "{path}: {}", answer.text());
    }
}

/// Values that are few enough to be read hold room for the tree that is made of them.
#[tokio::test]
async fn attack_callers_hold_memory_with_trees_of_small_values() {
    let hub = hub("limits: { bodies: 16MiB }\n").await;
    // A megabyte of half a million values.
    let message = format!("{{\"skill\":\"hub/help\",\"arguments\":{{\"a\":[{}0]}}}}", "0,".repeat(500_000));
    let text =
        futures_util::future::join_all((0..8).map(|_| hub.post("/api/exchanges", "application/json", message.clone())));
    let busy = text.await.iter().filter(|answer| answer.status == 503).count();
    assert!(busy >= 1, "none of eight had to wait for room in vain");
    assert_eq!(hub.post("/api/exchanges", "application/json", message).await.status, 422, "alone it may go on");
}
