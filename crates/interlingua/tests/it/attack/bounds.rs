//! Memory, processor and descriptors of the hub, before any authentication.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use interlingua_testkit::raw::{Fin, Opcode, Raw, WebSocketFrames};
use interlingua_testkit::{Hub, Scripted, post, request, within};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_websockets::Message;

use crate::support::{logged, until};

const MIB: usize = 1 << 20;
const CALLERS: &str = "access: { anonymous: refused, tokens: [{ name: carl, token: carl-token }] }\n";
const CARL: (&str, &str) = ("authorization", "Bearer carl-token");
/// A page's request is nobody's, whoever runs the browser.
const NOBODY: (&str, &str) = ("sec-fetch-site", "none");
const TOO_BIG: Option<u16> = Some(1009);
const POLICY: Option<u16> = Some(1008);
const TRY_AGAIN: Option<u16> = Some(1013);

async fn hub(yaml: &str) -> Hub {
    Hub::start(env!("CARGO_BIN_EXE_interlingua"), &format!("{CALLERS}{yaml}")).await
}

async fn open(hub: &Hub, path: &str, header: (&str, &str)) -> WebSocketFrames {
    WebSocketFrames::open(hub.address(), path, &[header])
        .await
        .unwrap_or_else(|status| panic!("{path} refused: {status}"))
}

/// The head of a masked frame of so many bytes, of which none follows.
fn head(first: u8, length: u64) -> Vec<u8> {
    [&[first, 0xFF], &length.to_be_bytes()[..], &[0; 4]].concat()
}

/// What the hub holds of memory, in MiB.
fn memory(hub: &Hub) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("the hub runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of its memory");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

async fn is_well(hub: &Hub) {
    assert_eq!(hub.get("/healthz").await.status, 200);
    assert!(!hub.log().contains("panicked"), "{}", hub.log());
}

#[tokio::test]
async fn attack_a_stranger_sends_long_frames_and_fragments_without_end() {
    let hub = hub("").await;
    for path in ["/nlip/ws", "/nlip/ws/text"] {
        for (what, bytes) in [
            ("one frame", head(0x82, 64 * 1024 + 1)),
            ("a frame of 63 MiB", head(0x82, 63 << 20)),
            ("two fragments", {
                let half = vec![b'x'; 40 * 1024];
                [
                    interlingua_testkit::raw::frame(Fin::More, Opcode::Text, &half),
                    interlingua_testkit::raw::frame(Fin::More, Opcode::Continuation, &half),
                ]
                .concat()
            }),
        ] {
            let mut socket = open(&hub, path, NOBODY).await;
            socket.send_bytes(&bytes).await;
            assert_eq!(socket.read_close_code().await, TOO_BIG, "{path}: {what}");
        }
    }
    is_well(&hub).await;
}

#[tokio::test]
async fn attack_strangers_hold_memory_with_unfinished_messages() {
    let hub = hub("").await;
    let before = memory(&hub);
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut socket = open(&hub, "/nlip/ws", NOBODY).await;
        socket.send_bytes(&head(0x82, 63 << 20)).await;
        // As much of it as is taken.
        for _ in 0..63 {
            if !socket.send_bytes(&vec![b'x'; MIB]).await {
                break;
            }
        }
        held.push(socket);
    }
    let after = memory(&hub);
    assert!(after < before + 200, "from {before} to {after} MiB");
    is_well(&hub).await;
}

/// Signs of life in between, and a fragment now and then, keep no message open.
#[tokio::test]
async fn attack_a_stranger_keeps_a_message_open_with_pings() {
    let hub = hub("limits: { message_time: 1s }\n").await;
    for (path, header) in [("/nlip/ws/text", NOBODY), ("/nlip/ws/text", CARL), ("/ws", CARL), ("/aip/ws", CARL)] {
        let mut socket = open(&hub, path, header).await;
        socket.send(Fin::More, Opcode::Text, b"{").await;
        let closed = within("the end of a message that does not end", async {
            loop {
                socket.send(Fin::Last, Opcode::Ping, b"here").await;
                socket.send(Fin::More, Opcode::Continuation, b" ").await;
                match socket.read().await {
                    Some((0x88, payload)) => return payload.first_chunk().map(|code| u16::from_be_bytes(*code)),
                    Some(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                    None => return None,
                }
            }
        });
        assert_eq!(closed.await, POLICY, "{path}");
    }
    is_well(&hub).await;
}

/// Whoever showed a token has `limits.body` for a message, on every path, and all together have `limits.bodies`.
#[tokio::test]
async fn attack_a_token_without_rights_holds_memory_with_unfinished_messages() {
    let hub = hub("limits: { body: 1MiB, bodies: 2MiB }\n").await;
    for path in ["/ws", "/aip/ws", "/nlip/ws/text"] {
        let mut socket = open(&hub, path, CARL).await;
        socket.send_bytes(&head(0x81, (1 << 20) + 1)).await;
        assert_eq!(socket.read_close_code().await, TOO_BIG, "{path}");
        let begun = async || {
            let mut socket = open(&hub, path, CARL).await;
            socket.send_bytes(&head(0x81, 1 << 20)).await;
            socket.send_bytes(&vec![b'x'; MIB / 2]).await;
            socket
        };
        let (mut first, mut second) = (begun().await, begun().await);
        until("room to be taken", async || metric(&hub, "interlingua_body_bytes").await >= 2.0 * 1_048_576.0).await;
        let mut third = begun().await;
        // It finds no room, unless one that has some was slow for so long that it gives way.
        let closed = tokio::select! {
            code = first.read_close_code() => code,
            code = second.read_close_code() => code,
            code = third.read_close_code() => code,
        };
        assert_eq!(closed, TRY_AGAIN, "{path}");
        drop((first, second, third));
        until("room to be free", async || metric(&hub, "interlingua_body_bytes").await < 1.0).await;
    }
    is_well(&hub).await;
}

async fn metric(hub: &Hub, name: &str) -> f64 {
    let text = crate::support::send(hub, Method::GET, "/metrics", &[CARL], None).await.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.trim().parse().expect("a number")
}

/// A token in a message is as good as one with the upgrade.
#[tokio::test]
async fn who_shows_a_token_in_a_message_may_send_long_ones() {
    let hub = hub("").await;
    let mut socket = open(&hub, "/nlip/ws/text", NOBODY).await;
    let message = |content: &str| {
        json!({
            "format": "text", "subformat": "english", "content": content,
            "submessages": [{ "format": "token", "subformat": "authentication", "content": "carl-token" }]
        })
        .to_string()
    };
    for content in ["hello".to_owned(), "hello ".repeat(40_000)] {
        socket.send(Fin::Last, Opcode::Text, message(&content).as_bytes()).await;
        let (first, answer) = socket.read().await.expect("an answer");
        assert_eq!(first, 0x81, "{}", String::from_utf8_lossy(&answer));
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert!(!answer.to_string().contains("without a credential"), "{answer}");
    }
}

#[tokio::test]
async fn attack_strangers_open_socket_after_socket() {
    let hub = hub("limits: { anonymous_sockets: 4 }\n").await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(open(&hub, "/nlip/ws", NOBODY).await);
    }
    let refused = WebSocketFrames::open(hub.address(), "/nlip/ws", &[NOBODY]).await;
    assert_eq!(refused.err(), Some(503));
    let _known = open(&hub, "/nlip/ws", CARL).await;
    drop(held);
    until("places to be free again", async || {
        WebSocketFrames::open(hub.address(), "/nlip/ws", &[NOBODY]).await.is_ok()
    })
    .await;
}

#[expect(clippy::disallowed_methods, reason = "ends with the sender it serves; a test has no supervisor")]
fn run(connection: impl Future<Output = hyper::Result<()>> + Send + 'static) {
    tokio::spawn(connection);
}

/// A WebSocket of HTTP/2 (RFC 8441).
async fn extended_connect(hub: &Hub, sender: &mut SendRequest<Empty<Bytes>>) -> Response<Incoming> {
    let mut request = Request::builder()
        .method(Method::CONNECT)
        .uri(format!("http://{}/nlip/ws", hub.address()))
        .header(NOBODY.0, NOBODY.1)
        .body(Empty::new())
        .expect("a request");
    request.extensions_mut().insert(hyper::ext::Protocol::from_static("websocket"));
    within("an answer", sender.send_request(request)).await.expect("an answer")
}

#[tokio::test]
async fn attack_a_stranger_opens_many_sockets_over_one_connection_of_http_2() {
    let hub = hub("limits: { connections: 12, connections_per_address: 8 }\n").await;
    let stream = within("a connection", TcpStream::connect(hub.address())).await.expect("connected");
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    run(connection);
    // The hub says first that it knows how.
    let hello = Request::get(format!("http://{}/healthz", hub.address())).body(Empty::new()).expect("a request");
    within("an answer", sender.send_request(hello)).await.expect("an answer");
    let (mut held, mut refused) = (Vec::new(), 0);
    for _ in 0..20 {
        let response = extended_connect(&hub, &mut sender).await;
        match response.status().as_u16() {
            200 => held.push(hyper::upgrade::on(response).await.expect("a socket")),
            503 => refused += 1,
            status => panic!("status {status}"),
        }
    }
    // The connection itself has the eighth place.
    assert!((1..=7).contains(&held.len()) && refused == 20 - held.len(), "{} opened, {refused} refused", held.len());
    let mut socket = TokioIo::new(held.remove(0));
    socket.write_all(&head(0x82, 63 << 20)).await.expect("taken");
    let mut closed = Vec::new();
    within("a close", socket.read_to_end(&mut closed)).await.expect("read");
    assert_eq!(closed.get(2..4), Some(&1009_u16.to_be_bytes()[..]), "{closed:?}");
    drop(held);
    until("places to be free again", async || extended_connect(&hub, &mut sender).await.status() == 200).await;
}

/// A body of one piece after another, whose length is not said.
fn pieces(length: usize) -> impl hyper::body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + 'static {
    let pieces = (0..length.div_ceil(4096)).map(|_| Ok(Frame::data(Bytes::from(vec![b' '; 4096]))));
    StreamBody::new(futures_util::stream::iter(pieces))
}

#[tokio::test]
async fn attack_a_stranger_posts_bodies_longer_than_its_share() {
    let hub = hub("").await;
    let paths =
        ["/nlip", "/agents/local/nlip", "/nlip/route", "/mcp", "/a2a", "/a2a/message:send", "/api/exchanges", "/ask"];
    for path in paths {
        let long = " ".repeat(MIB + 1);
        let mut request = post(path, "application/json", long.clone());
        request.headers_mut().insert(NOBODY.0, NOBODY.1.parse().expect("a header"));
        let answer = hub.connect().await.try_send(request).await;
        // The hub answers before the body was sent, and may close before all of the answer was read.
        if let Ok(answer) = answer {
            assert_eq!(answer.status, 413, "{path}: {}", answer.text());
            assert!(answer.text().contains("show a token"), "{path}: {}", answer.text());
        }
        let mut request = post(path, "application/json", long);
        request.headers_mut().insert(CARL.0, CARL.1.parse().expect("a header"));
        let answer = hub.connect().await.send(request).await;
        assert_ne!(answer.status, 413, "{path}: {}", answer.text());
    }
    // The head alone is enough to be refused.
    let mut raw = Raw::connect(hub.address()).await;
    let host = hub.address();
    let head = format!(
        "POST /nlip HTTP/1.1\r\nhost: {host}\r\nsec-fetch-site: none\r\ncontent-type: application/json\r\ncontent-length: 60000000\r\n\r\n"
    );
    raw.write(head.as_bytes()).await;
    assert_eq!(raw.read_status().await.map(|(status, _)| status), Some(413));
}

#[tokio::test]
async fn attack_a_stranger_posts_a_body_without_saying_how_long_it_is() {
    let hub = hub("").await;
    let before = memory(&hub);
    for (header, expected) in [(NOBODY, 413), (CARL, 400)] {
        let stream = within("a connection", TcpStream::connect(hub.address())).await.expect("connected");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
        run(connection);
        let request = Request::post("/nlip")
            .header("host", hub.address().to_string())
            .header("content-type", "application/json")
            .header(header.0, header.1)
            .body(pieces(MIB + 1))
            .expect("a request");
        let answer = within("an answer", sender.send_request(request)).await.expect("an answer");
        let status = answer.status();
        let body = within("its body", answer.into_body().collect()).await.expect("whole").to_bytes();
        assert_eq!(status, expected, "{}", String::from_utf8_lossy(&body));
    }
    let after = memory(&hub);
    assert!(after < before + 200, "from {before} to {after} MiB");
}

/// A gRPC message is a body too; its refusal is a status in the trailers or the head.
#[tokio::test]
async fn attack_a_stranger_sends_a_grpc_message_longer_than_its_share() {
    let hub = hub("").await;
    let mut connection = interlingua_testkit::Connection::h2c(hub.address()).await;
    let mut request = post("/lf.a2a.v1.A2AService/SendMessage", "application/grpc", vec![0; MIB + 1]);
    request.headers_mut().insert(NOBODY.0, NOBODY.1.parse().expect("a header"));
    if let Ok(answer) = connection.try_send(request).await {
        let status = answer.trailers.get("grpc-status").or_else(|| answer.headers.get("grpc-status"));
        assert_eq!(status.map(|status| status.as_bytes()), Some(&b"8"[..]), "{answer:?}");
    }
    is_well(&hub).await;
}

/// So many members that decoding them takes a while.
fn many_members(bytes: usize) -> Bytes {
    let mut text = String::with_capacity(bytes + 1_024);
    text.push_str(r#"{"format":"structured","subformat":"json","content":{"#);
    for number in 0.. {
        if text.len() > bytes {
            break;
        }
        text.push_str(&format!("\"k{number}\":\"{number:016}\","));
    }
    text.push_str(r#""end":0}}"#);
    text.into()
}

/// Posts it and says how long the answer took.
async fn posted(address: SocketAddr, message: Bytes) -> Duration {
    let begun = Instant::now();
    let mut connection = interlingua_testkit::Connection::http1(address).await;
    let request = Request::post("/nlip").header("content-type", "application/json").header(CARL.0, CARL.1);
    let answer = connection.send(request.body(Full::new(message)).expect("a request")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    begun.elapsed()
}

/// Four such messages at once; how long `/healthz` took at most meanwhile, and how long one such message took before.
async fn health_beside(hub: &Hub, message: &Bytes) -> (Duration, Duration) {
    let alone = posted(hub.address(), message.clone()).await;
    let attack = futures_util::future::join_all((0..4).map(|_| posted(hub.address(), message.clone())));
    let mut longest = Duration::ZERO;
    let watch = async {
        loop {
            let begun = Instant::now();
            assert_eq!(hub.get("/healthz").await.status, 200);
            longest = longest.max(begun.elapsed());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        _ = attack => {}
        () = watch => {}
    }
    (longest, alone)
}

/// Whoever asks for `/healthz` meanwhile is not kept waiting as long as one such message takes. A loaded machine may do that once: most
/// of three rounds count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_large_messages_of_many_values_keep_the_workers_busy() {
    let hub = hub("").await;
    let message = many_members(20 * MIB);
    let mut rounds = Vec::new();
    for _ in 0..3 {
        rounds.push(health_beside(&hub, &message).await);
    }
    let kept_waiting = rounds.iter().filter(|(longest, alone)| longest >= alone).count();
    assert!(kept_waiting < 2, "/healthz, and one message alone: {rounds:?}");
    is_well(&hub).await;
}

/// A hub that the system gives so many descriptors.
fn program_with_few_descriptors(directory: &std::path::Path, most: u32) -> std::path::PathBuf {
    let path = directory.join("few");
    let text = format!("#!/bin/sh\nulimit -n {most}\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_interlingua"));
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
    path
}

async fn owner_is_answered(hub: &Hub) -> bool {
    let asked = async {
        let mut socket = UnixStream::connect(hub.data().join("hub.sock")).await.ok()?;
        let head = b"GET /api/skills HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        socket.write_all(head).await.ok()?;
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.ok()?;
        answer.starts_with(b"HTTP/1.1 200").then_some(())
    };
    tokio::time::timeout(Duration::from_secs(30), asked).await.is_ok_and(|answered| answered.is_some())
}

#[tokio::test]
async fn attack_strangers_take_all_descriptors() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = program_with_few_descriptors(directory.path(), 256);
    let hub = Hub::builder(program).config(CALLERS).start().await;
    logged(&hub, &["connections_reduced"]).await;
    let mut held = Vec::new();
    for _ in 0..300 {
        let mut stream = within("a connection", TcpStream::connect(hub.address())).await.expect("the system takes it");
        let _turned_away = stream.write_all(b"GET /healthz HTTP/1.1\r\n").await;
        held.push(stream);
    }
    assert!(owner_is_answered(&hub).await, "{}", hub.log());
    let complaints = hub.log().lines().filter(|line| line.contains("connections_not_accepted")).count();
    assert!(complaints < 100, "{complaints} lines");
    drop(held);
    until("the hub to answer others again", async || {
        // Those that are turned away meanwhile are closed without a word.
        let asked = request(Method::GET, "/healthz").body(Full::default()).expect("a request");
        hub.connect().await.try_send(asked).await.is_ok_and(|answer| answer.status == 200)
    })
    .await;
}

/// The soft limit is no bound: the hub raises it as far as it needs.
#[tokio::test]
async fn a_low_soft_limit_of_descriptors_is_raised() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("soft");
    let text = format!("#!/bin/sh\nulimit -Sn 200\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_interlingua"));
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
    let hub = Hub::builder(path).config("limits: { connections: 300 }\n").start().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", hub.id())).expect("the hub runs");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    let soft: u64 = line.split_whitespace().nth(3).and_then(|soft| soft.parse().ok()).expect("a number");
    assert_eq!(soft, 856, "{line}");
    assert!(!hub.log().contains("connections_reduced"), "{}", hub.log());
}

#[tokio::test]
async fn attack_an_aip_server_sends_a_frame_longer_than_the_limit() {
    let long = json!({ "type": "task", "status": "ok", "result": "x".repeat(5 * MIB) }).to_string();
    let server = Scripted::websocket(move |_, _| Some(Message::text(long.clone()))).await;
    let yaml = format!(
        "limits: {{ body: 4MiB }}\npeers: {{ lab: {{ aip: {{ url: 'ws://{}/ws', target: dev1 }} }} }}\n",
        server.address()
    );
    let hub = hub(&yaml).await;
    until("the hub to leave and come again", async || {
        server.heard().iter().map(|heard| heard.connection).max().unwrap_or(0) >= 1
    })
    .await;
    assert!(!hub.log().contains("frame_not_read"), "it was taken: {}", hub.log());
    is_well(&hub).await;
}

#[tokio::test]
async fn attack_an_nlip_agent_answers_with_a_message_longer_than_the_limit() {
    let long = json!({ "format": "text", "subformat": "english", "content": "x".repeat(5 * MIB) }).to_string();
    let said = long.clone();
    let sockets = Scripted::websocket(move |_, _| Some(Message::text(said.clone()))).await;
    let yaml = format!(
        "limits: {{ body: 4MiB }}\npeers: {{ desk: {{ public: true, nlip: {{ url: 'ws://{}/nlip', binding: ws-text }} }} }}\n",
        sockets.address()
    );
    let hub = hub(&yaml).await;
    let ask = json!({ "format": "text", "subformat": "english", "content": "hello" });
    let mut request = post("/agents/desk/nlip", "application/json", ask.to_string());
    request.headers_mut().insert(CARL.0, CARL.1.parse().expect("a header"));
    let answer = hub.connect().await.send(request).await;
    assert!(answer.body.len() < MIB, "{} bytes were passed on", answer.body.len());
    assert_ne!(answer.json()["content"], "hello");
    is_well(&hub).await;
}
