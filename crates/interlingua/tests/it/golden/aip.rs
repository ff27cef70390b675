//! AIP, in the wider profile, which reports progress.

use std::time::Duration;

use bytes::Bytes;
use interlingua_aip::decode::{self, Context, Incoming, Own};
use interlingua_aip::encode::{self, Report, Telling};
use interlingua_aip::link::Tongue;
use interlingua_aip::say::{self, Stamp};
use interlingua_aip::wire::ClientKind;
use interlingua_aip::{ClientMessage, Limits, ServerMessage};
use interlingua_model::{Call, Carried, Entry, Event, MessageId, PeerId, Record, Transcript};
use interlingua_wire::codec::Meaning;

use super::{Callee, Caller, NOW, PEER, Said, Sent, call, said, utf8};

pub(super) const CALLER: Caller = Caller { name: "aip", call: || call(incoming(TASK)), told };
pub(super) const CALLEE: Callee = Callee { name: "aip", sent, replied };

const SESSION: &str = "gal@t1";
const TASK: &str = r#"{"type":"task","status":"continue","client_type":"constellation","session_id":"gal@t1","task_name":"galaxy/gal/t1","client_id":"gal@travel","target_id":"travel","request":"Find flights from Munich to Lisbon.","action_results":null,"timestamp":"2026-01-01T00:00:00.000000+00:00","request_id":null,"prev_response_id":null,"error":null,"metadata":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}"#;
const CANCEL: &str = r#"{"type":"task_end","status":"failed","client_type":"constellation","session_id":"gal@t1"}"#;
const NOTES: &str = r#"{"type":"heartbeat","status":"ok","messages":["asks TAP"],"session_id":"hub@7"}"#;
const END: &str = r#"{"type":"task_end","status":"completed","session_id":"hub@7","result":{"text":"Two flights were found.","flights":[{"number":"TP553","price":129.90},{"number":"LH1790","price":210}]}}"#;

fn incoming(frame: &'static str) -> Carried<Incoming> {
    let message = ClientMessage::decode(&Bytes::from_static(frame.as_bytes()), &Limits::default()).expect("a frame");
    let (id, target) = (MessageId::from("minted"), PeerId::from(PEER));
    let grace = Duration::from_secs(60);
    let context = Context { id: &id, target: &target, tongue: Tongue::Profile, grace, now: NOW };
    decode::decode(&message, &context).expect("it can be understood")
}

fn told(entries: &[Entry]) -> Vec<Said> {
    let mut transcript = Transcript::default();
    let mut tell = |entry: &Entry| {
        transcript.push(&entry.record).expect("it fits");
        let mut mint = || u128::from(entry.seq);
        let mut stamp = Stamp { now: entry.at, mint: &mut mint };
        let carried = encode::encode(entry, &mut Telling { tongue: Tongue::Profile, transcript: &mut transcript });
        said(carried, |report| {
            let frame = match report {
                Report::Lines(lines) => say::notes(SESSION.into(), lines, &mut stamp),
                Report::End(end) => say::task_end(SESSION.into(), end, &mut stamp),
            };
            utf8(&frame.encode())
        })
    };
    entries.iter().map(&mut tell).collect()
}

fn sent(call: &Call) -> Vec<Sent> {
    let (client, session, name) = ("hub@travel".into(), "hub@7".into(), "hub/7".into());
    let Carried { value, losses } = encode::task(call, client, PEER.into(), session, name);
    vec![Sent { to: "a server of devices", request: Ok(Carried { value: utf8(&value.encode()), losses }) }]
}

fn heard(frame: &'static str) -> ServerMessage {
    ServerMessage::decode(&Bytes::from_static(frame.as_bytes()), &Limits::default()).expect("a frame")
}

fn replied() -> Vec<Record> {
    let peer = PeerId::from(PEER);
    let lines = heard(NOTES).messages.expect("lines");
    let notes = decode::notes(&lines, &"key-1".into(), &peer).into_iter().map(Record::emitted);
    let Carried { value, losses } = decode::task_end(&heard(END), &peer);
    notes.chain([Record::Emitted { event: Event::Finished(value), losses, raw: None }]).collect()
}

#[test]
fn a_cancel_is_for_the_rules_of_the_server_which_know_the_session() {
    let meaning = incoming(CANCEL).value.meaning;
    assert!(matches!(meaning, Meaning::Own(Own::Rules(ClientKind::TaskEnd))), "{meaning:?}");
}
