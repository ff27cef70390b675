//! A2A 1.0 in JSON-RPC.

use bytes::Bytes;
use interlingua_a2a::Version;
use interlingua_a2a::client::follow::{Following, Teller, Told};
use interlingua_a2a::client::{Ask, decode as heard, encode as client, request};
use interlingua_a2a::decode::{Addressed, Context, Incoming, decode};
use interlingua_a2a::discover::{AgentCard, read};
use interlingua_a2a::encode::{NoAddresses, Telling, View, begun, encode, task};
use interlingua_a2a::json::{Dialect, write};
use interlingua_a2a::method::Method;
use interlingua_a2a::request::read_params;
use interlingua_a2a::wire::Update;
use interlingua_model::{Call, CancelWhy, Carried, Entry, Event, Json, Principal, Record, Signal};
use interlingua_wire::codec::Meaning;
use interlingua_wire::hub_headers::Headers;
use interlingua_wire::rpc::{self, Frame, Message};

use super::{Callee, Caller, DEPTH, NOW, PEER, Said, Sent, TASK, call, said, skill, utf8};

pub(super) const CALLER: Caller = Caller { name: "a2a", call: || call(incoming(CALL)), told };
pub(super) const CALLEE: Callee = Callee { name: "a2a", sent, replied };

const CALL: &str = r#"{"jsonrpc":"2.0","id":"r-1","method":"SendStreamingMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER","contextId":"ctx-1","parts":[{"text":"Find flights from Munich to Lisbon."},{"data":{"query":"flights from Munich to Lisbon","seats":2}}],"metadata":{"urn:interlingua:hub:1":{"skill":"travel/find","priority":7}}},"configuration":{"acceptedOutputModes":["text/plain","application/json"]}}}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","id":"r-2","method":"CancelTask","params":{"id":"00000000000000000000000000000007"}}"#;
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-9","contextId":"c-9","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m-9","role":"ROLE_AGENT","parts":[{"text":"Two flights were found."}]}},"artifacts":[{"artifactId":"offers","name":"offers","parts":[{"data":{"flights":[{"number":"TP553","price":129.90},{"number":"LH1790","price":210}]}}]}]}}}"#;

const AGENT: &str = r#"{"name":"Travel","description":"Finds flights.","version":"2.1","supportedInterfaces":[{"url":"http://travel.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"find","name":"Find a flight","description":"By town.","tags":["travel"]},{"id":"book","name":"Book a flight","description":"By number.","tags":["travel"]}]}"#;
const HUB: &str = r#"{"name":"Travel","description":"Finds flights.","version":"2.1","supportedInterfaces":[{"url":"http://travel.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true,"extensions":[{"uri":"urn:interlingua:hub:1","params":{}}]},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"find","name":"Find a flight","description":"By town.","tags":["travel"]}]}"#;

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn incoming(frame: &'static str) -> Carried<Incoming> {
    let Ok(Frame::One(Message::Request(request))) = rpc::decode(&bytes(frame), DEPTH) else { panic!("a request") };
    let named = |method: &Method| method.name(Version::V1) == Some(&*request.method);
    let method = Method::ALL.into_iter().find(named).expect("a method");
    let params = request.params.json().map(Json::as_bytes);
    let asked = read_params(method, params, Version::V1, DEPTH).expect("its parameters");
    let (door, headers) = (&Addressed::Hub, Headers::default());
    let context = Context { version: Version::V1, door, now: NOW, headers, replay: None };
    decode(asked.operation, &context).expect("it can be understood")
}

fn written(update: &Update) -> String {
    utf8(&write::update(update, Dialect::V1))
}

/// A stream begins with the task as it stands.
fn told(entries: &[Entry]) -> Vec<Said> {
    let [accepted, rest @ ..] = entries else { panic!("a call was accepted") };
    let mut begun = begun(TASK, accepted).expect("a task");
    let Carried { value, losses } = task(&begun, View::WHOLE, &NoAddresses);
    let first = Carried { value: vec![written(&Update::Task(value))], losses };
    let mut tell = |entry: &Entry| {
        let carried = encode(entry, &mut Telling { task: &mut begun, addresses: &NoAddresses });
        said(carried, |update| written(&update))
    };
    std::iter::once(first).chain(rest.iter().map(&mut tell)).collect()
}

fn card(json: &'static str) -> AgentCard {
    read::decode(&bytes(json), DEPTH).expect("a card")
}

fn sent(call: &Call) -> Vec<Sent> {
    let to = |(to, json)| {
        let card = card(json);
        let leg = client::Recipient { card: &card, context: None, task: None };
        let request = client::call(call, &skill(), &"key-1".into(), &leg).map(|Carried { value, losses }| {
            let body = request::rpc(&Ask::Stream(&value), Version::V1, None, 1);
            Carried { value: utf8(&body), losses }
        });
        Sent { to, request }
    };
    [("an agent of two skills", AGENT), ("a hub", HUB)].map(to).into()
}

fn replied() -> Vec<Record> {
    let update = heard::rpc(&bytes(REPLY), Method::Send, Version::V1, DEPTH).expect("an answer").expect("no refusal");
    let owner = Principal::anonymous().owner();
    let teller = Teller { peer: PEER.into(), speaks_ours: false, is_hub: false, task: TASK, owner };
    let told = Following::new(teller, None).hear(update, NOW).expect("it makes sense");
    let record = |told| match told {
        Told::Known(_) => None,
        Told::Event(event) => Some(Record::emitted(event)),
        Told::Finished(finished, losses) => {
            Some(Record::Emitted { event: Event::Finished(*finished), losses, raw: None })
        }
        other @ (Told::Asks(_) | Told::GoesOn | Told::Ends(_)) => panic!("nothing is asked: {other:?}"),
    };
    told.into_iter().filter_map(record).collect()
}

#[test]
fn a_cancel_is_a_signal() {
    let meaning = incoming(CANCEL).value.meaning;
    let cancels = matches!(meaning, Meaning::Signal { to: TASK, signal: Signal::Cancel(CancelWhy::Asked) });
    assert!(cancels, "{meaning:?}");
}
