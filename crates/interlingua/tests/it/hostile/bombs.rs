//! Small to send, large to hold: JSON that is deep, wide, repeated or endless in one place, at every endpoint that reads JSON, inside an
//! otherwise valid message. Each endpoint answers in its own protocol, the hub's memory grows within the limits of such messages, and it
//! continues to serve. Compressed bodies are refused unread (`trust/guard.rs`); bytes that are not JSON are in `messages.rs`.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::raw::{Fin, Opcode};
use interlingua_testkit::{Answer, Hub, grpc, request};
use serde_json::Value;

use super::{assert_well, hub, settle, under_watch};

/// About how many bytes each of them has.
const SIZE: usize = 1 << 20;
/// By how much the hub may have grown at its height, over all of them. A message becomes a tree, is checked, echoed and written:
/// each is a few times its size, and the allocator keeps some of it.
const GROWTH_KIB: u64 = 320 * 1024;

struct Bomb {
    name: &'static str,
    json: String,
    /// No limit of JSON is broken by it: it is answered, where content may be as large.
    legal: bool,
}

fn bombs() -> Vec<Bomb> {
    let bomb = |name, json, legal| Bomb { name, json, legal };
    let deep = |open: &str, inside: &str, close: &str| {
        let count = SIZE / (open.len() + close.len());
        format!("{}{inside}{}", open.repeat(count), close.repeat(count))
    };
    let listed = |item: &dyn Fn(usize) -> String, count: usize| (0..count).map(item).collect::<Vec<_>>().join(",");
    vec![
        bomb("deep arrays", deep("[", "", "]"), false),
        bomb("deep objects", deep(r#"{"a":"#, "1", "}"), false),
        bomb("deep arrays that never end", "[".repeat(SIZE), false),
        bomb("a million empty keys", format!("{{{}}}", listed(&|_| r#""":0"#.into(), 1_000_000)), false),
        bomb("one key again and again", format!("{{{}}}", listed(&|_| r#""key":[]"#.into(), SIZE / 9)), false),
        bomb(r"a key and the same key in escapes", r#"{"a":1,"\u0061":2}"#.into(), false),
        bomb("very many keys", format!("{{{}}}", listed(&|at| format!(r#""k{at}":0"#), SIZE / 10)), true),
        bomb("very many items", format!("[{}]", listed(&|_| "0".into(), SIZE / 2)), true),
        bomb("a number of a million digits", format!("1{}", "0".repeat(SIZE)), true),
        bomb("a number beyond all numbers", "1e999999999".into(), true),
        bomb("a text all of escapes", format!("\"{}\"", r"\u0041".repeat(SIZE / 6)), true),
        bomb("half a pair of surrogates", r#""\ud800""#.into(), false),
    ]
}

/// A door: where, what is sent there with the bomb in place of `BOMB`, with which headers, and how it says no.
struct Door {
    path: &'static str,
    message: &'static str,
    headers: &'static [(&'static str, &'static str)],
    refuses: fn(&Value) -> bool,
    /// How many bytes such content may have here.
    takes: usize,
}

const MCP: &[(&str, &str)] = &[
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "hub__echo"),
];
const A2A: &[(&str, &str)] = &[("a2a-version", "1.0")];

fn doors() -> Vec<Door> {
    let coded = |body: &Value| body["error"]["code"].is_i64() || body["result"]["isError"] == true;
    vec![
        Door {
            path: "/nlip",
            message: r#"{"format":"text","subformat":"english","content":"","submessages":[{"format":"structured",
                "subformat":"json","label":"interlingua-call","content":{"skill":"hub/echo","arguments":{"text":BOMB}}}]}"#,
            headers: &[],
            refuses: |body| body["messagetype"] == "error",
            takes: usize::MAX,
        },
        Door {
            path: "/nlip/route",
            message: r#"{"format":{"content_type":"application/json","encoding":"utf-8","schema_version":"1.0",
                "compression":null},"control":{"message_type":"request","message_id":"m","correlation_id":null,
                "timestamp":"2026-01-01T00:00:00.000000Z","priority":0,"timeout":null,"retry_count":0},"token":{
                "session_id":null,"context_token":null,"state_token":null,"conversation_turn":0},"content":{},
                "tool_results":null,"metadata":{},"tool_calls":[{"tool_id":"t","tool_name":"mcp__hub__echo",
                "parameters":{"text":BOMB},"require_confirmation":false}]}"#,
            headers: &[],
            refuses: |body| {
                let said = body.to_string();
                said.contains(r#""message_type":"error""#) || said.contains(r#""status":"error""#)
            },
            takes: usize::MAX,
        },
        Door {
            path: "/mcp",
            message: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hub__echo","arguments":
                {"text":BOMB},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
                "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            headers: MCP,
            refuses: coded,
            takes: usize::MAX,
        },
        Door {
            path: "/a2a",
            message: r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m",
                "role":"ROLE_USER","parts":[{"data":{"skill":"hub/echo","text":BOMB}}]}}}"#,
            headers: A2A,
            refuses: |body| body["error"]["code"].is_i64() || body.to_string().contains("TASK_STATE_FAILED"),
            takes: usize::MAX,
        },
        Door {
            path: "/a2a/message:send",
            message: r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"skill":"hub/echo",
                "text":BOMB}}]}}"#,
            headers: A2A,
            refuses: |body| body["error"]["status"].is_string() || body.to_string().contains("TASK_STATE_FAILED"),
            takes: usize::MAX,
        },
        Door {
            path: "/ask",
            message: r#"{"query":{"text":"echo x","more":BOMB},"prefer":{"streaming":false}}"#,
            headers: &[],
            refuses: |body| body.to_string().contains("rror") || body.to_string().contains("failure"),
            takes: usize::MAX,
        },
        Door {
            path: "/api/exchanges",
            message: r#"{"skill":"hub/echo","arguments":{"text":BOMB}}"#,
            headers: &[],
            refuses: |body| body["error"]["kind"].is_string(),
            takes: usize::MAX,
        },
        Door {
            path: "/api/messages",
            message: r#"{"message_type":"event","from_agent":"a","topic":"t","content":BOMB}"#,
            headers: &[],
            refuses: |body| body["error"]["kind"].is_string(),
            // An object of a quarter of a megabyte at most, which none of these is.
            takes: 0,
        },
    ]
}

async fn sent(hub: &Hub, door: &Door, bomb: &Bomb) -> Answer {
    let mut builder = request(Method::POST, door.path).header("content-type", "application/json");
    for (name, value) in door.headers {
        builder = builder.header(*name, *value);
    }
    let body = Bytes::from(door.message.replace("BOMB", &bomb.json));
    hub.connect().await.send(builder.body(Full::new(body)).expect("a request")).await
}

/// What is wrong with an answer, if anything is.
fn complaint(door: &Door, bomb: &Bomb, answer: &Answer) -> Option<String> {
    let told = |what: &str| {
        let text: String = answer.text().chars().take(200).collect();
        Some(format!("{} at {}: {what}: {} {text}", bomb.name, door.path, answer.status))
    };
    if answer.status >= 500 {
        return told("the hub's own failure");
    }
    let refused = serde_json::from_slice(&answer.body).is_ok_and(|body: Value| (door.refuses)(&body));
    let taken = bomb.legal && bomb.json.len() <= door.takes;
    match (refused, taken) {
        (true, true) => told("refused, though it breaks no limit"),
        (false, true) if answer.status != 200 => told("not answered"),
        (false, false) => told("not refused in its protocol's form"),
        (false, true) | (true, false) => None,
    }
}

/// The most that the hub ever held at once, and what it holds, in KiB.
fn resident(hub: &Hub) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("it runs");
    let of = |name: &str| {
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {status}"));
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    };
    (of("VmHWM:"), of("VmRSS:"))
}

#[tokio::test]
async fn every_door_says_no_to_json_that_is_deep_wide_repeated_or_endless_and_the_hub_stays_small() {
    let hub = hub().await;
    let (_, before) = resident(&hub);
    let attack = async {
        let mut complaints = Vec::new();
        for bomb in bombs() {
            for door in doors() {
                complaints.extend(complaint(&door, &bomb, &sent(&hub, &door, &bomb).await));
            }
        }
        complaints
    };
    settle(&under_watch(&hub, attack).await);
    let (most, after) = resident(&hub);
    assert!(most - before.min(most) < GROWTH_KIB, "from {before} KiB to {most} KiB, now {after} KiB");
    assert_well(&hub).await;
}

/// A socket says no in a frame of its protocol; what it does after that is its own matter.
#[tokio::test]
async fn every_socket_says_no_to_the_same() {
    let hub = hub().await;
    let nlip = doors().swap_remove(0).message;
    let aip = r#"{"type":"task","status":"continue","client_type":"constellation","client_id":"c","request":"x","metadata":BOMB}"#;
    let (_, before) = resident(&hub);
    let attack = async {
        for bomb in bombs() {
            for (path, message) in [("/nlip/ws/text", nlip), ("/ws", aip), ("/aip/ws", aip)] {
                let mut socket = hub.frames(path, &[]).await.expect("opened");
                let message = message.replace("BOMB", &bomb.json);
                socket.send(Fin::Last, Opcode::Text, message.as_bytes()).await;
                let said = tokio::time::timeout(Duration::from_secs(60), socket.read()).await;
                let said = said.unwrap_or_else(|_| panic!("{} at {path}: silence", bomb.name));
                let (first, payload) = said.unwrap_or_else(|| panic!("{} at {path}: an end without a word", bomb.name));
                let text = String::from_utf8_lossy(&payload);
                // A legal one is a message of NLIP like any other; to AIP it comes before a registration.
                let told = first & 0x0f == 1
                    && serde_json::from_slice(&payload).is_ok_and(|frame: Value| match path {
                        "/nlip/ws/text" => (frame["messagetype"] == "error") != bomb.legal,
                        _ => frame["type"] == "error",
                    });
                assert!(told, "{} at {path} ({first}): {text}", bomb.name);
            }
        }
    };
    under_watch(&hub, attack).await;
    let (most, after) = resident(&hub);
    assert!(most - before.min(most) < GROWTH_KIB, "from {before} KiB to {most} KiB, now {after} KiB");
    assert_well(&hub).await;
}

/// gRPC: a message within a message within a message, a length that is not there, and a compressed one.
#[tokio::test]
async fn grpc_says_no_to_messages_that_are_deep_long_or_packed() {
    let hub = hub().await;
    let nested = |levels: usize| {
        let mut message = Vec::new();
        for _ in 0..levels {
            // Field 2 is a list or a struct wherever values of any kind are nested; lengths as varints.
            let mut length = message.len();
            let mut outer = vec![0x12];
            while length >= 0x80 {
                outer.push((length & 0x7f) as u8 | 0x80);
                length >>= 7;
            }
            outer.push(length as u8);
            outer.append(&mut message);
            message = outer;
        }
        message
    };
    let framed = |flag: u8, length: u32, message: &[u8]| [&[flag][..], &length.to_be_bytes(), message].concat();
    let deep = nested(5_000);
    let cases = [
        ("deep", 3, framed(0, u32::try_from(deep.len()).expect("short"), &deep)),
        ("as long as can be said", 3, framed(0, u32::MAX, b"x")),
        ("compressed", 12, framed(1, 3, b"\x1f\x8b\x08")),
    ];
    let ways = [("/lf.a2a.v1.A2AService/SendMessage", "1.0"), ("/a2a.v1.A2AService/SendMessage", "0.3")];
    for (path, version) in ways {
        for (name, expected, body) in &cases {
            let mut connection = hub.connect_h2c().await;
            let mut call = grpc::call(path, &[("a2a-version", version)], b"");
            *call.body_mut() = Full::new(Bytes::from(body.clone()));
            let mut answer = connection.messages(call).await;
            while answer.next().await.is_some() {}
            let code: u8 = answer.code().and_then(|code| code.parse().ok()).unwrap_or_default();
            assert_eq!(code, *expected, "{name} at {path}: {:?}", answer.text("grpc-message"));
        }
    }
    assert_well(&hub).await;
}
