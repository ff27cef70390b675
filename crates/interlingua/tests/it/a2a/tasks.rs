//! Sending, getting, listing and cancelling (sections 3.1, 3.4).

use std::time::{Duration, Instant};

use interlingua_a2a::Version;
use interlingua_a2a::method::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::grpc::Caller;
use super::{builder, call, get, hub, post, refused, result, send, state, task, text, to};
use crate::support::until;

#[tokio::test]
async fn a_04_a_send_returns_a_task_or_a_message_in_every_binding() {
    let hub = hub().await;
    for (id, member) in [("tck-complete-task-1", "task"), ("tck-message-response-1", "message")] {
        let sent = result(&hub, "SendMessage", json!({"message": text(id, "hi")})).await;
        assert_eq!(sent.as_object().expect("an object").keys().collect::<Vec<_>>(), [member]);
        let body = json!({"message": text(&format!("{id}-http"), "hi")});
        let answer = send(&hub, post("/a2a/message:send", &[super::V1], &body)).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        assert!(answer.json().get(member).is_some(), "{}", answer.text());
        let body = json!({"message": text(&format!("{id}-grpc"), "hi")});
        let answer = Caller::new(&hub, Version::V1).await.call(Method::Send, &[], &body).await.expect("an answer");
        assert_eq!(answer.as_object().expect("an object").keys().collect::<Vec<_>>(), [member]);
    }
    let message = result(&hub, "SendMessage", json!({"message": text("tck-message-response-2", "hi")})).await;
    assert_eq!(message["message"]["parts"][0]["text"], "Direct message response");
    let listed = result(&hub, "ListTasks", json!({})).await;
    assert_eq!(listed["totalSize"], 3, "an exchange that was answered with a message leaves no task: {listed}");
}

#[tokio::test]
async fn a_05_a_send_waits_for_the_end_unless_it_says_not_to() {
    let slow = "scenes: [ { play: [ { work: \"\" }, { pause: 600s } ] } ]\n";
    let waits = builder("").file("agent.yaml", slow).start().await;
    let immediate = |id: &str| json!({"message": text(id, "hi"), "configuration": {"returnImmediately": true}});
    let mut grpc = Caller::new(&waits, Version::V1).await;
    // The best of three counts: a busy machine is late some time, a hub that waits is late every time.
    let mut least = [Duration::MAX; 3];
    for round in 0..3 {
        let id = |name: &str| immediate(&format!("{name}-{round}"));
        let mut times = [Duration::ZERO; 3];
        let began = Instant::now();
        let rpc = result(&waits, "SendMessage", id("m1")).await;
        times[0] = began.elapsed();
        let began = Instant::now();
        let http = send(&waits, post("/a2a/message:send", &[super::V1], &id("m2"))).await.json();
        times[1] = began.elapsed();
        let began = Instant::now();
        let grpc = grpc.call(Method::Send, &[], &id("m3")).await.expect("an answer");
        times[2] = began.elapsed();
        for live in [&rpc["task"], &http["task"], &grpc["task"]] {
            assert!(matches!(state(live), "TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING"), "{live}");
        }
        least.iter_mut().zip(times).for_each(|(least, time)| *least = time.min(*least));
    }
    assert!(least.iter().all(|time| *time < Duration::from_secs(1)), "a live task within a second: {least:?}");
    let hub = hub().await;
    assert_eq!(state(&task(&hub, "tck-complete-task-1").await), "TASK_STATE_COMPLETED");
    assert_eq!(state(&task(&hub, "tck-input-required-1").await), "TASK_STATE_INPUT_REQUIRED");
}

#[tokio::test]
async fn a_06_a_message_to_a_finished_task_is_not_supported() {
    let hub = hub().await;
    let done = task(&hub, "tck-complete-task-1").await;
    let (code, reason) = refused(&hub, "SendMessage", json!({"message": to(&done, text("m2", "more"))})).await;
    assert_eq!((code, reason.as_str()), (-32004, "UNSUPPORTED_OPERATION"));
}

#[tokio::test]
async fn a_07_a_part_of_a_kind_that_is_not_taken_is_refused_before_anything_is_begun() {
    let hub = hub().await;
    let mut message = text("m1", "hi");
    message["parts"][0]["mediaType"] = "application/x-strange".into();
    let (code, reason) = refused(&hub, "SendMessage", json!({ "message": message })).await;
    assert_eq!((code, reason.as_str()), (-32005, "CONTENT_TYPE_NOT_SUPPORTED"));
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 0);
}

#[tokio::test]
async fn a_08_a_message_to_an_unknown_task_makes_none() {
    let hub = hub().await;
    for id in ["00000000000000000000000000000000", "nonsense"] {
        let message = to(&json!({ "id": id }), text("m1", "hi"));
        let (code, reason) = refused(&hub, "SendMessage", json!({ "message": message })).await;
        assert_eq!((code, reason.as_str()), (-32001, "TASK_NOT_FOUND"));
    }
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 0);
}

#[tokio::test]
async fn a_09_a_task_brings_its_context_and_another_context_is_refused() {
    let hub = hub().await;
    let asked = task(&hub, "tck-input-required-1").await;
    let mut wrong = to(&asked, text("m2", "Paris"));
    wrong["contextId"] = "another".into();
    assert_eq!(refused(&hub, "SendMessage", json!({ "message": wrong })).await.0, -32602);
    let answer = to(&asked, text("tck-complete-task-2", "Paris"));
    let done = result(&hub, "SendMessage", json!({ "message": answer })).await["task"].take();
    assert_eq!((&done["id"], &done["contextId"]), (&asked["id"], &asked["contextId"]));
    assert_eq!(state(&done), "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_10_ids_are_the_servers_and_differ_and_a_given_context_is_kept() {
    let hub = hub().await;
    let (one, two) = (task(&hub, "tck-complete-task-1").await, task(&hub, "tck-complete-task-2").await);
    assert!(one["id"] != two["id"] && one["contextId"] != two["contextId"]);
    let mut message = text("tck-complete-task-3", "hi");
    message["contextId"] = "mine".into();
    let kept = result(&hub, "SendMessage", json!({ "message": message })).await;
    assert_eq!(kept["task"]["contextId"], "mine");
}

fn said(task: &Value) -> Vec<&str> {
    let history = task["history"].as_array().map(Vec::as_slice).unwrap_or_default();
    history.iter().filter_map(|message| message["parts"][0]["text"].as_str()).collect()
}

#[tokio::test]
async fn a_11_history_is_as_long_as_asked_for_newest_last() {
    let hub = hub().await;
    let asked = task(&hub, "tck-input-required-1").await;
    let again = to(&asked, text("tck-input-required-2", "two"));
    result(&hub, "SendMessage", json!({ "message": again })).await;
    let shown = async |length: Value| {
        let mut params = json!({"id": asked["id"]});
        if !length.is_null() {
            params["historyLength"] = length;
        }
        result(&hub, "GetTask", params).await
    };
    assert_eq!(said(&shown(Value::Null).await), ["hi", "What else?", "two"]);
    assert_eq!(said(&shown(json!(2)).await), ["What else?", "two"]);
    assert!(shown(json!(0)).await.get("history").is_none());
    let path = format!("/a2a/tasks/{}?historyLength=1", asked["id"].as_str().expect("an id"));
    assert_eq!(said(&send(&hub, get(&path, &[])).await.json()), ["two"]);
    let ids: Vec<Value> =
        shown(Value::Null).await["history"].as_array().expect("some").iter().map(|m| m["messageId"].clone()).collect();
    assert_eq!((&ids[0], &ids[2]), (&json!("tck-input-required-1"), &json!("tck-input-required-2")));
}

async fn page(hub: &Hub, params: Value) -> (Vec<String>, String, Value) {
    let listed = result(hub, "ListTasks", params).await;
    let ids =
        listed["tasks"].as_array().expect("a list").iter().map(|task| task["id"].as_str().expect("an id").to_owned());
    (ids.collect(), listed["nextPageToken"].as_str().expect("always there").to_owned(), listed.clone())
}

#[tokio::test]
async fn a_12_lists_page_by_cursor_newest_status_first_with_filters() {
    let hub = hub().await;
    let first = task(&hub, "tck-input-required-0").await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(task(&hub, &format!("tck-artifact-text-{number}")).await["id"].as_str().expect("an id").to_owned());
    }
    let waiting = task(&hub, "tck-input-required-1").await;
    ids.push(waiting["id"].as_str().expect("an id").to_owned());
    // The first of all is answered last: its status is the newest then, and it leads.
    result(&hub, "SendMessage", json!({"message": to(&first, text("tck-complete-task-8", "x"))})).await;
    ids.push(first["id"].as_str().expect("an id").to_owned());
    ids.reverse();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let (more, next, listed) = page(&hub, json!({"pageSize": 2, "pageToken": cursor})).await;
        assert_eq!((&listed["totalSize"], &listed["pageSize"]), (&json!(7), &json!(2)));
        seen.extend(more);
        if next.is_empty() {
            break;
        }
        cursor = next;
    }
    assert_eq!(seen, ids);
    let (found, _, listed) = page(&hub, json!({"status": "TASK_STATE_INPUT_REQUIRED"})).await;
    assert_eq!(found, [ids[1].clone()]);
    assert_eq!(listed["tasks"][0]["contextId"], waiting["contextId"]);
    assert_eq!(page(&hub, json!({"contextId": waiting["contextId"]})).await.0, [ids[1].clone()]);
    assert!(page(&hub, json!({"statusTimestampAfter": "2999-01-01T00:00:00Z"})).await.0.is_empty());
    let since = |id: &str| json!({"id": id, "historyLength": 0});
    let third = result(&hub, "GetTask", since(&ids[3])).await["status"]["timestamp"].clone();
    let (later, _, _) = page(&hub, json!({ "statusTimestampAfter": third })).await;
    assert!(later.contains(&ids[0]) && later.contains(&ids[1]) && !later.contains(&ids[4]), "{later:?} of {ids:?}");
    assert_eq!(page(&hub, json!({"statusTimestampAfter": "2001-01-01T00:00:00Z"})).await.0, ids);
    let without = result(&hub, "ListTasks", json!({"pageSize": 3})).await;
    assert!(without["tasks"].as_array().expect("a list").iter().all(|task| task.get("artifacts").is_none()));
    let with = result(&hub, "ListTasks", json!({"includeArtifacts": true, "status": "TASK_STATE_COMPLETED"})).await;
    assert_eq!(with["tasks"][1]["artifacts"][0]["parts"][0]["text"], "Generated text content");
    // A task whose status changes comes first again.
    result(&hub, "SendMessage", json!({"message": to(&waiting, text("tck-complete-task-9", "x"))})).await;
    assert_eq!(page(&hub, json!({"pageSize": 1})).await.0, [ids[1].clone()]);
    for bad in [json!({"pageSize": 0}), json!({"pageSize": 101}), json!({"pageToken": "x"}), json!({"status": "DONE"})]
    {
        assert_eq!(refused(&hub, "ListTasks", bad.clone()).await.0, -32602, "{bad}");
    }
}

#[tokio::test]
async fn a_13_a_cancel_ends_a_live_task_once() {
    let hub = hub().await;
    let live =
        json!({"message": text("test-resubscribe-message-id-1", "hi"), "configuration": {"returnImmediately": true}});
    let live = result(&hub, "SendMessage", live).await["task"].take();
    let cancelled = result(&hub, "CancelTask", json!({"id": live["id"]})).await;
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED");
    let (code, reason) = refused(&hub, "CancelTask", json!({"id": live["id"]})).await;
    assert_eq!((code, reason.as_str()), (-32002, "TASK_NOT_CANCELABLE"));
    assert_eq!(refused(&hub, "CancelTask", json!({"id": "nobody"})).await.0, -32001);
    let waiting = task(&hub, "tck-input-required-1").await;
    let path = format!("/a2a/tasks/{}:cancel", waiting["id"].as_str().expect("an id"));
    let answer = send(&hub, post(&path, &[super::V1], &Value::Null)).await;
    assert_eq!((answer.status, state(&answer.json())), (200, "TASK_STATE_CANCELED"));
}

#[tokio::test]
async fn a_46_a_message_sent_again_is_answered_with_the_same_task_and_another_under_its_id_is_refused() {
    let hub = hub().await;
    let first = task(&hub, "tck-input-required-1").await;
    let immediate =
        |id: &str, words: &str| json!({"message": text(id, words), "configuration": {"returnImmediately": true}});
    let one = result(&hub, "SendMessage", immediate("test-resubscribe-message-id-1", "hi")).await;
    let again = result(&hub, "SendMessage", immediate("test-resubscribe-message-id-1", "hi")).await;
    assert_eq!(one["task"]["id"], again["task"]["id"]);
    let other = call(&hub, "SendMessage", immediate("test-resubscribe-message-id-1", "bye")).await;
    assert_eq!(other["error"]["code"], -32602, "{other}");
    assert!(first["id"] != one["task"]["id"]);
    let mut within = immediate("test-resubscribe-message-id-2", "hi");
    let mut ids = Vec::new();
    for context in ["trip", "other", "trip"] {
        within["message"]["contextId"] = context.into();
        ids.push(result(&hub, "SendMessage", within.clone()).await["task"]["id"].clone());
    }
    assert_ne!(ids[0], ids[1], "in another context the id is another message's");
    assert_eq!(ids[0], ids[2], "in the same one it is the same");
}

#[tokio::test]
async fn a_46_an_id_is_not_remembered_where_configuration_says_so() {
    let hub = builder("a2a: { replay: 0 }\n").start().await;
    let immediate = || json!({"message": text("test-resubscribe-message-id-1", "hi"), "configuration": {"returnImmediately": true}});
    let one = result(&hub, "SendMessage", immediate()).await;
    let two = result(&hub, "SendMessage", immediate()).await;
    assert!(one["task"]["id"] != two["task"]["id"]);
}

#[tokio::test]
async fn a_46_an_id_is_remembered_for_its_window_and_no_longer() {
    const BEGUN: i64 = 1_800_000_000;
    let builder = builder("");
    let clock = interlingua_testkit::WallClock::below(builder.directory(), BEGUN);
    let builder =
        clock.environment().into_iter().fold(builder, |builder, (name, value)| builder.environment(name, value));
    let mut hub = builder.start().await;
    let mut message = text("tck-complete-task-1", "hi");
    message["contextId"] = "trip".into();
    let send = async |hub: &Hub| result(hub, "SendMessage", json!({ "message": message })).await["task"]["id"].clone();
    let first = send(&hub).await;
    for (hours, same) in [(0, true), (23, true), (25, false)] {
        hub.set_environment("CLOCK_AT", &(BEGUN + hours * 3_600).to_string());
        hub.restart().await;
        assert_eq!(send(&hub).await == first, same, "after {hours} hours");
    }
}

#[tokio::test]
async fn a_47_a_task_outlives_the_hub_and_goes_on_where_it_waited() {
    let mut hub = hub().await;
    let asked = task(&hub, "tck-input-required-1").await;
    let done = task(&hub, "tck-artifact-data-1").await;
    hub.kill_9();
    hub.restart().await;
    assert_eq!(result(&hub, "GetTask", json!({"id": done["id"]})).await["artifacts"], done["artifacts"]);
    let shown = result(&hub, "GetTask", json!({"id": asked["id"]})).await;
    assert_eq!(state(&shown), "TASK_STATE_INPUT_REQUIRED");
    let answer = to(&asked, text("tck-complete-task-2", "Paris"));
    let done = result(&hub, "SendMessage", json!({ "message": answer })).await["task"].take();
    assert_eq!(state(&done), "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_47_a_task_that_ran_when_the_hub_was_killed_is_failed_where_nobody_knows_what_it_did() {
    let mut hub = crate::support::hub("").await;
    let call = async |hub: &Hub, method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        send(hub, post("/agents/local/a2a", &[super::V1], &body)).await.json()["result"].clone()
    };
    let mut message = text("m1", "slow");
    message["parts"] = json!([{"data": {}}]);
    message["metadata"] = json!({"urn:interlingua:hub:1": {"skill": "slow"}});
    let sent =
        call(&hub, "SendMessage", json!({"message": message, "configuration": {"returnImmediately": true}})).await;
    let named = json!({"id": sent["task"]["id"]});
    let events = format!("/api/tasks/{}/events", sent["task"]["id"].as_str().unwrap_or_else(|| panic!("{sent}")));
    let (_connection, mut told) = crate::support::streaming(&hub, http::Method::GET, &events, &[], None).await;
    while !told.next().await.expect("it begins").contains("begun") {}
    hub.kill_9();
    hub.restart().await;
    until("it is judged", async || state(&call(&hub, "GetTask", named.clone()).await) == "TASK_STATE_FAILED").await;
}
