//! NLIP, in JSON.

use bytes::Bytes;
use interlingua_model::{Call, Carried, Entry, Event, HubId, QuestionId, Record, TaskId};
use interlingua_nlip::client::{self, Replied, ReplyContext, TokenJar, Tongue};
use interlingua_nlip::decode::TaskWish;
use interlingua_nlip::encode::{NoAddresses, Telling, encode};
use interlingua_nlip::{Addressed, Context, Incoming, Keys, Limits, Meaning, Message, Own, decode, json};
use interlingua_wire::hub_headers::Headers;

use super::{Callee, Caller, DEPTH, NOW, PEER, Said, Sent, TASK, call, gathered, said, utf8};

pub(super) const CALLER: Caller = Caller { name: "nlip", call: || call(incoming(CALL)), told };
pub(super) const CALLEE: Callee = Callee { name: "nlip", sent, replied };

const CALL: &str = r#"{"format":"text","subformat":"English","content":"Find flights from Munich to Lisbon.","submessages":[{"format":"structured","subformat":"JSON","content":{"skill":"travel/find","arguments":{"query":"flights from Munich to Lisbon","seats":2},"id":"call-1"},"label":"interlingua-call"},{"format":"token","subformat":"conversation:client","content":"c-17"}]}"#;
const CANCEL: &str = r#"{"format":"text","subformat":"English","content":"Stop.","submessages":[{"format":"structured","subformat":"JSON","content":{"task":"00000000000000000000000000000007","action":"cancel"},"label":"interlingua-task"}]}"#;
const REPLY: &str = r#"{"format":"text","subformat":"English","content":"Two flights were found.","submessages":[{"format":"structured","subformat":"JSON","content":{"flights":[{"number":"TP553","price":129.90},{"number":"LH1790","price":210}]}}]}"#;

fn message(frame: &'static str) -> Message {
    json::decode(&Bytes::from_static(frame.as_bytes()), &Limits::default()).expect("a message")
}

fn incoming(frame: &'static str) -> Carried<Incoming> {
    let context = Context {
        hub: &HubId::from("hub"),
        door: Addressed::Front,
        message: "minted".into(),
        now: NOW,
        headers: Headers::default(),
        depth: DEPTH,
        hook: None,
    };
    decode(message(frame), &context).expect("it can be understood")
}

fn written(message: &Message) -> String {
    utf8(&json::encode(message, Keys::Lower))
}

/// A reply is one message, with everything that was lost on the way to it.
fn told(entries: &[Entry]) -> Vec<Said> {
    let Carried { value, losses } = incoming(CALL);
    let mut telling = Telling { losses: &losses, to: value.reply, ..Telling::default() };
    let entries = gathered(entries, |so_far, _| so_far.losses.clone());
    entries.iter().map(|entry| said(encode(entry, &mut telling), |message| written(&message))).collect()
}

fn sent(call: &Call) -> Vec<Sent> {
    let to = |(to, tongue)| {
        let request = client::encode::call(call, tongue, &TokenJar::default(), &NoAddresses);
        let request = request.map(|Carried { value, losses }| Carried { value: written(&value), losses });
        Sent { to, request }
    };
    [("a plain agent", Tongue::Plain), ("a hub", Tongue::Hub)].map(to).into()
}

fn replied() -> Vec<Record> {
    let question = QuestionId(TASK, 0);
    let leg = ReplyContext { peer: PEER.into(), tongue: Tongue::Plain, question, expires: NOW, depth: DEPTH };
    let Carried { value, losses } = client::decode::reply(message(REPLY), &leg);
    match value {
        Replied::Finished(finished) => vec![Record::Emitted { event: Event::Finished(*finished), losses, raw: None }],
        other => panic!("an end: {other:?}"),
    }
}

#[test]
fn a_cancel_names_its_task() {
    let meaning = incoming(CANCEL).value.meaning;
    assert!(matches!(meaning, Meaning::Own(Own::Task(TaskId(7), TaskWish::Cancel))), "{meaning:?}");
}
