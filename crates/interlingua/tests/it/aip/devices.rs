//! Devices between protocols: their tools as skills of the hub, their telemetry on a card, a planner for words.

use serde_json::{Value, json};

use super::{Client, commands, constellation, hub, task};
use crate::support::{reaches, start, until};

fn tools() -> Value {
    json!([
        {"tool_key": "action::type_text", "tool_name": "type_text", "namespace": "UI", "tool_type": "action",
         "title": "Type", "description": "Types a text", "output_schema": null, "meta": null, "annotations": null,
         "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
        {"tool_key": "data_collection::look", "tool_name": "look", "namespace": "UI", "tool_type": "data_collection",
         "description": "Looks at the screen", "input_schema": {"type": "object"}},
        {"tool_key": "action::erase", "tool_name": "erase", "namespace": "UI", "tool_type": "action",
         "description": "Erases the disk", "input_schema": {"type": "object"}},
    ])
}

async fn able(hub: &interlingua_testkit::Hub, id: &str) -> Client {
    let mut register = super::device(id);
    register["metadata"]["tools"] = tools();
    Client::registered(hub, "/ws", register).await
}

#[tokio::test]
async fn p_56_a_device_is_a_peer_whose_card_is_merged_and_whose_tools_are_skills() {
    let hub = hub(
        "devices: { dev1: { os: beos, capabilities: [camera], trust_hints: true, deny: [erase], metadata: { room: 7 } } }",
    )
    .await;
    let mut device = able(&hub, "dev1").await;
    let skills = hub.get("/api/skills").await.json();
    let of = |name: &str| skills["items"].as_array().expect("skills").iter().find(|skill| skill["id"] == name).cloned();
    let typing = of("dev1/type_text").expect("a tool is a skill");
    assert_eq!(typing["input"]["required"], json!(["text"]));
    assert_eq!(typing["effects"]["writes"], true);
    assert_eq!(of("dev1/look").expect("a skill")["effects"]["writes"], false, "configuration believes its hints");
    assert_eq!(of("dev1/erase"), None, "configuration denies it");
    let tags = of("dev1/do").expect("it takes words")["tags"].clone();
    assert_eq!(tags, json!(["camera", "shell"]), "configured and told, without order or doubles");

    let call = json!({"skill": "dev1/type_text", "arguments": {"text": "hi"}});
    let calling = hub.post_json("/api/exchanges", &call);
    let working = async {
        let command = device.hear_a("command").await;
        assert_eq!(command["actions"][0]["parameters"], json!({"text": "hi"}));
        device.does(&command).await;
        let end = device.hear_a("task_end").await;
        assert_eq!((&end["status"], &end["session_id"]), (&json!("completed"), &command["session_id"]));
    };
    let (answer, ()) = tokio::join!(calling, working);
    assert_eq!(answer.json()["finished"]["parts"][0]["text"], "type_text", "{}", answer.text());
    let wrong = hub.post_json("/api/exchanges", &json!({"skill": "dev1/type_text", "arguments": {"text": 7}})).await;
    assert_eq!(wrong.status, 422, "arguments are checked before the device hears of them");
    device.is_quiet("device").await;
    let denied = hub
        .post_json("/api/exchanges", &json!({"skill": "dev1/do", "arguments": {"request": commands(&["erase"])}}))
        .await;
    assert_eq!(denied.json()["finished"]["outcome"], "failed", "{}", denied.text());
}

#[tokio::test]
async fn a_device_that_leaves_during_a_call_leaves_its_outcome_unknown() {
    let hub = hub("").await;
    let mut device = able(&hub, "dev1").await;
    let call = json!({"skill": "dev1/look"});
    let calling = hub.post_json("/api/exchanges", &call);
    let leaving = async {
        device.hear_a("command").await;
        drop(device);
    };
    let (answer, ()) = tokio::join!(calling, leaving);
    assert_eq!(answer.json()["finished"]["fault"]["kind"], "outcome_unknown", "{}", answer.text());
    let gone = hub.post_json("/api/exchanges", &call).await;
    assert!(gone.text().contains("unreachable"), "{}", gone.text());
}

#[tokio::test]
async fn a_call_that_is_cancelled_tells_the_device() {
    let hub = hub("").await;
    let mut device = able(&hub, "dev1").await;
    let id = start(&hub, json!({"skill": "dev1/look"})).await;
    let command = device.hear_a("command").await;
    let path = format!("/api/tasks/{id}");
    crate::support::send(&hub, http::Method::DELETE, &path, &[], None).await;
    let end = device.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["session_id"]), (&json!("failed"), &command["session_id"]));
    reaches(&hub, &id, "cancelled").await;
}

#[tokio::test]
async fn a_plain_device_is_asked_for_its_tools() {
    let hub = crate::support::hub("aip: { list_tools: 10ms }").await;
    let mut device = Client::device(&hub, "dev1").await;
    let command = device.hear_a("command").await;
    assert_eq!(command["actions"][0]["tool_name"], "list_tools");
    device
        .results(
            &command,
            json!([{"status": "success", "result": tools(), "call_id": command["actions"][0]["call_id"]}]),
        )
        .await;
    assert_eq!(device.hear_a("task_end").await["status"], "completed");
    until("its tools are skills", async || hub.get("/api/skills").await.text().contains("dev1/type_text")).await;
}

#[tokio::test]
async fn words_that_fit_a_tool_lead_to_it_and_what_writes_waits_for_a_yes() {
    let hub = hub("devices: { dev1: { trust_hints: true } }").await;
    let mut device = able(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "s1", "looks at the screen")).await;
    client.hear_a("heartbeat").await;
    let command = device.hear_a("command").await;
    assert_eq!((&command["actions"][0]["tool_name"], &command["session_id"]), (&json!("look"), &json!("s1")));
    device.does(&command).await;
    assert_eq!(client.hear_a("task_end").await["result"], "look");
    device.hear_a("task_end").await;
    client.say(task("dev1", "s2", "erases the disk")).await;
    client.hear_a("heartbeat").await;
    until("somebody is asked", async || {
        hub.get("/api/confirmations").await.json()["items"].as_array().is_some_and(|open| open.len() == 1)
    })
    .await;
    device.is_quiet("device").await;
    let open = hub.get("/api/confirmations").await.json();
    let id = open["items"][0]["id"].as_str().expect("an id").to_owned();
    hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    let command = device.hear_a("command").await;
    assert_eq!(command["actions"][0]["tool_name"], "erase");
    device.does(&command).await;
    assert_eq!(client.hear_a("task_end").await["status"], "completed");
    client.say(task("dev1", "s3", "bakes a cake")).await;
    let refused = client.hear_a("error").await;
    let error = refused["error"].as_str().unwrap_or_default();
    assert!(error.contains("it has: erase, look, type_text"), "{refused}");
}

#[tokio::test]
async fn an_orchestrator_of_the_wider_profile_is_told_where_its_task_is_approved() {
    let hub = hub("devices: { dev1: { trust_hints: true } }").await;
    let _device = able(&hub, "dev1").await;
    let mut register = super::constellation("gal@dev1", "dev1");
    register["metadata"]["profile"] = json!("aip-1");
    let mut client = Client::registered(&hub, "/aip/ws", register).await;
    client.say(task("dev1", "s1", "erases the disk")).await;
    let told = loop {
        let frame = client.hear().await;
        if frame["messages"].to_string().contains("waits for an answer") {
            break frame["messages"].to_string();
        }
        assert_ne!(frame["type"], "task_end", "{frame}");
    };
    let open = hub.get("/api/confirmations").await.json();
    let id = open["items"][0]["task"].as_str().expect("an id").to_owned();
    assert!(told.contains(&format!("at {}", hub.url(""))) && told.contains(&id), "{told}");
}

#[tokio::test]
async fn the_planner_gets_the_words_and_its_answer_is_the_end() {
    let script = "scenes:\n  - text: tidy up\n    play: [{ work: thinking }, { answer: { text: tidied } }]\n";
    let hub = crate::support::builder()
        .file("planner.yaml", script)
        .config("scripts: { planner: ./planner.yaml }\naip: { planner: planner, list_tools: 0s }")
        .start()
        .await;
    let _device = able(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "s1", "tidy up")).await;
    client.hear_a("heartbeat").await;
    let end = client.hear_a("task_end").await;
    assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!("tidied")));
}

#[tokio::test]
async fn what_a_planner_calls_of_the_device_happens_in_the_session_of_its_task() {
    let lines = "replies:\n  - call: [{ name: dev1__look }]\n  - call: [{ name: dev1__look }]\n  - { say: Seen. }\n";
    let hub = crate::support::builder()
        .file("lines.yaml", lines)
        .config(
            "models: { canned: { provider: scripted, file: ./lines.yaml } }\n\
             agents: { planner: { model: canned, skills: ['dev1/*'] } }\n\
             aip: { planner: planner, list_tools: 0s, devices: { dev1: { trust_hints: true } } }",
        )
        .start()
        .await;
    let mut device = able(&hub, "dev1").await;
    let mut client = Client::constellation(&hub, "gal@dev1", "dev1").await;
    client.say(task("dev1", "s1", "look twice")).await;
    client.hear_a("heartbeat").await;
    for _ in 0..2 {
        let command = device.hear_a("command").await;
        assert_eq!((&command["session_id"], &command["task_name"]), (&json!("s1"), &json!("galaxy_gal_t1")));
        device.does(&command).await;
    }
    let (told, heard) = (client.hear_a("task_end").await, device.hear_a("task_end").await);
    assert_eq!((&told["session_id"], &told["result"]), (&json!("s1"), &json!("Seen.")));
    assert_eq!(told, heard, "no session of its own was opened for a call");
    device.is_quiet("device").await;
}

#[tokio::test]
async fn p_57_a_peer_behind_another_server_comes_back_while_somebody_reads_events() {
    let mut far = hub("").await;
    let mut device = Client::device(&far, "dev1").await;
    let (url, key) = (format!("ws://{}/ws", far.address()), far.token().expect("a token"));
    let near =
        crate::support::hub(&format!("peers: {{ lab: {{ aip: {{ url: '{url}', target: dev1, key: {key} }} }} }}"))
            .await;
    let health = async || {
        let peers = near.get("/api/peers").await.json();
        let peers = peers["items"].as_array().cloned().unwrap_or_default();
        peers.iter().find(|peer| peer["name"] == "lab").map(|peer| peer["health"].clone())
    };
    until("the server has let us in", async || health().await == Some(json!("up"))).await;
    let call = json!({"skill": "lab/do", "arguments": {"request": commands(&["ls"])}});
    let id = start(&near, call.clone()).await;
    let events = format!("/api/tasks/{id}/events");
    let (_open, mut reading) = crate::support::streaming(&near, http::Method::GET, &events, &[], None).await;
    device.hear_a("command").await;
    far.restart().await;
    while reading.next().await.is_some_and(|event| !event.contains("outcome")) {}
    reaches(&near, &id, "failed").await;
    let mut device = Client::device(&far, "dev1").await;
    until("it has come back by itself", async || health().await == Some(json!("up"))).await;
    let again = near.post_json("/api/exchanges", &call);
    let working = async {
        let command = device.hear_a("command").await;
        device.does(&command).await;
    };
    let (answer, ()) = tokio::join!(again, working);
    assert_eq!(answer.json()["finished"]["structured"], json!(["ls"]), "{}", answer.text());
}

#[tokio::test]
async fn a_device_of_another_hub_is_driven_through_its_server() {
    let far = hub("key: s3cret").await;
    let mut device = Client::registered(&far, "/ws?token=s3cret", super::device("dev1")).await;
    let near = crate::support::hub(&format!(
        "peers: {{ lab: {{ aip: {{ url: 'ws://{}/ws', target: dev1, key: s3cret, name: near }} }} }}",
        far.address()
    ))
    .await;
    until("the server has let us in", async || {
        let peers = near.get("/api/peers").await.json();
        peers["items"].as_array().expect("peers").iter().any(|peer| peer["name"] == "lab" && peer["health"] == "up")
    })
    .await;
    let call = json!({"skill": "lab/do", "arguments": {"request": commands(&["ls"])}});
    let calling = near.post_json("/api/exchanges", &call);
    let working = async {
        let command = device.hear_a("command").await;
        device.does(&command).await;
        device.hear_a("task_end").await;
    };
    let (answer, ()) = tokio::join!(calling, working);
    assert_eq!(answer.json()["finished"]["structured"], json!(["ls"]), "{}", answer.text());
    // A plain server understands only that its caller is gone.
    let id = start(&near, call).await;
    let command = device.hear_a("command").await;
    crate::support::send(&near, http::Method::DELETE, &format!("/api/tasks/{id}"), &[], None).await;
    assert_eq!(device.hear_a("task_end").await["session_id"], command["session_id"]);
    reaches(&near, &id, "cancelled").await;
    let mut rival = Client::open(&far, "/ws?token=s3cret").await;
    rival.say(constellation("x@dev1", "dev1")).await;
    rival.hear_a("heartbeat").await;
}
