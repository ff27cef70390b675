//! One outbound call, with retry: a message out, a message back, and the credentials that either side requires.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::client::{self, Replied, ReplyContext, TokenJar, Tongue, decode, encode};
use crate::decode::TaskWish;
use crate::encode::NoAddresses;
use crate::labels;
use crate::wire::{Message, Submessage};
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply, Standing};
use interlingua_model::{
    Answer, Call, Carried, Fault, FaultKind, HubId, Loss, LossKind, Party, PeerId, Priority, Question, QuestionId,
    QuestionKind, Secret,
};
use interlingua_wire::hub_headers;
use tokio::time::Instant;

use super::address::Address;
use super::follow;
use super::http::Http;
use super::large::Uploads;
use super::legs::{Kept, LegKey, Legs};
use super::reply::Heard;
use super::socket::{Framing, Sockets};
use super::transport::{LIMITS, Received, Transport};
use crate::settings::{self, Binding};
use interlingua_hub::Hub;
use interlingua_net::client::call_failure::{self, CallFailure};
use interlingua_net::client::guard::Reach;
use interlingua_net::client::health::{Breaker, Probed, Went, knocked};
use interlingua_net::client::place::Own;
use interlingua_net::client::retry;
use interlingua_net::client::tls::{self, Trust};
use interlingua_net::client::transport_error::Why;

/// An NLIP agent that configuration names. Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub struct NlipPeer {
    pub(super) name: PeerId,
    pub(super) address: Address,
    /// Which addresses that it names are its own.
    pub(super) own: Own,
    pub(super) transport: Transport,
    pub(super) breaker: Breaker,
    pub(super) uploads: Uploads,
    hub: Weak<Hub>,
    legs: Legs,
    tongue: Tongue,
    pub(super) token: Option<Secret>,
    timeout: Option<Duration>,
}

impl NlipPeer {
    pub(super) fn new(
        hub: &Arc<Hub>,
        name: PeerId,
        config: &interlingua_settings::Peer,
        nlip: &settings::NlipPeer,
    ) -> Result<NlipPeer, Fault> {
        let address = Address::of(nlip)?;
        let tls = tls::config(&Trust::of(nlip.ca.as_deref(), &address.origin))?;
        let own = Own::new(&name, &address.origin, &config.origins);
        let reach = Reach::configured(hub, own.origins().to_vec());
        let sockets = |framing| Sockets::new(&address, tls.clone(), framing, reach.clone(), hub.answers());
        let sockets = match nlip.binding() {
            Binding::Http => None,
            Binding::Ws => Some(sockets(Framing::Cbor)),
            Binding::WsText => Some(sockets(Framing::Json)),
        };
        Ok(NlipPeer {
            transport: Transport { http: Http::new(&address, tls, hub.supervisor(), reach, hub.answers()), sockets },
            name,
            address,
            own,
            breaker: Breaker::new(),
            uploads: Uploads::default(),
            hub: Arc::downgrade(hub),
            legs: Legs { records: hub.store_records().clone(), keys: hub.keys().clone() },
            tongue: if config.hub { Tongue::Hub } else { Tongue::Plain },
            token: nlip.token.as_ref().map(|token| token.expose().clone()),
            timeout: config.timeout.map(|span| span.0),
        })
    }

    fn fault(&self, kind: FaultKind, what: &str) -> Fault {
        call_failure::fault(&self.name, kind, what)
    }

    async fn converse(self: Arc<Self>, dispatch: Dispatch) -> Result<Reply, Fault> {
        let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
        if let Err(wait) = self.breaker.admit(Instant::now()) {
            return Err(self.down(&dispatch.by, wait));
        }
        let talk = OutboundCall::begin(self.clone(), hub, dispatch).await?;
        let Some(until) = talk.until else { return talk.run().await };
        match tokio::time::timeout_at(until, talk.run()).await {
            Ok(reply) => reply,
            Err(_) => CallFailure::Failed(call_failure::too_late(&self.name)).reply(),
        }
    }
}

impl Probed for NlipPeer {
    fn name(&self) -> &PeerId {
        &self.name
    }

    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// Knocks at the agent's door.
    async fn probe(&self, hub: &Hub) {
        let http = &self.transport.http;
        knocked(self, hub, http.door(), http.probe()).await;
        if let Some(sockets) = &self.transport.sockets {
            sockets.sweep();
        }
    }
}

impl Peer for NlipPeer {
    fn speaks(&self) -> Option<&'static str> {
        Some(crate::PROTOCOL)
    }

    fn standing(&self) -> Option<Standing> {
        self.breaker.standing()
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move { self.converse(dispatch).await })
    }
}

/// One call to the peer, in progress.
pub(super) struct OutboundCall {
    pub(super) peer: Arc<NlipPeer>,
    pub(super) hub: Arc<Hub>,
    pub(super) dispatch: Dispatch,
    /// When the agent must have answered.
    pub(super) until: Option<Instant>,
    key: LegKey,
    /// The jar as the store has it.
    kept: Kept,
    pub(super) jar: TokenJar,
    headers: Vec<(&'static str, String)>,
    pub(super) losses: Vec<Loss>,
}

impl OutboundCall {
    async fn begin(peer: Arc<NlipPeer>, hub: Arc<Hub>, dispatch: Dispatch) -> Result<OutboundCall, Fault> {
        let task = dispatch.task.to_string();
        let within = dispatch.call.remembered_by(&dispatch.by).map_or(task.as_str(), |id| id.as_str());
        let origin = peer.address.origin.to_string();
        let key = LegKey::new(&peer.name, &origin, &dispatch.by.owner(), within);
        let kept = peer.legs.load(&key, hub.now()).await?;
        let mut jar = kept.jar.clone();
        // What is configured is shown unless the caller has shown something better in this conversation.
        if let Some(token) = peer.token.as_ref().and_then(Secret::text).filter(|_| !jar.presents()) {
            jar.present(token);
        }
        let headers = hub_headers::encode(&dispatch.call);
        let until = peer.timeout.map(|timeout| Instant::now() + timeout);
        Ok(OutboundCall { peer, hub, dispatch, until, key, kept, jar, headers, losses: Vec::new() })
    }

    async fn run(mut self) -> Result<Reply, Fault> {
        if let (Some(remote), None) = (self.dispatch.remote.clone(), &self.dispatch.answering) {
            return Ok(follow::taken_up(self, remote));
        }
        match self.heard().await {
            Ok(Heard { said: Carried { value: Replied::GoesOn(goes_on), losses }, .. }) => {
                self.losses.extend(losses);
                Ok(follow::live(self, goes_on))
            }
            Ok(heard) => Ok(heard.reply(&self.dispatch, self.losses)),
            Err(ended) => ended.reply(),
        }
    }

    /// A message about a task that goes on at the agent.
    pub(super) async fn about(&mut self, task: &str, wish: TaskWish) -> Result<Heard, CallFailure> {
        let message = encode::about(task, wish, &self.jar);
        let received = self.exchange(&message, true).await?;
        self.understand(received).await
    }

    /// The agent's last word. A credential it asks for is shown at once where one is configured; one that does not satisfy
    /// it is the caller's to replace.
    async fn heard(&mut self) -> Result<Heard, CallFailure> {
        let answering = self.dispatch.answering.take();
        let heard = match answering {
            None => self.say_call().await?,
            Some(mut answering) => {
                if let Answer::Given(input) = &mut answering.answer {
                    self.place(&mut input.parts).await?;
                }
                self.say_answer(&answering.question, &answering.answer).await?
            }
        };
        match (heard.wanted_credential(), self.peer.token.clone()) {
            (Some(question), Some(token)) => {
                let question = question.clone();
                self.say_answer(&question, &Answer::Token(token)).await
            }
            (Some(_), None) | (None, _) => Ok(heard),
        }
    }

    async fn say_call(&mut self) -> Result<Heard, CallFailure> {
        let mut call: Call = (*self.dispatch.call).clone();
        if let interlingua_model::Ask::Invoke { input, .. } = &mut call.ask {
            self.place(&mut input.parts).await?;
            for turn in &mut input.history {
                self.place(&mut turn.parts).await?;
            }
        }
        let said = encode::call(&call, self.peer.tongue, &self.jar, &NoAddresses)?;
        self.losses = said.losses;
        let mut message = said.value;
        if !self.peer.transport.carries_headers() {
            self.put_hop_into(&mut message);
        }
        self.say(&message).await
    }

    /// On a WebSocket no header goes with a message: the way taken and what led to the call go in it, to those who know them; the
    /// rest is lost.
    fn put_hop_into(&mut self, message: &mut Message) {
        let call = &self.dispatch.call;
        if let Some(via) = call.via.as_ref().filter(|_| self.peer.tongue == Tongue::Hub) {
            let hubs: Vec<&str> = via.hubs.iter().map(HubId::as_str).collect();
            let via = serde_json::json!({"via": hubs});
            message.submessages.push(Submessage::json(via.into()).labelled(labels::VIA));
        }
        if self.peer.tongue == Tongue::Hub {
            let origin: serde_json::Value = call.origin.tell().into();
            message.submessages.push(Submessage::json(origin.into()).labelled(labels::ORIGIN));
        }
        if call.limits.priority != Priority::NORMAL {
            self.losses.push(Loss::new("call.priority", LossKind::Dropped));
        }
    }

    async fn say_answer(&mut self, question: &Question, answer: &Answer) -> Result<Heard, CallFailure> {
        let said = encode::answer(question, answer, &mut self.jar, &NoAddresses)?;
        self.losses.extend(said.losses);
        let heard = self.say(&said.value).await?;
        // The agent took the credential and said so; what it was asked is still to be said.
        if matches!(answer, Answer::Token(_)) && heard.acknowledges() {
            return self.say_call().await;
        }
        Ok(heard)
    }

    async fn say(&mut self, message: &Message) -> Result<Heard, CallFailure> {
        let received = self.exchange(message, self.dispatch.skill.effects.idempotent).await?;
        self.understand(received).await
    }

    /// One message there and back, tried again where that does no harm.
    pub(super) async fn exchange(&mut self, message: &Message, repeatable: bool) -> Result<Received, CallFailure> {
        let mut attempt = 1;
        loop {
            let lost = match self.peer.transport.exchange(&self.key, message, &self.headers).await {
                Ok(received) => {
                    self.peer.note(&self.hub, Went::Reached { knock: None });
                    return Ok(received);
                }
                Err(lost) => lost,
            };
            tracing::warn!(event = "peer_no_answer", peer = %self.peer.name, attempt, cause = %lost, "the peer did not answer a request");
            if lost.why != Why::TooLarge {
                self.peer.note(&self.hub, Went::Missed);
            }
            let Some(wait) = retry::after(&lost, attempt, repeatable) else {
                return Err(CallFailure::lost(&self.peer.name, &lost, repeatable));
            };
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    /// Keeps the tokens of a reply, then reads it. Tokens are written down before anybody sees the answer.
    async fn understand(&mut self, received: Received) -> Result<Heard, CallFailure> {
        let (success, status, retry_after) = (received.is_success(), received.status, received.retry_after);
        let message = match received.message {
            Ok(message) => Some(message),
            Err(invalid) if success => {
                let text = format!("does not answer as an NLIP agent: {invalid}");
                return Err(CallFailure::Failed(self.peer.fault(FaultKind::BadReply, &text)));
            }
            Err(_) => None,
        };
        if let Some(message) = &message {
            self.take_tokens(message).await?;
        }
        let leg = self.leg();
        match message {
            Some(message) if success => {
                let control = message.is_control();
                let mut said = decode::reply(message, &leg);
                if let Replied::Finished(finished) = &mut said.value {
                    self.hub.store_large_answer(&mut finished.output.parts).await?;
                }
                Ok(Heard { said, control })
            }
            message => self.refused(status, message.as_ref(), retry_after, &leg),
        }
    }

    /// An HTTP status other than success. One that asks for credentials asks the caller, where there is one to ask.
    #[expect(clippy::result_large_err, reason = "how every call of a peer ends; made once a call")]
    fn refused(
        &self,
        status: u16,
        message: Option<&Message>,
        retry_after: Option<Duration>,
        leg: &ReplyContext,
    ) -> Result<Heard, CallFailure> {
        let fault = decode::refused(status, message, retry_after, leg);
        let kind = QuestionKind::Credential { scheme: "token".into(), scopes: Vec::new() };
        match fault.kind {
            FaultKind::Unauthenticated if self.dispatch.call.caller.can_answer.has(kind.set()) => {
                let question = Question {
                    id: leg.question,
                    to: interlingua_model::Addressee::Caller,
                    kind,
                    text: format!("{} wants to know who you are.", self.peer.name).into(),
                    asked_by: Party::Peer(self.peer.name.clone()),
                    expires: leg.expires,
                    resume: None,
                    name: None,
                };
                let said = Carried::whole(Replied::Asked(Box::new(question)));
                Ok(Heard { said, control: true })
            }
            FaultKind::Busy => Err(CallFailure::Refused(fault)),
            _ => Err(CallFailure::Failed(fault)),
        }
    }

    pub(super) async fn take_tokens(&mut self, message: &Message) -> Result<(), CallFailure> {
        if let Err(full) = self.jar.absorb(message) {
            let text = format!("does not answer as it should: {full}");
            return Err(CallFailure::Failed(self.peer.fault(FaultKind::BadReply, &text)));
        }
        let span = self.hub.settings().conversations;
        let kept = self.peer.legs.keep(&self.key, &self.kept, &self.jar, self.hub.now(), span).await;
        Ok(kept.map_err(Fault::once_answered)?)
    }

    fn leg(&self) -> client::ReplyContext {
        ReplyContext {
            peer: self.peer.name.clone(),
            tongue: self.peer.tongue,
            // The task numbers its questions itself.
            question: QuestionId(self.dispatch.task, 0),
            expires: self.hub.question_expires(),
            depth: LIMITS.depth,
        }
    }
}
