//! An A2A agent called by clients of other protocols: its reports, artifacts and questions reach them in their own protocol.

use super::*;
use crate::mcp::{Modern, last_message, messages};

/// Looks, makes an artifact, and asks before it ends when it is told to book.
async fn hotels() -> Agent {
    Agent::start(card(), |heard| {
        let said = &heard.json()["params"]["message"];
        let text = said["parts"][0]["text"].as_str().unwrap_or_default().to_owned();
        match (method(heard).as_str(), said["taskId"].as_str()) {
            ("SendStreamingMessage", None) if text == "book" => {
                Say::Stream(stream(&[json!({"task": task("WORKING")}), saying("INPUT_REQUIRED", "q1", "Which dates?")]))
            }
            ("SendStreamingMessage", None) => Say::Stream(stream(&[
                json!({"task": task("WORKING")}),
                saying("WORKING", "w1", "looking"),
                artifact("The Grand", false, true),
                status("COMPLETED"),
            ])),
            ("SendStreamingMessage", Some("t1")) => {
                let words = format!("booked for {text}");
                Say::Stream(stream(&[status("WORKING"), artifact(&words, false, true), status("COMPLETED")]))
            }
            other => panic!("{other:?} was not needed"),
        }
    })
    .await
}

#[tokio::test]
async fn a_49_an_mcp_client_has_progress_and_artifacts_of_an_agent() {
    let agent = hotels().await;
    let hub = agent.hub().await;
    let call = json!({"name": "agent__find", "arguments": {"message": "in Oslo"}});
    let mut body = Modern::new(&hub).body("tools/call", call);
    body["params"]["_meta"]["progressToken"] = "p1".into();
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", crate::mcp::MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "agent__find"),
    ];
    let answer = crate::support::send(&hub, http::Method::POST, "/mcp", &headers, Some(body)).await;
    let told = messages(&answer);
    assert!(told.iter().any(|message| message["params"]["message"] == "looking"), "{}", answer.text());
    let result = &last_message(&answer)["result"];
    assert_eq!(result["content"][0]["text"], "The Grand", "{result}");
}

#[tokio::test]
async fn a_49_an_mcp_client_that_knows_tasks_has_the_task_of_an_agent() {
    let go_on = std::sync::Arc::new(tokio::sync::Notify::new());
    let told = go_on.clone();
    let agent = Agent::start(card(), move |_| {
        let mut slow = stream(&[json!({"task": task("WORKING")}), saying("WORKING", "w1", "looking")]);
        slow.push(interlingua_testkit::Piece::Until(told.clone()));
        slow.extend(stream(&[artifact("The Grand", false, true), status("COMPLETED")]));
        Say::Stream(slow)
    })
    .await;
    let hub = agent.hub().await;
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let client = Modern { capabilities, ..Modern::new(&hub) };
    let receipt = client.call("agent__find", json!({"message": "in Oslo"})).await;
    assert_eq!((&receipt["resultType"], &receipt["status"]), (&json!("task"), &json!("working")), "{receipt}");
    let id = receipt["taskId"].as_str().expect("an id").to_owned();
    go_on.notify_one();
    let get = async || client.result("tasks/get", json!({"taskId": id})).await;
    crate::support::until("it is done", async || get().await["status"] == "completed").await;
    let done = get().await;
    assert_eq!(done["result"]["content"][0]["text"], "The Grand", "{done}");
    let kept = crate::support::reaches(&hub, &id, "completed").await;
    assert_eq!(kept["id"], id.as_str(), "the hub's task is under the same id: {kept}");
}

#[tokio::test]
async fn a_49_an_mcp_client_is_asked_what_an_agent_asks_and_its_answer_goes_back() {
    let agent = hotels().await;
    let hub = agent.hub().await;
    let client = Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(&hub) };
    let asked = client.call("agent__chat", json!({"message": "book"})).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().expect("requests");
    let (name, request) = requests.iter().next().expect("a request");
    assert_eq!(request["params"]["message"], "Which dates?");
    let field = request["params"]["requestedSchema"]["required"][0].as_str().expect("a field");
    let again = json!({
        "name": "agent__chat", "arguments": {"message": "book"}, "requestState": asked["requestState"],
        "inputResponses": {name.as_str(): {"action": "accept", "content": {field: "May 1"}}},
    });
    let done = client.result("tools/call", again).await;
    assert_eq!(done["content"][0]["text"], "booked for May 1", "{done}");
    assert_eq!(agent.heard().len(), 2, "one call, one answer");
}

#[tokio::test]
async fn a_49_an_nlip_client_speaks_with_an_agent_and_answers_its_question() {
    let agent = hotels().await;
    let hub = agent.hub().await;
    let text = |content: &str| json!({"format": "text", "subformat": "english", "content": content});
    let found = hub.post_json("/agents/agent/nlip", &text("in Oslo")).await.json();
    assert!(found.to_string().contains("The Grand"), "{found}");
    let asked = hub.post_json("/agents/agent/nlip", &text("book")).await.json();
    assert!(asked["content"].as_str().is_some_and(|content| content.contains("Which dates?")), "{asked}");
    let submessages = asked["submessages"].as_array().into_iter().flatten();
    let tokens: Vec<Value> = submessages.filter(|one| one["format"] == "token").cloned().collect();
    let mut answer = text("May 1");
    answer["submessages"] = tokens.into();
    let done = hub.post_json("/agents/agent/nlip", &answer).await.json();
    assert!(done.to_string().contains("booked for May 1"), "{done}");
}

#[tokio::test]
async fn a_49_an_a2a_client_has_the_agents_task_as_one_of_the_hubs() {
    let agent = hotels().await;
    let hub = agent.hub().await;
    let send = |message: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": message}});
        let hub = &hub;
        async move {
            let headers = [("a2a-version", "1.0")];
            let answer = crate::support::send(hub, http::Method::POST, "/agents/agent/a2a", &headers, Some(body)).await;
            answer.json()["result"]["task"].clone()
        }
    };
    let said = |id: &str, text: &str| json!({"messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }]});
    let found = send(said("1", "in Oslo")).await;
    assert_eq!(found["status"]["state"], "TASK_STATE_COMPLETED", "{found}");
    assert_eq!(found["artifacts"][0]["parts"][0]["text"], "The Grand", "{found}");
    let asked = send(said("2", "book")).await;
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{asked}");
    assert_ne!(asked["id"], "t1", "a task of the hub's own");
    let mut answer = said("3", "May 1");
    answer["taskId"] = asked["id"].clone();
    let done = send(answer).await;
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], "booked for May 1", "{done}");
    assert_eq!(done["id"], asked["id"]);
}

/// An event for one agent, sent through the hub; the message that the agent heard, and the task that it was.
async fn told_of_an_event(card: Value) -> (Value, Value) {
    let agent = Agent::start(card, |_| Say::Json(result(message("noted")))).await;
    let hub = agent.hub().await;
    let event = json!({"message_id": "e-1", "from_agent": "planner", "to_agent": "agent", "capability": "chat",
        "message_type": "event", "content": {"message": "the flight is late"}});
    let taken = hub.post_json("/api/messages", &event).await;
    assert_eq!(taken.status, 202, "{}", taken.text());
    let task = taken.json()["content"]["task"].as_str().expect("a task").to_owned();
    let done = reaches(&hub, &task, "completed").await;
    (agent.heard()[0].json()["params"]["message"].clone(), done)
}

#[tokio::test]
async fn an_event_for_an_agent_that_knows_the_hubs_extension_is_marked_as_one() {
    let mut card = card();
    card["capabilities"]["extensions"] = json!([{"uri": OURS}]);
    let (heard, done) = told_of_an_event(card).await;
    assert_eq!(heard["parts"], json!([{"text": "the flight is late"}]), "{heard}");
    let ours = &heard["metadata"][OURS];
    assert_eq!((&ours["type"], &ours["from"]), (&json!("event"), &json!("planner")), "{heard}");
    assert_eq!(ours["correlationId"], "e-1", "{heard}");
    assert_eq!(heard["extensions"], json!([OURS]), "{heard}");
    assert_eq!(lost(&done), [""; 0], "{done}");
}

#[tokio::test]
async fn an_event_for_any_other_agent_is_a_message_and_the_loss_is_told() {
    let (heard, done) = told_of_an_event(card()).await;
    assert_eq!(heard["parts"], json!([{"text": "the flight is late"}]), "{heard}");
    assert_eq!(heard.get("metadata"), None, "{heard}");
    assert_eq!(lost(&done), ["call.kind"], "{done}");
}

const OURS: &str = "urn:interlingua:hub:1";

/// What a task says could not be carried.
fn lost(task: &Value) -> Vec<&str> {
    task["losses"].as_array().into_iter().flatten().filter_map(|loss| loss["what"].as_str()).collect()
}
