//! Agents that ask.

use http::Method;

use super::*;
use crate::support::send;

/// Asks by ending its stream, and says what it was answered.
async fn asking() -> Agent {
    Agent::start(card(), |heard| {
        let said = &heard.json()["params"]["message"];
        match (method(heard).as_str(), said["taskId"].as_str()) {
            ("SendStreamingMessage", None) => {
                Say::Stream(stream(&[json!({"task": task("WORKING")}), saying("INPUT_REQUIRED", "q1", "Which dates?")]))
            }
            ("SendStreamingMessage", Some("t1")) => {
                let words = format!("{} in {}", said["parts"][0]["text"], said["contextId"]);
                Say::Stream(stream(&[status("WORKING"), artifact(&words, false, true), status("COMPLETED")]))
            }
            ("CancelTask", _) => Say::Json(result(task("CANCELED"))),
            other => panic!("{other:?} was not needed"),
        }
    })
    .await
}

#[tokio::test]
async fn a_49_a_question_is_asked_and_its_answer_goes_to_the_task_also_after_a_restart() {
    let agent = asking().await;
    let mut hub = agent.hub().await;
    let waiting = say(&hub, "book").await;
    let question = &waiting["questions"][0];
    assert_eq!((&question["kind"], &question["text"]), (&json!("input"), &json!("Which dates?")), "{waiting}");
    hub.restart().await;
    let id = waiting["task"].as_str().expect("a task");
    reaches(&hub, id, "waiting").await;
    signal(&hub, id, json!({"answer": {"question": question["id"], "text": "May 1"}})).await;
    let done = reaches(&hub, id, "completed").await;
    assert_eq!(done["finished"]["artifacts"], json!(["page"]), "{done}");
    let events = hub.get(&format!("/api/tasks/{id}/events")).await.text();
    assert!(events.contains(r#"\"May 1\" in \"c1\""#), "{events}");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SendStreamingMessage"]);
}

/// What only reads may be run again, so nothing is kept of it until somebody asks or its id is told; from then on its message
/// leads there.
#[tokio::test]
async fn a_message_that_led_to_a_question_leads_to_the_same_task_when_it_is_sent_again() {
    let agent = asking().await;
    let config = format!("peers: {{ agent: {{ a2a: {{ url: \"{}\" }}, effects: reads }} }}\n", agent.url());
    let mut hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).start().await;
    listed(&hub).await;
    let say = async |hub: &Hub, text: &str| {
        let body = json!({"skill": "agent/chat", "text": text});
        send(hub, Method::POST, "/api/exchanges", &[("idempotency-key", "once")], Some(body)).await
    };
    let first = say(&hub, "book").await.json();
    assert_eq!(first["state"], "waiting", "{first}");
    assert_eq!(say(&hub, "book").await.json()["task"], first["task"]);
    hub.restart().await;
    assert_eq!(say(&hub, "book").await.json()["task"], first["task"]);
    assert_eq!(say(&hub, "something else").await.status, 409);
    let tasks = hub.get("/api/tasks").await.json();
    assert_eq!(tasks["items"].as_array().map(Vec::len), Some(1), "{tasks}");
    assert_eq!(tasks["items"][0]["state"], "waiting", "{tasks}");
}

#[tokio::test]
async fn a_question_that_is_declined_or_that_nobody_can_answer_ends_the_agents_task() {
    let agent = asking().await;
    let hub = agent.hub().await;
    let waiting = say(&hub, "book").await;
    let id = waiting["task"].as_str().expect("a task");
    signal(&hub, id, json!({"answer": {"question": waiting["questions"][0]["id"], "decline": true}})).await;
    assert_eq!(fault(&reaches(&hub, id, "failed").await), "unanswered");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "CancelTask"]);
    // A client that did not say that it can be asked.
    let call = json!({"name": "agent__chat", "arguments": {"message": "book"}});
    let answer = crate::mcp::Modern::new(&hub).ask("tools/call", call).await;
    assert!(answer.text().contains("Which dates?"), "{}", answer.text());
    until("a cancel", async || agent.methods().iter().filter(|asked| *asked == "CancelTask").count() == 2).await;
}

#[tokio::test]
async fn a_wish_for_credentials_is_asked_beside_the_stream_and_the_answer_travels_in_a_header() {
    let told = Arc::new(tokio::sync::Notify::new());
    let goes_on = told.clone();
    let agent = Agent::start(card(), move |heard| match method(heard).as_str() {
        "SendStreamingMessage" => {
            let mut pieces = stream(&[json!({"task": task("WORKING")}), saying("AUTH_REQUIRED", "q", "Who are you?")]);
            pieces.push(Piece::Until(told.clone()));
            pieces.extend(stream(&[status("WORKING"), artifact("welcome", false, true), status("COMPLETED")]));
            Say::Stream(pieces)
        }
        _ => Say::Json(result(json!({"task": task("AUTH_REQUIRED")}))),
    })
    .await;
    let hub = agent.hub().await;
    let waiting = say(&hub, "x").await;
    let question = &waiting["questions"][0];
    assert_eq!(question["kind"], "credential", "{waiting}");
    let id = waiting["task"].as_str().expect("a task");
    signal(&hub, id, json!({"answer": {"question": question["id"], "token": "s3cret"}})).await;
    agent.is_asked("SendMessage").await;
    let shown = agent.heard().pop().expect("the answer");
    assert_eq!(shown.header("authorization"), Some("Bearer s3cret"));
    assert!(!String::from_utf8_lossy(&shown.body).contains("s3cret"));
    assert_eq!(shown.json()["params"]["message"]["taskId"], "t1");
    goes_on.notify_one();
    reaches(&hub, id, "completed").await;
}

#[tokio::test]
async fn a_wish_that_is_met_elsewhere_is_withdrawn() {
    let agent = Agent::start(card(), |heard| match method(heard).as_str() {
        "SendStreamingMessage" => Say::Stream(stream(&[
            json!({"task": task("WORKING")}),
            saying("AUTH_REQUIRED", "q", "Who are you?"),
            status("WORKING"),
            status("COMPLETED"),
        ])),
        other => panic!("{other} was not needed"),
    })
    .await;
    let hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    reaches(&hub, &id, "completed").await;
    let events = hub.get(&format!("/api/tasks/{id}/events")).await.text();
    assert!(events.contains("withdrawn"), "{events}");
}
