//! Two hubs that know each other: each offers the other's skills as its own peer's, and no call loops.

use interlingua_testkit::{Hub, HubBuilder, OWNER_TOKEN, Say, Scripted, port};
use serde_json::{Value, json};

use crate::support::{builder, send, until};

/// A hub with tools, which knows another one.
fn knowing(builder: HubBuilder, id: &str, other: &str, at: std::net::SocketAddr) -> HubBuilder {
    builder.known_owner().config(&format!(
        "hub: {{ id: {id} }}\ntools: {{ directory: ./tools }}\npeers:\n  {other}: {{ nlip: {{ url: \"http://{at}/nlip\", token: {OWNER_TOKEN} }}, hub: true, trust_hints: true }}\n"
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wire {
    Nlip,
    Mcp,
    A2a,
    Aip,
    Nlweb,
}

pub(crate) const WIRES: [Wire; 5] = [Wire::Nlip, Wire::Mcp, Wire::A2a, Wire::Aip, Wire::Nlweb];

impl Wire {
    /// The other hub as a peer. An orchestrator names whom of the other hub's peers it means.
    pub(crate) fn peer(self, at: std::net::SocketAddr, target: &str) -> String {
        match self {
            Wire::Nlip => format!("nlip: {{ url: \"http://{at}/nlip\", token: {OWNER_TOKEN} }}"),
            Wire::Mcp => format!("mcp: {{ url: \"http://{at}/mcp\", token: {OWNER_TOKEN} }}"),
            Wire::A2a => format!("a2a: {{ url: \"http://{at}\", token: {OWNER_TOKEN} }}"),
            Wire::Aip => format!("aip: {{ url: \"ws://{at}/ws\", target: {target}, key: {OWNER_TOKEN} }}"),
            Wire::Nlweb => format!("nlweb: {{ url: \"http://{at}/ask\", token: {OWNER_TOKEN} }}"),
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
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).known_owner().file("tools/two.yaml", TWO);
    builder.config(&format!("tools: {{ directory: ./tools }}\n{config}")).listen(address).start().await
}

/// Two hubs that are each other's peer by this wire.
async fn federated(wire: Wire) -> (Hub, Hub) {
    let (left, right) = (port::free(), port::free());
    let config = |id: &str, other: &str, at| {
        let peer = wire.peer(at, "local");
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

const RULES: &str = r#"
permit (principal == User::"ana", action in Action::"use", resource in Peer::"local");
permit (principal == Hub::"left", action in Action::"use", resource == Skill::"local/two");
"#;

/// The other hub as a peer that is shown a token, and what its tool `name` is called here.
fn shown_a_token(wire: Wire, at: std::net::SocketAddr, name: &str) -> (String, String) {
    let spelt = match wire {
        Wire::Mcp => format!("right/local__{name}"),
        Wire::Nlip | Wire::A2a | Wire::Aip | Wire::Nlweb => format!("right/local.{name}"),
    };
    (wire.peer(at, "local").replace(OWNER_TOKEN, "ana-token"), spelt)
}

/// What a hub decided on this skill, and for whom, the newest first.
async fn decided(hub: &Hub, skill: &str) -> Vec<(String, String)> {
    let page = hub.get("/api/audit?limit=200").await.json();
    let lines = page["items"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let about = lines.iter().filter(|line| line["on"] == skill && line["action"] == "authorize");
    about.map(|line| (text(&line["who"]), text(&line["outcome"]))).collect()
}

#[tokio::test]
async fn a_hub_that_passes_a_call_on_is_in_its_chain_and_the_call_may_what_both_may() {
    for wire in [Wire::Nlip, Wire::Mcp, Wire::A2a] {
        let (left, right) = (port::free(), port::free());
        let access =
            "hub: { id: right }\naccess: { tokens: [{ name: ana, token: ana-token }], policy: ./rules.cedar }\n";
        let right_hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
            .file("tools/two.yaml", TWO)
            .file("tools/three.yaml", TWO.replace("two", "three"))
            .file("rules.cedar", RULES)
            .config(&format!("tools: {{ directory: ./tools }}\n{access}"))
            .listen(right)
            .start()
            .await;
        let (peer, two) = shown_a_token(wire, right, "two");
        let (_, three) = shown_a_token(wire, right, "three");
        let known = format!("hub: {{ id: left }}\npeers:\n  right: {{ {peer}, hub: true, trust_hints: true }}\n");
        let left_hub = hub_at(left, &known).await;
        let mut last = json!(null);
        until(&format!("{wire:?}: what both may is done"), async || {
            last = call(&left_hub, &two, json!({})).await;
            last["finished"]["outcome"] == "completed"
        })
        .await;
        let chain = ("user:ana>hub:left".to_owned(), "allowed".to_owned());
        assert!(decided(&right_hub, "local/two").await.contains(&chain), "{wire:?}");
        // Who asked may this one, the hub that passes it on may not.
        let refused = call(&left_hub, &three, json!({})).await;
        assert_ne!(refused["finished"]["outcome"], "completed", "{wire:?}: {refused}");
        assert_eq!(decided(&right_hub, "local/three").await.iter().filter(|(_, how)| how == "allowed").count(), 0);
        let body = json!({"skill": "local/three", "arguments": {}});
        let headers = [("authorization", "Bearer ana-token")];
        let own = send(&right_hub, http::Method::POST, "/api/exchanges", &headers, Some(body)).await.json();
        assert_eq!(own["finished"]["outcome"], "completed", "{wire:?}: {own}");
        let alone = ("user:ana".to_owned(), "allowed".to_owned());
        assert!(decided(&right_hub, "local/three").await.contains(&alone), "{wire:?}");
    }
}

/// A site whose answer is longer than is read of one.
async fn wordy() -> Scripted {
    let summary = json!({"@type": "Summary", "text": "many words, ".repeat(2_000)});
    Scripted::http(move |_, _| Say::Json(json!({"_meta": {"version": "0.55"}, "results": [summary.clone()]}))).await
}

#[tokio::test]
async fn what_another_hub_lost_is_told_on_through_every_protocol() {
    let wordy = wordy().await;
    let site = format!("nlweb: {{ url: \"http://{}/ask\" }}, effects: reads", wordy.address());
    for wire in WIRES {
        let right = port::free();
        let peer = wire.peer(right, "wordy");
        let _right = hub_at(right, &format!("hub: {{ id: right }}\npeers:\n  wordy: {{ {site} }}\n")).await;
        let known = format!("hub: {{ id: left }}\npeers:\n  right: {{ {peer}, hub: true, trust_hints: true }}\n");
        let left = hub_at(port::free(), &known).await;
        let asked = match wire {
            Wire::Nlip | Wire::A2a => json!({"skill": "right/wordy.ask", "arguments": {"query": "go on"}}),
            Wire::Mcp => json!({"skill": "right/wordy__ask", "arguments": {"query": "go on"}}),
            Wire::Aip => json!({"skill": "right/do", "arguments": {"request": "go on"}}),
            Wire::Nlweb => json!({"skill": "right/ask", "arguments": {"query": "go on", "site": "wordy"}}),
        };
        let mut last = json!(null);
        until(&format!("{wire:?}: the other hub's site answers"), async || {
            last = left.post_json("/api/exchanges", &asked).await.json();
            last["finished"]["outcome"] == "completed"
        })
        .await;
        let losses = last["losses"].as_array().cloned().unwrap_or_default();
        let lost = json!({"what": "output.parts.text", "kind": "dropped"});
        assert!(losses.contains(&lost), "{wire:?}: {losses:?}");
    }
}

/// A list that is too long for a model is a search for it; a hub is told all of it, as far as its credential reaches.
#[tokio::test]
async fn a_hub_behind_a_hub_tells_it_every_tool_over_mcp_however_many_there_are() {
    let tokens = "access: { tokens: [{ name: outer, token: outer-token, skills: [\"local/steps\", \"local/slow\", \"hub/*\"] }] }";
    let inner = format!("tools: {{ directory: ./tools }}\nmcp: {{ search_above: 1 }}\n{tokens}\n");
    let inner = builder().known_owner().config(&inner).start().await;
    let model = crate::mcp::Modern::new(&inner).result("tools/list", json!({})).await;
    let names: Vec<&Value> = model["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["hub__call_skill", "hub__find_skills"], "a model searches: {model}");
    let url = inner.url("/mcp");
    let outer = format!(
        "peers:\n  all: {{ mcp: {{ url: \"{url}\", token: {OWNER_TOKEN} }}, hub: true }}\n  \
         some: {{ mcp: {{ url: \"{url}\", token: outer-token }} }}\n"
    );
    let outer = builder().config(&outer).start().await;
    let of = |known: &[String], peer: &str| -> Vec<String> {
        let own = known.iter().filter_map(|id| id.strip_prefix(peer)?.strip_prefix('/').map(str::to_owned));
        own.collect()
    };
    let mut known = Vec::new();
    until("both are listed", async || {
        known = skills(&outer).await;
        !of(&known, "all").is_empty() && !of(&known, "some").is_empty()
    })
    .await;
    for tool in ["steps", "slow", "erase", "fails"] {
        assert!(of(&known, "all").iter().any(|name| name.ends_with(tool)), "{tool}: {known:?}");
    }
    let some = of(&known, "some");
    assert!(some.len() == 2 && some.iter().all(|name| name.ends_with("steps") || name.ends_with("slow")), "{known:?}");
    let steps = known.iter().find(|id| id.starts_with("all/") && id.ends_with("steps")).expect("just seen");
    let done = call(&outer, steps, json!({})).await;
    assert_eq!(done["finished"]["outcome"], "completed", "{done}");
}
