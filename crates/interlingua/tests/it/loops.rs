//! Loops of hubs: a call that goes round is stopped where it began, and its caller gets the reason.

use std::net::SocketAddr;

use interlingua_testkit::{Hub, port};
use serde_json::{Value, json};

use crate::hubs::{WIRES, Wire};
use crate::support::until;

/// A wire is the one by which the first hub calls the second. The others go on in the same, but for MCP: a hub offers no tools
/// that it has from another hub, so there a circle of tools alone cannot come about.
impl Wire {
    /// How the hubs after the first call on.
    fn onward(self) -> Wire {
        if self == Wire::Mcp { Wire::Nlip } else { self }
    }

    fn call(self) -> (&'static str, Value) {
        match self {
            Wire::Nlip | Wire::A2a => ("next/chat", json!({"message": "go round"})),
            Wire::Mcp => ("next/next__chat", json!({"message": "go round"})),
            Wire::Aip => ("next/do", json!({"request": "go round"})),
            Wire::Nlweb => ("next/ask", json!({"query": "go round"})),
        }
    }
}

/// So many hubs, each the next one's caller, whoever asks it in words.
async fn circle(wire: Wire, size: usize, marks: &str) -> Vec<Hub> {
    let addresses: Vec<SocketAddr> = (0..size).map(|_| port::free()).collect();
    let mut hubs = Vec::new();
    for (number, address) in addresses.iter().enumerate() {
        let by = if number == 0 { wire } else { wire.onward() };
        let peer = by.peer(addresses[(number + 1) % size], "next");
        let door = if by == Wire::Mcp { "" } else { "front_door: next\n" };
        let config = format!(
            "hub: {{ id: hub{number} }}\n{door}peers:\n  next: {{ {peer}, {marks}trust_hints: true, effects: reads }}\n"
        );
        hubs.push(
            Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
                .known_owner()
                .config(&config)
                .listen(*address)
                .start()
                .await,
        );
    }
    hubs
}

async fn go_round(wire: Wire, hub: &Hub) -> Value {
    let (skill, arguments) = wire.call();
    let body = json!({"skill": skill, "arguments": arguments});
    let said = hub.post_json("/api/exchanges", &body).await.json();
    if said["finished"].is_null() { said["error"].clone() } else { said["finished"]["fault"].clone() }
}

async fn metric(hub: &Hub, name: &str) -> f64 {
    let text = hub.get("/metrics").await.text();
    let lines = text.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

async fn exchanges(hub: &Hub) -> f64 {
    metric(hub, "interlingua_exchanges_total").await
}

async fn all_idle(hubs: &[Hub]) {
    for hub in hubs {
        let idle = async || metric(hub, "interlingua_exchanges_in_flight").await == 0.0;
        until("the hubs have nothing more to do", idle).await;
    }
}

/// Until everybody has found everybody, a call fails for other reasons.
async fn until_it_goes_round(wire: Wire, hubs: &[Hub], kind: &str) -> Value {
    let mut fault = json!(null);
    let mut ends = async || {
        fault = go_round(wire, &hubs[0]).await;
        fault["kind"] == kind && fault["message"].as_str().is_some_and(|text| text.contains("hub0"))
    };
    for _ in 0..600 {
        if ends().await {
            return fault;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{wire:?}, {} hubs: {fault}", hubs.len());
}

async fn stops_where_it_began(wire: Wire, size: usize) {
    let hubs = circle(wire, size, "hub: true, ").await;
    let fault = until_it_goes_round(wire, &hubs, "loop").await;
    let way: Vec<String> = (0..size).map(|number| format!("hub{number}")).collect();
    let text = fault["message"].as_str().unwrap_or_default();
    assert!(text.contains(&way.join(", ")), "{wire:?}: the way is told: {text}");
    // Each hub has each call once, and nobody tries again. What ended before may be counted late: that is one more.
    all_idle(&hubs).await;
    let mut before = Vec::new();
    for hub in &hubs {
        before.push(exchanges(hub).await);
    }
    for _ in 0..ROUNDS {
        assert_eq!(go_round(wire, &hubs[0]).await["kind"], "loop", "{wire:?}");
    }
    all_idle(&hubs).await;
    for (number, (hub, before)) in hubs.iter().zip(before).enumerate().skip(1) {
        let rounds = f64::from(ROUNDS);
        until("they are counted", async || exchanges(hub).await - before >= rounds).await;
        let had = exchanges(hub).await - before;
        assert!(had <= rounds + 1.0, "{wire:?}: hub{number} of {size} had {had} calls for {ROUNDS}");
    }
}

/// How often a call is sent round.
const ROUNDS: u32 = 5;

#[tokio::test]
async fn a_call_round_two_hubs_is_a_loop_on_every_wire() {
    for wire in WIRES {
        stops_where_it_began(wire, 2).await;
    }
}

#[tokio::test]
async fn a_call_round_three_hubs_is_a_loop_on_every_wire() {
    for wire in WIRES {
        stops_where_it_began(wire, 3).await;
    }
}

/// Where configuration does not say that the next one is a hub, its word for what went wrong is not taken; the way is told and
/// read all the same.
#[tokio::test]
async fn a_circle_that_nobody_knows_of_ends_as_well() {
    for wire in [Wire::Nlip, Wire::Nlweb, Wire::Aip] {
        let hubs = circle(wire, 2, "").await;
        let mut fault = json!(null);
        until("it is stopped", async || {
            fault = go_round(wire, &hubs[0]).await;
            exchanges(&hubs[1]).await > 0.0 && !fault.is_null()
        })
        .await;
        all_idle(&hubs).await;
    }
}

/// What a hub has from another it does not hand on, so two that know each other do not multiply.
#[tokio::test]
async fn tools_of_a_hub_are_not_given_back_to_it_by_mcp() {
    let (left, right) = (port::free(), port::free());
    let tool = "name: two\ndescription: Counts.\neffects: { reads: true }\ncommand: [sh, -c, 'echo 2']\n";
    let hub = async |id: &str, at: SocketAddr, other: SocketAddr| {
        let peer = Wire::Mcp.peer(other, "next");
        let config = format!(
            "hub: {{ id: {id} }}\ntools: {{ directory: ./tools }}\npeers:\n  other: {{ {peer}, hub: true, trust_hints: true }}\n"
        );
        let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).known_owner().file("tools/two.yaml", tool);
        builder.config(&config).listen(at).start().await
    };
    let (left_hub, right_hub) = (hub("left", left, right).await, hub("right", right, left).await);
    for hub in [&left_hub, &right_hub] {
        let known = async || {
            let page = hub.get("/api/skills?limit=1000").await.json();
            let items = page["items"].as_array().cloned().unwrap_or_default();
            items
                .iter()
                .filter_map(|it| it["id"].as_str())
                .filter(|id| id.starts_with("other/"))
                .map(str::to_owned)
                .collect()
        };
        let mut others: Vec<String> = Vec::new();
        until("the other's tool is known", async || {
            others = known().await;
            others.iter().any(|id| id == "other/local__two")
        })
        .await;
        let strange = others.iter().find(|id| id.starts_with("other/hub__") || id.starts_with("other/other__"));
        assert_eq!(strange, None, "{others:?}");
    }
}
