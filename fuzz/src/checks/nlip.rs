//! Invariants of the NLIP codec for any bytes: no panic, and what it accepts it writes back the same.

use bytes::Bytes;
use interlingua_model::{Entry, Event, HubId, QuestionId, Record, TaskId, Time};
use interlingua_nlip::client::{self, ReplyContext, Tongue};
use interlingua_nlip::encode::{Telling, encode};
use interlingua_nlip::{self, Addressed, Context, Keys, Limits, Message, cbor};
use interlingua_wire::hub_headers::Headers;

pub(crate) fn json(data: &[u8]) {
    let limits = Limits::default();
    let Ok(message) = interlingua_nlip::json::decode(&Bytes::copy_from_slice(data), &limits) else { return };
    let written = Bytes::from(interlingua_nlip::json::encode(&message, Keys::Lower));
    assert_eq!(interlingua_nlip::json::decode(&written, &limits).as_ref(), Ok(&message));
    both_roles(message);
}

pub(crate) fn cbor(data: &[u8]) {
    let limits = Limits::default();
    let Ok(message) = cbor::decode(&Bytes::copy_from_slice(data), &limits) else { return };
    let written = Bytes::from(cbor::encode(&message, Keys::Title));
    assert_eq!(cbor::decode(&written, &limits).as_ref(), Ok(&message));
    both_roles(message);
}

/// A server and a client may both get it.
fn both_roles(message: Message) {
    let leg = ReplyContext {
        peer: "p".into(),
        tongue: Tongue::Hub,
        question: QuestionId(TaskId(1), 0),
        expires: Time(0),
        depth: 128,
    };
    let replied = client::decode::reply(message.clone(), &leg).value;
    let skills = client::skills::read(&message, &leg.peer, leg.depth);
    assert!(skills.iter().all(|skill| client::skills::theirs(&skill.id).is_some()), "each has a way back");
    let context = Context {
        hub: &HubId::from("h"),
        door: Addressed::Front,
        message: "m".into(),
        now: Time(0),
        headers: Headers::default(),
        depth: 128,
        hook: None,
    };
    let Ok(incoming) = interlingua_nlip::decode(message, &context) else { return };
    let event = match replied {
        client::Replied::Finished(finished) => Event::Finished(*finished),
        client::Replied::GoesOn(_) => return,
        client::Replied::Asked(question) => Event::Asked(*question),
    };
    let entry = Entry { seq: 1, at: Time(0), record: Record::emitted(event) };
    let mut telling = Telling { to: incoming.value.reply, ..Telling::default() };
    let answer = encode(&entry, &mut telling).value.into_iter().next().expect("a question and an end are told");
    assert!(answer.all().all(|submessage| submessage.format != interlingua_nlip::Format::Error), "never written");
}
