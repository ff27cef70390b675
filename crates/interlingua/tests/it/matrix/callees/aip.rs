//! Devices that speak as UFO's does: they list tools when `list_tools` asks for them, and answer one COMMAND with one COMMAND_RESULTS.
//! Every frame has all members, as pydantic writes them.
//!
//! A second device speaks the hub's wider profile, for files.

use std::sync::atomic::Ordering;

use interlingua_testkit::{Hub, WebSocket};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::super::behaviour::{Behaviour, Content, Named, Scene, bytes_as_text};
use super::super::notes::OfDevice;
use super::super::reasons;

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::tool("printer", on);
    match on {
        Behaviour::Stream => scene.lacking(reasons::AIP_ONE_RESULT),
        Behaviour::Question => scene.lacking(reasons::AIP_NO_QUESTIONS),
        Behaviour::Artifact => Scene { named: Named::Kept, ..Scene::tool("scanner", on) },
        Behaviour::Large => Scene { content: Content::AsText, ..scene },
        Behaviour::Answer | Behaviour::Failure | Behaviour::Cancel | Behaviour::Deadline => scene,
    }
}

/// A device at its work. Dropped, it is gone.
#[derive(Debug)]
pub(in super::super) struct Device(JoinHandle<()>);

impl Drop for Device {
    fn drop(&mut self) {
        self.0.abort();
    }
}

const TIME: &str = "2026-11-15T06:28:04.245606+00:00";
/// MD5 of `page one`.
const SUM: &str = "6f0cba7e8c78450abb4d5af036f77155";

/// A frame of a client, with every member that it has.
pub(in super::super) fn frame(of: &Value) -> String {
    let mut frame = json!({
        "type": null, "status": null, "client_type": "device", "session_id": null, "task_name": null, "client_id": null,
        "target_id": null, "request": null, "action_results": null, "timestamp": TIME, "request_id": null,
        "prev_response_id": null, "error": null, "metadata": null,
    });
    for (key, value) in of.as_object().expect("an object") {
        frame[key] = value.clone();
    }
    frame.to_string()
}

impl Device {
    /// The printer, which is UFO's, and the scanner, which sends files.
    pub(in super::super) async fn both(hub: &Hub, notes: &OfDevice) -> Vec<Device> {
        vec![Device::join(hub, "/ws", "printer", notes).await, Device::join(hub, "/aip/ws", "scanner", notes).await]
    }

    async fn join(hub: &Hub, path: &str, id: &'static str, notes: &OfDevice) -> Device {
        let mut socket = hub.websocket(path).await;
        let system = json!({
            "device_id": id, "platform": "linux", "os_version": "6.1", "cpu_count": 2, "memory_total_gb": 4.0,
            "hostname": id, "ip_address": "127.0.0.1", "supported_features": ["cli"], "platform_type": "computer",
            "schema_version": "1.0", "custom_metadata": {},
        });
        let register = json!({
            "type": "register", "status": "ok", "client_id": id,
            "metadata": {"system_info": system, "registration_time": TIME, "platform": "linux"},
        });
        socket.send_text(frame(&register)).await;
        assert_eq!(socket.next_json().await["status"], "ok");
        let working = Working { id, socket, notes: notes.clone(), slow: Vec::new() };
        Device(tokio::runtime::Handle::current().spawn(working.work()))
    }
}

/// What its tool router knows.
fn tools(id: &str) -> Value {
    let of_scanner = [(Behaviour::Artifact.scene(), Behaviour::Artifact.phrase())];
    let scenes = [
        Behaviour::Answer,
        Behaviour::Stream,
        Behaviour::Question,
        Behaviour::Failure,
        Behaviour::Cancel,
        Behaviour::Large,
    ];
    let of_printer =
        scenes.map(|on| (on.scene(), on.phrase())).into_iter().chain([("richest", "echo richest sayings")]);
    let named: Vec<(&str, &str)> = if id == "scanner" { of_scanner.into() } else { of_printer.collect() };
    let tool = |(name, about): (&str, &str)| {
        json!({
            "tool_key": format!("data_collection::{name}"), "tool_name": name, "title": null, "namespace": "T",
            "tool_type": "data_collection", "description": about, "input_schema": {"type": "object"}, "output_schema": null,
            "meta": null, "annotations": null,
        })
    };
    named.into_iter().map(tool).collect()
}

struct Working {
    id: &'static str,
    socket: WebSocket,
    notes: OfDevice,
    /// Sessions in which something takes hours.
    slow: Vec<Value>,
}

impl Working {
    /// Everything that is asked of it, until it is dropped. What takes hours is never answered.
    async fn work(mut self) {
        while let Some(message) = self.socket.next().await {
            let Some(text) = message.as_text() else { continue };
            let said: Value = serde_json::from_str(text).expect("JSON");
            match said["type"].as_str() {
                Some("command") => self.command(&said).await,
                Some("task_end") => self.over(&said),
                _ => {}
            }
        }
    }

    /// One result for each action, in their order.
    async fn command(&mut self, command: &Value) {
        let mut results = Vec::new();
        for action in command["actions"].as_array().expect("actions") {
            if action["tool_name"] == "slow" {
                self.slow.push(command["session_id"].clone());
                self.notes.begun.fetch_add(1, Ordering::SeqCst);
                return;
            }
            results.push(self.result(action).await);
        }
        let said = json!({
            "type": "command_results", "status": command["status"], "client_id": self.id,
            "session_id": command["session_id"], "prev_response_id": command["response_id"], "action_results": results,
        });
        self.socket.send_text(frame(&said)).await;
    }

    /// A task is over; one that has hours to go is then not wanted any more.
    fn over(&mut self, end: &Value) {
        let before = self.slow.len();
        self.slow.retain(|session| *session != end["session_id"]);
        if self.slow.len() < before && end["status"] == "failed" {
            self.notes.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn result(&mut self, action: &Value) -> Value {
        let result = match action["tool_name"].as_str().expect("a name") {
            "list_tools" => tools(self.id),
            "answer" => json!("forty-two"),
            "stream" => json!("one two three"),
            "question" => json!("Which day?"),
            "large" => json!(bytes_as_text()),
            "artifact" => self.file().await,
            "richest" => json!({"heard": action["parameters"]}),
            name => {
                let error = format!("Error calling tool '{name}': out of paper");
                return json!({"status": "failure", "error": error, "result": null, "namespace": "T", "call_id": action["call_id"]});
            }
        };
        json!({"status": "success", "error": null, "result": result, "namespace": "T", "call_id": action["call_id"]})
    }

    /// Sends a file, and tells under which name the hub keeps it.
    async fn file(&mut self) -> Value {
        let content = b"page one".to_vec();
        let size = content.len();
        let start = json!({"type": "file_transfer_start", "filename": "report", "size": size, "chunk_size": size,
            "total_chunks": 1, "mime_type": "text/plain"});
        let chunk = json!({"chunk_num": 0, "chunk_size": size, "type": "binary_data", "size": size, "timestamp": TIME});
        let complete =
            json!({"type": "file_transfer_complete", "filename": "report", "total_chunks": 1, "checksum": SUM});
        self.socket.send_text(start.to_string()).await;
        self.socket.send_text(chunk.to_string()).await;
        self.socket.send_binary(content).await;
        self.socket.send_text(complete.to_string()).await;
        loop {
            let said = self.socket.next_json().await;
            assert_ne!(said["type"], "error", "{said}");
            if said["result"]["artifact"].is_string() {
                return said["result"].clone();
            }
        }
    }
}
