//! Attacks on the processor by schemas, on the disk by tasks, notifications and refusals, and on stored data by the clock.

use std::time::Duration;

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Map, Value, json};

use crate::support::{builder, logged, send, until};
use crate::trust::audit::verified;

/// Long enough for a loaded machine; the attacks took for ever.
const PATIENCE: Duration = Duration::from_secs(60);

const CALLERS: &str = "
tools: { directory: ./tools }
access:
  tokens:
    - { name: eve, token: eve-token, register: true }
    - { name: ned, token: ned-token, skills: [hub/help] }
";

async fn with_token(hub: &Hub, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let asked = send(hub, method, path, &headers, body);
    tokio::time::timeout(PATIENCE, asked).await.expect("the hub answers")
}

async fn as_owner(hub: &Hub, method: Method, path: &str, body: Option<Value>) -> Answer {
    let token = std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    with_token(hub, token.trim(), method, path, body).await
}

/// It answers, and SIGTERM ends it.
async fn is_well(mut hub: Hub) {
    let health = tokio::time::timeout(PATIENCE, hub.get("/healthz")).await.expect("the hub answers");
    assert_eq!(health.status, 200);
    let ended = tokio::time::timeout(PATIENCE, hub.stop()).await.expect("the hub ends");
    assert!(ended.success(), "{ended}");
}

/// Forty definitions, each made of the next one twice: 2^40 evaluations.
fn bomb(kind: &str) -> Value {
    let mut defs = Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        let twice = match kind {
            "if" => json!({"if": next, "then": next}),
            kind => json!({kind: [next, next]}),
        };
        defs.insert(format!("d{at}"), twice);
    }
    defs.insert("d40".to_owned(), json!({"type": "object"}));
    json!({"type": "object", "properties": {}, "$defs": defs, "$ref": "#/$defs/d0"})
}

#[tokio::test]
async fn attack_a_registered_agent_brings_a_schema_of_2_to_the_40_steps() {
    let hub = builder().config(CALLERS).start().await;
    for (at, kind) in ["allOf", "anyOf", "if"].into_iter().enumerate() {
        let agent = json!({
            "agent_id": format!("agent_{at}"), "name": "Eve's", "description": "Waits.", "owner": "eve",
            "contact": "https://eve.example/",
            "capabilities": [{"name": "boom", "description": "Goes off.", "input_schema": bomb(kind)}],
        });
        let registered = with_token(&hub, "eve-token", Method::POST, "/api/agents", Some(agent)).await;
        assert!(registered.status < 500, "{}", registered.text());
        let call = json!({"skill": format!("agent_{at}/boom"), "arguments": {}});
        let called = with_token(&hub, "eve-token", Method::POST, "/api/exchanges", Some(call)).await;
        assert_eq!(called.json()["error"]["kind"], "not_found", "{kind}: {}", called.text());
    }
    let peers = as_owner(&hub, Method::GET, "/api/peers", None).await.text();
    assert!(peers.contains("agent_0/boom is closed (input)"), "{peers}");
    is_well(hub).await;
}

/// An MCP server of a few lines; `TOOLS` is its list.
const SERVER: &str = r#"
import json, sys
tools = json.load(open("evil-tools.json"))
def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "evil", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": tools}
    elif asked["method"] == "tools/call":
        name = asked["params"]["name"]
        if name == "flood":
            for n in range(40):
                say({"jsonrpc": "2.0", "method": "notifications/message",
                    "params": {"level": "error", "data": str(n) + "x" * 500_000}})
        text = "y" * 3_000_000 if name == "large" else "done"
        answer["result"] = {"content": [{"type": "text", "text": text}], "structuredContent": {"a": {}}}
    else:
        answer["error"] = {"code": -32601, "message": "unknown"}
    say(answer)
"#;

/// A hub with an evil MCP server, once it has listed its tools.
async fn beside_evil(config: &str, tools: Value) -> Hub {
    let peers = "peers: { evil: { mcp: { command: python3, args: [evil.py] } } }\n";
    let hub = builder().file("evil.py", SERVER).file("evil-tools.json", tools.to_string());
    let hub = hub.config(&format!("{CALLERS}{peers}{config}")).start().await;
    until("its tools are listed", async || {
        as_owner(&hub, Method::GET, "/api/skills", None).await.text().contains("evil/")
    })
    .await;
    hub
}

async fn called(hub: &Hub, skill: &str, arguments: Value) -> Answer {
    let call = json!({"skill": skill, "arguments": arguments});
    as_owner(hub, Method::POST, "/api/exchanges", Some(call)).await
}

#[tokio::test]
async fn attack_an_mcp_server_lists_tools_with_exponential_schemas() {
    let object = json!({"type": "object"});
    let tools = json!([
        {"name": "boom", "inputSchema": bomb("allOf")},
        {"name": "late", "inputSchema": object, "outputSchema": bomb("anyOf")},
        {"name": "far", "inputSchema": {"type": "object", "$ref": "http://127.0.0.1:9/x.json"}},
        {"name": "broken", "inputSchema": {"type": "object", "properties": {"a": {"pattern": "("}}}},
        {"name": "hollow", "inputSchema": object, "outputSchema": {"type": "object", "properties": {"a": {"type": 12}}}},
        {"name": "fine", "inputSchema": object},
    ]);
    let hub = beside_evil("", tools).await;
    for closed in ["evil/boom", "evil/late", "evil/far", "evil/broken", "evil/hollow"] {
        let refused = called(&hub, closed, json!({})).await;
        assert_eq!(refused.json()["error"]["kind"], "not_found", "{closed}: {}", refused.text());
    }
    let fine = called(&hub, "evil/fine", json!({})).await;
    assert_eq!(fine.status, 200, "the others are open: {}", fine.text());
    let peers = as_owner(&hub, Method::GET, "/api/peers", None).await.text();
    for problem in [
        "evil/boom is closed (input)",
        "evil/late is closed (output)",
        "evil/far is closed (input)",
        "evil/broken is closed (input): its schema does not compile",
        "evil/hollow is closed (output): its schema does not compile",
    ] {
        assert!(peers.contains(problem), "{problem}: {peers}");
    }
    logged(&hub, &["skill_closed", "evil/broken"]).await;
    is_well(hub).await;
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({"next": inner}))
}

/// Each expression takes a megabyte when it is compiled, and each is another.
#[tokio::test]
async fn attack_an_mcp_server_lists_tools_with_regular_expressions_of_hundreds_of_megabytes() {
    let letters = |at: usize| (format!("p{at}"), json!({"pattern": format!("^\\p{{L}}{{20}}{at}$")}));
    let properties: Map<String, Value> = (0..500).map(letters).collect();
    let tools = json!([
        {"name": "letters", "inputSchema": {"type": "object", "properties": properties}},
        {"name": "fine", "inputSchema": {"type": "object", "properties": {"a": {"pattern": "^\\p{L}+$"}}}},
    ]);
    let hub = beside_evil("", tools).await;
    let peers = as_owner(&hub, Method::GET, "/api/peers", None).await.text();
    assert!(peers.contains("evil/letters is closed (input)"), "{peers}");
    assert_eq!(called(&hub, "evil/fine", json!({"a": "Olá"})).await.json()["state"], "completed");
    is_well(hub).await;
}

#[tokio::test]
async fn attack_a_caller_sends_deep_arguments_to_a_recursive_schema() {
    let branch = |name: &str| json!({"properties": {"next": {"$ref": "#/$defs/node"}}, "required": [name]});
    let recursive = json!({
        "type": "object", "$ref": "#/$defs/node",
        "$defs": {"node": {"anyOf": [branch("a"), branch("b"), {"required": ["next"]}, {"maxProperties": 0}]}},
    });
    let hub = beside_evil("", json!([{"name": "tree", "inputSchema": recursive}])).await;
    let shallow = called(&hub, "evil/tree", nested(5)).await;
    assert_eq!(shallow.status, 200, "{}", shallow.text());
    let deep = called(&hub, "evil/tree", nested(60)).await;
    assert_eq!(deep.json()["error"]["kind"], "invalid_input", "{}", deep.text());
    assert!(deep.text().contains("too deep or too large for this schema"), "{}", deep.text());
    is_well(hub).await;
}

/// Bytes of the database and its log.
fn stored(hub: &Hub) -> u64 {
    let size = |name: &str| std::fs::metadata(hub.data().join(name)).map_or(0, |file| file.len());
    size("hub.db") + size("hub.db-wal")
}

/// Tools that take anything: one never works, one takes its time.
const FAILS: &str = r#"
name: swallow
description: Takes anything and never works.
input: { type: object }
effects: { writes: true }
command: [sh, -c, 'cat > /dev/null; echo "{\"error\":\"out of paper\"}"; exit 1']
"#;

const LINGERS: &str = r#"
name: linger
description: Takes anything and a minute.
input: { type: object }
effects: { writes: true }
command: [sh, -c, 'cat > /dev/null; exec sleep 60']
timeout: 2m
"#;

#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_arguments() {
    let tools = builder().file("tools/swallow.yaml", FAILS).file("tools/linger.yaml", LINGERS);
    let hub = tools.config(&format!("{CALLERS}retention: {{ bytes_per_caller: 1MiB }}\n")).start().await;
    let begin = async || {
        let call = json!({"skill": "local/swallow", "arguments": {"fill": "x".repeat(300_000)}});
        let begun = with_token(&hub, "eve-token", Method::POST, "/api/tasks", Some(call)).await;
        assert_eq!(begun.status, 202, "{}", begun.text());
        let path = format!("/api/tasks/{}", begun.json()["id"].as_str().expect("an id"));
        until("it ends", async || as_owner(&hub, Method::GET, &path, None).await.json()["state"] == "failed").await;
        path
    };
    let first = begin().await;
    for _ in 0..8 {
        begin().await;
    }
    assert_eq!(as_owner(&hub, Method::GET, &first, None).await.status, 404, "the oldest made room");
    let slow = async || {
        let call = json!({"skill": "local/linger", "arguments": {"fill": "x".repeat(300_000)}});
        with_token(&hub, "eve-token", Method::POST, "/api/tasks", Some(call)).await
    };
    for _ in 0..3 {
        assert_eq!(slow().await.status, 202);
    }
    let refused = slow().await;
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (413, &json!("too_large")), "{}", refused.text());
    assert!(refused.text().contains("stored bytes"), "{}", refused.text());
    let help = json!({"skill": "hub/help", "arguments": {"fill": "x"}});
    let help = with_token(&hub, "ned-token", Method::POST, "/api/tasks", Some(help)).await;
    assert_eq!(help.json()["error"]["kind"], "invalid_input", "what anyone may call takes nothing: {}", help.text());
}

/// What is kept beside the journals of tasks counts like them: artifacts that wait for their content, and webhooks.
#[tokio::test]
async fn attack_a_caller_fills_the_disk_with_artifacts_and_webhooks() {
    let tools = builder().file("tools/linger.yaml", LINGERS);
    let yaml = format!("{CALLERS}retention: {{ bytes_per_caller: 1MiB }}\na2a: {{ push_private_addresses: true }}\n");
    let mut hub = tools.config(&yaml).start().await;
    let share = async |hub: &Hub| {
        let artifact = json!({"name": "plan", "media": "text/plain", "metadata": {"fill": "x".repeat(200_000)}});
        with_token(hub, "eve-token", Method::POST, "/api/artifacts", Some(artifact)).await
    };
    let mut shared = Vec::new();
    for _ in 0..5 {
        let answer = share(&hub).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        shared.push(answer.json()["artifact_id"].as_str().expect("an id").to_owned());
    }
    let refused = share(&hub).await;
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (413, &json!("too_large")), "{}", refused.text());
    assert!(refused.text().contains("stored bytes"), "{}", refused.text());
    hub.restart().await;
    assert_eq!(share(&hub).await.status, 413, "after a restart too");
    for id in shared {
        let gone = with_token(&hub, "eve-token", Method::DELETE, &format!("/api/artifacts/{id}"), None).await;
        assert_eq!(gone.status, 204, "{}", gone.text());
    }
    let call = json!({"skill": "local/linger", "arguments": {}});
    let task = with_token(&hub, "eve-token", Method::POST, "/api/tasks", Some(call)).await;
    assert_eq!(task.status, 202, "what is forgotten makes room: {}", task.text());
    let webhook = async |number: usize, length: usize| {
        let params = json!({"taskId": task.json()["id"], "id": format!("w{number}"),
            "url": "http://127.0.0.1:9/hook", "token": "x".repeat(length)});
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": params});
        let headers = [("authorization", "Bearer eve-token"), ("a2a-version", "1.0")];
        send(&hub, Method::POST, "/a2a", &headers, Some(asked)).await.text()
    };
    assert!(webhook(0, 100_000).await.contains("at most 65536 bytes"));
    let mut last = String::new();
    for number in 0..16 {
        last = webhook(number, 60_000).await;
        assert!(last.contains("\"result\"") || number > 9, "{number}: {last}");
    }
    for _ in 0..4 {
        let artifact = share(&hub).await;
        last = artifact.text();
    }
    assert!(last.contains("stored bytes"), "{last}");
}

/// A task of a tool of the evil server, once it has ended.
async fn ended(hub: &Hub, tool: &str) -> Value {
    let begun = as_owner(hub, Method::POST, "/api/tasks", Some(json!({"skill": tool, "arguments": {}}))).await;
    let path = format!("/api/tasks/{}", begun.json()["id"].as_str().expect("an id"));
    let mut last = Value::Null;
    until("it ends", async || {
        last = as_owner(hub, Method::GET, &path, None).await.json();
        last["state"] == "completed" || last["state"] == "failed"
    })
    .await;
    last
}

#[tokio::test]
async fn attack_a_peer_floods_its_task_with_log_notifications() {
    let hub = beside_evil("", json!([{"name": "flood", "inputSchema": {"type": "object"}}])).await;
    let before = stored(&hub);
    let task = ended(&hub, "evil/flood").await;
    assert_eq!(task["state"], "completed", "{task}");
    let grown = stored(&hub) - before;
    assert!(grown < 12_000_000, "20 MB of notifications became {grown} bytes");
}

#[tokio::test]
async fn attack_a_peer_answers_with_more_than_its_task_may_keep() {
    let tools = json!([{"name": "large", "inputSchema": {"type": "object"}}]);
    let mut hub = beside_evil("limits: { task: 1MiB }\n", tools).await;
    let task = ended(&hub, "evil/large").await;
    assert_eq!(task["state"], "failed", "{task}");
    assert!(task.to_string().contains("bytes in one task"), "{task}");
    hub.restart().await;
    let path = format!("/api/tasks/{}", task["id"].as_str().expect("an id"));
    let again = as_owner(&hub, Method::GET, &path, None).await.json();
    assert_eq!(again["state"], "failed", "after a restart too: {again}");
}

#[tokio::test]
async fn attack_refusals_fill_the_audit() {
    let mut hub = builder().config(CALLERS).start().await;
    for n in 0..400 {
        // The second half asks for another thing each time.
        let skill = if n < 200 { "hub/echo".to_owned() } else { format!("no/such{n}") };
        let call = json!({"skill": skill, "arguments": {}});
        assert!(with_token(&hub, "ned-token", Method::POST, "/api/exchanges", Some(call)).await.status >= 400);
    }
    let bad = [("authorization", "Bearer not-a-token")];
    for _ in 0..200 {
        assert!(send(&hub, Method::GET, "/api/tasks", &bad, None).await.status >= 400);
    }
    let page = as_owner(&hub, Method::GET, "/api/audit?limit=1000", None).await.json();
    let lines = page["items"].as_array().expect("a list");
    assert!(lines.len() < 300, "600 refusals are {} lines", lines.len());
    assert!(lines.iter().any(|line| line["times"].as_u64().is_some_and(|times| times > 50)), "{page}");
    verified(&hub);
    hub.restart().await;
    verified(&hub);
}

/// A task that ended, in a hub that is then stopped, with everything in its store 200 days older.
async fn aged(config: &str) -> (Hub, String) {
    let mut hub = builder().config(&format!("{CALLERS}{config}")).start().await;
    let begun = as_owner(&hub, Method::POST, "/api/tasks", Some(json!({"skill": "local/steps"}))).await;
    let path = format!("/api/tasks/{}", begun.json()["id"].as_str().expect("an id"));
    until("it ends", async || as_owner(&hub, Method::GET, &path, None).await.json()["state"] == "completed").await;
    assert!(hub.stop().await.success());
    let days = 200_i64 * 24 * 3600 * 1000;
    let store = rusqlite::Connection::open(hub.data().join("hub.db")).expect("the store");
    store.execute("UPDATE tasks SET created = created - ?1, updated = updated - ?1", [days]).expect("older");
    store.execute("UPDATE journal SET at = at - ?1", [days]).expect("older");
    drop(store);
    hub.restart().await;
    (hub, path)
}

#[tokio::test]
async fn attack_a_clock_that_leaps_removes_what_is_kept() {
    let (mut hub, path) = aged("").await;
    logged(&hub, &["clock_leap"]).await;
    // Once more, with records near the new time.
    hub.restart().await;
    logged(&hub, &["clock_leap"]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(as_owner(&hub, Method::GET, &path, None).await.status, 200);
    // What it remembers of the leap cannot be read: that is no reason to believe the clock.
    assert!(hub.stop().await.success());
    let store = rusqlite::Connection::open(hub.data().join("hub.db")).expect("the store");
    store.execute("UPDATE records SET value = x'00' WHERE kind = 'retention'", []).expect("damaged");
    drop(store);
    hub.restart().await;
    logged(&hub, &["clock_leap_unreadable"]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(as_owner(&hub, Method::GET, &path, None).await.status, 200);
    let (hub, path) = aged("retention: { clock_leap: 365d }\n").await;
    until("what is old goes when the operator says so", async || {
        as_owner(&hub, Method::GET, &path, None).await.status == 404
    })
    .await;
}
