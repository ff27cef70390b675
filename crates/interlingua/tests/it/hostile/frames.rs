//! WebSocket: bad CBOR, bad frames, fragments.

use interlingua_testkit::{
    Hub,
    hostile::{cbor, frames, nlip_complaint},
    raw::{Fin, Opcode, WebSocketFrames},
};
use serde_json::Value;

use super::{assert_well, hub, settle, under_watch};

const GREETING: &[u8] = br#"{"format":"text","subformat":"english","content":"hello"}"#;

#[tokio::test]
async fn n_56_bad_cbor_is_answered_by_an_nlip_error() {
    let hub = hub().await;
    let attack = async {
        let mut complaints = Vec::new();
        for case in cbor::cases() {
            let mut socket = open(&hub, "/nlip/ws").await;
            socket.send(Fin::Last, Opcode::Binary, &case.bytes).await;
            complaints.extend(answer_complaint(&mut socket).await.map(|what| format!("{}: {what}", case.name)));
        }
        complaints
    };
    settle(&under_watch(&hub, attack).await);
    assert_well(&hub).await;
}

#[tokio::test]
async fn hostile_frames_close_the_connection_and_nothing_else() {
    let hub = hub().await;
    let attack = async {
        let mut complaints = Vec::new();
        for path in ["/nlip/ws", "/nlip/ws/text"] {
            for case in frames::broken() {
                let mut socket = open(&hub, path).await;
                socket.send_bytes(&case.bytes).await;
                // Ends when the hub closes; a hub that does not is named by the limit.
                let code = socket.read_close_code().await;
                if code != Some(case.code) {
                    complaints.push(format!("{} at {path}: close code {code:?}, not {}", case.name, case.code));
                }
            }
        }
        complaints
    };
    settle(&under_watch(&hub, attack).await);
    assert_well(&hub).await;
}

#[tokio::test]
async fn n_54_a_message_in_fragments_is_put_together() {
    let hub = hub().await;
    for count in [3, GREETING.len()] {
        let mut socket = open(&hub, "/nlip/ws/text").await;
        socket.send_bytes(&frames::fragments(Opcode::Text, GREETING, count)).await;
        let answer = first_data(&mut socket).await.expect("an answer");
        let message: Value = serde_json::from_slice(&answer.1).expect("JSON");
        assert_eq!(message["format"], "text", "{message}");
        assert_ne!(message["messagetype"], "error", "{message}");
    }
    // `{"format": "token", "subformat": "conversation", "content": "in pieces"}` in CBOR, by hand.
    let binary = b"\xa3\x66format\x65token\x69subformat\x6cconversation\x67content\x69in pieces";
    for count in [3, binary.len()] {
        let mut socket = open(&hub, "/nlip/ws").await;
        socket.send_bytes(&frames::fragments(Opcode::Binary, binary, count)).await;
        let (first, answer) = first_data(&mut socket).await.expect("an answer");
        assert_eq!(first, 0x82, "a whole binary message");
        let holds = |bytes: &[u8]| answer.windows(bytes.len()).any(|window| window == bytes);
        assert!(holds(b"\x69in pieces"), "the token comes back: {}", String::from_utf8_lossy(&answer));
        assert!(!holds(b"\x65error"), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test]
async fn hostile_fragments_without_end_keep_nobody_waiting() {
    let hub = hub().await;
    let attack = async {
        let mut sockets = Vec::new();
        for _ in 0..20 {
            let mut socket = open(&hub, "/nlip/ws/text").await;
            socket.send_bytes(&frames::endless(20_000)).await;
            sockets.push(socket);
        }
        sockets
    };
    let sockets = under_watch(&hub, attack).await;
    assert_well(&hub).await;
    drop(sockets);
    assert_well(&hub).await;
}

async fn open(hub: &Hub, path: &str) -> WebSocketFrames {
    hub.frames(path, &[]).await.unwrap_or_else(|status| panic!("{path} refused: {status}"))
}

/// The next text or binary frame.
async fn first_data(socket: &mut WebSocketFrames) -> Option<(u8, Vec<u8>)> {
    loop {
        let (first, payload) = socket.read().await?;
        match first & 0x0F {
            0x1 | 0x2 => return Some((first, payload)),
            0x8 => return None,
            _ => {}
        }
    }
}

/// A text frame must be an NLIP error in JSON; a binary frame one in CBOR, told by its words (ECMA-432, clause 11).
async fn answer_complaint(socket: &mut WebSocketFrames) -> Option<String> {
    let Some((first, payload)) = first_data(socket).await else { return Some("a close without a word".to_owned()) };
    let text = String::from_utf8_lossy(&payload).into_owned();
    if first & 0x0F == 0x2 {
        // Keys and values as CBOR writes short text strings, by hand.
        let said = [(b"\x6bmessagetype\x65error".as_slice()), b"\x66format\x64text", b"\x69subformat\x67english"];
        let has = |bytes: &[u8]| payload.windows(bytes.len()).any(|window| window == bytes);
        return (!said.iter().all(|bytes| has(bytes))).then(|| format!("not an error in English text: {text}"));
    }
    match serde_json::from_slice(&payload) {
        Ok(body) => nlip_complaint(&body),
        Err(_) => Some(format!("not JSON: {text}")),
    }
}
