//! Devices behind an unreliable connection: cut, stalled, half open, slow. Every message arrives once, and a lost device is detected.

use std::time::Duration;

use interlingua_testkit::proxy::{Proxy, Weather};
use interlingua_testkit::{Hub, WebSocket};
use serde_json::json;

use super::{Client, commands, hub, task};
use crate::support::until;

async fn behind(hub: &Hub, proxy: &Proxy, register: serde_json::Value) -> Client {
    let mut client = Client { socket: WebSocket::open_with(proxy.address(), "/ws", hub.token().as_deref()).await };
    client.say(register).await;
    assert_eq!(client.hear().await["status"], "ok");
    assert!(hub.get("/api/clients").await.text().contains("dev1"));
    client
}

fn wide(more: serde_json::Value) -> serde_json::Value {
    let mut register = super::device("dev1");
    register["metadata"]["profile"] = json!("aip-1");
    register["metadata"]["instance"] = json!("one");
    register["metadata"]["resume"] = more;
    register
}

#[tokio::test]
async fn g3_a_stalled_device_is_noticed_and_its_task_fails() {
    let hub = hub("heartbeat: 300ms").await;
    let proxy = Proxy::before(hub.address()).await;
    let mut device = behind(&hub, &proxy, super::device("dev1")).await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "s1", &commands(&["ls"]))).await;
    client.hear_a("heartbeat").await;
    device.hear_a("command").await;
    proxy.turn(Weather::Stalled);
    let end = client.hear_a("task_end").await;
    assert_eq!(end["error"], "Task was cancelled because target device disconnected");
}

#[tokio::test]
async fn p_42_a_device_that_comes_back_by_another_way_takes_its_place_over() {
    let hub = hub("").await;
    let proxy = Proxy::before(hub.address()).await;
    let _old = behind(&hub, &proxy, super::device("dev1")).await;
    proxy.turn(Weather::HalfOpen);
    // Its pings do not arrive any more, so that no sign of life comes back.
    let mut new = Client::device(&hub, "dev1").await;
    new.is_quiet("device").await;
}

#[tokio::test]
async fn g6_a_cut_line_loses_no_result_and_repeats_no_command() {
    let hub = hub("").await;
    let proxy = Proxy::before(hub.address()).await;
    let mut device = behind(&hub, &proxy, wide(json!({}))).await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "s1", &json!([[{"tool_name": "a"}], [{"tool_name": "b"}]]).to_string())).await;
    client.hear_a("heartbeat").await;
    let first = device.hear_a("command").await;
    proxy.turn(Weather::Cut);
    until("the hub has noticed", async || !hub.get("/api/clients").await.text().contains("\"dev1\"")).await;
    proxy.turn(Weather::Slow(Duration::from_millis(20)));
    let mut device = behind(&hub, &proxy, wide(json!({"s1": [first["response_id"]]}))).await;
    // The result is sent twice, as by somebody who does not know whether it arrived: it counts once.
    device.does(&first).await;
    device.does(&first).await;
    let second = device.hear_a("command").await;
    assert_eq!(second["actions"][0]["tool_name"], "b");
    device.does(&second).await;
    assert_eq!(client.hear_a("task_end").await["result"], json!(["a", "b"]));
}

#[tokio::test]
async fn g6_what_the_line_says_again_on_the_next_connection_has_no_effect() {
    let hub = hub("").await;
    let proxy = Proxy::before(hub.address()).await;
    let mut device = behind(&hub, &proxy, wide(json!({}))).await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "s1", &json!([[{"tool_name": "a"}], [{"tool_name": "b"}]]).to_string())).await;
    client.hear_a("heartbeat").await;
    let first = device.hear_a("command").await;
    device.does(&first).await;
    let second = device.hear_a("command").await;
    proxy.turn(Weather::Cut);
    until("the hub has noticed", async || !hub.get("/api/clients").await.text().contains("\"dev1\"")).await;
    // The results of the first command come once more, right behind the register.
    proxy.turn(Weather::Repeating);
    let begun = json!({"s1": [first["response_id"], second["response_id"]]});
    let mut device = behind(&hub, &proxy, wide(begun)).await;
    device.is_quiet("device").await;
    device.does(&second).await;
    assert_eq!(client.hear_a("task_end").await["result"], json!(["a", "b"]));
}
