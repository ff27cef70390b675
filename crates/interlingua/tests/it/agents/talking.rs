//! One agent, called in every protocol: each caller gets its answer in the form of its own protocol.

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

/// A chat by the routing envelope.
fn routed(id: &str) -> Value {
    json!({
        "control": {"message_type": "request", "message_id": id},
        "content": {"messages": [{"role": "user", "content": "hello"}]},
    })
}

/// All messages of a chat that streams.
async fn streamed(hub: &interlingua_testkit::Hub, id: &str) -> Vec<Value> {
    let (_connection, mut stream) = streaming(hub, Method::POST, "/nlip/route", &[], Some(routed(id))).await;
    let mut messages = Vec::new();
    while let Some(data) = stream.next().await {
        messages.push(serde_json::from_str(&data).expect("JSON"));
    }
    messages
}

#[tokio::test]
async fn r_31_an_agent_s_own_setting_says_whether_its_answers_are_streamed() {
    let lines = "replies: [{ events: [{ text: 'Good ' }, { text: morning. }, { end: done }], again: true }]";
    for (hub_says, agent_says, in_pieces) in [
        ("{}", "", true),
        ("{}", ", router: { buffer_partial_responses: true }", false),
        ("{}", ", router: { enable_streaming: false }", false),
        ("{ buffer_partial_responses: true }", "", false),
        ("{ buffer_partial_responses: true }", ", router: { buffer_partial_responses: false }", true),
    ] {
        let config = format!(
            "models: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\nagents: {{ ann: {{ model: canned{agent_says} }} }}\n\
             front_door: ann\nnlip: {{ router: {hub_says} }}\n"
        );
        let hub = crate::support::builder().file("lines.yaml", lines).config(&config).start().await;
        let messages = streamed(&hub, "e1").await;
        let has_pieces = messages.iter().any(|message| message["content"]["partial"] == true);
        assert_eq!(has_pieces, in_pieces, "{hub_says} {agent_says}: {messages:?}");
        assert_eq!(messages.last().expect("responses")["content"]["content"], "Good morning.", "{messages:?}");
        // At its own path an agent that is not to be streamed is answered with one array.
        let accept = [("accept", "text/event-stream")];
        let answer = send(&hub, Method::POST, "/agents/ann/nlip/route", &accept, Some(routed("e2"))).await;
        let is_array = answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        assert_eq!(is_array, agent_says.contains("enable_streaming: false"), "{hub_says} {agent_says}");
    }
}

#[tokio::test]
async fn h_01_chat_by_the_routing_envelope_is_chat() {
    let hub = hub(HELLO, "front_door: ann\n").await;
    let answer = hub.post_json("/nlip/route", &routed("e1")).await.json();
    let direct = says(&hub, "hello").await.json();
    let [response] = answer.as_array().expect("responses").as_slice() else { panic!("{answer}") };
    assert_eq!(response["control"]["message_type"], "response", "{answer}");
    assert_eq!(response["content"], json!({"partial": false, "complete": true, "content": words(&direct)}), "{answer}");
}

#[tokio::test]
async fn r_21_a_model_that_fails_is_an_error_and_no_completion_follows() {
    for lines in [
        "replies: [{ events: [{ text: 'It is ' }], again: true }]",
        "replies: [{ events: [{ fail: { status: 400 } }], again: true }]",
    ] {
        let hub = hub(lines, "front_door: ann\n").await;
        let messages = streamed(&hub, "e1").await;
        let whole = hub.post_json("/nlip/route", &routed("e2")).await;
        assert_eq!(whole.status, 200, "it was accepted and then failed: {}", whole.text());
        let whole = whole.json();
        for (last, request) in [(messages.last().expect("messages"), "e1"), (&whole[0], "e2")] {
            assert_eq!(last["control"]["message_type"], "error", "{last}");
            assert_eq!(last["control"]["correlation_id"], request, "{last}");
            assert_eq!(last["content"]["complete"], false, "{last}");
            assert_eq!(last["content"]["original_request"], request, "{last}");
            assert!(last["content"]["code"].is_string() && last["content"]["error"].is_string(), "{last}");
        }
        let complete = |message: &&Value| message["content"]["complete"] == true;
        assert_eq!(
            messages.iter().filter(complete).count()
                + whole.as_array().expect("a list").iter().filter(complete).count(),
            0
        );
        let said: String =
            messages.iter().filter_map(|message| message["content"]["content"].as_str()).take(1).collect();
        assert!(lines.contains(&said), "what was said is not lost: {messages:?}");
    }
}

#[tokio::test]
async fn h_04_a_model_s_calls_are_told_and_run_and_are_never_empty_text() {
    let lines = r#"
replies:
  - { when: hello, say: "Let me count. ", call: [{ name: local__steps }, { name: local__fails }] }
  - { when: out of paper, say: "Two, and no paper." }
"#;
    let hub = hub(lines, "front_door: ann\n").await;
    let messages = streamed(&hub, "e1").await;
    let notes: String = messages.iter().map(|message| message["metadata"]["progress"].to_string()).collect();
    assert!(notes.contains("calls local/"), "{messages:?}");
    for message in &messages {
        let content = &message["content"];
        assert_ne!(content["content"], "", "{message}");
        assert_ne!(content["stream_chunk"], "", "{message}");
        let typed = ["partial", "stream_chunk"].iter().any(|key| content.get(key).is_some());
        assert!(typed || message["metadata"]["progress"].is_object(), "a message says what it is: {message}");
    }
    let last = messages.last().expect("messages");
    assert_eq!(last["metadata"]["usage"]["calls"], 2, "none is lost: {last}");
    assert_eq!(last["content"]["content"], "Two, and no paper.", "{last}");
}

#[tokio::test]
async fn h_03_what_it_says_streams_word_by_word_and_the_end_repeats_none_of_it() {
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
async fn r_20_h_03_a_chat_that_streams_is_pieces_and_then_one_completion() {
    let hub = hub(HELLO, "front_door: ann\n").await;
    let messages = streamed(&hub, "e2").await;
    let (last, pieces) = messages.split_last().expect("responses");
    for piece in pieces.iter().map(|piece| &piece["content"]) {
        assert_eq!(
            (&piece["partial"], piece["content"].as_str().is_some_and(|text| !text.is_empty())),
            (&json!(true), true)
        );
    }
    let said: String = pieces.iter().filter_map(|piece| piece["content"]["content"].as_str()).collect();
    assert_eq!(said, "Good morning, what is it?", "{messages:?}");
    // The whole once more, marked as what it is: whoever joins the pieces leaves it out.
    assert_eq!(last["content"], json!({"partial": false, "complete": true, "content": said}), "{last}");
    assert_eq!(last["metadata"]["final"], true, "{last}");
}

#[tokio::test]
async fn r_20_a_model_that_says_nothing_is_completed_with_nothing() {
    let hub = hub("replies: [{ events: [{ end: done }], again: true }]", "front_door: ann\n").await;
    let messages = streamed(&hub, "e3").await;
    let contents: Vec<&Value> = messages.iter().map(|message| &message["content"]).collect();
    assert_eq!(contents, [&json!({"partial": false, "complete": true, "content": ""})], "{messages:?}");
}
