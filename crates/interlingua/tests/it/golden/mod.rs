//! Golden files of the codecs: the request of a caller of each protocol is decoded, encoded in every protocol that has a client side, and
//! the response is encoded for the caller. Each step is compared with a file in `fixtures/golden`:
//!
//! | file | what |
//! |---|---|
//! | `CALLER.call.json` | the call that the caller's request is |
//! | `CALLER.way.txt` | what the caller is sent of progress and of a step |
//! | `CALLER-to-CALLEE.txt` | the requests to the callee, and its answer, in the journal and as the caller gets it |
//!
//! Frames are compared byte for byte. `GOLDEN=write` rewrites the files.
//!
//! Deliberately absent: the hub. Which skill a call goes to, and whether it may, is tested over the wire.

mod a2a;
mod aip;
mod envelope;
mod mcp;
mod nlip;
mod nlweb;

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};
use std::{env, fs};

use interlingua_model::{
    Call, Carried, Effects, Entry, Event, Fault, Json, Loss, Principal, Record, Route, RouteClass, Schema, Skill,
    SkillId, SkillKind, Step, StepKind, StepState, TaskId, Time, Transcript, Why,
};
use interlingua_testkit::root;
use interlingua_wire::codec::{Frames, Incoming, Meaning};
use serde::Serialize;
use serde_json::json;

const FOLDER: &str = "fixtures/golden";
const AGAIN: &str = "GOLDEN=write cargo nextest run --workspace --test it -E 'test(/^golden/)' writes them anew";
/// The beginning of 2026.
const NOW: Time = Time(1_767_225_600_000);
const TASK: TaskId = TaskId(7);
const PEER: &str = "travel";
const DEPTH: usize = 64;

/// Callers that have no column, and why.
const NOT_CALLED: [(&str, &str); 1] = [("envelope", "the hub calls nobody in the envelope, so it has no client side")];

/// A protocol as those speak it who call the hub.
struct Caller {
    name: &'static str,
    /// The request of a client, decoded.
    call: fn() -> Carried<Call>,
    /// What each of these entries is to that client.
    told: fn(&[Entry]) -> Vec<Said>,
}

/// A protocol as the hub speaks it to whom it calls.
struct Callee {
    name: &'static str,
    /// The call as a request, to each kind of callee that is spoken to differently.
    sent: fn(&Call) -> Vec<Sent>,
    /// The answer of one, as the journal has it.
    replied: fn() -> Vec<Record>,
}

struct Sent {
    to: &'static str,
    request: Result<Carried<String>, Fault>,
}

/// The frames of one entry.
type Said = Carried<Vec<String>>;

macro_rules! callers {
    ($($name:ident),*) => {
        const CALLERS: &[Caller] = &[$($name::CALLER),*];
        $(
            #[test]
            fn $name() {
                row(&$name::CALLER);
            }
        )*
    };
}
callers!(nlip, envelope, mcp, a2a, aip, nlweb);

const CALLEES: &[Callee] = &[nlip::CALLEE, mcp::CALLEE, a2a::CALLEE, aip::CALLEE, nlweb::CALLEE];

/// All files of one caller.
fn row(caller: &Caller) {
    let call = (caller.call)();
    let mut different = Vec::new();
    different.extend(compared(&format!("{}.call.json", caller.name), &decoded(&call)));
    let way = journal(&call.value, on_the_way());
    different.extend(compared(&format!("{}.way.txt", caller.name), &told(caller, &way)));
    for callee in CALLEES {
        let text = format!("{}\n{}", sent(callee, &call.value), answered(caller, callee, &call.value));
        different.extend(compared(&pair(caller, callee), &text));
    }
    assert!(different.is_empty(), "{} of the golden files differ:\n{}\n{AGAIN}", different.len(), different.join("\n"));
}

fn pair(caller: &Caller, callee: &Callee) -> String {
    format!("{}-to-{}.txt", caller.name, callee.name)
}

/// How the text differs from what the file holds.
fn compared(name: &str, text: &str) -> Option<String> {
    let path = root().join(FOLDER).join(name);
    if env::var_os("GOLDEN").is_some_and(|wish| wish == "write") {
        fs::write(&path, text).expect("the folder is there");
        return None;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return None;
    }
    let (mut before, mut now) = (golden.lines(), text.lines());
    for number in 1.. {
        let (golden, now) = (before.next(), now.next());
        if golden != now || golden.is_none() {
            let line = |line: Option<&str>| line.unwrap_or("(the file ends)").to_owned();
            return Some(format!("{name}, line {number}\n  golden: {}\n  now:    {}", line(golden), line(now)));
        }
    }
    None
}

fn decoded(call: &Carried<Call>) -> String {
    #[derive(Serialize)]
    struct Decoded<'a> {
        call: &'a Call,
        losses: &'a [Loss],
    }
    let decoded = Decoded { call: &call.value, losses: &call.losses };
    format!("{}\n", serde_json::to_string_pretty(&decoded).expect("a call can be written"))
}

fn sent(callee: &Callee, call: &Call) -> String {
    let mut text = String::new();
    for Sent { to, request } in (callee.sent)(call) {
        writeln!(text, "== request to {to}").expect("text");
        match request {
            Ok(request) => {
                text.push_str(&lines(&[unversioned(&request.value)]));
                text.push_str(&lost(&request.losses));
            }
            Err(fault) => writeln!(text, "not sent: {}", in_json(&fault)).expect("text"),
        }
    }
    text
}

/// The answer of the callee, entry by entry, and what the caller is told of each.
fn answered(caller: &Caller, callee: &Callee, call: &Call) -> String {
    told(caller, &journal(call, (callee.replied)()))
}

fn told(caller: &Caller, entries: &[Entry]) -> String {
    let said = (caller.told)(entries);
    assert_eq!(said.len(), entries.len(), "each entry has its frames");
    let mut text = String::new();
    for (entry, said) in entries.iter().zip(said) {
        let what = match &entry.record {
            Record::Emitted { event, losses, .. } => format!("{}\n{}", in_json(event), lost(losses)),
            Record::Accepted { .. } => "accepted\n".to_owned(),
            Record::Sent(_) => "sent\n".to_owned(),
            Record::Selected(_) | Record::Received { .. } => panic!("it is not made here: {:?}", entry.record),
        };
        writeln!(text, "== entry {}: {what}-- told", entry.seq).expect("text");
        text.push_str(&lines(&said.value));
        text.push_str(&lost(&said.losses));
    }
    text
}

fn lines(frames: &[String]) -> String {
    frames.iter().map(|frame| format!("{frame}\n")).collect()
}

fn lost(losses: &[Loss]) -> String {
    losses.iter().map(|loss| format!("lost: {} ({})\n", loss.what, loss.kind.as_str())).collect()
}

fn in_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("it can be written")
}

/// A release changes no golden file.
fn unversioned(frame: &str) -> String {
    frame.replace(concat!("\"version\":\"", env!("CARGO_PKG_VERSION"), "\""), "\"version\":\"VERSION\"")
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("frames of text")
}

/// The skill that is called, whatever protocol its peer speaks.
fn skill() -> Skill {
    let properties = json!({"query": {"type": "string"}, "seats": {"type": "integer"}});
    let input = json!({"type": "object", "properties": properties, "required": ["query"]});
    let (id, effects) = (SkillId::new(PEER, "find"), Effects::unknown());
    Skill::new(id, SkillKind::Tool, "Finds flights.", Schema(input.into()), effects)
}

fn call<Own: Debug, Reply>(incoming: Carried<Incoming<Own, Reply>>) -> Carried<Call> {
    let Carried { value, losses } = incoming;
    match value.meaning {
        Meaning::Call(call) => Carried { value: *call, losses },
        other => panic!("a call: {other:?}"),
    }
}

fn said<F>(carried: Carried<Frames<F>>, write: impl FnMut(F) -> String) -> Said {
    Carried { value: carried.value.into_iter().map(write).collect(), losses: carried.losses }
}

/// The call was accepted, sent and started; then this was said.
fn journal(call: &Call, records: Vec<Record>) -> Vec<Entry> {
    let accepted = Record::Accepted { by: Principal::anonymous(), call: Box::new(call.clone()) };
    let (skill, class) = (skill().id, RouteClass::Tool);
    let started = Record::emitted(Event::Started(Route { skill, version: None, class, why: Why::Named, args: None }));
    let sent = Record::Sent(interlingua_model::Sent::learnt("key-1".into(), None, true));
    let records = [accepted, sent, started].into_iter().chain(records);
    (1..).zip(records).map(|(seq, record)| Entry { seq, at: NOW, record }).collect()
}

fn on_the_way() -> Vec<Record> {
    let progress = Event::Progress { done: Some(1.0), total: Some(4.0), note: Some("asks the airlines".into()) };
    let step = Step {
        id: "step-1".into(),
        parent: None,
        skill: Some(SkillId::new("fares", "look_up")),
        title: "fares/look_up".into(),
        kind: StepKind::Read,
        state: StepState::Running,
        args: Some(Json::from_tree(json!({"from": "MUC", "to": "LIS"}))),
        parts: Vec::new(),
    };
    vec![Record::emitted(progress), Record::emitted(Event::Step(Box::new(step)))]
}

/// The entries, with all that was said in the end, as endpoints hand it to encoders that collect nothing themselves.
fn gathered(entries: &[Entry], lost: fn(&Transcript, &[Loss]) -> Vec<Loss>) -> Vec<Entry> {
    let mut transcript = Transcript::default();
    let mut take = |entry: &Entry| {
        transcript.push(&entry.record).expect("it fits");
        let record = match &entry.record {
            Record::Emitted { event: Event::Finished(finished), losses, raw } => {
                let losses = lost(&transcript, losses);
                let mut whole = transcript.whole(finished);
                transcript.drop_held(&mut whole.output);
                Record::Emitted { event: Event::Finished(whole), losses, raw: raw.clone() }
            }
            other => other.clone(),
        };
        Entry { seq: entry.seq, at: entry.at, record }
    };
    entries.iter().map(&mut take).collect()
}

#[test]
fn every_protocol_is_a_caller_and_every_protocol_with_a_client_side_is_called() {
    let source = fs::read_to_string(root().join("crates/interlingua/src/protocols.rs")).expect("the table");
    let named = |line: &str| line.trim().split_once(": interlingua_").map(|(name, _)| name.to_owned());
    let table: BTreeSet<String> = source.lines().filter_map(named).collect();
    let callers: BTreeSet<String> = CALLERS.iter().map(|caller| caller.name.to_owned()).collect();
    assert_eq!(callers, table, "rows are the protocols of the program");
    let columns = CALLEES.iter().map(|callee| callee.name).chain(NOT_CALLED.iter().map(|(name, _)| *name));
    assert_eq!(columns.map(str::to_owned).collect::<BTreeSet<_>>(), table, "columns, and what has none");
}

#[test]
fn the_folder_holds_the_files_of_the_table_and_no_others() {
    let of = |caller: &Caller| {
        let own = ["call.json", "way.txt"].map(|end| format!("{}.{end}", caller.name));
        own.into_iter().chain(CALLEES.iter().map(|callee| pair(caller, callee))).collect::<Vec<_>>()
    };
    let wanted: BTreeSet<String> = CALLERS.iter().flat_map(of).collect();
    let files = fs::read_dir(root().join(FOLDER)).expect("the folder");
    let found = files.map(|file| file.expect("a file").file_name().into_string().expect("a name")).collect();
    assert_eq!(wanted, found);
}
