//! The envelope. It has callers and no callees.

use bytes::Bytes;
use interlingua_envelope::decode::{Context, Incoming, Meaning, Own, Routed, decode};
use interlingua_envelope::encode::{Delivery, Encoder, Of, Stamp, Telling, encode};
use interlingua_envelope::names::Table;
use interlingua_envelope::translators::Translators;
use interlingua_envelope::wire::{Limits, read};
use interlingua_model::{Call, Carried, Entry};

use super::{Caller, NOW, Said, said, skill, utf8};

pub(super) const CALLER: Caller = Caller { name: "envelope", call, told };

const CALL: &str = r#"{"format":{"content_type":"application/json","encoding":"utf-8","schema_version":"1.0","compression":null},"control":{"message_type":"request","message_id":"m-1","correlation_id":null,"timestamp":"2026-01-01T00:00:00.000000Z","priority":5,"timeout":30,"retry_count":0},"token":{"session_id":"nlip_7d9c","context_token":"c1","state_token":null,"conversation_turn":2},"content":{},"tool_calls":[{"tool_id":"t1","tool_name":"mcp__travel__find","parameters":{"query":"flights from Munich to Lisbon","seats":2},"require_confirmation":false}],"tool_results":null,"metadata":{}}"#;

fn incoming() -> Carried<Incoming> {
    let arrived = read(&Bytes::from_static(CALL.as_bytes()), &Limits::default()).expect("an envelope");
    let translators = Translators::default();
    let (names, _) = Table::build(&translators, [(skill().id, "mcp".into())]);
    let context = Context { names: &names, translators: &translators, now: NOW, default_timeout: None, peer: None };
    let Carried { value, losses } = decode(arrived.value, &context).expect("it can be understood");
    Carried { value, losses: [arrived.losses, losses].concat() }
}

/// The one tool call of the request.
fn routed(meaning: Meaning) -> Routed {
    match meaning {
        Meaning::Own(Own::Tools(mut routed)) if routed.len() == 1 => routed.remove(0),
        other => panic!("one tool call: {other:?}"),
    }
}

fn call() -> Carried<Call> {
    let Carried { value, losses } = incoming();
    Carried { value: *routed(value.meaning).call.expect("the tool is known"), losses }
}

fn told(entries: &[Entry]) -> Vec<Said> {
    let Carried { value, losses } = incoming();
    let lanes = vec![Of::Tool(routed(value.meaning).tool)];
    let mut encoder = Encoder::new(value.reply, lanes, Delivery::Stream, losses);
    let mut tell = |entry: &Entry| {
        let stamp = Stamp { random: entry.seq.into(), now: entry.at };
        let carried = encode(entry, &mut Telling { encoder: &mut encoder, lane: 0, stamp });
        said(carried, |message| utf8(&message.to_bytes()))
    };
    entries.iter().map(&mut tell).collect()
}
