//! The two usage examples of the document that the routing envelope comes from, as its schema dumps them, and what each is answered.

use http::Method;
use serde_json::{Value, json};

use super::kit::{Route, one};
use crate::support::{self, streaming};

/// Example 1, a simple tool call: `NLIPRequest(…)`. Id and time are made anew there each time.
const TOOL_CALL: &str = r#"{
    "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
    "control": {"message_type": "request", "message_id": "0b5c8f5e-6a0e-4b5e-9d3a-0d6f0c2a7b11", "correlation_id": null,
        "timestamp": "2025-10-30T12:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
    "token": {"session_id": "session_123", "context_token": "ctx_456", "state_token": null, "conversation_turn": 1},
    "content": {"query": "Search for quantum computing papers"},
    "tool_calls": [{"tool_id": "call_1", "tool_name": "mcp__web_search",
        "parameters": {"query": "quantum computing recent papers"}, "require_confirmation": false}],
    "tool_results": null,
    "metadata": {}
}"#;

/// A hub whose bench also has the tool of the example.
async fn with_web_search() -> Route {
    let route = Route::start("").await;
    let catalogue = route.hub().registry().catalogue();
    let mut card = interlingua_model::Card::clone(&catalogue.peers[&"bench".into()].card);
    card.peer = "web".into();
    card.skills.truncate(1);
    for skill in &mut card.skills {
        skill.id = interlingua_model::SkillId::new("web", "web_search");
    }
    route.hub().register(card, route.bench.clone()).await.expect("registers");
    route
}

#[tokio::test]
async fn example_1_a_simple_tool_call_is_answered_as_the_example_reads_it() {
    let route = with_web_search().await;
    let request: Value = serde_json::from_str(TOOL_CALL).expect("JSON");
    let response = one(&route.send(&request).await);
    // `print(f"Response: {response.content}")`
    let found = json!({"query": "quantum computing recent papers"});
    assert_eq!(response["content"], json!({"status": "success", "result": found}), "{response}");
    // `for result in response.tool_results: print(f"Tool {result.tool_name}: {result.status}")`
    let results = response["tool_results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{response}");
    assert_eq!(
        (&results[0]["tool_id"], &results[0]["tool_name"], &results[0]["status"]),
        (&json!("call_1"), &json!("mcp__web_search"), &json!("success"))
    );
    assert_eq!((&results[0]["result"], &results[0]["error"]), (&found, &Value::Null));
    assert_eq!(results[0]["metadata"], json!({"protocol": "mcp", "original_format": "mcp_tool_result"}));
    let control = &response["control"];
    assert_eq!(
        (&control["message_type"], &control["correlation_id"]),
        (&json!("response"), &request["control"]["message_id"])
    );
    let token = &response["token"];
    assert_eq!((&token["session_id"], &token["context_token"]), (&json!("session_123"), &json!("ctx_456")));
    // The caller says turn 1 of a session that the hub has not seen: the hub counts, and says that it did (H-09). What stands
    // beside a tool call is not passed on, and that is said, too.
    assert_eq!(token["conversation_turn"], 1);
    let losses = json!([{"what": "message.content", "kind": "dropped"}, {"what": "token.conversation_turn", "kind": "answered_by_hub"}]);
    assert_eq!(response["metadata"]["losses"], losses, "{response}");
}

/// Example 2, coordination of several agents: three of them, NLIP for all, one question, `nlip_mode=True`.
const AGENTS: &str = r#"
models:
  first: { provider: scripted, file: ./agent1.yaml }
  second: { provider: scripted, file: ./agent2.yaml }
  third: { provider: scripted, file: ./agent3.yaml }
agents:
  nlip_agent_0: { model: first, nlip: true }
  nlip_agent_1: { model: second, nlip: true }
  nlip_agent_2: { model: third, nlip: true }
teams: { orchestrator: { agents: [nlip_agent_0, nlip_agent_1, nlip_agent_2], nlip: true } }
nlip: { router: { enable_message_tracking: true } }
front_door: orchestrator
"#;

/// Each gives an answer of its own and votes for it. Whoever is chosen presents the same.
fn lines(label: &str) -> String {
    format!(
        r#"
replies:
  - {{ when: "You received", again: true, say: "From every angle: begin small." }}
  - {{ when: "(your own)", again: true, call: [{{ name: vote, arguments: {{ agent_id: {label}, reason: it is whole }} }}] }}
  - {{ when: "", again: true, call: [{{ name: new_answer, arguments: {{ content: Begin small. So says {label}. }} }}] }}
"#
    )
}

fn chat(id: &str) -> Value {
    json!({
        "control": {"message_type": "request", "message_id": id},
        "content": {"messages": [{"role": "user", "content": "Analyze this complex problem from multiple angles"}]},
        "metadata": {"interlingua/nlip": true},
    })
}

#[tokio::test]
async fn example_2_several_agents_coordinate_and_their_answer_is_streamed_and_whole() {
    let labels = ["agent1", "agent2", "agent3"];
    let files = labels
        .into_iter()
        .fold(support::builder(), |builder, label| builder.file(&format!("{label}.yaml"), lines(label)));
    let hub = files.config(AGENTS).start().await;
    const ANSWER: &str = "From every angle: begin small.";
    for path in ["/nlip/route", "/agents/orchestrator/nlip/route"] {
        // `async for chunk in orchestrator.chat(…): print(chunk.content, end="")`
        let (_connection, mut stream) = streaming(&hub, Method::POST, path, &[], Some(chat(&format!("s{path}")))).await;
        let mut messages: Vec<Value> = Vec::new();
        while let Some(data) = stream.next().await {
            messages.push(serde_json::from_str(&data).expect("JSON"));
        }
        let partial = messages.iter().filter(|message| message["content"]["partial"] == true);
        let printed: String = partial.filter_map(|message| message["content"]["content"].as_str()).collect();
        assert_eq!(printed, ANSWER, "{path}: {messages:?}");
        let last = messages.last().expect("responses");
        assert_eq!(last["content"], json!({"partial": false, "complete": true, "content": ANSWER}), "{path}: {last}");
        assert_eq!(last["metadata"]["final"], true, "{last}");
        let whole = hub.post_json(path, &chat(&format!("w{path}"))).await.json();
        assert_eq!(whole[0]["content"]["content"], ANSWER, "{path}: {whole}");
    }
}
