//! Agents and teams that events of a topic start: in the name of the publisher, within limits, and once.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use crate::support::{self, logged, reaches, send, until};

/// Writes a line each time it runs, then takes a while.
const NOTE: &str = "name: note\ndescription: Writes a line.\neffects: { writes: true }\ntimeout: 60s\n";

const LINES: &str = r#"
replies:
  - { when: write it down, again: true, call: [{ name: local__note }] }
  - { when: may have happened, again: true, say: It may be written. }
  - { when: written, again: true, say: It is written. }
  - { when: hello, again: true, say: Good morning. }
  - { when: Good morning, again: true, say: Good morning. }
  - { again: true, say: I cannot. }
"#;

/// The agent `ann`, started by `orders.new.*`; `on` is more of how, `more` is more configuration.
fn config(on: &str, more: &str) -> String {
    format!(
        "tools: {{ directory: ./tools }}\nlimits: {{ rate: 10000/s }}\n\
         models: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\n\
         agents:\n  ann:\n    model: canned\n    skills: [\"local/*\"]\n    confirm: {{ writes: allow }}\n    \
         on: {{ topic: orders.new.*, reply: orders.done, {on} }}\n{more}"
    )
}

async fn hub_with(pause: &str, config: &str) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let notes = builder.directory().join("notes");
    let program =
        format!("#!/bin/sh\necho noted >> '{}'\nsleep {pause}\necho '{{\"note\":\"written\"}}'\n", notes.display());
    let builder = builder.file("tools/note/tool.yaml", NOTE).file("tools/note/note", program);
    let program = builder.directory().join("tools/note/note");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("may be run");
    builder.file("lines.yaml", LINES).config(config).start().await
}

async fn hub(on: &str, more: &str) -> Hub {
    hub_with("0", &config(on, more)).await
}

fn notes(hub: &Hub) -> usize {
    fs::read_to_string(hub.directory().join("notes")).map(|text| text.lines().count()).unwrap_or(0)
}

/// Publishes as the holder of a token, or as the Owner; the id of the event.
async fn publish(hub: &Hub, token: Option<&str>, topic: &str, text: &str) -> String {
    let id = format!("event-{text}-{topic}").replace(' ', "-");
    let event = json!({"message_id": id, "message_type": "event", "topic": topic, "content": {"text": text}});
    let answer = published(hub, token, event).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    id
}

async fn published(hub: &Hub, token: Option<&str>, event: Value) -> interlingua_testkit::Answer {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    match token {
        Some(_) => send(hub, Method::POST, "/api/messages", &headers, Some(event)).await,
        None => hub.post_json("/api/messages", &event).await,
    }
}

/// The events of a topic so far.
async fn said(hub: &Hub, topic: &str) -> Vec<Value> {
    let page = hub.get(&format!("/api/messages?topic={topic}&limit=100")).await.json();
    page["items"].as_array().cloned().unwrap_or_default()
}

/// The answers, once there are so many.
async fn answers(hub: &Hub, count: usize) -> Vec<Value> {
    until("the answers", async || said(hub, "orders.done").await.len() >= count).await;
    let all = said(hub, "orders.done").await;
    assert_eq!(all.len(), count, "no more than that: {all:?}");
    all
}

async fn tasks(hub: &Hub) -> Vec<Value> {
    let page = hub.get("/api/tasks?limit=100").await.json();
    let all = page["items"].as_array().cloned().unwrap_or_default();
    all.into_iter().filter(|task| task["skill"].as_str().is_some_and(|skill| skill.ends_with("/chat"))).collect()
}

#[tokio::test]
async fn an_event_starts_the_agent_and_its_answer_is_published() {
    let hub = hub("", "access: { tokens: [{ name: bob, token: t-bob, skills: [\"*\"] }] }\n").await;
    publish(&hub, None, "orders.old", "hello").await;
    publish(&hub, None, "orders.new.a.b", "hello").await;
    let only_bob = json!({"message_type": "event", "topic": "orders.new.x", "content": {"text": "hello"},
        "access_control": ["user:bob"]});
    assert_eq!(published(&hub, None, only_bob).await.status, 202);
    let id = publish(&hub, None, "orders.new.desk", "hello").await;
    let all = answers(&hub, 1).await;
    let answer = &all[0];
    assert_eq!(
        (&answer["content"]["status"], &answer["content"]["result"]),
        (&json!("success"), &json!("Good morning."))
    );
    assert_eq!((&answer["correlation_id"], &answer["from_agent"]), (&json!(id), &json!("ann")), "{answer}");
    assert_eq!(answer["by"], "owner>agent:ann", "{answer}");
    let runs = tasks(&hub).await;
    assert_eq!(runs.len(), 1, "other topics and events for others start nothing: {runs:?}");
    assert_eq!(runs[0]["id"], answer["content"]["task"]);

    let for_ann = json!({"message_id": "private", "message_type": "event", "topic": "orders.new.x",
        "content": {"text": "hello"}, "access_control": ["ann"]});
    assert_eq!(published(&hub, None, for_ann).await.status, 202);
    let answer = answers(&hub, 2).await.remove(1);
    assert_eq!(answer["correlation_id"], "private");
    let seen = send(&hub, Method::GET, "/api/messages?topic=orders.done", &[("authorization", "Bearer t-bob")], None);
    let seen = seen.await.json();
    assert_eq!(seen["items"].as_array().map(Vec::len), Some(1), "the answer to a private event is private: {seen}");
}

#[tokio::test]
async fn an_event_by_a2a_and_by_nlip_starts_it_as_well() {
    let hub = hub("", "").await;
    let ours = json!({"type": "event", "topic": "orders.new.a2a"});
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}],
        "metadata": {"urn:interlingua:hub:1": ours}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let bearer = format!("Bearer {}", hub.token().expect("a token"));
    let headers = [("authorization", bearer.as_str()), ("a2a-version", "1.0")];
    send(&hub, Method::POST, "/a2a", &headers, Some(body)).await;
    assert_eq!(answers(&hub, 1).await[0]["correlation_id"], "m1");
    let topic = json!({"publish": "orders.new.nlip", "content": {"text": "hello"}});
    let topic = json!({"format": "structured", "subformat": "json", "label": "interlingua-topic", "content": topic});
    let message = json!({"format": "text", "subformat": "english", "content": "", "submessages": [topic]});
    assert_eq!(hub.post_json("/nlip", &message).await.status, 200);
    assert_eq!(answers(&hub, 2).await[1]["content"]["result"], "Good morning.");
}

#[tokio::test]
async fn a_team_is_started_by_its_topic() {
    let lines = "replies: [{ again: true, call: [{ name: new_answer, arguments: { content: Ask again tomorrow. } }] }]";
    let config = "models: { canned: { provider: scripted, file: ./lines.yaml } }\nagents: { ann: { model: canned } }\n\
                  teams: { pair: { agents: [ann], skip_voting: true, ending: reuse, \
                  on: { topic: \"questions.**\", reply: orders.done } } }\n";
    let hub = support::builder().file("lines.yaml", lines).config(config).start().await;
    publish(&hub, None, "questions.a.b", "what now").await;
    let answer = answers(&hub, 1).await.remove(0);
    assert_eq!((&answer["from_agent"], &answer["by"]), (&json!("pair"), &json!("owner>agent:pair")), "{answer}");
    assert_eq!(answer["content"]["result"], "Ask again tomorrow.", "{answer}");
}

#[tokio::test]
async fn attack_an_event_gives_its_publisher_no_right_that_they_lack() {
    let tokens = "access: { tokens: [{ name: all, token: t-all, skills: [\"*\"] }, \
                  { name: talks, token: t-talks, skills: [\"ann/*\"] }, { name: none, token: t-none, skills: [\"hub/echo\"] }] }\n";
    let hub = hub("", tokens).await;
    publish(&hub, Some("t-none"), "orders.new.a", "write it down").await;
    logged(&hub, &["topic_run_refused", "user:none"]).await;
    publish(&hub, Some("t-talks"), "orders.new.b", "write it down").await;
    let answer = answers(&hub, 1).await.remove(0);
    assert_eq!(answer["by"], "user:talks>agent:ann", "{answer}");
    assert_eq!(notes(&hub), 0, "who may talk to the agent may not use its tools");
    assert_eq!(tasks(&hub).await.len(), 1, "who may not talk to it starts nothing");
    publish(&hub, Some("t-all"), "orders.new.c", "write it down").await;
    assert_eq!(answers(&hub, 2).await[1]["content"]["result"], "It is written.");
    assert_eq!(notes(&hub), 1);
}

#[tokio::test]
async fn attack_nobody_publishes_in_the_name_of_another() {
    let hub = hub("", "access: { tokens: [{ name: bob, token: t-bob, skills: [\"ann/*\"] }] }\n").await;
    for from in ["owner", "user:ann", "agent:ann"] {
        let event = json!({"message_type": "event", "topic": "orders.new.a", "from_agent": from,
            "content": {"text": "write it down"}});
        assert_eq!(published(&hub, Some("t-bob"), event).await.status, 403, "{from}");
    }
    let owner = json!({"by": {"links": [{"subject": "HubOwner", "proof": "LocalSocket", "scopes": [], "until": null}]},
        "origin": "local"});
    let plain = json!({"message_type": "event", "topic": "orders.new.a",
        "content": {"text": "write it down", "sender": owner}});
    let mut beside = plain.clone();
    beside["sender"] = owner.clone();
    let mut within = plain;
    within["metadata"] = json!({"sender": owner, "by": "owner"});
    for (forged, count) in [(beside, 1), (within, 2)] {
        assert_eq!(published(&hub, Some("t-bob"), forged).await.status, 202);
        let answer = answers(&hub, count).await.remove(count - 1);
        assert_eq!(answer["by"], "user:bob>agent:ann", "what the message says of its sender is not read: {answer}");
    }
    assert_eq!(notes(&hub), 0);
    let anonymous = json!({"message_type": "event", "topic": "orders.new.a", "content": {"text": "hello"}});
    let sent = interlingua_testkit::post("/api/messages", "application/json", anonymous.to_string());
    let refused = hub.connect_anonymous().await.send(sent).await;
    assert_eq!(refused.status, 401, "{}", refused.text());
    assert_eq!(tasks(&hub).await.len(), 2);
}

#[tokio::test]
async fn attack_a_flood_of_events_starts_no_more_runs_than_its_publishers_rate() {
    let tokens = "access: { tokens: [{ name: mallory, token: t-m, skills: [\"ann/*\"] }, \
                  { name: bob, token: t-bob, skills: [\"ann/*\"] }] }\n";
    let hub = hub("rate: 5/h", tokens).await;
    for number in 0..40 {
        publish(&hub, Some("t-m"), &format!("orders.new.n{number}"), "hello").await;
    }
    publish(&hub, Some("t-bob"), "orders.new.bob", "hello").await;
    let all = answers(&hub, 6).await;
    let of = |name: &str| all.iter().filter(|answer| answer["by"] == format!("user:{name}>agent:ann")).count();
    assert_eq!((of("mallory"), of("bob")), (5, 1), "one publisher does not take the place of another");
    logged(&hub, &["topic_event_dropped", "reason=\"rate\""]).await;
    assert_eq!(tasks(&hub).await.len(), 6);
}

#[tokio::test]
async fn attack_agents_that_answer_each_other_stop_after_eight_runs() {
    let config = "models: { canned: { provider: scripted, file: ./lines.yaml } }\nlimits: { rate: 10000/s }\n\
                  agents:\n  ping: { model: canned, skills: [\"ping/*\", \"pong/*\"], on: { topic: ping, reply: pong } }\n  \
                  pong: { model: canned, skills: [\"ping/*\", \"pong/*\"], on: { topic: pong, reply: ping } }\n";
    let lines = "replies: [{ again: true, say: And again. }]";
    let hub = support::builder().file("lines.yaml", lines).config(config).start().await;
    publish(&hub, None, "ping", "hello").await;
    logged(&hub, &["topic_event_dropped", "reason=\"loop\""]).await;
    assert_eq!(tasks(&hub).await.len(), 8);
    let last = said(&hub, "ping").await.pop().expect("an event");
    assert_eq!(last["by"], format!("owner{}", ">agent:ping>agent:pong".repeat(4)), "every agent on the way is a link");
}

#[tokio::test]
async fn attack_an_agent_that_may_not_ask_another_does_not_start_it_by_a_topic() {
    let config = "models: { canned: { provider: scripted, file: ./lines.yaml } }\n\
                  agents:\n  ping: { model: canned, on: { topic: ping, reply: pong } }\n  \
                  pong: { model: canned, on: { topic: pong, reply: end } }\n";
    let lines = "replies: [{ again: true, say: And again. }]";
    let hub = support::builder().file("lines.yaml", lines).config(config).start().await;
    publish(&hub, None, "ping", "hello").await;
    logged(&hub, &["topic_run_refused", "agent=pong"]).await;
    assert_eq!(tasks(&hub).await.len(), 1, "the Owner may, but the agent on the way may not");
}

#[tokio::test]
async fn what_needs_an_approval_waits_for_one() {
    let tokens = "access: { tokens: [{ name: bob, token: t-bob, skills: [\"*\"] }] }\n";
    let hub = hub_with("0", &config("", tokens).replace("writes: allow", "writes: ask")).await;
    publish(&hub, Some("t-bob"), "orders.new.a", "write it down").await;
    let mut pending = Value::Null;
    until("the question", async || {
        pending = hub.get("/api/confirmations").await.json()["items"][0].clone();
        pending["id"].is_string()
    })
    .await;
    assert_eq!(notes(&hub), 0, "nothing happens before the approval");
    assert!(said(&hub, "orders.done").await.is_empty());
    let id = pending["id"].as_str().expect("an id");
    let approved = hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    assert!(approved.status < 300, "{}", approved.text());
    assert_eq!(answers(&hub, 1).await[0]["content"]["result"], "It is written.");
    assert_eq!(notes(&hub), 1);
}

#[tokio::test]
async fn a_hub_that_is_killed_during_a_run_does_its_work_once_and_publishes_its_answer_once() {
    let mut hub = hub_with("30", &config("", "")).await;
    publish(&hub, None, "orders.new.a", "write it down").await;
    until("the tool runs", async || notes(&hub) == 1).await;
    hub.kill_9();
    hub.restart().await;
    let answer = answers(&hub, 1).await.remove(0);
    assert_eq!(answer["content"]["result"], "It may be written.", "{answer}");
    assert_eq!(notes(&hub), 1);
    hub.restart().await;
    publish(&hub, None, "orders.new.b", "hello").await;
    assert_eq!(answers(&hub, 2).await[1]["content"]["result"], "Good morning.");
    assert_eq!((tasks(&hub).await.len(), notes(&hub)), (2, 1), "an event that is done starts nothing after a restart");
}

#[tokio::test]
async fn events_that_waited_when_the_hub_was_killed_are_done_afterwards() {
    let mut hub = hub_with("30", &config("runs: 1", "")).await;
    publish(&hub, None, "orders.new.a", "write it down").await;
    until("the tool runs", async || notes(&hub) == 1).await;
    for number in 0..3 {
        publish(&hub, None, &format!("orders.new.n{number}"), "hello").await;
    }
    assert_eq!(tasks(&hub).await.len(), 1, "one at a time");
    hub.kill_9();
    hub.restart().await;
    let all = answers(&hub, 4).await;
    let results: Vec<&str> = all.iter().filter_map(|answer| answer["content"]["result"].as_str()).collect();
    assert_eq!(results, ["It may be written.", "Good morning.", "Good morning.", "Good morning."]);
    assert_eq!(tasks(&hub).await.len(), 4);
}

/// The first answer of the model breaks off, the second does not.
const BROKEN: &str = r#"
replies:
  - events: [{ text: "Good " }, { fail: { status: 500 } }]
  - { say: Good evening. }
"#;

#[tokio::test]
async fn a_run_that_failed_is_repeated_only_where_that_does_no_harm() {
    for (on, status, result, runs) in
        [("idempotent: true", "success", json!("Good evening."), 2), ("idempotent: false", "error", Value::Null, 1)]
    {
        let builder = support::builder().file("lines.yaml", BROKEN);
        let config = config(on, "").replace("tools: { directory: ./tools }\n", "");
        let hub = builder.config(&config).start().await;
        publish(&hub, None, "orders.new.a", "hello").await;
        let answer = answers(&hub, 1).await.remove(0);
        assert_eq!((&answer["content"]["status"], &answer["content"]["result"]), (&json!(status), &result), "{answer}");
        assert_eq!(tasks(&hub).await.len(), runs, "{on}");
    }
}

#[tokio::test]
async fn another_topic_holds_after_a_reload_and_runs_in_progress_are_answered() {
    let mut hub = hub_with("2", &config("", "")).await;
    publish(&hub, None, "orders.new.a", "write it down").await;
    until("the tool runs", async || notes(&hub) == 1).await;
    hub.write("interlingua.yaml", config("", "").replace("orders.new.*", "orders.urgent"));
    hub.reload();
    logged(&hub, &["config_applied"]).await;
    assert_eq!(answers(&hub, 1).await[0]["content"]["result"], "It is written.");
    publish(&hub, None, "orders.new.b", "hello").await;
    let id = publish(&hub, None, "orders.urgent", "hello").await;
    assert_eq!(answers(&hub, 2).await[1]["correlation_id"], json!(id));
    assert_eq!(tasks(&hub).await.len(), 2);
    reaches(&hub, tasks(&hub).await[0]["id"].as_str().expect("an id"), "completed").await;
}

#[tokio::test]
async fn an_agent_that_its_own_answers_would_start_is_refused() {
    let config = config("", "").replace("orders.new.*", "\"orders.**\"");
    let (_, text) = support::builder().file("lines.yaml", LINES).config(&config).refused().await;
    assert!(text.contains("its own answers would start it"), "{text}");
}
