//! A device that speaks as UFO's does: one COMMAND, one COMMAND_RESULTS.

use interlingua_testkit::{Hub, WebSocket};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::super::behaviour::{Behaviour, Content, Scene, long};
use super::super::reasons::{self, Reason};

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    let scene = Scene::tool("printer", on);
    match on {
        Behaviour::Stream => Err(reasons::AIP_ONE_RESULT),
        Behaviour::Question => Err(reasons::AIP_NO_QUESTIONS),
        Behaviour::Artifact => Err(reasons::AIP_NO_ARTIFACTS),
        Behaviour::Large => Ok(Scene { content: Content::Text, ..scene }),
        Behaviour::Answer | Behaviour::Failure | Behaviour::Cancel | Behaviour::Deadline => Ok(scene),
    }
}

/// The device at its work. Dropped, it is gone.
#[derive(Debug)]
pub(in super::super) struct Device(JoinHandle<()>);

impl Drop for Device {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Device {
    pub(in super::super) async fn join(hub: &Hub) -> Device {
        let mut socket = hub.websocket("/ws").await;
        let scenes = [Behaviour::Answer, Behaviour::Failure, Behaviour::Cancel, Behaviour::Large];
        let named = scenes.map(|on| (on.scene(), on.phrase())).into_iter().chain([("richest", "echo richest sayings")]);
        let tools: Vec<Value> = named
            .map(|(name, about)| {
                json!({"tool_key": format!("data_collection::{name}"), "tool_name": name, "namespace": "T",
                    "tool_type": "data_collection", "description": about, "input_schema": {"type": "object"}})
            })
            .collect();
        let register = json!({
            "type": "register", "status": "ok", "client_type": "device", "client_id": "printer",
            "timestamp": "2026-11-15T06:28:04.245606+00:00",
            "metadata": {"platform": "linux", "tools": tools, "system_info": {"device_id": "printer", "platform": "linux"}},
        });
        socket.send_text(register.to_string()).await;
        assert_eq!(socket.next_json().await["status"], "ok");
        Device(tokio::runtime::Handle::current().spawn(work(socket)))
    }
}

/// Everything that is asked of it, until it is dropped. What takes hours is never answered.
async fn work(mut socket: WebSocket) {
    while let Some(message) = socket.next().await {
        let Some(text) = message.as_text() else { continue };
        let frame: Value = serde_json::from_str(text).expect("JSON");
        if frame["type"] != "command" {
            continue;
        }
        let actions = frame["actions"].as_array().expect("actions");
        let results: Option<Vec<Value>> = actions.iter().map(result).collect();
        if let Some(results) = results {
            let said = json!({
                "type": "command_results", "status": "continue", "client_type": "device", "client_id": "printer",
                "session_id": frame["session_id"], "prev_response_id": frame["response_id"], "action_results": results,
            });
            socket.send_text(said.to_string()).await;
        }
    }
}

fn result(action: &Value) -> Option<Value> {
    let (status, error, result) = match action["tool_name"].as_str()? {
        "answer" => ("success", Value::Null, json!("forty-two")),
        "large" => ("success", Value::Null, json!(long())),
        "richest" => ("success", Value::Null, json!({"heard": action["parameters"]})),
        "failure" => ("failure", json!("out of paper"), Value::Null),
        _ => return None,
    };
    Some(json!({"status": status, "error": error, "result": result, "namespace": "T", "call_id": action["call_id"]}))
}
