//! A website that a browser drives, through every door of the hub.

use std::process::Command;

use http::Method;
use interlingua_testkit::Hub;
use interlingua_testkit::pages::{Pages, html};
use serde_json::{Value, json};

use crate::mcp::Modern;
use crate::support::{send, until};

const FLIGHTS: &str = include_str!("../../../../fixtures/site/airline/flights.html");
const REBUILT: &str = include_str!("../../../../fixtures/site/airline/rebuilt.html");
const AIRLINE: &str = include_str!("../../../../fixtures/site/airline_booking.json");
const EXAMPLE: &str = include_str!("../../../../examples/airline.yaml");

fn definition(pages: &Pages) -> String {
    AIRLINE.replace("https://www.airline.com", &pages.base())
}

/// A hub with the well-known example, at pages of our own.
async fn hub(pages: &Pages) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("airline.json", definition(pages));
    builder.config("peers: { airline: { site: ./airline.json } }\n").start().await
}

const SAID: &str = "Search flights from NYC to Paris on 2027-05-01";

fn args() -> Value {
    json!({"origin": "NYC", "destination": "Paris", "date": "2027-05-01"})
}

fn first() -> Value {
    json!({"airline": "Air France", "price": "$650", "time": "10:00"})
}

#[tokio::test]
async fn w_07_w_47_site_is_called_from_the_program_mcp_a2a_nlip_and_plain_words() {
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let hub = hub(&pages).await;
    let skills = hub.get("/api/skills").await.text();
    assert!(skills.contains("airline/search_flights"), "{skills}");

    let call = json!({"skill": "airline/search_flights", "arguments": args()});
    let answer = hub.post_json("/api/exchanges", &call).await;
    assert!(answer.text().contains("Air France"), "{}", answer.text());

    let called = tokio::task::spawn_blocking({
        let url = hub.url("");
        move || {
            let program = Command::new(env!("CARGO_BIN_EXE_interlingua"))
                .args(["call", "--hub", &url, "--json", "airline/search_flights", &args().to_string()])
                .output();
            program.expect("the program runs")
        }
    });
    let called = called.await.unwrap();
    assert_eq!(called.status.code(), Some(0), "{}", String::from_utf8_lossy(&called.stderr));
    assert!(String::from_utf8_lossy(&called.stdout).contains("Air France"));

    let result =
        Modern::new(&hub).result("tools/call", json!({"name": "airline__search_flights", "arguments": args()})).await;
    assert_eq!(result["structuredContent"]["extracted_data"][0], first(), "{result}");

    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": SAID}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let answer = send(&hub, Method::POST, "/a2a", &[("a2a-version", "1.0")], Some(body)).await.text();
    assert!(answer.contains("Air France"), "{answer}");

    let said = json!({"format": "text", "subformat": "english", "content": SAID});
    let answer = hub.post_json("/nlip", &said).await.text();
    assert!(answer.contains("Air France"), "{answer}");
}

#[tokio::test]
async fn w_13_w_41_site_asks_for_what_is_missing_before_a_page_is_opened() {
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let hub = hub(&pages).await;
    let said = json!({"format": "text", "subformat": "english", "content": "search flights from NYC to Paris"});
    let asked = hub.post_json("/nlip", &said).await.json();
    assert!(asked["content"].as_str().is_some_and(|text| text.contains("date")), "{asked}");
    assert!(pages.asked().is_empty());
    let client = Modern::new(&hub);
    let refused = client.ask("tools/call", json!({"name": "airline__search_flights", "arguments": {"origin": "NYC"}}));
    let refused = refused.await.text();
    assert!(refused.contains("destination") && refused.contains("isError"), "{refused}");
    let unknown = json!({"skill": "airline/fly", "arguments": {}});
    assert_eq!(hub.post_json("/api/exchanges", &unknown).await.status, 404);
    assert!(pages.asked().is_empty());
}

#[tokio::test]
async fn w_48_site_redesigned_is_mended_and_the_proposal_takes_its_place() {
    let pages = Pages::start([("/flights", html(REBUILT))]).await;
    let hub = hub(&pages).await;
    let client = Modern::new(&hub);
    let call = || client.result("tools/call", json!({"name": "airline__search_flights", "arguments": args()}));
    let result = call().await["structuredContent"].clone();
    assert_eq!(result["extracted_data"][0], first(), "{result}");
    assert_eq!(result["proposed"]["version"], "1.0.1", "{result}");
    hub.write("airline.json", result["proposed"].to_string());
    until("the proposed version", async || hub.get("/api/skills").await.text().contains("1.0.1")).await;
    let result = call().await["structuredContent"].clone();
    assert_eq!(result["extracted_data"][0], first(), "{result}");
    assert!(result.get("proposed").is_none(), "{result}");
}

#[tokio::test]
async fn w_01_w_06_site_with_mistakes_is_refused_with_file_action_and_step() {
    let broken = json!({"interface_id": "a", "name": "A", "base_url": "https://a.example", "description": "d",
        "actions": {"go": [{"action_type": "navigate", "value": "/"}, {"action_type": "press"}, {"action_type": "type", "selector": "#a"}]}});
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("a.json", broken.to_string());
    let (status, text) = builder.config("peers: { a: { site: ./a.json } }\n").refused().await;
    assert_eq!(status.code(), Some(3), "{text}");
    assert!(text.contains("a.json") && text.contains("actions.go[2].action_type"), "{text}");
    assert!(text.contains("actions.go[3].value: is missing"), "{text}");
}

#[tokio::test]
async fn w_15_site_of_the_example_file_speaks_english_and_spanish() {
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let yaml = EXAMPLE.replace("https://www.airline.example", &pages.base());
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("airline.yaml", yaml);
    let directory = builder.directory().join("airline.yaml");
    let hub = builder.arguments(&["--site", &directory.display().to_string()]).start().await;
    for said in ["search flights from NYC to Paris on May 1", "busca vuelos de Madrid a París el 1 de mayo"] {
        let answer = hub.post_json("/api/exchanges", &json!({"words": said})).await.text();
        assert!(answer.contains("Air France") && answer.contains("USD"), "{answer}");
    }
}
