//! The example of the document that asked for this system, over the real wire.

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{Working, flight, found, hotel, post, register, request, wanted};
use crate::support::{hub, reaches, start, until};

const ANSWER: &str = "status";

async fn travel() -> Hub {
    let hub = hub("").await;
    register(&hub, flight()).await;
    register(&hub, hotel()).await;
    hub
}

#[tokio::test]
async fn a_50_the_flight_agent_asks_the_hotel_agent_and_hears_the_same_over_a2a() {
    let hub = travel().await;
    let found_by = hub.get("/api/agents?capability=search_hotels").await.json();
    assert_eq!(found_by["items"].as_array().map(Vec::len), Some(1), "{found_by}");
    let card = &found_by["items"][0];
    assert_eq!((&card["agent_id"], &card["owner"]), (&json!("agent_hotel"), &json!("TravelCo")));

    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let content = json!({"status": "success", "result": found()});
    let (answer, asked) = tokio::join!(post(&hub, request("m-1")), agent.answer_next(&hub, content.clone()));
    assert_eq!(asked["message_type"], "request");
    assert_eq!((&asked["from_agent"], &asked["to_agent"]), (&json!("agent_flight"), &json!("agent_hotel")));
    assert_eq!((&asked["capability"], &asked["content"]), (&json!("search_hotels"), &wanted()));
    assert_eq!((&asked["correlation_id"], &asked["priority"]), (&json!("m-1"), &json!(5)));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let response = answer.json();
    assert_eq!(response["message_type"], "response");
    assert_eq!((&response["from_agent"], &response["to_agent"]), (&json!("agent_hotel"), &json!("agent_flight")));
    assert_eq!((&response["correlation_id"], &response["content"]), (&json!("m-1"), &content), "{response}");

    // The same exchange as any A2A client has it.
    let ours = json!({"urn:interlingua:hub:1": {"skill": "search_hotels", "priority": 8}});
    let part = json!({"data": wanted(), "mediaType": "application/json"});
    let message = json!({"messageId": "m-2", "role": "ROLE_USER", "parts": [part], "metadata": ours});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let headers = [("a2a-version", "1.0")];
    let sending = crate::support::send(&hub, http::Method::POST, "/agents/agent_hotel/a2a", &headers, Some(call));
    let (answer, asked) = tokio::join!(sending, agent.answer_next(&hub, content));
    assert_eq!((&asked["content"], &asked["priority"]), (&wanted(), &json!(8)));
    assert_eq!(asked["from_agent"], "owner", "who asks is proven, not said");
    let task = &answer.json()["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{}", answer.text());
    assert!(task["artifacts"].to_string().contains("Hotel Paris"), "{task}");
    let data = data_of(task);
    assert_eq!(data, json!({"hotels": found()}), "as its schema promised");
}

/// The data of a task's artifacts.
fn data_of(task: &Value) -> Value {
    let artifacts = task["artifacts"].as_array().into_iter().flatten();
    let mut parts = artifacts.flat_map(|artifact| artifact["parts"].as_array().into_iter().flatten());
    parts.find_map(|part| part.get("data").filter(|data| data.is_object())).cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_50_an_agent_that_fetches_its_messages_is_there_for_every_protocol() {
    let hub = travel().await;
    let card = hub.get("/agents/agent_hotel/.well-known/agent-card.json").await.json();
    assert_eq!((&card["name"], &card["skills"][0]["id"]), (&json!("Hotel Expert"), &json!("search_hotels")), "{card}");
    assert_eq!(card["provider"]["organization"], "TravelCo");
    let params = &card["capabilities"]["extensions"][0]["params"]["skills"]["search_hotels"];
    assert_eq!(params["inputSchema"]["required"], json!(["location", "checkin"]), "{params}");

    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let call = json!({"skill": "agent_hotel/search_hotels", "arguments": wanted()});
    let content = json!({ANSWER: "error", "error": "fully booked"});
    let (answer, _) = tokio::join!(hub.post_json("/api/exchanges", &call), agent.answer_next(&hub, content));
    assert_eq!(answer.json()["finished"]["fault"]["message"], "fully booked", "{}", answer.text());

    let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let accept = [("accept", "application/json, text/event-stream")];
    let begun = crate::support::send(&hub, http::Method::POST, "/agents/agent_hotel/mcp", &accept, Some(mcp)).await;
    let session = begun.header("mcp-session-id").expect("a session").to_owned();
    let headers = [accept[0], ("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let tools = crate::support::send(&hub, http::Method::POST, "/agents/agent_hotel/mcp", &headers, Some(list)).await;
    assert!(tools.text().contains("search_hotels"), "{}", tools.text());
}

#[tokio::test]
async fn a_50_the_example_in_python_runs_as_it_stands() {
    let hub = hub("").await;
    let said =
        interlingua_testkit::run_script_as(hub.token(), "../examples/agents/flight_and_hotel.py", &[&hub.url("")])
            .await;
    let expected = r#""result": [{"name": "Hotel Paris", "price_per_night": 180}]"#;
    assert!(said.contains("found: agent_hotel") && said.contains(expected), "{said}");
}

#[tokio::test]
async fn a_request_survives_a_crash_of_the_hub_and_is_answered_after_it() {
    let mut hub = travel().await;
    let task = start(&hub, json!({"skill": "agent_hotel/search_hotels", "arguments": wanted()})).await;
    until("a request that waits", async || {
        hub.get("/api/messages?agent=agent_hotel").await.json()["items"][0]["message_id"] == task.as_str()
    })
    .await;
    hub.kill_9();
    hub.restart().await;
    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let asked = agent.answer_next(&hub, json!({ANSWER: "success", "result": found()})).await;
    assert_eq!(asked["message_id"], task.as_str());
    let done = reaches(&hub, &task, "completed").await;
    assert_eq!(done["finished"]["structured"], json!({"hotels": found()}), "{done}");
    let twice = agent.answer(&hub, &asked, json!({})).await;
    assert_eq!(twice.status, 409, "answered once: {}", twice.text());
}
