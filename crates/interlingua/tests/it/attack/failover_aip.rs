//! AIP servers that cannot or will not do a task: another device does it only if the first received nothing, and only after every phase of
//! its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use interlingua_testkit::{Hub, Scripted};
use serde_json::{Value, json};
use tokio_websockets::Message;

use crate::support::{send, until};

/// `ann` reaches both devices, and no other skill that is called `do`.
const ACCESS: &str = "access: { tokens: [{ name: ann, token: token-of-ann, skills: [\"zeta/*\", \"bank/*\"] },\n\
    \x20 { name: boss, token: token-of-boss, approve: true }]POLICY }\n";

/// What a server does with a TASK.
#[derive(Debug, Clone, Copy)]
enum Told {
    Does,
    /// Says that its device is not connected.
    Refuses,
    /// Closes the connection.
    Leaves,
}

struct Server {
    socket: Scripted,
    gone: Arc<AtomicBool>,
}

impl Server {
    async fn start(told: Told) -> Server {
        let gone = Arc::new(AtomicBool::new(false));
        let is_gone = gone.clone();
        let socket = Scripted::websocket(move |message, _| {
            if is_gone.load(Ordering::SeqCst) {
                return None;
            }
            let asked: Value = serde_json::from_str(message.as_text()?).ok()?;
            let frame = |kind: &str, status: &str| json!({"type": kind, "status": status});
            let answer = match asked["type"].as_str()? {
                "device_info_request" => {
                    json!({"type": "device_info_response", "status": "ok", "response_id": asked["request_id"],
                        "result": {"platform": "linux"}})
                }
                "task" => match told {
                    Told::Does => json!({"type": "task_end", "status": "completed", "session_id": asked["session_id"],
                        "result": "done"}),
                    Told::Refuses => json!({"type": "error", "status": "error", "session_id": asked["session_id"],
                        "error": "Target device 'dev1' is not connected"}),
                    Told::Leaves => return None,
                },
                _ => frame("heartbeat", "ok"),
            };
            Some(Message::text(answer.to_string()))
        })
        .await;
        Server { socket, gone }
    }

    /// How many tasks it was told.
    fn tasks(&self) -> usize {
        self.socket.heard().iter().filter(|heard| heard.json()["type"] == "task").count()
    }

    /// From now on no connection to it lasts.
    fn leave(&self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

/// A hub with both; among equals the last by name is asked first. Of both the same is said.
async fn hub_with(zeta: &Server, bank: &Server, effects: &str, policy: Option<&str>) -> Hub {
    let mut config = ACCESS.replace("POLICY", if policy.is_some() { ", policy: ./rules.cedar" } else { "" });
    config += "peers:\n";
    for (name, server) in [("bank", bank), ("zeta", zeta)] {
        let url = format!("ws://{}/ws", server.socket.address());
        config +=
            &format!("  {name}: {{ aip: {{ url: \"{url}\", target: dev1, heartbeat: 2s }}, effects: {effects} }}\n");
    }
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let hub = builder.file("rules.cedar", policy.unwrap_or_default()).config(&config).start().await;
    for name in ["bank", "zeta"] {
        is(&hub, name, "up").await;
    }
    hub
}

async fn asked(hub: &Hub, who: &str, method: Method, path: &str, body: Option<Value>) -> Value {
    let token = format!("Bearer token-of-{who}");
    send(hub, method, path, &[("authorization", &token)], body).await.json()
}

/// Waits until a peer is shown in this health.
async fn is(hub: &Hub, name: &str, health: &str) {
    let mut last = json!(null);
    until(&format!("{name} to be {health}"), async || {
        last = asked(hub, "ann", Method::GET, "/api/peers", None).await;
        let mut peers = last["items"].as_array().into_iter().flatten();
        peers.any(|peer| peer["name"] == name && peer["health"].to_string().contains(health))
    })
    .await;
}

/// A task of ann's, for whichever device does it.
async fn begin(hub: &Hub) -> String {
    let body = json!({"skill": "do", "arguments": {"request": "wipe the disk"}});
    let begun = asked(hub, "ann", Method::POST, "/api/tasks", Some(body)).await;
    begun["id"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned()
}

async fn ended(hub: &Hub, task: &str) -> Value {
    let mut last = json!(null);
    until("the task's end", async || {
        last = asked(hub, "ann", Method::GET, &format!("/api/tasks/{task}"), None).await;
        last["finished"].is_object()
    })
    .await;
    last
}

/// The one question that is open, once it is about this skill.
async fn question(hub: &Hub, skill: &str) -> Value {
    let mut open = json!(null);
    until(&format!("a question about {skill}"), async || {
        open = asked(hub, "boss", Method::GET, "/api/confirmations", None).await["items"].clone();
        open.as_array().is_some_and(|open| open.len() == 1 && open[0]["confirm"]["skill"] == skill)
    })
    .await;
    open[0].clone()
}

async fn approve(hub: &Hub, question: &Value) {
    let path = format!("/api/confirmations/{}", question["id"].as_str().expect("an id"));
    asked(hub, "boss", Method::POST, &path, Some(json!({"approve": true}))).await;
}

#[tokio::test]
async fn attack_a_server_of_aip_that_took_a_task_has_another_do_it_again() {
    for (told, kind) in [(Told::Refuses, "unreachable"), (Told::Leaves, "outcome_unknown")] {
        let (zeta, bank) = (Server::start(told).await, Server::start(Told::Does).await);
        let hub = hub_with(&zeta, &bank, "reads", None).await;
        let end = ended(&hub, &begin(&hub).await).await;
        assert_eq!((zeta.tasks(), bank.tasks()), (1, 0), "{told:?}: {end}");
        assert_eq!(end["finished"]["fault"]["kind"], kind, "{told:?}: {end}");
    }
}

#[tokio::test]
async fn attack_an_approval_for_one_server_of_aip_is_spent_on_another() {
    let (zeta, bank) = (Server::start(Told::Does).await, Server::start(Told::Does).await);
    let hub = hub_with(&zeta, &bank, "destroys", None).await;
    let task = begin(&hub).await;
    let first = question(&hub, "zeta/do").await;
    zeta.leave();
    is(&hub, "zeta", "down").await;
    approve(&hub, &first).await;
    let second = question(&hub, "bank/do").await;
    assert_ne!(first["id"], second["id"]);
    assert!(second["text"].as_str().is_some_and(|text| text.contains("bank/do")), "{second}");
    assert_eq!((zeta.tasks(), bank.tasks()), (0, 0), "it was not asked about before: {second}");
    approve(&hub, &second).await;
    let end = ended(&hub, &task).await;
    assert_eq!((&end["state"], zeta.tasks(), bank.tasks()), (&json!("completed"), 0, 1), "{end}");
    let audit = asked_by_owner(&hub, "/api/audit?limit=200").await;
    let authorized = |line: &Value| line["action"] == "authorize" && line["on"] == "bank/do";
    assert!(audit["items"].as_array().is_some_and(|lines| lines.iter().any(authorized)), "{audit}");
}

async fn asked_by_owner(hub: &Hub, path: &str) -> Value {
    let owner = std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    send(hub, Method::GET, path, &[("authorization", &format!("Bearer {}", owner.trim()))], None).await.json()
}

#[tokio::test]
async fn attack_a_server_of_aip_leaves_a_task_to_one_that_a_rule_forbids() {
    let rules = "permit (principal, action in Action::\"use\", resource) unless { principal is Anonymous };\n\
        permit (principal, action == Action::\"approve\", resource) when { principal == User::\"boss\" };\n\
        forbid (principal, action == Action::\"call\", resource == Skill::\"bank/do\")\n\
        when { context.arguments.hasTag(\"request\") && context.arguments.getTag(\"request\") like \"*wipe*\" };\n";
    let (zeta, bank) = (Server::start(Told::Does).await, Server::start(Told::Does).await);
    let hub = hub_with(&zeta, &bank, "destroys", Some(rules)).await;
    let task = begin(&hub).await;
    let first = question(&hub, "zeta/do").await;
    zeta.leave();
    is(&hub, "zeta", "down").await;
    approve(&hub, &first).await;
    let end = ended(&hub, &task).await;
    assert_eq!((zeta.tasks(), bank.tasks()), (0, 0), "{end}");
    assert_eq!(end["finished"]["fault"]["kind"], "unreachable", "{end}");
}
