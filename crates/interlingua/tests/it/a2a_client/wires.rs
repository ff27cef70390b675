//! Every binding and version, against a hub that serves them all; and what one hub imports from another.

use interlingua_testkit::OWNER_TOKEN;

use super::*;

const SCRIPT: &str = r#"
title: Far agent
description: Plays what it is told
public: true
scenes:
  - play: [ { answer: { text: "Hello there" } } ]
  - text: artifact
    play:
      - work: "looking"
      - artifact: { id: page, last: false, part: { text: "one " } }
      - artifact: { id: page, part: { text: "two" } }
  - text: ask
    play: [ { ask: "Which dates?" }, { answer: { text: "booked" } } ]
  - text: fail
    play: [ { fail: "no room" } ]
"#;

const ADD: &str = "name: add\ndescription: Adds.\n\
    input: { type: object, properties: { a: { type: integer }, b: { type: integer } }, required: [a, b] }\n\
    output: { type: object, properties: { sum: { type: integer } }, required: [sum] }\n\
    effects: { reads: true, idempotent: true }\ncommand: [sh, -c, 'echo \"{\\\"sum\\\":5}\"']\n";

async fn far(more: &str) -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .known_owner()
        .file("agent.yaml", SCRIPT)
        .file("tools/add.yaml", ADD)
        .config(&format!("scripts: {{ far: ./agent.yaml }}\ntools: {{ directory: ./tools }}\n{more}"))
        .start()
        .await
}

/// An agent whose card leads to one interface of the hub over there.
async fn one_way(far: &Hub, binding: &'static str, version: &'static str) -> Agent {
    let mut card = far.get("/.well-known/agent-card.json").await.json();
    let url = match binding {
        "GRPC" => far.address().to_string(),
        _ => far.url("/a2a"),
    };
    card["supportedInterfaces"] = json!([{"url": url, "protocolBinding": binding, "protocolVersion": version}]);
    for old in ["url", "protocolVersion", "preferredTransport", "additionalInterfaces"] {
        card.as_object_mut().expect("a card").remove(old);
    }
    Agent::start(card, |heard| panic!("{} was not to be asked", heard.path)).await
}

#[tokio::test]
async fn a_36_the_same_scenes_over_every_binding_and_version() {
    let far = far("front_door: far\n").await;
    let bindings = ["JSONRPC", "HTTP+JSON", "GRPC"].into_iter();
    for (binding, version) in bindings.flat_map(|binding| [(binding, "1.0"), (binding, "0.3")]) {
        let way = format!("{binding} {version}");
        let agent = one_way(&far, binding, version).await;
        let (url, there) = (agent.url(), far.url(""));
        let config = format!(
            "peers: {{ agent: {{ a2a: {{ url: \"{url}\", token: {OWNER_TOKEN} }}, origins: [\"{there}\"] }} }}\n"
        );
        let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).start().await;
        listed(&hub).await;
        assert_eq!(texts(&say(&hub, "hello").await), ["Hello there"], "{way}");
        let made = say(&hub, "artifact").await;
        assert_eq!(texts(&made), ["one ", "two"], "{way}: {made}");
        let failed = say(&hub, "fail").await;
        assert_eq!(fault(&failed), "peer_failed", "{way}: {failed}");
        assert!(failed["finished"]["fault"].to_string().contains("no room"), "{way}: {failed}");
        let waiting = say(&hub, "ask").await;
        let id = waiting["task"].as_str().unwrap_or_else(|| panic!("{way}: {waiting}"));
        assert_eq!(waiting["questions"][0]["text"], "Which dates?", "{way}");
        let answer = json!({"answer": {"question": waiting["questions"][0]["id"], "text": "May 1"}});
        signal(&hub, id, answer).await;
        let done = reaches(&hub, id, "completed").await;
        assert_eq!(texts(&done), ["booked"], "{way}: {done}");
    }
}

#[tokio::test]
async fn a_49_a_tool_of_another_hub_has_its_schema_here_and_is_called_by_its_name_there() {
    let far = far("").await;
    let config = format!(
        "peers: {{ agent: {{ hub: true, trust_hints: true, a2a: {{ url: \"{}\", token: {OWNER_TOKEN} }} }} }}\n",
        far.url("")
    );
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).start().await;
    listed(&hub).await;
    let skills = hub.get("/api/skills?limit=200").await.json();
    let skill = skills["items"].as_array().expect("skills").iter().find(|skill| skill["id"] == "agent/local.add");
    let skill = skill.unwrap_or_else(|| panic!("{skills}"));
    assert_eq!((&skill["kind"], &skill["input"]["required"]), (&json!("tool"), &json!(["a", "b"])));
    assert_eq!((&skill["effects"]["writes"], &skill["effects"]["idempotent"]), (&json!(false), &json!(true)));
    let call = json!({"skill": "agent/local.add", "arguments": {"a": 2, "b": 3}});
    let answer = hub.post_json("/api/exchanges", &call).await.json();
    assert_eq!(answer["finished"]["structured"], json!({"sum": 5}), "{answer}");
    let wrong = json!({"skill": "agent/local.add", "arguments": {"a": 2}});
    assert_eq!(hub.post_json("/api/exchanges", &wrong).await.status, 422, "checked here, by the schema from there");
}

#[tokio::test]
async fn two_hubs_that_know_each_other_end_a_loop() {
    let [a, b] = [interlingua_testkit::port::free(), interlingua_testkit::port::free()];
    let config = |other: std::net::SocketAddr| {
        format!(
            "front_door: agent\npeers: {{ agent: {{ hub: true, a2a: {{ url: \"http://{other}\", token: {OWNER_TOKEN} }} }} }}\n"
        )
    };
    let program = env!("CARGO_BIN_EXE_interlingua");
    let first = Hub::builder(program).known_owner().listen(a).config(&config(b)).start().await;
    let _second = Hub::builder(program).known_owner().listen(b).config(&config(a)).start().await;
    listed(&first).await;
    let mut answer = Value::Null;
    until("a loop that is seen", async || {
        answer = say(&first, "hello").await;
        answer.to_string().contains("loop")
    })
    .await;
}
