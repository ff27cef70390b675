//! 2026-07-28 over HTTP: stateless requests, header rules, errors, streams.

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{MODERN, Modern, error, last_message, messages, meta};
use crate::support::{hub, send, streaming, until};

#[tokio::test]
async fn m_03_discover_says_versions_capabilities_and_how_long_to_keep_it() {
    let hub = hub("").await;
    let result = Modern::new(&hub).result("server/discover", json!({})).await;
    assert_eq!(result["supportedVersions"], json!([MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]));
    assert!(result["capabilities"]["tools"].is_object(), "{result}");
    // The instructions name the peers that this caller may use: no other caller may be handed them from a cache.
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "private", "{result}");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "interlingua");
}

#[tokio::test]
async fn m_04_a_request_without_what_meta_must_say_is_400() {
    let hub = hub("").await;
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "server/discover")];
    let whole = meta(json!({}));
    let without = |key: &str| {
        let mut meta = whole.clone();
        meta.as_object_mut().expect("an object").remove(key);
        json!({"_meta": meta})
    };
    for params in [
        json!({}),
        without("io.modelcontextprotocol/protocolVersion"),
        without("io.modelcontextprotocol/clientCapabilities"),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": params});
        let answer = send(&hub, Method::POST, "/mcp", &headers, Some(body)).await;
        assert_eq!(error(&answer), (400, -32602), "{}", answer.text());
        assert_eq!(answer.json()["id"], "a");
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": without("io.modelcontextprotocol/clientInfo")});
    assert_eq!(send(&hub, Method::POST, "/mcp", &headers, Some(body)).await.status, 200, "clientInfo is not required");
}

#[tokio::test]
async fn m_05_a_version_nobody_serves_is_named_with_those_that_are() {
    let hub = hub("").await;
    let mut meta = meta(json!({}));
    meta["io.modelcontextprotocol/protocolVersion"] = "v999".into();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let named = |version| [("mcp-protocol-version", version), ("mcp-method", "server/discover")];
    let answer = send(&hub, Method::POST, "/mcp", &named("v999"), Some(body.clone())).await;
    assert_eq!(error(&answer), (400, -32022), "{}", answer.text());
    assert_eq!(answer.json()["error"]["data"]["requested"], "v999");
    let served = json!([MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]);
    assert_eq!(answer.json()["error"]["data"]["supported"], served);
    let answer = send(&hub, Method::POST, "/mcp", &named(MODERN), Some(body)).await;
    assert_eq!(error(&answer), (400, -32020), "the header says otherwise than the body");
}

#[tokio::test]
async fn m_06_methods_that_are_not_there_are_404() {
    let hub = hub("").await;
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"]
    {
        let answer = Modern::new(&hub).ask(method, json!({})).await;
        assert_eq!(error(&answer), (404, -32601), "{method}: {}", answer.text());
    }
}

#[tokio::test]
async fn m_07_headers_that_are_missing_or_lie_are_400() {
    let hub = hub("").await;
    let body = Modern::new(&hub).body("tools/call", json!({"name": "local__steps", "arguments": {}}));
    let version = ("mcp-protocol-version", MODERN);
    let (method, name) = (("mcp-method", "tools/call"), ("mcp-name", "local__steps"));
    for headers in [
        vec![method, name],
        vec![version, name],
        vec![version, method],
        vec![version, ("mcp-method", "TOOLS/CALL"), name],
        vec![version, method, ("mcp-name", "other")],
        vec![version, method, ("mcp-name", "=?base64?AA?=")],
    ] {
        let answer = send(&hub, Method::POST, "/mcp", &headers, Some(body.clone())).await;
        assert_eq!(error(&answer), (400, -32020), "{headers:?}: {}", answer.text());
    }
    // bG9jYWxfX3N0ZXBz is local__steps.
    for name in ["  local__steps ", "=?base64?bG9jYWxfX3N0ZXBz?="] {
        let headers = [version, method, ("mcp-name", name)];
        assert_eq!(send(&hub, Method::POST, "/mcp", &headers, Some(body.clone())).await.status, 200, "{name}");
    }
}

#[tokio::test]
async fn m_07_a_header_of_an_argument_must_be_there_and_agree() {
    const REGIONAL: &str = "name: regional\ndescription: Knows a region.\neffects: { reads: true, idempotent: true }\n\
        input: { type: object, properties: { region: { type: string, x-mcp-header: Region } } }\ncommand: [sh, -c, 'cat']\n";
    let builder = crate::support::builder().file("tools/regional.yaml", REGIONAL);
    let hub = builder.config("tools: { directory: ./tools }\n").start().await;
    let body =
        Modern::new(&hub).body("tools/call", json!({"name": "local__regional", "arguments": {"region": "Köln"}}));
    let fixed = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "local__regional")];
    // S8O2bG4= is Köln.
    for (param, expected) in [
        (None, (400, -32020)),
        (Some("Bonn"), (400, -32020)),
        (Some("=?base64?Qm9ubg==?="), (400, -32020)),
        (Some("=?base64?S8O2bG4?="), (400, -32020)),
        (Some("=?base64?S8O2bG4=?="), (200, 0)),
    ] {
        let headers: Vec<_> = fixed.into_iter().chain(param.map(|param| ("mcp-param-region", param))).collect();
        let answer = send(&hub, Method::POST, "/mcp", &headers, Some(body.clone())).await;
        assert_eq!(error(&answer), expected, "{param:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn m_08_m_09_foreign_pages_and_rebound_names_are_turned_away() {
    let hub = hub("").await;
    let body = Modern::new(&hub).body("tools/list", json!({}));
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    for foreign in [("origin", "http://evil.example"), ("host", "evil.example")] {
        let headers = [headers[0], headers[1], foreign];
        let answer = send(&hub, Method::POST, "/mcp", &headers, Some(body.clone())).await;
        assert_eq!(answer.status, 403, "{foreign:?}: {}", answer.text());
        assert!(answer.json()["error"]["code"].is_i64() && answer.json().get("id").is_none(), "{}", answer.text());
    }
}

#[tokio::test]
async fn m_10_the_modern_era_has_no_get_no_delete_and_no_sessions() {
    let hub = hub("").await;
    for method in [Method::GET, Method::DELETE] {
        for headers in [
            vec![],
            vec![("mcp-protocol-version", MODERN)],
            vec![("mcp-protocol-version", MODERN), ("mcp-session-id", "x")],
        ] {
            let answer = send(&hub, method.clone(), "/mcp", &headers, None).await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method} {headers:?}");
        }
    }
    let mut modern = Modern::new(&hub);
    modern.headers = vec![("mcp-session-id", "made-up"), ("last-event-id", "7")];
    let answer = modern.ask("tools/list", json!({})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("mcp-session-id"), None, "none is minted");
}

#[tokio::test]
async fn a_tool_answers_in_json_and_its_failures_are_results() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let answer = modern.ask("tools/call", json!({"name": "hub__find_skills", "arguments": {"query": "count"}})).await;
    assert_eq!(answer.header("content-type"), Some("application/json"), "{}", answer.text());
    assert!(last_message(&answer)["result"]["structuredContent"]["skills"].is_array(), "{}", answer.text());
    let failed = modern.call("local__fails", json!({})).await;
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(failed["content"].to_string().contains("out of paper"), "{failed}");
    assert_eq!(failed["_meta"]["interlingua/fault"]["kind"], "peer_failed");
    let bad = modern.call("local__erase", json!({"what": 1})).await;
    assert_eq!((&bad["isError"], &bad["_meta"]["interlingua/fault"]["kind"]), (&json!(true), &json!("invalid_input")));
    let unknown = modern.ask("tools/call", json!({"name": "local__nothing"})).await;
    assert_eq!(error(&unknown), (200, -32602), "{}", unknown.text());
}

/// The tool goes on only after the client has seen what came before: an event that is held back to be joined with the next never
/// comes.
#[tokio::test]
async fn m_45_an_event_is_told_before_the_next_one_is_made() {
    const WAITS: &str = r#"
name: waits
description: Waits for a file before each step.
effects: { reads: true, idempotent: true }
reply: lines
timeout: 5m
command: [sh, -c, 'for n in 1 2 3; do echo "{\"progress\":{\"done\":$n,\"total\":3}}"; until [ -e "PLACE/go-$n" ]; do sleep 0.05; done; done; echo "{\"result\":{\"counted\":3}}"']
"#;
    let builder = crate::support::builder();
    let tool = WAITS.replace("PLACE", &builder.directory().display().to_string());
    let hub = builder.file("tools/waits.yaml", tool).config("tools: { directory: ./tools }\n").start().await;
    let mut body = Modern::new(&hub).body("tools/call", json!({"name": "local__waits", "arguments": {}}));
    body["params"]["_meta"]["progressToken"] = "tok".into();
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "local__waits")];
    let (_connection, mut events) = streaming(&hub, Method::POST, "/mcp", &headers, Some(body)).await;
    for step in 1..=3 {
        let event: Value = serde_json::from_str(&events.next().await.expect("a step")).expect("JSON");
        let told = (event["method"].as_str(), event["params"]["progress"].as_f64());
        assert_eq!(told, (Some("notifications/progress"), Some(f64::from(step))), "{event}");
        hub.write(&format!("go-{step}"), "");
    }
    let event = events.next().await.expect("a result");
    assert!(event.contains("counted"), "{event}");
}

/// Nagle's algorithm is off on every connection that is taken, which is what an event stream is written to.
#[tokio::test]
async fn m_45_the_hub_takes_every_connection_without_nagles_algorithm() {
    let builder = crate::support::builder();
    let options = interlingua_testkit::SocketOptions::below(builder.directory());
    let builder =
        options.environment().into_iter().fold(builder, |builder, (name, value)| builder.environment(name, value));
    let hub = builder.start().await;
    for _ in 0..3 {
        let mut stream = tokio::net::TcpStream::connect(hub.address()).await.expect("a connection");
        let port = stream.local_addr().expect("an address").port();
        let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", hub.address());
        stream.write_all(request.as_bytes()).await.expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(options.sends_at_once(port), "small writes to {port} are held back");
    }
}

#[tokio::test]
async fn m_32_progress_comes_under_the_clients_token_and_rises() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let mut body = modern.body("tools/call", json!({"name": "local__steps", "arguments": {}}));
    body["params"]["_meta"]["progressToken"] = "tok".into();
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "local__steps")];
    let answer = send(&hub, Method::POST, "/mcp", &headers, Some(body)).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let all = messages(&answer);
    let told: Vec<&Value> = all.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert!(told.iter().all(|message| message["params"]["progressToken"] == "tok"), "{all:?}");
    let steps: Vec<f64> = told.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
    assert_eq!(steps, [1.0, 2.0], "{all:?}");
    assert_eq!(all.last().expect("a response")["result"]["structuredContent"], json!({"counted": 2}));
}

#[tokio::test]
async fn m_12_closing_the_stream_cancels_the_call() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let mut body = modern.body("tools/call", json!({"name": "local__slow", "arguments": {}}));
    body["params"]["_meta"]["progressToken"] = 1.into();
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "local__slow")];
    let (connection, mut events) = streaming(&hub, Method::POST, "/mcp", &headers, Some(body)).await;
    assert!(events.next().await.expect("it began").contains("notifications/progress"));
    let in_flight = async || hub.get("/metrics").await.text().contains("interlingua_exchanges_in_flight 1");
    until("the call runs", in_flight).await;
    drop((connection, events));
    let idle = async || hub.get("/metrics").await.text().contains("interlingua_exchanges_in_flight 0");
    until("the call is cancelled", idle).await;
}

#[tokio::test]
async fn m_13_a_long_call_is_a_task_for_those_who_know_them() {
    let hub = hub("").await;
    let mut modern = Modern::new(&hub);
    modern.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let receipt = modern.call("local__slow", json!({})).await;
    assert_eq!((&receipt["resultType"], &receipt["status"]), (&json!("task"), &json!("working")), "{receipt}");
    let id = receipt["taskId"].as_str().expect("an id");
    let standing = modern.result("tasks/get", json!({"taskId": id})).await;
    assert_eq!((&standing["status"], &standing["resultType"]), (&json!("working"), &json!("complete")), "{standing}");
    let told = modern.result("tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(told["resultType"], "complete", "{told}");
    until("it is cancelled", async || modern.result("tasks/get", json!({"taskId": id})).await["status"] == "cancelled")
        .await;
    let over = modern.result("tasks/get", json!({"taskId": id})).await;
    assert_eq!(over["resultType"], "complete", "{over}");
    let unknown = modern.ask("tasks/get", json!({"taskId": "nobody"})).await;
    assert_eq!(error(&unknown), (200, -32602), "{}", unknown.text());
    let quick = modern.call("local__steps", json!({})).await;
    assert_eq!(quick["resultType"], "complete", "what is quick needs no receipt: {quick}");
}

#[tokio::test]
async fn an_agent_keeps_its_conversation() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let first = modern.call("hub__echo", json!({"message": "hello"})).await;
    assert_eq!(first["content"][0]["text"], "hello", "{first}");
    let conversation = first["structuredContent"]["conversation"].as_str().expect("a conversation");
    let second = modern.call("hub__echo", json!({"message": "again", "conversation": conversation})).await;
    assert_eq!(second["structuredContent"]["conversation"], conversation, "{second}");
}

#[tokio::test]
async fn m_41_what_is_no_message_is_refused_cleanly() {
    let hub = hub("limits: { body: 64KiB }").await;
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    for (body, status, code) in [
        ("{", 400, -32700),
        ("[]", 400, -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]", 400, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}", 400, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, -32600),
    ] {
        let mut request = interlingua_testkit::request(Method::POST, "/mcp").header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(http_body_util::Full::new(body.to_owned().into())).expect("a request");
        let answer = hub.connect().await.send(request).await;
        assert_eq!(error(&answer), (status, code), "{body}: {}", answer.text());
    }
    let large = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "x".repeat(100_000)}});
    let answer = send(&hub, Method::POST, "/mcp", &headers, Some(large)).await;
    assert_eq!(answer.status, 413, "{}", answer.text());
}
