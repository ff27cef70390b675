//! Requests, queries and what belongs to them: order, several at once, progress, refusals.

use http::Method;
use serde_json::{Value, json};

use super::{Working, flight, found, hotel, post, register, request, wanted};
use crate::support::{events, hub, reaches, send, start, until};

fn to(agent: &str, capability: &str, id: &str) -> Value {
    json!({"message_id": id, "from_agent": "planner", "to_agent": agent, "message_type": "request",
        "capability": capability, "content": {}})
}

#[tokio::test]
async fn what_runs_inside_the_hub_is_called_at_once_and_answers_as_an_agent() {
    let hub = hub("").await;
    let answer = post(&hub, to("local", "steps", "m-1")).await.json();
    assert_eq!(answer["content"], json!({"status": "success", "result": {"counted": 2}}), "{answer}");
    assert_eq!((&answer["from_agent"], &answer["to_agent"]), (&json!("local"), &json!("planner")));
    assert_eq!(answer["correlation_id"], "m-1");
    let failed = post(&hub, to("local", "fails", "m-2")).await;
    assert_eq!(failed.status, 200, "{}", failed.text());
    assert_eq!(failed.json()["content"]["status"], "error");
    assert!(failed.json()["content"]["error"].as_str().is_some_and(|text| text.contains("out of paper")));
    let anyone = json!({"message_type": "request", "capability": "steps", "content": {}});
    assert_eq!(post(&hub, anyone).await.json()["from_agent"], "local", "whoever offers it");
    let pending =
        json!({"message_type": "request", "to_agent": "local", "capability": "erase", "content": {"what": "all"}});
    let pending = post(&hub, pending).await.json();
    assert_eq!(pending["content"]["status"], "pending", "{pending}");
    let task = pending["metadata"]["task"].as_str().expect("it is kept");
    assert_eq!(pending["content"]["question"]["task"], task);
}

#[tokio::test]
async fn the_most_urgent_request_is_shown_first() {
    let hub = hub("").await;
    register(&hub, hotel()).await;
    for (id, priority) in [("low", 1), ("normal", 5), ("urgent", 10)] {
        let event = json!({"message_id": id, "from_agent": "planner", "to_agent": "agent_hotel",
            "message_type": "event", "content": {"id": id}, "priority": priority});
        assert_eq!(post(&hub, event).await.status, 202);
    }
    let waiting = hub.get("/api/messages?agent=agent_hotel").await.json();
    let order: Vec<&Value> =
        waiting["items"].as_array().into_iter().flatten().map(|item| &item["content"]["id"]).collect();
    assert_eq!(order, ["urgent", "normal", "low"], "{waiting}");
    assert_eq!(hub.get("/api/agents/agent_hotel").await.json()["waiting"], 3);
    let mut agent = Working::begin(&hub, "agent_hotel").await;
    assert_eq!(agent.next().await["correlation_id"], "urgent");
    for item in waiting["items"].as_array().into_iter().flatten() {
        let path = format!("/api/messages/{}?agent=agent_hotel", item["message_id"].as_str().unwrap_or_default());
        assert_eq!(send(&hub, Method::DELETE, &path, &[], None).await.status, 204);
    }
    assert_eq!(hub.get("/api/agents/agent_hotel").await.json()["waiting"], 0);
}

#[tokio::test]
async fn one_message_to_several_is_answered_by_each_and_a_failure_stops_nobody() {
    let hub = hub("").await;
    register(&hub, hotel()).await;
    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let mut message = request("m-1");
    message["to_agents"] = json!(["local", "nobody"]);
    let (answer, _) =
        tokio::join!(post(&hub, message), agent.answer_next(&hub, json!({"status": "success", "result": found()})));
    let answers = answer.json();
    let told: Vec<(&Value, &Value, &Value)> = (answers.as_array().into_iter().flatten())
        .map(|answer| (&answer["from_agent"], &answer["content"]["status"], &answer["correlation_id"]))
        .collect();
    let (ok, error, id) = (json!("success"), json!("error"), json!("m-1"));
    let (hotel, local, nobody) = (json!("agent_hotel"), json!("local"), json!("nobody"));
    assert_eq!(told, [(&hotel, &ok, &id), (&local, &error, &id), (&nobody, &error, &id)], "{answers}");

    // A batch, each answer when it is there.
    let batch =
        json!([to("local", "steps", "a"), to("local", "nothing", "b"), {"message_type": "event", "content": {}}]);
    let streamed = send(&hub, Method::POST, "/api/messages", &[("accept", "text/event-stream")], Some(batch)).await;
    let mut seen: Vec<(String, String)> = events(&streamed.text())
        .into_iter()
        .map(|(name, _, data)| (name, data["content"]["status"].as_str().unwrap_or_default().to_owned()))
        .collect();
    seen.sort();
    let response = |status: &str| ("response".to_owned(), status.to_owned());
    assert_eq!(seen, [response("error"), response("error"), response("success")], "{}", streamed.text());
    let many: Vec<Value> = (0..101).map(|number| to("local", "steps", &number.to_string())).collect();
    assert_eq!(post(&hub, json!(many)).await.status, 413);
}

#[tokio::test]
async fn an_agent_tells_of_its_progress_and_shares_what_it_made_before_it_answers() {
    let hub = hub("").await;
    register(&hub, hotel()).await;
    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let task = start(&hub, json!({"skill": "agent_hotel/search_hotels", "arguments": wanted()})).await;
    let asked = agent.next().await;
    for (kind, content) in [
        ("event", json!({"done": 1, "total": 2, "note": "half"})),
        ("artifact", json!({"artifact_id": "list", "name": "hotels.txt", "content": "Hotel Paris"})),
    ] {
        let message = json!({"from_agent": "agent_hotel", "message_type": kind, "content": content,
            "correlation_id": asked["message_id"]});
        assert_eq!(post(&hub, message).await.status, 202);
    }
    agent.answer(&hub, &asked, json!({"hotels": []})).await;
    reaches(&hub, &task, "completed").await;
    let told = hub.get(&format!("/api/tasks/{task}/events")).await.json();
    let names: Vec<&str> =
        told["items"].as_array().into_iter().flatten().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names, ["started", "progress", "artifact", "finished"], "{told}");
    let artifact = &told["items"][2]["data"];
    assert_eq!((&artifact["artifact"], &artifact["parts"][0]["text"]), (&json!("list"), &json!("Hotel Paris")));
}

#[tokio::test]
async fn a_request_whose_sender_leaves_is_withdrawn() {
    let hub = hub("").await;
    register(&hub, hotel()).await;
    let task = start(&hub, json!({"skill": "agent_hotel/search_hotels", "arguments": wanted()})).await;
    reaches(&hub, &task, "running").await;
    assert_eq!(send(&hub, Method::DELETE, &format!("/api/tasks/{task}"), &[], None).await.status, 204);
    reaches(&hub, &task, "cancelled").await;
    until("an empty inbox", async || hub.get("/api/messages?agent=agent_hotel").await.json()["items"] == json!([]))
        .await;
}

#[tokio::test]
async fn the_same_message_is_one_request_however_often_it_is_sent() {
    let hub = hub("").await;
    register(&hub, flight()).await;
    register(&hub, hotel()).await;
    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let content = json!({"status": "success", "result": found()});
    let (first, _) = tokio::join!(post(&hub, request("m-1")), agent.answer_next(&hub, content));
    let again = post(&hub, request("m-1")).await;
    assert_eq!(again.json()["content"], first.json()["content"], "replayed, not asked again: {}", again.text());
    let mut other = request("m-1");
    other["content"]["location"] = "Rome".into();
    assert_eq!(post(&hub, other).await.status, 409);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_by_name_and_nothing_waits() {
    let hub = hub("").await;
    register(&hub, hotel()).await;
    let with = |key: &str, value: Value| {
        let mut message = request("m");
        message[key] = value;
        message
    };
    for (message, status) in [
        (with("priority", json!(0)), 422),
        (with("priority", json!(11)), 422),
        (with("content", json!([])), 422),
        (with("content", json!({"location": "Paris"})), 422),
        (with("metadata", json!([])), 422),
        (with("message_type", json!("order")), 422),
        (with("message_id", json!("")), 422),
        (with("capability", json!("book_hotel")), 404),
        (with("to_agent", json!("nobody")), 404),
        (with("topic", json!("a b")), 422),
        (json!({"message_type": "request", "content": {}}), 422),
        (json!({"message_type": "event", "content": {}}), 422),
        (json!({"message_type": "response", "from_agent": "agent_hotel", "content": {}}), 422),
        (json!({"message_type": "response", "from_agent": "agent_hotel", "content": {}, "correlation_id": "x"}), 404),
        (json!({"message_type": "response", "from_agent": "local", "content": {}, "correlation_id": "x"}), 404),
        (json!({"from_agent": "x", "content": {}}), 422),
    ] {
        let answer = post(&hub, message.clone()).await;
        assert_eq!(answer.status, status, "{message}: {}", answer.text());
        assert!(answer.json()["error"]["message"].is_string(), "{}", answer.text());
    }
    assert_eq!(hub.post("/api/messages", "application/json", "{").await.status, 400);
    assert_eq!(hub.get("/api/messages?agent=agent_hotel").await.json()["items"], json!([]));
    assert_eq!(hub.get("/api/messages").await.status, 422);
}
