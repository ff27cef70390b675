//! One agent, talked to in every protocol: each caller gets its answer as its own wire says answers.

use http::Method;
use serde_json::{Value, json};

use super::{builder, hub, says, words};
use crate::mcp::Modern;
use crate::support::{send, streaming};

const HELLO: &str = "replies: [{ say: 'Good morning, what is it?', again: true }]";

#[tokio::test]
async fn an_agent_of_five_lines_answers() {
    let hub = hub(HELLO, "").await;
    let answer = says(&hub, "hello").await.json();
    assert_eq!((answer["state"].as_str(), words(&answer).as_str()), (Some("completed"), "Good morning, what is it?"));
    assert_eq!(answer["finished"]["parts"][0]["by"], "ann", "{answer}");
}

#[tokio::test]
async fn it_answers_in_nlip_at_its_own_door_and_behind_the_front_door() {
    let hub = hub(HELLO, "front_door: ann\n").await;
    let message = json!({"format": "text", "subformat": "english", "content": "hello"});
    for path in ["/agents/ann/nlip", "/nlip"] {
        let answer = hub.post_json(path, &message).await.json();
        assert_eq!(answer["content"], "Good morning, what is it?", "{path}: {answer}");
    }
}

#[tokio::test]
async fn it_answers_as_a_tool_of_mcp() {
    let hub = hub(HELLO, "").await;
    let answer = Modern::new(&hub).call("ann__chat", json!({"message": "hello"})).await;
    assert_eq!(answer["content"][0]["text"], "Good morning, what is it?", "{answer}");
}

#[tokio::test]
async fn it_answers_as_an_agent_of_a2a() {
    let hub = hub(HELLO, "").await;
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let answer = send(&hub, Method::POST, "/agents/ann/a2a", &[("a2a-version", "1.0")], Some(body)).await.json();
    assert!(answer["result"].to_string().contains("Good morning, what is it?"), "{answer}");
}

#[tokio::test]
async fn it_answers_a_task_of_an_aip_orchestrator() {
    let hub = hub(HELLO, "").await;
    let mut socket = hub.websocket("/ws").await;
    let register = json!({
        "type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal@ann", "target_id": "ann",
        "metadata": {"type": "constellation_client", "task_name": "gal", "targeted_device_id": "ann", "version": "2.0"},
    });
    let task = json!({
        "type": "task", "status": "continue", "client_type": "constellation", "target_id": "ann",
        "session_id": "gal@t1", "task_name": "gal", "request": "hello",
    });
    socket.send_text(register.to_string()).await;
    socket.send_text(task.to_string()).await;
    let end = loop {
        let message = socket.next_data().await;
        let frame: Value = serde_json::from_str(message.as_text().expect("text")).expect("JSON");
        if frame["type"] == "task_end" {
            break frame;
        }
    };
    assert_eq!(end["status"], "completed", "{end}");
    assert!(end["result"].to_string().contains("Good morning, what is it?"), "{end}");
}

#[tokio::test]
async fn it_answers_as_a_site_of_nlweb() {
    let hub = hub(HELLO, "").await;
    for (path, form) in
        [("/ask", "site=ann&query=hello&streaming=false"), ("/agents/ann/ask", "query=hello&streaming=false")]
    {
        let answer = hub.post(path, "application/x-www-form-urlencoded", form).await;
        assert!(answer.text().contains("Good morning, what is it?"), "{path}: {}", answer.text());
    }
}

#[tokio::test]
async fn h_01_chat_by_the_routing_envelope_is_chat() {
    let hub = hub(HELLO, "front_door: ann\n").await;
    let request = json!({
        "control": {"message_type": "request", "message_id": "e1"},
        "content": {"messages": [{"role": "user", "content": "hello"}]},
    });
    let answer = hub.post_json("/nlip/route", &request).await.json();
    let said: Vec<&Value> = answer.as_array().expect("responses").iter().map(|message| &message["content"]).collect();
    let direct = says(&hub, "hello").await.json();
    assert!(said.iter().any(|content| content.to_string().contains(&words(&direct))), "{answer}");
    assert!(answer.to_string().contains("\"response\"") && !answer.to_string().contains("\"error\":\""), "{answer}");
}

#[tokio::test]
async fn what_it_says_streams_word_by_word_and_the_end_repeats_none_of_it() {
    let hub = hub(HELLO, "").await;
    let body = json!({"skill": "ann/chat", "text": "hello"});
    let (_connection, mut stream) = streaming(&hub, Method::POST, "/api/exchanges", &[], Some(body)).await;
    let (mut said, mut finished) = (String::new(), Value::Null);
    while let Some(data) = stream.next().await {
        let event: Value = serde_json::from_str(&data).expect("JSON");
        if event["outcome"].is_string() {
            finished = event.clone();
        }
        for part in event["parts"].as_array().into_iter().flatten() {
            said.push_str(part["text"].as_str().unwrap_or_default());
        }
    }
    assert_eq!(said, "Good morning, what is it?");
    assert!(finished["said"].is_string() && finished["parts"].as_array().is_none_or(Vec::is_empty), "{finished}");
}

#[tokio::test]
async fn it_remembers_the_conversation_and_no_other() {
    let lines = r#"
replies:
  - { when: my name is Bea, say: Hello Bea. }
  - { when: who am I, say: You are Bea., again: true }
"#;
    let hub = builder(lines, "").start().await;
    let first = says(&hub, "my name is Bea").await.json();
    let conversation = first["conversation"].as_str().expect("a conversation").to_owned();
    let body = json!({"skill": "ann/chat", "text": "who am I", "conversation": conversation});
    let second = hub.post_json("/api/exchanges", &body).await.json();
    assert_eq!(words(&second), "You are Bea.", "{second}");
    let seen = |answer: &Value| answer["finished"]["usage"]["tokens_in"].as_u64().expect("counted");
    let alone = says(&hub, "who am I").await.json();
    assert!(seen(&second) > seen(&alone), "in its conversation it read what was said before: {second} {alone}");
}

#[tokio::test]
async fn an_agent_that_was_configured_later_is_there_and_one_that_went_is_not() {
    let mut hub = hub(HELLO, "").await;
    let config = "models: { canned: { provider: scripted, file: ./lines.yaml } }\nagents: { bob: { model: canned } }\n";
    hub.write("interlingua.yaml", config);
    hub.reload();
    crate::support::until("the new agent", async || {
        hub.post_json("/api/exchanges", &json!({"skill": "bob/chat", "text": "hello"})).await.status == 200
    })
    .await;
    assert_eq!(says(&hub, "hello").await.status, 404, "ann is gone");
}

#[tokio::test]
async fn r_20_a_chat_that_streams_is_pieces_and_then_one_completion() {
    let hub = hub(HELLO, "front_door: ann\n").await;
    let request = json!({
        "control": {"message_type": "request", "message_id": "e2"},
        "content": {"messages": [{"role": "user", "content": "hello"}]},
    });
    let (_connection, mut stream) = streaming(&hub, Method::POST, "/nlip/route", &[], Some(request)).await;
    let mut contents = Vec::new();
    while let Some(data) = stream.next().await {
        let message: Value = serde_json::from_str(&data).expect("JSON");
        contents.push(message["content"].clone());
    }
    let (last, pieces) = contents.split_last().expect("responses");
    let said: String =
        pieces.iter().filter(|piece| piece["partial"] == true).filter_map(|piece| piece["content"].as_str()).collect();
    assert_eq!(said, "Good morning, what is it?", "{contents:?}");
    assert_eq!((&last["partial"], &last["complete"]), (&json!(false), &json!(true)), "{last}");
}
