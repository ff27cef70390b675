//! The registry: who may register, who owns an agent, and how it is found.

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{Working, as_user, flight, hotel, post, register};
use crate::support::{hub, send, until};

const TOKENS: &str = "access: { tokens: [
  { name: ann, token: t-ann, register: true }, { name: bob, token: t-bob, register: true }, { name: eve, token: t-eve } ] }";

fn ids(page: &Answer) -> Vec<String> {
    let items = page.json()["items"].as_array().cloned().unwrap_or_default();
    items.iter().filter_map(|item| item["agent_id"].as_str().map(str::to_owned)).collect()
}

async fn found(hub: &Hub, query: &str) -> Vec<String> {
    let page = hub.get(&format!("/api/agents?registered=true&{query}")).await;
    assert_eq!(page.status, 200, "{}", page.text());
    ids(&page)
}

#[tokio::test]
async fn agents_are_found_by_skill_tag_provider_and_words() {
    let hub = hub("").await;
    assert!(found(&hub, "").await.is_empty());
    register(&hub, flight()).await;
    register(&hub, hotel()).await;
    for (query, expected) in [
        ("", vec!["agent_flight", "agent_hotel"]),
        ("skill=search_hotels", vec!["agent_hotel"]),
        ("capability=search_flights", vec!["agent_flight"]),
        ("skill=search", vec![]),
        ("tag=search_hotels", vec!["agent_hotel"]),
        ("provider=travelco", vec!["agent_flight", "agent_hotel"]),
        ("provider=other", vec![]),
        ("q=booking%20hotel", vec!["agent_hotel"]),
    ] {
        assert_eq!(found(&hub, query).await, expected, "{query}");
    }
    assert!(ids(&hub.get("/api/agents").await).contains(&"local".to_owned()), "every peer is an agent");
    assert_eq!(ids(&hub.get("/api/agents?skill=steps").await), ["local"]);
    let first = hub.get("/api/agents?registered=true&limit=1").await;
    assert_eq!((ids(&first), &first.json()["next"]), (vec!["agent_flight".to_owned()], &json!("agent_flight")));
    assert_eq!(found(&hub, "limit=1&after=agent_flight").await, ["agent_hotel"]);
    assert_eq!(hub.get("/api/agents?colour=red").await.status, 422);
}

#[tokio::test]
async fn a_registration_survives_a_restart_and_is_replaced_whole() {
    let mut hub = hub("").await;
    register(&hub, hotel()).await;
    let one = hub.get("/api/agents/agent_hotel").await.json();
    assert_eq!(one["capabilities"][0]["input_schema"]["properties"]["location"], json!({"type": "string"}), "{one}");
    assert_eq!((&one["contact"], &one["health"]), (&json!("https://api.travel.example/hotel"), &json!("starting")));
    hub.kill_9();
    hub.restart().await;
    assert_eq!(hub.get("/api/agents/agent_hotel").await.json()["name"], "Hotel Expert");
    let mut renamed = hotel();
    renamed["name"] = "Hotels".into();
    renamed["capabilities"] = json!([]);
    register(&hub, renamed).await;
    let one = hub.get("/api/agents/agent_hotel").await.json();
    assert_eq!((&one["name"], &one["capabilities"]), (&json!("Hotels"), &json!([])));
    for status in [204, 404] {
        let answer = send(&hub, Method::DELETE, "/api/agents/agent_hotel", &[], None).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    hub.restart().await;
    assert_eq!(hub.get("/api/agents/agent_hotel").await.status, 404);
}

#[tokio::test]
async fn an_agent_is_up_while_somebody_reads_for_it() {
    let hub = hub("").await;
    register(&hub, hotel()).await;
    let health = async || hub.get("/api/agents/agent_hotel").await.json()["health"].clone();
    assert_eq!(health().await, "starting");
    let agent = Working::begin(&hub, "agent_hotel").await;
    until("an agent that is up", async || health().await == "up").await;
    drop(agent);
    until("an agent that is down", async || health().await == "down").await;
}

#[tokio::test]
async fn an_agent_belongs_to_whoever_registered_it() {
    let hub = hub(TOKENS).await;
    let asks = async |token: &str, method: Method, path: &str, body: Option<Value>| {
        as_user(&hub, token, method, path, body).await.status
    };
    assert_eq!(asks("t-ann", Method::POST, "/api/agents", Some(hotel())).await, 201);
    assert_eq!(asks("t-ann", Method::POST, "/api/agents", Some(hotel())).await, 201, "hers to replace");
    assert_eq!(asks("t-bob", Method::POST, "/api/agents", Some(hotel())).await, 409);
    assert_eq!(asks("t-eve", Method::POST, "/api/agents", Some(flight())).await, 403);
    assert_eq!(asks("t-bob", Method::DELETE, "/api/agents/agent_hotel", None).await, 404);
    assert_eq!(asks("t-bob", Method::GET, "/api/messages?agent=agent_hotel", None).await, 404);
    assert_eq!(asks("t-ann", Method::GET, "/api/messages?agent=agent_hotel", None).await, 200);
    let said = |kind: &str| json!({"from_agent": "agent_hotel", "to_agent": "agent_hotel", "message_type": kind, "content": {}, "correlation_id": "x"});
    assert_eq!(
        asks("t-bob", Method::POST, "/api/messages", Some(said("event"))).await,
        403,
        "nobody speaks for another"
    );
    assert_eq!(asks("t-bob", Method::POST, "/api/messages", Some(said("response"))).await, 403);
    assert_eq!(asks("t-ann", Method::POST, "/api/messages", Some(said("event"))).await, 202);
    let bob = as_user(&hub, "t-bob", Method::GET, "/api/agents/agent_hotel", None).await.json();
    assert_eq!(bob.get("waiting"), None, "what waits is its owner's to know: {bob}");
    let ann = as_user(&hub, "t-ann", Method::GET, "/api/agents/agent_hotel", None).await.json();
    assert_eq!(ann["waiting"], 1);
    let origin = hub.url("");
    let nobody = [("origin", origin.as_str())];
    assert_eq!(send(&hub, Method::POST, "/api/agents", &nobody, Some(flight())).await.status, 401);
    assert_eq!(hub.get("/api/messages?agent=agent_hotel").await.status, 200, "the hub's own user may everything");
}

#[tokio::test]
async fn what_is_no_card_is_refused_by_name() {
    let hub = hub("").await;
    let with = |key: &str, value: Value| {
        let mut card = hotel();
        card[key] = value;
        card
    };
    for (card, status) in [
        (json!({}), 422),
        (with("agent_id", json!("local")), 422),
        (with("agent_id", json!("a b")), 422),
        (with("agent_id", json!("")), 422),
        (with("capabilities", json!([{"name": "a/b"}])), 422),
        (with("capabilities", json!([{"name": "a"}, {"name": "a"}])), 422),
        (with("capabilities", json!([{"name": "a", "input_schema": []}])), 422),
        (with("metadata", json!(1)), 422),
        (with("description", json!("x".repeat(300_000))), 413),
    ] {
        let answer = hub.post_json("/api/agents", &card).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    assert_eq!(found(&hub, "").await, Vec::<String>::new());
    let unregistered = send(&hub, Method::DELETE, "/api/agents/local", &[], None).await;
    assert_eq!(unregistered.status, 404, "configuration is not unregistered");
    let answer = post(&hub, json!({"message_type": "event", "to_agent": "nobody", "content": {}})).await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn agents_are_registered_found_and_unregistered_from_the_command_line() {
    let hub = hub("").await;
    hub.write("card.json", hotel().to_string());
    let url = hub.url("");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
        command
            .current_dir(hub.directory())
            .env("INTERLINGUA_TOKEN", hub.token().expect("a token"))
            .env_remove("INTERLINGUA_DATA");
        let output = command.arg("agents").args(arguments).args(["--hub", &url]).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    assert_eq!(run(&["--register", "card.json"]), (Some(0), "agent_hotel is registered".to_owned()));
    let (code, table) = run(&["--skill", "search_hotels"]);
    assert!(code == Some(0) && table.contains("agent_hotel") && table.contains("TravelCo"), "{table}");
    assert!(!table.contains("local"), "{table}");
    let (_, found) = run(&["booking", "specialist", "--json"]);
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["items"][0]["agent_id"], "agent_hotel");
    assert_eq!(run(&["--unregister", "agent_hotel"]).0, Some(0));
    assert_eq!(run(&["--unregister", "agent_hotel"]).0, Some(2), "it is not there");
    assert_eq!(run(&["--register", "nothing.json"]).0, Some(2));
}
