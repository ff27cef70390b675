//! The standard's requirements on a codec, one by one; the same ids are tested over real sockets elsewhere.

mod agents;
mod answers;
mod asks;
mod frames;
mod messages;
mod roundtrip;
mod uploads;

use bytes::Bytes;
use interlingua_model::{Carried, Entry, Event, Finished, HubId, Question, Record, Time};

use super::*;
use crate::encode::{Frames, Telling};
use interlingua_wire::hub_headers::Headers;

pub(super) fn read(text: &str) -> Result<Message, Invalid> {
    json::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

pub(super) fn message(text: &str) -> Message {
    read(text).expect("a message")
}

/// Where and why a text is refused.
pub(super) fn refusal(text: &str) -> (String, Problem) {
    let invalid = read(text).expect_err("must be refused");
    (invalid.path, invalid.problem)
}

pub(super) fn written(message: &Message) -> String {
    String::from_utf8(json::encode(message, Keys::Lower)).expect("JSON is UTF-8")
}

pub(super) const NOW: Time = Time(1_700_000_000_000);

/// What a message means at the front door of the hub `h`.
pub(super) fn incoming(text: &str) -> Incoming {
    at(Addressed::Front, text).expect("a meaning").value
}

pub(super) fn at(door: Addressed, text: &str) -> Result<Carried<Incoming>, Invalid> {
    let context = Context {
        hub: &HubId::from("h"),
        door,
        message: "m1".into(),
        now: NOW,
        headers: Headers::default(),
        depth: 128,
        hook: None,
    };
    decode(message(text), &context)
}

/// The one message that tells of an event.
fn told(event: Event, mut telling: Telling<'_>) -> Carried<Message> {
    let entry = Entry { seq: 1, at: NOW, record: Record::emitted(event) };
    let Carried { value, losses } = encode::encode(&entry, &mut telling);
    match value {
        Frames::One(message) => Carried { value: message, losses },
        other => panic!("one message, not {other:?}"),
    }
}

pub(super) fn ended(finished: &Finished, telling: Telling<'_>) -> Carried<Message> {
    told(Event::Finished(finished.clone()), telling)
}

pub(super) fn asking(question: &Question, telling: Telling<'_>) -> Message {
    told(Event::Asked(question.clone()), telling).value
}
