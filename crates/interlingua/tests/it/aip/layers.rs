//! Middleware and handlers of a program that embeds the hub, and message types that configuration maps to skills.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use interlingua::config::{self, Overrides};
use interlingua::server::run::Server;
use interlingua_aip::layers::{Chain, Handlers, Middleware};
use interlingua_aip::wire::{ClientMessage, ServerMessage};
use interlingua_aip::{Extensions, Foreign};
use interlingua_model::{Fault, FaultKind, Text};
use interlingua_testkit::WebSocket;
use serde_json::{Value, json};

use super::{Client, commands, device, hub};

/// Leaves its mark on every frame: in `messages` on the way out, in a task's name on the way in.
struct Mark(&'static str);

impl Middleware<ServerMessage, ClientMessage> for Mark {
    fn outgoing(&self, mut frame: ServerMessage) -> Result<ServerMessage, Fault> {
        frame.messages.get_or_insert_default().push(self.0.into());
        Ok(frame)
    }

    fn incoming(&self, mut frame: ClientMessage) -> Result<ClientMessage, Fault> {
        if frame.request.as_deref() == Some("forbidden") {
            return Err(Fault::caller(FaultKind::Denied, format!("stopped by {}", self.0)));
        }
        let marked: Option<Text> = frame.task_name.as_deref().map(|name| format!("{name}{}", self.0).into());
        frame.task_name = marked;
        Ok(frame)
    }
}

fn extensions(beats: &Arc<AtomicUsize>, cities: &Arc<Mutex<Vec<String>>>) -> Extensions {
    let (beats, cities) = (beats.clone(), cities.clone());
    let broken = || Fault::hub(FaultKind::Internal, "broken");
    Extensions {
        middleware: Chain::default().with(Mark("1")).with(Mark("2")).with(Mark("3")),
        observers: Handlers::default().on("heartbeat", move |_| Err(broken())).on("heartbeat", move |_| {
            beats.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }),
        kinds: Handlers::default().on("weather", move |_: &Foreign| Err(broken())).on("weather", move |foreign| {
            let city = foreign.frame.members().text("city").unwrap_or_default().into_owned();
            cities.lock().expect("a list").push(format!("{city} for {}", foreign.from.id));
            Ok(Some(json!({"sunny": true}).into()))
        }),
    }
}

#[tokio::test]
async fn p_47_g5_middleware_sees_frames_in_order_and_a_handler_that_fails_stops_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let yaml = "listen: 127.0.0.1:0\nstore: { embedded: ./data }\naip: { list_tools: 0s }\n";
    let file = directory.path().join("interlingua.yaml");
    let loaded = config::load_text(yaml, &file, &Overrides::default(), &|_| None).expect("a configuration");
    let server = Server::start(&loaded.config).await.expect("the hub starts");
    let (beats, cities) = (Arc::default(), Arc::default());
    server.endpoints.aip.0.own.extend(extensions(&beats, &cities));

    let token = std::fs::read_to_string(directory.path().join("data/token")).expect("the Owner's token");
    let mut client = Client { socket: WebSocket::open_with(server.address, "/ws", Some(&token)).await };
    client.say(device("dev1")).await;
    let ack = client.hear_a("heartbeat").await;
    assert_eq!(ack["messages"], json!(["1", "2", "3"]), "out in the order of adding");
    client.say(json!({"type": "task", "status": "continue", "task_name": "t", "request": commands(&["ls"])})).await;
    client.hear_a("heartbeat").await;
    let command = client.hear_a("command").await;
    assert_eq!(command["task_name"], "t321", "in in the reverse");
    client.does(&command).await;
    client.hear_a("task_end").await;
    client.say(json!({"type": "task", "status": "continue", "request": "forbidden"})).await;
    assert_eq!(client.hear_a("error").await["error"], "stopped by 3", "the first that it meets");
    client.say(json!({"type": "heartbeat", "status": "ok"})).await;
    client.hear_a("heartbeat").await;
    assert_eq!(beats.load(Ordering::SeqCst), 1);

    client.say(json!({"type": "weather", "status": "ok", "request_id": "w1", "city": "Oslo"})).await;
    let answer = client.socket.next_json().await;
    let told = (&answer["type"], &answer["status"], &answer["response_id"], &answer["result"]);
    assert_eq!(told, (&json!("weather"), &json!("completed"), &json!("w1"), &json!({"sunny": true})));
    assert_eq!(*cities.lock().expect("a list"), ["Oslo for dev1"]);
    client.say(json!({"type": "tides", "status": "ok"})).await;
    assert_eq!(client.hear_a("error").await["status"], "error", "nobody has agreed on it");
    drop(client);
    server.stop().await;
}

#[tokio::test]
async fn g5_a_kind_of_message_that_configuration_names_calls_its_skill() {
    let hub = hub("messages: { count: local/steps, jam: local/fails, wipe: local/erase }").await;
    let mut device = Client::device(&hub, "dev1").await;
    let mut asks = async |frame: Value| {
        device.say(frame).await;
        device.socket.next_json().await
    };
    let counted = asks(json!({"type": "count", "status": "ok", "request_id": "c1", "session_id": "s"})).await;
    assert_eq!((&counted["type"], &counted["status"]), (&json!("count"), &json!("completed")));
    assert_eq!((&counted["response_id"], &counted["session_id"]), (&json!("c1"), &json!("s")));
    assert_eq!((&counted["result"], &counted["error"]), (&json!({"counted": 2}), &Value::Null));
    let jammed = asks(json!({"type": "jam", "status": "ok"})).await;
    assert_eq!((&jammed["status"], &jammed["error"]), (&json!("failed"), &json!("out of paper")));
    let wiped = asks(json!({"type": "wipe", "status": "ok"})).await;
    assert_eq!((&wiped["type"], &wiped["status"]), (&json!("wipe"), &json!("failed")), "its arguments are checked");
    let unknown = asks(json!({"type": "tides", "status": "ok"})).await;
    assert_eq!(unknown["type"], "error");
    let early = {
        let mut stranger = Client::open(&hub, "/ws").await;
        stranger.say(json!({"type": "count", "status": "ok"})).await;
        stranger.hear_a("error").await;
        stranger.closed().await
    };
    assert_eq!(early, 1008, "nobody is heard who has not registered");
}
