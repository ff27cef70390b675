//! Impersonation by an authenticated caller: of a device, an agent, the Owner, another subject.

use http::Method;
use interlingua_testkit::{Answer, Hub, WebSocket};
use serde_json::{Value, json};

use crate::support::{builder, send, until};
use crate::trust::issuers::{ISSUER, Key, Keys};

/// The Owner's token, from where only the Owner can read it.
pub(super) fn owner(hub: &Hub) -> String {
    std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token").trim().to_owned()
}

pub(super) async fn api(hub: &Hub, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    send(hub, method, path, &[("authorization", &format!("Bearer {token}"))], body).await
}

fn device(id: &str) -> Value {
    json!({"type": "register", "status": "ok", "client_type": "device", "client_id": id,
        "metadata": {"platform": "linux", "system_info": {"device_id": id, "platform": "linux"}}})
}

fn orchestrator(id: &str, target: &str) -> Value {
    json!({"type": "register", "status": "ok", "client_type": "constellation", "client_id": id, "target_id": target})
}

/// Registers; the connection when it was let in, else what it was told.
async fn enter(hub: &Hub, token: &str, register: Value) -> Result<WebSocket, String> {
    let mut socket = hub.websocket(&format!("/aip/ws?token={token}")).await;
    socket.send_text(register.to_string()).await;
    let told = socket.next_json().await;
    match told["type"].as_str() {
        Some("heartbeat") => Ok(socket),
        _ => Err(told["error"].as_str().unwrap_or_default().to_owned()),
    }
}

fn refusal(entered: Result<WebSocket, String>) -> String {
    entered.map(drop).expect_err("it is not let in")
}

const KITCHEN: &str = "
aip: { list_tools: 0s, key: SHARED, devices: { kitchen: { key: KITCHEN-SECRET } } }
access:
  anonymous: refused
  tokens:
    - { name: carl, token: ilg_carl }
    - { name: dora, token: ilg_dora, skills: [kitchen/do] }
    - { name: eve, token: ilg_eve, skills: [kitchen/*] }
    - { name: reg, token: ilg_reg, register: true }
";

#[tokio::test]
async fn attack_any_token_enters_as_a_device_that_has_a_key_of_its_own() {
    let hub = builder().config(KITCHEN).start().await;
    let owner = owner(&hub);
    for token in ["ilg_carl", "ilg_dora", "ilg_eve", "ilg_reg", "SHARED", owner.as_str()] {
        for id in ["kitchen", "Kitchen"] {
            let told = refusal(enter(&hub, token, device(id)).await);
            assert!(told.contains("key of its own"), "{token} as {id}: {told}");
        }
    }
    let _kitchen = enter(&hub, "KITCHEN-SECRET", device("kitchen")).await.expect("with its key it comes in");
    let told = refusal(enter(&hub, "KITCHEN-SECRET", orchestrator("kitchen", "hub")).await);
    assert!(told.contains("another device"), "{told}");
}

#[tokio::test]
async fn attack_a_token_for_everything_or_for_one_skill_enters_as_any_device() {
    let hub = builder().config(KITCHEN).start().await;
    for (token, id) in [("ilg_carl", "lamp"), ("ilg_dora", "lamp"), ("ilg_eve", "lamp"), ("ilg_eve", "kitchenette")] {
        let told = refusal(enter(&hub, token, device(id)).await);
        assert!(told.contains("may not be that device"), "{token} as {id}: {told}");
    }
    let _reg = enter(&hub, "ilg_reg", device("lamp")).await.expect("its token says that it may register");
    let _owner = enter(&hub, &owner(&hub), device("desk")).await.expect("the Owner may");
}

#[tokio::test]
async fn attack_a_token_that_the_rules_permit_nothing_enters_as_a_device() {
    let rules = "permit (principal == User::\"alice\", action, resource);\n\
                 forbid (principal == Device::\"barred\", action == Action::\"register\", resource);\n";
    let config = "
aip: { list_tools: 0s, key: SHARED }
access:
  anonymous: refused
  policy: ./rules.cedar
  tokens:
    - { name: alice, token: ilg_alice, skills: [lamp/*] }
    - { name: carl, token: ilg_carl, skills: [lamp/*], register: true }
";
    let hub = builder().file("rules.cedar", rules).config(config).start().await;
    let told = refusal(enter(&hub, "ilg_carl", device("lamp")).await);
    assert!(told.contains("may not be that device"), "{told}");
    let agent = json!({"agent_id": "carls", "name": "Carl's", "capabilities": []});
    assert_eq!(api(&hub, "ilg_carl", Method::POST, "/api/agents", Some(agent.clone())).await.status, 403);
    let _alice = enter(&hub, "ilg_alice", device("lamp")).await.expect("she may, by token and by rule");
    let refused = api(&hub, "ilg_alice", Method::POST, "/api/agents", Some(agent)).await;
    assert_eq!(refused.status, 403, "her token does not say that she may register: {}", refused.text());
    let _keyed = enter(&hub, "SHARED", device("desk")).await.expect("a key needs no rule");
    refusal(enter(&hub, "SHARED", device("barred")).await);
}

#[tokio::test]
async fn attack_a_device_whose_token_lost_its_name_stays_connected_under_it() {
    let before = "- { name: ann, token: ilg_ann, skills: [lamp/*] }\n";
    let config = "aip: { list_tools: 0s }\naccess: { tokens: file:./tokens.yaml }\n";
    let hub = builder().file("tokens.yaml", before).config(config).start().await;
    let mut lamp = enter(&hub, "ilg_ann", device("lamp")).await.expect("it may be the lamp");
    hub.write("tokens.yaml", "- { name: ann, token: ilg_ann, skills: [other/*] }\n");
    let closed = async {
        loop {
            match lamp.next().await {
                None => return None,
                Some(message) if message.is_close() => return message.as_close().map(|(code, _)| u16::from(code)),
                Some(_) => {}
            }
        }
    };
    let closed = tokio::time::timeout(std::time::Duration::from_secs(60), closed).await;
    assert_eq!(closed.expect("it is not the lamp any more"), Some(1008));
}

#[tokio::test]
async fn attack_an_orchestrator_squats_the_id_of_a_device() {
    let hub = builder().config(KITCHEN).start().await;
    let _squatter = enter(&hub, "ilg_carl", orchestrator("kitchen", "hub")).await.expect("its name is its own choice");
    let _kitchen = enter(&hub, "KITCHEN-SECRET", device("kitchen")).await.expect("the device's place is free");
    let agent = json!({"agent_id": "Kitchen", "name": "k", "capabilities": []});
    let answer = api(&hub, "ilg_reg", Method::POST, "/api/agents", Some(agent.clone())).await;
    assert_eq!(answer.status, 409, "nor does an agent take its name: {}", answer.text());
}

#[tokio::test]
async fn attack_an_agent_takes_the_name_of_a_device_that_is_not_here_yet() {
    let hub = builder().config(KITCHEN).start().await;
    for name in ["kitchen", "KITCHEN"] {
        let agent = json!({"agent_id": name, "name": "k", "capabilities": []});
        let answer = api(&hub, "ilg_reg", Method::POST, "/api/agents", Some(agent)).await;
        assert_eq!(answer.status, 409, "{name}: {}", answer.text());
    }
}

#[tokio::test]
async fn attack_another_takes_the_place_of_a_device_that_just_left() {
    let config = "
aip: { list_tools: 0s, grace: 10m }
access:
  tokens:
    - { name: ann, token: ilg_ann, register: true }
    - { name: bob, token: ilg_bob, register: true }
";
    let hub = builder().config(config).start().await;
    let lamp = enter(&hub, "ilg_ann", device("lamp")).await.expect("it is hers");
    let told = refusal(enter(&hub, "ilg_bob", device("lamp")).await);
    assert!(told.contains("already registered"), "{told}");
    drop(lamp);
    let gone = async || {
        let listed = api(&hub, &owner(&hub), Method::GET, "/api/clients", None).await.json();
        listed["online_clients"] == json!([])
    };
    until("it has left", gone).await;
    let told = refusal(enter(&hub, "ilg_bob", device("lamp")).await);
    assert!(told.contains("already registered"), "{told}");
    let _back = enter(&hub, "ilg_ann", device("lamp")).await.expect("she comes back");
}

#[tokio::test]
async fn attack_one_token_brings_devices_without_end() {
    let config = "
aip: { list_tools: 0s, clients_per_caller: 3, key: SHARED }
access:
  tokens:
    - { name: carl, token: ilg_carl, register: true }
    - { name: ann, token: ilg_ann, register: true }
";
    let hub = builder().config(config).start().await;
    let mut here = Vec::new();
    for number in 0..3 {
        here.push(enter(&hub, "ilg_carl", device(&format!("d{number}"))).await.expect("there is room"));
    }
    for register in [device("d3"), orchestrator("o3", "hub")] {
        let told = refusal(enter(&hub, "ilg_carl", register).await);
        assert!(told.contains("as many clients"), "{told}");
    }
    here.push(enter(&hub, "ilg_ann", device("anns")).await.expect("others have room of their own"));
    for number in 0..5 {
        here.push(enter(&hub, "SHARED", device(&format!("k{number}"))).await.expect("a key is the operator's"));
    }
}

#[tokio::test]
async fn attack_a_holder_of_the_shared_key_takes_the_roles_of_an_agent() {
    let config = "
aip: { list_tools: 0s, key: SHARED }
access:
  anonymous: refused
  policy: ./rules.cedar
  roles: { trusted: [\"agent:researcher\", \"device:lamp\", \"orchestrator:gal\"] }
";
    let rules = "permit (principal in Role::\"trusted\", action, resource);\n";
    let hub = builder().file("rules.cedar", rules).config(config).start().await;
    for name in ["researcher", "lamp"] {
        let told = refusal(enter(&hub, "SHARED", orchestrator(name, "hub")).await);
        assert!(told.contains("is not connected"), "{name} sees no more than a stranger: {told}");
    }
    let mut gal = enter(&hub, "SHARED", orchestrator("gal", "hub")).await.expect("a role of its own kind");
    let task = json!({"type": "task", "status": "continue", "client_type": "constellation", "target_id": "hub",
        "session_id": "s", "task_name": "t", "request": "help"});
    gal.send_text(task.to_string()).await;
    let named = async || {
        let audit = api(&hub, &owner(&hub), Method::GET, "/api/audit", None).await.text();
        assert!(!audit.contains("agent:gal"), "{audit}");
        audit.contains("orchestrator:gal")
    };
    until("the audit names it by its kind", named).await;
}

/// An artifact of ann's for these readers; its id.
async fn shared(hub: &Hub, readers: &[&str]) -> String {
    let body = json!({"name": "note", "content": "FOR-THEM-ONLY", "access_control": readers});
    let answer = api(hub, "ilg_ann", Method::POST, "/api/artifacts", Some(body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["artifact_id"].as_str().expect("an id").to_owned()
}

const SHARING: &str = "
aip: { list_tools: 0s, key: SHARED }
access:
  anonymous: refused
  tokens:
    - { name: ann, token: ilg_ann }
    - { name: bob, token: ilg_bob, register: true }
    - { name: mallory, token: ilg_mallory, register: true, skills: [nothing/*] }
";

#[tokio::test]
async fn attack_a_device_or_orchestrator_named_like_another_reads_what_was_shared_with_that_one() {
    let hub = builder().config(SHARING).start().await;
    let agent = json!({"agent_id": "agent_hotel", "name": "Hotel", "capabilities": []});
    assert_eq!(api(&hub, "ilg_bob", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    let theirs = shared(&hub, &["owner", "agent_hotel", "agent:agent_hotel", "user:bob"]).await;
    let file = format!("/api/artifacts/{theirs}/content");
    assert_eq!(api(&hub, "ilg_bob", Method::GET, &file, None).await.text(), "FOR-THEM-ONLY", "whose agent it is");
    let ask = async |socket: &mut WebSocket, id: &str| {
        socket.send_text(json!({"type": "file_request", "artifact": id}).to_string()).await;
        socket.next_json().await
    };
    for name in ["owner", "agent_hotel", "bob"] {
        for register in [device(name), orchestrator(name, "hub")] {
            let mut socket = enter(&hub, "SHARED", register).await.expect("with the key it comes in");
            let told = ask(&mut socket, &theirs).await;
            assert_eq!(told["type"], "error", "as {name}: {told}");
        }
    }
    let lamps = shared(&hub, &["device:lamp"]).await;
    let mut lamp = enter(&hub, "SHARED", device("lamp")).await.expect("with the key it comes in");
    assert_eq!(ask(&mut lamp, &lamps).await["type"], "file_transfer_start", "a device by its kind and id");
    let mut other = enter(&hub, "SHARED", orchestrator("lamp", "hub")).await.expect("with the key it comes in");
    assert_eq!(ask(&mut other, &lamps).await["type"], "error", "an orchestrator of its name is another");
}

#[tokio::test]
async fn attack_an_agent_is_registered_under_a_name_of_the_hubs_own() {
    let hub = builder().config(SHARING).start().await;
    let register = async |name: &str| {
        let agent = json!({"agent_id": name, "name": name, "capabilities": []});
        api(&hub, "ilg_mallory", Method::POST, "/api/agents", Some(agent)).await
    };
    for name in ["owner", "Owner", "OWNER", "anonymous", "Anonymous", "hub", "Hub", "LOCAL", "Graph", "mcp", "MCP"] {
        let answer = register(name).await;
        assert_eq!(answer.status, 422, "{name}: {}", answer.text());
        assert!(answer.text().contains("reserved"), "{name}: {}", answer.text());
    }
    assert_eq!(register("hotels").await.status, 201);
    for twin in ["Hotels", "HOTELS"] {
        let answer = register(twin).await;
        assert_eq!(answer.status, 409, "{twin}: {}", answer.text());
    }
    assert_eq!(register("hotels").await.status, 201, "her own she may replace");
    let owners = shared(&hub, &["owner"]).await;
    let read = api(&hub, "ilg_mallory", Method::GET, &format!("/api/artifacts/{owners}/content"), None).await;
    assert_eq!(read.status, 404, "{}", read.text());
}

#[tokio::test]
async fn attack_an_event_or_artifact_says_that_it_is_from_the_owner() {
    let hub = builder().config(SHARING).start().await;
    for name in ["owner", "Owner", "anonymous", "user:ann", "agent:researcher", "device:lamp", "user:ann>agent:x"] {
        let event = json!({"message_type": "event", "from_agent": name, "topic": "news", "content": {"a": 1}});
        let answer = api(&hub, "ilg_mallory", Method::POST, "/api/messages", Some(event)).await;
        assert_eq!(answer.status, 403, "{name}: {}", answer.text());
        let artifact = json!({"name": "note", "content": "x", "created_by": name});
        let answer = api(&hub, "ilg_mallory", Method::POST, "/api/artifacts", Some(artifact)).await;
        assert_eq!(answer.status, 403, "{name}: {}", answer.text());
    }
    let own = json!({"message_type": "event", "from_agent": "user:mallory", "topic": "news", "content": {"a": 1}});
    let answer = api(&hub, "ilg_mallory", Method::POST, "/api/messages", Some(own)).await;
    assert!((200..300).contains(&answer.status), "{}", answer.text());
}

#[tokio::test]
async fn attack_one_caller_registers_agents_without_end() {
    let hub = builder().config(SHARING).start().await;
    let register = async |token: &str, name: String| {
        let agent = json!({"agent_id": name, "name": "x", "capabilities": []});
        api(&hub, token, Method::POST, "/api/agents", Some(agent)).await
    };
    for number in 0..256 {
        let answer = register("ilg_mallory", format!("m{number}")).await;
        assert_eq!(answer.status, 201, "{number}: {}", answer.text());
    }
    let answer = register("ilg_mallory", "m256".to_owned()).await;
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert_eq!(register("ilg_mallory", "m7".to_owned()).await.status, 201, "one that is there is replaced");
    assert_eq!(register("ilg_bob", "bobs".to_owned()).await.status, 201, "others have room of their own");
}

const NOTE: &str = "
name: note
description: Notes something.
effects: { writes: true }
command: [sh, -c, 'echo \"{\\\"noted\\\":true}\"']
";

#[tokio::test]
async fn attack_a_subject_of_an_issuer_is_written_like_another_callers_agent() {
    let key = Key::new("one");
    let keys = Keys::serve(&[&key]).await;
    let lines =
        "replies:\n  - { when: go, call: [{ name: local__note, arguments: {} }] }\n  - { again: true, say: Done. }\n";
    let config = format!(
        "tools: {{ directory: ./tools }}
models: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}
agents: {{ researcher: {{ model: canned, skills: [local/note] }} }}
access:
  anonymous: refused
  issuers: {{ corp: {{ issuer: \"{ISSUER}\", audience: [hub], keys: \"{}\", skills: [\"*\"] }} }}
",
        keys.url
    );
    let hub = builder().file("tools/note.yaml", NOTE).file("lines.yaml", lines).config(&config).start().await;
    let of = |subject: &str| key.token(&json!({"sub": subject, "scope": ""}));
    let victim = of("x");
    until("the keys", async || api(&hub, &victim, Method::GET, "/api/skills", None).await.status == 200).await;
    let call = json!({"skill": "researcher/chat", "arguments": {"message": "go"}});
    let begun = api(&hub, &victim, Method::POST, "/api/tasks", Some(call)).await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    let owner = owner(&hub);
    let mut child = String::new();
    until("its agent has a task", async || {
        let all = api(&hub, &owner, Method::GET, "/api/tasks", None).await.json();
        let ids: Vec<String> = all["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|task| !task["parent"].is_null())
            .filter_map(|task| task["id"].as_str().map(str::to_owned))
            .collect();
        child = ids.first().cloned().unwrap_or_default();
        !child.is_empty()
    })
    .await;
    for subject in ["x>agent:researcher", "x>>agent:researcher", "x>0agent:researcher", "x>"] {
        let thief = of(subject);
        let listed = api(&hub, &thief, Method::GET, "/api/tasks", None).await;
        assert_eq!((listed.status, &listed.json()["items"]), (200, &json!([])), "{subject}: {}", listed.text());
        for path in ["", "/events", "/timeline"] {
            let read = api(&hub, &thief, Method::GET, &format!("/api/tasks/{child}{path}"), None).await;
            assert_eq!(read.status, 404, "{subject}{path}: {}", read.text());
        }
    }
    for subject in ["x\0y", "x\ny", "\u{7f}", &"x".repeat(257)] {
        let answer = api(&hub, &of(subject), Method::GET, "/api/skills", None).await;
        assert_eq!(answer.status, 401, "{subject:?} is nobody's name");
    }
    let long = api(&hub, &of(&"x".repeat(256)), Method::GET, "/api/skills", None).await;
    assert_eq!(long.status, 200);
}

#[tokio::test]
async fn attack_a_configured_name_is_another_kind_of_callers() {
    for (config, told) in [
        (
            "access:\n  issuers: { corp: { issuer: \"https://a.example\", audience: [hub], keys: \"https://a.example/k\" } }\n  tokens: [{ name: corp/ann, token: ilg_ann }]\n",
            "corp",
        ),
        ("peers: { owner: { nlip: { url: \"http://127.0.0.1:9/nlip\" } } }\n", "reserved"),
        ("peers: { Anonymous: { nlip: { url: \"http://127.0.0.1:9/nlip\" } } }\n", "reserved"),
        (
            "peers: { hotels: { nlip: { url: \"http://127.0.0.1:9/nlip\" } }, Hotels: { nlip: { url: \"http://127.0.0.1:9/nlip\" } } }\n",
            "but for its case",
        ),
    ] {
        let (status, said) = builder().config(config).refused().await;
        assert!(!status.success() && said.contains(told), "{config}: {said}");
    }
}

#[tokio::test]
async fn attack_another_registers_the_name_of_an_agent_and_reads_what_waited_for_it() {
    let hub = builder().config(SHARING).start().await;
    let agent = json!({"agent_id": "agent_hotel", "name": "Hotel", "capabilities": []});
    assert_eq!(api(&hub, "ilg_bob", Method::POST, "/api/agents", Some(agent.clone())).await.status, 201);
    let event = json!({"message_type": "event", "to_agent": "agent_hotel", "content": {"for": "BOB-ONLY"}});
    let sent = api(&hub, &owner(&hub), Method::POST, "/api/messages", Some(event)).await;
    assert_eq!(sent.status, 202, "{}", sent.text());
    let inbox = "/api/messages?agent=agent_hotel";
    assert!(api(&hub, "ilg_bob", Method::GET, inbox, None).await.text().contains("BOB-ONLY"));
    assert_eq!(api(&hub, "ilg_bob", Method::DELETE, "/api/agents/agent_hotel", None).await.status, 204);
    assert_eq!(api(&hub, "ilg_mallory", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    let read = api(&hub, "ilg_mallory", Method::GET, inbox, None).await;
    assert_eq!((read.status, &read.json()["items"]), (200, &json!([])), "{}", read.text());
}
