//! Invariants of the AIP codec for any bytes: no panic, what it accepts it writes back the same, and a server that receives it stays
//! consistent.

use std::time::Duration;

use bytes::Bytes;
use interlingua_agents::plans::constellation;
use interlingua_aip::binary::Heading;
use interlingua_aip::custom::Custom;
use interlingua_aip::decode::{Context, decode};
use interlingua_aip::link::{Heard, Identity, Link, Pulse, Tongue};
use interlingua_aip::say::Stamp;
use interlingua_aip::server::{Connection, Happening, Server, Sight};
use interlingua_aip::wire::{ClientKind, ClientType, ToolType};
use interlingua_aip::{ClientMessage, Limits, ServerMessage, discover, plan, telemetry};
use interlingua_machines::graph::{Graph, Rules};
use interlingua_model::{DeviceState, Json, TaskId, Time};
use interlingua_wire::codec::Meaning;

pub(crate) fn json(data: &[u8]) {
    let (frame, limits) = (Bytes::copy_from_slice(data), Limits::default());
    if let Ok(message) = ServerMessage::decode(&frame, &limits) {
        assert_eq!(ServerMessage::decode(&message.encode(), &limits).as_ref(), Ok(&message));
    }
    if let Ok(message) = ClientMessage::decode(&frame, &limits) {
        assert_eq!(ClientMessage::decode(&message.encode(), &limits).as_ref(), Ok(&message));
        asks(&message);
        reports(&message);
        hear(message);
    }
    if let Ok(plan) = constellation::read(&frame, limits.depth)
        && let Ok((_, graph)) = Graph::open(TaskId(1), plan, Rules::default(), Time(0))
    {
        let written = constellation::write(&graph);
        let again = constellation::read(written.as_bytes(), usize::MAX).expect("what was written can be read");
        again.check().expect("and is a plan");
    }
    if let Ok(custom) = Custom::decode(&frame, &limits) {
        assert!(custom.arguments().is_object());
        let _ = Heading::of(custom.members());
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let batches = plan::commands(text, |_| ToolType::Action).unwrap_or_default();
        assert!(batches.iter().all(|batch| !batch.is_empty()), "a COMMAND has actions");
    }
    if let Ok(list) = Json::parse(frame) {
        assert!(discover::tools("d", &list).iter().all(|(skill, key)| *skill.id.skill.0 == *key.name));
    }
}

/// Only a TASK asks something of the hub, and it is a call whatever else it says.
fn asks(message: &ClientMessage) {
    let (id, target, tongue) = ("m".into(), "d".into(), Tongue::Profile);
    let context = Context { id: &id, target: &target, tongue, grace: Duration::ZERO, now: Time(0) };
    let meaning = decode(message, &context).expect("the rules have let it through").value.meaning;
    assert_eq!(matches!(meaning, Meaning::Call(_)), message.kind == ClientKind::Task);
}

/// Whatever a device says of itself, what is believed is bounded, and is the same when it is read again.
fn reports(message: &ClientMessage) {
    let Some(told) = telemetry::told(message) else { return };
    let state = told.report.state;
    let most = 100.0;
    assert!(state.cpu_percent.is_none_or(|percent| (0.0..=most).contains(&percent)));
    assert!(state.cpu.as_ref().is_none_or(|model| model.len() <= 256) && state.capabilities.len() <= 256);
    assert!(told.info.as_bytes().len() <= 256 * 1024 && told.fields.as_bytes().len() <= 256 * 1024);
    assert_eq!(DeviceState::read(&state.to_json()).state, state);
}

/// As the first frame, and as one of a client that is known.
fn hear(message: ClientMessage) {
    let mut server = Server::new(Default::default());
    let mut minted = 0;
    let mut mint = || {
        minted += 1;
        minted
    };
    let mut stamp = Stamp { now: Time(0), mint: &mut mint };
    let sight = Sight { sender: "", others: &|_| true, clients: &|_, _| true, room: None };
    let mut known = Link::open(Pulse::default(), Time(0));
    known.admit(Identity { id: "d".into(), role: ClientType::Device, tongue: Tongue::Profile });
    let register = ClientMessage::decode(
        &Bytes::from_static(br#"{"type":"register","status":"ok","client_id":"d"}"#),
        &Limits::default(),
    )
    .expect("a register");
    server.step(Happening::Frame(Connection(1), register), sight, &mut stamp);
    for (connection, mut link) in [(Connection(1), known), (Connection(2), Link::open(Pulse::default(), Time(0)))] {
        if let Heard::Pass(passed) = link.hear(Ok(message.clone()), &mut stamp) {
            server.step(Happening::Frame(connection, passed), sight, &mut stamp);
        }
    }
    server.step(Happening::Closed(Connection(1)), sight, &mut stamp);
}
