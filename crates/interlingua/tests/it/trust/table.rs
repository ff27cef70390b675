//! Every operation of every protocol, without a credential, with a wrong, an expired, a revoked, a foreign and an insufficient one, and
//! with the right one. A route that is missing from this table fails the test, so no path is forgotten.

mod rows;

use std::collections::BTreeSet;

use http::Method;
use interlingua::config::{self, Overrides};
use interlingua::server::run::Server;
use interlingua_testkit::Hub;
use interlingua_testkit::grpc::call;
use interlingua_testkit::raw::{Fin, Opcode};
use serde_json::{Value, json};

use self::rows::{Door, Row, Way};
use super::callers::{CONFIG, status, token};
use super::{WORD, echo, owner_token};
use crate::support::{builder, send, until};

const LIST: &str = "
- { name: small, token: ilg_small, skills: [local/nothing] }
- { name: expired, token: ilg_expired, expires: \"2020-01-01T00:00:00Z\" }
- { name: gone, token: ilg_gone }
";

/// Who is refused, and what they show.
const REFUSED: [(&str, Option<&str>); 5] = [
    ("nobody", None),
    ("wrong", Some("ilg_wrong")),
    ("foreign", Some("x")),
    ("expired", Some("ilg_expired")),
    ("revoked", Some("ilg_gone")),
];

async fn hub() -> Hub {
    let views = "mcp: { views: { few: { allow: [\"hub/*\"] } } }\n";
    let hub = builder().file("tokens.yaml", LIST).config(&format!("{CONFIG}{views}")).start().await;
    until("a token to count", async || status(&hub, "ilg_gone", "/api/skills").await == 200).await;
    assert_eq!(token(hub.directory(), &["revoke", "gone", "-c", "interlingua.yaml"]).0, Some(0));
    until("it to be revoked", async || status(&hub, "ilg_gone", "/api/skills").await == 401).await;
    hub
}

/// The paths that the program's router knows, as it prints itself.
pub(super) async fn routed() -> BTreeSet<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let yaml = "listen: 127.0.0.1:0\nstore: { embedded: ./data }\n";
    let file = directory.path().join("interlingua.yaml");
    let loaded = config::load_text(yaml, &file, &Overrides::default(), &|_| None).expect("a configuration");
    let server = Server::start(&loaded.config).await.expect("the hub starts");
    let printed = format!("{:?}", server.routes());
    server.stop().await;
    let named = printed.split("RouteId(").filter_map(|piece| piece.split_once("): \"")?.1.split_once('"'));
    let paths = named.map(|(path, _)| path.to_owned()).filter(|path| !path.contains("__private__"));
    paths.collect()
}

#[tokio::test]
async fn no_path_is_left_out_of_the_table() {
    let routed = routed().await;
    assert!(routed.contains("/mcp") && routed.len() > 50, "the router prints its paths: {routed:?}");
    let hub = hub().await;
    let described = described(&hub).await;
    let told: BTreeSet<String> = rows::all(&described).into_iter().map(|row| row.route.to_owned()).collect();
    let missing: Vec<_> = routed.difference(&told).collect();
    let stale: Vec<_> = told.difference(&routed).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not in the table: {missing:?}; not in the router: {stale:?}");
}

/// The table has every method that MCP's decoder knows, too: they share one path.
#[test]
fn no_method_of_mcp_is_left_out_of_the_table() {
    let source = interlingua_testkit::root().join("crates/protocols/mcp/src/decode/mod.rs");
    let source = std::fs::read_to_string(source).expect("the decoder");
    let (_, body) = source.split_once("pub fn decode(").expect("the function that reads a method");
    let (body, _) = body.split_once("\n}\n").expect("its end");
    let arms = body.lines().filter_map(|line| line.trim_start().strip_prefix('"')?.split_once('"'));
    let known: BTreeSet<&str> = arms.map(|(method, _)| method).collect();
    assert!(known.len() > 15, "{known:?}");
    let told: BTreeSet<&str> = rows::MODERN.iter().chain(rows::LEGACY).map(|(method, _)| *method).collect();
    assert_eq!(known, told);
}

/// What the hub's own interface says it can be asked.
async fn described(hub: &Hub) -> Value {
    let owner = format!("Bearer {}", owner_token(hub));
    send(hub, Method::GET, "/api/openapi.json", &[("authorization", &owner)], None).await.json()
}

/// What came of a row: the status (or, of gRPC, the code), whether it says how to sign in, and the text.
struct Told {
    status: u16,
    challenged: bool,
    text: String,
}

async fn ask(hub: &Hub, row: &Row, token: Option<&str>) -> Told {
    let bearer = token.map(|token| format!("Bearer {token}"));
    // A page of the hub's own address, so that the connection itself proves nothing.
    let mut headers = vec![("sec-fetch-site", "same-origin")];
    headers.extend(row.headers.iter().map(|(name, value)| (*name, value.as_str())));
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    match row.way {
        Way::Http => {
            let answer = send(hub, row.method.clone(), &row.path, &headers, row.body.clone()).await;
            let challenged = answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer"));
            Told { status: answer.status, challenged, text: answer.text() }
        }
        Way::Grpc => {
            let mut connection = hub.connect_h2c().await;
            let mut messages = connection.messages(call(&row.path, &headers, &row.bytes)).await;
            while messages.next().await.is_some() {}
            let code = messages.code().and_then(|code| code.parse().ok()).unwrap_or_default();
            let text = messages.text("grpc-message").unwrap_or_default().to_owned();
            Told { status: code, challenged: true, text }
        }
        Way::Socket => {
            let opened = hub.frames(&row.path, &headers).await;
            Told { status: opened.err().unwrap_or(101), challenged: true, text: String::new() }
        }
    }
}

/// What is wrong with the answers of one row; nothing when all is well.
async fn faults(hub: &Hub, row: &Row, owner: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut note = |who: &str, told: &Told, what: &str| {
        wrong.push(format!("{} {} for {who}: {what}: {} {}", row.method, row.path, told.status, told.text));
    };
    for (who, shown) in REFUSED {
        let told = ask(hub, row, shown).await;
        if told.text.contains(WORD) {
            note(who, &told, "it was done");
        }
        match (row.door, shown) {
            (Door::Closed, _) | (Door::PerMessage, Some(_)) => {
                if told.status != row.unauthenticated() || !told.challenged {
                    note(who, &told, "not refused for want of a credential");
                }
            }
            (Door::Keyed { none, wrong }, shown) => {
                if told.status != if shown.is_none() { none } else { wrong } {
                    note(who, &told, "not refused as this protocol refuses");
                }
            }
            (Door::PerMessage, None) => {
                if told.status != 101 {
                    note(who, &told, "a message may bring its own credential");
                }
            }
            (Door::Open, _) => {
                if told.status == row.unauthenticated() {
                    note(who, &told, "this is for everybody");
                }
            }
        }
    }
    if row.endless {
        return wrong;
    }
    let small = ask(hub, row, Some("ilg_small")).await;
    if small.status == row.unauthenticated() {
        note("insufficient", &small, "it is known who this is");
    }
    if small.text.contains(WORD) || row.shows.is_some_and(|shows| small.text.contains(shows)) {
        note("insufficient", &small, "it sees what it may not");
    }
    let right = ask(hub, row, Some(owner)).await;
    if right.status == row.unauthenticated() || right.status == 403 {
        note("right", &right, "not let in");
    }
    if row.shows.is_some_and(|shows| !right.text.contains(shows)) {
        note("right", &right, "it does not see what it may");
    }
    wrong
}

#[tokio::test]
async fn every_operation_for_nobody_the_wrong_the_expired_the_revoked_the_insufficient_and_the_right() {
    let hub = hub().await;
    let (owner, described) = (owner_token(&hub), described(&hub).await);
    let mut wrong = Vec::new();
    for row in rows::all(&described) {
        wrong.extend(faults(&hub, &row, &owner).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a caller without a credential hears with every refusal that a credential could change.
const HINT: &str = "you are anonymous here; show a token";

/// Was something refused that is not there, or not for this caller? Each wire says it in its own way.
fn is_refusal(row: &Row, told: &Told) -> bool {
    const SAID: [&str; 7] = [
        "\"kind\":\"not_found\"",
        "\"kind\":\"denied\"",
        "\"code\":\"not_found\"",
        "\"code\":-32001",
        "Unknown tool",
        "Unknown prompt",
        "I found no skill for that",
    ];
    match row.way {
        Way::Grpc => [5, 7].contains(&told.status),
        Way::Http | Way::Socket => {
            [403, 404].contains(&told.status) || SAID.iter().any(|said| told.text.contains(said))
        }
    }
}

/// Every operation, and things by name that are not there for just anybody.
fn things(described: &Value) -> Vec<Row> {
    let mut rows = rows::all(described);
    rows.retain(|row| !row.endless && row.door != Door::Open);
    rows.extend(rows::named());
    // What a socket is refused with is told as to any other request there.
    rows.into_iter().map(|row| if row.way == Way::Socket { Row { way: Way::Http, ..row } } else { row }).collect()
}

/// Where something of the table is refused: no protocol and no kind of thing is left out.
const REFUSES: &[&str] = &[
    "/nlip",
    "/agents/{peer}/nlip",
    "/nlip/uploads/{id}",
    "/content/{sealed}",
    "/nlip/route",
    "/agents/{peer}/nlip/route",
    "/mcp",
    "/mcp/{view}",
    "/agents/{peer}/mcp",
    "/a2a",
    "/a2a/{*below}",
    "/agents/{peer}/a2a",
    "/lf.a2a.v1.A2AService/{below}",
    "/a2a.v1.A2AService/{below}",
    "/agents/{peer}/.well-known/agent-card.json",
    "/ws",
    "/aip/ws",
    "/ask",
    "/agents/{peer}/ask",
    "/await",
    "/api/agents/{id}",
    "/api/messages",
    "/api/messages/{id}",
    "/api/artifacts/{id}",
    "/api/artifacts/{id}/content",
    "/api/artifacts/{id}/access",
    "/api/exchanges",
    "/api/exchanges/{id}",
    "/api/tasks",
    "/api/tasks/{id}",
    "/api/tasks/{id}/events",
    "/api/tasks/{id}/timeline",
    "/api/tasks/{id}/signals",
    "/api/confirmations/{id}",
    "/api/questions/{id}",
    "/api/questions/{id}/settled",
    "/api/conversations/{id}",
    "/api/sessions/{id}",
    "/api/sites/sessions/{id}",
    "/api/sites/pages/{id}",
    "/api/audit",
    "/api/audit/forget",
    "/api/explain",
    "/api/tokens",
    "/api/keys",
];

#[tokio::test]
async fn every_refusal_of_nobody_says_what_would_help() {
    let hub = builder().config("mcp: { views: { few: { allow: [\"hub/*\"] } } }\n").start().await;
    let described = described(&hub).await;
    let (mut wrong, mut refused) = (Vec::new(), BTreeSet::new());
    for row in things(&described) {
        let told = ask(&hub, &row, None).await;
        if !is_refusal(&row, &told) {
            continue;
        }
        refused.insert(row.route.clone());
        if !told.text.contains(HINT) {
            let asked = row.body.unwrap_or_default();
            wrong.push(format!("{} {} {asked}: {} {}", row.method, row.path, told.status, told.text));
        }
    }
    let missing: Vec<_> = REFUSES.iter().filter(|route| !refused.contains(**route)).collect();
    assert!(wrong.is_empty() && missing.is_empty(), "{}\nnothing was refused at {missing:?}", wrong.join("\n"));
}

/// CBOR (RFC 8949) of the few kinds of values that a message is made of.
fn cbor(value: &Value) -> Vec<u8> {
    let head = |major: u8, length: usize| match u8::try_from(length).expect("short") {
        few @ 0..=23 => vec![(major << 5) | few],
        more => vec![(major << 5) | 24, more],
    };
    match value {
        Value::String(text) => [head(3, text.len()), text.as_bytes().to_vec()].concat(),
        Value::Array(items) => items.iter().fold(head(4, items.len()), |all, item| [all, cbor(item)].concat()),
        Value::Object(members) => members
            .iter()
            .fold(head(5, members.len()), |all, (key, value)| [all, cbor(&json!(key)), cbor(value)].concat()),
        Value::Null | Value::Bool(_) | Value::Number(_) => panic!("no message has it: {value}"),
    }
}

/// A socket may be opened by nobody, because a message brings its own credential: each is judged for itself.
#[tokio::test]
async fn n_61_every_message_of_a_socket_needs_a_credential_of_its_own() {
    let hub = hub().await;
    let owner = owner_token(&hub);
    for (path, opcode) in [("/nlip/ws/text", Opcode::Text), ("/nlip/ws", Opcode::Binary)] {
        let written = |message: Value| match opcode {
            Opcode::Binary => cbor(&message),
            _ => message.to_string().into_bytes(),
        };
        let page = [("sec-fetch-site", "same-origin")];
        let mut socket = hub.frames(path, &page).await.expect("opened");
        let mut said = async |message: Value| {
            socket.send(Fin::Last, opcode, &written(message)).await;
            let (_, payload) = socket.read().await.expect("an answer");
            String::from_utf8_lossy(&payload).into_owned()
        };
        for shown in ["ilg_wrong", "ilg_expired", "ilg_gone", "ilg_small"] {
            let told = said(super::with_token(echo(), shown)).await;
            assert!(told.contains("error") && !told.contains(WORD), "{path} {shown}: {told}");
        }
        let told = said(echo()).await;
        assert!(!told.contains(WORD), "{path}: {told}");
        assert!(said(super::with_token(echo(), &owner)).await.contains(WORD), "{path}");
        let told = said(echo()).await;
        assert!(!told.contains(WORD), "the credential was for the one message that brought it: {path}: {told}");
    }
}
