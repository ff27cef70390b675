//! Failover to another peer: only after every phase, and only if nothing was begun.

use std::fs;

use http::Method;
use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{send, until};

const ANN: [(&str, &str); 1] = [("authorization", "Bearer token-of-ann")];

async fn post(hub: &Hub, path: &str, body: Value) -> Value {
    send(hub, Method::POST, path, &ANN, Some(body)).await.json()
}

/// The exchange to its end or its first question.
async fn call(hub: &Hub, skill: &str, arguments: Value) -> Value {
    post(hub, "/api/exchanges", json!({"skill": skill, "arguments": arguments})).await
}

async fn as_owner(hub: &Hub, method: Method, path: &str, body: Option<Value>) -> Value {
    let owner = fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    let owner = format!("Bearer {}", owner.trim());
    send(hub, method, path, &[("authorization", &owner)], body).await.json()
}

/// The questions that are open, once there are so many.
async fn pending(hub: &Hub, count: usize) -> Vec<Value> {
    let open = async || as_owner(hub, Method::GET, "/api/confirmations", None).await["items"].clone();
    until("the question", async || open().await.as_array().is_some_and(|open| open.len() == count)).await;
    open().await.as_array().cloned().unwrap_or_default()
}

async fn approve(hub: &Hub, question: &Value) {
    let path = format!("/api/confirmations/{}", question["id"].as_str().expect("an id"));
    as_owner(hub, Method::POST, &path, Some(json!({"approve": true}))).await;
}

/// A server of MCP with these tools, which answers a call so.
async fn server(tools: Value, answer: Say) -> Scripted {
    Scripted::http(move |heard, _| {
        let asked = heard.json();
        // No connection is left over that ends only when it is used: who is gone is gone at once.
        let close = || vec![("connection", "close".to_owned())];
        let result =
            |result: Value| Say::Status(200, close(), json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        match asked["method"].as_str().unwrap_or_default() {
            "initialize" => result(json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"}})),
            "tools/list" => result(json!({"tools": tools})),
            "tools/call" => match &answer {
                Say::Json(content) => result(content.clone()),
                other => other.clone(),
            },
            method if method.starts_with("notifications/") => Say::Status(202, close(), json!({})),
            _ => {
                let error = json!({"code": -32601, "message": "no"});
                Say::Status(200, close(), json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
            }
        }
    })
    .await
}

fn calls(server: &Scripted) -> usize {
    server.heard().iter().filter(|heard| heard.json()["method"] == "tools/call").count()
}

fn harmless(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}})
}

/// A server whose tool `wipe_all` destroys and takes little, beside one that looks.
async fn bank() -> Scripted {
    let strict = json!({"type": "object", "properties": {"amount": {"type": "integer", "maximum": 10}}});
    let wipe = json!({"name": "wipe_all", "inputSchema": strict, "annotations": {"destructiveHint": true}});
    server(json!([wipe, harmless("look")]), said("from the bank")).await
}

fn said(text: &str) -> Say {
    Say::Json(json!({"content": [{"type": "text", "text": text}]}))
}

/// A hub with these servers, whose tools it knows. Among equals the last by name is asked first.
async fn hub_with(servers: &[(&str, &Scripted)]) -> Hub {
    let mut config = "access: { tokens: [{ name: ann, token: token-of-ann }] }\npeers:\n".to_owned();
    for (name, server) in servers {
        config += &format!("  {name}: {{ mcp: {{ url: \"http://{}/mcp\" }}, trust_hints: true }}\n", server.address());
    }
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), &config).await;
    knows(&hub, &servers.iter().map(|(name, _)| *name).collect::<Vec<_>>()).await;
    hub
}

async fn knows(hub: &Hub, peers: &[&str]) {
    until("the servers' tools", async || {
        let page = send(hub, Method::GET, "/api/skills?limit=1000", &ANN, None).await.text();
        peers.iter().all(|peer| page.contains(&format!("{peer}/wipe_all")))
    })
    .await;
}

/// Two servers with the same tools: the one that is asked first, and the bank.
async fn two(first: Say) -> (Hub, Scripted, Scripted) {
    let bank = bank().await;
    let zeta = server(json!([harmless("wipe_all"), harmless("look")]), first).await;
    (hub_with(&[("bank", &bank), ("zeta", &zeta)]).await, zeta, bank)
}

#[tokio::test]
async fn attack_a_peer_that_took_the_call_says_it_is_busy_so_that_another_does_it_again() {
    let busy = Say::Status(503, Vec::new(), json!({}));
    let (hub, zeta, bank) = two(busy).await;
    for arguments in [json!({"amount": 1}), json!({"amount": "a million"})] {
        let ended = call(&hub, "wipe_all", arguments).await;
        assert_eq!(calls(&bank), 0, "{ended}");
    }
    let ended = call(&hub, "look", json!({})).await;
    assert_eq!((calls(&bank), calls(&zeta)), (0, 3), "{ended}");
    assert_eq!(ended["finished"]["fault"]["kind"], "busy", "{ended}");
}

/// The task once it has ended.
async fn ended(hub: &Hub, task: &Value) -> Value {
    let path = format!("/api/tasks/{}", task.as_str().expect("an id"));
    let mut last = json!(null);
    until("its end", async || {
        last = send(hub, Method::GET, &path, &ANN, None).await.json();
        last["finished"].is_object()
    })
    .await;
    last
}

#[tokio::test]
async fn attack_a_peer_that_is_gone_leaves_its_call_to_one_that_needs_a_yes() {
    // Kept from the beginning, and not: both become a question about the bank's tool.
    for path in ["/api/exchanges", "/api/tasks"] {
        let (hub, zeta, bank) = two(Say::Nothing).await;
        drop(zeta);
        post(&hub, path, json!({"skill": "wipe_all", "arguments": {"amount": 1}})).await;
        let question = pending(&hub, 1).await.remove(0);
        assert_eq!((&question["confirm"]["skill"], calls(&bank)), (&json!("bank/wipe_all"), 0), "{question}");
        assert!(question["text"].as_str().is_some_and(|text| text.contains("bank/wipe_all")), "{question}");
        approve(&hub, &question).await;
        let task = ended(&hub, &question["task"]).await;
        assert_eq!((&task["state"], calls(&bank)), (&json!("completed"), 1), "{task}");
    }
}

#[tokio::test]
async fn attack_a_peer_that_is_gone_leaves_its_call_to_one_that_it_does_not_fit() {
    let (hub, zeta, bank) = two(Say::Nothing).await;
    drop(zeta);
    let ended = call(&hub, "wipe_all", json!({"amount": "a million"})).await;
    assert_eq!(ended["finished"]["fault"]["kind"], "unreachable", "what does not fit is not asked about: {ended}");
    assert_eq!(calls(&bank), 0);
    // What needs no yes is done by the other, through every phase of its own.
    let ended = call(&hub, "look", json!({})).await;
    assert_eq!((calls(&bank), &ended["finished"]["outcome"]), (1, &json!("completed")), "{ended}");
    until("its line in the audit", async || {
        let audit = as_owner(&hub, Method::GET, "/api/audit?limit=200", None).await;
        let lines = audit["items"].as_array().cloned().unwrap_or_default();
        lines.iter().any(|line| line["action"] == "authorize" && line["on"] == "bank/look")
    })
    .await;
}

#[tokio::test]
async fn attack_a_hub_that_is_killed_forgets_which_peer_was_approved() {
    let (bank, zeta) = (bank().await, server(json!([harmless("wipe_all")]), said("from zeta")).await);
    let mut hub = hub_with(&[("bank", &bank), ("zeta", &zeta)]).await;
    drop(zeta);
    let begun = post(&hub, "/api/tasks", json!({"skill": "wipe_all", "arguments": {"amount": 1}})).await;
    pending(&hub, 1).await;
    hub.kill_9();
    hub.restart().await;
    knows(&hub, &["bank"]).await;
    let question = pending(&hub, 1).await.remove(0);
    assert_eq!((&question["confirm"]["skill"], calls(&bank)), (&json!("bank/wipe_all"), 0), "{question}");
    approve(&hub, &question).await;
    let task = ended(&hub, &begun["id"]).await;
    assert_eq!((&task["state"], calls(&bank)), (&json!("completed"), 1), "{task}");
}

#[tokio::test]
async fn attack_peers_that_cannot_take_the_call_hide_the_one_that_can() {
    // In the order in which they are tried: gone, wants an argument that is missing, wants another type, needs approval.
    let wants =
        |schema: Value| json!([{"name": "wipe_all", "inputSchema": schema, "annotations": {"readOnlyHint": true}}]);
    let zeta = server(json!([harmless("wipe_all")]), Say::Nothing).await;
    let lacks = wants(json!({"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}));
    let yota = server(lacks, said("from yota")).await;
    let xena = server(wants(json!({"type": "object", "properties": {"amount": {"type": "string"}}})), said("x")).await;
    let bank = bank().await;
    let hub = hub_with(&[("bank", &bank), ("xena", &xena), ("yota", &yota), ("zeta", &zeta)]).await;
    drop(zeta);
    let asked = call(&hub, "wipe_all", json!({"amount": 1})).await;
    assert_eq!(asked["questions"][0]["confirm"]["skill"], "bank/wipe_all", "{asked}");
    approve(&hub, &asked["questions"][0]).await;
    until("the call at the bank", async || calls(&bank) == 1).await;
    assert_eq!((calls(&xena), calls(&yota)), (0, 0));
}
