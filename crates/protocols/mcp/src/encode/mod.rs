//! The server side of answers: encodes the events of an exchange as notifications and questions, and its end as one result or one error.
//!
//! | file | what |
//! |---|---|
//! | [`notify`] | progress, log lines and changes, as notifications |
//! | `result` | outcomes, questions, lists and tasks as results; the answer of a peer of this protocol keeps its bytes |
//! | `written` | a serialized result, with space for the head of its message |
//!
//! Deliberately absent: receipts and pending approvals. They depend on time, not on events.

pub mod notify;
mod result;
#[cfg(test)]
mod tests;
mod written;

pub use result::{Beside, Cache, Encoder, Server, input_key, task};
pub use written::Written;

use interlingua_model::{
    Addressee, Carried, Channel, Entry, Event, Fault, FaultKind, Finished, How, Level, Loss, Noun, Outcome, Part,
    Party, Principal, Question, QuestionId, Raw, Record, Route, Transcript, Why,
};

use super::Version;
use super::decode::{ReplyTo, Said};
use super::fault::{self, Refused, Spelling, Verb};
use super::question;
use super::wire::content::Addresses;
use interlingua_wire::codec;
use interlingua_wire::rpc::{self, Id};

/// What a request ends in: a result, as it is written, or an error.
pub type RequestOutcome = Result<Written, Refused>;

pub type Frames = codec::Frames<Frame>;

/// One message for the client.
#[derive(Debug)]
pub enum Frame {
    /// A notification, or a request of the server.
    Message(Vec<u8>),
    End(RequestOutcome),
    /// The request ends and the exchange does not: its answer is larger than what is held of one.
    GivenUp(RequestOutcome),
}

/// How questions reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// In a result that ends the request (modern).
    InResult,
    /// As requests of the server, while the call goes on (legacy).
    AsRequests,
}

/// What a call cannot go on without, and the state that its client brings back with the answers.
#[derive(Debug)]
pub struct InputRequired {
    pub open: Vec<Question>,
    pub state: String,
}

/// What an exchange is told with, and what was told of it so far.
pub struct Telling<'a> {
    pub said: &'a Said,
    pub by: &'a Principal,
    pub reply: &'a ReplyTo,
    pub server: Server<'a>,
    pub addresses: &'a dyn Addresses,
    /// The token by which a conversation with an agent goes on.
    pub conversation: Option<&'a str>,
    /// Anyone may read the resource.
    pub public: bool,
    pub asks: Asks,
    /// With an entry that asks, where questions are asked in a result: what is left to ask.
    pub required: Option<&'a InputRequired>,
    pub told: &'a mut Told,
}

impl std::fmt::Debug for Telling<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telling").field("said", &self.said).field("told", &self.told).finish_non_exhaustive()
    }
}

/// What was told of an exchange so far.
#[derive(Debug)]
pub struct Told {
    /// Who answers.
    party: Party,
    progress: Option<f64>,
    transcript: Transcript,
    /// Asked already, on another stream of the same call.
    asked: Vec<QuestionId>,
}

impl Default for Told {
    fn default() -> Told {
        Told { party: Party::Hub, progress: None, transcript: Transcript::default(), asked: Vec::new() }
    }
}

impl Told {
    /// These questions need not be put again.
    pub fn having_asked(asked: Vec<QuestionId>) -> Told {
        Told { asked, ..Told::default() }
    }

    /// Which way was taken.
    pub fn route(&self) -> Option<&Route> {
        self.transcript.route.as_ref()
    }
}

/// What one entry of an exchange is for its client.
pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> {
    let (event, raw) = match &entry.record {
        Record::Emitted { event, raw, .. } => (event, raw.as_ref()),
        Record::Accepted { .. } | Record::Sent(_) | Record::Selected(_) | Record::Received { .. } => {
            return Carried::whole(Frames::None);
        }
    };
    if let Err(fault) = telling.told.transcript.push(&entry.record) {
        return Carried::whole(Frames::One(Frame::GivenUp(telling.refuse(&fault))));
    }
    let message = match event {
        Event::Started(route) => {
            telling.told.party = Party::Peer(route.skill.peer.clone());
            None
        }
        Event::Said { channel: Channel::Note(level), parts, .. } => telling.note(*level, parts),
        Event::Said { channel: Channel::Answer | Channel::Reasoning, .. } | Event::Artifact(_) => None,
        Event::Progress { done, total, note } => telling.progress(*done, *total, note.as_deref()),
        Event::Step(step) => step.note().and_then(|note| telling.progress(None, None, Some(&note))),
        Event::Asked(question) => return Carried::whole(telling.asked(question).into()),
        Event::Settled { question, how, .. } => telling.settled(*question, *how),
        Event::Finished(finished) => {
            let mut losses = Vec::new();
            let ended = telling.finished(finished, raw, &mut losses);
            return Carried { value: Frames::One(Frame::End(ended)), losses };
        }
    };
    Carried::whole(message.map(Frame::Message).into())
}

/// A question as a request of the server; its id is the question's, so that any process can take the answer.
pub fn request(question: &Question, version: Version) -> Option<Vec<u8>> {
    let asking = question::encode(question, version)?;
    let mut out = Vec::new();
    rpc::write_request(&request_id(question.id), asking.method, Some(&asking.params), &mut out);
    Some(out)
}

fn request_id(question: QuestionId) -> Id {
    Id::text(&question.to_string())
}

impl<'a> Telling<'a> {
    fn encoder(&self) -> Encoder<'a> {
        Encoder { version: self.said.version, server: self.server, addresses: self.addresses }
    }

    fn refuse(&self, fault: &Fault) -> RequestOutcome {
        self.encoder().refusal(&fault.clone().told_to(self.by), self.reply)
    }

    fn note(&self, level: Level, parts: &[Part]) -> Option<Vec<u8>> {
        let wanted = self.said.log.is_some_and(|least| level >= least);
        let logger = match &self.told.party {
            Party::Peer(peer) => Some(peer.as_str()),
            Party::Caller | Party::Hub => None,
        };
        wanted.then(|| notify::message(level, logger, parts))
    }

    /// Under the client's own token, and always rising.
    fn progress(&mut self, done: Option<f64>, total: Option<f64>, note: Option<&str>) -> Option<Vec<u8>> {
        let token = self.said.progress.as_ref()?;
        let told = &mut self.told.progress;
        let done = done.unwrap_or(told.unwrap_or(0.0) + 1.0);
        if told.is_some_and(|told| done <= told) {
            return None;
        }
        *told = Some(done);
        Some(notify::progress(token, done, total, note))
    }

    fn asked(&mut self, question: &Question) -> Option<Frame> {
        if question.to == Addressee::Approvers {
            let note = format!("waits for approval: {}", question.text);
            return self.progress(None, None, Some(&note)).map(Frame::Message);
        }
        match self.asks {
            Asks::AsRequests => {
                let Said { client, version, .. } = self.said;
                let put = question::is_askable(question, *client, *version) && !self.told.asked.contains(&question.id);
                let request = if put { request(question, *version) } else { None };
                request.map(Frame::Message)
            }
            Asks::InResult => self.required.map(|InputRequired { open, state }| {
                Frame::End(Ok(Written::by(|out| self.encoder().input_required(open, state, out))))
            }),
        }
    }

    /// A request that nobody waits for any more is taken back.
    fn settled(&self, question: QuestionId, how: How) -> Option<Vec<u8>> {
        match (how, self.asks) {
            (How::Expired | How::Withdrawn, Asks::AsRequests) => {
                Some(notify::cancelled(&request_id(question), "the question is not open any more"))
            }
            (How::Answered | How::Declined | How::Expired | How::Withdrawn, _) => None,
        }
    }

    /// The end. `lost` takes what this version could not say of it.
    fn finished(&mut self, finished: &Finished, raw: Option<&Raw>, lost: &mut Vec<Loss>) -> RequestOutcome {
        let mut finished = self.told.transcript.whole(finished);
        // What else was made on the way is no part of the answer.
        self.told.transcript.drop_held(&mut finished.output);
        let encoder = self.encoder();
        let Told { party, transcript: Transcript { route, losses, .. }, .. } = &*self.told;
        // Whoever named the skill knows it.
        let route = route.as_ref().filter(|route| route.why != Why::Named);
        let (conversation, public) = (self.conversation, self.public);
        let beside = Beside { losses, conversation, public, route, ..Beside::default() };
        let mut out = Written::with_capacity(512);
        *lost = match (&finished.outcome, self.reply.verb) {
            (Outcome::Failed(fault), verb) => match fault::spelling(fault, self.said.version, verb) {
                Spelling::Error { .. } => return self.refuse(fault),
                Spelling::Outcome => encoder.call(&finished, raw, party, &beside, out.end()),
            },
            (Outcome::Completed | Outcome::Cancelled { .. }, Verb::Call) => {
                encoder.call(&finished, raw, party, &beside, out.end())
            }
            (Outcome::Cancelled { why, .. }, Verb::Prompt | Verb::Read | Verb::Other) => {
                let text = format!("cancelled: {}", why.as_str());
                return Err(Refused { error: rpc::Error::new(rpc::INTERNAL_ERROR, text), status: 200 });
            }
            (Outcome::Completed, Verb::Prompt) => encoder.prompt(&finished, raw, party, &beside, out.end()),
            (Outcome::Completed, Verb::Read) if finished.output.parts.is_empty() && raw.is_none() => {
                let kind = FaultKind::NotFound(Noun::Resource);
                return self.refuse(&Fault::caller(kind, "Resource not found"));
            }
            (Outcome::Completed, Verb::Read) => encoder.read(&finished, raw, party, &beside, out.end()),
            (Outcome::Completed, Verb::Other) => {
                encoder.complete(&finished, &beside, out.end());
                Vec::new()
            }
        };
        Ok(out)
    }
}
