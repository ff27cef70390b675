//! Call stream. A call that runs, as its client sees it: events become notifications, questions are asked as the era has it, and the
//! end is one result or one error.

use std::sync::Arc;
use std::time::Duration;

use crate::decode::{ReplyTo, Said};
use crate::encode::task::{Standing, State as TaskState};
use crate::encode::{Beside, Encoder, input_key, notify};
use crate::fault::{self, Refused, Spelling as Spelt, Verb};
use crate::question;
use crate::wire::content::Addresses;
use interlingua_machines::words::say;
use interlingua_model::{
    Addressee, Answer, Channel, Digest, Entry, Event, Fault, FaultKind, Finished, Input, Level, Noun, Outcome, Part,
    Party, Principal, Question, QuestionId, QuestionKind, Raw, Record, Signal, TaskId, Text, Transcript, Uri, Why,
};
use interlingua_wire::members::Members;
use interlingua_wire::rpc::{self, Id};
use serde_json::json;
use tokio::time::Instant;

use super::state::RequestState;
use super::written::Written;
use super::{SERVER, Scope, Spelling, artifacts};
use crate::Endpoint;
use interlingua_hub::audit::losses::Leg;
use interlingua_hub::{Running, entropy};

/// After this long a client that can hold a receipt gets one.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a request ends in: a result, as it is written, or an error.
pub(super) type Ended = Result<Written, Refused>;

/// How questions reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// In a result that ends the request (modern).
    InResult,
    /// As requests of the server, while the call goes on (legacy).
    AsRequests,
}

/// What is known of a call besides its exchange.
pub(super) struct CallContext {
    pub(super) shared: Arc<Endpoint>,
    pub(super) by: Principal,
    pub(super) said: Said,
    /// The part of the hub that the client sees.
    pub(super) scope: Scope,
    pub(super) spelling: Spelling,
    pub(super) asks: Asks,
    pub(super) reply: ReplyTo,
    /// The token of a conversation with an agent.
    pub(super) conversation: Option<String>,
    /// Anyone may read it.
    pub(super) public: bool,
}

pub(super) struct CallStream {
    about: CallContext,
    running: Running,
    /// Who answers.
    party: Party,
    told: Option<f64>,
    transcript: Transcript,
    /// When a receipt is due.
    due: Option<Instant>,
    /// What approvers are asked, and when its client is told so instead of being held any longer.
    pending: Option<(Text, Instant)>,
    /// Asked already, on another stream of the same call.
    asked: Vec<QuestionId>,
    /// How far it was read.
    pub(super) seq: u64,
    /// Its client was told what came of it, or how to ask.
    over: bool,
}

/// What comes next of a call.
pub(super) enum Next {
    /// A message for the client.
    Message(Vec<u8>),
    Ended(Ended),
}

/// As this client spells them; what is stored is for this caller alone.
impl Addresses for CallContext {
    fn outward(&self, by: &Party, uri: &str) -> Uri {
        self.spelling.outward(by, uri)
    }

    fn blob(&self, digest: &Digest, media: Option<&str>) -> Option<Uri> {
        artifacts::address(&self.shared.hub, &self.by, digest, media)
    }

    fn rewrites(&self) -> bool {
        self.spelling.rewrites()
    }
}

impl CallContext {
    /// How the client gets the result of a task later, where it can: by the hub's own tool, under the name that it has for this client.
    fn later(&self, task: TaskId) -> Option<String> {
        let (hub, desk) = (&self.shared.hub, &self.shared.own);
        let settings = desk.settings();
        let (name, is_listed) =
            desk.listings.now(hub, &self.scope, &settings).waiting_tool(hub, &self.by, &settings)?;
        let unlisted = if is_listed { "" } else { ", which is not listed and can be called all the same," };
        Some(format!("the tool `{name}`{unlisted} with the arguments `{{\"task\": \"{task}\"}}`"))
    }

    pub(super) fn encoder(&self) -> Encoder<'_> {
        Encoder { version: self.said.version, server: SERVER, addresses: self }
    }

    /// A fault as this protocol says it to this caller.
    pub(super) fn refuse(&self, fault: &Fault) -> Ended {
        let fault = &fault.clone().told_to(&self.by);
        if fault.kind == FaultKind::Internal {
            tracing::error!(event = "request_failed", protocol = "mcp", error = %fault, cause = ?fault.source, "a request failed inside the hub");
        }
        match fault::spelling(fault, self.said.version, self.reply.verb) {
            Spelt::Error { code, status } => {
                let error = match &self.reply.uri {
                    Some(uri) if fault.kind == FaultKind::NotFound(Noun::Resource) => {
                        fault::not_found(fault, code, uri)
                    }
                    Some(_) | None => fault::error(fault, code),
                };
                Err(Refused { error, status })
            }
            Spelt::Outcome => Ok(Written::by(|out| {
                self.encoder().failed(fault, out);
            })),
        }
    }

    /// Can this client be asked this?
    fn can_ask(&self, question: &Question) -> bool {
        question.to == Addressee::Caller
            && self.said.client.kinds().has(question.kind.set())
            && question::encode(question, self.said.version).is_some()
    }

    /// The open questions of a task that this client can be asked. The others that are for the caller are answered for it.
    pub(super) async fn questions(&self, task: TaskId) -> Result<Vec<Question>, Fault> {
        let Some(live) = self.shared.hub.live(task) else { return Ok(Vec::new()) };
        let mut open = live.questions();
        for question in open.iter().filter(|question| question.to == Addressee::Caller && !self.can_ask(question)) {
            self.answer_for(question).await?;
        }
        open.retain(|question| self.can_ask(question));
        Ok(open)
    }

    /// What the client cannot be asked is declined; nobody's folders are an empty list.
    async fn answer_for(&self, question: &Question) -> Result<(), Fault> {
        let answer = match question.kind {
            QuestionKind::Roots => Answer::Given(Input::args(json!({"roots": []}).into())),
            QuestionKind::Input { .. }
            | QuestionKind::Confirm(_)
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Tool { .. } => Answer::Declined,
        };
        self.shared.hub.answer(self.by.clone(), question.id, answer).await
    }

    /// The result that asks.
    pub(super) fn input_required(&self, questions: &[Question], state: RequestState) -> Ended {
        let state = match state.seal(&self.shared.hub, &self.by, &self.reply.call.digest()) {
            Ok(state) => state,
            Err(fault) => return self.refuse(&fault),
        };
        Ok(Written::by(|out| self.encoder().input_required(questions, &state, out)))
    }
}

/// A question as a request of the server; its id is the question's, so that any process can take the answer.
pub(super) fn request(question: &Question, about: &CallContext) -> Option<Vec<u8>> {
    let asking = question::encode(question, about.said.version)?;
    let mut out = Vec::new();
    rpc::write_request(&request_id(question.id), asking.method, Some(&asking.params), &mut out);
    Some(out)
}

fn request_id(question: QuestionId) -> Id {
    Id::text(&question.to_string())
}

impl CallStream {
    pub(super) fn new(about: CallContext, running: Running) -> CallStream {
        let receipt = about.said.client.tasks && about.reply.verb == Verb::Call;
        CallStream {
            about,
            running,
            party: Party::Hub,
            told: None,
            transcript: Transcript::default(),
            due: receipt.then(|| Instant::now() + PATIENCE),
            pending: None,
            asked: Vec::new(),
            seq: 0,
            over: false,
        }
    }

    /// These questions need not be put again.
    pub(super) fn having_asked(mut self, asked: Vec<QuestionId>) -> CallStream {
        self.asked = asked;
        self
    }

    pub(super) fn task(&self) -> TaskId {
        self.running.id()
    }

    pub(super) fn verb(&self) -> Verb {
        self.about.reply.verb
    }

    /// Ends it, as far as its peer can.
    pub(super) async fn cancel(mut self) {
        let (hub, by) = (self.about.shared.hub.clone(), self.about.by.clone());
        // Kept first: a call can be told to end only by its id.
        if let Ok(task) = self.running.keep().await {
            self.running.told();
            let _ = hub.signal(by, task, Signal::Cancel(interlingua_model::CancelWhy::Asked)).await;
        }
    }

    /// What comes next. Cancel safe while nothing was returned.
    pub(super) async fn next(&mut self) -> Next {
        let next = self.advance().await;
        self.over |= matches!(next, Next::Ended(_));
        next
    }

    async fn advance(&mut self) -> Next {
        loop {
            let patience = self.due.or(self.pending.as_ref().map(|(_, until)| *until));
            let entry = match patience {
                None => self.running.next().await,
                Some(due) => match tokio::time::timeout_at(due, self.running.next()).await {
                    Ok(entry) => entry,
                    Err(_) if self.due.is_some() => return Next::Ended(self.receipt().await),
                    Err(_) => return Next::Ended(self.not_yet().await),
                },
            };
            match entry {
                Ok(Some(entry)) => {
                    self.seq = entry.seq;
                    if let Some(next) = self.take(&entry).await {
                        return next;
                    }
                }
                Ok(None) => {
                    return Next::Ended(self.about.refuse(&Fault::shutting_down_kept()));
                }
                Err(fault) => return Next::Ended(self.about.refuse(&fault)),
            }
        }
    }

    /// To the end, without what comes before it.
    pub(super) async fn end(&mut self) -> Ended {
        loop {
            if let Next::Ended(ended) = self.next().await {
                return ended;
            }
        }
    }

    async fn take(&mut self, entry: &Entry) -> Option<Next> {
        match &entry.record {
            Record::Emitted { event, raw, .. } => match self.transcript.push(&entry.record) {
                Ok(()) => self.event(event, raw.as_ref(), entry.seq).await,
                Err(fault) => Some(Next::Ended(self.give_up(&fault))),
            },
            // The peer itself gave a receipt.
            Record::Sent(sent) if sent.remote.is_some() && sent.open && self.due.is_some() => {
                Some(Next::Ended(self.receipt().await))
            }
            Record::Sent(_) | Record::Selected(_) | Record::Accepted { .. } | Record::Received { .. } => None,
        }
    }

    async fn event(&mut self, event: &Event, raw: Option<&Raw>, seq: u64) -> Option<Next> {
        match event {
            Event::Started(route) => {
                self.party = Party::Peer(route.skill.peer.clone());
                None
            }
            Event::Said { channel: Channel::Note(level), parts, .. } => self.note(*level, parts),
            Event::Said { channel: Channel::Answer | Channel::Reasoning, .. } | Event::Artifact(_) => None,
            Event::Progress { done, total, note } => self.progress(*done, *total, note.as_deref()),
            Event::Step(step) => step.note().and_then(|note| self.progress(None, None, Some(&note))),
            Event::Asked(question) => self.asked(question, seq).await,
            Event::Settled { question, how, .. } => {
                self.pending = None;
                self.settled(*question, *how)
            }
            Event::Finished(finished) => Some(Next::Ended(self.finished(finished, raw))),
        }
    }

    fn note(&self, level: Level, parts: &[Part]) -> Option<Next> {
        let wanted = self.about.said.log.is_some_and(|least| level >= least);
        let logger = match &self.party {
            Party::Peer(peer) => Some(peer.as_str()),
            Party::Caller | Party::Hub => None,
        };
        wanted.then(|| Next::Message(notify::message(level, logger, parts)))
    }

    /// Under the client's own token, and always rising.
    fn progress(&mut self, done: Option<f64>, total: Option<f64>, note: Option<&str>) -> Option<Next> {
        let token = self.about.said.progress.as_ref()?;
        let done = done.unwrap_or(self.told.unwrap_or(0.0) + 1.0);
        if self.told.is_some_and(|told| done <= told) {
            return None;
        }
        self.told = Some(done);
        Some(Next::Message(notify::progress(token, done, total, note)))
    }

    async fn asked(&mut self, question: &Question, seq: u64) -> Option<Next> {
        if question.to == Addressee::Approvers {
            if self.about.reply.verb == Verb::Call {
                let wait = self.about.shared.own.settings().approval_wait;
                self.pending = Some((question.text.clone(), Instant::now() + wait));
            }
            let note = format!("waits for approval: {}", question.text);
            return self.progress(None, None, Some(&note));
        }
        let open = match self.about.questions(self.task()).await {
            Ok(open) => open,
            Err(fault) => return Some(Next::Ended(self.about.refuse(&fault))),
        };
        match self.about.asks {
            Asks::AsRequests if self.about.can_ask(question) && !self.asked.contains(&question.id) => {
                request(question, &self.about).map(Next::Message)
            }
            Asks::AsRequests => None,
            Asks::InResult => {
                let open = match self.answer_with_brought(open).await {
                    Ok(open) => open,
                    Err(fault) => return Some(Next::Ended(self.about.refuse(&fault))),
                };
                if open.is_empty() {
                    return None;
                }
                let until = open.iter().map(|question| question.expires).max().unwrap_or(question.expires);
                let state = RequestState { task: self.task(), seq, until };
                Some(Next::Ended(self.about.input_required(&open, state)))
            }
        }
    }

    /// Gives each answer that was brought along once, and returns the questions that are left. One that does not fit is none.
    async fn answer_with_brought(&mut self, open: Vec<Question>) -> Result<Vec<Question>, Fault> {
        let mut left = Vec::new();
        for question in &open {
            let key = input_key(question, &open);
            let at = self.about.reply.brought.iter().position(|(name, _)| *name == key);
            let response = at.map(|at| self.about.reply.brought.swap_remove(at).1);
            let answer = response.and_then(|given| question::decode_answer(question, &Members::of(&given)).ok());
            match answer {
                None => left.push(question.clone()),
                Some(answer) => {
                    let (hub, by) = (&self.about.shared.hub, self.about.by.clone());
                    hub.signal(by, self.running.id(), answered(question.id, answer)).await?;
                }
            }
        }
        Ok(left)
    }

    /// A request that nobody waits for any more is taken back.
    fn settled(&self, question: QuestionId, how: interlingua_model::How) -> Option<Next> {
        use interlingua_model::How;
        match (how, self.about.asks) {
            (How::Expired | How::Withdrawn, Asks::AsRequests) => {
                Some(Next::Message(notify::cancelled(&request_id(question), "the question is not open any more")))
            }
            (How::Answered | How::Declined | How::Expired | How::Withdrawn, _) => None,
        }
    }

    fn finished(&mut self, finished: &Finished, raw: Option<&Raw>) -> Ended {
        let mut finished = self.transcript.whole(finished);
        // What the outcome names is among the parts now; what else was made on the way is no part of the answer.
        finished.output.artifacts.clear();
        let encoder = self.about.encoder();
        let conversation = self.about.conversation.as_deref();
        let public = self.about.public;
        let Transcript { route, losses, .. } = &self.transcript;
        let skill = route.as_ref().map(|route| &route.skill);
        // Whoever named the skill knows it.
        let route = route.as_ref().filter(|route| route.why != Why::Named);
        let beside = Beside { losses, conversation, public, route, ..Beside::default() };
        let mut out = Written::with_capacity(512);
        let lost = match (&finished.outcome, self.about.reply.verb) {
            (Outcome::Failed(fault), verb) => match fault::spelling(fault, self.about.said.version, verb) {
                Spelt::Error { .. } => return self.about.refuse(fault),
                Spelt::Outcome => encoder.call(&finished, raw, &self.party, &beside, out.end()),
            },
            (Outcome::Completed | Outcome::Cancelled { .. }, Verb::Call) => {
                encoder.call(&finished, raw, &self.party, &beside, out.end())
            }
            (Outcome::Cancelled { why, .. }, Verb::Prompt | Verb::Read | Verb::Other) => {
                let text = format!("cancelled: {}", why.as_str());
                return Err(Refused { error: rpc::Error::new(rpc::INTERNAL_ERROR, text), status: 200 });
            }
            (Outcome::Completed, Verb::Prompt) => encoder.prompt(&finished, raw, &self.party, &beside, out.end()),
            (Outcome::Completed, Verb::Read) if finished.output.parts.is_empty() && raw.is_none() => {
                let kind = FaultKind::NotFound(Noun::Resource);
                return self.about.refuse(&Fault::caller(kind, "Resource not found"));
            }
            (Outcome::Completed, Verb::Read) => encoder.read(&finished, raw, &self.party, &beside, out.end()),
            (Outcome::Completed, Verb::Other) => {
                encoder.complete(&finished, &beside, out.end());
                Vec::new()
            }
        };
        let (hub, by, wire) = (&self.about.shared.hub, &self.about.by, self.about.said.version.wire());
        hub.lost(&Leg { by, of: self.running.named(), wire, skill }, &lost);
        Ok(out)
    }

    /// Its answer is too large to be told; nobody else reads a call that outlives its client for a receipt that was never given.
    fn give_up(&self, fault: &Fault) -> Ended {
        if self.about.reply.detached {
            self.leave();
        }
        self.about.refuse(fault)
    }

    /// Ends a call that would go on without its client.
    fn leave(&self) {
        let (hub, by, task) = (self.about.shared.hub.clone(), self.about.by.clone(), self.task());
        let cancel = Signal::Cancel(interlingua_model::CancelWhy::Disconnected);
        self.about.shared.hub.spawn(async move { drop(hub.signal(by, task, cancel).await) });
    }

    /// Where to approve it instead of the result: few clients hold a call for as long as an approver may take. It goes on without
    /// its client.
    async fn not_yet(&mut self) -> Ended {
        let Some((question, _)) = self.pending.take() else { return self.receipt().await };
        match self.running.hand_out().await {
            Ok(task) => {
                let later = self.about.later(task);
                let text = say::not_run_yet(&question, task, later.as_deref());
                self.about.refuse(&Fault::caller(FaultKind::Unanswered, text))
            }
            Err(fault) => self.about.refuse(&fault),
        }
    }

    /// The id instead of the result; the call goes on without its client.
    async fn receipt(&mut self) -> Ended {
        self.due = None;
        let hub = self.about.shared.hub.clone();
        let task = match self.running.hand_out().await {
            Ok(task) => task,
            Err(fault) => return self.about.refuse(&fault),
        };
        let now = hub.now();
        let standing =
            Standing { id: task, created: now, updated: now, ttl_ms: None, note: None, state: TaskState::Working };
        Ok(Written::by(|out| self.about.encoder().task_created(&standing, out)))
    }
}

impl Drop for CallStream {
    fn drop(&mut self) {
        // A client that leaves while approvers are asked leaves the call; one that was asked something itself comes back with the
        // answer, and a session is taken up again.
        let left_pending = self.pending.is_some() && matches!(self.about.asks, Asks::InResult);
        if !self.over && (self.about.reply.detached || left_pending) {
            self.leave();
        }
    }
}

/// The key under which an answer is forwarded.
pub(super) fn answered(question: QuestionId, answer: Answer) -> Signal {
    Signal::Answered { question, message: entropy::message_id(), answer }
}
