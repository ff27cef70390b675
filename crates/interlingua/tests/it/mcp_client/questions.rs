//! Servers that ask: requests of the legacy era while a call runs, results of the modern one that end it.

use super::*;
use crate::support::reaches;

async fn answer(hub: &Hub, task: &Value, question: &Value, answer: Value) {
    let mut answer = answer;
    answer["question"] = question["id"].clone();
    let path = format!("/api/tasks/{}/signals", task["task"].as_str().expect("a task"));
    let taken = hub.post_json(&path, &json!({"answer": answer})).await;
    assert!(taken.status < 300, "{}", taken.text());
}

async fn outcome(hub: &Hub, waiting: &Value) -> Value {
    let done = reaches(hub, waiting["task"].as_str().expect("a task"), "completed").await;
    serde_json::from_str(&said(&done)).expect("what the server was answered")
}

#[tokio::test]
async fn m_17_a_question_of_either_era_is_asked_and_its_answer_goes_back() {
    let everywhere = Everywhere::all().await;
    for name in &everywhere.names {
        let waiting = call(&everywhere.hub, &format!("{name}/ask"), json!({})).await;
        assert_eq!(waiting["state"], "waiting", "{name}: {waiting}");
        let question = &waiting["questions"][0];
        assert_eq!((&question["kind"], &question["text"]), (&json!("input"), &json!("Which name?")), "{name}");
        answer(&everywhere.hub, &waiting, question, json!({"arguments": {"name": "Ada"}})).await;
        let given = outcome(&everywhere.hub, &waiting).await;
        assert_eq!(given, json!({"name": {"action": "accept", "content": {"name": "Ada"}}}), "{name}");
    }
}

#[tokio::test]
async fn m_14_several_questions_are_answered_together_and_the_servers_state_comes_back_as_it_was() {
    let everywhere = Everywhere::start(&[("m", "http", "modern"), ("p", "stdio", "modern")]).await;
    for name in &everywhere.names {
        let waiting = call(&everywhere.hub, &format!("{name}/ask_twice"), json!({})).await;
        let path = format!("/api/tasks/{}", waiting["task"].as_str().expect("a task"));
        let mut questions = Vec::new();
        until("both questions", async || {
            questions = everywhere.hub.get(&path).await.json()["questions"].as_array().cloned().unwrap_or_default();
            questions.len() == 2
        })
        .await;
        for question in questions.iter().rev() {
            let town = if question["text"] == "Which from?" { "Rome" } else { "Oslo" };
            answer(&everywhere.hub, &waiting, question, json!({"arguments": {"name": town}})).await;
        }
        let given = outcome(&everywhere.hub, &waiting).await;
        let accepted = |town: &str| json!({"action": "accept", "content": {"name": town}});
        assert_eq!(given, json!({"from": accepted("Rome"), "to": accepted("Oslo")}), "{name}");
    }
    let again = call(&everywhere.hub, "m/again", json!({})).await;
    assert_eq!(said(&again), "enough", "a state alone goes back at once: {again}");
}

#[tokio::test]
async fn m_17_questions_of_a_legacy_server_come_one_after_another() {
    let everywhere = Everywhere::start(&[("l", "stdio", "legacy")]).await;
    let waiting = call(&everywhere.hub, "l/ask_twice", json!({})).await;
    answer(&everywhere.hub, &waiting, &waiting["questions"][0], json!({"arguments": {"name": "Rome"}})).await;
    let path = format!("/api/tasks/{}", waiting["task"].as_str().expect("a task"));
    let mut second = Value::Null;
    until("a second question", async || {
        second = everywhere.hub.get(&path).await.json()["questions"][0].clone();
        second["text"] == "Which to?"
    })
    .await;
    answer(&everywhere.hub, &waiting, &second, json!({"decline": true})).await;
    let given = outcome(&everywhere.hub, &waiting).await;
    assert_eq!(given["to"], json!({"action": "decline"}));
    assert_eq!(given["from"]["content"]["name"], "Rome");
}

#[tokio::test]
async fn a_task_of_a_server_that_asks_goes_on_with_the_answer() {
    let everywhere = Everywhere::start(&[("far", "http", "modern"), ("near", "stdio", "modern")]).await;
    for name in &everywhere.names {
        let waiting = call(&everywhere.hub, &format!("{name}/task_asks"), json!({})).await;
        assert_eq!(waiting["questions"][0]["text"], "Which name?", "{name}: {waiting}");
        answer(&everywhere.hub, &waiting, &waiting["questions"][0], json!({"arguments": {"name": "Ada"}})).await;
        let given = outcome(&everywhere.hub, &waiting).await;
        assert_eq!(given, json!({"name": {"action": "accept", "content": {"name": "Ada"}}}), "{name}");
    }
}

#[tokio::test]
async fn an_address_that_must_be_visited_first_is_asked_for_and_the_call_made_again() {
    let everywhere = Everywhere::start(&[("far", "http", "legacy"), ("near", "stdio", "legacy")]).await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let waiting = call(&everywhere.hub, &format!("{name}/visit"), json!({})).await;
        let question = &waiting["questions"][0];
        let text = format!("{name} asks you to open a page at https://example.com. It says: Please agree.");
        assert_eq!((&question["kind"], &question["text"]), (&json!("visit"), &json!(text)), "{waiting}");
        assert!(question.to_string().contains("https://example.com/consent"), "{question}");
        answer(&everywhere.hub, &waiting, question, json!({"visited": true})).await;
        let done = reaches(&everywhere.hub, waiting["task"].as_str().expect("a task"), "completed").await;
        assert_eq!((said(&done).as_str(), log.count("call visit")), ("been there", 2), "{name}");
    }
}

#[tokio::test]
async fn a_caller_who_cannot_be_asked_declines_at_once() {
    let everywhere = Everywhere::start(&[("l", "stdio", "legacy"), ("m", "http", "modern")]).await;
    // A client that declared nothing: a legacy server is told no and goes on, a modern one has ended its request.
    let client = Modern::new(&everywhere.hub);
    let declined = client.call("l__ask", json!({})).await;
    let given: Value = serde_json::from_str(declined["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(given, json!({"name": {"action": "decline"}}), "{declined}");
    let ended = client.call("m__ask", json!({})).await;
    assert_eq!(ended["isError"], true, "{ended}");
    assert_eq!(ended["_meta"]["interlingua/fault"]["kind"], "unanswered", "{ended}");
}
