//! Tools, resources, prompts and completions of servers of either era, by either transport.

use interlingua_testkit::Say;

use super::*;
use crate::support::{events, reaches, send, start};

#[tokio::test]
async fn m_16_servers_of_every_era_and_transport_are_called_alike() {
    let everywhere = Everywhere::all().await;
    for name in &everywhere.names {
        let echoed = call(&everywhere.hub, &format!("{name}/echo"), json!({"text": "hello"})).await;
        assert_eq!(said(&echoed), "hello", "{name}: {echoed}");
        let failed = call(&everywhere.hub, &format!("{name}/fails"), json!({})).await;
        assert_eq!(fault(&failed), "peer_failed", "{name}: {failed}");
        assert_eq!(said(&failed), "out of paper", "{name}: {failed}");
        let prompt = call(&everywhere.hub, &format!("{name}/prompt:greet"), json!({"who": "Ada"})).await;
        assert_eq!(said(&prompt), "Hello Ada", "{name}: {prompt}");
        let shown = peer(&everywhere.hub, name).await;
        assert_eq!((&shown["health"], &shown["resources"]), (&json!("up"), &json!(2)), "{name}: {shown}");
    }
}

#[tokio::test]
async fn m_32_progress_comes_through_in_order_with_tokens_of_this_hop() {
    let everywhere = Everywhere::all().await;
    for name in &everywhere.names {
        let body = json!({"skill": format!("{name}/progress"), "arguments": {}});
        let sse = ("accept", "text/event-stream");
        let answer = send(&everywhere.hub, http::Method::POST, "/api/exchanges", &[sse], Some(body)).await;
        let done: Vec<Value> = events(&answer.text())
            .into_iter()
            .filter(|(event, ..)| event == "progress")
            .map(|(_, _, data)| data["done"].clone())
            .collect();
        assert_eq!(done, [json!(1.0), json!(2.0)], "{name}: {}", answer.text());
    }
}

#[tokio::test]
async fn m_44_trace_context_reaches_the_server() {
    let everywhere = Everywhere::start(&[("m", "stdio", "modern"), ("l", "http", "legacy")]).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for name in &everywhere.names {
        let body = json!({"skill": format!("{name}/meta"), "arguments": {}});
        let headers = [("traceparent", trace), ("tracestate", "a=b"), ("baggage", "k=v")];
        let answer = send(&everywhere.hub, http::Method::POST, "/api/exchanges", &headers, Some(body)).await;
        let meta: Value = serde_json::from_str(&said(&answer.json())).expect("the server's view");
        let parent = meta["traceparent"].as_str().unwrap_or_default();
        assert!(parent.contains("0af7651916cd43dd8448eb211c80319c"), "{name}: {meta}");
        assert_eq!((&meta["tracestate"], &meta["baggage"]), (&json!("a=b"), &json!("k=v")), "{name}: {meta}");
    }
}

#[tokio::test]
async fn m_36_no_credential_or_header_of_a_caller_reaches_a_server() {
    let log = Log::new();
    let server = server("modern", &log).await;
    let line = format!(
        "{{ mcp: {{ url: \"http://{}/mcp\", token: ours, headers: {{ x-given: configured }} }} }}",
        server.address()
    );
    let hub = hub(&[("far", line)]).await;
    let headers = [("authorization", "Bearer callers-own"), ("cookie", "c=1"), ("x-caller", "me")];
    let token = std::fs::read_to_string(hub.data().join("token")).expect("the owner's token");
    let own = [("authorization", format!("Bearer {token}"))];
    let sent: Vec<(&str, &str)> =
        own.iter().map(|(name, value)| (*name, value.as_str())).chain(headers[1..].iter().copied()).collect();
    let body = json!({"skill": "far/echo", "arguments": {"text": "x"}});
    let answer = send(&hub, http::Method::POST, "/api/exchanges", &sent, Some(body)).await;
    assert_eq!(said(&answer.json()), "x");
    let mut seen = log.lines("header authorization");
    seen.dedup();
    assert_eq!(seen, ["header authorization Bearer ours"]);
    assert!(log.count("header x-given configured") > 0);
    assert_eq!(log.count("header cookie") + log.count("header x-caller"), 0);
}

#[tokio::test]
async fn m_37_what_is_read_for_one_is_kept_for_nobody_else_and_public_is_what_anyone_may_read() {
    let (log, open_log) = (Log::new(), Log::new());
    let (own, open) = (server("modern", &log).await, server("modern", &open_log).await);
    let open = url(&open).replace("{ trust_hints", "{ public: true, trust_hints");
    let access = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['*'] }] }\n";
    let hub = builder_with(&[("own", url(&own)), ("open", open)], access).start().await;
    listed(&hub, "own").await;
    listed(&hub, "open").await;
    let mut ann = Modern::new(&hub);
    ann.headers = vec![("authorization", "Bearer ilg_ann-token-of-some-length")];
    for (peer, scope, log) in [("own", "private", &log), ("open", "public", &open_log)] {
        let uri = json!({"uri": format!("interlingua://peers/{peer}/test://one")});
        for client in [&Modern::new(&hub), &ann] {
            let read = client.result("resources/read", uri.clone()).await;
            assert_eq!((&read["cacheScope"], &read["ttlMs"]), (&json!(scope), &json!(60_000)), "{peer}: {read}");
        }
        assert_eq!(log.count("read test://one"), 2, "{peer}: each asked the server");
    }
}

#[tokio::test]
async fn m_35_names_and_marked_arguments_are_repeated_in_headers_and_a_bad_mark_drops_one_tool() {
    let everywhere = Everywhere::start(&[("far", "http", "modern")]).await;
    call(&everywhere.hub, "far/regional", json!({"region": "eu west"})).await;
    let log = &everywhere.logs[0];
    assert!(log.count("header mcp-param-region eu west") == 1, "{:?}", log.lines("header"));
    assert!(log.count("header mcp-name regional") == 1, "{:?}", log.lines("header"));
    let shown = peer(&everywhere.hub, "far").await;
    assert!(shown["problems"].to_string().contains("bad_mark"), "{shown}");
    let dropped = call(&everywhere.hub, "far/bad_mark", json!({})).await;
    assert_eq!(dropped["error"]["kind"], "not_found", "{dropped}");
}

#[tokio::test]
async fn m_40_a_schema_on_the_network_is_never_fetched() {
    let host = interlingua_testkit::Scripted::http(|_, _| Say::Json(json!({"type": "object"}))).await;
    let log = Log::new();
    let schema = format!("http://{}/schema.json", host.address());
    let line = program("modern", &log).replace("mcp: {", &format!("mcp: {{ env: {{ REMOTE_SCHEMA: \"{schema}\" }},"));
    let hub = hub(&[("near", line)]).await;
    call(&hub, "near/remote", json!({"a": 1})).await;
    call(&hub, "near/echo", json!({"text": "a"})).await;
    assert_eq!(host.heard().len(), 0);
}

#[tokio::test]
async fn large_content_is_stored_and_not_carried_about() {
    let everywhere = Everywhere::start(&[("near", "stdio", "legacy")]).await;
    let answer = call(&everywhere.hub, "near/large", json!({})).await;
    let part = &answer["finished"]["parts"][0];
    assert_eq!(part["media"], "image/png", "{answer}");
    assert!(answer.to_string().len() < 10_000, "600,000 bytes are not in the answer");
}

#[tokio::test]
async fn a_task_of_the_server_is_followed_to_its_end() {
    let everywhere = Everywhere::start(&[("far", "http", "modern")]).await;
    let answer = call(&everywhere.hub, "far/task", json!({})).await;
    assert_eq!(said(&answer), "by and by", "{answer}");
    let failed = call(&everywhere.hub, "far/task_fails", json!({})).await;
    assert_eq!(fault(&failed), "peer_failed", "{failed}");
    assert!(failed.to_string().contains("out of paper"), "{failed}");
}

#[tokio::test]
async fn a_task_of_the_server_that_is_cancelled_here_is_cancelled_there() {
    let everywhere = Everywhere::start(&[("far", "http", "modern"), ("near", "stdio", "modern")]).await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let task = start(&everywhere.hub, json!({"skill": format!("{name}/task_works"), "arguments": {}})).await;
        until("the hub to follow it", async || log.count("task asked about task_works") > 0).await;
        everywhere.hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"cancel": true})).await;
        reaches(&everywhere.hub, &task, "cancelled").await;
        until("the server to be told", async || log.count("task cancelled task_works") == 1).await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_stood() {
    let everywhere = Everywhere::start(&[("far", "http", "legacy")]).await;
    let answer = call(&everywhere.hub, "far/resumed", json!({})).await;
    assert_eq!(said(&answer), "after the break", "{answer}");
    let log = &everywhere.logs[0];
    assert_eq!((log.count("resume before-the-break"), log.count("call resumed")), (1, 1), "called once, read twice");
}

#[tokio::test]
async fn serve_takes_servers_from_its_command_line() {
    let log = Log::new();
    let command = format!("near={} {} stdio modern {}", python().display(), script().display(), log.path.display());
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).arguments(&["--mcp", &command]).start().await;
    listed(&hub, "near").await;
    assert_eq!(said(&call(&hub, "near/echo", json!({"text": "hi"})).await), "hi");
}

#[tokio::test]
async fn r_23_what_a_tool_server_reports_as_an_error_is_one_by_the_routing_envelope_and_its_content_the_result() {
    let everywhere = Everywhere::all().await;
    for name in &everywhere.names {
        let routed = async |tool: &str| {
            let asked = super::enveloped(&format!("{name}__{tool}"));
            everywhere.hub.post_json("/nlip/route", &asked).await.json()[0]["tool_results"][0].clone()
        };
        let failed = routed("fails").await;
        assert_eq!((&failed["status"], &failed["result"]), (&json!("error"), &Value::Null), "{name}: {failed}");
        assert_eq!(failed["metadata"]["partial"], "out of paper", "{name}: {failed}");
        let broken = routed("breaks").await;
        assert_eq!((&broken["status"], &broken["result"]), (&json!("error"), &Value::Null), "{name}: {broken}");
        let done = routed("reads").await;
        assert_eq!((&done["status"], &done["result"]), (&json!("success"), &json!("done")), "{name}: {done}");
        let object = routed("structured").await;
        assert_eq!((&object["status"], &object["result"]), (&json!("success"), &json!({"n": 1})), "{name}: {object}");
    }
}
