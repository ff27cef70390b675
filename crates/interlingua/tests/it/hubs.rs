//! Two hubs that know each other: each offers the other's skills as its own peer's, and no call goes in circles.

use interlingua_testkit::{Hub, HubBuilder, port};
use serde_json::{Value, json};

use crate::support::{builder, until};

/// A hub with tools, which knows another one.
fn knowing(builder: HubBuilder, id: &str, other: &str, at: std::net::SocketAddr) -> HubBuilder {
    builder.config(&format!(
        "hub: {{ id: {id} }}\ntools: {{ directory: ./tools }}\npeers:\n  {other}: {{ nlip: {{ url: \"http://{at}/nlip\" }}, hub: true, trust_hints: true }}\n"
    ))
}

async fn pair() -> (Hub, Hub) {
    let (left, right) = (port::free(), port::free());
    let left_hub = knowing(builder(), "left", "right", right).listen(left).start().await;
    let right_hub = knowing(builder(), "right", "left", left).listen(right).start().await;
    for (hub, skill) in [(&left_hub, "right/local.steps"), (&right_hub, "left/local.steps")] {
        until("its skills are told", async || skills(hub).await.iter().any(|known| known == skill)).await;
    }
    (left_hub, right_hub)
}

async fn skills(hub: &Hub) -> Vec<String> {
    let page = hub.get("/api/skills?limit=1000").await.json();
    let items = page["items"].as_array().cloned().unwrap_or_default();
    items.iter().filter_map(|skill| skill["id"].as_str().map(str::to_owned)).collect()
}

async fn call(hub: &Hub, skill: &str, arguments: Value) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": arguments})).await.json()
}

#[tokio::test]
async fn the_skills_of_another_hub_are_called_as_ones_own() {
    let (left, right) = pair().await;
    let done = call(&left, "right/local.steps", json!({})).await;
    assert_eq!(done["finished"]["parts"][1]["data"], json!({"counted": 2}), "{done}");
    // Its schema holds here already, and what it would ask a person is asked here.
    let bad = call(&left, "right/local.erase", json!({"what": 7})).await;
    assert_eq!(bad["error"]["kind"], "invalid_input", "{bad}");
    let asked = call(&left, "right/local.erase", json!({"what": "x"})).await;
    assert_eq!(asked["state"], "waiting", "{asked}");
    // Neither gives the other back what it was given, and nobody's skills about itself are taken.
    let known = skills(&left).await;
    assert!(known.contains(&"right/left.chat".to_owned()), "{known:?}");
    for skill in skills(&left).await.iter().chain(&skills(&right).await) {
        assert!(skill.matches('.').count() <= 1 && !skill.contains("/hub."), "{skill}");
    }
}

#[tokio::test]
async fn a_call_that_comes_back_to_its_hub_is_a_loop_that_names_the_way() {
    let (left, _right) = pair().await;
    let looped = call(&left, "right/left.chat", json!({"message": "echo hello"})).await;
    let fault = &looped["finished"]["fault"];
    assert_eq!(fault["kind"], "loop", "{looped}");
    assert!(fault["message"].as_str().is_some_and(|text| text.contains("left, right")), "{looped}");
}

/// Every wire by which a hub can be the peer of another.
#[derive(Debug, Clone, Copy)]
enum Wire {
    Nlip,
    Mcp,
    A2a,
    Aip,
    Nlweb,
}

const WIRES: [Wire; 5] = [Wire::Nlip, Wire::Mcp, Wire::A2a, Wire::Aip, Wire::Nlweb];

impl Wire {
    /// The other hub as a peer. An orchestrator names whom of the other hub's peers it means.
    fn peer(self, at: std::net::SocketAddr) -> String {
        match self {
            Wire::Nlip => format!("nlip: {{ url: \"http://{at}/nlip\" }}"),
            Wire::Mcp => format!("mcp: {{ url: \"http://{at}/mcp\" }}"),
            Wire::A2a => format!("a2a: {{ url: \"http://{at}\" }}"),
            Wire::Aip => format!("aip: {{ url: \"ws://{at}/ws\", target: local }}"),
            Wire::Nlweb => format!("nlweb: {{ url: \"http://{at}/ask\" }}"),
        }
    }

    /// The other hub's tool, as it is called from here.
    fn tool(self) -> Value {
        match self {
            Wire::Nlip | Wire::A2a => json!({"skill": "right/local.two", "arguments": {}}),
            Wire::Mcp => json!({"skill": "right/local__two", "arguments": {}}),
            Wire::Aip => json!({"skill": "right/do", "arguments": {"request": "count to two"}}),
            Wire::Nlweb => json!({"skill": "right/ask", "arguments": {"query": "count to two", "site": "local"}}),
        }
    }
}

const TWO: &str = "name: two\ndescription: Counts to two.\nphrases: { en: [count to two] }\n\
    effects: { reads: true, idempotent: true }\ncommand: [sh, -c, 'echo \"{\\\"counted\\\":2}\"']\n";

async fn hub_at(address: std::net::SocketAddr, config: &str) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("tools/two.yaml", TWO);
    builder.config(&format!("tools: {{ directory: ./tools }}\n{config}")).listen(address).start().await
}

/// Two hubs that are each other's peer by this wire.
async fn federated(wire: Wire) -> (Hub, Hub) {
    let (left, right) = (port::free(), port::free());
    let config = |id: &str, other: &str, at| {
        let peer = wire.peer(at);
        format!("hub: {{ id: {id} }}\npeers:\n  {other}: {{ {peer}, hub: true, trust_hints: true }}\n")
    };
    let right_hub = hub_at(right, &config("right", "left", left)).await;
    let left_hub = hub_at(left, &config("left", "right", right)).await;
    (left_hub, right_hub)
}

#[tokio::test]
async fn hubs_work_as_one_through_every_protocol() {
    for wire in WIRES {
        let (left, _right) = federated(wire).await;
        let mut last = json!(null);
        until(&format!("{wire:?}: the other hub's tool answers"), async || {
            last = left.post_json("/api/exchanges", &wire.tool()).await.json();
            last["finished"]["outcome"] == "completed"
        })
        .await;
        let said = last["finished"].to_string();
        assert!(said.contains("counted"), "{wire:?}: {said}");
    }
}
