//! AIP over real sockets, requirement by requirement: what a device, an orchestrator or a program sends to the real program.

mod devices;
mod files;
mod graphs;
mod hostile;
mod http;
mod layers;
mod machine;
mod placement;
mod planner;
mod profile;
mod register;
mod reports;
mod slow;
mod strangers;
mod tasks;
mod telemetry;
mod told;
mod weather;

use indexmap::IndexMap;
use interlingua_testkit::{Hub, WebSocket};
use serde_json::{Value, json};
use tokio_websockets::Message;

/// Every member of a server's frame, in the order in which the Python implementation writes them.
const FRAME: [&str; 14] = [
    "type",
    "status",
    "user_request",
    "agent_name",
    "process_name",
    "root_name",
    "actions",
    "messages",
    "error",
    "session_id",
    "task_name",
    "timestamp",
    "response_id",
    "result",
];

async fn hub(aip: &str) -> Hub {
    crate::support::hub(&format!("aip: {{ list_tools: 0s{}{aip} }}", if aip.is_empty() { "" } else { ", " })).await
}

/// Somebody who is connected.
struct Client {
    socket: WebSocket,
}

impl Client {
    async fn open(hub: &Hub, path: &str) -> Client {
        Client { socket: hub.websocket(path).await }
    }

    async fn say(&mut self, frame: Value) {
        self.socket.send_text(frame.to_string()).await;
    }

    /// The next frame, which has the shape of every frame: one JSON object with all members in their order (P-03, P-04).
    async fn hear(&mut self) -> Value {
        let message = self.socket.next_data().await;
        let text = message.as_text().expect("text frames only");
        let members: IndexMap<String, Value> = serde_json::from_str(text).expect("one JSON object");
        let keys: Vec<&str> = members.keys().map(String::as_str).filter(|key| *key != "metadata").collect();
        assert_eq!(keys, FRAME, "{text}");
        let timestamp = members["timestamp"].as_str().expect("a time");
        assert!(timestamp.ends_with("+00:00"), "{timestamp}");
        serde_json::from_str(text).expect("JSON")
    }

    /// The next frame, which is of this kind.
    async fn hear_a(&mut self, kind: &str) -> Value {
        let frame = self.hear().await;
        assert_eq!(frame["type"], kind, "{frame}");
        frame
    }

    /// The code of the close that comes next; 1005 when it has none.
    async fn closed(&mut self) -> u16 {
        loop {
            match self.socket.next().await {
                None => return 1006,
                Some(message) if message.is_close() => {
                    return message.as_close().map_or(1005, |(code, _)| u16::from(code));
                }
                Some(message) => assert!(message.is_ping() || message.is_pong(), "{message:?}"),
            }
        }
    }

    /// Nothing came before the answer to this heartbeat.
    async fn is_quiet(&mut self, kind: &str) {
        self.say(json!({"type": "heartbeat", "status": "ok", "client_type": kind})).await;
        let frame = self.hear_a("heartbeat").await;
        assert_eq!((&frame["status"], &frame["session_id"]), (&json!("ok"), &Value::Null));
    }

    async fn registered(hub: &Hub, path: &str, register: Value) -> Client {
        let mut client = Client::open(hub, path).await;
        client.say(register).await;
        let ack = client.hear_a("heartbeat").await;
        assert_eq!(ack["status"], "ok");
        let id = ack["response_id"].as_str().unwrap_or_default();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        let is_hex = id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
        assert!(lengths == [8, 4, 4, 4, 12] && is_hex, "a UUID: {ack}");
        client
    }

    async fn device(hub: &Hub, id: &str) -> Client {
        Client::registered(hub, "/ws", device(id)).await
    }

    async fn constellation(hub: &Hub, id: &str, target: &str) -> Client {
        Client::registered(hub, "/ws", constellation(id, target)).await
    }

    /// Answers a COMMAND: every action succeeded with its own name.
    async fn does(&mut self, command: &Value) {
        let actions = command["actions"].as_array().expect("actions");
        let results: Vec<Value> = actions
            .iter()
            .map(|action| {
                json!({"status": "success", "error": null, "result": action["tool_name"], "namespace": "T",
                       "call_id": action["call_id"]})
            })
            .collect();
        self.results(command, Value::Array(results)).await;
    }

    async fn results(&mut self, command: &Value, results: Value) {
        self.say(json!({
            "type": "command_results", "status": "continue", "session_id": command["session_id"],
            "prev_response_id": command["response_id"], "action_results": results,
        }))
        .await;
    }

    async fn ping(&mut self) {
        self.socket.send(Message::ping(bytes::Bytes::from_static(b"there?"))).await;
    }
}

fn device(id: &str) -> Value {
    json!({
        "type": "register", "status": "ok", "client_type": "device", "client_id": id,
        "timestamp": "2026-11-15T06:28:04.245606+00:00",
        "metadata": {
            "platform": "linux", "registration_time": "2026-11-15T06:28:04.245606+00:00",
            "system_info": {
                "device_id": id, "platform": "linux", "os_version": "6.1", "cpu_count": 2, "memory_total_gb": 3.8,
                "hostname": "box", "ip_address": "127.0.0.1", "supported_features": ["shell"],
                "platform_type": "computer", "schema_version": "1.0", "custom_metadata": {},
            },
        },
    })
}

fn constellation(id: &str, target: &str) -> Value {
    json!({
        "type": "register", "status": "ok", "client_type": "constellation", "client_id": id, "target_id": target,
        "metadata": {"type": "constellation_client", "task_name": "gal", "targeted_device_id": target, "version": "2.0"},
    })
}

/// A task of a constellation, as the Python one asks for it.
fn task(target: &str, session: &str, request: &str) -> Value {
    json!({
        "type": "task", "status": "continue", "client_type": "constellation", "target_id": target,
        "session_id": session, "task_name": "galaxy/gal/t1", "request": request,
    })
}

/// A request that says exactly what to do.
fn commands(tools: &[&str]) -> String {
    let list: Vec<Value> = tools.iter().map(|tool| json!({"tool_name": tool, "parameters": {"a": 1}})).collect();
    Value::Array(list).to_string()
}
