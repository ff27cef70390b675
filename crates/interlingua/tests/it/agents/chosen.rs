//! The answer of a team is the one it chose: the others are artifacts made on the way, in every place that reads an answer.

use http::Method;
use interlingua_testkit::{Hub, HubBuilder};
use serde_json::{Value, json};

use crate::support::{self, streaming};

const CHOSEN: &str = "It is forty-two, said bob.";
const OTHER: &str = "A long answer of ann's.";

/// Answers, then votes for bob.
const ANN: &str = r#"
replies:
  - { when: "Answer agent2.", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: it is shorter } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: "A long answer of ann's." } }] }
"#;

/// Answers, votes for itself, and presents.
const BOB: &str = r#"
replies:
  - { when: "You received", again: true, say: "It is forty-two, said bob." }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;

/// Asks the team, and says whose answers it was told.
const BOSS: &str = r#"
replies:
  - { when: "A long answer of ann's.", say: "I was told what ann said." }
  - { when: "It is forty-two, said bob.", say: "I was told what was chosen." }
  - { when: "", call: [{ name: panel__chat, arguments: { message: What is the answer? } }] }
"#;

const CONFIG: &str = r#"
models:
  of_ann: { provider: scripted, file: ./ann.yaml }
  of_bob: { provider: scripted, file: ./bob.yaml }
  of_boss: { provider: scripted, file: ./boss.yaml }
agents:
  ann: { model: of_ann }
  bob: { model: of_bob }
  boss: { model: of_boss, skills: ["panel/*", "ann/*", "bob/*"] }
teams: { panel: { agents: [ann, bob] } }
front_door: panel
"#;

fn builder() -> HubBuilder {
    support::builder().file("ann.yaml", ANN).file("bob.yaml", BOB).file("boss.yaml", BOSS).config(CONFIG)
}

fn chat() -> Value {
    json!({
        "control": {"message_type": "request", "message_id": "e1"},
        "content": {"messages": [{"role": "user", "content": "What is the answer?"}]},
    })
}

fn tool() -> Value {
    json!({
        "control": {"message_type": "request", "message_id": "e2"},
        "tool_calls": [{"tool_id": "t", "tool_name": "panel/chat", "parameters": {"message": "What is the answer?"}}],
    })
}

async fn streamed(hub: &Hub, request: Value) -> Vec<Value> {
    let (_connection, mut stream) = streaming(hub, Method::POST, "/nlip/route", &[], Some(request)).await;
    let mut messages = Vec::new();
    while let Some(data) = stream.next().await {
        messages.push(serde_json::from_str(&data).expect("JSON"));
    }
    messages
}

#[tokio::test]
async fn r_20_what_a_team_says_at_the_end_is_what_it_streamed() {
    let hub = builder().start().await;
    let messages = streamed(&hub, chat()).await;
    let partial = messages.iter().filter(|message| message["content"]["partial"] == true);
    let partial: String = partial.filter_map(|message| message["content"]["content"].as_str()).collect();
    let last = messages.last().expect("responses");
    assert_eq!(partial, CHOSEN, "{messages:?}");
    assert_eq!(last["content"]["content"], CHOSEN, "{last}");
    assert!(!last["content"].to_string().contains(OTHER), "{last}");
}

#[tokio::test]
async fn the_chosen_answer_is_the_whole_of_a_response_and_of_a_tools_result() {
    let hub = builder().start().await;
    let whole = hub.post_json("/nlip/route", &chat()).await.json();
    assert_eq!(whole[0]["content"]["content"], CHOSEN, "{whole}");
    let result = hub.post_json("/nlip/route", &tool()).await.json();
    assert_eq!(result[0]["tool_results"][0]["result"], CHOSEN, "{result}");
}

#[tokio::test]
async fn an_agent_that_asks_a_team_is_told_what_was_chosen() {
    let hub = builder().start().await;
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "boss/chat", "text": "Ask them."})).await.json();
    assert_eq!(super::words(&answer), "I was told what was chosen.", "{answer}");
}

#[tokio::test]
async fn artifacts_of_a_team_are_fetched_where_the_response_says() {
    let hub = builder().start().await;
    let response = hub.post_json("/nlip/route", &chat()).await.json();
    let listed = response[0]["metadata"]["artifacts"].as_array().cloned().unwrap_or_default();
    assert_eq!(listed.len(), 2, "{response}");
    let mut contents = Vec::new();
    for address in &listed {
        let path = address.as_str().and_then(|address| address.strip_prefix(&hub.url(""))).expect("an address here");
        let fetched = hub.get(path).await;
        assert_eq!(fetched.status, 200, "{path}: {}", fetched.text());
        contents.push(fetched.text());
    }
    contents.sort();
    assert_eq!(contents, [OTHER, "Forty-two."]);
}
