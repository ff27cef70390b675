//! The agent's task and ours: cancelled together, added to, and found again after the hub was killed.

use super::*;

/// Works until it is cancelled; what it is told meanwhile is remembered.
async fn working(card: Value) -> Agent {
    Agent::start(card, |heard| match method(heard).as_str() {
        "SendStreamingMessage" | "SubscribeToTask" => {
            let mut pieces = stream(&[
                json!({"task": task("WORKING")}),
                saying("WORKING", "w", "busy"),
                artifact("one ", false, false),
            ]);
            pieces.push(Piece::Until(Arc::new(tokio::sync::Notify::new())));
            Say::Stream(pieces)
        }
        "CancelTask" => Say::Json(result(task("CANCELED"))),
        _ => Say::Json(result(json!({"task": task("WORKING")}))),
    })
    .await
}

/// Something of it has been written down.
async fn is_busy(hub: &Hub, id: &str) {
    until("a task that is busy", async || hub.get(&format!("/api/tasks/{id}")).await.text().contains("page")).await;
}

#[tokio::test]
async fn a_13_a_cancel_reaches_the_agent_by_its_own_id() {
    let agent = working(card()).await;
    let hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    is_busy(&hub, &id).await;
    signal(&hub, &id, json!({"cancel": true})).await;
    let ended = reaches(&hub, &id, "cancelled").await;
    assert_eq!(ended["finished"]["cancelled_by"], "caller", "{ended}");
    let asked = agent.heard().into_iter().find(|heard| method(heard) == "CancelTask").expect("a cancel");
    assert_eq!(asked.json()["params"]["id"], "t1");
}

/// `CancelTask` is answered by how the task ended: one that ended otherwise was not cancelled.
#[tokio::test]
async fn a_13_a_task_that_ends_all_the_same_was_not_cancelled_and_the_client_is_told() {
    let agent = Agent::start(card(), |heard| match method(heard).as_str() {
        "SendStreamingMessage" | "SubscribeToTask" => {
            let mut pieces = stream(&[json!({"task": task("WORKING")}), artifact("one ", false, false)]);
            pieces.push(Piece::Until(Arc::new(tokio::sync::Notify::new())));
            Say::Stream(pieces)
        }
        _ => Say::Json(result(task("COMPLETED"))),
    })
    .await;
    let hub = agent.hub().await;
    let call = async |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let headers = [("a2a-version", "1.0")];
        crate::support::send(&hub, http::Method::POST, "/agents/agent/a2a", &headers, Some(body)).await.json()
    };
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
    let sent = call("SendMessage", json!({"message": message, "configuration": {"returnImmediately": true}})).await;
    let named = json!({"id": sent["result"]["task"]["id"]});
    let state = async || call("GetTask", named.clone()).await["result"]["status"]["state"].clone();
    agent.is_asked("SendStreamingMessage").await;
    until("it works", async || state().await == "TASK_STATE_WORKING").await;
    let answer = call("CancelTask", named.clone()).await;
    assert_eq!((&answer["error"]["code"], state().await), (&json!(-32002), json!("TASK_STATE_COMPLETED")), "{answer}");
}

#[tokio::test]
async fn a_deadline_that_passes_is_told_to_the_agent() {
    let agent = working(card()).await;
    let hub = agent.hub().await;
    let body = json!({"skill": "agent/chat", "text": "x", "deadline": "1s"});
    let answer = hub.post_json("/api/exchanges", &body).await.json();
    assert_eq!(fault(&answer), "deadline", "{answer}");
    agent.is_asked("CancelTask").await;
}

#[tokio::test]
async fn a_caller_that_leaves_is_told_to_the_agent() {
    let agent = working(card()).await;
    let hub = agent.hub().await;
    let body = json!({"skill": "agent/chat", "text": "x"});
    let headers = [("accept", "text/event-stream")];
    let (connection, mut events) =
        crate::support::streaming(&hub, http::Method::POST, "/api/exchanges", &headers, Some(body)).await;
    while let Some(event) = events.next().await {
        if event.contains("busy") {
            break;
        }
    }
    drop((events, connection));
    agent.is_asked("CancelTask").await;
}

#[tokio::test]
async fn more_input_goes_to_the_agents_task() {
    let agent = working(card()).await;
    let hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    is_busy(&hub, &id).await;
    signal(&hub, &id, json!({"say": {"text": "and hurry"}})).await;
    agent.is_asked("SendMessage").await;
    let heard = agent.heard().into_iter().find(|heard| method(heard) == "SendMessage").expect("a message");
    let message = &heard.json()["params"]["message"];
    assert_eq!((&message["taskId"], &message["parts"][0]["text"]), (&json!("t1"), &json!("and hurry")));
}

#[tokio::test]
async fn a_47_a_hub_that_was_killed_takes_the_agents_task_up_again() {
    let restarted = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let again = restarted.clone();
    let agent = Agent::start(card(), move |heard| match method(heard).as_str() {
        "SendStreamingMessage" => {
            let mut pieces = stream(&[json!({"task": task("WORKING")}), artifact("one ", false, false)]);
            pieces.push(Piece::Until(Arc::new(tokio::sync::Notify::new())));
            Say::Stream(pieces)
        }
        "SubscribeToTask" if again.load(std::sync::atomic::Ordering::SeqCst) => {
            let mut whole = task("WORKING");
            whole["artifacts"] =
                json!([{"artifactId": "page", "name": "page", "parts": [{"text": "one "}, {"text": "two"}]}]);
            Say::Stream(stream(&[json!({"task": whole}), status("COMPLETED")]))
        }
        other => panic!("{other} was not needed"),
    })
    .await;
    let mut hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    until("an artifact", async || hub.get(&format!("/api/tasks/{id}")).await.text().contains("page")).await;
    hub.kill_9();
    restarted.store(true, std::sync::atomic::Ordering::SeqCst);
    hub.restart().await;
    let done = reaches(&hub, &id, "completed").await;
    assert_eq!(done["finished"]["artifacts"], json!(["page"]), "{done}");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SubscribeToTask"], "it was not sent again");
}

#[tokio::test]
async fn a_hub_that_is_stopped_leaves_the_agents_task_alone() {
    let agent = working(card()).await;
    let mut hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    is_busy(&hub, &id).await;
    hub.stop().await;
    assert!(!agent.methods().contains(&"CancelTask".to_owned()), "{:?}", agent.methods());
    hub.restart().await;
    agent.is_asked("SubscribeToTask").await;
    signal(&hub, &id, json!({"cancel": true})).await;
    reaches(&hub, &id, "cancelled").await;
}
