//! Messages between agents through the hub: registration, search, requests, events, and isolation.

mod agents;
mod artifacts;
mod events;
mod example;
mod requests;
mod sockets;

use http::Method;
use interlingua_testkit::{Answer, Connection, Events, Hub};
use serde_json::{Value, json};

use crate::support::{send, streaming};

/// The two agents of the document that asked for this system.
fn flight() -> Value {
    json!({
        "agent_id": "agent_flight",
        "name": "Flight Expert",
        "description": "Flight search and booking specialist",
        "capabilities": [{
            "name": "search_flights",
            "description": "Search flights",
            "input_schema": {"origin": "string", "destination": "string"},
            "output_schema": {"flights": "array"},
        }],
        "version": "1.0.0",
        "owner": "TravelCo",
        "contact": "https://api.travel.example/flight",
        "metadata": {},
    })
}

fn hotel() -> Value {
    json!({
        "agent_id": "agent_hotel",
        "name": "Hotel Expert",
        "description": "Hotel search and booking specialist",
        "capabilities": [{
            "name": "search_hotels",
            "description": "Search hotels",
            "input_schema": {"location": "string", "checkin": "string"},
            "output_schema": {"hotels": "array"},
        }],
        "owner": "TravelCo",
        "contact": "https://api.travel.example/hotel",
    })
}

fn wanted() -> Value {
    json!({"location": "Paris", "checkin": "2025-05-01"})
}

fn found() -> Value {
    json!([{"name": "Hotel Paris", "price_per_night": 180}])
}

/// A request of the flight agent to the hotel agent.
fn request(id: &str) -> Value {
    json!({
        "message_id": id,
        "from_agent": "agent_flight",
        "to_agent": "agent_hotel",
        "message_type": "request",
        "capability": "search_hotels",
        "content": wanted(),
        "correlation_id": null,
        "priority": 5,
        "timestamp": "2025-05-01T12:00:00.123456",
        "metadata": {},
    })
}

async fn register(hub: &Hub, card: Value) {
    let answer = hub.post_json("/api/agents", &card).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
}

async fn post(hub: &Hub, message: Value) -> Answer {
    hub.post_json("/api/messages", &message).await
}

/// As somebody with a token.
async fn as_user(hub: &Hub, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {token}");
    send(hub, method, path, &[("authorization", &bearer)], body).await
}

/// An agent at work: its connection, and what comes on it.
struct Working {
    name: &'static str,
    _connection: Connection,
    messages: Events,
}

impl Working {
    async fn begin(hub: &Hub, name: &'static str) -> Working {
        let path = format!("/api/messages?agent={name}");
        let (connection, messages) = streaming(hub, Method::GET, &path, &[], None).await;
        Working { name, _connection: connection, messages }
    }

    async fn next(&mut self) -> Value {
        let data = self.messages.next().await.expect("a message");
        serde_json::from_str(&data).expect("JSON")
    }

    /// Answers a message with this content.
    async fn answer(&self, hub: &Hub, message: &Value, content: Value) -> Answer {
        let response = json!({
            "from_agent": self.name,
            "to_agent": message["from_agent"],
            "message_type": "response",
            "content": content,
            "correlation_id": message["message_id"],
        });
        post(hub, response).await
    }

    async fn answer_next(&mut self, hub: &Hub, content: Value) -> Value {
        let message = self.next().await;
        let answer = self.answer(hub, &message, content).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        message
    }
}
