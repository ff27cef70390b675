//! Push notifications (sections 3.1.7 to 3.1.10, 4.3): webhooks and the events they are sent.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use interlingua_testkit::{Hub, HurriedClock, Names, Say, Scripted};
use serde_json::{Value, json};

use super::{builder, hub, refused, result, task, text, to};
use crate::support::{logged, until};

/// A hub that tells webhooks on this machine, too.
async fn telling() -> Hub {
    builder("a2a: { push_private_addresses: true }\n").start().await
}

/// Waits until a webhook has heard what is wanted.
async fn heard(webhook: &Scripted, enough: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    for _ in 0..600 {
        let heard: Vec<Value> = webhook.heard().iter().map(interlingua_testkit::Heard::json).collect();
        if enough(&heard) {
            return heard;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the webhook heard only {:?}", webhook.heard());
}

fn ended(heard: &[Value]) -> bool {
    heard.last().is_some_and(|last| last["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED")
}

fn url(webhook: &Scripted) -> String {
    format!("http://{}/hook", webhook.address())
}

#[tokio::test]
async fn a_19_configurations_are_made_read_listed_and_deleted() {
    let hub = telling().await;
    let waiting = task(&hub, "tck-input-required-1").await;
    let id = &waiting["id"];
    let config = json!({"taskId": id, "id": "c1", "url": "https://example.com/hook", "token": "t",
        "authentication": {"scheme": "Bearer", "credentials": "secret"}});
    assert_eq!(result(&hub, "CreateTaskPushNotificationConfig", config.clone()).await, config);
    let made =
        result(&hub, "CreateTaskPushNotificationConfig", json!({"taskId": id, "url": "https://example.com/2"})).await;
    assert!(made["id"].as_str().is_some_and(|id| !id.is_empty()), "the server names it: {made}");
    let named = json!({"taskId": id, "id": "c1"});
    assert_eq!(result(&hub, "GetTaskPushNotificationConfig", named.clone()).await, config);
    let listed = result(&hub, "ListTaskPushNotificationConfigs", json!({ "taskId": id })).await;
    assert_eq!(listed["configs"].as_array().map(Vec::len), Some(2));
    // The same id replaces.
    let other = json!({"taskId": id, "id": "c1", "url": "https://example.com/other"});
    result(&hub, "CreateTaskPushNotificationConfig", other.clone()).await;
    assert_eq!(result(&hub, "GetTaskPushNotificationConfig", named.clone()).await, other);
    for _ in 0..2 {
        result(&hub, "DeleteTaskPushNotificationConfig", named.clone()).await;
    }
    assert_eq!(refused(&hub, "GetTaskPushNotificationConfig", named).await.0, -32001);
    let unknown = json!({"taskId": "nobody", "url": "https://example.com/"});
    assert_eq!(refused(&hub, "CreateTaskPushNotificationConfig", unknown).await.0, -32001);
    assert!(!hub.log().contains("secret"), "a credential is in the log");
}

/// Made for a task that is over, a configuration has nothing to tell and is written a last time: a delete may come before that.
#[tokio::test]
async fn a_19_a_configuration_that_was_deleted_does_not_come_back() {
    let hub = telling().await;
    let done = task(&hub, "tck-complete-task-1").await;
    let mut connection = hub.connect().await;
    for run in 0..60 {
        let named = json!({"taskId": done["id"], "id": format!("c{run}")});
        let mut config = named.clone();
        config["url"] = "http://127.0.0.1:9/".into();
        let call = |method: &str, params: &Value| {
            let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
            super::post("/a2a", &[super::V1], &body)
        };
        for (method, params) in
            [("CreateTaskPushNotificationConfig", &config), ("DeleteTaskPushNotificationConfig", &named)]
        {
            let answer = connection.send(call(method, params)).await.json();
            assert!(answer.get("error").is_none(), "{answer}");
        }
    }
    let listed = result(&hub, "ListTaskPushNotificationConfigs", json!({"taskId": done["id"]})).await;
    assert_eq!(listed["configs"].as_array().map(Vec::len).unwrap_or_default(), 0, "{listed}");
}

#[tokio::test]
async fn a_20_a_webhook_is_told_every_event_in_order_with_its_credentials() {
    let (hub, webhook) = (telling().await, Scripted::http(|_, _| Say::Json(Value::Null)).await);
    let push = json!({"url": url(&webhook), "token": "my-token", "authentication": {"scheme": "Bearer", "credentials": "secret"}});
    let configuration = json!({ "taskPushNotificationConfig": push });
    let params = json!({"message": text("tck-stream-artifact-chunked-1", "hi"), "configuration": configuration});
    let done = result(&hub, "SendMessage", params).await["task"].take();
    let told = heard(&webhook, ended).await;
    let kinds: Vec<&str> =
        told.iter().map(|told| told.as_object().expect("an object").keys().next().expect("one").as_str()).collect();
    assert_eq!(kinds, ["task", "statusUpdate", "statusUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"]);
    assert_eq!(told[0]["task"]["id"], done["id"]);
    for request in webhook.heard() {
        assert_eq!(request.header("authorization"), Some("Bearer secret"));
        assert_eq!(request.header("x-a2a-notification-token"), Some("my-token"));
        assert_eq!(request.header("a2a-notification-token"), Some("my-token"));
        assert_eq!(request.header("content-type"), Some("application/a2a+json"));
    }
}

#[tokio::test]
async fn a_20_a_webhook_made_later_is_told_what_comes_and_an_older_one_the_whole_task() {
    let (hub, new, old) = (
        telling().await,
        Scripted::http(|_, _| Say::Json(Value::Null)).await,
        Scripted::http(|_, _| Say::Json(Value::Null)).await,
    );
    let waiting = task(&hub, "tck-input-required-1").await;
    let created = json!({"taskId": waiting["id"], "url": url(&new),
        "authentication": {"scheme": "Bearer", "credentials": "secret"}});
    result(&hub, "CreateTaskPushNotificationConfig", created).await;
    let set = json!({"taskId": waiting["id"], "pushNotificationConfig": {"url": url(&old)}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/pushNotificationConfig/set", "params": set});
    let answer = super::send(&hub, super::post("/a2a", &[], &body)).await.json();
    assert_eq!(answer["result"]["pushNotificationConfig"]["url"], url(&old), "{answer}");
    result(&hub, "SendMessage", json!({"message": to(&waiting, text("tck-complete-task-2", "x"))})).await;
    let told = heard(&new, ended).await;
    assert!(told.iter().all(|told| told.get("task").is_none()), "nothing from before: {told:?}");
    assert!(new.heard().iter().all(|request| request.header("authorization") == Some("Bearer secret")));
    let completed = |heard: &[Value]| heard.last().is_some_and(|last| last["status"]["state"] == "completed");
    let told = heard(&old, completed).await;
    assert!(told.iter().all(|told| told["kind"] == "task"), "{told:?}");
}

#[tokio::test]
async fn a_21_a_webhook_inside_is_refused_by_default_and_nothing_is_begun() {
    let hub = hub().await;
    for url in [
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://169.254.169.254/",
        "http://[::ffff:10.0.0.1]/",
        "ftp://example.com/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://2130706433/",
    ] {
        let configuration = json!({"taskPushNotificationConfig": {"url": url}});
        let params = json!({"message": text("tck-complete-task-1", "hi"), "configuration": configuration});
        assert_eq!(refused(&hub, "SendMessage", params).await.0, -32602, "{url}");
    }
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 0);
    let waiting = task(&hub, "tck-input-required-1").await;
    for url in ["http://127.0.0.1:1/", "http://localhost/", "http://169.254.169.254/", "http://[::ffff:10.0.0.1]/"] {
        let later = json!({"taskId": waiting["id"], "url": url});
        assert_eq!(refused(&hub, "CreateTaskPushNotificationConfig", later.clone()).await.0, -32602, "{url}");
        let path = format!("/a2a/tasks/{}/pushNotificationConfigs", waiting["id"].as_str().expect("an id"));
        let answer = super::send(&hub, super::post(&path, &[super::V1], &json!({"url": url}))).await;
        assert_eq!(answer.status, 400, "{url}: {}", answer.text());
    }
    let listed = result(&hub, "ListTaskPushNotificationConfigs", json!({"taskId": waiting["id"]})).await;
    assert!(listed["configs"].as_array().is_none_or(Vec::is_empty), "{listed}");
}

/// Only by the setting: the same addresses, with it.
#[tokio::test]
async fn a_21_with_the_setting_a_webhook_inside_is_taken() {
    let hub = telling().await;
    let waiting = task(&hub, "tck-input-required-1").await;
    for url in ["http://127.0.0.1:1/", "http://localhost/", "http://10.0.0.1/", "http://[fd00::1]/"] {
        let made = result(&hub, "CreateTaskPushNotificationConfig", json!({"taskId": waiting["id"], "url": url})).await;
        assert_eq!(made["url"], url, "{made}");
    }
}

/// A name that leads inside is no way around the guard: it is looked up for every connection, and what it leads to then counts.
#[tokio::test]
async fn a_21_a_name_that_leads_inside_is_looked_up_and_not_called() {
    let webhook = Scripted::http(|_, _| Say::Json(Value::Null)).await;
    let address = webhook.address();
    let url = format!("http://rebind.example:{}/hook", address.port());
    for (allowed, more) in [(false, ""), (true, "a2a: { push_private_addresses: true }\n")] {
        let mut builder = builder(more);
        let names = Names::below(builder.directory(), "rebind.example", address.ip());
        for (name, value) in names.environment() {
            builder = builder.environment(name, value);
        }
        let hub = builder.start().await;
        let configuration = json!({"taskPushNotificationConfig": {"url": url}});
        let params = json!({"message": text("tck-complete-task-1", "hi"), "configuration": configuration});
        let done = result(&hub, "SendMessage", params).await["task"].take();
        assert_eq!(super::state(&done), "TASK_STATE_COMPLETED", "a webhook holds up nobody");
        if allowed {
            heard(&webhook, ended).await;
        } else {
            until("the name to be looked up again", async || names.asked() > 1).await;
            assert!(webhook.heard().is_empty(), "it was called: {:?}", webhook.heard());
        }
    }
}

#[tokio::test]
async fn a_22_a_webhook_that_fails_is_told_again_and_holds_up_nothing() {
    let hub = telling().await;
    let webhook = Scripted::http(|_, before| match before {
        0..=2 => Say::Status(500, Vec::new(), Value::Null),
        _ => Say::Json(Value::Null),
    })
    .await;
    let configuration = json!({"taskPushNotificationConfig": {"url": url(&webhook)}});
    let params = json!({"message": text("tck-complete-task-1", "hi"), "configuration": configuration});
    let done = result(&hub, "SendMessage", params).await["task"].take();
    assert_eq!(super::state(&done), "TASK_STATE_COMPLETED");
    let told = heard(&webhook, ended).await;
    assert_eq!(told[0], told[3], "the same event until it is taken");
}

#[tokio::test]
async fn a_22_what_a_webhook_was_not_told_before_a_crash_it_is_told_after() {
    let mut hub = telling().await;
    let webhook = Scripted::http(|heard, _| match heard.json()["statusUpdate"].is_null() {
        // The task itself is taken, the rest only when the hub is back.
        true => Say::Json(Value::Null),
        false => Say::Status(500, Vec::new(), Value::Null),
    })
    .await;
    let waiting = task(&hub, "tck-input-required-1").await;
    let dead = json!({"taskId": waiting["id"], "url": url(&webhook)});
    result(&hub, "CreateTaskPushNotificationConfig", dead).await;
    result(&hub, "SendMessage", json!({"message": to(&waiting, text("tck-complete-task-2", "x"))})).await;
    heard(&webhook, |heard| !heard.is_empty()).await;
    hub.kill_9();
    let before = webhook.heard().len();
    hub.restart().await;
    let again = heard(&webhook, |heard| heard.len() > before).await;
    assert_eq!(again[before], again[before - 1], "it goes on where it was");
}

/// One that takes the connection and never answers.
#[tokio::test]
async fn a_22_a_receiver_that_never_answers_blocks_neither_its_task_nor_another_receiver() {
    let hub = telling().await;
    let (dead, knocks) = interlingua_testkit::scripted::counting_listener().await;
    let live = Scripted::http(|_, _| Say::Json(Value::Null)).await;
    let waiting = task(&hub, "tck-input-required-1").await;
    for address in [dead, live.address()] {
        let config = json!({"taskId": waiting["id"], "url": format!("http://{address}/hook")});
        result(&hub, "CreateTaskPushNotificationConfig", config).await;
    }
    let done = result(&hub, "SendMessage", json!({"message": to(&waiting, text("tck-complete-task-2", "x"))})).await;
    assert_eq!(super::state(&done["task"]), "TASK_STATE_COMPLETED");
    heard(&live, ended).await;
    until("the dead one is tried", async || knocks.load(std::sync::atomic::Ordering::SeqCst) > 0).await;
}

/// The pauses take minutes; the hub's clock hurries, so that they take seconds here.
#[tokio::test]
async fn a_22_a_webhook_that_answers_500_is_told_ten_times_with_growing_waits_and_is_then_disabled_for_good() {
    let builder = builder("a2a: { push_private_addresses: true }\n");
    let clock = HurriedClock::below(builder.directory(), 20);
    let builder =
        clock.environment().into_iter().fold(builder, |builder, (name, value)| builder.environment(name, value));
    let mut hub = builder.start().await;
    let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let noted = times.clone();
    let webhook = Scripted::http(move |_, _| {
        noted.lock().expect("no test panicked").push(Instant::now());
        Say::Status(500, Vec::new(), Value::Null)
    })
    .await;
    let configuration = json!({"taskPushNotificationConfig": {"url": url(&webhook)}});
    let params = json!({"message": text("tck-input-required-1", "hi"), "configuration": configuration});
    let waiting = result(&hub, "SendMessage", params).await["task"].take();
    assert_eq!(super::state(&waiting), "TASK_STATE_INPUT_REQUIRED");
    logged(&hub, &["webhook_disabled"]).await;
    let told = webhook.heard();
    assert_eq!(told.len(), 10);
    assert!(told.iter().all(|again| again.body == told[0].body), "the same event each time");
    let times = times.lock().expect("no test panicked").clone();
    let pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses[8] > pauses[0] && pauses[8] > pauses[4] && pauses[4] > pauses[0], "{pauses:?}");

    // What comes later is told to others, and not to it, also by a hub that was started again.
    let live = Scripted::http(|_, _| Say::Json(Value::Null)).await;
    let config = json!({"taskId": waiting["id"], "url": url(&live)});
    result(&hub, "CreateTaskPushNotificationConfig", config).await;
    hub.kill_9();
    hub.restart().await;
    result(&hub, "SendMessage", json!({"message": to(&waiting, text("tck-complete-task-2", "x"))})).await;
    heard(&live, ended).await;
    assert_eq!(webhook.heard().len(), 10, "it is told no more");
}
