//! The official SDKs of A2A, as clients of the hub and as agents behind it: in Python in both versions it speaks, in Rust.

use std::process::Command;

use interlingua_testkit::{Hub, HubBuilder, Peer, mcp, root};
use serde_json::{Value, json};

use crate::support::{reaches, until};

const SCRIPT: &str = r#"
title: Front door
description: Plays what it is told
scenes:
  - play: [ { answer: { text: "Hello there" } } ]
  - text: artifact
    play:
      - work: ""
      - artifact: { id: chunked, last: false, part: { text: "chunk-1 " } }
      - artifact: { id: chunked, part: { text: "chunk-2" } }
  - text: ask
    play: [ { ask: "Which dates?" }, { answer: { text: "booked" } } ]
  - text: slow
    play: [ { work: "" }, { pause: 600s } ]
"#;

const ADD: &str = "name: add\ndescription: Adds.\n\
    input: { type: object, properties: { a: { type: integer }, b: { type: integer } }, required: [a, b] }\n\
    effects: { reads: true, idempotent: true }\ncommand: [sh, -c, 'echo \"{\\\"sum\\\":5}\"']\n";

fn sdk(script: &str) -> Command {
    let program = root().join(".tools/python/a2a/bin/python");
    assert!(program.exists(), "the A2A SDK is not installed: run scripts/setup-python (make test does)");
    let mut command = Command::new(program);
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(root().join("conformance/a2a/interop").join(script));
    command
}

/// The program on the official crates.
fn rust(arguments: &[&str]) -> Command {
    let program = root().join(".tools/a2a-rust/debug/a2a-rust-interop");
    assert!(program.exists(), "the A2A crates are not built: run scripts/setup-a2a-rust (make test does)");
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn front_door() -> HubBuilder {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .file("agent.yaml", SCRIPT)
        .file("tools/add.yaml", ADD)
        .file("anyone.cedar", "permit (principal, action in Action::\"use\", resource);")
        .config("scripts: { agent: ./agent.yaml }\nfront_door: agent\ntools: { directory: ./tools }\naccess: { policy: ./anyone.cedar }\n")
}

async fn client(hub: &Hub, binding: &str, version: &str) {
    let mut command = sdk("client.py");
    command.arg(hub.url("")).arg(binding).arg(version);
    let (success, output) = mcp::finished(command, "a client of the A2A SDK").await;
    assert!(success, "{binding} {version}:\n{output}\n{}", hub.log());
}

#[tokio::test]
async fn a_02_the_sdk_is_a_client_by_json_rpc_and_by_http_of_1_0() {
    let hub = front_door().start().await;
    client(&hub, "JSONRPC", "1.0").await;
    client(&hub, "HTTP+JSON", "1.0").await;
}

#[tokio::test]
async fn a_41_the_sdk_verifies_a_card_that_the_hub_signed_and_sees_one_changed_byte() {
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ED25519] {
        let key = rcgen::KeyPair::generate_for(algorithm).expect("a key").serialize_pem();
        let config = "scripts: { agent: ./agent.yaml }\nfront_door: agent\na2a: { sign_with: file:./card.pem }\n";
        let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("agent.yaml", SCRIPT).file("card.pem", key);
        let hub = builder.config(config).start().await;
        let mut command = sdk("verify.py");
        command.arg(hub.url(""));
        let (success, output) = mcp::finished(command, "the verifier of the A2A SDK").await;
        assert!(success, "{output}");
    }
}

#[tokio::test]
async fn a_27_the_sdk_is_a_client_by_both_dialects_of_0_3() {
    let hub = front_door().start().await;
    client(&hub, "JSONRPC", "0.3").await;
    client(&hub, "HTTP+JSON", "0.3").await;
}

#[tokio::test]
async fn a_28_the_sdk_is_a_client_by_grpc_of_both_versions() {
    let hub = front_door().start().await;
    client(&hub, "GRPC", "1.0").await;
    client(&hub, "GRPC", "0.3").await;
}

#[tokio::test]
async fn a_02_the_rust_crates_are_a_client_by_every_binding() {
    let hub = front_door().start().await;
    for binding in ["JSONRPC", "HTTP+JSON", "GRPC"] {
        let command = rust(&["client", &hub.url(""), binding, &hub.token().expect("the Owner's")]);
        let (success, output) = mcp::finished(command, "a client of the Rust crates").await;
        assert!(success, "{binding}:\n{output}\n{}", hub.log());
    }
}

/// The SDK's agent, whose card names this interface only, behind a hub.
async fn behind(interface: &str) -> (Peer, Hub) {
    hub_before(|address| {
        let mut command = sdk("agent.py");
        command.arg(address.to_string()).arg(interface);
        command
    })
    .await
}

/// Where its card has gRPC: on a port of its own, which whoever configures the hub allows.
async fn services(agent: std::net::SocketAddr) -> Vec<String> {
    let asked = interlingua_testkit::request(http::Method::GET, "/.well-known/agent-card.json");
    let asked = asked.body(http_body_util::Full::default()).expect("a request");
    let card = interlingua_testkit::Connection::http1(agent).await.send(asked).await.json();
    let interfaces = ["supportedInterfaces", "additionalInterfaces"].map(|key| card[key].as_array().cloned());
    let urls = interfaces.into_iter().flatten().flatten().filter_map(|one| one["url"].as_str().map(str::to_owned));
    urls.filter(|url| !url.contains("://")).map(|url| format!("http://{url}")).collect()
}

/// An agent that this command starts, behind a hub.
async fn hub_before(command: impl FnOnce(std::net::SocketAddr) -> Command) -> (Peer, Hub) {
    let agent = Peer::listening(command).await;
    let origins = json!(services(agent.address()).await);
    let config =
        format!("peers: {{ sdk: {{ a2a: {{ url: \"http://{}\" }}, origins: {origins} }} }}\n", agent.address());
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).start().await;
    until("an agent that is listed", async || hub.get("/api/skills?limit=200").await.text().contains("sdk/act")).await;
    (agent, hub)
}

async fn say(hub: &Hub, text: &str) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": "sdk/act", "text": text})).await.json()
}

/// All that the SDK's agent can do, through the hub.
async fn plays(interface: &str) {
    let (_agent, hub) = behind(interface).await;
    acts(&hub, interface).await;
}

/// All that an agent which goes by the first word it hears can do.
async fn acts(hub: &Hub, interface: &str) {
    let parts = |answer: &Value| answer["finished"]["parts"].clone();
    let echoed = say(hub, "echo hello").await;
    assert_eq!(parts(&echoed)[0]["text"], "hello", "{interface}: {echoed}");
    let worked = say(hub, "work done").await;
    assert_eq!(worked["finished"]["artifacts"], json!(["page", "facts"]), "{interface}: {worked}");
    assert_eq!((&parts(&worked)[0]["text"], &parts(&worked)[1]["text"]), (&json!("one "), &json!("done")));
    assert_eq!(parts(&worked)[2]["data"], json!({"rest": "done"}), "{interface}: {worked}");
    for (word, kind) in [("fail", "peer_failed"), ("reject", "peer_declined")] {
        let failed = say(hub, word).await;
        assert_eq!(failed["finished"]["fault"]["kind"], kind, "{interface}: {failed}");
    }
    let waiting = say(hub, "ask me").await;
    let id = waiting["task"].as_str().unwrap_or_else(|| panic!("{interface}: {waiting}"));
    assert_eq!(waiting["questions"][0]["text"], "Which dates?", "{interface}");
    let answer = json!({"answer": {"question": waiting["questions"][0]["id"], "text": "May 1"}});
    assert!(hub.post_json(&format!("/api/tasks/{id}/signals"), &answer).await.status < 300);
    let done = reaches(hub, id, "completed").await;
    assert_eq!(done["finished"]["artifacts"], json!(["answer"]), "{interface}: {done}");
    let slow = crate::support::start(hub, json!({"skill": "sdk/act", "text": "slow"})).await;
    until("the agent at work", async || hub.get(&format!("/api/tasks/{slow}")).await.json()["state"] == "running")
        .await;
    assert!(hub.post_json(&format!("/api/tasks/{slow}/signals"), &json!({"cancel": true})).await.status < 300);
    reaches(hub, &slow, "cancelled").await;
}

#[tokio::test]
async fn a_43_the_sdk_is_an_agent_by_json_rpc_of_1_0() {
    plays("JSONRPC:1.0").await;
}

#[tokio::test]
async fn a_43_the_sdk_is_an_agent_by_http_of_1_0() {
    plays("HTTP+JSON:1.0").await;
}

#[tokio::test]
async fn a_43_the_sdk_is_an_agent_by_json_rpc_of_0_3() {
    plays("JSONRPC:0.3").await;
}

#[tokio::test]
async fn a_43_the_sdk_is_an_agent_by_http_of_0_3() {
    plays("HTTP+JSON:0.3").await;
}

#[tokio::test]
async fn a_43_the_sdk_is_an_agent_by_grpc_of_1_0() {
    plays("GRPC:1.0").await;
}

#[tokio::test]
async fn a_43_the_sdk_is_an_agent_by_grpc_of_0_3() {
    plays("GRPC:0.3").await;
}

#[tokio::test]
async fn a_43_the_rust_crates_are_an_agent_by_every_binding() {
    for binding in ["JSONRPC", "HTTP+JSON", "GRPC"] {
        let (_agent, hub) = hub_before(|address| rust(&["agent", &address.to_string(), binding])).await;
        acts(&hub, binding).await;
    }
}

#[tokio::test]
async fn a_45_the_sdks_agent_is_killed_and_what_it_did_is_unknown() {
    let (mut agent, hub) = behind("JSONRPC:1.0").await;
    let id = crate::support::start(&hub, json!({"skill": "sdk/act", "text": "slow"})).await;
    until("the agent's words", async || hub.get(&format!("/api/tasks/{id}")).await.json()["state"] == "running").await;
    agent.process().kill_9();
    let failed = reaches(&hub, &id, "failed").await;
    assert_eq!(failed["finished"]["fault"]["kind"], "outcome_unknown", "{failed}");
}
