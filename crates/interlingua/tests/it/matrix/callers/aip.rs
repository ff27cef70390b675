//! An orchestrator that speaks as UFO's constellation does. Only a deadline needs the wider profile.

use std::sync::atomic::{AtomicU64, Ordering};

use interlingua_testkit::WebSocket;
use serde_json::{Value, json};

use super::super::behaviour::{Behaviour, Scene};
use super::super::callees::frame;
use super::super::seen::Seen;
use super::super::stage::Stage;

pub(super) async fn call(stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
    let mut socket = begin(stage, scene, on).await;
    let mut seen = Seen::default();
    if on == Behaviour::Question {
        // Nobody may be asked here: where a yes is wanted, whoever may give it is asked elsewhere.
        tokio::select! {
            end = ended(&mut socket) => return read(stage, &end, seen).await,
            asked = stage.approved(scene) => seen.question = Some(asked),
        }
    }
    let end = ended(&mut socket).await;
    read(stage, &end, seen).await
}

pub(super) async fn give_up(stage: &Stage, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
    let socket = begin(stage, scene, Behaviour::Cancel).await;
    begun.await;
    drop(socket);
    Seen::new("left")
}

/// What a task in these words ends with.
pub(in super::super) async fn asked(stage: &Stage, peer: &'static str, words: &str) -> Value {
    let scene = Scene { words: words.to_owned(), ..Scene::tool(peer, Behaviour::Answer) };
    let mut socket = begin(stage, &scene, Behaviour::Answer).await;
    ended(&mut socket).await
}

async fn begin(stage: &Stage, scene: &Scene, on: Behaviour) -> WebSocket {
    static TURN: AtomicU64 = AtomicU64::new(0);
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let mut socket = stage.hub.websocket("/ws").await;
    let name = format!("matrix{turn}");
    let id = format!("{name}@{}", scene.peer);
    let mut metadata = json!({
        "type": "constellation_client", "task_name": name, "targeted_device_id": scene.peer,
        "capabilities": ["task_distribution", "session_management", "device_coordination"], "version": "2.0",
    });
    if on == Behaviour::Deadline {
        metadata["profile"] = json!("aip-1");
    }
    let of = json!({"client_type": "constellation", "client_id": id, "target_id": scene.peer});
    let said = |more: Value| {
        let mut said = of.clone();
        said.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        frame(&said)
    };
    socket.send_text(said(json!({"type": "register", "status": "ok", "metadata": metadata}))).await;
    let ack = socket.next_json().await;
    assert_eq!(ack["status"], "ok", "{ack}");
    // It asks what it has before it, as UFO's manager does.
    let info = format!("device_info_{}_1794724087.88", scene.peer);
    socket.send_text(said(json!({"type": "device_info_request", "status": "ok", "request_id": info}))).await;
    let told = socket.next_json().await;
    assert_eq!((&told["type"], &told["response_id"]), (&json!("device_info_response"), &json!(info)), "{told}");
    let mut task = json!({
        "type": "task", "status": "continue", "session_id": format!("{name}@t1"), "task_name": format!("galaxy/{name}/t1"),
        "request": scene.words,
    });
    if on == Behaviour::Deadline {
        task["metadata"] = json!({"timeout_ms": scene.seconds * 1000});
    }
    socket.send_text(said(task)).await;
    socket
}

async fn ended(socket: &mut WebSocket) -> Value {
    loop {
        let frame = socket.next_json().await;
        if frame["type"] == "task_end" {
            return frame;
        }
    }
}

async fn read(stage: &Stage, end: &Value, mut seen: Seen) -> Seen {
    seen.outcome = end["status"].as_str().unwrap_or_default().to_owned();
    if let Some(error) = end["error"].as_str() {
        // Only the wider profile has a word for the kind.
        seen.fault = Some(match end["metadata"]["fault"].as_str() {
            Some(kind) => format!("{kind}: {error}"),
            None => error.to_owned(),
        });
    }
    match &end["result"] {
        Value::String(text) => seen.texts.push(text.clone()),
        Value::Null => {}
        other => seen.data.push(other.clone()),
    }
    for line in end["messages"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(lost) = line.strip_prefix("lost on the way: ") {
            seen.losses.push(lost.replace(['(', ')'], ""));
        }
    }
    seen.lost(&end["metadata"]["losses"]);
    stage.fetch(&mut seen).await;
    seen
}
