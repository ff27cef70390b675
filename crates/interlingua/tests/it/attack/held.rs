//! Attacks on memory by what the hub holds between requests: sessions, pending messages, pending tasks, and output of peers while they
//! work. Each has a bound for all callers and a quarter of it for each.

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{by, register, waiting};
use crate::support::{builder, send, until};

const CALLERS: &str = "
tools: { directory: ./tools }
access:
  tokens:
    - { name: eve, token: eve-token, register: true }
    - { name: ann, token: ann-token, register: true }
";
/// A page's request is nobody's, whoever runs the browser.
const NOBODY: (&str, &str) = ("sec-fetch-site", "none");

/// Says half a megabyte while it works, and can be called again freely: nothing of it is kept.
const TALKS: &str = r#"
name: talks
description: Talks while it works.
effects: { reads: true, idempotent: true }
reply: lines
command: [sh, -c, 'x=$(head -c 25000 /dev/zero | tr "\0" x); for n in $(seq 20); do echo "{\"progress\":{\"note\":\"$x\"}}"; done; echo "{\"result\":{\"told\":true}}"']
"#;

async fn hub(yaml: &str) -> Hub {
    builder().file("tools/talks.yaml", TALKS).config(&format!("{CALLERS}{yaml}")).start().await
}

/// What a gauge of bytes shows.
async fn held(hub: &Hub, name: &str) -> f64 {
    let token = std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    let bearer = format!("Bearer {}", token.trim());
    let text = send(hub, Method::GET, "/metrics", &[("authorization", &bearer)], None).await.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.trim().parse().expect("a number")
}

fn is_busy(answer: &Answer) {
    assert_eq!((answer.status, &answer.json()["error"]["kind"]), (503, &json!("busy")), "{:.300}", answer.text());
}

/// A request of the envelope in this session that leaves a context there, or brings it back.
fn within(session: &str, message: &str, context: Value) -> Value {
    json!({
        "control": {"message_type": "request", "message_id": message, "timestamp": "2026-01-01T00:00:00Z"},
        "token": {"session_id": session}, "content": {"text": "help"},
        "tool_calls": [{"tool_id": "t1", "tool_name": "hub/help", "parameters": {}}],
        "metadata": {"context": context},
    })
}

fn context(answer: &Answer) -> Value {
    let all = answer.json();
    let last = all.as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    last["metadata"]["context"].clone()
}

#[tokio::test]
async fn attack_a_caller_holds_memory_with_sessions_that_are_not_persisted() {
    let hub = hub("limits: { sessions: 2MiB }\nnlip: { tokens: { persist_context_tokens: false } }\n").await;
    let route = async |name: &str, message: Value| {
        let answer = by(&hub, name, Method::POST, "/nlip/route", Some(message)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    };
    route("ann", within("hers", "m1", json!({"city": "Lisbon"}))).await;
    for at in 0..60 {
        let large = json!({"at": at, "fill": "x".repeat(12_000)});
        route("eve", within(&format!("s{at}"), &format!("m{at}"), large)).await;
        let stranger = within(&format!("x{at}"), &format!("n{at}"), json!({"fill": "x".repeat(12_000)}));
        let answer = send(&hub, Method::POST, "/nlip/route", &[NOBODY], Some(stranger)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let first = route("eve", within("s0", "again", json!(true))).await;
    assert_eq!(context(&first), Value::Null, "her oldest made room for her newest");
    assert_eq!(context(&route("eve", within("s59", "again", json!(true))).await)["at"], 59);
    let hers = route("ann", within("hers", "m2", json!(true))).await;
    assert_eq!(context(&hers), json!({"city": "Lisbon"}), "nobody else's");
    let bytes = held(&hub, "interlingua_session_bytes ").await;
    assert!(bytes > 0.9 * 1_048_576.0 && bytes <= 1.1 * 1_048_576.0, "eve and strangers have a quarter each: {bytes}");
}

#[tokio::test]
async fn attack_a_caller_holds_memory_with_messages_that_wait_for_many_agents() {
    let mut hub = hub("limits: { inboxes: 4MiB }\n").await;
    for agent in ["a1", "a2", "a3", "a4", "a5", "a6"] {
        register(&hub, agent).await;
    }
    let message = async |hub: &Hub, name: &str, to: &str| {
        let event = json!({"message_type": "event", "to_agent": to, "content": {"fill": "x".repeat(200_000)}});
        by(hub, name, Method::POST, "/api/messages", Some(event)).await
    };
    for agent in ["a1", "a2", "a3", "a4", "a5"] {
        let sent = message(&hub, "eve", agent).await;
        assert_eq!(sent.status, 202, "{}", sent.text());
    }
    is_busy(&message(&hub, "eve", "a6").await);
    assert_eq!(message(&hub, "ann", "a6").await.status, 202, "others have room of their own");
    hub.restart().await;
    is_busy(&message(&hub, "eve", "a6").await);
    let bytes = held(&hub, "interlingua_inbox_bytes ").await;
    assert!((1_200_000.0..1_300_000.0).contains(&bytes), "six messages: {bytes}");
    let read = waiting(&hub, "a1").await;
    let path = format!("/api/messages/{}?agent=a1", read[0]);
    assert_eq!(by(&hub, "ann", Method::DELETE, &path, None).await.status, 204);
    assert_eq!(message(&hub, "eve", "a6").await.status, 202, "what was read makes room");
    is_busy(&message(&hub, "eve", "a6").await);
    assert_eq!(by(&hub, "ann", Method::DELETE, "/api/agents/a2", None).await.status, 204);
    assert_eq!(message(&hub, "eve", "a6").await.status, 202, "so does what waited for an agent that is gone");
}

/// Answers are told to whoever asked, however many are remembered: what finds no room is only not remembered.
#[tokio::test]
async fn attack_an_agent_holds_memory_with_answers_that_are_remembered() {
    let hub = hub("limits: { inboxes: 4MiB }\n").await;
    register(&hub, "a1").await;
    for at in 0..12 {
        let call = json!({"skill": "a1/read", "arguments": {"at": at}});
        let task = by(&hub, "ann", Method::POST, "/api/tasks", Some(call)).await;
        assert_eq!(task.status, 202, "{}", task.text());
        let path = format!("/api/tasks/{}", task.json()["id"].as_str().expect("an id"));
        let mut waits = Vec::new();
        until("the request waits", async || {
            waits = waiting(&hub, "a1").await;
            !waits.is_empty()
        })
        .await;
        let answer = json!({"message_type": "response", "from_agent": "a1", "correlation_id": waits[0],
            "content": {"status": "success", "result": {"fill": "x".repeat(200_000)}}});
        let answered = by(&hub, "ann", Method::POST, "/api/messages", Some(answer)).await;
        assert_eq!(answered.status, 202, "{at}: {}", answered.text());
        until("it is told", async || by(&hub, "ann", Method::GET, &path, None).await.json()["state"] == "completed")
            .await;
    }
    let bytes = held(&hub, "interlingua_inbox_bytes ").await;
    assert!(bytes > 0.5 * 1_048_576.0 && bytes <= 1_048_576.0, "a quarter of all: {bytes}");
}

#[tokio::test]
async fn attack_a_caller_holds_memory_with_tasks_that_wait_for_a_yes() {
    let hub = hub("limits: { exchanges: 8MiB }\n").await;
    let begin = async |name: &str| {
        let call = json!({"skill": "local/erase", "arguments": {"what": "x".repeat(300_000)}});
        by(&hub, name, Method::POST, "/api/tasks", Some(call)).await
    };
    let mut begun = Vec::new();
    for _ in 0..3 {
        let task = begin("eve").await;
        assert_eq!(task.status, 202, "{}", task.text());
        begun.push(task.json()["id"].as_str().expect("an id").to_owned());
    }
    is_busy(&begin("eve").await);
    assert_eq!(begin("ann").await.status, 202, "others have room of their own");
    let bytes = held(&hub, "interlingua_exchange_bytes ").await;
    assert!((2_400_000.0..2_800_000.0).contains(&bytes), "four tasks that wait: {bytes}");
    let steps = by(&hub, "eve", Method::POST, "/api/exchanges", Some(json!({"skill": "local/steps"}))).await;
    assert_eq!(steps.status, 200, "a plain call needs none: {}", steps.text());
    let path = format!("/api/tasks/{}", begun[0]);
    assert!(by(&hub, "eve", Method::DELETE, &path, None).await.status < 300);
    until("one that has ended makes room", async || begin("eve").await.status == 202).await;
}

#[tokio::test]
async fn attack_peers_hold_memory_with_what_they_say_while_they_work() {
    let hub = hub("limits: { exchanges: 1MiB }\n").await;
    let call = json!({"skill": "local/talks", "arguments": {}});
    let answer = by(&hub, "eve", Method::POST, "/api/exchanges", Some(call)).await;
    assert!(answer.text().contains("\"busy\""), "{:.300}", answer.text());
    let steps = by(&hub, "eve", Method::POST, "/api/exchanges", Some(json!({"skill": "local/steps"}))).await;
    assert_eq!(steps.json()["state"], "completed", "{:.300}", steps.text());
    until("nothing is held", async || held(&hub, "interlingua_exchange_bytes ").await < 1.0).await;
}

/// A session over MCP of this caller.
async fn session(hub: &Hub, name: &str) -> String {
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let answer =
        mcp(hub, name, None, json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    answer.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {}", answer.text())).to_owned()
}

async fn mcp(hub: &Hub, name: &str, session: Option<&str>, message: Value) -> Answer {
    let bearer = format!("Bearer {name}-token");
    let mut headers = vec![("authorization", bearer.as_str()), ("accept", "application/json, text/event-stream")];
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    send(hub, Method::POST, "/mcp", &headers, Some(message)).await
}

#[tokio::test]
async fn attack_a_caller_holds_memory_with_sessions_over_mcp() {
    let hub = hub("limits: { sessions: 128KiB }\n").await;
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let mut all = Vec::new();
    for _ in 0..60 {
        let session = session(&hub, "eve").await;
        assert_eq!(mcp(&hub, "eve", Some(&session), ping.clone()).await.status, 200);
        all.push(session);
    }
    let bytes = held(&hub, "interlingua_session_bytes ").await;
    assert!(bytes > 30_000.0 && bytes <= 32.0 * 1024.0, "a quarter of all: {bytes}");
    let hers = session(&hub, "ann").await;
    assert_eq!(mcp(&hub, "ann", Some(&hers), ping.clone()).await.status, 200);
    until("others have room of their own", async || held(&hub, "interlingua_session_bytes ").await > 33_000.0).await;
    for session in [&all[0], &all[59]] {
        let answer = mcp(&hub, "eve", Some(session), ping.clone()).await;
        assert_eq!(answer.status, 200, "one that is not remembered goes on by its id: {}", answer.text());
    }
    let level = json!({"jsonrpc": "2.0", "id": 3, "method": "logging/setLevel", "params": {"level": "error"}});
    assert_eq!(mcp(&hub, "eve", Some(&all[59]), level).await.status, 200);
}
