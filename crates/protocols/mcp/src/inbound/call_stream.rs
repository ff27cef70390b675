//! Call stream: a running call for its client. Events of the exchange are encoded, questions are sent or answered for the client, and a
//! receipt replaces a result that takes long.

use std::sync::Arc;
use std::time::Duration;

use crate::decode::{ReplyTo, Said};
use crate::encode::task::{Standing, State as TaskState};
use crate::encode::{
    Asks, Encoder, Frame, Frames, InputRequired, RequestOutcome, Telling, Told, Written, encode, input_key,
};
use crate::fault::Verb;
use crate::question;
use crate::wire::content::Addresses;
use interlingua_machines::words::say;
use interlingua_model::{
    Addressee, Answer, Carried, Digest, Entry, Event, Fault, FaultKind, Finished, Input, Outcome, Party, Principal,
    Question, QuestionId, QuestionKind, Record, Signal, TaskId, Text, Uri,
};
use interlingua_wire::members::Members;
use serde_json::json;
use tokio::time::Instant;

use super::state::RequestState;
use super::{SERVER, Scope, Spelling, artifacts};
use crate::Endpoint;
use interlingua_hub::audit::losses::LossContext;
use interlingua_hub::{Running, entropy};

/// After this long a client that can hold a receipt gets one.
const PATIENCE: Duration = Duration::from_secs(2);

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
    pub(super) told: Told,
    /// Frames of the entry that was read last.
    ready: <Frames as IntoIterator>::IntoIter,
    /// When a receipt is due.
    due: Option<Instant>,
    /// What approvers are asked, and when its client is told so instead of being held any longer.
    pending: Option<(Text, Instant)>,
    /// How far it was read.
    pub(super) seq: u64,
    /// Its client was told what came of it, or how to ask.
    over: bool,
}

/// What comes next of a call.
pub(super) enum Next {
    /// A message for the client.
    Message(Vec<u8>),
    Ended(RequestOutcome),
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
        let (hub, state) = (&self.shared.hub, &self.shared.own);
        let settings = state.settings();
        let (name, is_listed) =
            state.listings.now(hub, &self.scope, &settings).waiting_tool(hub, &self.by, &settings)?;
        let unlisted = if is_listed { "" } else { ", which is not listed and can be called all the same," };
        Some(format!("the tool `{name}`{unlisted} with the arguments `{{\"task\": \"{task}\"}}`"))
    }

    pub(super) fn encoder(&self) -> Encoder<'_> {
        Encoder { version: self.said.version, server: SERVER, addresses: self }
    }

    /// A fault as this protocol says it to this caller.
    pub(super) fn refuse(&self, fault: &Fault) -> RequestOutcome {
        report(fault);
        self.encoder().refusal(&fault.clone().told_to(&self.by), &self.reply)
    }

    /// What entries of its exchange are told with.
    fn telling<'a>(&'a self, required: Option<&'a InputRequired>, told: &'a mut Told) -> Telling<'a> {
        Telling {
            said: &self.said,
            by: &self.by,
            reply: &self.reply,
            server: SERVER,
            addresses: self,
            conversation: self.conversation.as_deref(),
            public: self.public,
            asks: self.asks,
            required,
            told,
        }
    }

    fn is_askable(&self, asked: &Question) -> bool {
        question::is_askable(asked, self.said.client, self.said.version)
    }

    /// The open questions of a task that this client can be asked. The others that are for the caller are answered for it.
    pub(super) async fn questions(&self, task: TaskId) -> Result<Vec<Question>, Fault> {
        let Some(live) = self.shared.hub.live(task) else { return Ok(Vec::new()) };
        let mut open = live.questions();
        for question in open.iter().filter(|question| question.to == Addressee::Caller && !self.is_askable(question)) {
            self.answer_for(question).await?;
        }
        open.retain(|question| self.is_askable(question));
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
    pub(super) fn input_required(&self, questions: &[Question], state: RequestState) -> RequestOutcome {
        match self.sealed(state) {
            Ok(state) => Ok(Written::by(|out| self.encoder().input_required(questions, &state, out))),
            Err(fault) => self.refuse(&fault),
        }
    }

    /// What only this client can bring back, and with this call alone.
    fn sealed(&self, state: RequestState) -> Result<String, Fault> {
        state.seal(&self.shared.hub, &self.by, &self.reply.call.digest())
    }
}

fn report(fault: &Fault) {
    if fault.kind == FaultKind::Internal {
        tracing::error!(event = "request_failed", protocol = "mcp", error = %fault, cause = ?fault.source, "a request failed inside the hub");
    }
}

impl CallStream {
    pub(super) fn new(about: CallContext, running: Running) -> CallStream {
        let receipt = about.said.client.tasks && about.reply.verb == Verb::Call;
        CallStream {
            about,
            running,
            told: Told::default(),
            ready: Frames::None.into_iter(),
            due: receipt.then(|| Instant::now() + PATIENCE),
            pending: None,
            seq: 0,
            over: false,
        }
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
            if let Some(frame) = self.ready.next() {
                return self.sent(frame);
            }
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
    pub(super) async fn end(&mut self) -> RequestOutcome {
        loop {
            if let Next::Ended(ended) = self.next().await {
                return ended;
            }
        }
    }

    fn sent(&self, frame: Frame) -> Next {
        match frame {
            Frame::Message(message) => Next::Message(message),
            Frame::End(ended) => Next::Ended(ended),
            Frame::GivenUp(ended) => {
                // Nobody else reads a call that outlives its client for a receipt that was never given.
                if self.about.reply.detached {
                    self.leave();
                }
                Next::Ended(ended)
            }
        }
    }

    /// Makes the frames of an entry ready, unless the request ends before.
    async fn take(&mut self, entry: &Entry) -> Option<Next> {
        let required = match &entry.record {
            Record::Emitted { event, .. } => match self.prepare(event, entry.seq).await {
                Ok(required) => required,
                Err(fault) => return Some(Next::Ended(self.about.refuse(&fault))),
            },
            // The peer itself gave a receipt.
            Record::Sent(sent) if sent.remote.is_some() && sent.open && self.due.is_some() => {
                return Some(Next::Ended(self.receipt().await));
            }
            Record::Sent(_) | Record::Selected(_) | Record::Accepted { .. } | Record::Received { .. } => return None,
        };
        let Carried { value, losses } = encode(entry, &mut self.about.telling(required.as_ref(), &mut self.told));
        if !losses.is_empty() {
            let (hub, by, wire) = (&self.about.shared.hub, &self.about.by, self.about.said.version.wire());
            let skill = self.told.route().map(|route| &route.skill);
            hub.lost(&LossContext { by, of: self.running.named(), wire, skill }, &losses);
        }
        self.ready = value.into_iter();
        None
    }

    /// What is due before an event is told. Returns what the client is asked in a result.
    async fn prepare(&mut self, event: &Event, seq: u64) -> Result<Option<InputRequired>, Fault> {
        match event {
            Event::Asked(question) => match question.to {
                Addressee::Caller => return self.asked(question, seq).await,
                Addressee::Approvers if self.about.reply.verb == Verb::Call => {
                    let wait = self.about.shared.own.settings().approval_wait;
                    self.pending = Some((question.text.clone(), Instant::now() + wait));
                }
                Addressee::Approvers => {}
            },
            Event::Settled { .. } => self.pending = None,
            Event::Finished(Finished { outcome: Outcome::Failed(fault), .. }) => report(fault),
            Event::Finished(_)
            | Event::Started(_)
            | Event::Said { .. }
            | Event::Artifact(_)
            | Event::Progress { .. }
            | Event::Step(_) => {}
        }
        Ok(None)
    }

    async fn asked(&mut self, question: &Question, seq: u64) -> Result<Option<InputRequired>, Fault> {
        let open = self.about.questions(self.task()).await?;
        match self.about.asks {
            Asks::AsRequests => Ok(None),
            Asks::InResult => {
                let open = self.answer_with_brought(open).await?;
                if open.is_empty() {
                    return Ok(None);
                }
                let until = open.iter().map(|question| question.expires).max().unwrap_or(question.expires);
                let state = self.about.sealed(RequestState { task: self.task(), seq, until })?;
                Ok(Some(InputRequired { open, state }))
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

    /// Ends a call that would go on without its client.
    fn leave(&self) {
        let (hub, by, task) = (self.about.shared.hub.clone(), self.about.by.clone(), self.task());
        let cancel = Signal::Cancel(interlingua_model::CancelWhy::Disconnected);
        self.about.shared.hub.spawn(async move { drop(hub.signal(by, task, cancel).await) });
    }

    /// Where to approve it instead of the result: few clients hold a call for as long as an approver may take. It goes on without
    /// its client.
    async fn not_yet(&mut self) -> RequestOutcome {
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
    async fn receipt(&mut self) -> RequestOutcome {
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
