//! MCP of 2026-07-28.

use bytes::Bytes;
use interlingua_mcp::Version;
use interlingua_mcp::client::decode::ReplyContext;
use interlingua_mcp::client::{Manner, Replied, Verb, encode as client};
use interlingua_mcp::decode::{Context, Incoming, NamedTool, Names, NoTool, Said as SaidBeside, decode};
use interlingua_mcp::encode::{Asks, Frame, RequestOutcome, Server, Telling, Told, encode};
use interlingua_mcp::wire::content::Verbatim;
use interlingua_mcp::wire::meta;
use interlingua_model::peer::View;
use interlingua_model::{
    Call, CancelWhy, Carried, Entry, Event, Fault, FaultKind, Input, MessageId, Noun, OnDisconnect, PeerId, Principal,
    Record, Signal, Skill, SkillId, Uri,
};
use interlingua_wire::codec::Meaning;
use interlingua_wire::rpc::{self, Id, Message, Request};

use super::{Callee, Caller, DEPTH, NOW, PEER, Said, Sent, TASK, call, said, skill, utf8};

pub(super) const CALLER: Caller = Caller { name: "mcp", call: || call(asked(CALL).incoming), told };
pub(super) const CALLEE: Callee = Callee { name: "mcp", sent, replied };

const CALL: &str = r#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"travel__find","arguments":{"query":"flights from Munich to Lisbon","seats":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"client","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/logLevel":"info","progressToken":"p-1","example.org/desk":"4"}}}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","id":12,"method":"tasks/cancel","params":{"taskId":"00000000000000000000000000000007","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}"#;
const REPLY: [&str; 2] = [
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":2,"message":"asks TAP"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Two flights were found."}],"structuredContent":{"flights":[{"number":"TP553","price":129.90},{"number":"LH1790","price":210}]}}}"#,
];

/// A hub with one tool.
struct OneTool(Skill);

impl Names for OneTool {
    fn tool(&self, name: &str) -> Result<NamedTool<'_>, NoTool> {
        match name {
            "travel__find" => Ok(NamedTool { skill: &self.0, params: &[], fixed: None }),
            _ => Err(NoTool::Fault(Fault::caller(FaultKind::NotFound(Noun::Skill), "no such tool"))),
        }
    }

    fn prompt(&self, _: &str) -> Result<SkillId, Fault> {
        Err(Fault::caller(FaultKind::NotFound(Noun::Skill), "no such prompt"))
    }

    fn resource(&self, _: &str) -> Result<(PeerId, Uri), Fault> {
        Err(Fault::caller(FaultKind::NotFound(Noun::Resource), "no such resource"))
    }
}

fn message(frame: &'static str) -> Message {
    match rpc::decode(&Bytes::from_static(frame.as_bytes()), DEPTH).expect("JSON-RPC") {
        rpc::Frame::One(message) => message,
        rpc::Frame::Batch(_) => panic!("one message"),
    }
}

/// A request, and what was said beside it.
struct AskedOf {
    id: Id,
    said: SaidBeside,
    incoming: Carried<Incoming>,
}

fn asked(frame: &'static str) -> AskedOf {
    let Message::Request(request) = message(frame) else { panic!("a request") };
    let Request { id, params, .. } = &request;
    let said = SaidBeside::modern(params.object(meta::META).as_ref(), NOW).expect("it says its version");
    let context = Context {
        said: &said,
        names: &OneTool(skill()),
        header: None,
        minted: || MessageId::from("minted"),
        on_disconnect: OnDisconnect::Cancel,
        confirms: false,
    };
    let incoming = decode(&request, &context).expect("it can be understood");
    AskedOf { id: id.clone(), said, incoming }
}

fn ended(id: &Id, ended: RequestOutcome) -> String {
    match ended {
        Ok(written) => utf8(&written.message(id)),
        Err(refused) => {
            let mut body = Vec::new();
            rpc::write_error(Some(id), &refused.error, &mut body);
            utf8(&body)
        }
    }
}

fn told(entries: &[Entry]) -> Vec<Said> {
    let AskedOf { id, said: beside, incoming } = asked(CALL);
    let (by, mut so_far) = (Principal::anonymous(), Told::default());
    let mut tell = |entry: &Entry| {
        let mut telling = Telling {
            said: &beside,
            by: &by,
            reply: &incoming.value.reply,
            server: Server { name: "interlingua", title: "Interlingua", version: "VERSION" },
            addresses: &Verbatim,
            conversation: None,
            public: false,
            asks: Asks::InResult,
            required: None,
            told: &mut so_far,
        };
        said(encode(entry, &mut telling), |frame| match frame {
            Frame::Message(message) => utf8(&message),
            Frame::End(end) | Frame::GivenUp(end) => ended(&id, end),
        })
    };
    entries.iter().map(&mut tell).collect()
}

/// What is lost is what the encoder says, and what a peer of this protocol says it loses of the input.
fn sent(call: &Call) -> Vec<Sent> {
    let to = |(to, hub): (&'static str, bool)| {
        let (key, version) = (MessageId::from("key-1"), Version::LATEST);
        let manner = Manner {
            version,
            can_answer: call.caller.can_answer,
            hub,
            trace: call.trace.as_ref(),
            via: call.via.as_ref(),
            origin: hub.then(|| call.origin.tell()),
            meta: client::callers_meta(call),
            key: Some(&key),
            priority: call.limits.priority,
            progress: true,
            receipts: client::takes_receipts(call, version),
            whole: false,
        };
        let outgoing = client::call(1, call, &skill(), &manner, None);
        let headers: String = outgoing.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let losses =
            [client::losses(call, hub), call.input().map(Input::lost_beside_arguments).unwrap_or_default()].concat();
        Sent { to, request: Ok(Carried { value: format!("{headers}{}", utf8(&outgoing.body)), losses }) }
    };
    [("a server", false), ("a hub", true)].map(to).into()
}

fn replied() -> Vec<Record> {
    let (version, verb, view) = (Version::LATEST, Verb::Call, View::Full);
    let leg = ReplyContext { peer: PEER.into(), version, verb, is_hub: false, expires: NOW, view };
    let record = |frame| match message(frame) {
        Message::Notification(told) => {
            let event = leg.notification(&told.method, &told.params, &"key-1".into(), 0);
            Record::emitted(event.expect("an event"))
        }
        Message::Response(response) => match leg.response(response.outcome).expect("a result") {
            Replied::Finished(finished, losses, raw) => {
                Record::Emitted { event: Event::Finished(*finished), losses, raw }
            }
            other => panic!("an end: {other:?}"),
        },
        Message::Request(request) => panic!("the server asks: {request:?}"),
    };
    REPLY.map(record).into()
}

#[test]
fn a_cancel_is_a_signal() {
    let meaning = asked(CANCEL).incoming.value.meaning;
    let cancels = matches!(meaning, Meaning::Signal { to: TASK, signal: Signal::Cancel(CancelWhy::Asked) });
    assert!(cancels, "{meaning:?}");
}
