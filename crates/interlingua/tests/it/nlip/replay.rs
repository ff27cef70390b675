//! A call that is sent again under its id, before there is a conversation to send it in.

use serde_json::{Value, json};

use crate::support::{builder, hub};

/// Another number each time it runs.
const STAMP: &str = r#"
name: stamp
description: Stamps something.
input: { type: object, properties: { what: { type: string } } }
effects: { writes: true }
command: [sh, -c, 'echo "{\"number\":$$}"']
"#;

fn call(id: &str, skill: &str, arguments: &Value) -> Value {
    let named = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": skill, "arguments": arguments, "id": id}});
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [named]})
}

async fn tasks(hub: &interlingua_testkit::Hub) -> usize {
    hub.get("/api/tasks").await.json()["items"].as_array().expect("items").len()
}

#[tokio::test]
async fn a_first_message_sent_again_is_the_same_call_and_another_under_its_id_is_a_conflict() {
    let hub = builder().file("tools/stamp.yaml", STAMP).config("tools: { directory: ./tools }\n").start().await;
    let write = |text: &str| call("m-1", "local/stamp", &json!({"what": text}));
    let first = hub.post_json("/nlip", &write("one")).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = hub.post_json("/nlip", &write("one")).await;
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(again.json()["content"], first.json()["content"], "the same number");
    assert_eq!(tasks(&hub).await, 1, "it ran once");
    let other = hub.post_json("/nlip", &write("two")).await;
    assert_eq!(other.status, 409, "{}", other.text());
}

#[tokio::test]
async fn a_call_that_waits_for_a_yes_and_is_sent_again_is_asked_the_same_question() {
    let hub = hub("").await;
    let erase = call("m-2", "local/erase", &json!({"what": "all"}));
    let question = |answer: &interlingua_testkit::Answer| {
        let parts = answer.json()["submessages"].as_array().cloned().unwrap_or_default();
        let asked = parts.into_iter().find(|part| part["label"] == "interlingua-question");
        asked.unwrap_or_else(|| panic!("no question: {}", answer.text()))["content"]["id"].clone()
    };
    let first = hub.post_json("/nlip", &erase).await;
    let again = hub.post_json("/nlip", &erase).await;
    assert_eq!(question(&again), question(&first));
    assert_eq!(tasks(&hub).await, 1);
}
