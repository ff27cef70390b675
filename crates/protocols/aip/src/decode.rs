//! Decodes frames into the model: requested tasks, results and ends.

use std::time::Duration;

use interlingua_model::{
    Ask, Body, Call, Caller, CancelWhy, Carried, Channel, Deadline, DeadlineBy, Event, Fault, FaultKind, Finished,
    Input, Json, Level, Limits, LossKind, MessageId, Meta, OnDisconnect, Outcome, Output, Part, Party, PeerId, Piece,
    Provenance, SkillId, Target, Text, Time, Trace, Usage, Way, Wire,
};

use super::custom::Custom;
use super::link::Tongue;
use super::profile::{EVALUATION, Reported};
use super::server::LATE;
use super::wire::{ClientKind, ClientMessage, CommandResult, ResultStatus, ServerMessage, Status};
use super::{Invalid, WIRE, fault, profile};
use interlingua_wire::codec::{self, Meaning};
use interlingua_wire::hub_headers;
use interlingua_wire::members::Members;

/// What is known of a frame beside what it says: who sent it and to whom, once the rules have let it through.
#[derive(Debug)]
pub struct Context<'a> {
    /// Of the call, if it is one: the frame gives none.
    pub id: &'a MessageId,
    /// Whom a TASK is for, by its name as a peer.
    pub target: &'a PeerId,
    pub tongue: Tongue,
    /// How long a task of the wider profile waits for its caller to come back.
    pub grace: Duration,
    pub now: Time,
}

/// What asks nothing of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// The rules of the connection ([`super::link`]) and of the server ([`super::server`]) act on a frame of this kind.
    Rules(ClientKind),
}

pub type Incoming = codec::Incoming<Own>;

/// What a client asks of the hub with a frame that the rules have let through. Its sender is known by its connection, and the rules
/// know the session that an answer belongs to.
pub fn decode(request: &ClientMessage, context: &Context<'_>) -> Result<Carried<Incoming>, Invalid> {
    let meaning = match request.kind {
        ClientKind::Task => Meaning::Call(Box::new(task(request, context))),
        kind @ (ClientKind::Heartbeat
        | ClientKind::CommandResults
        | ClientKind::Error
        | ClientKind::Register
        | ClientKind::TaskEnd
        | ClientKind::TaskCancel
        | ClientKind::DeviceInfoRequest
        | ClientKind::DeviceInfoResponse) => Meaning::Own(Own::Rules(kind)),
    };
    Ok(Carried::whole(Incoming { meaning, credentials: Vec::new(), reply: () }))
}

/// A TASK as a call of its target, in words. It is kept, its caller can answer nothing, and it ends with its connection; in the
/// wider profile it waits for the caller to come back.
fn task(request: &ClientMessage, context: &Context<'_>) -> Call {
    let text = request.request.as_deref().unwrap_or_default();
    let input = if text.is_empty() { Input::parts(Vec::new()) } else { Input::text(text) };
    let ask = Ask::Invoke { target: Target::Peer(context.target.clone()), input };
    let mut call = Call::new(context.id.clone(), came(), ask);
    call.caller = Caller::default();
    let said = request.metadata.as_ref().map_or_else(Members::absent, Members::of);
    let timeout = profile::timeout(request.metadata.as_ref()).filter(|_| context.tongue == Tongue::Profile);
    call.limits = Limits {
        keep: true,
        on_disconnect: match context.tongue {
            Tongue::Plain => OnDisconnect::Cancel,
            Tongue::Profile => OnDisconnect::CancelAfter(context.grace),
        },
        deadline: timeout.map(|span| Deadline { at: context.now.after(span), set_by: DeadlineBy::Caller }),
        ..Limits::default()
    };
    call.via = said.text("via").and_then(|via| hub_headers::via(&via));
    if let Some(origin) = said.text(hub_headers::ORIGIN) {
        call.told(&origin);
    }
    call.trace = trace(&said);
    call.meta = Meta(request.metadata.clone());
    call
}

/// A frame of a kind that configuration leads to a skill, as a call of that skill. The protocol does not have such frames.
pub fn custom(frame: &Custom, skill: SkillId, id: MessageId) -> Call {
    let input = Input::args(frame.arguments());
    Call::new(id, came(), Ask::Invoke { target: Target::Skill(skill, None), input })
}

fn came() -> Wire {
    Wire(WIRE.into())
}

fn trace(said: &Members) -> Option<Trace> {
    let text = |key: &str| said.text(key).map(|text| Text::from(&*text));
    let trace = Trace { parent: text("traceparent"), state: text("tracestate"), baggage: text("baggage") };
    (trace.parent.is_some() || trace.state.is_some() || trace.baggage.is_some()).then_some(trace)
}

/// The results of a COMMAND, one for each of the calls that were sent with these ids, whatever came back.
pub fn results(results: &[CommandResult], sent: &[Text], peer: &PeerId) -> Vec<Finished> {
    let each = |(index, id): (usize, &Text)| match results.get(index) {
        None => Finished::failed(bad_reply(peer, "the device left out a result")),
        Some(result) if result.call_id.as_ref().is_some_and(|other| other != id) => {
            Finished::failed(bad_reply(peer, "the device answered another call"))
        }
        Some(given) => result(given, peer),
    };
    sent.iter().enumerate().map(each).collect()
}

pub fn result(result: &CommandResult, peer: &PeerId) -> Finished {
    let output = output(result.result.as_ref(), peer);
    let outcome = match result.status {
        ResultStatus::Success => Outcome::Completed,
        ResultStatus::Failure => Outcome::Failed(failed(result.error.as_deref(), peer)),
        ResultStatus::Skipped => Outcome::Cancelled { by: Party::Peer(peer.clone()), why: CancelWhy::EarlierFailed },
        ResultStatus::None => Outcome::Failed(bad_reply(peer, "the device has no result")),
    };
    Finished { outcome, output, usage: Usage::default() }
}

/// A lone text is said, anything else is structured.
fn output(result: Option<&Json>, peer: &PeerId) -> Output {
    let Some(result) = result else { return Output::default() };
    match result.tree().as_str() {
        Some(text) => {
            let parts = vec![Part::text(text, Provenance::peer(peer.clone()))];
            Output { parts, ..Output::default() }
        }
        None => Output { structured: Some(result.clone()), ..Output::default() },
    }
}

/// The end of a task that we asked a server for.
pub fn task_end(frame: &ServerMessage, peer: &PeerId) -> Carried<Finished> {
    let mut output = output(frame.result.as_ref(), peer);
    output.parts.extend(profile::evaluation(frame.metadata.as_ref()).map(|evaluation| judged(&evaluation, peer)));
    let said =
        frame.result.as_ref().and_then(|result| Members::of(result).text("failure").map(|text| text.into_owned()));
    let text = frame.error.as_deref().filter(|text| !text.is_empty()).or(said.as_deref());
    let outcome = match frame.status {
        Status::Completed => Outcome::Completed,
        Status::Failed if text == Some("Task was cancelled because target device disconnected") => {
            let text = "the device was lost; what it was told may have happened";
            Outcome::Failed(Fault::new(FaultKind::OutcomeUnknown, Party::Peer(peer.clone()), text))
        }
        Status::Failed | Status::Error => Outcome::Failed(failed(text, peer)),
        Status::Continue | Status::Ok => Outcome::Failed(bad_reply(peer, "a task ended without an end")),
    };
    Carried::whole(Finished { outcome, output, usage: Usage::default() })
}

/// What a device says came of a task. An evaluation is a part of its own beside the result.
pub fn reported(report: &Reported, peer: &PeerId) -> Carried<Finished> {
    let mut output = output(report.result.as_ref(), peer);
    output.parts.extend(report.evaluation.as_ref().map(|evaluation| judged(evaluation, peer)));
    let outcome = match report.status {
        Status::Completed => Outcome::Completed,
        Status::Failed | Status::Error => Outcome::Failed(failed(report.error.as_deref(), peer)),
        Status::Continue | Status::Ok => Outcome::Failed(bad_reply(peer, "a task ended without an end")),
    };
    let losses = report.evaluation_lost.then(|| Way::Output.part("data", LossKind::Dropped));
    let finished = Finished { outcome, output, usage: Usage::default() };
    Carried { value: finished, losses: losses.into_iter().collect() }
}

/// What an evaluator says, by the name that says so.
fn judged(evaluation: &Json, peer: &PeerId) -> Part {
    let part = Part::new(Body::Data(evaluation.clone()), Provenance::peer(peer.clone()));
    Part { name: Some(EVALUATION.into()), ..part }
}

/// An error frame: it names no task, so it is for the one that waits to be acknowledged.
pub fn refusal(frame: &ServerMessage, peer: PeerId) -> Fault {
    fault::of_refusal(frame.error.as_deref(), peer)
}

/// Log lines as they were said.
pub fn notes(lines: &[Text], message: &MessageId, peer: &PeerId) -> Vec<Event> {
    let note = |line: &Text| Event::Said {
        message: message.clone(),
        channel: Channel::Note(Level::Info),
        piece: Piece::Whole,
        parts: vec![Part::text(line.clone(), Provenance::peer(peer.clone()))],
    };
    lines.iter().map(note).collect()
}

fn failed(text: Option<&str>, peer: &PeerId) -> Fault {
    let text = text.unwrap_or("it failed and did not say why");
    let kind = if text == LATE { FaultKind::Deadline } else { FaultKind::PeerFailed };
    Fault::new(kind, Party::Peer(peer.clone()), text)
}

fn bad_reply(peer: &PeerId, text: &str) -> Fault {
    Fault::new(FaultKind::BadReply, Party::Peer(peer.clone()), text)
}
