//! An agent that plans: words become a plan over devices, tools and agents. The hub is killed with -9 twice in each run.

use interlingua_testkit::{Hub, HubBuilder, root};
use serde_json::{Value, json};

use super::{Client, device};
use crate::support::{builder, events, reaches, send, start, until};

const CONFIG: &str = r#"
tools: { directory: ./tools }
aip: { list_tools: 0s, devices: { left: { effects: reads }, right: { effects: reads }, spare: { effects: reads } } }
models:
  plans: { provider: scripted, file: ./plans.yaml }
  asks: { provider: scripted, file: ./asks.yaml }
agents:
  dispatcher: { kind: planner, model: plans, skills: ["left/*", "right/*", "spare/*", "local/*", "ann/*"] }
  ann: { model: asks }
"#;

/// Asks for what it was not told.
const ASKS: &str = r#"
replies:
  - { when: how many, again: true, call: [{ name: ask_user, arguments: { question: "For how many people?" } }] }
  - { when: seven, again: true, say: seven }
"#;

/// Writes down what it is called with.
fn note(builder: HubBuilder) -> HubBuilder {
    let file = builder.directory().join("noted");
    let script = format!("read -r line; echo \"$line\" >> {}; echo \"{{\\\"noted\\\":true}}\"", file.display());
    let command = serde_json::to_string(&["sh", "-c", &script]).expect("JSON");
    let tool = "name: note\ndescription: Writes a note.\ninput: { type: object, properties: { text: { type: string } }, required: [text] }\n\
                effects: { writes: true }\n";
    builder.file("tools/note.yaml", format!("{tool}command: {command}\n"))
}

fn noted(hub: &Hub) -> Vec<String> {
    let text = std::fs::read_to_string(hub.directory().join("noted")).unwrap_or_default();
    let said = |line: &str| serde_json::from_str::<Value>(line).ok()?["text"].as_str().map(str::to_owned);
    text.lines().filter_map(said).collect()
}

async fn hub(plans: &str) -> Hub {
    note(builder()).file("plans.yaml", plans).file("asks.yaml", ASKS).config(CONFIG).start().await
}

/// A device with a tool that reads its disk.
async fn machine(hub: &Hub, id: &str) -> Client {
    let mut register = device(id);
    register["metadata"]["tools"] = json!([
        {"tool_key": "data_collection::disk", "tool_name": "disk", "namespace": "T", "tool_type": "data_collection",
         "description": "Reads how full the disk is", "input_schema": {"type": "object"}},
        {"tool_key": "action::print", "tool_name": "print", "namespace": "T", "tool_type": "action",
         "description": "Prints a text", "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    ]);
    Client::registered(hub, "/ws", register).await
}

/// Answers the one action of a COMMAND.
async fn answers(device: &mut Client, command: &Value, result: Value) {
    let id = &command["actions"][0]["call_id"];
    let result = json!([{"status": "success", "error": null, "result": result, "namespace": "T", "call_id": id}]);
    device.results(command, result).await;
    device.hear_a("task_end").await;
}

async fn asked_of(hub: &Hub, task: &str) -> Value {
    hub.get(&format!("/api/tasks/{task}")).await.json()["questions"][0].clone()
}

/// The open question of a task about this.
async fn question(hub: &Hub, task: &str, about: &str) -> Value {
    let mut found = Value::Null;
    until(about, async || {
        found = asked_of(hub, task).await;
        found.to_string().contains(about)
    })
    .await;
    found["id"].clone()
}

async fn answer(hub: &Hub, task: &str, answer: Value) {
    let taken = hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"answer": answer})).await;
    assert!(taken.status < 300, "{}", taken.text());
}

/// What the agent said at the end.
async fn said(hub: &Hub, task: &str) -> String {
    let headers = [("accept", "text/event-stream")];
    let stream = send(hub, http::Method::GET, &format!("/api/tasks/{task}/events"), &headers, None).await;
    let events: Vec<Value> = events(&stream.text()).into_iter().map(|(_, _, data)| data).collect();
    let finished = events.iter().find(|event| event["outcome"].is_string()).cloned().unwrap_or_default();
    let text = |event: &Value| {
        let parts = event["parts"].as_array().cloned().unwrap_or_default();
        parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>()
    };
    let is_answer = |event: &&Value| event["message"].is_string() && event["message"] == finished["said"];
    format!("{}{}", events.iter().filter(is_answer).map(text).collect::<String>(), text(&finished))
}

/// Every plan that this run had carried out, oldest first.
async fn plans(hub: &Hub, run: &str) -> Vec<Value> {
    let tasks = hub.get("/api/tasks?limit=200").await.json();
    let tasks = tasks["items"].as_array().expect("tasks").clone();
    let is_plan = |task: &Value| task["parent"] == run && task["skill"] == "graph/carry_out";
    let mut ids: Vec<String> =
        tasks.iter().filter(|task| is_plan(task)).filter_map(|task| Some(task["id"].as_str()?.to_owned())).collect();
    ids.reverse();
    let mut plans = Vec::new();
    for id in ids {
        plans.push(hub.get(&format!("/api/tasks/{id}")).await.json());
    }
    plans
}

const DISKS: &str = r#"
replies:
  - when: compare the disks
    again: true
    call:
      - name: graph__carry_out
        arguments:
          plan:
            name: disks
            tasks:
              left: { task_data: { skill: left/disk, idempotent: true }, retry_count: 5 }
              right: { task_data: { skill: right/disk, idempotent: true }, retry_count: 5 }
              tell: { task_data: { skill: local/note, arguments: { text: "left {{left/used}} %, right {{right/used}} %" } } }
            dependencies:
              - { from_task_id: left, to_task_id: tell, dependency_type: success_only }
              - { from_task_id: right, to_task_id: tell, dependency_type: success_only }
  - { when: "- tell: completed by local", again: true, say: "Each disk was read on its own machine, and the note is written." }
"#;

#[tokio::test]
async fn words_become_a_plan_that_is_approved_carried_out_and_explained_through_two_kills() {
    let mut hub = hub(DISKS).await;
    let (mut left, mut right) = (machine(&hub, "left").await, machine(&hub, "right").await);
    let run = start(&hub, json!({"skill": "dispatcher/chat", "text": "compare the disks"})).await;
    left.hear_a("command").await;
    right.hear_a("command").await;
    hub.restart().await;
    (left, right) = (machine(&hub, "left").await, machine(&hub, "right").await);
    for (device, used) in [(&mut left, 41), (&mut right, 97)] {
        let command = device.hear_a("command").await;
        assert_eq!(command["actions"][0]["tool_name"], "disk", "{command}");
        answers(device, &command, json!({"used": used})).await;
    }
    let text = "left 41 %, right 97 %";
    question(&hub, &run, text).await;
    hub.restart().await;
    let asked = question(&hub, &run, text).await;
    assert!(noted(&hub).is_empty(), "nothing is written before the approval");
    answer(&hub, &run, json!({"question": asked, "approve": true})).await;
    reaches(&hub, &run, "completed").await;
    assert_eq!(noted(&hub), [text], "once, with the results of both");
    assert_eq!(said(&hub, &run).await, "Each disk was read on its own machine, and the note is written.");
    let headers = [("accept", "text/event-stream")];
    let told = send(&hub, http::Method::GET, &format!("/api/tasks/{run}/events"), &headers, None).await.text();
    let outline = "plan of 3 steps: left (left/disk); right (right/disk); tell (local/note, after left, right)";
    assert!(told.contains(outline), "the plan is shown: {told}");
    let plans = plans(&hub, &run).await;
    assert_eq!(plans.len(), 1, "{plans:?}");
    let steps = &plans[0]["finished"]["structured"]["tasks"];
    assert_eq!(
        (&steps["left"]["result"], &steps["right"]["assigned_device_id"]),
        (&json!({"used": 41}), &json!("right"))
    );
    let left_open = hub.get("/api/confirmations").await.json();
    assert_eq!(left_open["items"], json!([]), "nothing is asked any more");
}

const MOVES: &str = r#"
replies:
  - when: read the disk
    again: true
    call:
      - name: graph__carry_out
        arguments:
          plan:
            tasks:
              first: { task_data: { skill: local/steps } }
              disk: { task_data: { skill: left/disk } }
              tell: { task_data: { skill: local/steps } }
            dependencies:
              - { from_task_id: first, to_task_id: disk, dependency_type: success_only }
              - { from_task_id: disk, to_task_id: tell, dependency_type: success_only }
  - { when: "- disk: failed by", again: true, call: [{ name: graph__carry_out, arguments: { continues: last, retarget: { disk: spare } } }] }
  - { when: "- disk: completed by spare", again: true, say: "left did not answer, so spare read the disk." }
"#;

#[tokio::test]
async fn a_device_dies_in_the_middle_and_the_plan_is_changed_through_two_kills() {
    let mut hub = hub(MOVES).await;
    let mut left = machine(&hub, "left").await;
    let before = machine(&hub, "spare").await;
    let run = start(&hub, json!({"skill": "dispatcher/chat", "text": "read the disk"})).await;
    left.hear_a("command").await;
    drop((left, before));
    hub.restart().await;
    let mut spare = machine(&hub, "spare").await;
    spare.hear_a("command").await;
    hub.restart().await;
    spare = machine(&hub, "spare").await;
    let command = spare.hear_a("command").await;
    answers(&mut spare, &command, json!({"used": 12})).await;
    reaches(&hub, &run, "completed").await;
    assert_eq!(said(&hub, &run).await, "left did not answer, so spare read the disk.");
    let plans = plans(&hub, &run).await;
    let last = &plans.last().expect("a plan")["finished"]["structured"];
    assert_eq!(last["state"], "completed", "{last}");
    assert_eq!(last["tasks"]["disk"]["assigned_device_id"], "spare", "{last}");
    let counted: Vec<bool> = plans
        .iter()
        .map(|plan| plan["finished"]["structured"]["tasks"]["first"]["execution_start_time"].is_string())
        .collect();
    assert_eq!((counted[0], counted.iter().filter(|ran| **ran).count()), (true, 1), "what completed is not run again");
}

const PARTY: &str = r#"
replies:
  - when: plan the party
    again: true
    call:
      - name: graph__carry_out
        arguments:
          plan:
            tasks:
              people: { target_device_id: ann, description: how many come? }
              order: { task_data: { skill: local/note, arguments: { text: "chairs: {{people}}" } } }
            dependencies:
              - { from_task_id: people, to_task_id: order, dependency_type: success_only }
  - { when: "- order: completed", again: true, say: "The chairs are ordered." }
"#;

#[tokio::test]
async fn a_step_asks_and_a_person_answers_through_two_kills() {
    let mut hub = hub(PARTY).await;
    let run = start(&hub, json!({"skill": "dispatcher/chat", "text": "plan the party"})).await;
    question(&hub, &run, "For how many people?").await;
    hub.restart().await;
    let asked = question(&hub, &run, "For how many people?").await;
    answer(&hub, &run, json!({"question": asked, "text": "seven"})).await;
    question(&hub, &run, "chairs: seven").await;
    hub.restart().await;
    let asked = question(&hub, &run, "chairs: seven").await;
    answer(&hub, &run, json!({"question": asked, "approve": true})).await;
    reaches(&hub, &run, "completed").await;
    assert_eq!(said(&hub, &run).await, "The chairs are ordered.");
    assert_eq!(noted(&hub), ["chairs: seven"]);
}

#[tokio::test]
async fn a_step_that_is_declined_is_not_done_and_the_planner_is_told() {
    let lines = format!("{PARTY}  - {{ when: \"- order: failed\", again: true, say: Then there are no chairs. }}\n");
    let hub = hub(&lines).await;
    let run = start(&hub, json!({"skill": "dispatcher/chat", "text": "plan the party"})).await;
    let asked = question(&hub, &run, "For how many people?").await;
    answer(&hub, &run, json!({"question": asked, "text": "seven"})).await;
    let asked = question(&hub, &run, "chairs: seven").await;
    answer(&hub, &run, json!({"question": asked, "approve": false})).await;
    reaches(&hub, &run, "completed").await;
    assert_eq!(said(&hub, &run).await, "Then there are no chairs.");
    assert!(noted(&hub).is_empty());
}

/// The example does what its sentence says: nothing is printed of a disk that has space.
#[tokio::test]
async fn the_example_compares_two_disks_and_prints_about_the_full_one() {
    let folder = root().join("examples/planner");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("an example");
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("lines.yaml", read("lines.yaml"));
    let hub = hub.config(&read("interlingua.yaml")).start().await;
    let (mut left, mut right) = (machine(&hub, "left").await, machine(&hub, "right").await);
    let mut printer = machine(&hub, "printer").await;
    let words = "compare the disks of both machines, and if one is nearly full tell me by printer";
    let run = start(&hub, json!({"skill": "dispatcher/chat", "text": words})).await;
    for (device, used) in [(&mut left, 41), (&mut right, 97)] {
        let command = device.hear_a("command").await;
        answers(device, &command, json!({"used_percent": used, "nearly_full": used > 90})).await;
    }
    let asked = question(&hub, &run, "right is 97 % full").await;
    answer(&hub, &run, json!({"question": asked, "approve": true})).await;
    let command = printer.hear_a("command").await;
    let action = &command["actions"][0];
    assert_eq!(
        (&action["tool_name"], &action["parameters"]),
        (&json!("print"), &json!({"text": "right is 97 % full"}))
    );
    answers(&mut printer, &command, json!("printed")).await;
    reaches(&hub, &run, "completed").await;
    assert_eq!(
        said(&hub, &run).await,
        "I read the disks of left and right on those machines. One was nearly full, so I printed a note about it."
    );
    printer.is_quiet("device").await;
    let checked = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"))
        .args(["check", "examples/planner/tools/disk/tool.yaml"])
        .current_dir(root())
        .output()
        .expect("it runs");
    assert!(checked.status.success(), "{checked:?}");
}
