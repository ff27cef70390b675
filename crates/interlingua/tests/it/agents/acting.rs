//! Skills of an agent: it uses them, needs approval for dangerous ones, stays in its budget, and asks its caller.

use serde_json::{Value, json};

use super::{hub, says, told, words};
use crate::support::{reaches, start, until};

const STEPS: &str = r#"
replies:
  - call: [{ name: local__steps }]
  - { when: counted, say: It counted to two. }
"#;

#[tokio::test]
async fn it_uses_a_skill_and_tells_what_came_of_it() {
    let hub = hub(STEPS, "").await;
    let answer = says(&hub, "count, please").await.json();
    assert_eq!(words(&answer), "It counted to two.", "{answer}");
    assert_eq!(answer["finished"]["usage"]["calls"], 1);
}

#[tokio::test]
async fn several_calls_run_at_once_and_a_failure_stops_no_other() {
    let lines = r#"
replies:
  - call: [{ name: local__fails }, { name: local__steps }, { name: local__nothing }]
  - { when: no tool of this name, say: One of three. }
"#;
    let hub = hub(lines, "").await;
    let answer = says(&hub, "go").await.json();
    assert_eq!(words(&answer), "One of three.", "{answer}");
}

/// The open question of a task, once there is one.
async fn question(hub: &interlingua_testkit::Hub, task: &str) -> Value {
    let path = format!("/api/tasks/{task}");
    let mut found = Value::Null;
    until("a question", async || {
        found = hub.get(&path).await.json()["questions"][0].clone();
        !found.is_null()
    })
    .await;
    found
}

const ERASE: &str = r#"
replies:
  - call: [{ name: local__erase, arguments: { what: everything } }]
  - { when: erased, say: It is gone. }
  - { when: denied, say: Then not. }
"#;

#[tokio::test]
async fn a_dangerous_call_is_asked_of_a_caller_who_may_say_yes() {
    let hub = hub(ERASE, "").await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "erase"})).await;
    let asked = question(&hub, &task).await;
    assert_eq!(asked["kind"], "confirm", "{asked}");
    assert!(asked.to_string().contains("everything"), "the exact call is shown: {asked}");
    let answer = json!({"answer": {"question": asked["id"], "approve": true}});
    let taken = hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
    assert!(taken.status < 300, "{}", taken.text());
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is gone.");
}

#[tokio::test]
async fn a_no_is_told_to_the_model_and_nothing_happens() {
    let hub = hub(ERASE, "").await;
    let task = start(&hub, json!({"skill": "ann/chat", "text": "erase"})).await;
    let asked = question(&hub, &task).await;
    let answer = json!({"answer": {"question": asked["id"], "approve": false}});
    hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "Then not.");
}

#[tokio::test]
async fn a_budget_of_calls_ends_the_run_gracefully_with_what_it_has() {
    let lines = r#"
replies:
  - { say: "So far nothing.", call: [{ name: local__steps }] }
  - { when: budget is nearly used up, say: That is all I know. }
"#;
    let hub = hub(lines, "    budget: { calls: 1 }\n").await;
    let answer = says(&hub, "go").await.json();
    assert_eq!(words(&answer), "That is all I know.", "{answer}");
}

#[tokio::test]
async fn a_budget_of_turns_that_is_used_up_says_so_and_keeps_the_words() {
    let lines = "replies: [{ say: 'So far nothing. ', call: [{ name: local__steps }], again: true }]";
    let hub = hub(lines, "    budget: { turns: 2 }\n").await;
    let answer = says(&hub, "go").await.json();
    assert_eq!(answer["state"], "failed");
    assert_eq!(answer["finished"]["fault"]["kind"], "budget_spent", "{answer}");
    assert_eq!(words(&answer), "So far nothing. ");
}

#[tokio::test]
async fn it_asks_its_caller_and_goes_on_with_the_answer() {
    let lines = r#"
replies:
  - call: [{ name: ask_user, arguments: { question: "Which city?" } }]
  - { when: Paris, say: In Paris it rains. }
"#;
    let hub = hub(lines, "").await;
    let message = json!({"format": "text", "subformat": "english", "content": "weather?"});
    let asked = hub.post_json("/agents/ann/nlip", &message).await.json();
    assert_eq!(asked["content"], "Which city?", "{asked}");
    let tokens: Vec<Value> = asked["submessages"].as_array().cloned().unwrap_or_default();
    let tokens: Vec<Value> = tokens.into_iter().filter(|part| part["format"] == "token").collect();
    let message = json!({"format": "text", "subformat": "english", "content": "Paris", "submessages": tokens});
    let answer = hub.post_json("/agents/ann/nlip", &message).await.json();
    assert_eq!(answer["content"], "In Paris it rains.", "{answer}");
}

#[tokio::test]
async fn an_answer_that_must_have_a_form_is_repaired_until_it_has() {
    let lines = r#"
replies:
  - say: It is 3.
  - { when: does not fit, say: '{"price": "three"}' }
  - { when: does not fit, say: 'Here it is: {"price": 3}' }
"#;
    let form = r#"{"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}"#;
    let hub = super::builder(lines, "    output: ./form.json\n").file("form.json", form).start().await;
    let answer = says(&hub, "what does it cost?").await.json();
    assert_eq!(answer["finished"]["structured"], json!({"price": 3}), "{answer}");
}

#[tokio::test]
async fn a_model_that_breaks_off_fails_with_what_it_had_said() {
    let hub = hub("replies: [{ events: [{ text: 'It is ' }] }]", "").await;
    let answer = says(&hub, "what is it?").await.json();
    assert_eq!(answer["finished"]["fault"]["kind"], "bad_reply", "{answer}");
    assert_eq!(words(&answer), "It is ");
}
