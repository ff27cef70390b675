//! Which device gets a step: by what it can, what it runs and how loaded it says it is. The reason is told wherever the plan is.

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{Client, commands, constellation, device, hub, task};
use crate::support::{events, reaches, send, start};

/// A device that reports its load.
async fn loaded(hub: &Hub, id: &str, cpu: f64, free: f64, gpu: &[&str]) -> Client {
    let mut register = device(id);
    let info = &mut register["metadata"]["system_info"];
    (info["cpu_percent"], info["memory_available_gb"], info["gpu"]) = (json!(cpu), json!(free), json!(gpu));
    Client::registered(hub, "/ws", register).await
}

/// Printers 1 to 3: the first has no graphics processor, the third is busy.
async fn printers(hub: &Hub) -> [Client; 3] {
    [
        loaded(hub, "printer-1", 2.0, 7.5, &[]).await,
        loaded(hub, "printer-2", 41.0, 3.125, &["NVIDIA T4"]).await,
        loaded(hub, "printer-3", 88.0, 7.5, &["NVIDIA T4"]).await,
    ]
}

const REASON: &str =
    "chosen: printer-2, 41 % CPU, 3.1 GiB free; printer-1 has no GPU; printer-3 has 88 % CPU, 7.5 GiB free";

async fn rendering() -> Hub {
    let each = ["printer-1", "printer-2", "printer-3"].map(|id| format!("{id}: {{ effects: reads }}")).join(", ");
    hub(&format!("devices: {{ {each} }}")).await
}

fn plan(needs: Value) -> Value {
    let mut step = json!({"description": commands(&["render"]), "task_data": needs});
    step["device_type"] = json!("linux");
    json!({"tasks": {"render": step}})
}

#[tokio::test]
async fn a_step_for_a_gpu_goes_to_the_device_that_has_one_and_the_least_load() {
    let hub = rendering().await;
    let [_one, mut two, _three] = printers(&hub).await;
    let id =
        start(&hub, json!({"skill": "graph/run", "arguments": {"plan": plan(json!({"capability": "GPU"}))}})).await;
    let command = two.hear_a("command").await;
    two.does(&command).await;
    let ended = reaches(&hub, &id, "completed").await;
    let step = &ended["finished"]["structured"]["tasks"]["render"];
    assert_eq!((&step["assigned_device_id"], &step["assignment_reason"]), (&json!("printer-2"), &json!(REASON)));
    let headers = [("accept", "text/event-stream")];
    let stream = send(&hub, http::Method::GET, &format!("/api/tasks/{id}/events"), &headers, None).await;
    let mut told = events(&stream.text()).into_iter().map(|(_, _, data)| data["parts"][0]["data"].clone());
    let started = told.find(|event| event["event_type"] == "task_started").expect("it started");
    assert_eq!(started["reason"], REASON, "{started}");
}

#[tokio::test]
async fn memory_that_a_step_needs_decides_and_what_nobody_has_fails() {
    let hub = rendering().await;
    let [_one, _two, mut three] = printers(&hub).await;
    let needs = json!({"capability": "gpu", "memory_gb": 4});
    let id = start(&hub, json!({"skill": "graph/run", "arguments": {"plan": plan(needs)}})).await;
    let command = three.hear_a("command").await;
    three.does(&command).await;
    reaches(&hub, &id, "completed").await;
    let needs = json!({"capability": "gpu", "memory_gb": 4000});
    let id = start(&hub, json!({"skill": "graph/run", "arguments": {"plan": plan(needs)}})).await;
    let ended = reaches(&hub, &id, "failed").await;
    let error = &ended["finished"]["structured"]["tasks"]["render"]["error"];
    assert_eq!(error, "no peer that is known can do step render", "{ended}");
}

#[tokio::test]
async fn the_reason_is_shown_on_the_command_line_and_to_an_orchestrator() {
    let hub = rendering().await;
    let [_one, mut two, _three] = printers(&hub).await;
    let mut client = Client::registered(&hub, "/aip/ws", constellation("gal@graph", "graph")).await;
    client.say(task("graph", "gal@p1", &plan(json!({"capability": "gpu"})).to_string())).await;
    let command = two.hear_a("command").await;
    two.does(&command).await;
    two.hear_a("task_end").await;
    let mut told = Vec::new();
    loop {
        let frame = client.hear().await;
        if frame["type"] == "task_end" {
            break;
        }
        let lines = frame["messages"].as_array().cloned().unwrap_or_default();
        told.extend(lines.iter().filter_map(|line| serde_json::from_str::<Value>(line.as_str()?).ok()));
    }
    assert!(told.iter().any(|event| event["reason"] == REASON), "{told:?}");
    hub.write("plan.json", plan(json!({"capability": "gpu"})).to_string());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.current_dir(hub.directory()).args(["run", "plan.json", "--hub", &hub.url("")]);
    command.env("INTERLINGUA_TOKEN", hub.token().expect("a token"));
    let running = tokio::task::spawn_blocking(move || command.output().expect("the program runs"));
    let command = two.hear_a("command").await;
    two.does(&command).await;
    let output = running.await.expect("ends");
    let (shown, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&format!("render (printer-2) running: {REASON}")), "{said}");
    assert!(shown.contains("✔ render  [printer-2]  → "), "{shown}");
}
