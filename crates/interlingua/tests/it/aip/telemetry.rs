//! What devices report of themselves: read from every spelling, refused field by field, kept for a day, and shown to whoever may see the
//! device.

use std::process::{Command, Stdio};

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{Client, commands, hub};
use crate::support::{builder, send, until};

/// As the description of the protocol registers a device.
fn flat() -> Value {
    json!({
        "type": "register", "status": "ok", "client_type": "device", "client_id": "windows_agent_001",
        "timestamp": "2026-11-15T06:28:04.245606+00:00",
        "metadata": {
            "platform": "windows", "os_version": "Windows 11", "cpu": "Intel i7", "ram_gb": 16,
            "capabilities": ["ui_automation", "file_operations"],
        },
    })
}

/// A device of the wider profile.
fn wide(id: &str, more: Value) -> Value {
    let mut register = super::device(id);
    register["metadata"]["profile"] = json!("aip-1");
    if let Some(more) = more.as_object() {
        register["metadata"]["system_info"].as_object_mut().expect("an object").extend(more.clone());
    }
    register
}

async fn reports(device: &mut Client, info: Value) {
    device.say(json!({"type": "device_info_response", "status": "ok", "metadata": {"system_info": info}})).await;
    // What came before the answer to this was read.
    device.is_quiet("device").await;
}

async fn shown(hub: &Hub, id: &str) -> Value {
    let mut view = json!(null);
    until("the device is listed", async || {
        let answer = hub.get(&format!("/api/devices/{id}")).await;
        view = answer.json();
        answer.status == 200
    })
    .await;
    view
}

/// Row 150 of what was promised: the example of the description is a full profile.
#[tokio::test]
async fn a_device_that_registers_flat_is_profiled_in_every_member() {
    let hub = hub("").await;
    let mut device = Client::registered(&hub, "/ws", flat()).await;
    let view = shown(&hub, "windows_agent_001").await;
    for (member, expected) in [
        ("platform", json!("windows")),
        ("os_version", json!("Windows 11")),
        ("cpu", json!("Intel i7")),
        ("memory_total_gb", json!(16.0)),
        ("capabilities", json!(["file_operations", "ui_automation"])),
        ("profile", json!("aip/ufo")),
        ("health", json!("up")),
    ] {
        assert_eq!(view[member], expected, "{member}: {view}");
    }
    assert_eq!(view.get("refused"), None, "{view}");
    let peers = hub.get("/api/peers").await.text();
    assert!(peers.contains("a device (windows)"), "{peers}");
    let skills = hub.get("/api/skills").await.json();
    let tags = skills["items"].as_array().expect("skills").iter().find(|skill| skill["id"] == "windows_agent_001/do");
    assert_eq!(tags.map(|skill| &skill["tags"]), Some(&json!(["file_operations", "ui_automation"])), "{skills}");

    let mut client = Client::constellation(&hub, "gal@windows_agent_001", "windows_agent_001").await;
    client
        .say(json!({"type": "device_info_request", "status": "ok", "client_type": "constellation", "target_id": "windows_agent_001", "request_id": "r1"}))
        .await;
    let info = &client.hear_a("device_info_response").await["result"];
    for (member, expected) in [
        ("platform", json!("windows")),
        ("cpu", json!("Intel i7")),
        ("ram_gb", json!(16)),
        ("memory_total_gb", json!(16)),
        ("supported_features", json!(["ui_automation", "file_operations"])),
    ] {
        assert_eq!(info[member], expected, "{member}: {info}");
    }
    client.say(super::task("windows_agent_001", "s1", &commands(&["ls"]))).await;
    client.hear_a("heartbeat").await;
    let command = device.hear_a("command").await;
    assert_eq!(command["agent_name"], "HostAgent", "the agent of its platform: {command}");
    device.does(&command).await;
    assert_eq!(client.hear_a("task_end").await["status"], "completed");
}

#[tokio::test]
async fn every_measure_of_a_report_is_shown_and_sampled() {
    let hub = hub("").await;
    let mut device = Client::registered(&hub, "/ws", wide("box", json!({}))).await;
    shown(&hub, "box").await;
    let info = json!({
        "os": "Windows 11", "cpu": "Intel i7-12700K", "ram_gb": 32, "memory_available_gb": 8.5, "gpu": "NVIDIA RTX 3080",
        "gpu_percent": 71, "disk_free_gb": 500, "active_processes": 145, "network_status": "connected",
        "cpu_percent": 12.5, "load": [0.5, 0.4, 0.3], "battery_percent": 80,
    });
    reports(&mut device, info.clone()).await;
    let view = shown(&hub, "box").await;
    let (state, now) = (&view, &view["now"]);
    assert_eq!((&state["platform"], &state["os_version"]), (&json!("windows"), &json!("Windows 11")), "{view}");
    assert_eq!((&state["gpu"], &state["network_status"]), (&json!(["NVIDIA RTX 3080"]), &json!("connected")), "{view}");
    assert_eq!(state["others"], json!({"battery_percent": 80.0}), "{view}");
    let measures = json!({"cpu_percent": 12.5, "load": 0.5, "memory_available_gb": 8.5, "disk_free_gb": 500.0,
                          "gpu_percent": 71.0, "active_processes": 145});
    assert_eq!(*now, measures, "{view}");
    let telemetry = hub.get("/api/devices/box/telemetry?minutes=5").await.json();
    assert_eq!((&telemetry["device"], &telemetry["step_seconds"]), (&json!("box"), &json!(60)), "{telemetry}");
    let last = telemetry["samples"].as_array().and_then(|samples| samples.last()).expect("a sample");
    assert_eq!((&last["active_processes"], &last["gpu_percent"]), (&json!(145), &json!(71.0)), "{telemetry}");
    assert_eq!((&last["disk_free_gb"], &last["load"]), (&json!(500.0), &json!(0.5)), "{telemetry}");
    for (query, status) in [("minutes=0", 422), ("minutes=1441", 422), ("minutes=1440", 200), ("hours=1", 422)] {
        assert_eq!(hub.get(&format!("/api/devices/box/telemetry?{query}")).await.status, status, "{query}");
    }
    for path in ["/api/devices/none", "/api/devices/hub", "/api/devices/none/telemetry"] {
        assert_eq!(hub.get(path).await.status, 404, "{path}");
    }
    let metrics = hub.get("/metrics").await.text();
    for line in [
        "interlingua_devices{state=\"connected\"} 1",
        "interlingua_device_cpu_percent{of=\"max\"} 12.5",
        "interlingua_device_reports_total 2",
        "interlingua_device_fields_refused_total 0",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains("\"box\""), "no device is a label");
}

#[tokio::test]
async fn attack_values_that_cannot_be_are_refused_alone_and_the_device_stays() {
    let hub = hub("").await;
    let long = "x".repeat(3_000_000);
    let hostile = json!({"cpu_percent": -5, "memory_available_gb": 1e300, "disk_free_gb": "NaN", "hostname": long,
                         "gpu_percent": 1000, "active_processes": 1e18, "cpu": "a\u{1b}[2Jb", "load": [1e99]});
    let mut device = Client::registered(&hub, "/ws", wide("box", hostile)).await;
    let refused = json!([
        "active_processes",
        "cpu",
        "cpu_percent",
        "disk_free_gb",
        "gpu_percent",
        "hostname",
        "load",
        "memory_available_gb"
    ]);
    let sorted = |view: &Value| {
        let mut names: Vec<String> = serde_json::from_value(view["refused"].clone()).expect("names");
        names.sort_unstable();
        json!(names)
    };
    let view = shown(&hub, "box").await;
    assert_eq!((sorted(&view), &view["platform"]), (refused, &json!("linux")), "{view}");
    assert_eq!(view["now"], json!({}), "{view}");
    assert!(view.to_string().len() < 4_000, "{view}");
    let peers = hub.get("/api/peers").await.text();
    assert!(!peers.contains("xxxx") && !peers.contains('\u{1b}'), "{peers}");
    // A frame that is no JSON costs itself alone.
    device
        .socket
        .send_text(
            r#"{"type":"device_info_response","status":"ok","metadata":{"system_info":{"cpu_percent":NaN}}}"#
                .to_owned(),
        )
        .await;
    device.hear_a("error").await;
    for _ in 0..200 {
        device.say(json!({"type": "device_info_response", "status": "ok", "metadata": {"system_info": {"platform": "linux", "cpu_percent": 40}}})).await;
    }
    device.is_quiet("device").await;
    assert_eq!(shown(&hub, "box").await["now"], json!({"cpu_percent": 40.0}));
    let telemetry = hub.get("/api/devices/box/telemetry").await.json();
    let samples = telemetry["samples"].as_array().expect("samples");
    assert!((1..=3).contains(&samples.len()), "200 reports are the sample of their minute: {telemetry}");
    assert!(samples.iter().filter_map(|sample| sample["cpu_percent"].as_f64()).all(|cpu| cpu == 40.0), "{telemetry}");
}

const TOKENS: &str = "
tools: { directory: ./tools }
aip: { list_tools: 0s, grace: 1s }
access:
  tokens:
    - { name: ann, token: ilg_ann, skills: [box/*, hub/*] }
    - { name: bob, token: ilg_bob, skills: [hub/*] }
    - { name: eve, token: ilg_eve, skills: [box/*, hub/*] }
";

async fn as_caller(hub: &Hub, who: &str, path: &str) -> Answer {
    send(hub, Method::GET, path, &[("authorization", &format!("Bearer ilg_{who}"))], None).await
}

#[tokio::test]
async fn attack_who_may_not_see_a_device_sees_nothing_of_its_telemetry() {
    let hub = builder().config(TOKENS).start().await;
    let mut device = Client::registered(&hub, "/aip/ws?token=ilg_ann", wide("box", json!({"cpu_percent": 33}))).await;
    reports(&mut device, json!({"platform": "linux", "cpu_percent": 44})).await;
    until("its owner sees it", async || as_caller(&hub, "ann", "/api/devices/box").await.status == 200).await;
    let samples = as_caller(&hub, "ann", "/api/devices/box/telemetry").await.json();
    assert!(samples["samples"].as_array().is_some_and(|samples| !samples.is_empty()), "{samples}");
    let nobody = as_caller(&hub, "bob", "/api/devices/nobody/telemetry").await;
    for path in ["/api/devices/box", "/api/devices/box/telemetry"] {
        let answer = as_caller(&hub, "bob", path).await;
        assert_eq!(
            (answer.status, answer.json()["message"].clone()),
            (404, nobody.json()["message"].clone()),
            "{path}"
        );
    }
    assert_eq!(as_caller(&hub, "bob", "/api/devices").await.json()["items"], json!([]));
    let anonymous = hub
        .connect_anonymous()
        .await
        .send(
            interlingua_testkit::request(Method::GET, "/api/devices/box/telemetry")
                .body(http_body_util::Full::default())
                .expect("a request"),
        )
        .await;
    assert_eq!(anonymous.status, 404, "{}", anonymous.text());
}

#[tokio::test]
async fn attack_the_next_owner_of_a_name_reads_none_of_the_history_of_the_last() {
    let hub = builder().config(TOKENS).start().await;
    let mut device = Client::registered(&hub, "/aip/ws?token=ilg_ann", wide("box", json!({"cpu_percent": 33}))).await;
    reports(&mut device, json!({"platform": "linux", "cpu_percent": 33})).await;
    until("its owner sees it", async || as_caller(&hub, "ann", "/api/devices/box").await.status == 200).await;
    drop(device);
    until("it is forgotten", async || as_caller(&hub, "eve", "/api/devices/box").await.status == 404).await;
    let mut device = Client::registered(&hub, "/aip/ws?token=ilg_eve", wide("box", json!({"cpu_percent": 77}))).await;
    until("the other one is there", async || as_caller(&hub, "eve", "/api/devices/box").await.status == 200).await;
    let told = as_caller(&hub, "eve", "/api/devices/box/telemetry?minutes=1440").await.json();
    let of = |told: &Value| -> Vec<f64> {
        let samples = told["samples"].as_array().expect("samples");
        samples.iter().filter_map(|sample| sample["cpu_percent"].as_f64()).collect()
    };
    assert!(!of(&told).is_empty() && of(&told).iter().all(|cpu| *cpu == 77.0), "{told}");
    device.is_quiet("device").await;
}

#[tokio::test]
async fn the_history_of_a_device_is_there_after_a_restart() {
    let mut hub = hub("key: s3cret").await;
    let path = "/aip/ws?token=s3cret";
    let device = Client::registered(&hub, path, wide("box", json!({"cpu_percent": 64}))).await;
    shown(&hub, "box").await;
    assert!(hub.stop().await.success());
    drop(device);
    hub.restart().await;
    assert_eq!(hub.get("/api/devices/box").await.status, 404, "it is not here yet");
    let mut device = Client::registered(&hub, path, wide("box", json!({}))).await;
    shown(&hub, "box").await;
    device.is_quiet("device").await;
    until("the stored samples are read", async || {
        let told = hub.get("/api/devices/box/telemetry?minutes=60").await.json();
        told["samples"].as_array().expect("samples").iter().any(|sample| sample["cpu_percent"] == 64.0)
    })
    .await;
}

fn program(hub: &Hub, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_interlingua"))
        .env_remove("INTERLINGUA_TOKEN")
        .env_remove("INTERLINGUA_HUB")
        .env("INTERLINGUA_DATA", hub.data())
        .env("COLUMNS", "140")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test]
async fn the_command_line_shows_devices_and_the_chart_of_one() {
    let hub = hub("").await;
    let info = json!({"cpu_percent": 97, "memory_available_gb": 1.9, "cpu": "Some CPU"});
    let mut device = Client::registered(&hub, "/ws", wide("box", info)).await;
    shown(&hub, "box").await;
    let list = program(&hub, &["devices"]);
    for word in ["box", "linux", "97 %", "1.9 of 3.8 GB", "shell"] {
        assert!(list.contains(word), "{word}: {list}");
    }
    let one = program(&hub, &["devices", "box", "--hours", "24"]);
    for line in ["cpu       Some CPU, 2 processors", "busy      97 %", "can do    shell", "last 24 hours"] {
        assert!(one.contains(line), "{line}: {one}");
    }
    let chart = one.lines().rfind(|line| line.starts_with("cpu ")).unwrap_or_default();
    assert!(chart.contains('█') && chart.ends_with("most 97.0 %"), "{one}");
    let json: Value = serde_json::from_str(&program(&hub, &["devices", "box", "--json"])).expect("JSON");
    assert_eq!((&json["device"]["name"], &json["telemetry"]["step_seconds"]), (&json!("box"), &json!(60)), "{json}");
    device.is_quiet("device").await;
}
