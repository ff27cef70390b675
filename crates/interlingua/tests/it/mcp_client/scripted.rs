//! Servers of the legacy era whose every answer the test decides.

use http::Method;
use interlingua_testkit::{Heard, Piece, Say, Scripted};

use super::*;

/// A server with one tool, which answers a `GET` with `stream`.
async fn legacy(tool: &'static str, stream: Say) -> Scripted {
    Scripted::web(move |heard: &Heard, _| {
        if heard.method == Method::GET {
            return stream.clone();
        }
        if heard.method != Method::POST {
            return Say::Status(405, Vec::new(), Value::Null);
        }
        let asked = heard.json();
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "desk", "version": "1"}}}),
            "tools/list" => json!({"result": {"tools": [{"name": tool, "description": "A tool of the peer's.",
                "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]}}),
            "tools/call" => json!({"result": {"content": [{"type": "text", "text": "desk says"}]}}),
            method if method.starts_with("notifications/") => return Say::Status(202, Vec::new(), Value::Null),
            _ => json!({"error": {"code": -32601, "message": "no such method"}}),
        };
        let mut response = json!({"jsonrpc": "2.0", "id": asked["id"]});
        response.as_object_mut().expect("an object").extend(result.as_object().expect("an object").clone());
        Say::Json(response)
    })
    .await
}

async fn hub_with(server: &Scripted, more: &str) -> Hub {
    let peer = format!("{{ effects: reads, mcp: {{ url: \"http://{}/mcp\" }} }}", server.address());
    let hub = builder_with(&[("desk", peer)], more).start().await;
    listed(&hub, "desk").await;
    hub
}

#[tokio::test]
async fn a_stream_that_ends_after_every_event_is_opened_less_and_less_often() {
    let event = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}});
    let server = legacy("look", Say::Stream(vec![Piece::event(&event)])).await;
    let hub = hub_with(&server, "").await;
    let opened = || server.heard().iter().filter(|heard| heard.method == Method::GET).count();
    until("a stream that is opened again", async || opened() >= 2).await;
    // Calls take far less time than twelve pauses, which are minutes; a hub that does not pause opens it for every call.
    for _ in 0..200 {
        assert_eq!(call(&hub, "desk/look", json!({})).await["state"], "completed");
    }
    assert!(opened() <= 12, "the stream was opened {} times", opened());
}

#[tokio::test]
async fn a_short_name_that_the_hub_and_a_peer_have_is_nobodys() {
    let server = legacy("find_skills", Say::Status(405, Vec::new(), Value::Null)).await;
    let hub = hub_with(&server, "mcp: { names: bare, hub_tools: all }\n").await;
    let client = Modern::new(&hub);
    let names = client.ask("tools/list", json!({})).await.text();
    assert!(names.contains("desk__find_skills") && names.contains("hub__find_skills"), "{names}");
    let call =
        async |name: &str| client.ask("tools/call", json!({"name": name, "arguments": {"query": "x"}})).await.text();
    let short = call("find_skills").await;
    assert!(short.contains("several peers have 'find_skills'"), "neither stands in for the other: {short}");
    assert!(call("desk__find_skills").await.contains("desk says"));
    assert!(!call("hub__find_skills").await.contains("desk says"));
}

#[tokio::test]
async fn a_bare_name_that_only_a_peer_has_is_the_peers() {
    let server = legacy("look", Say::Status(405, Vec::new(), Value::Null)).await;
    let hub = hub_with(&server, "mcp: { names: bare }\n").await;
    let client = Modern::new(&hub);
    assert!(client.call("look", json!({})).await.to_string().contains("desk says"));
    assert!(!client.call("find_skills", json!({"query": "look"})).await.to_string().contains("desk says"));
}
