//! Sessions: 2025-03-26 to 2025-11-25.

use http::Method;
use serde_json::{Value, json};

use super::{Modern, Session, error};
use crate::support::{hub, send, streaming, until};

#[tokio::test]
async fn m_01_m_02_both_eras_are_served_on_one_endpoint_and_initialize_settles_on_a_version() {
    let hub = hub("").await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = Session::begin(&hub, version, json!({})).await;
        assert_eq!(session.begun["protocolVersion"], version);
        let result = session.result("tools/call", json!({"name": "local__steps", "arguments": {}})).await;
        assert!(result.to_string().contains("counted"), "{result}");
        assert!(result.get("resultType").is_none(), "the legacy era knows no kinds of results: {result}");
    }
    for asked in ["2026-07-28", "1.0"] {
        let session = Session::begin(&hub, asked, json!({})).await;
        assert_eq!(session.begun["protocolVersion"], "2025-11-25", "{asked}");
    }
    assert_eq!(Modern::new(&hub).call("local__steps", json!({})).await["resultType"], "complete");
}

#[tokio::test]
async fn m_11_no_session_is_400_an_unknown_one_404_and_delete_ends_it_for_good() {
    let mut hub = hub("").await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let none = send(&hub, Method::POST, "/mcp", &[], Some(list.clone())).await;
    assert_eq!(none.status, 400, "{}", none.text());
    let unknown = send(&hub, Method::POST, "/mcp", &[("mcp-session-id", "made-up")], Some(list.clone())).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    let headers: Vec<(String, String)> =
        session.headers().iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(session.ask("tools/list", json!({})).await.status, 200);
    let bad = [headers[0], ("mcp-protocol-version", "1999-01-01")];
    assert_eq!(send(&hub, Method::POST, "/mcp", &bad, Some(list.clone())).await.status, 400, "no such version");
    assert_eq!(send(&hub, Method::DELETE, "/mcp", &headers, None).await.status, 204);
    assert_eq!(send(&hub, Method::POST, "/mcp", &headers, Some(list.clone())).await.status, 404);
    assert_eq!(send(&hub, Method::DELETE, "/mcp", &headers, None).await.status, 404);
    hub.restart().await;
    assert_eq!(send(&hub, Method::POST, "/mcp", &headers, Some(list)).await.status, 404, "also after a restart");
}

#[tokio::test]
async fn a_session_outlives_the_process_that_opened_it_and_belongs_to_who_opened_it() {
    let mut hub = hub("access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['*'] }] }").await;
    let id = Session::begin(&hub, "2025-11-25", json!({})).await.id;
    hub.restart().await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let headers = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(send(&hub, Method::POST, "/mcp", &headers, Some(list.clone())).await.status, 200);
    let other = [headers[0], headers[1], ("authorization", "Bearer ilg_ann-token-of-some-length")];
    assert_eq!(send(&hub, Method::POST, "/mcp", &other, Some(list)).await.status, 404);
}

#[tokio::test]
async fn a_session_answers_pings_and_sets_its_level() {
    let hub = hub("").await;
    let session = Session::begin(&hub, "2025-06-18", json!({})).await;
    assert_eq!(session.result("ping", json!({})).await, json!({}));
    assert_eq!(session.result("logging/setLevel", json!({"level": "debug"})).await, json!({}));
    assert_eq!(error(&session.ask("logging/setLevel", json!({"level": "loud"})).await), (200, -32602));
    assert_eq!(error(&session.ask("resources/subscribe", json!({"uri": "file:///a"})).await), (200, -32002));
    assert_eq!(session.result("resources/unsubscribe", json!({"uri": "file:///a"})).await, json!({}));
    assert_eq!(error(&session.ask("no/such", json!({})).await), (200, -32601));
    assert_eq!(error(&session.ask("initialize", json!({"protocolVersion": "2025-06-18"})).await).0, 200);
}

#[tokio::test]
async fn m_12_a_session_whose_stream_is_cut_gets_the_result_by_coming_back() {
    let hub = hub("").await;
    hub.write("tools/later.yaml", LATER);
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    until("the tool is there", async || {
        session.result("tools/list", json!({})).await.to_string().contains("local__later")
    })
    .await;
    let body = json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call",
        "params": {"name": "local__later", "arguments": {}, "_meta": {"progressToken": 5}}});
    let headers = session.headers();
    let mut request = interlingua_testkit::request(Method::POST, "/mcp").header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(http_body_util::Full::new(body.to_string().into())).expect("a request");
    let last = first_id(&hub, request).await;
    let resumed = [headers[0], headers[1], ("last-event-id", last.as_str())];
    let (_connection, mut events) = streaming(&hub, Method::GET, "/mcp", &resumed, None).await;
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(serde_json::from_str::<Value>(&event).expect("JSON"));
    }
    let result = all.last().expect("a response");
    assert_eq!(
        (&result["id"], &result["result"]["structuredContent"]),
        (&json!("call"), &json!({"done": true})),
        "{all:?}"
    );
}

const LATER: &str = r#"
name: later
description: Takes a second.
effects: { writes: true }
reply: lines
command: [sh, -c, 'echo "{\"progress\":{\"done\":1}}"; sleep 1; echo "{\"result\":{\"done\":true}}"']
"#;

/// Reads a stream up to the first id, then leaves.
async fn first_id(
    hub: &interlingua_testkit::Hub,
    request: http::Request<http_body_util::Full<bytes::Bytes>>,
) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (head, body) = request.into_parts();
    let body = http_body_util::BodyExt::collect(body).await.expect("a body").to_bytes();
    let mut text = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n{}",
        hub.address(),
        body.len(),
        hub.bearer_line()
    );
    for (name, value) in &head.headers {
        text.push_str(&format!("{name}: {}\r\n", value.to_str().expect("text")));
    }
    text.push_str("\r\n");
    let mut stream = tokio::net::TcpStream::connect(hub.address()).await.expect("a connection");
    stream.write_all(text.as_bytes()).await.expect("sent");
    stream.write_all(&body).await.expect("sent");
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).await.expect("an answer");
        read.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&read);
        if let Some((_, rest)) = text.split_once("id: ")
            && let Some((id, _)) = rest.split_once('\n')
        {
            return id.to_owned();
        }
        assert!(count > 0, "the stream ended: {text}");
    }
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_id() {
    let hub = hub("").await;
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    let body = json!({"jsonrpc": "2.0", "id": 41, "method": "tools/call",
        "params": {"name": "local__slow", "arguments": {}, "_meta": {"progressToken": 5}}});
    let (_connection, mut events) = streaming(&hub, Method::POST, "/mcp", &session.headers(), Some(body)).await;
    loop {
        if events.next().await.expect("it began").contains("notifications/progress") {
            break;
        }
    }
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 41}});
    assert_eq!(session.post(cancel).await.status, 202);
    assert!(events.next().await.is_none(), "no response after a cancellation");
    until("the call has ended", async || {
        hub.get("/metrics").await.text().contains("interlingua_exchanges_in_flight 0")
    })
    .await;
}

#[tokio::test]
async fn batches_are_taken_in_the_one_version_that_has_them() {
    let hub = hub("").await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "local__steps", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
        7,
    ]);
    let session = Session::begin(&hub, "2025-03-26", json!({})).await;
    let answer = session.post(batch.clone()).await;
    let all = answer.json();
    let all = all.as_array().unwrap_or_else(|| panic!("{}", answer.text()));
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!((&all[0]["id"], &all[1]["id"]), (&json!(1), &json!("b")));
    assert!(all[1]["result"]["content"].to_string().contains("counted"), "{all:?}");
    assert_eq!((&all[2]["error"]["code"], &all[3]["error"]["code"]), (&json!(-32601), &json!(-32600)));
    let newer = Session::begin(&hub, "2025-06-18", json!({})).await;
    assert_eq!(error(&newer.post(batch).await), (400, -32600));
}

#[tokio::test]
async fn m_30_sessions_that_nobody_comes_back_to_leave_nothing_behind() {
    let hub = hub("").await;
    let mut connection = hub.connect().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number")
    };
    let mut begin = async |count: usize| {
        for _ in 0..count {
            let request = interlingua_testkit::post("/mcp", "application/json", body.to_string());
            let answer = connection.send(request).await;
            assert!(answer.header("mcp-session-id").is_some(), "{}", answer.text());
        }
    };
    begin(2_000).await;
    let before = memory();
    begin(10_000).await;
    let grown = memory().saturating_sub(before);
    assert!(grown < 8 * 1024, "ten thousand sessions left {grown} KiB");
}

/// The same of sessions that were used: what a hub remembers of them has a bound of its own, and the next thousands take no more.
#[tokio::test]
async fn m_30_sessions_that_were_used_and_left_stay_within_a_bound() {
    let hub = hub("").await;
    let mut connection = hub.connect().await;
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let mut used = async |count: usize| {
        for _ in 0..count {
            let request = interlingua_testkit::post("/mcp", "application/json", begin.to_string());
            let id = connection.send(request).await.header("mcp-session-id").expect("a session").to_owned();
            let mut request = interlingua_testkit::post("/mcp", "application/json", ping.to_string());
            request.headers_mut().insert("mcp-session-id", id.parse().expect("a header"));
            request.headers_mut().insert("mcp-protocol-version", "2025-11-25".parse().expect("a header"));
            assert_eq!(connection.send(request).await.status, 200);
        }
    };
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number")
    };
    used(2_000).await;
    let before = memory();
    used(10_000).await;
    let grown = memory().saturating_sub(before);
    assert!(grown < 24 * 1024, "ten thousand sessions that were used left {grown} KiB");
}

/// What a session is told when its hub is started again so many minutes after it began.
async fn comes_back(hub: &mut interlingua_testkit::Hub, id: &str, minutes: i64) -> u16 {
    hub.set_environment("CLOCK_AT", &(BEGUN + minutes * 60).to_string());
    hub.restart().await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let headers = [("mcp-session-id", id), ("mcp-protocol-version", "2025-11-25")];
    send(hub, Method::POST, "/mcp", &headers, Some(list)).await.status
}

/// When the hub's clock begins, in seconds since 1970.
const BEGUN: i64 = 1_800_000_000;

async fn at_the_beginning() -> interlingua_testkit::Hub {
    let builder = crate::support::builder();
    let clock = interlingua_testkit::WallClock::below(builder.directory(), BEGUN);
    let builder =
        clock.environment().into_iter().fold(builder, |builder, (name, value)| builder.environment(name, value));
    builder.start().await
}

#[tokio::test]
async fn m_11_m_30_a_session_is_over_when_it_was_not_used_and_not_because_it_is_old() {
    let mut hub = at_the_beginning().await;
    let id = Session::begin(&hub, "2025-11-25", json!({})).await.id;
    assert_eq!(comes_back(&mut hub, &id, 25).await, 200);
    assert_eq!(comes_back(&mut hub, &id, 50).await, 200, "used twenty-five minutes ago");
    assert_eq!(comes_back(&mut hub, &id, 51).await, 200, "used a minute ago");
    assert_eq!(comes_back(&mut hub, &id, 100).await, 404, "not used for longer than a session may be idle");
    let unused = Session::begin(&hub, "2025-11-25", json!({})).await.id;
    assert_eq!(comes_back(&mut hub, &unused, 140).await, 404);
}
