//! Servers whose every answer the test decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
        Say::Json(response(&asked, result))
    })
    .await
}

/// A response with this result or error.
fn response(asked: &Value, outcome: Value) -> Value {
    let mut response = json!({"jsonrpc": "2.0", "id": asked["id"]});
    response.as_object_mut().expect("an object").extend(outcome.as_object().expect("an object").clone());
    response
}

/// Its line in the configuration.
pub(super) fn line(server: &Scripted) -> String {
    format!("{{ effects: reads, mcp: {{ url: \"http://{}/mcp\" }} }}", server.address())
}

/// A legacy server that greets and is then asked in vain for its tools, and how often it was asked.
pub(super) async fn lists_never() -> (Scripted, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let asked_so_often = count.clone();
    let server = Scripted::http(move |heard: &Heard, _| {
        let asked = heard.json();
        match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let capabilities = json!({"tools": {}});
                let server = json!({"name": "never", "version": "1"});
                let result =
                    json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server});
                Say::Json(response(&asked, json!({ "result": result })))
            }
            "tools/list" => {
                count.fetch_add(1, Ordering::SeqCst);
                Say::Stream(vec![Piece::Until(Arc::default())])
            }
            method if method.starts_with("notifications/") => Say::Status(202, Vec::new(), Value::Null),
            _ => Say::Json(response(&asked, json!({"error": {"code": -32601, "message": "no such method"}}))),
        }
    })
    .await;
    (server, asked_so_often)
}

/// A legacy server that gives sessions, and has forgotten them whenever its tool is called.
pub(super) async fn forgetful() -> Scripted {
    Scripted::http(|heard: &Heard, before| {
        if heard.method != Method::POST {
            return Say::Status(405, Vec::new(), Value::Null);
        }
        let asked = heard.json();
        let outcome = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "forgetful", "version": "1"}});
                let session = vec![("mcp-session-id", format!("session-{before}"))];
                return Say::Status(200, session, response(&asked, json!({ "result": result })));
            }
            "tools/call" => return Say::Status(404, Vec::new(), Value::Null),
            "tools/list" => json!({"result": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}}),
            "ping" => json!({"result": {}}),
            method if method.starts_with("notifications/") => return Say::Status(202, Vec::new(), Value::Null),
            _ => json!({"error": {"code": -32601, "message": "no such method"}}),
        };
        Say::Json(response(&asked, outcome))
    })
    .await
}

/// A modern server that never says of what type a result is, except of one that asks. Its tool asks for this.
async fn modern(asks: &'static str, params: Value) -> Scripted {
    Scripted::http(move |heard: &Heard, _| {
        let asked = heard.json();
        let outcome = match asked["method"].as_str().unwrap_or_default() {
            "server/discover" => {
                json!({"result": {"supportedVersions": [crate::mcp::MODERN], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "public"}})
            }
            "tools/list" => json!({"result": {"tools": [{"name": "look", "inputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": true}}]}}),
            "tools/call" => match &asked["params"]["inputResponses"] {
                Value::Null => json!({"result": {"resultType": "input_required", "requestState": "a state",
                    "inputRequests": {"wanted": {"method": asks, "params": params}}}}),
                given => json!({"result": {"content": [{"type": "text", "text": given.to_string()}]}}),
            },
            method if method.starts_with("notifications/") => return Say::Status(202, Vec::new(), Value::Null),
            _ => {
                return Say::Status(
                    404,
                    Vec::new(),
                    response(&asked, json!({"error": {"code": -32601, "message": "no"}})),
                );
            }
        };
        Say::Json(response(&asked, outcome))
    })
    .await
}

async fn hub_with(server: &Scripted, more: &str) -> Hub {
    let hub = builder_with(&[("desk", line(server))], more).start().await;
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

/// What a server asks is passed to a client that declared it, as it was asked, and the answer back to the server as it was given.
#[tokio::test]
async fn m_13_m_14_m_18_sampling_and_roots_are_asked_of_those_who_declared_them_and_of_nobody_else() {
    let sampling =
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Say a word."}}], "maxTokens": 5});
    let word = json!({"role": "assistant", "model": "mine", "content": {"type": "text", "text": "word"}});
    let roots = json!({"roots": [{"uri": "file:///work", "name": "work"}]});
    for (capability, method, params, given) in
        [("sampling", "sampling/createMessage", sampling, word), ("roots", "roots/list", json!({}), roots)]
    {
        let server = modern(method, params.clone()).await;
        let hub = hub_with(&server, "").await;
        let call = json!({"name": "desk__look", "arguments": {}});
        let able = Modern { capabilities: json!({capability: {}}), ..Modern::new(&hub) };
        let asked = able.result("tools/call", call.clone()).await;
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let requests = asked["inputRequests"].as_object().expect("requests");
        let (key, request) = requests.iter().next().expect("one");
        assert_eq!((requests.len(), &request["method"]), (1, &json!(method)), "{asked}");
        for (name, value) in params.as_object().expect("an object") {
            assert_eq!(request["params"][name], *value, "{method}: {request}");
        }
        let mut again = call.clone();
        again["requestState"] = asked["requestState"].clone();
        again["inputResponses"] = json!({ key: given });
        let done = able.result("tools/call", again).await;
        assert_eq!(done["resultType"], "complete", "the server said nothing of its type: {done}");
        let heard: Value = serde_json::from_str(done["content"][0]["text"].as_str().expect("text")).expect("JSON");
        assert_eq!(heard, json!({"wanted": given}), "{method}");

        let others = ["elicitation", "sampling", "roots"].into_iter().filter(|other| *other != capability);
        let others: serde_json::Map<String, Value> = others.map(|other| (other.to_owned(), json!({}))).collect();
        let session = crate::mcp::Session::begin(&hub, "2025-11-25", Value::Object(others.clone())).await;
        let unable = Modern { capabilities: Value::Object(others), ..Modern::new(&hub) };
        // A client that is asked after all would wait for ever, as whoever asks does.
        let both =
            futures_util::future::join(unable.ask("tools/call", call.clone()), session.ask("tools/call", call.clone()));
        let (modern, legacy) = crate::support::at_most("answers", Duration::from_secs(60), both).await;
        for answer in [modern, legacy] {
            let text = answer.text();
            assert!(!text.contains(method) && !text.contains("input_required"), "it was asked: {text}");
            assert_eq!(crate::mcp::last_message(&answer)["result"]["isError"], true, "{text}");
        }
    }
}

#[tokio::test]
async fn h_16_parameters_of_an_envelope_are_in_the_servers_request_once() {
    let server = legacy("look", Say::Status(405, Vec::new(), Value::Null)).await;
    let hub = hub_with(&server, "").await;
    let mut asked = enveloped("desk__look");
    let parameters = json!({"where": "only-once-7f3a", "deep": [1, {"n": 2.5}]});
    asked["tool_calls"][0]["parameters"] = parameters.clone();
    let answer = hub.post_json("/nlip/route", &asked).await;
    assert!(answer.text().contains("desk says"), "{}", answer.text());
    let heard: Vec<Heard> = server
        .heard()
        .into_iter()
        .filter(|heard| !heard.body.is_empty() && heard.json()["method"] == "tools/call")
        .collect();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].json()["params"]["arguments"], parameters);
    let all = format!("{} {:?} {}", heard[0].path, heard[0].headers, String::from_utf8_lossy(&heard[0].body));
    assert_eq!(all.matches("only-once-7f3a").count(), 1, "{all}");
}

#[tokio::test]
async fn m_36_whichever_way_a_caller_comes_a_server_sees_the_hubs_own_headers_alone() {
    let server = legacy("look", Say::Status(405, Vec::new(), Value::Null)).await;
    let hub = hub_with(&server, "").await;
    let token = hub.token().expect("a token");
    let bearer = format!("Bearer {token}");
    let mine = [
        ("authorization", bearer.as_str()),
        ("cookie", "c=callers-own"),
        ("proxy-authorization", "Basic callers-own"),
        ("user-agent", "callers-own/1"),
        ("x-forwarded-for", "192.0.2.7"),
        ("x-api-key", "callers-own"),
        ("x-anything", "callers-own"),
        ("referer", "http://callers-own.example/"),
        ("last-event-id", "callers-own"),
    ];
    let before = server.heard().len();
    let send = async |path: &str, body: Value| crate::support::send(&hub, Method::POST, path, &mine, Some(body)).await;
    let api = send("/api/exchanges", json!({"skill": "desk/look", "arguments": {}})).await;
    let envelope = send("/nlip/route", enveloped("desk__look")).await;
    let modern = Modern { headers: mine.to_vec(), ..Modern::new(&hub) };
    let modern = modern.ask("tools/call", json!({"name": "desk__look", "arguments": {}})).await;
    for answer in [&api, &envelope, &modern] {
        assert!(answer.text().contains("desk says"), "{}", answer.text());
    }
    let heard: Vec<Heard> =
        server.heard().into_iter().skip(before).filter(|heard| heard.method == Method::POST).collect();
    let calls = heard.iter().filter(|heard| heard.json()["method"] == "tools/call").count();
    assert_eq!(calls, 3);
    let own = [
        "host",
        "accept",
        "content-type",
        "content-length",
        "user-agent",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "traceparent",
        "tracestate",
        "baggage",
    ];
    for heard in &heard {
        let names: Vec<&str> = heard.headers.keys().map(http::HeaderName::as_str).collect();
        assert!(names.iter().all(|name| own.contains(name)), "{names:?}");
        let all = format!("{:?} {}", heard.headers, String::from_utf8_lossy(&heard.body));
        for secret in ["callers-own", "192.0.2.7", &token] {
            assert!(!all.contains(secret), "{secret}: {all}");
        }
    }
}
