//! NLIP inside: an agent whose calls travel as routed messages does the same as one whose calls go straight.

use serde_json::{Value, json};

use super::words;
use crate::support;

const LINES: &str = r#"
replies:
  - { when: count, again: true, call: [{ name: local__steps }, { name: local__fails }, { name: local__erase, arguments: {} }] }
  - { when: translator disabled, again: true, say: The router refused. }
  - { when: "", again: true, say: Counted. }
"#;

async fn hub(agent: &str, more: &str) -> interlingua_testkit::Hub {
    let config = format!(
        "tools: {{ directory: ./tools }}\nmodels: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\n\
         agents: {{ ann: {{ model: canned, skills: [\"local/*\"]{agent} }} }}\n{more}"
    );
    support::builder().file("lines.yaml", LINES).config(&config).start().await
}

/// What the agent's model read of its calls, and what it answered.
async fn run(agent: &str, more: &str) -> (Vec<Value>, String) {
    let hub = hub(agent, more).await;
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "ann/chat", "text": "count"})).await.json();
    let task = answer["task"].as_str().expect("a task");
    let timeline = hub.get(&format!("/api/tasks/{task}/timeline?limit=100")).await.json();
    let steps = timeline["items"].as_array().cloned().unwrap_or_default();
    let returned = steps.into_iter().filter(|step| step["step"] == "returned" || step["step"] == "refused");
    let mut results: Vec<Value> = returned.map(|step| step["data"].clone()).collect();
    // They run together, so they return in any order.
    results.sort_by_key(|result| result["call"].to_string());
    (results, words(&answer))
}

#[tokio::test]
async fn r_30_calls_by_the_router_have_the_effect_of_calls_without_it() {
    let (straight, answer) = run("", "").await;
    let (routed, same) = run(", nlip: true", "").await;
    assert_eq!(straight.len(), 3, "{straight:?}");
    assert_eq!(routed, straight);
    assert_eq!((answer.as_str(), same.as_str()), ("Counted.", "Counted."));
}

#[tokio::test]
async fn r_31_the_nearest_setting_counts_and_a_translator_that_is_off_refuses() {
    let off = "nlip: { agents: HUB, translation: { custom_tools_enabled: false } }\n";
    let refused = |results: &[Value]| results.iter().all(|result| result.to_string().contains("translator disabled"));
    let (results, answer) = run("", &off.replace("HUB", "true")).await;
    assert!(refused(&results) && answer == "The router refused.", "the hub's own setting: {results:?}");
    let (results, answer) = run(", nlip: false", &off.replace("HUB", "true")).await;
    assert!(!refused(&results) && answer == "Counted.", "the agent's is nearer: {results:?}");
    let (results, _) = run(", nlip: true", &off.replace("HUB", "false")).await;
    assert!(refused(&results), "{results:?}");
}

#[tokio::test]
async fn h_02_with_the_router_switched_off_calls_go_straight() {
    let (results, answer) = run(", nlip: true", "nlip: { router: { enabled: false } }\n").await;
    assert_eq!((results.len(), answer.as_str()), (3, "Counted."), "{results:?}");
}
