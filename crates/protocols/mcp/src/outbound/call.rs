//! One outbound call, with retry: sent once, or again where that does no harm. The answer comes at once, or a [`super::follow_task`]
//! follows the call.

use std::sync::Arc;
use std::time::Duration;

use crate::client::decode::ReplyContext;
use crate::client::encode::{self, Manner, Verb};
use crate::client::list::List;
use crate::client::state::{self, Answers};
use crate::client::{Replied, Task};
use interlingua_model::peer::{Answering, Dispatch, Reply, View};
use interlingua_model::{Answer, Fault, FaultKind, Finished, Loss, Noun, Question, Record, Retry, Sent, Skill};
use interlingua_wire::rpc::Message;
use tokio::time::Instant;

use super::follow_task::{self, Step};
use super::link::{Refused, Trouble};
use super::peer::McpPeer;
use super::request::InFlightRequest;
use super::session::Session;
use super::sign_in;
use super::upstream::{Unopened, Upstream, waits};
use interlingua_hub::Hub;
use interlingua_net::client::call_failure;
use interlingua_net::client::health::{Probed, Went};
use interlingua_net::client::live::told;
use interlingua_net::client::oauth::SIGN_IN_EXPIRES;
use interlingua_net::client::oauth::SignIn;
use interlingua_net::client::retry;
use interlingua_net::client::transport_error::TransportError;

/// How often a server may want a call again with its state and ask nothing.
const MAX_ROUNDS: u32 = 8;

/// Why there is nothing to follow.
#[derive(Debug)]
pub(super) enum OutboundFailure {
    /// Nothing was begun: another peer may be tried.
    Refused(Fault),
    /// It was begun, and this is its outcome.
    Failed(Fault),
    /// Nothing was begun: somebody must sign in first.
    SignIn(SignIn),
}

impl OutboundFailure {
    pub(super) fn fault(self) -> Fault {
        match self {
            OutboundFailure::Refused(fault) | OutboundFailure::Failed(fault) => fault,
            OutboundFailure::SignIn(sign_in) => waits(&sign_in.peer),
        }
    }
}

/// One call to the peer, in progress.
pub(super) struct OutboundCall {
    pub(super) peer: Arc<McpPeer>,
    pub(super) hub: Arc<Hub>,
    pub(super) dispatch: Dispatch,
    upstream: Arc<Upstream>,
    pub(super) losses: Vec<Loss>,
    /// What configuration allows one call.
    pub(super) until: Option<Instant>,
    rounds: u32,
}

impl OutboundCall {
    pub(super) fn new(peer: Arc<McpPeer>, hub: Arc<Hub>, dispatch: Dispatch, upstream: Arc<Upstream>) -> OutboundCall {
        let losses = encode::losses(&dispatch.call, peer.is_hub);
        let until = peer.timeout.map(|span| Instant::now() + span);
        OutboundCall { peer, hub, dispatch, upstream, losses, until, rounds: 0 }
    }

    pub(super) async fn run(mut self) -> Result<Reply, Fault> {
        match self.begin().await {
            Ok(Begin::Replied(replied)) => self.reply(replied).await,
            Ok(Begin::Step(step)) => Ok(follow_task::live(self, step)),
            Err(OutboundFailure::Refused(fault)) => Err(fault),
            Err(OutboundFailure::Failed(fault)) => Ok(Reply::Done(Box::new(Finished::failed(fault)), None)),
            Err(OutboundFailure::SignIn(sign_in)) => self.sends_to_sign_in(&sign_in),
        }
    }

    async fn begin(&mut self) -> Result<Begin, OutboundFailure> {
        match (self.dispatch.answering.take(), self.dispatch.remote.take()) {
            (Some(answering), _) if sign_in::is_asked(&answering.question) => {
                self.signed_in(&answering).await?;
                self.call(None).await
            }
            (Some(answering), _) => {
                let resumed = state::resume(&answering).map_err(|error| {
                    let text = format!("{} cannot go on without an answer: {}", self.peer.name, error.message);
                    OutboundFailure::Failed(Fault::caller(FaultKind::Unanswered, text))
                })?;
                match resumed.task {
                    Some(task) => Ok(Begin::Step(Step::Update(task, resumed.answers))),
                    None => self.call(Some(resumed.answers)).await,
                }
            }
            (None, Some(remote)) => match state::kept_task(&remote) {
                Some(id) => Ok(Begin::Step(Step::Task(Task { id, poll: None }))),
                None => Err(OutboundFailure::Failed(self.unknown())),
            },
            (None, None) => self.call(None).await,
        }
    }

    /// Sends the call and waits for what comes first: its answer, which is all most calls ever hear, or something else.
    async fn call(&mut self, answers: Option<Answers>) -> Result<Begin, OutboundFailure> {
        let mut flight = self.open(answers.as_ref()).await?;
        let first = match self.until {
            None => flight.next().await,
            Some(until) => match tokio::time::timeout_at(until, flight.next()).await {
                Ok(first) => first,
                Err(_) => return Err(OutboundFailure::Failed(self.too_late())),
            },
        };
        match first {
            Ok(Message::Response(response)) => {
                let leg = ReplyContext { view: self.view(flight.session()), ..self.leg(flight.session()) };
                let replied = leg.response(response.outcome);
                match replied {
                    Ok(Replied::Again(state)) => Ok(Begin::Step(Step::Again(Answers::state(state)))),
                    replied => Ok(Begin::Replied(replied)),
                }
            }
            Ok(message @ (Message::Request(_) | Message::Notification(_))) => {
                Ok(Begin::Step(Step::Flight(flight, Some(message))))
            }
            Err(lost) => self.after_loss(lost, answers.as_ref()).await,
        }
    }

    /// What is lost may be sent again where the skill allows it: to a program that was started anew, for instance.
    async fn after_loss(&mut self, lost: TransportError, answers: Option<&Answers>) -> Result<Begin, OutboundFailure> {
        let ended = self.ended(&lost);
        if !self.repeatable() || self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(ended);
        }
        let flight = self.open(answers).await.map_err(|again| match again {
            OutboundFailure::Refused(_) | OutboundFailure::SignIn(_) => ended,
            failed @ OutboundFailure::Failed(_) => failed,
        })?;
        Ok(Begin::Step(Step::Flight(flight, None)))
    }

    pub(super) fn repeatable(&self) -> bool {
        self.dispatch.skill.effects.idempotent
    }

    /// Sends the call. What cannot have reached the server is tried again, and so is a call whose session had expired: the
    /// server has not looked at it.
    pub(super) async fn open(&mut self, answers: Option<&Answers>) -> Result<InFlightRequest, OutboundFailure> {
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS {
            return Err(OutboundFailure::Failed(
                self.fault(FaultKind::BadReply, "wants the same call again and again"),
            ));
        }
        let (mut attempt, mut greeted_again) = (1, false);
        loop {
            let session = self.session().await?;
            let id = session.next_id();
            let outgoing = {
                let manner = self.manner(&session);
                encode::call(id, &self.dispatch.call, &self.dispatch.skill, &manner, answers)
            };
            let owner = Some(self.dispatch.by.owner());
            let trouble = match InFlightRequest::open(session.clone(), id, &outgoing, owner).await {
                Ok(flight) => {
                    self.peer.note(&self.hub, Went::Reached { knock: None });
                    return Ok(flight);
                }
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::SessionGone if !greeted_again => {
                    greeted_again = true;
                    self.upstream.forget(&session);
                }
                Trouble::SessionGone => {
                    return Err(OutboundFailure::Refused(self.unreachable().retry(Retry::IfIdempotent)));
                }
                Trouble::SignIn(sign_in) => return Err(OutboundFailure::SignIn(sign_in)),
                Trouble::TooMany => return Err(OutboundFailure::Refused(self.fault(FaultKind::Busy, "is busy"))),
                Trouble::Refused(refused) => return Err(self.refused(&refused)),
                Trouble::Lost(lost) => {
                    tracing::warn!(event = "peer_no_answer", peer = %self.peer.name, attempt, cause = %lost, "the peer did not answer a request");
                    self.peer.note(&self.hub, Went::Missed);
                    let Some(wait) = retry::after(&lost, attempt, self.repeatable()) else {
                        return Err(self.ended(&lost));
                    };
                    attempt += 1;
                    if !session.link.is_closed() {
                        tokio::time::sleep(wait).await;
                    }
                }
            }
        }
    }

    pub(super) async fn session(&self) -> Result<Arc<Session>, OutboundFailure> {
        let opened = match self.until {
            None => self.upstream.session().await,
            Some(until) => match tokio::time::timeout_at(until, self.upstream.session()).await {
                Ok(opened) => opened,
                Err(_) => return Err(OutboundFailure::Refused(self.too_late())),
            },
        };
        opened.map_err(|unopened| match unopened {
            Unopened::SignIn(sign_in) => OutboundFailure::SignIn(sign_in),
            Unopened::Fault(fault) => {
                self.peer.note(&self.hub, Went::Missed);
                OutboundFailure::Refused(fault)
            }
        })
    }

    fn manner(&self, session: &Session) -> Manner<'_> {
        let call = &self.dispatch.call;
        Manner {
            version: session.version,
            can_answer: call.caller.can_answer,
            hub: self.peer.is_hub,
            trace: call.trace.as_ref(),
            // Told to everybody: whether somebody behind a server is a hub, nobody knows beforehand.
            via: call.via.as_ref(),
            origin: self.peer.is_hub.then(|| call.origin.tell()),
            meta: encode::callers_meta(call),
            key: Some(&self.dispatch.key),
            priority: call.limits.priority,
            progress: true,
            receipts: encode::takes_receipts(call, session.version),
            whole: false,
        }
    }

    pub(super) fn leg(&self, session: &Session) -> ReplyContext {
        ReplyContext {
            peer: self.peer.name.clone(),
            version: session.version,
            verb: Verb::of(&self.dispatch.call, self.skill().kind),
            is_hub: self.peer.is_hub,
            expires: self.hub.question_expires(),
            view: View::Full,
        }
    }

    /// An answer that comes at once, on the wire the call came by, may pass unread.
    fn view(&self, session: &Session) -> View {
        let same = self.dispatch.call.origin.wire() == Some(&session.version.wire());
        if same && self.losses.is_empty() { self.dispatch.want } else { View::Full }
    }

    fn skill(&self) -> &Skill {
        &self.dispatch.skill
    }

    /// The caller's own account, or for an owner of the hub the hub's: a question with a link. Anybody else waits.
    fn sends_to_sign_in(mut self, sign_in: &SignIn) -> Result<Reply, Fault> {
        let may = sign_in.owner.is_some() || self.dispatch.by.is_hub_owner();
        if !may {
            return Err(waits(&self.peer.name));
        }
        let question = sign_in::question(sign_in, self.hub.now().after(SIGN_IN_EXPIRES));
        if !self.dispatch.call.caller.can_answer.has(question.kind.set()) {
            let text = format!("{}: {}", question.text, &*sign_in.url);
            return Err(Fault::caller(FaultKind::Unanswered, text));
        }
        Ok(told(self.asks(vec![question], None)))
    }

    /// Waits until whoever was sent has come back. A link may be opened long before that.
    async fn signed_in(&self, answering: &Answering) -> Result<(), OutboundFailure> {
        if answering.answer != Answer::Visited {
            let text = format!("{} cannot be called before somebody signs in", self.peer.name);
            return Err(OutboundFailure::Failed(Fault::caller(FaultKind::Unanswered, text)));
        }
        let Some(account) = self.upstream.account() else { return Ok(()) };
        let late = match self.until {
            Some(until) => until,
            None => Instant::now() + SIGN_IN_EXPIRES,
        };
        tokio::time::timeout_at(late, account.settled()).await.map_err(|_| OutboundFailure::Failed(self.too_late()))
    }

    pub(super) fn fault(&self, kind: FaultKind, what: &str) -> Fault {
        call_failure::fault(&self.peer.name, kind, what)
    }

    fn unreachable(&self) -> Fault {
        call_failure::unreachable(&self.peer.name)
    }

    pub(super) fn too_late(&self) -> Fault {
        call_failure::too_late(&self.peer.name)
    }

    fn unknown(&self) -> Fault {
        call_failure::unknown(&self.peer.name)
    }

    pub(super) fn ended(&self, lost: &TransportError) -> OutboundFailure {
        match call_failure::CallFailure::lost(&self.peer.name, lost, self.repeatable()) {
            call_failure::CallFailure::Refused(fault) => OutboundFailure::Refused(fault),
            call_failure::CallFailure::Failed(fault) => OutboundFailure::Failed(fault),
        }
    }

    fn refused(&self, refused: &Refused) -> OutboundFailure {
        let mut fault = match refused.status {
            // It has had the call: nothing is tried elsewhere.
            401 => self.fault(FaultKind::Unreachable, "wants credentials that the hub does not have").retry(Retry::No),
            403 => self.fault(FaultKind::PeerDeclined, "declined"),
            408 | 504 => self.fault(FaultKind::Deadline, "took too long"),
            413 => self.fault(FaultKind::TooLarge, "says the call is too large"),
            429 | 503 => self.fault(FaultKind::Busy, "is busy").retry(Retry::After(refused.retry_after)),
            500..=599 => self.fault(FaultKind::PeerFailed, "failed"),
            _ => self.fault(FaultKind::BadReply, "does not answer as an MCP server"),
        };
        fault.peer_code = Some(refused.status.to_string().into());
        match refused.status {
            401 | 429 | 503 => OutboundFailure::Refused(fault),
            _ => OutboundFailure::Failed(fault),
        }
    }

    /// What the hub is told of a call that was answered at once.
    async fn reply(mut self, replied: Result<Replied, Fault>) -> Result<Reply, Fault> {
        match replied {
            Err(fault) => {
                self.look_again(&fault);
                Ok(Reply::Done(Box::new(Finished::failed(fault)), None))
            }
            Ok(Replied::Finished(mut finished, lost, raw)) => {
                self.hub.store_large_answer(&mut finished.output.parts).await?;
                self.losses.extend(lost);
                if self.losses.is_empty() {
                    return Ok(Reply::Done(finished, raw));
                }
                let losses = std::mem::take(&mut self.losses);
                let event = interlingua_model::Event::Finished(*finished);
                Ok(told(vec![Record::Emitted { event, losses, raw }]))
            }
            Ok(Replied::Asked(questions)) => Ok(told(self.asks(questions, None))),
            Ok(Replied::Again(state)) => Ok(follow_task::live(self, Step::Again(Answers::state(state)))),
            Ok(Replied::Task(task)) => Ok(follow_task::live(self, Step::Task(task))),
        }
    }

    /// A tool that is not there any more: the list is old.
    pub(super) fn look_again(&self, fault: &Fault) {
        if fault.kind == FaultKind::NotFound(Noun::Skill) {
            self.peer.upstream.changes.add(&[List::Tools]);
        }
    }

    /// Questions that end the server's request. One that nobody here can answer ends the exchange.
    pub(super) fn asks(&mut self, questions: Vec<Question>, task: Option<&str>) -> Vec<Record> {
        let caller = &self.dispatch.call.caller;
        if let Some(question) = questions.iter().find(|question| !caller.is_answered_for(&question.kind)) {
            let text = format!("{} asks, and nobody here can answer: {}", self.peer.name, question.text);
            let finished = Finished::failed(Fault::caller(FaultKind::Unanswered, text));
            return vec![Record::emitted(interlingua_model::Event::Finished(finished))];
        }
        let remote = task.map(state::task);
        let mut records = vec![Record::Sent(Sent::learnt(self.dispatch.key.clone(), remote, false))];
        for question in questions {
            let (event, losses) = (interlingua_model::Event::Asked(question), std::mem::take(&mut self.losses));
            records.push(Record::Emitted { event, losses, raw: None });
        }
        records
    }
}

/// What a call comes to first.
enum Begin {
    Replied(Result<Replied, Fault>),
    Step(Step),
}

/// How long to wait before a server is asked about its task again.
pub(super) fn pause(asked_for: Option<Duration>) -> Duration {
    const SHORTEST: Duration = Duration::from_millis(50);
    const USUAL: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(30);
    asked_for.unwrap_or(USUAL).clamp(SHORTEST, LONGEST)
}
