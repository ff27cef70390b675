//! A running task in the profile `aip-1`: the device is given its TASK, says what it does while it does it, and says itself when it is over.

use std::process::Command;

use interlingua_testkit::{Hub, Process};
use serde_json::{Value, json};

use super::{Client, commands, constellation, device, hub, task};
use crate::support::until;

/// A device of the profile that takes TASKs.
async fn takes_tasks(hub: &Hub, id: &str) -> Client {
    let mut register = device(id);
    register["metadata"]["profile"] = json!("aip-1");
    register["metadata"]["tasks"] = json!(true);
    Client::registered(hub, "/ws", register).await
}

async fn orchestrator(hub: &Hub, target: &str) -> Client {
    Client::registered(hub, "/aip/ws", constellation(&format!("gal@{target}"), target)).await
}

fn says(given: &Value, lines: &[&str]) -> Value {
    json!({"type": "heartbeat", "status": "ok", "session_id": given["session_id"],
           "prev_response_id": given["response_id"], "metadata": {"messages": lines}})
}

fn ends(session: &Value, status: &str, metadata: Value) -> Value {
    json!({"type": "task_end", "status": status, "session_id": session, "metadata": metadata})
}

#[tokio::test]
async fn a_device_does_a_task_by_itself_and_reports_lines_result_and_evaluation() {
    let hub = hub("").await;
    let (mut device, mut client) = (takes_tasks(&hub, "dev1").await, orchestrator(&hub, "dev1").await);
    let mut asked = task("dev1", "s1", "make a file in notepad");
    asked["metadata"] = json!({"process_name": "notepad.exe"});
    client.say(asked).await;
    assert_eq!(client.hear_a("heartbeat").await["session_id"], "s1");
    let given = device.hear_a("task").await;
    assert_eq!((&given["session_id"], &given["user_request"]), (&json!("s1"), &json!("make a file in notepad")));
    assert_eq!(
        (&given["agent_name"], &given["process_name"]),
        (&json!("LinuxAgent"), &json!("notepad.exe")),
        "{given}"
    );
    assert_eq!(
        (&given["task_name"], &given["metadata"]["assigned"]),
        (&json!("galaxy_gal_t1"), &json!(true)),
        "{given}"
    );
    device.say(says(&given, &["notepad is open"])).await;
    device.hear_a("heartbeat").await;
    let line = client.hear_a("heartbeat").await;
    assert_eq!((&line["session_id"], &line["messages"]), (&json!("s1"), &json!(["notepad is open"])), "while it runs");
    let evaluation = json!({"complete": "yes", "score": 0.9, "reason": "the file is there"});
    let told = json!({"result": {"path": "test.txt"}, "evaluation": evaluation, "messages": ["saved"]});
    device.say(ends(&given["session_id"], "completed", told)).await;
    assert_eq!(client.hear_a("heartbeat").await["messages"], json!(["saved"]));
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!({"path": "test.txt"})), "{end}");
    assert_eq!((&end["metadata"]["evaluation"], end["metadata"].get("losses")), (&evaluation, None), "{end}");
    let same = device.hear_a("task_end").await;
    assert_eq!((&same["session_id"], &same["response_id"]), (&json!("s1"), &end["response_id"]));

    client.say(task("dev1", "s2", "and once more")).await;
    client.hear_a("heartbeat").await;
    let given = device.hear_a("task").await;
    let mut failed = ends(&given["session_id"], "failed", json!({}));
    failed["error"] = json!("Notepad failed to launch: Access denied");
    device.say(failed).await;
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["error"]), (&json!("failed"), &json!("Notepad failed to launch: Access denied")));
    assert_eq!(device.hear_a("task_end").await["session_id"], "s2");
}

#[tokio::test]
async fn any_caller_may_give_a_device_a_task_in_words_and_gets_what_it_reports() {
    let hub = hub("").await;
    let mut device = takes_tasks(&hub, "dev1").await;
    let call = json!({"skill": "dev1/do", "arguments": {"request": "look around"}});
    let working = async {
        let given = device.hear_a("task").await;
        assert_eq!(given["user_request"], "look around");
        let told = json!({"result": {"seen": 3}, "evaluation": {"score": 1}});
        device.say(ends(&given["session_id"], "completed", told)).await;
        device.hear_a("task_end").await;
    };
    let (answer, ()) = tokio::join!(hub.post_json("/api/exchanges", &call), working);
    let finished = &answer.json()["finished"];
    assert_eq!(
        (&finished["outcome"], &finished["structured"]),
        (&json!("completed"), &json!({"seen": 3})),
        "{finished}"
    );
    assert!(finished["parts"].to_string().contains("evaluation"), "it is a part beside the result: {finished}");
}

#[tokio::test]
async fn commands_of_a_device_that_takes_tasks_come_after_its_task_and_lines_while_they_run() {
    let hub = hub("").await;
    let (mut device, mut client) = (takes_tasks(&hub, "dev1").await, orchestrator(&hub, "dev1").await);
    client.say(task("dev1", "s1", &commands(&["ls"]))).await;
    client.hear_a("heartbeat").await;
    assert_eq!(device.hear_a("task").await["session_id"], "s1");
    let command = device.hear_a("command").await;
    assert_eq!(command["metadata"]["lines"], true, "{command}");
    device.say(says(&command, &["one", "two"])).await;
    device.hear_a("heartbeat").await;
    for line in ["one", "two"] {
        assert_eq!(client.hear_a("heartbeat").await["messages"], json!([line]), "before there are results");
    }
    device.does(&command).await;
    assert_eq!(client.hear_a("task_end").await["result"], json!(["ls"]));
}

#[tokio::test]
async fn attack_a_foreign_or_replayed_task_end_ends_nothing() {
    let hub = hub("").await;
    let (mut device, mut client) = (takes_tasks(&hub, "dev1").await, orchestrator(&hub, "dev1").await);
    let mut other = takes_tasks(&hub, "dev2").await;
    client.say(task("dev1", "s1", "do it")).await;
    client.hear_a("heartbeat").await;
    let given = device.hear_a("task").await;
    let mut refused = async |session: &str| {
        other.say(ends(&json!(session), "completed", json!({"result": "FORGED"}))).await;
        let error = other.hear_a("error").await;
        assert_eq!(error["session_id"], session);
        error["error"].clone()
    };
    assert_eq!(refused("s1").await, refused("never").await, "a session of another looks like none");
    other.say(says(&given, &["FORGED"])).await;
    other.hear_a("heartbeat").await;
    client.is_quiet("constellation").await;
    device.say(ends(&json!("s1"), "completed", json!({"result": "real"}))).await;
    device.say(ends(&json!("s1"), "failed", json!({"result": "REPLAYED"}))).await;
    assert_eq!(client.hear_a("task_end").await["result"], "real");
    let mut frames = vec![device.hear().await, device.hear().await];
    frames.sort_by_key(|frame| frame["type"].to_string());
    assert_eq!((&frames[0]["type"], &frames[1]["type"]), (&json!("error"), &json!("task_end")), "{frames:?}");
    // The session is free again, and what was said of the old one says nothing of the new.
    client.say(task("dev1", "s1", "do it again")).await;
    client.hear_a("heartbeat").await;
    device.hear_a("task").await;
    client.is_quiet("constellation").await;
}

#[tokio::test]
async fn attack_a_flood_of_log_lines_is_cut_and_the_loss_is_declared() {
    let hub = hub("").await;
    let (mut device, mut client) = (takes_tasks(&hub, "dev1").await, orchestrator(&hub, "dev1").await);
    client.say(task("dev1", "s1", "do it")).await;
    client.hear_a("heartbeat").await;
    let given = device.hear_a("task").await;
    let line = "x".repeat(100_000);
    let flood: Vec<&str> = vec![&line; 40];
    for _ in 0..20 {
        device.say(says(&given, &flood)).await;
    }
    for _ in 0..20 {
        device.hear_a("heartbeat").await;
    }
    device.say(ends(&given["session_id"], "completed", json!({"result": 1}))).await;
    let (mut heard, mut bytes) = (0, 0);
    let end = loop {
        let frame = client.hear().await;
        if frame["type"] == "task_end" {
            break frame;
        }
        heard += frame["messages"].as_array().map_or(0, Vec::len);
        bytes += frame["messages"].to_string().len();
    };
    assert!(heard > 0 && bytes < 4_000_000, "of 80 MB {bytes} bytes in {heard} lines were passed on");
    let losses = end["metadata"]["losses"].to_string();
    assert!(losses.contains("notifications"), "{end}");
    let metrics = hub.get("/metrics").await.text();
    let dropped = metrics.lines().find_map(|line| line.strip_prefix("interlingua_device_lines_dropped_total "));
    assert!(dropped.and_then(|count| count.parse::<u64>().ok()).is_some_and(|count| count >= 400), "{dropped:?}");
}

/// Over the wire of the real program, both ways: the tool goes on only once its line was seen.
#[tokio::test]
async fn lines_of_a_tool_of_the_real_device_are_seen_while_it_runs() {
    let hub = hub("key: s3cret").await;
    let directory = tempfile::tempdir().expect("a directory");
    let go = directory.path().join("go");
    let tools = directory.path().join("device-data/tools");
    std::fs::create_dir_all(&tools).expect("a directory");
    let script = format!(
        r#"echo "{{\"log\":\"half way\"}}"; while [ ! -e {} ]; do sleep 0.05; done; echo "{{\"result\":{{\"done\":true}}}}""#,
        go.display()
    );
    let tool = format!(
        "name: work\ndescription: Works.\neffects: {{ reads: true, idempotent: true }}\nreply: lines\ncommand: [sh, -c, '{script}']\n"
    );
    std::fs::write(tools.join("work.yaml"), tool).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.current_dir(directory.path()).env_remove("INTERLINGUA_TOKEN").env_remove("INTERLINGUA_DATA");
    let url = format!("ws://{}", hub.address());
    command.args(["device", "--hub", &url, "--id", "box", "--key", "s3cret"]);
    let process = Process::start(command);
    until("the device has told its tools", async || hub.get("/api/skills").await.text().contains("box/work")).await;
    let mut client = Client::registered(&hub, "/aip/ws?token=s3cret", constellation("gal@box", "box")).await;
    client.say(task("box", "s1", r#"[{"tool_name": "work"}]"#)).await;
    client.hear_a("heartbeat").await;
    assert_eq!(client.hear_a("heartbeat").await["messages"], json!(["half way"]), "{}", process.output());
    std::fs::write(&go, "").expect("a file");
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!([{"done": true}])), "{end}");
}
