//! The requirements on an A2A client, one by one. What needs a connection is tested over the wire.

mod cards;
mod errors;
mod following;
mod grpc;
mod messages;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::discover::AgentCard;

fn bytes(json: &Value) -> Bytes {
    json.to_string().into()
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn card(json: &Value) -> AgentCard {
    crate::discover::read::decode(&bytes(json), 64).expect("a card")
}

/// A card of 1.0 with two skills.
fn plain() -> Value {
    json!({
        "name": "Hotels", "description": "Finds hotels.", "version": "2.1",
        "supportedInterfaces": [{"url": "http://h/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [
            {"id": "find", "name": "Find a hotel", "description": "By town.", "tags": ["travel"]},
            {"id": "book", "name": "Book a hotel", "description": "By name.", "tags": ["travel"]},
        ],
    })
}

/// The same of an agent that speaks our extension.
fn hub() -> Value {
    let mut card = plain();
    card["capabilities"]["extensions"] = json!([{"uri": crate::ext::URI, "params": {"skills": {"find": {
        "inputSchema": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
        "outputSchema": {"type": "object"}, "version": "7", "kind": "tool", "effects": ["reads", "idempotent"],
    }}}}]);
    card
}
