//! Tasks, the commands they lead to, and how they end.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, commands, hub, task};
use crate::support::until;

#[tokio::test]
async fn p_23_p_24_p_25_p_44_a_task_of_the_device_itself() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    let request = json!([
        [{"tool_name": "get_info", "parameters": {"a": 1}, "tool_type": "data_collection"}],
        [{"tool_name": "one"}, {"tool_name": "two"}, {"tool_name": "three"}],
    ]);
    device
        .say(json!({"type": "task", "status": "continue", "client_type": "device", "client_id": "dev1",
                    "task_name": "my task/name", "request": request.to_string(), "request_id": "q"}))
        .await;
    let ack = device.hear_a("heartbeat").await;
    let session = ack["session_id"].as_str().expect("a session").to_owned();
    assert_eq!((session.len(), &ack["status"]), (36, &json!("ok")));
    let first = device.hear_a("command").await;
    assert_eq!((&first["session_id"], &first["status"]), (&json!(session), &json!("continue")));
    assert_eq!((&first["task_name"], &first["agent_name"]), (&json!("my_task_name"), &json!("LinuxAgent")));
    assert_eq!((&first["process_name"], &first["root_name"]), (&json!(""), &json!("")));
    let action = &first["actions"][0];
    assert_eq!(
        (&action["tool_name"], &action["parameters"], &action["tool_type"]),
        (&json!("get_info"), &json!({"a": 1}), &json!("data_collection"))
    );
    assert_eq!(action["call_id"].as_str().map(str::len), Some(36));
    device.does(&first).await;
    let second = device.hear_a("command").await;
    assert_ne!(second["response_id"], first["response_id"]);
    assert_eq!(second["actions"].as_array().map(Vec::len), Some(3));
    device.does(&second).await;
    let end = device.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["session_id"]), (&json!("completed"), &json!(session)));
    assert_eq!(end["result"], json!(["get_info", "one", "two", "three"]));
}

#[tokio::test]
async fn p_28_a_constellations_task_ends_for_both_with_one_frame() {
    let hub = hub("agent_name: MyAgent").await;
    let mut device = Client::device(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "gal@t1", &commands(&["ls"]))).await;
    let ack = client.hear_a("heartbeat").await;
    assert_eq!(ack["session_id"], "gal@t1");
    let command = device.hear_a("command").await;
    assert_eq!((&command["task_name"], &command["agent_name"]), (&json!("galaxy_gal_t1"), &json!("MyAgent")));
    device.does(&command).await;
    let (told, heard) = (client.hear_a("task_end").await, device.hear_a("task_end").await);
    assert_eq!(told, heard);
    assert_eq!((&told["status"], &told["result"]), (&json!("completed"), &json!(["ls"])));
}

#[tokio::test]
async fn p_26_p_27_p_29_p_43_only_the_executors_first_results_count_and_a_failure_ends_it() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    let mut other = Client::device(&hub, "dev2").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client
        .say(task("dev1", "s", &json!([[{"tool_name": "a"}], [{"tool_name": "b"}, {"tool_name": "c"}]]).to_string()))
        .await;
    client.hear_a("heartbeat").await;
    let first = device.hear_a("command").await;
    other.does(&first).await;
    other.is_quiet("device").await;
    let unknown = json!({"session_id": "nobody's", "response_id": "x", "actions": []});
    device.does(&unknown).await;
    device.is_quiet("device").await;
    device.does(&first).await;
    let second = device.hear_a("command").await;
    assert_eq!(second["actions"][0]["tool_name"], "b", "one after the other");
    device.does(&first).await;
    device.is_quiet("device").await;
    let results = json!([
        {"status": "failure", "error": "Error calling tool 'b': no", "result": null},
        {"status": "skipped", "error": "Skipped due to previous failure (early_exit=True).", "result": null},
    ]);
    device.results(&second, results).await;
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["error"]), (&json!("failed"), &json!("Error calling tool 'b': no")));
    assert_eq!(end["result"], json!(["a", null, null]));
}

/// Two results of one command in one go: the first one sent is the one that counts, each time.
#[tokio::test]
async fn p_43_frames_of_one_session_are_processed_in_the_order_they_are_sent() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    for n in 0..40 {
        client.say(task("dev1", &format!("s{n}"), &commands(&["ls"]))).await;
        client.hear_a("heartbeat").await;
        let command = device.hear_a("command").await;
        device.results(&command, json!([{"status": "success", "result": n}])).await;
        device.results(&command, json!([{"status": "failure", "error": "too late"}])).await;
        let end = client.hear_a("task_end").await;
        assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!([n])), "{end}");
        assert_eq!(device.hear_a("task_end").await["session_id"], command["session_id"]);
    }
    device.is_quiet("device").await;
}

#[tokio::test]
async fn p_30_p_31_every_refusal_says_why_ends_the_task_and_leaves_the_socket_open() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    let free = json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal"});
    let mut client = Client::registered(&hub, "/ws", free.clone()).await;
    let _other = Client::registered(
        &hub,
        "/ws",
        json!({"client_id": "gal2", "type": "register", "status": "ok", "client_type": "constellation"}),
    )
    .await;
    for (target, error) in [
        ("", "Constellation task requests require target_id"),
        ("ghost", "Target device 'ghost' is not connected"),
        ("gal2", "Constellation tasks may only target device clients"),
    ] {
        client.say(task(target, "s1", "x")).await;
        let refusal = client.hear_a("error").await;
        assert_eq!((&refusal["error"], &refusal["session_id"]), (&json!(error), &json!("s1")));
        let end = client.hear_a("task_end").await;
        assert_eq!(
            (&end["status"], &end["session_id"], &end["error"]),
            (&json!("failed"), &json!("s1"), &json!(error))
        );
    }
    device.say(json!({"type": "task", "status": "continue", "target_id": "dev2", "request": "x"})).await;
    assert_eq!(device.hear_a("error").await["error"], "Device clients may not target other devices");
    client.say(task("dev1", "mine", &commands(&["ls"]))).await;
    client.hear_a("heartbeat").await;
    let mut thief = Client::constellation(&hub, "thief", "dev1").await;
    thief.say(task("dev1", "mine", "x")).await;
    assert_eq!(thief.hear_a("error").await["error"], "session_id 'mine' is owned by another client");
    thief.hear_a("task_end").await;
    thief.is_quiet("constellation").await;
    client.is_quiet("constellation").await;
}

#[tokio::test]
async fn p_16_p_17_who_says_to_be_another_is_refused() {
    let hub = hub("").await;
    let _device = Client::device(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    let frames = [
        json!({"type": "heartbeat", "status": "ok", "client_type": "constellation", "client_id": "dev1"}),
        json!({"type": "task", "status": "continue", "client_type": "device", "request": "x"}),
        json!({"type": "device_info_request", "status": "ok", "target_id": "dev1"}),
        json!({"type": "command_results", "status": "continue", "session_id": "s", "prev_response_id": "r", "action_results": []}),
    ];
    for (frame, what) in frames.into_iter().zip(["client_id", "client_type", "client_type", "client_type"]) {
        client.say(frame).await;
        let error = client.hear_a("error").await;
        assert_eq!(error["error"], format!("{what} does not match the registered connection"));
    }
    client.is_quiet("constellation").await;
}

#[tokio::test]
async fn p_32_p_35_a_lost_device_fails_exactly_its_tasks() {
    let hub = hub("").await;
    let mut lost = Client::device(&hub, "lost").await;
    let mut stays = Client::device(&hub, "stays").await;
    let mut asks = Client::constellation(&hub, "gal@lost", "lost").await;
    let mut also = Client::constellation(&hub, "ara@lost", "lost").await;
    let mut other = Client::constellation(&hub, "gal@stays", "stays").await;
    asks.say(task("lost", "gal@t1", &commands(&["ls"]))).await;
    asks.hear_a("heartbeat").await;
    lost.hear_a("command").await;
    also.say(task("lost", "ara@t1", &commands(&["ls"]))).await;
    also.hear_a("heartbeat").await;
    lost.hear_a("command").await;
    lost.say(json!({"type": "task", "status": "continue", "session_id": "own", "request": commands(&["x"])})).await;
    assert_eq!(lost.hear().await["session_id"], "own");
    other.say(task("stays", "gal@t2", &commands(&["ls"]))).await;
    other.hear_a("heartbeat").await;
    let command = stays.hear_a("command").await;
    drop(lost);
    let closed = tokio::time::Instant::now();
    let (end, ends) = tokio::join!(asks.hear_a("task_end"), also.hear_a("task_end"));
    assert!(closed.elapsed() < Duration::from_secs(1), "each within a second of the close: {:?}", closed.elapsed());
    for (end, session) in [(end, "gal@t1"), (ends, "ara@t1")] {
        assert_eq!((&end["status"], &end["session_id"]), (&json!("failed"), &json!(session)));
        assert_eq!(end["error"], "Task was cancelled because target device disconnected");
    }
    asks.is_quiet("constellation").await;
    also.is_quiet("constellation").await;
    stays.does(&command).await;
    assert_eq!(other.hear_a("task_end").await["status"], "completed");
    until("nothing of it runs on", async || {
        let tasks = hub.get("/api/tasks").await.json();
        tasks["items"]
            .as_array()
            .expect("tasks")
            .iter()
            .all(|task| matches!(task["state"].as_str(), Some("completed" | "failed" | "cancelled")))
    })
    .await;
}

#[tokio::test]
async fn p_33_p_34_a_lost_constellation_ends_its_tasks_and_the_device_hears_of_it() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "gal@t1", &commands(&["ls"]))).await;
    client.hear_a("heartbeat").await;
    let command = device.hear_a("command").await;
    drop(client);
    let end = device.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["session_id"]), (&json!("failed"), &command["session_id"]));
    until("its task is cancelled", async || {
        let tasks = hub.get("/api/tasks?state=cancelled").await.json();
        tasks["items"].as_array().is_some_and(|tasks| tasks.len() == 1)
    })
    .await;
    device.does(&command).await;
    device.is_quiet("device").await;
}

/// Whoever asks may be gone at any moment: before the task is opened, and between that and its first command.
#[tokio::test]
async fn p_33_a_constellation_that_leaves_at_once_leaves_no_task_that_failed() {
    let hub = hub("").await;
    let _device = Client::device(&hub, "dev1").await;
    for run in 0..60 {
        let mut client = Client::constellation(&hub, &format!("gal{run}@dev1"), "dev1").await;
        client.say(task("dev1", &format!("gal@t{run}"), &commands(&["ls"]))).await;
        if run % 2 == 0 {
            client.hear_a("heartbeat").await;
        }
        drop(client);
    }
    until("every task that was begun is cancelled", async || {
        let tasks = hub.get("/api/tasks?limit=100").await.json();
        let states =
            tasks["items"].as_array().expect("tasks").iter().map(|task| task["state"].as_str().unwrap_or_default());
        let states: Vec<&str> = states.collect();
        assert!(!states.iter().any(|state| ["failed", "completed"].contains(state)), "{states:?}");
        // Those that were acknowledged are there.
        states.len() >= 30 && states.iter().all(|state| *state == "cancelled")
    })
    .await;
}

#[tokio::test]
async fn a_task_in_words_is_matched_to_a_tool_or_says_what_there_is() {
    let hub = hub("").await;
    let mut device = Client::device(&hub, "dev1").await;
    device.say(json!({"type": "task", "status": "continue", "request": "make me a sandwich"})).await;
    device.hear_a("heartbeat").await;
    let end = device.hear_a("task_end").await;
    assert_eq!(end["status"], "failed");
    assert!(end["error"].as_str().is_some_and(|text| text.contains("no planner is configured")), "{end}");
    device.say(json!({"type": "task", "status": "continue"})).await;
    device.hear_a("heartbeat").await;
    assert_eq!(device.hear_a("task_end").await["error"], "nothing was asked of the device");
}

#[tokio::test]
async fn any_peer_of_the_hub_is_a_target_as_if_it_were_a_device() {
    let hub = hub("").await;
    let mut client = Client::constellation(&hub, "gal@hub", "hub").await;
    client.say(task("hub", "s1", "echo good morning")).await;
    assert_eq!(client.hear_a("heartbeat").await["session_id"], "s1");
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!("echo good morning")));
    client.say(task("local", "s2", "do something that no tool here does")).await;
    let end = loop {
        let frame = client.hear().await;
        if frame["type"] == "task_end" {
            break frame;
        }
    };
    assert_eq!(end["session_id"], "s2");
    assert_ne!(end["result"], Value::Null);
}
