//! NLWeb: the generation of named events as callers speak it, this and the first one as sites are asked.

use bytes::Bytes;
use interlingua_model::{Call, Carried, Entry, Event, QuestionId, Record};
use interlingua_nlweb::Dialect;
use interlingua_nlweb::client::decode::{Replied, ReplyContext, Words};
use interlingua_nlweb::client::{Reply, Request, encode as client};
use interlingua_nlweb::decode::{Arrived, Context, Incoming, Own, decode};
use interlingua_nlweb::encode::{Envelope, Frame, Streamed, Telling, encode};
use interlingua_nlweb::wire::{Action, Operation};
use interlingua_wire::codec::Meaning;

use super::{Callee, Caller, DEPTH, NOW, PEER, Said, Sent, TASK, call, gathered, said};

pub(super) const CALLER: Caller = Caller { name: "nlweb", call: || call(incoming(Operation::Ask, ASK)), told };
pub(super) const CALLEE: Callee = Callee { name: "nlweb", sent, replied };

const ASK: &str = r#"{"query":{"text":"flights from Munich to Lisbon","site":"travel","max_results":3},"context":{"@type":"ConversationalContext","prev":["hotels in Lisbon"]},"prefer":{"streaming":true,"mode":"summarize"},"meta":{"version":"0.55"}}"#;
const CANCEL: &str = r#"{"promise_token":"promise-1","action":"cancel"}"#;
const REPLY: [&str; 2] = [
    r#"{"_meta":{"version":"0.55","response_type":"Answer"},"results":[{"@type":"Flight","url":"https://travel.example/TP553","name":"TP553","site":"travel","score":90,"description":"129.90 EUR"},{"@type":"Flight","url":"https://travel.example/LH1790","name":"LH1790","site":"travel","score":70,"description":"210 EUR"}]}"#,
    r#"{"results":[{"@type":"Summary","text":"Two flights were found."}]}"#,
];

fn incoming(at: Operation, body: &'static str) -> Carried<Incoming> {
    let context = Context { id: &|| "minted".into(), depth: DEPTH, site: None, only_read: false, hop: None };
    let body = Bytes::from_static(body.as_bytes());
    decode(Arrived { at, query: "", body: &body, form: false }, &context).expect("it can be understood")
}

fn written(frame: Frame) -> String {
    let name = frame.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {}", frame.data)
}

/// A stream begins before anything is known.
fn told(entries: &[Entry]) -> Vec<Said> {
    let asked = incoming(Operation::Ask, ASK).value.reply;
    let mut answer = Streamed::new(Envelope::of(&asked, "request-1".into(), "".into()));
    let begin: Vec<String> = answer.begin().into_iter().map(written).collect();
    let entries = gathered(entries, |_, own| own.to_vec());
    let mut tell = |entry: &Entry| said(encode(entry, &mut Telling { answer: &mut answer, site: "" }), written);
    let mut told: Vec<Said> = entries.iter().map(&mut tell).collect();
    told.first_mut().expect("a call was accepted").value.splice(0..0, begin);
    told
}

fn sent(call: &Call) -> Vec<Sent> {
    let to = |(to, dialect)| {
        let request = client::call(call, None).map(|Carried { value, losses }| {
            let value = match value.question().request(dialect) {
                Request::Get(query) => format!("GET /ask?{query}"),
                Request::Post(body) => format!("POST /ask\n{body}"),
            };
            Carried { value, losses }
        });
        Sent { to, request }
    };
    [("a site of 0.55", Dialect::Named), ("a site of the first generation", Dialect::Flat)].map(to).into()
}

fn replied() -> Vec<Record> {
    let mut reply = Reply::default();
    REPLY.iter().for_each(|message| reply.hear(&Bytes::from_static(message.as_bytes()), DEPTH));
    let leg = ReplyContext { peer: PEER.into(), is_hub: false, question: QuestionId(TASK, 0), expires: NOW };
    let Carried { value, losses } = leg.reply(&reply, 200, None, Words::Untold);
    match value {
        Replied::Finished(finished) => vec![Record::Emitted { event: Event::Finished(*finished), losses, raw: None }],
        Replied::Asked(question) => panic!("an end: {question:?}"),
    }
}

#[test]
fn a_cancel_is_of_a_promise() {
    let meaning = incoming(Operation::Await, CANCEL).value.meaning;
    let Meaning::Own(Own::Wait { token, action: Action::Cancel }) = &meaning else { panic!("{meaning:?}") };
    assert_eq!(&**token, "promise-1");
}
