//! The sheet's requirements, one test for each that is visible here; those of sessions are tested with the session rules, those of running
//! tools where tools run.

mod decode;
mod ecma;
mod encode;
mod fault;
mod names;
mod replay;
mod wire;

use bytes::Bytes;
use interlingua_model::json::Tree;
use interlingua_model::{Carried, Fault, SkillId, Text, Time};
use serde_json::json;

use super::decode::{Context, Incoming, Meaning, Own, Routed};
use super::encode::Stamp;
use super::names::Table;
use super::translators::Translators;
use super::wire::{Limits, Message, Rejected};

pub(super) const NOW: Time = Time(1_767_225_600_000);

/// A request with these members changed or added.
pub(super) fn request(changes: Tree) -> Tree {
    let mut message = json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": "m1", "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": "s1", "context_token": "c1", "state_token": "st1", "conversation_turn": 3},
        "content": {}, "tool_calls": null, "tool_results": null, "metadata": {},
    });
    merge(&mut message, changes);
    message
}

fn merge(place: &mut Tree, changes: Tree) {
    match (place, changes) {
        (Tree::Object(members), Tree::Object(changes)) => {
            for (key, change) in changes {
                merge(members.entry(key).or_insert(Tree::Null), change);
            }
        }
        (place, change) => *place = change,
    }
}

pub(super) fn call(id: &str, name: &str) -> Tree {
    json!({"tool_id": id, "tool_name": name, "parameters": {"path": "a.txt"}, "require_confirmation": false})
}

pub(super) fn read(tree: &Tree) -> Result<Carried<Message>, Box<Rejected>> {
    super::wire::read(&Bytes::from(tree.to_string()), &Limits::default())
}

pub(super) fn message(changes: Tree) -> Message {
    read(&request(changes)).expect("readable").value
}

/// A registry with a tool of each translator.
pub(super) fn registry() -> Vec<(SkillId, Text)> {
    vec![
        (SkillId::new("files", "read_file"), "builtin".into()),
        (SkillId::new("files", "write_file"), "builtin".into()),
        (SkillId::new("search", "web_search"), "mcp".into()),
        (SkillId::new("tools", "search_flights"), "custom".into()),
    ]
}

pub(super) fn decode_with(changes: Tree, translators: &Translators) -> Result<Carried<Incoming>, Fault> {
    let (names, collisions) = Table::build(translators, registry());
    assert_eq!(collisions, []);
    let context = Context { names: &names, translators, now: NOW, default_timeout: None, peer: None };
    super::decode::decode(message(changes), &context).map_err(|invalid| invalid.fault())
}

pub(super) fn decode_whole(changes: Tree) -> Result<Carried<Incoming>, Fault> {
    decode_with(changes, &Translators::default())
}

pub(super) fn routed(changes: Tree) -> Vec<Routed> {
    match decode_whole(changes).expect("decodable").value.meaning {
        Meaning::Own(Own::Tools(routed)) => routed,
        other => panic!("no tool calls: {other:?}"),
    }
}

pub(super) fn stamp(random: u128) -> Stamp {
    Stamp { random, now: NOW }
}

pub(super) fn tree(message: &Message) -> Tree {
    serde_json::from_slice(&message.to_bytes()).expect("JSON")
}
