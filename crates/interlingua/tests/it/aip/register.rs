//! Registration: which clients are accepted, under which name, and detection of lost clients.

use std::time::Duration;

use interlingua_testkit::raw::WebSocketFrames;
use serde_json::json;

use super::{Client, constellation, device, hub};
use crate::support::{at_most, until};

#[tokio::test]
async fn p_01_the_two_paths_upgrade_and_another_does_not() {
    let hub = hub("").await;
    for path in ["/ws", "/aip/ws"] {
        assert!(hub.frames(path, &[]).await.is_ok(), "{path}");
    }
    assert_eq!(hub.frames("/ws/other", &[]).await.err(), Some(403));
}

#[tokio::test]
async fn p_02_with_a_key_set_only_its_holders_are_let_in() {
    let hub = hub("key: s3cret, devices: { own: { key: mine } }").await;
    for path in ["/ws", "/ws?token=wrong", "/ws?token=", "/ws?other=s3cret", "/aip/ws"] {
        assert_eq!(WebSocketFrames::open(hub.address(), path, &[]).await.err(), Some(403), "{path}");
    }
    let mut open = Client::registered(&hub, "/ws?token=s3cret", device("dev1")).await;
    open.is_quiet("device").await;
    Client::registered(&hub, "/ws?token=mine", device("own")).await;
    for (path, id) in [("/ws?token=s3cret", "own"), ("/ws?token=mine", "dev2")] {
        let mut client = Client::open(&hub, path).await;
        client.say(device(id)).await;
        client.hear_a("error").await;
        assert_eq!(client.closed().await, 1008, "{path}");
    }
    assert!(!hub.log().contains("s3cret"), "the key is in no log");
}

#[tokio::test]
async fn p_02_keys_of_devices_change_without_a_restart() {
    let mut hub = hub("key: s3cret, devices: { own: { key: mine } }").await;
    let mut before = Client::registered(&hub, "/ws?token=mine", device("own")).await;
    hub.write("interlingua.yaml", "aip: { list_tools: 0s, key: n3w, devices: { own: { key: its-new-one } } }\n");
    hub.reload();
    let refused = async |path: &str| WebSocketFrames::open(hub.address(), path, &[]).await.err() == Some(403);
    until("the old keys are refused", async || refused("/ws?token=mine").await && refused("/ws?token=s3cret").await)
        .await;
    // Who came in by one of them is let out.
    before.say(json!({"type": "heartbeat", "status": "ok", "client_type": "device"})).await;
    assert_eq!(before.closed().await, 1008);
    Client::registered(&hub, "/ws?token=n3w", device("other")).await;
    until("its id is free", async || {
        let mut client = Client::open(&hub, "/ws?token=its-new-one").await;
        client.say(device("own")).await;
        client.hear().await["type"] == "heartbeat"
    })
    .await;
}

#[tokio::test]
async fn p_08_p_14_p_18_a_device_is_acknowledged_and_its_heartbeats_too() {
    let hub = hub("").await;
    let mut client = Client::device(&hub, "dev1").await;
    let mut seen = Vec::new();
    for heartbeat in [
        json!({"type": "heartbeat", "status": "ok", "client_id": "dev1"}),
        json!({"type": "heartbeat", "status": "ok"}),
    ] {
        client.say(heartbeat).await;
        let ack = client.hear_a("heartbeat").await;
        assert_eq!(ack["status"], "ok");
        seen.push(ack["response_id"].as_str().expect("an id").to_owned());
    }
    assert_ne!(seen[0], seen[1], "every answer has an id of its own");
    assert_eq!(seen[0].len(), 36);
}

#[tokio::test]
async fn p_09_p_13_an_id_belongs_to_the_living_and_is_free_when_its_connection_ends() {
    let hub = hub("").await;
    let mut first = Client::device(&hub, "dev1").await;
    let mut second = Client::open(&hub, "/ws").await;
    second.say(device("dev1")).await;
    let refused = async {
        let error = second.hear_a("error").await;
        assert!(error["error"].as_str().is_some_and(|text| text.contains("'dev1' is already registered")), "{error}");
        second.closed().await
    };
    // The owner answers its probe, as any client does that reads.
    let reading = async {
        loop {
            first.socket.next().await;
        }
    };
    let code = tokio::select! {
        code = refused => code,
        () = reading => 0,
    };
    assert_eq!(code, 1000);
    first.is_quiet("device").await;
    drop(first);
    // The hub hears of the close in its own time.
    let mut again = Client::open(&hub, "/ws").await;
    again.say(device("dev1")).await;
    assert_eq!(again.hear().await["status"], "ok");
}

#[tokio::test]
async fn p_11_p_12_a_target_must_be_there_and_none_at_all_is_fine() {
    let hub = hub("").await;
    let mut client = Client::open(&hub, "/ws").await;
    client.say(constellation("gal@ghost", "ghost")).await;
    assert_eq!(client.hear_a("error").await["error"], "Target device 'ghost' is not connected");
    assert_eq!(client.closed().await, 1000);
    let free = json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal"});
    Client::registered(&hub, "/ws", free).await;
    let _device = Client::device(&hub, "dev1").await;
    Client::constellation(&hub, "gal@dev1", "dev1").await.is_quiet("constellation").await;
    Client::constellation(&hub, "gal@local", "local").await.is_quiet("constellation").await;
    let mut nested = Client::open(&hub, "/ws").await;
    nested.say(constellation("x", "gal@local")).await;
    assert_eq!(nested.hear_a("error").await["error"], "Target device 'gal@local' is not connected");
    assert_eq!(nested.closed().await, 1000);
}

#[tokio::test]
async fn p_15_a_galaxy_heartbeat_is_acknowledged_though_it_says_device() {
    let hub = hub("").await;
    let _device = Client::device(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(json!({"type": "heartbeat", "status": "ok", "client_type": "device", "client_id": "gal@dev1", "metadata": {"device_id": "dev1"}})).await;
    assert_eq!(client.hear_a("heartbeat").await["status"], "ok");
    client.say(json!({"type": "heartbeat", "status": "ok"})).await;
    assert_eq!(client.hear_a("heartbeat").await["status"], "ok", "nor does it say anything");
    let mut device = Client::device(&hub, "dev2").await;
    device.say(json!({"type": "heartbeat", "status": "ok", "client_type": "constellation"})).await;
    assert_eq!(device.hear_a("error").await["error"], "client_type does not match the registered connection");
}

#[tokio::test]
async fn p_19_p_20_p_21_p_22_device_info_is_told_to_who_may_ask() {
    let hub = hub("").await;
    let mut dev = Client::device(&hub, "dev1").await;
    let _other = Client::device(&hub, "dev2").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    let ask = |target: &str| json!({"type": "device_info_request", "status": "ok", "client_type": "constellation", "target_id": target, "request_id": "r1"});
    client.say(ask("dev1")).await;
    let told = client.hear_a("device_info_response").await;
    let stored = &device("dev1")["metadata"]["system_info"];
    assert_eq!((&told["response_id"], &told["result"]), (&json!("r1"), stored));
    client.say(ask("dev2")).await;
    assert_eq!(client.hear_a("error").await["error"], "Not authorized to request device info for this device");
    let free = json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal"});
    let mut free = Client::registered(&hub, "/ws", free).await;
    free.say(ask("ghost")).await;
    let told = free.hear_a("device_info_response").await;
    assert_eq!(told["status"], "ok");
    assert_eq!(told["result"]["error"], "Device ghost not found or no system info available");
    free.say(ask("local")).await;
    let told = free.hear_a("device_info_response").await;
    assert_eq!(told["result"]["device_id"], "local", "any peer is described: {told}");
    dev.say(json!({"type": "device_info_request", "status": "ok", "target_id": "dev1"})).await;
    assert_eq!(dev.hear_a("error").await["error"], "DEVICE_INFO_REQUEST is permitted only for constellation clients");
    dev.say(json!({"type": "device_info_response", "status": "ok", "metadata": {"system_info": {}}})).await;
    dev.is_quiet("device").await;
    client.say(ask("dev1")).await;
    assert_eq!(client.hear_a("device_info_response").await["result"], *stored, "what it said then is ignored");
}

#[tokio::test]
async fn p_41_g3_a_peer_that_answers_no_ping_is_gone_within_the_configured_time() {
    let (interval, timeout) = (Duration::from_secs(1), Duration::from_secs(1));
    let hub = hub("heartbeat: 1s, grace: 1s").await;
    let mut alive = Client::device(&hub, "alive").await;
    // It is never read again, so that nothing answers for it.
    let dead = Client::device(&hub, "dead").await;
    let reading = async {
        loop {
            alive.socket.next().await;
        }
    };
    let gone = until("the dead device is gone and the living one is not", async || {
        let names = hub.get("/api/clients").await.json();
        names["online_clients"] == json!(["alive"])
    });
    let gone = at_most("a dead peer is removed", interval + timeout, gone);
    tokio::select! {
        () = gone => {}
        () = reading => {}
    }
    drop(dead);
}

#[tokio::test]
async fn p_10_whoever_says_nothing_is_closed_after_ten_seconds() {
    let hub = hub("").await;
    let mut silent = Client::open(&hub, "/ws").await;
    let deadline = Duration::from_secs(10);
    assert_eq!(at_most("it is closed", deadline, silent.closed()).await, 1008);
}

#[tokio::test]
async fn p_42_a_half_open_device_is_taken_over_by_itself() {
    let hub = hub("").await;
    let old = Client::device(&hub, "dev1").await;
    // Nobody reads the old socket, so that its probe stays without an answer.
    let mut new = Client::device(&hub, "dev1").await;
    new.is_quiet("device").await;
    drop(old);
}

#[tokio::test]
async fn p_61_a_device_that_left_is_quarantined_with_when_it_was_seen_and_then_removed() {
    let hub = hub("grace: 10s").await;
    let device = Client::device(&hub, "dev1").await;
    let shown = async || {
        let peers = hub.get("/api/peers").await.json();
        peers["items"].as_array().expect("peers").iter().find(|peer| peer["name"] == "dev1").cloned()
    };
    let here = shown().await.expect("it is a peer as soon as it is let in");
    assert_eq!((&here["class"], &here["health"]), (&json!("device"), &json!("up")));
    drop(device);
    let mut away = json!(null);
    until("it is quarantined", async || {
        away = shown().await.unwrap_or_else(|| panic!("it is removed only after its time"));
        away["health"] == "down" && away["quarantined"] == true
    })
    .await;
    assert!(away["seen"].is_string() && away["seen"] == away["down_since"], "when it was last seen: {away}");
    until("it is forgotten", async || shown().await.is_none()).await;
}
