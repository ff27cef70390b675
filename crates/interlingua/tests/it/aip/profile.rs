//! The wider profile `aip-1`: fresh and pushed telemetry, log lines, ends from clients, resumed sessions.

use serde_json::{Value, json};

use super::{Client, commands, hub, task};
use crate::support::until;

fn wide(mut register: Value, instance: &str) -> Value {
    register["metadata"]["profile"] = json!("aip-1");
    register["metadata"]["instance"] = json!(instance);
    register
}

async fn both(hub: &interlingua_testkit::Hub) -> (Client, Client) {
    let device = Client::registered(hub, "/ws", wide(super::device("dev1"), "one")).await;
    let client = Client::registered(hub, "/aip/ws", super::constellation("gal@dev1", "dev1")).await;
    (device, client)
}

#[tokio::test]
async fn p_62_device_info_is_pulled_fresh_and_telemetry_is_pushed() {
    let hub = hub("").await;
    let (mut device, mut client) = both(&hub).await;
    client
        .say(json!({"type": "device_info_request", "status": "ok", "client_type": "constellation", "target_id": "dev1", "request_id": "r1"}))
        .await;
    let question = device.hear_a("device_info_request").await;
    device
        .say(json!({"type": "device_info_response", "status": "ok", "prev_response_id": question["response_id"],
                    "metadata": {"system_info": {"platform": "linux", "load": 0.5}}}))
        .await;
    let told = client.hear_a("device_info_response").await;
    assert_eq!((&told["response_id"], &told["result"]["load"]), (&json!("r1"), &json!(0.5)));
    device
        .say(
            json!({"type": "device_info_response", "status": "ok", "metadata": {"system_info": {"platform": "plan9"}}}),
        )
        .await;
    until("the card tells what was pushed", async || hub.get("/api/peers").await.text().contains("a device (plan9)"))
        .await;
}

#[tokio::test]
async fn p_62_log_lines_reach_who_asked_and_a_client_may_end_its_task() {
    let hub = hub("").await;
    let (mut device, mut client) = both(&hub).await;
    client.say(task("dev1", "s1", &json!([[{"tool_name": "a"}], [{"tool_name": "b"}]]).to_string())).await;
    client.hear_a("heartbeat").await;
    let command = device.hear_a("command").await;
    assert!(command["metadata"]["timeout_ms"].as_u64().is_some(), "a command carries its deadline: {command}");
    device
        .say(json!({"type": "command_results", "status": "continue", "session_id": "s1",
                    "prev_response_id": command["response_id"], "action_results": [{"status": "success"}],
                    "metadata": {"messages": ["first done"]}}))
        .await;
    let notes = client.hear_a("heartbeat").await;
    assert_eq!((&notes["session_id"], &notes["messages"]), (&json!("s1"), &json!(["first done"])));
    device.hear_a("command").await;
    client
        .say(json!({"type": "task_end", "status": "failed", "client_type": "constellation", "session_id": "s1"}))
        .await;
    assert_eq!(client.hear_a("task_end").await["status"], "failed");
    assert_eq!(device.hear_a("task_end").await["session_id"], "s1");
}

#[tokio::test]
async fn p_62_a_command_carries_its_deadline_and_is_cancelled_when_it_expires() {
    let hub = hub("").await;
    let mut device = Client::registered(&hub, "/ws", wide(super::device("dev1"), "one")).await;
    let call = json!({"skill": "dev1/do", "arguments": {"request": commands(&["ls"])}, "deadline": "1s"});
    let working = async {
        let command = device.hear_a("command").await;
        let left = command["metadata"]["timeout_ms"].as_u64().unwrap_or_else(|| panic!("no deadline: {command}"));
        assert!(left <= 1_000, "{command}");
        // It does not answer.
        let end = device.hear_a("task_end").await;
        assert_eq!((&end["session_id"], &end["status"]), (&command["session_id"], &json!("failed")), "{end}");
    };
    let (answer, ()) = tokio::join!(hub.post_json("/api/exchanges", &call), working);
    assert_eq!(answer.json()["finished"]["fault"]["kind"], "deadline", "{}", answer.text());
}

#[tokio::test]
async fn p_62_g6_a_device_that_comes_back_takes_its_session_up_and_nothing_is_done_twice() {
    let hub = hub("").await;
    let (mut device, mut client) = both(&hub).await;
    client.say(task("dev1", "s1", &json!([[{"tool_name": "a"}], [{"tool_name": "b"}]]).to_string())).await;
    client.hear_a("heartbeat").await;
    let first = device.hear_a("command").await;
    drop(device);
    let mut register = wide(super::device("dev1"), "one");
    register["metadata"]["resume"] = json!({"s1": [first["response_id"]]});
    let mut device = Client::registered(&hub, "/ws", register).await;
    // It had begun: nothing comes again, its results are awaited.
    device.is_quiet("device").await;
    device.does(&first).await;
    let second = device.hear_a("command").await;
    assert_eq!(second["actions"][0]["tool_name"], "b");
    drop(device);
    // It had not: the same program is told again.
    let mut register = wide(super::device("dev1"), "one");
    register["metadata"]["resume"] = json!({"s1": []});
    let mut device = Client::registered(&hub, "/ws", register).await;
    let again = device.hear_a("command").await;
    assert_eq!(again["response_id"], second["response_id"]);
    device.does(&again).await;
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!(["a", "b"])));
}

#[tokio::test]
async fn p_62_a_constellation_that_comes_back_hears_what_ended_meanwhile() {
    let hub = hub("").await;
    let (mut device, mut client) = both(&hub).await;
    client.say(task("dev1", "s1", &commands(&["a"]))).await;
    client.hear_a("heartbeat").await;
    let command = device.hear_a("command").await;
    drop(client);
    until("the hub has heard of it", async || {
        hub.get("/api/clients").await.json() == json!({"online_clients": ["dev1"]})
    })
    .await;
    device.does(&command).await;
    device.hear_a("task_end").await;
    let mut register = super::constellation("gal@dev1", "dev1");
    register["metadata"]["resume"] = json!({"s1": []});
    let mut client = Client::registered(&hub, "/aip/ws", register).await;
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["session_id"], &end["result"]), (&json!("s1"), &json!(["a"])));
}

#[tokio::test]
async fn g1_g4_a_session_persists_over_many_commands_in_their_order() {
    let hub = hub("").await;
    let (mut device, mut client) = both(&hub).await;
    let names: Vec<String> = (0..40).map(|n| format!("t{n}")).collect();
    let batches: Vec<Value> = names.iter().map(|name| json!([{ "tool_name": name }])).collect();
    client.say(task("dev1", "s1", &Value::Array(batches).to_string())).await;
    client.hear_a("heartbeat").await;
    for name in &names {
        let command = device.hear_a("command").await;
        assert_eq!((&command["session_id"], &command["actions"][0]["tool_name"]), (&json!("s1"), &json!(name)));
        device.does(&command).await;
    }
    assert_eq!(client.hear_a("task_end").await["result"], json!(names));
}

/// Sent at once, without waiting for an answer: the end of a task that came before its task would end nothing.
#[tokio::test]
async fn p_43_the_end_of_a_task_that_follows_it_at_once_is_not_processed_before_it() {
    let hub = hub("").await;
    let (mut device, mut client) = both(&hub).await;
    for n in 0..40 {
        let session = format!("s{n}");
        client.say(task("dev1", &session, &commands(&["ls"]))).await;
        client
            .say(json!({"type": "task_end", "status": "failed", "client_type": "constellation", "session_id": session}))
            .await;
        let (ack, end) = (client.hear_a("heartbeat").await, client.hear_a("task_end").await);
        assert_eq!((&ack["session_id"], &end["session_id"]), (&json!(session), &json!(session)));
        assert_eq!(end["status"], "failed");
    }
    client.is_quiet("constellation").await;
    // Whatever the device heard, it heard the end last.
    device.say(json!({"type": "heartbeat", "status": "ok", "client_type": "device"})).await;
    let mut open = std::collections::BTreeSet::new();
    loop {
        let frame = device.hear().await;
        let session = frame["session_id"].as_str().map(str::to_owned);
        match (frame["type"].as_str(), session) {
            (Some("command"), Some(session)) => drop(open.insert(session)),
            (Some("task_end"), Some(session)) => drop(open.remove(&session)),
            (Some("heartbeat"), None) => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "commands after the end of their task: {open:?}");
}
