//! One question to a site, from the call to the outcome.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::Dialect;
use crate::client::decode::{Replied, ReplyContext, Words};
use crate::client::{self, Question, encode};
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply as Told};
use interlingua_model::{
    Carried, Event, Fault, FaultKind, Feature, Finished, Loss, Outcome, PeerId, QuestionId, Record, Secret, Sent,
    Signal,
};
use interlingua_wire::hub_headers;
use tokio::time::Instant;

use super::conversations::Conversations;
use super::http::{Http, Received};
use super::promised::{self, Headers};
use super::stream::{Going, Stream};
use crate::settings;
use interlingua_hub::Hub;
use interlingua_net::client::call_failure::{self, CallFailure};
use interlingua_net::client::guard::Reach;
use interlingua_net::client::health::{Breaker, Probed, Went, knocked, refused};
use interlingua_net::client::http::Pool;
use interlingua_net::client::place::Own;
use interlingua_net::client::retry;
use interlingua_net::client::tls::{self, Trust as Whom};
use interlingua_net::client::transport_error::{TransportError, Why};

/// How long a site may take to hear that nobody waits for it.
const CANCEL: Duration = Duration::from_secs(10);

/// The generations in the order they are tried.
const TRIED: [Dialect; 2] = [Dialect::Named, Dialect::Flat];

/// A site that configuration names. Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub struct NlwebPeer {
    name: PeerId,
    http: Http,
    breaker: Breaker,
    hub: Weak<Hub>,
    timeout: Option<Duration>,
    /// Configuration says that it is a hub: what it says of its faults is believed.
    is_hub: bool,
    /// Which of [`TRIED`] it speaks, plus one; 0 until it has answered.
    spoken: AtomicU8,
    conversations: Conversations,
}

impl NlwebPeer {
    pub(super) fn new(
        hub: &Arc<Hub>,
        name: PeerId,
        config: &interlingua_settings::Peer,
        nlweb: &settings::NlwebPeer,
    ) -> Result<NlwebPeer, Fault> {
        let bad = |_| Fault::hub(FaultKind::Internal, format!("{} is not an address that can be called", nlweb.url));
        let door: http::Uri = nlweb.url.parse().map_err(bad)?;
        let own = Own::new(&name, &door, &config.origins);
        let reach = Reach::configured(hub, own.origins().to_vec());
        let tls = tls::config(&Whom::of(nlweb.ca.as_deref(), &door))?;
        let token = nlweb.token.as_ref().map(|token| token.expose().clone());
        Ok(NlwebPeer {
            name,
            http: Http::new(Pool::new(tls, hub.supervisor(), reach, hub.answers()), own, door, token),
            breaker: Breaker::new(),
            hub: Arc::downgrade(hub),
            timeout: config.timeout.map(|span| span.0),
            is_hub: config.hub,
            spoken: AtomicU8::new(0),
            conversations: Conversations::default(),
        })
    }

    pub(super) fn id(&self) -> &PeerId {
        &self.name
    }

    fn fault(&self, kind: FaultKind, what: &str) -> Fault {
        call_failure::fault(&self.name, kind, what)
    }

    async fn converse(self: Arc<Self>, dispatch: Dispatch) -> Result<Told, Fault> {
        let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
        if let Err(wait) = self.breaker.admit(Instant::now()) {
            return Err(self.down(&dispatch.by, wait));
        }
        let until = self.timeout.map(|timeout| Instant::now() + timeout);
        let asked = self.question(&hub, dispatch, until);
        match until {
            None => asked.await,
            Some(until) => tokio::time::timeout_at(until, asked)
                .await
                .unwrap_or_else(|_| CallFailure::Failed(call_failure::too_late(&self.name)).reply()),
        }
    }

    async fn question(
        self: &Arc<Self>,
        hub: &Arc<Hub>,
        dispatch: Dispatch,
        until: Option<Instant>,
    ) -> Result<Told, Fault> {
        let Carried { value: mut wanted, losses } = encode::call(&dispatch.call, dispatch.answering.as_deref())?;
        wanted.session = wanted.session.or_else(|| self.conversations.of(&dispatch));
        let headers = hub_headers::encode(&dispatch.call);
        let going = |dispatch| Going { peer: self.clone(), hub: Arc::downgrade(hub), dispatch, losses: losses.clone() };
        if let (Some(token), None) = (dispatch.remote.clone(), &dispatch.answering) {
            return Ok(promised::taken_up(hub, going(dispatch), headers, token, until));
        }
        let mut received = self.answered(hub, &wanted.question(), &headers).await?;
        Ok(match received.reply.promise.take() {
            Some(promise) => promised::live(hub, going(dispatch), headers, promise, until),
            None => self.arrived(hub, going(dispatch), received, until),
        })
    }

    /// What was answered, whole or as far as it has come.
    pub(super) fn arrived(
        self: &Arc<Self>,
        hub: &Arc<Hub>,
        going: Going,
        mut received: Received,
        until: Option<Instant>,
    ) -> Told {
        self.note(hub, Went::Reached { knock: None });
        if let Some(elsewhere) = self.http.take_elsewhere() {
            refused(hub, &self.name, &elsewhere.to_string());
        }
        match received.rest.take() {
            None => self.told(hub, &going.dispatch, received, going.losses, Words::Untold),
            Some(rest) => Told::Live(Box::new(Stream::new(going, received, rest, until))),
        }
    }

    /// Looks after what was promised.
    pub(super) async fn look(&self, token: &Secret, headers: &Headers) -> Result<Received, TransportError> {
        self.http.wait(&client::wait(token.text().unwrap_or_default(), false), headers).await
    }

    /// Nobody wants to know any more what was promised.
    pub(super) async fn cancel(&self, token: &Secret, headers: &Headers) -> Option<Received> {
        let body = client::wait(token.text().unwrap_or_default(), true);
        let told = tokio::time::timeout(CANCEL, self.http.wait(&body, headers)).await;
        let problem = match told {
            Ok(Ok(received)) => return Some(received),
            Ok(Err(lost)) => lost.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        tracing::warn!(event = "peer_cancel_not_delivered", peer = %self.name, problem, "a cancellation did not reach the peer; its job may still run");
        None
    }

    /// In the generation it speaks, or in each until one is understood.
    async fn answered(
        &self,
        hub: &Hub,
        question: &Question<'_>,
        headers: &[(&'static str, String)],
    ) -> Result<Received, Fault> {
        let known = usize::from(self.spoken.load(Ordering::Relaxed));
        if let Some(dialect) = known.checked_sub(1).and_then(|index| TRIED.get(index)) {
            return self.sent(hub, &question.request(*dialect), headers).await;
        }
        let mut last = None;
        for (number, dialect) in (1_u8..).zip(TRIED) {
            let received = self.sent(hub, &question.request(dialect), headers).await?;
            if !received.reply.wants_another_dialect(received.status) {
                self.spoken.store(number, Ordering::Relaxed);
                return Ok(received);
            }
            last.get_or_insert(received);
        }
        last.ok_or_else(|| self.fault(FaultKind::BadReply, "does not answer"))
    }

    /// To ask twice does no harm, so what was lost is asked again.
    async fn sent(
        &self,
        hub: &Hub,
        request: &client::Request,
        headers: &[(&'static str, String)],
    ) -> Result<Received, Fault> {
        let mut attempt = 1;
        loop {
            let lost = match self.http.ask(request, headers).await {
                Ok(received) => return Ok(received),
                Err(lost) => lost,
            };
            let Some(wait) = retry::after(&lost, attempt, true) else { return Err(self.lost(hub, &lost)) };
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    pub(super) fn lost(&self, hub: &Hub, lost: &TransportError) -> Fault {
        tracing::warn!(event = "peer_no_answer", peer = %self.name, cause = %lost, "the peer did not answer a request");
        if lost.why != Why::TooLarge {
            self.note(hub, Went::Missed);
        }
        CallFailure::lost(&self.name, lost, true).fault()
    }

    /// What an answer that has come whole leads to. A question that the caller has no way to answer is not asked.
    pub(super) fn told(
        &self,
        hub: &Hub,
        dispatch: &Dispatch,
        received: Received,
        mut losses: Vec<Loss>,
        words: Words,
    ) -> Told {
        let Received { status, reply, retry_after, .. } = received;
        // The task numbers its questions itself.
        let question = QuestionId(dispatch.task, 0);
        let leg =
            ReplyContext { peer: self.name.clone(), is_hub: self.is_hub, question, expires: hub.question_expires() };
        let said = leg.reply(&reply, status, retry_after, words);
        losses.extend(said.losses);
        match said.value {
            Replied::Finished(finished) if finished.outcome == Outcome::Completed => {
                self.conversations.keep(dispatch, &reply.session);
                let event = Event::Finished(*finished);
                Told::Live(Box::new(Said([Record::Emitted { event, losses, raw: None }].into())))
            }
            Replied::Finished(finished) => Told::Done(finished, None),
            Replied::Asked(question) if !dispatch.call.caller.is_answered_for(&question.kind) => {
                let text = format!("{} asks, and nobody here can answer: {}", self.name, question.text);
                Told::Done(Box::new(Finished::failed(Fault::caller(FaultKind::Unanswered, text))), None)
            }
            Replied::Asked(question) => {
                let sent = Record::Sent(Sent::learnt(dispatch.key.clone(), None, false));
                Told::Live(Box::new(Said([sent, Record::emitted(Event::Asked(*question))].into())))
            }
        }
    }
}

impl Peer for NlwebPeer {
    fn speaks(&self) -> Option<&'static str> {
        Some(crate::PROTOCOL)
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move { self.converse(dispatch).await })
    }
}

impl Probed for NlwebPeer {
    fn name(&self) -> &PeerId {
        &self.name
    }

    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    async fn probe(&self, hub: &Hub) {
        knocked(self, hub, self.http.address(), self.http.probe()).await;
    }
}

/// All that the site said, at once.
struct Said(VecDeque<Record>);

impl Duplex for Said {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        Poll::Ready(self.0.pop_front())
    }

    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), "the site has answered already"))
    }
}
