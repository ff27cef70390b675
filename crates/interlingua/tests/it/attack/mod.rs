//! Attacks, each over a real socket against the real program. A test fails if its attack succeeds.

mod answers;
mod approver;
mod bounds;
mod budgets;
mod content;
mod data;
mod disk;
mod disk_kept;
mod effects;
mod elsewhere;
mod failover;
mod failover_aip;
mod federation;
mod forgotten;
mod held;
mod hostile_hub;
mod identity;
mod inbox;
mod inherit;
mod outgoing;
mod outside;
mod owner;
mod planner;
mod programs;
mod races;
mod sealed;
mod sentences;
mod tampered;
mod tenants;
mod tokens;
mod two_hubs;
mod ways;
mod webhooks;
mod withdrawn;

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use crate::support::send;

/// A request of somebody whose token is their name with `-token`.
async fn by(hub: &Hub, name: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {name}-token");
    send(hub, method, path, &[("authorization", &bearer)], body).await
}

/// An agent of ann's that has an inbox.
async fn register(hub: &Hub, agent: &str) {
    let agent = json!({"agent_id": agent, "name": "Ann's", "description": "Reads.", "owner": "ann",
        "contact": "https://ann.example/", "capabilities": [
            {"name": "read", "description": "Reads what it gets.", "input_schema": {"type": "object"}}]});
    let registered = by(hub, "ann", Method::POST, "/api/agents", Some(agent)).await;
    assert_eq!(registered.status, 201, "{}", registered.text());
}

/// The ids of what waits in the inbox of an agent of ann's.
async fn waiting(hub: &Hub, agent: &str) -> Vec<String> {
    let listed = by(hub, "ann", Method::GET, &format!("/api/messages?agent={agent}"), None).await.json();
    let items = listed["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| item["message_id"].as_str().expect("an id").to_owned()).collect()
}
