//! Another hub inherits the whole origin of a call, and may be hostile itself.

use std::collections::BTreeSet;

use http::Method;
use interlingua_testkit::{Hub, port};
use serde_json::{Value, json};

use super::two_hubs::{
    BY_RULES, OLDER, PAGE, WAYS, Way, approve, asked, begin, by_mcp, came_through, ended, hub_at, hub_with, mcp, open,
    paid, pair, people, rules,
};
use crate::support::{send, until};

#[tokio::test]
async fn attack_a_call_forbidden_by_protocol_is_passed_on_by_each_protocol_a_hub_has() {
    for way in WAYS.into_iter().chain(OLDER) {
        let (left, right, _between) = pair(way, "bob", BY_RULES, &rules("context.protocol == \"mcp\"")).await;
        if !way.is_mcp() {
            let said = by_mcp(&left, way).await;
            assert!(!came_through(&left, &right).await, "{way:?}: what came in by MCP came in by MCP: {said}");
        }
        let task = begin(&left, way, "api").await;
        if way.is_mcp() {
            let end = ended(&left, way, &task).await;
            assert!(!came_through(&left, &right).await, "by MCP itself: {end}");
            continue;
        }
        until(&format!("{way:?}: by a way that no rule forbids it comes through"), async || {
            came_through(&left, &right).await
        })
        .await;
    }
}

#[tokio::test]
async fn attack_a_call_that_a_stranger_led_to_is_wrapped_by_another_hub() {
    for way in WAYS.into_iter().chain(OLDER) {
        let (left, right, _between) = pair(way, "bob", BY_RULES, &rules("context.provenance == \"world\"")).await;
        let end = ended(&left, way, &begin(&left, way, "api; trust=world").await).await;
        assert!(!came_through(&left, &right).await, "{way:?}: {end}");
        begin(&left, way, "api").await;
        until(&format!("{way:?}: a caller's own words come through"), async || came_through(&left, &right).await).await;
    }
}

/// An agent that read a stranger's words has a plan pay at the other hub.
const PLANS: &str = r#"
replies:
  - call: [{ name: local__page }]
  - call: [{ name: graph__run, arguments: { plan: { name: p, tasks: { a: { task_data: { skill: right/local.pay } } }, dependencies: {} } } }]
  - { again: true, say: done }
"#;

#[tokio::test]
async fn attack_an_agent_that_read_a_strangers_words_pays_at_another_hub() {
    for (forbidden, times) in [("context.provenance == \"peer\" || context.provenance == \"world\"", 0), ("false", 1)] {
        let (left, right) = (port::free(), port::free());
        let config = format!("hub: {{ id: right }}\n{}", people(BY_RULES));
        let right_hub = hub_at(right, &config, &rules(forbidden)).await;
        let peer = Way::A2aRpc.peer(right, &right_hub.data(), "token-of-trusted");
        let agents = "models: { plans: { provider: scripted, file: ./plans.yaml } }\n\
            agents: { planner: { model: plans, skills: [\"graph/*\", \"local/*\", \"right/*\"], confirm: { writes: allow } } }\n";
        let config = format!(
            "hub: {{ id: left }}\n{}{agents}peers:\n  right: {{ {peer}, hub: true, trust_hints: true }}\n",
            people("")
        );
        let plans =
            Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("plans.yaml", PLANS).file("tools/page.yaml", PAGE);
        let config = format!("tools: {{ directory: ./tools }}\n{config}");
        let left_hub = plans.config(&config).listen(left).start().await;
        until("the other hub's skills", async || {
            let page = asked(&left_hub, "bob", Method::GET, "/api/skills?limit=1000", None).await;
            page.text().contains("right/local.pay")
        })
        .await;
        let body = json!({"skill": "planner/chat", "text": "look at the page"});
        let begun = asked(&left_hub, "bob", Method::POST, "/api/tasks", Some(body)).await.json();
        let task = begun["id"].as_str().expect("a task").to_owned();
        let mut relayed = BTreeSet::new();
        until("the end", async || {
            for question in open(&left_hub, "boss").await {
                if question["text"].as_str().is_some_and(|text| text.starts_with("right asks")) {
                    relayed.insert(question["id"].to_string());
                }
                approve(&left_hub, "boss", &question).await;
            }
            let state = asked(&left_hub, "bob", Method::GET, &format!("/api/tasks/{task}"), None).await.json();
            state["state"] == "completed" || state["state"] == "failed"
        })
        .await;
        assert_eq!((paid(&right_hub), relayed.len()), (times, times), "{forbidden}");
    }
}

/// A request that comes in at each endpoint, and says that it came by MCP before.
async fn told_at_each_endpoint(hub: &Hub, told: &str) -> Vec<(&'static str, String)> {
    let post = async |path: &str, header: bool, body: Value| {
        let mut headers = vec![("authorization", "Bearer token-of-bob"), ("a2a-version", "1.0")];
        headers.extend(header.then_some(("interlingua-origin", told)));
        send(hub, Method::POST, path, &headers, Some(body)).await.text()
    };
    let call = json!({"skill": "local/pay", "arguments": {}});
    let labelled = |label: &str, content: &Value| json!({"format": "structured", "subformat": "json", "label": label, "content": content});
    let message = |more: &[Value]| {
        let mut all = vec![labelled("interlingua-call", &call)];
        all.extend_from_slice(more);
        json!({"format": "text", "subformat": "english", "content": "", "submessages": all})
    };
    let routed = |tool_calls: Value, content: Value, metadata: Value| {
        json!({"format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
            "control": {"message_type": "request", "message_id": uuid(), "correlation_id": null,
                "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
            "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
            "content": content, "tool_calls": tool_calls, "tool_results": null, "metadata": metadata})
    };
    let tools =
        json!([{"tool_id": "t", "tool_name": "custom_tool__pay", "parameters": {}, "require_confirmation": false}]);
    let a2a = |id: u64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "SendMessage", "params": {"message": {"messageId": uuid(), "role": "ROLE_USER",
            "parts": [{"text": "please pay"}]}, "configuration": {"returnImmediately": true}}})
    };
    vec![
        ("/api/exchanges", post("/api/exchanges", true, call.clone()).await),
        ("/api/tasks", post("/api/tasks", true, call.clone()).await),
        ("/nlip by header", post("/nlip", true, message(&[])).await),
        ("/nlip by label", post("/nlip", false, message(&[labelled("interlingua-origin", &json!(told))])).await),
        ("/nlip/route by header", post("/nlip/route", true, routed(tools.clone(), json!({}), json!({}))).await),
        (
            "/nlip/route by metadata",
            post("/nlip/route", false, routed(tools, json!({}), json!({"interlingua-origin": told}))).await,
        ),
        (
            "/nlip/route in words",
            post(
                "/nlip/route",
                true,
                routed(json!(null), json!({"messages": [{"role": "user", "content": "please pay"}]}), json!({})),
            )
            .await,
        ),
        ("/a2a", post("/a2a", true, a2a(1)).await),
        ("/ask", post("/ask", true, json!({"query": "please pay", "site": "local"})).await),
    ]
}

fn uuid() -> String {
    port::free().to_string()
}

#[tokio::test]
async fn attack_a_forbidden_call_is_told_of_at_each_endpoint() {
    let rules = rules("context.protocol == \"mcp\"");
    let config = format!("hub: {{ id: right }}\n{}", people(BY_RULES));
    let hub = hub_at(port::free(), &config, &rules).await;
    let all = told_at_each_endpoint(&hub, "mcp").await;
    assert_eq!((paid(&hub), open(&hub, "boss").await.len()), (0, 0), "{all:#?}");
    let hub = hub_at(port::free(), &config, &rules).await;
    let all = told_at_each_endpoint(&hub, "nlip").await;
    until("what needs no approval", async || paid(&hub) >= 6).await;
    assert_eq!((paid(&hub), open(&hub, "boss").await.len()), (6, 3), "without MCP each comes through: {all:#?}");
}

/// An agent whose calls travel as routed messages.
#[tokio::test]
async fn attack_a_forbidden_call_is_wrapped_in_an_agent_whose_calls_are_routed() {
    for (forbidden, times) in [("context.protocol == \"mcp\"", 0), ("false", 1)] {
        let agents = "models: { pays: { provider: scripted, file: ./pays.yaml } }\n\
            agents: { payer: { model: pays, skills: [\"local/*\"], confirm: { writes: allow }, nlip: true } }\n";
        let config = format!("{}{agents}", people(BY_RULES));
        let hub = hub_with(port::free(), &config, &rules(forbidden), &[("pays.yaml", PAYS)]).await;
        let body = json!({"name": "payer__chat", "arguments": {"message": "pay"}});
        let said = mcp(&hub, body).await;
        assert_eq!(paid(&hub), times, "{forbidden}: {said}");
    }
}

const PAYS: &str = "replies: [{ call: [{ name: local__pay }] }, { again: true, say: done }]";

#[tokio::test]
async fn attack_anybody_sends_an_origin_without_end() {
    let config = people(BY_RULES);
    let hub = hub_at(port::free(), &config, &rules("context.protocol == \"p999\"")).await;
    // One that were cut would leave out the protocol which forbids.
    let padded: Vec<String> = (0..1_000).map(|number| format!("p{number}")).collect();
    let body = json!({"skill": "local/pay", "arguments": {}});
    let headers = [("authorization", "Bearer token-of-bob"), ("interlingua-origin", &*padded.join(","))];
    let refused = send(&hub, Method::POST, "/api/exchanges", &headers, Some(body.clone())).await;
    assert_eq!((refused.status, paid(&hub)), (400, 0), "{}", refused.text());
    assert!(refused.text().contains("more protocols"), "{}", refused.text());
    let long = "x".repeat(5_000);
    for ignored in [&*long, "; ; =; trust=; deny=everything", "ü, a b,,,", "nlip; trust=operator"] {
        let headers = [("authorization", "Bearer token-of-bob"), ("interlingua-origin", ignored)];
        let done = send(&hub, Method::POST, "/api/exchanges", &headers, Some(body.clone())).await;
        assert_eq!(done.status, 200, "{}", done.text());
    }
    assert_eq!(paid(&hub), 4, "what cannot be read takes nothing away");
}
