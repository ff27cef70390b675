//! Frames that no well-behaved client sends: an answer or a close as the sheet says, no zombie socket, no stall.

use interlingua_testkit::raw::{Fin, Opcode, WebSocketFrames};
use serde_json::{Value, json};

use super::{Client, device, hub};

/// Every kind of frame that a plain server sends, as bytes: what a client says is the least that it may say.
#[tokio::test]
async fn p_03_p_04_every_frame_is_one_text_frame_with_every_member_in_order() {
    let hub = hub("").await;
    let mut device = hub.frames("/ws", &[]).await.expect("an upgrade");
    let mut asks = hub.frames("/ws", &[]).await.expect("an upgrade");
    let mut seen = std::collections::BTreeSet::new();
    let mut hear = async |socket: &mut WebSocketFrames| {
        let (first, payload) = socket.read().await.expect("a frame");
        assert_eq!(first, 0x81, "one whole frame of text");
        let members: indexmap::IndexMap<String, Value> = serde_json::from_slice(&payload).expect("one JSON object");
        assert_eq!(members.keys().map(String::as_str).collect::<Vec<_>>(), super::FRAME);
        assert!(members["type"].is_string() && members["status"].is_string(), "{members:?}");
        seen.insert(members["type"].as_str().unwrap_or_default().to_owned());
        json!(members)
    };
    let text = async |socket: &mut WebSocketFrames, frame: Value| {
        socket.send(Fin::Last, Opcode::Text, frame.to_string().as_bytes()).await;
    };
    text(&mut device, json!({"type": "register", "status": "ok", "client_id": "dev1"})).await;
    hear(&mut device).await;
    text(&mut device, json!({"type": "error", "status": "error"})).await;
    hear(&mut device).await;
    let register = json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": "gal"});
    text(&mut asks, register).await;
    hear(&mut asks).await;
    let who =
        json!({"type": "device_info_request", "status": "ok", "client_type": "constellation", "target_id": "dev1"});
    text(&mut asks, who).await;
    hear(&mut asks).await;
    let task = json!({"type": "task", "status": "continue", "client_type": "constellation", "target_id": "dev1",
        "request": super::commands(&["ls"])});
    text(&mut asks, task).await;
    hear(&mut asks).await;
    let command = hear(&mut device).await;
    let results = json!({"type": "command_results", "status": "continue", "session_id": command["session_id"],
        "prev_response_id": command["response_id"], "action_results": [{"status": "success"}]});
    text(&mut device, results).await;
    hear(&mut device).await;
    hear(&mut asks).await;
    let dispatched = json!({"client_id": "dev1", "request": "x", "task_name": "nightly"});
    assert_eq!(hub.post_json("/api/dispatch", &dispatched).await.status, 200);
    hear(&mut device).await;
    assert_eq!(
        seen.iter().map(String::as_str).collect::<Vec<_>>(),
        ["command", "device_info_response", "error", "heartbeat", "task", "task_end"]
    );
}

#[tokio::test]
async fn p_07_p_10_a_bad_first_frame_is_answered_and_closed() {
    let hub = hub("").await;
    for first in [
        r#"{"type":"heartbeat","status":"ok","client_id":"dev1"}"#,
        r#"{"type":"register","status":"ok"}"#,
        r#"{"type":"register","status":"ok","client_id":""}"#,
        r#"{"type":"register","client_id":"dev1"}"#,
        r#"{"type":"REGISTER","status":"ok","client_id":"dev1"}"#,
        "not json",
        "[]",
    ] {
        let mut client = Client::open(&hub, "/ws").await;
        client.socket.send_text(first).await;
        client.hear_a("error").await;
        assert_eq!(client.closed().await, 1008, "{first}");
    }
    let mut client = Client::open(&hub, "/ws").await;
    client.socket.send_binary(vec![1, 2, 3]).await;
    client.hear_a("error").await;
    assert_eq!(client.closed().await, 1008);
}

#[tokio::test]
async fn p_05_p_06_unknown_members_are_passed_over_and_words_are_matched_exactly() {
    let hub = hub("").await;
    let register = json!({"type": "register", "status": "ok", "client_id": "dev1", "colour": "blue"});
    let mut client = Client::registered(&hub, "/ws", register).await;
    let peers = hub.get("/api/peers").await.text();
    assert!(peers.contains("dev1"), "who does not say what it is, is a device: {peers}");
    client.say(json!({"type": "heartbeat", "status": "OK"})).await;
    client.hear_a("error").await;
    client.is_quiet("device").await;
}

#[tokio::test]
async fn p_36_p_37_p_38_p_40_what_cannot_be_taken_is_answered_and_the_socket_stays() {
    let hub = hub("").await;
    let mut client = Client::device(&hub, "dev1").await;
    client.say(json!({"type": "error", "status": "error", "error": "it hurts"})).await;
    assert_eq!(client.hear_a("error").await["error"], "it hurts");
    for empty in [json!({"type": "error", "status": "error"}), json!({"type": "error", "status": "error", "error": ""})]
    {
        client.say(empty).await;
        assert_eq!(client.hear_a("error").await["error"], "Unknown error");
    }
    client.say(json!({"type": "task_end", "status": "ok"})).await;
    assert_eq!(client.hear_a("error").await["error"], "Unknown message type: ClientMessageType.TASK_END");
    client.say(device("dev1")).await;
    assert_eq!(client.hear_a("error").await["error"], "Unknown message type: ClientMessageType.REGISTER");
    for text in [
        "{",
        "[]",
        r#"{"type":"nothing","status":"ok"}"#,
        r#"{"type":"heartbeat","status":7}"#,
        r#"{"type":"heartbeat"}"#,
    ] {
        client.socket.send_text(text).await;
        client.hear_a("error").await;
    }
    client.socket.send_binary(vec![0; 1000]).await;
    client.hear_a("error").await;
    client.is_quiet("device").await;
    client.ping().await;
    let pong = client.socket.next().await.expect("an answer");
    assert!(pong.is_pong(), "{pong:?}");
}

#[tokio::test]
async fn p_39_a_frame_that_is_too_large_ends_the_connection_and_one_just_under_does_not() {
    // A busy machine takes longer for such a frame than a connection may be silent before it is pinged.
    for (limits, under, over) in [("", 63, 65), ("limits: { body: 100MiB }\n", 99, 101)] {
        let hub = crate::support::hub(&format!("aip: {{ list_tools: 0s, heartbeat: 600s }}\n{limits}")).await;
        bounded(&hub, under, over).await;
    }
}

/// Of these sizes, in MiB, the first is taken and the second ends the connection.
async fn bounded(hub: &interlingua_testkit::Hub, under: usize, over: u64) {
    let mut socket = hub.frames("/ws", &[]).await.expect("an upgrade");
    socket.send(Fin::Last, Opcode::Text, device("dev1").to_string().as_bytes()).await;
    socket.read().await.expect("an acknowledgement");
    let large = format!(r#"{{"type":"heartbeat","status":"ok","error":"{}"}}"#, "x".repeat(under * 1024 * 1024));
    socket.send(Fin::Last, Opcode::Text, large.as_bytes()).await;
    let (_, answer) = socket.read().await.expect("an answer");
    assert!(String::from_utf8_lossy(&answer).contains("heartbeat"), "just under is taken");
    // Only the head: how much would follow.
    let mut head = vec![0x81, 0xFF];
    head.extend((over * 1024 * 1024).to_be_bytes());
    head.extend([0; 4]);
    socket.send_bytes(&head).await;
    assert_eq!(socket.read_close_code().await, Some(1009));
}

#[tokio::test]
async fn p_43_a_flood_is_answered_frame_by_frame_and_in_order() {
    let hub = hub("").await;
    let mut client = Client::device(&hub, "dev1").await;
    let mut calm = Client::device(&hub, "dev2").await;
    for n in 0..500 {
        client.say(json!({"type": "error", "status": "error", "error": n.to_string()})).await;
    }
    calm.is_quiet("device").await;
    for n in 0..500 {
        assert_eq!(client.hear_a("error").await["error"], n.to_string());
    }
    let early = [device("dev3").to_string(), json!({"type": "heartbeat", "status": "ok"}).to_string()];
    let mut client = Client::open(&hub, "/ws").await;
    for frame in early {
        client.socket.send_text(frame).await;
    }
    client.hear_a("heartbeat").await;
    client.hear_a("heartbeat").await;
    client.is_quiet("device").await;
}
