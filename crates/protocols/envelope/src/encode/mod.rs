//! Encodes the model into messages.
//!
//! [`encode()`] encodes an entry of one call; an [`Encoder`] holds what was sent for its request so far. Each call of the request is a
//! lane; a lane has exactly one last response, which carries one tool result, and the last of all lanes is marked `final` (H-10).
//! Responses copy the tokens of their request, but the turn is the hub's (R-11, R-12, H-09); all responses to one request carry the same
//! turn.
//!
//! Lanes that run together finish in any order. For final responses in the order of the calls, as in a reply that is one JSON array,
//! pass the lanes' events in that order; `seq` is the order in which they were passed.

mod native;
mod output;
mod question;

use std::collections::HashMap;

use interlingua_model::json::Tree;
use interlingua_model::{
    Carried, Channel, Entry, Event, Fault, Finished, Json, Loss, Outcome, PeerId, Piece, Question, Record, Route, Text,
    Time, uuid_v4,
};

use super::decode::Tool;
use super::fault::{Spelling, code, outcome_text, spelling};
use super::wire::{Control, Format, Head, Message, MessageType, Status, Token, ToolResult};
use interlingua_wire::codec;
use interlingua_wire::object::Object;
use output::Collected;

/// What makes a message new: random bits for its id, and when it was made.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    pub random: u128,
    pub now: Time,
}

impl Stamp {
    /// A UUID of version 4, as the seed's messages have it.
    pub fn message_id(&self) -> Text {
        uuid_v4(self.random).into()
    }
}

/// What is being answered: a tool call, or a chat.
#[derive(Debug, Clone, PartialEq)]
pub enum Of {
    Tool(Tool),
    Chat,
}

/// Does the caller take events as they come, or one answer?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Whole,
    Stream,
}

pub type Frames = codec::Frames<Message>;

/// Which call of a request an entry belongs to, and what its response is written with.
#[derive(Debug)]
pub struct Telling<'a> {
    pub encoder: &'a mut Encoder,
    /// The place of the call among those of its request.
    pub lane: usize,
    pub stamp: Stamp,
}

/// The response to an entry of one call, when the wire has one for it. Nothing follows a lane's last response; with that one comes
/// what this wire could not carry of the lane. What was lost of the request itself counts for the lane that is answered first.
pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> {
    match &entry.record {
        Record::Emitted { event, losses, .. } => telling.encoder.tell(telling.lane, event, losses, telling.stamp),
        Record::Accepted { .. } | Record::Sent(_) | Record::Selected(_) | Record::Received { .. } => {
            Carried::whole(Frames::None)
        }
    }
}

/// Answers one request.
#[derive(Debug)]
pub struct Encoder {
    correlation_id: Option<Text>,
    token: Token,
    format: Format,
    delivery: Delivery,
    /// Of peers whose answers are delivered otherwise.
    deliveries: HashMap<PeerId, Delivery>,
    lanes: Vec<Lane>,
    seq: u64,
    /// What was lost on the way in; told once, with the first response.
    losses: Vec<Loss>,
    /// The same, until a lane has it.
    arrived: Vec<Loss>,
    /// What the session keeps for the caller, when it asked for it: it comes with the last response of all.
    context: Option<Json>,
}

#[derive(Debug)]
struct Lane {
    of: Of,
    route: Option<Route>,
    collected: Collected,
    end: Option<End>,
    /// What the addresses of its artifacts begin with.
    found_at: Option<String>,
}

/// How a lane ended, as far as the HTTP status is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    Refused(u16),
}

/// What one response has of its own.
struct Fill<'a> {
    content: Json,
    result: Option<ToolResult>,
    note: &'a dyn Fn(&mut Object<'_>),
    losses: &'a [Loss],
}

impl Encoder {
    /// `head` is the request's, with the tokens and the turn the session has by now; `losses` those of decoding it.
    pub fn new(head: Head, lanes: Vec<Of>, delivery: Delivery, losses: Vec<Loss>) -> Encoder {
        let lane = |of| Lane { of, route: None, collected: Collected::default(), end: None, found_at: None };
        Encoder {
            correlation_id: head.message_id,
            token: head.token,
            format: head.format,
            delivery,
            deliveries: HashMap::new(),
            lanes: lanes.into_iter().map(lane).collect(),
            seq: 0,
            arrived: losses.clone(),
            losses,
            context: None,
        }
    }

    /// Brings back what the session keeps for the caller.
    pub fn bringing(self, context: Option<Json>) -> Encoder {
        Encoder { context, ..self }
    }

    /// Delivers the answers of these peers in this way, whatever holds for others.
    pub fn delivering(self, deliveries: HashMap<PeerId, Delivery>) -> Encoder {
        Encoder { deliveries, ..self }
    }

    /// What a lane made can be fetched: at this address, followed by the artifact's id and `/content`. Without one they are not
    /// listed, since nobody could fetch them.
    pub fn found_at(&mut self, lane: usize, begin: &str) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.found_at = Some(begin.to_owned());
        }
    }

    /// True when every lane has had its last response.
    pub fn is_done(&self) -> bool {
        self.lanes.iter().all(|lane| lane.end.is_some())
    }

    /// Where a lane went.
    pub fn route(&self, lane: usize) -> Option<&Route> {
        self.lanes.get(lane)?.route.as_ref()
    }

    /// 200, unless nothing but refusals was answered: then the status of the first.
    pub fn http_status(&self) -> u16 {
        let refused = |lane: &Lane| match lane.end {
            Some(End::Refused(status)) => Some(status),
            Some(End::Answered) | None => None,
        };
        match self.lanes.iter().map(refused).collect::<Option<Vec<u16>>>() {
            Some(statuses) => statuses.first().copied().unwrap_or(200),
            None => 200,
        }
    }

    fn tell(&mut self, lane: usize, event: &Event, losses: &[Loss], stamp: Stamp) -> Carried<Frames> {
        let Some(at) = self.lanes.get_mut(lane).filter(|lane| lane.end.is_none()) else {
            return Carried::whole(Frames::None);
        };
        let peer = at.route.as_ref().map(|route| &route.skill.peer);
        let own = peer.and_then(|peer| self.deliveries.get(peer)).copied();
        let streams = own.unwrap_or(self.delivery) == Delivery::Stream;
        let told = match event {
            Event::Started(route) => {
                at.route = Some(route.clone());
                None
            }
            Event::Said { message, channel, piece, parts } => {
                let said = output::text_of(parts);
                if *channel == Channel::Answer && *piece != Piece::End {
                    at.collected.say(message, *piece, parts);
                }
                let content = (streams && !said.is_empty()).then(|| at.chunk(&said, *channel));
                content.map(|content| self.response(Fill { content, result: None, note: &|_| {}, losses }, None, stamp))
            }
            Event::Artifact(chunk) => {
                at.collected.keep(chunk);
                None
            }
            Event::Progress { done, total, note } => {
                let content = streams.then(|| at.mark());
                let progress = |meta: &mut Object<'_>| output::progress(meta, *done, *total, note.as_deref());
                content
                    .map(|content| self.response(Fill { content, result: None, note: &progress, losses }, None, stamp))
            }
            Event::Step(step) => {
                let told = step.note().filter(|_| streams).map(|note| (at.mark(), note));
                told.map(|(content, note)| {
                    let progress = |meta: &mut Object<'_>| output::progress(meta, None, None, Some(&note));
                    self.response(Fill { content, result: None, note: &progress, losses }, None, stamp)
                })
            }
            Event::Settled { .. } => None,
            Event::Asked(question) => return self.ask(lane, question, losses, stamp),
            Event::Finished(finished) => return self.finish(lane, finished, losses, stamp),
        };
        Carried::whole(told.into())
    }

    /// The last response of a lane whose call was refused before it began. Whether that is an error of the protocol or a
    /// failed call is the fault table's.
    pub fn refuse(&mut self, lane: usize, fault: &Fault, stamp: Stamp) -> Option<Message> {
        let at = self.lanes.get_mut(lane).filter(|lane| lane.end.is_none())?;
        let spelling = spelling(fault.kind);
        at.end = Some(match spelling {
            Spelling::Error(status) => End::Refused(status),
            Spelling::Outcome => End::Answered,
        });
        let result = at.result(Status::Error, None, Some(outcome_text(fault).into()), |meta| {
            meta.text("code", code(fault.kind));
        });
        let content = match (spelling, &at.of) {
            (Spelling::Error(_), of) => error_content(fault, self.correlation_id.as_deref(), Some(of)),
            (Spelling::Outcome, Of::Tool(_)) => status_content(Status::Error, None),
            (Spelling::Outcome, Of::Chat) => error_content(fault, self.correlation_id.as_deref(), None),
        };
        let native = native::encode(&at.of, result.as_ref());
        let note = |meta: &mut Object<'_>| write_native(meta, native.as_ref());
        let fill = Fill { content, result, note: &note, losses: &[] };
        let mut message = self.response(fill, Some(lane), stamp);
        if matches!(spelling, Spelling::Error(_)) {
            message.control.message_type = MessageType::Error;
            message.format = self.format.clone();
        }
        Some(message)
    }

    /// A question ends the response, never the exchange: its status is pending until the answer comes.
    fn ask(&mut self, lane: usize, question: &Question, losses: &[Loss], stamp: Stamp) -> Carried<Frames> {
        let at = &mut self.lanes[lane];
        at.end = Some(End::Answered);
        let asked = |meta: &mut Object<'_>| question::encode(meta, question);
        let result = at.result(Status::Pending, None, None, asked);
        let content = match &at.of {
            Of::Tool(_) => status_content(Status::Pending, None),
            Of::Chat => Object::json(|content| {
                content.text("status", Status::Pending.as_str());
                content.text("content", &question.text);
            }),
        };
        let lost = std::mem::take(&mut self.arrived);
        let message = self.response(Fill { content, result, note: &asked, losses }, Some(lane), stamp);
        Carried { value: Frames::One(message), losses: lost }
    }

    fn finish(&mut self, lane: usize, finished: &Finished, losses: &[Loss], stamp: Stamp) -> Carried<Frames> {
        let at = &mut self.lanes[lane];
        at.end = Some(End::Answered);
        let mut lost = at.collected.lost(&finished.output, at.found_at.is_some());
        let losses = [losses, &lost].concat();
        lost.append(&mut self.arrived);
        let collected = std::mem::take(&mut at.collected);
        let artifacts = match &at.found_at {
            Some(begin) => collected.addresses(&finished.output, begin),
            None => Vec::new(),
        };
        let answer = collected.answer(&finished.output);
        let output = answer.value();
        let route = at.route.take();
        let (status, error, failure) = match &finished.outcome {
            Outcome::Completed => (Status::Success, None, None),
            Outcome::Failed(fault) => (Status::Error, Some(Text::from(outcome_text(fault))), Some(code(fault.kind))),
            Outcome::Cancelled { why, .. } => {
                (Status::Error, Some(format!("cancelled: {}", why.as_str()).into()), Some("cancelled"))
            }
        };
        let is_success = status == Status::Success;
        let original = self.correlation_id.as_deref();
        let result = at.result(status, output.clone().filter(|_| is_success), error.clone(), |meta| {
            answer.beside(meta);
            if let Some(code) = failure {
                meta.text("code", code);
                // A failed call has no result; what it had so far is told beside it.
                if let Some(output) = &output {
                    meta.value("partial", output);
                }
            }
        });
        let content = match &at.of {
            Of::Tool(_) => status_content(status, output.as_ref().filter(|_| is_success)),
            Of::Chat => chat_content(&answer.words(), output.as_ref(), error.as_deref().zip(failure), original),
        };
        // what a model failed in is an error, not a response that was not completed.
        let is_error = at.of == Of::Chat && !is_success;
        let native = native::encode(&at.of, result.as_ref());
        let note = |meta: &mut Object<'_>| {
            output::provenance(meta, route.as_ref(), &artifacts, &finished.usage);
            write_native(meta, native.as_ref());
        };
        let mut message = self.response(Fill { content, result, note: &note, losses: &losses }, Some(lane), stamp);
        self.lanes[lane].route = route;
        if is_error {
            message.control.message_type = MessageType::Error;
            message.format = self.format.clone();
        }
        Carried { value: Frames::One(message), losses: lost }
    }

    /// `ends`: this is the last response of that lane.
    fn response(&mut self, fill: Fill<'_>, ends: Option<usize>, stamp: Stamp) -> Message {
        let seq = self.seq;
        self.seq += 1;
        let is_final = ends.is_some() && self.is_done();
        let mut losses = std::mem::take(&mut self.losses);
        losses.extend_from_slice(fill.losses);
        let metadata = Object::json(|meta| {
            meta.number("seq", seq);
            if is_final {
                meta.bool("final", true);
            }
            (fill.note)(meta);
            write_losses(meta, &losses);
        });
        let metadata = match self.context.take_if(|_| is_final) {
            Some(context) => with_context(metadata, &context),
            None => metadata,
        };
        let control = stamped(MessageType::Response, self.correlation_id.clone(), stamp);
        Message {
            format: Format::default(),
            control,
            token: self.token.clone(),
            content: fill.content,
            tool_calls: None,
            tool_results: fill.result.map(|result| vec![result]),
            metadata,
        }
    }
}

impl Lane {
    /// R-19 for a tool, R-20 for a chat; reasoning is no part of an answer, so it is told like a log line.
    fn chunk(&self, text: &str, channel: Channel) -> Json {
        let is_log = channel != Channel::Answer;
        match &self.of {
            Of::Tool(tool) => Object::json(|content| {
                content.text("stream_chunk", text);
                content.text("tool_id", &tool.id);
                content.text("tool_name", &tool.name);
                content.bool("is_log", is_log);
            }),
            Of::Chat if is_log => Object::json(|content| {
                content.text("stream_chunk", text);
                content.bool("is_log", true);
            }),
            Of::Chat => Object::json(|content| {
                content.bool("partial", true);
                content.text("content", text);
            }),
        }
    }

    /// Content that only says which call is meant.
    fn mark(&self) -> Json {
        match &self.of {
            Of::Tool(tool) => Object::json(|content| {
                content.text("tool_id", &tool.id);
                content.text("tool_name", &tool.name);
            }),
            Of::Chat => Json::empty_object(),
        }
    }

    fn result(
        &self,
        status: Status,
        result: Option<Json>,
        error: Option<Text>,
        note: impl Fn(&mut Object<'_>),
    ) -> Option<ToolResult> {
        let Of::Tool(tool) = &self.of else { return None };
        let metadata = Object::json(|meta| {
            meta.splice(&tool.marks);
            note(meta);
        });
        Some(ToolResult { tool_id: tool.id.clone(), tool_name: tool.name.clone(), status, result, error, metadata })
    }
}

/// The one message that refuses a request whole. It repeats format and tokens of the request and adds no turn (R-12,
///
pub fn refuse(head: &Head, fault: &Fault, stamp: Stamp) -> Message {
    let metadata = Object::json(|meta| {
        meta.number("seq", 0);
        meta.bool("final", true);
    });
    Message {
        format: head.format.clone(),
        control: stamped(MessageType::Error, head.message_id.clone(), stamp),
        token: head.token.clone(),
        content: error_content(fault, head.message_id.as_deref(), None),
        tool_calls: None,
        tool_results: None,
        metadata,
    }
}

fn with_context(metadata: Json, context: &Json) -> Json {
    let Tree::Object(mut members) = metadata.tree().clone() else { return metadata };
    members.insert("context".to_owned(), context.tree().clone());
    Json::from_tree(Tree::Object(members))
}

fn stamped(message_type: MessageType, correlation_id: Option<Text>, stamp: Stamp) -> Control {
    let mut control = Control::new(message_type, stamp.message_id());
    control.correlation_id = correlation_id;
    control.timestamp = Some(stamp.now.to_string().into());
    control
}

///
fn status_content(status: Status, result: Option<&Json>) -> Json {
    Object::json(|content| {
        content.text("status", status.as_str());
        match result {
            Some(result) => content.value("result", result),
            None => content.null("result"),
        }
    })
}

/// the whole text once more, even if it is empty. R-21: a failure is no completion.
fn chat_content(words: &str, output: Option<&Json>, failure: Option<(&str, &str)>, original: Option<&str>) -> Json {
    Object::json(|content| {
        content.bool("partial", false);
        content.bool("complete", failure.is_none());
        content.text("content", words);
        if let Some((error, code)) = failure {
            content.text("error", error);
            content.text("code", code);
            content.text_or_null("original_request", original);
        }
        if let Some(output) = output.filter(|output| !output.as_str().starts_with('"')) {
            content.value("result", output);
        }
    })
}

fn error_content(fault: &Fault, original: Option<&str>, of: Option<&Of>) -> Json {
    Object::json(|content| {
        content.text("error", &fault.public);
        content.text("code", code(fault.kind));
        content.text_or_null("original_request", original);
        if let Some(Of::Tool(tool)) = of {
            content.text("tool_id", &tool.id);
            content.text("tool_name", &tool.name);
        }
        if !fault.fields.is_empty() {
            content.array("fields", &fault.fields, |field, out| {
                let mut object = Object::open(out);
                object.text("path", &field.path);
                object.text("problem", &field.problem);
                object.finish();
            });
        }
    })
}

fn write_native(meta: &mut Object<'_>, native: Option<&Json>) {
    if let Some(native) = native {
        meta.value("native_result", native);
    }
}

fn write_losses(meta: &mut Object<'_>, losses: &[Loss]) {
    if losses.is_empty() {
        return;
    }
    meta.array("losses", losses, |loss, out| {
        let mut object = Object::open(out);
        object.text("what", &loss.what);
        object.text("kind", loss.kind.as_str());
        object.finish();
    });
}
