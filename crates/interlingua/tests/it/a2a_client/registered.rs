//! Agents that are registered while the hub runs, by their address or by their card, and called where they are.

use http::Method;
use interlingua_testkit::Names;

use super::*;
use crate::support::{builder, hub, send};

const TOKENS: &str =
    "access: { tokens: [{ name: ann, token: t-ann, register: true }, { name: bob, token: t-bob, register: true }] }";

/// An agent that greets whoever says something.
async fn greeter() -> Agent {
    Agent::start(plain_card(), |_| Say::Json(result(message("hello")))).await
}

async fn asks(hub: &Hub, token: &str, method: Method, path: &str, body: Option<Value>) -> interlingua_testkit::Answer {
    let bearer = format!("Bearer {token}");
    send(hub, method, path, &[("authorization", &bearer)], body).await
}

async fn agent(hub: &Hub, id: &str) -> Value {
    hub.get(&format!("/api/agents/{id}")).await.json()
}

fn absolute(agent: &Agent) -> Value {
    let mut card = plain_card();
    card["supportedInterfaces"][0]["url"] = format!("{}/rpc", agent.url()).into();
    card
}

#[tokio::test]
async fn an_agent_registered_by_its_address_is_read_found_called_and_there_after_a_restart() {
    let there = greeter().await;
    let mut hub = hub("").await;
    let answer = hub.post_json("/api/agents", &json!({"url": there.url(), "contact": "desk@hotels.example"})).await;
    assert_eq!((answer.status, answer.header("location")), (201, Some("/api/agents/hotels")), "{}", answer.text());
    let shown = answer.json();
    assert_eq!(
        (&shown["name"], &shown["registered"], &shown["health"]),
        (&json!("Hotels"), &json!(true), &json!("up"))
    );
    assert_eq!((&shown["url"], &shown["contact"]), (&json!(there.url()), &json!("desk@hotels.example")));
    for query in ["skill=find", "tag=travel", "q=finds%20hotels"] {
        let found = hub.get(&format!("/api/agents?registered=true&{query}")).await.json();
        assert_eq!(found["items"][0]["agent_id"], "hotels", "{query}: {found}");
    }
    let request = json!({"message_type": "request", "to_agent": "hotels", "content": {"text": "hi"}});
    let called = async |hub: &Hub| hub.post_json("/api/messages", &request).await.json();
    let heard = called(&hub).await;
    assert_eq!(heard["content"], json!({"status": "success", "result": "hello"}), "{heard}");
    assert_eq!(there.methods(), ["SendMessage"], "over its own wire");
    until("how it stands", async || {
        let agent = agent(&hub, "hotels").await;
        agent["score"] == full_score(&agent)
    })
    .await;
    let stands = agent(&hub, "hotels").await;
    assert_eq!(stands["reached"], 100);
    assert!(stands["latency_ms"].is_u64() && stands["reached_at"].is_string(), "{stands}");
    hub.kill_9();
    hub.restart().await;
    assert_eq!(called(&hub).await["content"]["result"], "hello", "after a crash");
    until("an agent that is up", async || agent(&hub, "hotels").await["health"] == "up").await;
    let before = there.scripted.heard().len();
    assert_eq!(send(&hub, Method::DELETE, "/api/agents/hotels", &[], None).await.status, 204);
    assert_eq!(called(&hub).await["error"]["kind"], "not_found");
    hub.restart().await;
    assert_eq!(hub.get("/api/agents/hotels").await.status, 404);
    assert_eq!(there.scripted.heard().len(), before, "nobody asks for one that is unregistered");
}

#[tokio::test]
async fn an_agent_registered_by_its_card_is_called_as_the_card_says_whatever_is_shown_there() {
    // What is shown at the root of its host is another agent's.
    let mut other = plain_card();
    other["name"] = "Another".into();
    let there = Agent::start(other, |_| Say::Json(result(message("hello")))).await;
    let mut hub = hub("").await;
    let application = json!({"agent_id": "inn", "card": absolute(&there), "metadata": {"floor": 3}});
    let answer = hub.post_json("/api/agents", &application).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    hub.kill_9();
    hub.restart().await;
    let request = json!({"message_type": "request", "to_agent": "inn", "content": {"text": "hi"}});
    assert_eq!(hub.post_json("/api/messages", &request).await.json()["content"]["result"], "hello");
    until("how it stands", async || {
        let agent = agent(&hub, "inn").await;
        agent["score"] == full_score(&agent)
    })
    .await;
    let shown = agent(&hub, "inn").await;
    assert_eq!((&shown["name"], &shown["metadata"]), (&json!("Hotels"), &json!({"floor": 3})), "{shown}");
    // A card of 0.3 is one, too.
    let old = json!({"name": "Old", "description": "d", "version": "1", "protocolVersion": "0.3.0",
        "url": format!("{}/rpc", there.url()), "capabilities": {}, "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"], "skills": [{"id": "s", "name": "s", "description": "s", "tags": []}]});
    assert_eq!(hub.post_json("/api/agents", &json!({ "card": old })).await.json()["agent_id"], "old");
}

#[tokio::test]
async fn an_agent_that_cannot_be_called_is_not_registered_and_says_why() {
    let hub = hub("").await;
    let useless = |change: fn(&mut Value)| {
        let mut card = plain_card();
        change(&mut card);
        card
    };
    let foreign = Agent::start(
        useless(|card| card["supportedInterfaces"][0]["url"] = "https://elsewhere.example/rpc".into()),
        |_| Say::Json(Value::Null),
    )
    .await;
    let nameless = Agent::start(useless(|card| drop(card.as_object_mut().map(|card| card.remove("name")))), |_| {
        Say::Json(Value::Null)
    })
    .await;
    let reserved = Agent::start(useless(|card| card["name"] = "local".into()), |_| Say::Json(Value::Null)).await;
    let nobody = format!("http://{}", interlingua_testkit::port::free());
    for (application, words) in [
        (json!({ "url": nobody }), "cannot be reached"),
        (json!({"url": foreign.url()}), "not its own"),
        (json!({"url": nameless.url()}), "name"),
        (json!({"url": reserved.url()}), "reserved"),
        (json!({"url": "ftp://agent.example"}), "http://"),
        (json!({"url": "http://user:pass@agent.example"}), "credential"),
        (json!({"url": "nonsense"}), "http://"),
        (json!({"card": plain_card()}), "http://"),
        (json!({"card": {"name": "x"}}), "supportedInterfaces"),
        (json!({"url": nobody, "card": plain_card()}), "exactly one"),
        (json!({"url": nobody, "capabilities": []}), "exactly one"),
        (json!({}), "exactly one"),
    ] {
        let answer = hub.post_json("/api/agents", &application).await;
        assert_eq!(answer.status, 422, "{application}: {}", answer.text());
        assert!(answer.text().contains(words), "{application}: {}", answer.text());
    }
    assert_eq!(hub.get("/api/agents?registered=true").await.json()["items"], json!([]));
}

/// Whoever is not the hub's own user sends it only where anyone can go: not by number, nor by a name that leads inside.
#[tokio::test]
async fn others_cannot_send_the_hub_to_addresses_inside() {
    let there = greeter().await;
    let address = there.scripted.address();
    let mut builder = builder().config(TOKENS);
    let names = Names::below(builder.directory(), "agent.example", address.ip());
    for (name, value) in names.environment() {
        builder = builder.environment(name, value);
    }
    let hub = builder.start().await;
    for (url, words) in [
        (there.url(), "is one this hub does not call"),
        ("http://169.254.169.254/".to_owned(), "is one this hub does not call"),
        (format!("http://agent.example:{}", address.port()), "cannot be reached"),
    ] {
        let answer = asks(&hub, "t-ann", Method::POST, "/api/agents", Some(json!({ "url": url }))).await;
        assert_eq!(answer.status, 422, "{url}: {}", answer.text());
        assert!(answer.text().contains(words), "{url}: {}", answer.text());
    }
    let mut card = absolute(&there);
    let refused = asks(&hub, "t-ann", Method::POST, "/api/agents", Some(json!({ "card": card }))).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    // By a name a card can be taken, for nobody is called yet; a call of it then is refused when the name is looked up.
    card["supportedInterfaces"][0]["url"] = format!("http://agent.example:{}/rpc", address.port()).into();
    let taken = asks(&hub, "t-ann", Method::POST, "/api/agents", Some(json!({ "card": card }))).await;
    assert_eq!(taken.status, 201, "{}", taken.text());
    let request = json!({"message_type": "request", "to_agent": "hotels", "content": {"text": "hi"}});
    let heard = hub.post_json("/api/messages", &request).await.json();
    assert_eq!(heard["content"]["kind"], "unreachable", "{heard}");
    assert!(names.asked() > 1, "the name was looked up for each connection");
    assert!(there.scripted.heard().is_empty(), "nobody was called: {:?}", there.scripted.heard());
}

#[tokio::test]
async fn an_agent_that_is_somebody_elses_is_not_replaced_and_its_address_is_its_owners_to_know() {
    let there = greeter().await;
    let hub = hub(TOKENS).await;
    let owners = json!({"agent_id": "inn", "url": there.url()});
    assert_eq!(hub.post_json("/api/agents", &owners).await.status, 201, "the hub's own user");
    let fetching = json!({"agent_id": "inn", "name": "Mine", "capabilities": []});
    assert_eq!(asks(&hub, "t-ann", Method::POST, "/api/agents", Some(fetching.clone())).await.status, 409);
    let mut card = absolute(&there);
    card["supportedInterfaces"][0]["url"] = "https://agent.example/rpc".into();
    let theirs = json!({"agent_id": "inn", "card": card});
    assert_eq!(asks(&hub, "t-ann", Method::POST, "/api/agents", Some(theirs)).await.status, 409);
    let seen = asks(&hub, "t-ann", Method::GET, "/api/agents/inn", None).await.json();
    assert_eq!((seen.get("url"), &seen["name"]), (None, &json!("Hotels")), "{seen}");
    // Its owner may replace it, also by one that fetches.
    assert_eq!(hub.post_json("/api/agents", &fetching).await.status, 201);
    assert_eq!(agent(&hub, "inn").await["name"], "Mine");
    assert_eq!(hub.post_json("/api/agents", &owners).await.status, 201);
    let request = json!({"message_type": "request", "to_agent": "inn", "content": {"text": "hi"}});
    assert_eq!(hub.post_json("/api/messages", &request).await.json()["content"]["result"], "hello");
}

/// What an agent that answered each time has: half of all, if it took longer than a second on a busy machine.
fn full_score(agent: &Value) -> u64 {
    if agent["latency_ms"].as_u64().is_some_and(|took| took > 1_000) { 50 } else { 100 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_an_agent_stands_is_shown_when_it_goes_away_and_when_its_card_cannot_be_used() {
    let there = greeter().await;
    let mut hub = hub("").await;
    assert_eq!(hub.post_json("/api/agents", &json!({"url": there.url()})).await.status, 201);
    let scored = async |hub: &Hub, share: u64| {
        let agent = agent(hub, "hotels").await;
        agent["score"].as_u64().is_some_and(|score| score == full_score(&agent) / share)
    };
    until("a good score", async || scored(&hub, 1).await).await;
    let run = |what: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
        command
            .current_dir(hub.directory())
            .env("INTERLINGUA_TOKEN", hub.token().expect("a token"))
            .env_remove("INTERLINGUA_DATA");
        let output = command.args([what, "--hub", &hub.url("")]).output().expect("the program runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for what in ["peers", "agents"] {
        let table = run(what);
        let line = table.lines().find(|line| line.contains("hotels")).unwrap_or_else(|| panic!("{table}"));
        assert!(line.contains(&full_score(&agent(&hub, "hotels").await).to_string()), "{table}");
    }
    // What it answers from now on is no card.
    there.shows(json!("nothing"));
    hub.restart().await;
    until("half a score", async || scored(&hub, 2).await).await;
    until("why", async || {
        let unread = agent(&hub, "hotels").await;
        unread["problems"][0].as_str().is_some_and(|text| text.contains("cannot be used"))
    })
    .await;
    drop(there);
    hub.restart().await;
    until("an agent that is down", async || agent(&hub, "hotels").await["health"] == "down").await;
    let gone = agent(&hub, "hotels").await;
    assert_eq!((&gone["score"], &gone["reached"]), (&json!(0), &json!(0)), "{gone}");
    assert_eq!(gone["problems"], json!(["it cannot be reached"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_are_registered_by_address_and_by_card_from_the_command_line() {
    let there = greeter().await;
    let hub = hub("").await;
    hub.write("card.json", absolute(&there).to_string());
    let url = hub.url("");
    let run = |given: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
        command
            .current_dir(hub.directory())
            .env("INTERLINGUA_TOKEN", hub.token().expect("a token"))
            .env_remove("INTERLINGUA_DATA");
        let output = command.args(["agents", "--register", given, "--hub", &url]).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    for given in [there.url().as_str(), "card.json"] {
        assert_eq!(run(given), (Some(0), "hotels is registered".to_owned()));
    }
    assert_eq!(run("http://127.0.0.1:1").0, Some(2));
}
