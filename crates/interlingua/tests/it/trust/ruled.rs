//! Whatever is open when the rules change ends if they forbid it, reported in the form of its protocol; what they still allow, of the same
//! caller or of others, continues.

use http::Method;
use interlingua_a2a::method::Method as Operation;
use interlingua_testkit::Hub;
use interlingua_testkit::raw::{Fin, Opcode, WebSocketFrames};
use serde_json::{Value, json};

use super::LINGER;
use super::revoked::{ANN, BOB, BOTH, Open, WHY, all, last, message, streamed, task};
use crate::mcp::{MODERN, meta};
use crate::support::{builder, send, streaming, until};

const CONFIG: &str = "
tools: { directory: ./tools }
aip: { list_tools: 0s }
access: { tokens: file:./tokens.yaml, policy: ./rules.cedar }
";
const BOTH_MAY: &str = r#"permit (principal, action in [Action::"use", Action::"read"], resource);"#;
/// Ann keeps her sight of everything but of what she called.
const BOB_MAY: &str = r#"
permit (principal, action in [Action::"use", Action::"read"], resource);
forbid (principal == User::"ann", action == Action::"call", resource in Peer::"local");
"#;
/// The word for it, in whatever protocol.
const RULES: &str = "the rules do not allow this any more";
/// What stands for no skill.
const STAYS: [&str; 3] = ["/api: a topic", "MCP: what changes", "MCP: a session"];

async fn hub() -> Hub {
    let files = builder().file("tools/linger.yaml", LINGER).file("tokens.yaml", BOTH).file("rules.cedar", BOTH_MAY);
    files.config(CONFIG).start().await
}

/// Waits until so many calls of ann's were judged: then they stand on the rules there are.
async fn judged(hub: &Hub, count: usize) {
    until("the calls", async || {
        let page = hub.get("/api/audit?limit=200").await.json();
        let lines = page["items"].as_array().cloned().unwrap_or_default();
        let hers = |line: &&Value| line["action"] == "authorize" && line["who"] == "user:ann";
        lines.iter().filter(hers).count() >= count
    })
    .await;
}

#[tokio::test]
async fn every_stream_of_events_ends_with_the_rule_it_stands_on_and_others_go_on() {
    let hub = hub().await;
    let his = task(&hub, "ilg_bob").await;
    let bob = ("authorization", "Bearer ilg_bob");
    let path = format!("/api/tasks/{his}");
    let (_connection, mut bobs) = streaming(&hub, Method::GET, &format!("{path}/events"), &[bob], None).await;
    let mut open = all(&hub).await;
    let call = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "local__slow",
        "arguments": {}, "_meta": meta(json!({"progressToken": "p"}))}});
    let headers = [ANN, ("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "local__slow")];
    let (_called, mut mcp) = streaming(&hub, Method::POST, "/mcp", &headers, Some(call)).await;
    // The task, and what was called by /api, A2A twice, NLWeb, the envelope and MCP.
    judged(&hub, 7).await;
    hub.write("rules.cedar", BOB_MAY);
    let told = last(&mut mcp).await.expect("a result");
    assert!(told.contains(RULES), "MCP: a call: {told}");
    for Open { name, events, .. } in open.iter_mut().filter(|open| !STAYS.contains(&open.name)) {
        let told = last(events).await.unwrap_or_default();
        assert!(told.contains(RULES), "{name}: {told}");
    }
    let cancelled = send(&hub, Method::POST, &format!("{path}/signals"), &[bob], Some(json!({"cancel": true}))).await;
    assert!(cancelled.status < 300, "{}", cancelled.text());
    let told = last(&mut bobs).await.expect("his is told to its end");
    assert!(told.contains("cancelled") && !told.contains(RULES), "{told}");
    // Those that stay hear of what changes now.
    hub.write("tools/more.yaml", LINGER.replace("name: linger", "name: more"));
    for Open { name, events, .. } in open.iter_mut().filter(|open| open.name.starts_with("MCP")) {
        let told = events.next().await.unwrap_or_else(|| panic!("{name} has ended"));
        assert!(told.contains("notifications/"), "{name}: {told}");
    }
    hub.write("tokens.yaml", BOB);
    for Open { name, events, .. } in open.iter_mut().filter(|open| open.name == "/api: a topic") {
        let told = last(events).await.unwrap_or_default();
        assert!(told.contains(WHY), "{name} ends with the credential: {told}");
    }
}

#[tokio::test]
async fn every_stream_of_grpc_ends_with_the_rule_it_stands_on_by_the_status_for_it() {
    let hub = hub().await;
    let task = task(&hub, "ilg_ann").await;
    let mut connection = hub.connect_h2c().await;
    let asked = json!({"message": message("m1")});
    let mut sent = streamed(&hub, &mut connection, Operation::Stream, &asked).await;
    let mut followed = streamed(&hub, &mut connection, Operation::Subscribe, &json!({"id": task})).await;
    judged(&hub, 2).await;
    hub.write("rules.cedar", BOB_MAY);
    for messages in [&mut sent, &mut followed] {
        while messages.next().await.is_some() {}
        assert_eq!(messages.code(), Some("7"), "{:?}", messages.text("grpc-message"));
    }
}

/// The next text of a socket.
async fn heard(socket: &mut WebSocketFrames) -> String {
    loop {
        let (first, payload) = socket.read().await.expect("a frame");
        if first & 0x0F == 1 {
            return String::from_utf8_lossy(&payload).into_owned();
        }
    }
}

#[tokio::test]
async fn what_runs_on_a_socket_ends_with_the_rule_it_stands_on_and_the_socket_does_not() {
    let hub = hub().await;
    let mut nlip = hub.frames("/nlip/ws/text", &[ANN]).await.expect("opened");
    nlip.send(Fin::Last, Opcode::Text, super::call("local/slow", &json!({})).to_string().as_bytes()).await;
    let mut aip = hub.frames("/ws", &[ANN]).await.expect("opened");
    let register = json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal",
        "target_id": "local", "metadata": {"type": "constellation_client"}});
    aip.send(Fin::Last, Opcode::Text, register.to_string().as_bytes()).await;
    assert!(heard(&mut aip).await.contains("heartbeat"));
    let task = json!({"type": "task", "status": "continue", "client_type": "constellation", "target_id": "local",
        "session_id": "s", "task_name": "galaxy/gal/t1", "request": "linger a while"});
    aip.send(Fin::Last, Opcode::Text, task.to_string().as_bytes()).await;
    judged(&hub, 2).await;
    hub.write("rules.cedar", BOB_MAY);
    let told = heard(&mut nlip).await;
    assert!(told.contains(RULES), "NLIP: {told}");
    let end = loop {
        let frame = heard(&mut aip).await;
        if frame.contains("task_end") {
            break frame;
        }
    };
    assert!(end.contains(RULES) && end.contains("failed"), "AIP: {end}");
    nlip.send(Fin::Last, Opcode::Text, super::echo().to_string().as_bytes()).await;
    let told = heard(&mut nlip).await;
    assert!(told.contains(super::WORD), "what she may still call: {told}");
}

/// One at a time, each until the test lets it go, and each leaves a line.
fn holds(directory: &std::path::Path) -> String {
    let directory = directory.display();
    format!(
        "name: hold\ndescription: Holds on.\nphrases: {{ en: [\"hold on\"] }}\neffects: {{ reads: true }}\nparallel: 1\n\
         command: [sh, -c, 'echo x >> {directory}/held; while [ ! -e {directory}/go ]; do sleep 0.02; done; echo \"{{}}\"']\n"
    )
}

/// Which skill plain words are for stands in no call: it is judged again when its place is had.
#[tokio::test]
async fn attack_plain_words_that_wait_for_a_place_outlive_the_rule_that_allowed_them() {
    let builder = builder().file("tokens.yaml", BOTH).file("rules.cedar", BOTH_MAY).config(CONFIG);
    let directory = builder.directory().to_owned();
    let hub = builder.file("tools/hold.yaml", holds(&directory)).start().await;
    let held = || std::fs::read_to_string(directory.join("held")).unwrap_or_default().lines().count();
    let exchange = async |who: &str, body: Value| {
        let bearer = format!("Bearer ilg_{who}");
        send(&hub, Method::POST, "/api/exchanges", &[("authorization", &bearer)], Some(body)).await.text()
    };
    let bobs = exchange("bob", json!({"skill": "local/hold"}));
    let his_runs = || until("his call to run", async || held() == 1);
    let words = async {
        his_runs().await;
        exchange("ann", json!({"words": "hold on"})).await
    };
    let asks = async {
        his_runs().await;
        let call = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "hub__ask",
            "arguments": {"query": "hold on"}, "_meta": meta(json!({}))}});
        let headers = [ANN, ("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "hub__ask")];
        send(&hub, Method::POST, "/mcp", &headers, Some(call)).await.text()
    };
    let rules = async {
        // Both of hers wait behind it.
        judged(&hub, 2).await;
        hub.write("rules.cedar", BOB_MAY);
        // Until the rule is there this waits, too.
        let named = exchange("ann", json!({"skill": "local/hold"})).await;
        assert!(named.contains(RULES) || named.contains("not_found"), "{named}");
        std::fs::write(directory.join("go"), "").expect("written");
    };
    let (bobs, words, asks, ()) = tokio::join!(bobs, words, asks, rules);
    assert!(bobs.contains("completed"), "{bobs}");
    assert!(words.contains(RULES), "her words: {words}");
    assert!(asks.contains(RULES), "hub/ask: {asks}");
    assert_eq!(held(), 1, "only his was done");
}
