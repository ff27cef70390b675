//! ECMA-432: NLIP over WebSocket, CBOR at `/nlip/ws` and JSON at `/nlip/ws/text`.

use interlingua_testkit::raw::{Fin, Opcode, WebSocketFrames};
use interlingua_testkit::{Hub, Peer};
use serde_json::Value;

use super::{hub, text, token, tokens, with};

/// `{"format": "text", "subformat": "english", "content": "hello"}` with a byte string in a submessage, by hand: the test
/// must not read CBOR with the code it tests.
fn cbor_message(bytes: &[u8], kind: &str, format: &str) -> Vec<u8> {
    let part = [vec![0xA3], entry("format", &short(format)), entry("subformat", &short(kind)), entry("content", bytes)]
        .concat();
    let head =
        [entry("format", &short("text")), entry("subformat", &short("english")), entry("content", &short("hello"))];
    [vec![0xA4], head.concat(), entry("submessages", &[vec![0x81], part].concat())].concat()
}

fn entry(key: &str, value: &[u8]) -> Vec<u8> {
    [short(key), value.to_vec()].concat()
}

/// A text string of at most 23 bytes.
fn short(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("short");
    assert!(length < 24, "{text}");
    [&[0x60 | length], text.as_bytes()].concat()
}

async fn open(path: &str) -> (interlingua_testkit::Hub, WebSocketFrames) {
    let hub = hub().await;
    let socket = hub.frames(path, &[]).await.expect("the upgrade is taken");
    (hub, socket)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[tokio::test]
async fn n_51_both_end_points_upgrade() {
    open("/nlip/ws").await;
    open("/nlip/ws/text").await;
}

#[tokio::test]
async fn n_52_one_cbor_message_is_answered_by_one_binary_message() {
    let (_hub, mut socket) = open("/nlip/ws").await;
    for turn in ["turn-1", "turn-2"] {
        socket.send(Fin::Last, Opcode::Binary, &cbor_message(&short(turn), "conversation", "token")).await;
        let (first, payload) = socket.read().await.expect("an answer");
        assert_eq!(first, 0x82, "a whole binary message");
        assert!(contains(&payload, &short(turn)), "the token comes back: {payload:?}");
    }
}

#[tokio::test]
async fn n_53_a_byte_string_stays_a_byte_string() {
    let (_hub, mut socket) = open("/nlip/ws").await;
    // A token whose content is bytes must come back identical, so it shows what becomes of bytes on both ways.
    let bytes = [0x58, 0x20].into_iter().chain(200..232).collect::<Vec<u8>>();
    socket.send(Fin::Last, Opcode::Binary, &cbor_message(&bytes, "group_1", "token")).await;
    let (_, payload) = socket.read().await.expect("an answer");
    assert!(contains(&payload, &bytes), "{payload:?}");
}

#[tokio::test]
async fn n_53_a_picture_goes_through_the_hub_as_bytes() {
    let (_hub, mut socket) = open("/nlip/ws").await;
    let part = |kind: [&str; 2], content: &[u8], label: Option<&str>| {
        let head = vec![if label.is_some() { 0xA4 } else { 0xA3 }];
        let label = label.map(|label| entry("label", &short(label))).unwrap_or_default();
        let kind = [entry("format", &short(kind[0])), entry("subformat", &short(kind[1]))].concat();
        [head, kind, entry("content", content), label].concat()
    };
    // Every byte there is: most of them are no text.
    let bytes = [0x59, 0x01, 0x00].into_iter().chain(0..=255).collect::<Vec<u8>>();
    let call = [vec![0xA1], entry("skill", &short("hub/echo"))].concat();
    let below = [
        vec![0x82],
        part(["structured", "json"], &call, Some("interlingua-call")),
        part(["binary", "image/png"], &bytes, None),
    ];
    let head = [entry("format", &short("text")), entry("subformat", &short("english")), entry("content", &short("x"))];
    let message = [vec![0xA4], head.concat(), entry("submessages", &below.concat())].concat();
    socket.send(Fin::Last, Opcode::Binary, &message).await;
    let (first, payload) = socket.read().await.expect("an answer");
    assert_eq!(first, 0x82, "a whole binary message");
    assert!(contains(&payload, &entry("content", &bytes)), "{}", String::from_utf8_lossy(&payload));
}

#[tokio::test]
async fn n_53_byte_strings_inside_structured_content_come_back_from_a_peer_as_they_were() {
    let echo = Peer::nlip_server("nlip_server.echo:app").await;
    let yaml = format!(
        "peers:\n  echo: {{ nlip: {{ url: \"http://{}/nlip/\" }}, effects: reads }}\nfront_door: echo\n",
        echo.address()
    );
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), &yaml).await;
    let mut socket = hub.frames("/nlip/ws", &[]).await.expect("the upgrade is taken");
    // {"photo": h'00ff07', "more": [h'']}
    let content = [vec![0xA2], entry("photo", &[0x43, 0x00, 0xFF, 0x07]), entry("more", &[0x81, 0x40])].concat();
    let message = [
        vec![0xA3],
        entry("format", &short("structured")),
        entry("subformat", &short("json")),
        entry("content", &content),
    ];
    socket.send(Fin::Last, Opcode::Binary, &message.concat()).await;
    let (first, payload) = socket.read().await.expect("an answer");
    assert_eq!(first, 0x82, "a whole binary message");
    assert!(contains(&payload, &content), "{}", String::from_utf8_lossy(&payload));
}

#[tokio::test]
async fn n_56_bad_cbor_is_answered_in_cbor() {
    let (_hub, mut socket) = open("/nlip/ws").await;
    socket.send(Fin::Last, Opcode::Binary, &[0xFF]).await;
    let (first, payload) = socket.read().await.expect("an answer");
    assert_eq!(first, 0x82, "a whole binary message: {}", String::from_utf8_lossy(&payload));
    assert!(contains(&payload, &entry("messagetype", &short("error"))), "{payload:?}");
    assert!(contains(&payload, &entry("format", &short("text"))), "{payload:?}");
    assert!(contains(&payload.to_ascii_lowercase(), &entry("subformat", &short("english"))), "{payload:?}");
    // The socket is still good.
    socket.send(Fin::Last, Opcode::Binary, &cbor_message(&short("t"), "conversation", "token")).await;
    assert_eq!(socket.read().await.expect("an answer").0, 0x82);
}

#[tokio::test]
async fn n_55_the_json_end_point_answers_in_text() {
    let (_hub, mut socket) = open("/nlip/ws/text").await;
    let sent = token("conversation", "over-text");
    let picture = serde_json::json!({"format": "binary", "subformat": "image/png", "content": "iVBORw0KGgo="});
    let message = super::echo(&[sent.clone(), picture.clone()]);
    socket.send(Fin::Last, Opcode::Text, message.to_string().as_bytes()).await;
    let (first, payload) = socket.read().await.expect("an answer");
    assert_eq!(first, 0x81, "a whole text message");
    let reply: Value = serde_json::from_slice(&payload).expect("JSON");
    assert!(tokens(&reply).contains(&sent), "{reply}");
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    assert!(parts.contains(&picture), "bytes are base64 in JSON: {reply}");
}

#[tokio::test]
async fn n_57_a_ping_is_answered() {
    let (_hub, mut socket) = open("/nlip/ws").await;
    socket.send(Fin::Last, Opcode::Ping, b"are you there").await;
    assert_eq!(socket.read().await, Some((0x8A, b"are you there".to_vec())));
}

/// A hub with a tool that takes a minute and says when it has begun.
async fn slow_hub() -> interlingua_testkit::Hub {
    let builder = interlingua_testkit::Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let begun = builder.directory().join("begun");
    let tool = format!(
        "name: slow\ndescription: Takes a minute.\neffects: {{ reads: true, idempotent: true }}\ntimeout: 2m\n\
         command: [sh, -c, 'echo $$ >> {}; exec sleep 60']\n",
        begun.display()
    );
    builder.file("tools/slow.yaml", tool).config("tools: { directory: ./tools }\n").start().await
}

fn slow() -> Value {
    let named = serde_json::json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": "local/slow", "arguments": {}}});
    with(text(""), &[named])
}

/// The process that does the work, once it is there.
async fn worker(hub: &interlingua_testkit::Hub) -> std::path::PathBuf {
    let begun = hub.directory().join("begun");
    let read = || std::fs::read_to_string(&begun).ok().filter(|pid| pid.ends_with('\n'));
    crate::support::until("the tool runs", async || read().is_some()).await;
    std::path::Path::new("/proc").join(read().expect("just seen").trim())
}

#[tokio::test]
async fn a_close_behind_messages_that_wait_cancels_what_runs() {
    for waiting in [0, 16, 40] {
        let hub = slow_hub().await;
        let mut socket = hub.websocket("/nlip/ws/text").await;
        socket.send_text(slow().to_string()).await;
        let worker = worker(&hub).await;
        for _ in 0..waiting {
            socket.send_text(text("hello").to_string()).await;
        }
        drop(socket);
        crate::support::until(&format!("with {waiting} waiting the work ends"), async || !worker.exists()).await;
    }
}

#[tokio::test]
async fn whoever_sends_more_than_may_wait_is_sent_away_and_its_work_is_cancelled() {
    let hub = slow_hub().await;
    let mut socket = hub.websocket("/nlip/ws/text").await;
    socket.send_text(slow().to_string()).await;
    let worker = worker(&hub).await;
    for _ in 0..300 {
        socket.send_text(text("hello").to_string()).await;
    }
    let close = loop {
        match socket.next().await {
            Some(message) if message.is_close() => break message.as_close().map(|(code, _)| u16::from(code)),
            Some(_) => {}
            None => break None,
        }
    };
    assert_eq!(close, Some(1013), "try again later");
    crate::support::until("the work ends", async || !worker.exists()).await;
}

/// The heartbeat is that of the module: half a minute.
#[tokio::test]
async fn a_socket_is_asked_whether_it_is_there_while_a_message_is_answered() {
    let hub = slow_hub().await;
    let mut socket = hub.websocket("/nlip/ws/text").await;
    socket.send_text(slow().to_string()).await;
    let worker = worker(&hub).await;
    let message = socket.next().await.expect("a frame");
    assert!(message.is_ping() && worker.exists(), "a ping before the answer: {message:?}");
}
