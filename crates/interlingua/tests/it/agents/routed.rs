//! NLIP inside the hub: an agent whose calls travel as routed messages behaves like one whose calls are direct.

use serde_json::{Value, json};

use super::words;
use crate::support::{self, logged};

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
    // Off by default: a translator that is off refuses nothing.
    let (unrouted, same) = run("", "nlip: { translation: { custom_tools_enabled: false } }\n").await;
    assert_eq!((unrouted, same.as_str()), (straight, "Counted."));
}

/// Answers with what came of its call, then votes for itself.
const MEMBER: &str = r#"
replies:
  - { when: translator disabled, again: true, call: [{ name: new_answer, arguments: { content: The router refused. } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: There are no answers yet, again: true, call: [{ name: local__steps }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Counted. } }] }
"#;

#[tokio::test]
async fn r_30_r_31_a_team_s_setting_reaches_its_agents_and_skips_who_makes_calls_of_its_own() {
    let config = |agent: &str, team: &str| {
        format!(
            "tools: {{ directory: ./tools }}\nmodels: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\n\
             agents: {{ ann: {{ model: canned, skills: [\"local/*\"]{agent} }} }}\nscripts: {{ scribe: ./scribe.yaml }}\n\
             teams: {{ panel: {{ agents: [ann, scribe], ending: reuse{team} }} }}\n\
             nlip: {{ translation: {{ custom_tools_enabled: false }} }}\n"
        )
    };
    let vote = "scenes: [{ play: [{ answer: { text: \"vote: agent1\\nIt is right.\" } }] }]";
    let asked = async |agent: &str, team: &str| {
        let builder = support::builder().file("lines.yaml", MEMBER).file("scribe.yaml", vote);
        let hub = builder.config(&config(agent, team)).start().await;
        let answer = hub.post_json("/api/exchanges", &json!({"skill": "panel/chat", "text": "count"})).await.json();
        (words(&answer), hub)
    };
    assert_eq!(asked("", "").await.0, "Counted.", "off by default");
    let (answer, hub) = asked("", ", nlip: true").await;
    assert_eq!(answer, "The router refused.");
    logged(&hub, &["nlip_skipped", "panel", "scribe"]).await;
    assert!(!hub.log().lines().any(|line| line.contains("nlip_skipped") && line.contains("ann")), "{}", hub.log());
    assert_eq!(asked(", nlip: false", ", nlip: true").await.0, "Counted.", "the agent's own is nearer");
}

#[tokio::test]
async fn r_31_a_request_s_own_setting_is_the_nearest() {
    let hub = |agent: &'static str| async move {
        let off = "nlip: { translation: { custom_tools_enabled: false } }\nfront_door: ann\n";
        hub(agent, off).await
    };
    for (agent, wanted, answer) in [(", nlip: false", true, "The router refused."), (", nlip: true", false, "Counted.")]
    {
        let hub = hub(agent).await;
        let request = json!({
            "control": {"message_type": "request", "message_id": "e1"},
            "content": {"messages": [{"role": "user", "content": "count"}]},
            "metadata": {"interlingua/nlip": wanted},
        });
        let response = hub.post_json("/nlip/route", &request).await.json();
        assert_eq!(response[0]["content"]["content"], answer, "{response}");
    }
}

/// Leaves a line each time it runs.
fn mark(directory: &std::path::Path) -> String {
    let command = json!(["sh", "-c", format!("echo ran >> {}; echo '{{}}'", directory.join("marks").display())]);
    format!("name: mark\ndescription: Leaves a mark.\neffects: {{ reads: true }}\ncommand: {command}\n")
}

#[tokio::test]
async fn h_14_an_agent_calls_what_it_was_offered_and_nothing_else_by_either_way() {
    let lines = r#"
replies:
  - { when: go, call: [{ name: local__mark }, { name: custom_tool__mark }, { name: mark }, { name: local/mark }] }
  - { when: no tool of this name, say: None of these. }
"#;
    for nlip in ["false", "true"] {
        let builder = support::builder();
        let tool = mark(builder.directory());
        let config = format!(
            "tools: {{ directory: ./tools }}\nmodels: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\n\
             agents: {{ ann: {{ model: canned, skills: [local/steps], nlip: {nlip} }} }}\n"
        );
        let hub = builder.file("lines.yaml", lines).file("tools/mark.yaml", tool).config(&config).start().await;
        let body = json!({"skill": "local/mark", "arguments": {}});
        assert_eq!(hub.post_json("/api/exchanges", &body).await.status, 200, "it is there, for others");
        let answer = hub.post_json("/api/exchanges", &json!({"skill": "ann/chat", "text": "go"})).await.json();
        assert_eq!(words(&answer), "None of these.", "{answer}");
        let marks = std::fs::read_to_string(hub.directory().join("marks")).expect("it ran once");
        assert_eq!(marks.lines().count(), 1, "routed: {nlip}");
    }
}

/// The call was sent, and fails: no second way is tried.
#[tokio::test]
async fn h_22_a_routed_call_that_fails_after_it_was_sent_is_not_made_again_without_the_router() {
    let lines = "replies: [{ when: go, call: [{ name: local__broken }] }, { when: out of paper, say: It failed. }]";
    let builder = support::builder();
    let marks = builder.directory().join("marks");
    let command = format!("echo ran >> {}; echo '{{\"error\":\"out of paper\"}}'; exit 1", marks.display());
    let tool = format!(
        "name: broken\ndescription: Fails.\neffects: {{ reads: true }}\ncommand: {}\n",
        json!(["sh", "-c", command])
    );
    let config = "tools: { directory: ./tools }\nmodels: { canned: { provider: scripted, file: ./lines.yaml } }\n\
                  agents: { ann: { model: canned, skills: [\"local/*\"], nlip: true } }\n";
    let hub = builder.file("lines.yaml", lines).file("tools/broken.yaml", tool).config(config).start().await;
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "ann/chat", "text": "go"})).await.json();
    assert_eq!(words(&answer), "It failed.", "{answer}");
    assert_eq!(std::fs::read_to_string(marks).expect("it ran").lines().count(), 1);
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
