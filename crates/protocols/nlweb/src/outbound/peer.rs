//! One question to a site, from the call to what the hub is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::client::{self, Asks, Question, Reply, Session};
use crate::{APPROVAL, Dialect, Modes, fault};
use interlingua_model::json::Tree;
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply as Told};
use interlingua_model::{
    Addressee, Answer, Body, Confirm, Digest, Event, Fault, FaultKind, Feature, Finished, Loss, LossKind, Outcome,
    Output, Part, Party, PeerId, Provenance, Question as Asked, QuestionId, QuestionKind, Record, Retry, Schema,
    Secret, Sent, Signal, Trust,
};
use interlingua_wire::hub_headers;
use serde_json::json;
use tokio::time::Instant;

use super::conversations::Conversations;
use super::http::{Http, Received};
use super::promised::{self, Headers};
use super::stream::{ANSWER, Going, Stream};
use crate::settings;
use interlingua_hub::Hub;
use interlingua_net::client::call_failure::{self, Ended};
use interlingua_net::client::guard::Reach;
use interlingua_net::client::health::{Breaker, Probed, Went, knocked, refused};
use interlingua_net::client::http::Pool;
use interlingua_net::client::place::Own;
use interlingua_net::client::retry;
use interlingua_net::client::tls::{self, Trust as Whom};
use interlingua_net::client::transport_error::{Lost, Why};

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
                .unwrap_or_else(|_| Ended::Failed(call_failure::too_late(&self.name)).reply()),
        }
    }

    async fn question(
        self: &Arc<Self>,
        hub: &Arc<Hub>,
        dispatch: Dispatch,
        until: Option<Instant>,
    ) -> Result<Told, Fault> {
        let mut wanted = Wanted::of(&dispatch)?;
        wanted.session = wanted.session.or_else(|| self.conversations.of(&dispatch));
        let headers = hub_headers::encode(&dispatch.call);
        let going =
            |dispatch| Going { peer: self.clone(), hub: Arc::downgrade(hub), dispatch, losses: wanted.losses.clone() };
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
            None => self.told(hub, &going.dispatch, received, going.losses, Text::Untold),
            Some(rest) => Told::Live(Box::new(Stream::new(going, received, rest, until))),
        }
    }

    /// Looks after what was promised.
    pub(super) async fn look(&self, token: &Secret, headers: &Headers) -> Result<Received, Lost> {
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

    pub(super) fn lost(&self, hub: &Hub, lost: &Lost) -> Fault {
        tracing::warn!(event = "peer_no_answer", peer = %self.name, cause = %lost, "the peer did not answer a request");
        if lost.why != Why::TooLarge {
            self.note(hub, Went::Missed);
        }
        Ended::lost(&self.name, lost, true).fault()
    }

    /// What an answer that has come whole leads to.
    pub(super) fn told(
        &self,
        hub: &Hub,
        dispatch: &Dispatch,
        received: Received,
        mut losses: Vec<Loss>,
        text: Text,
    ) -> Told {
        let Received { status, reply, retry_after, .. } = received;
        let failed = |fault: Fault| Told::Done(Box::new(Finished::failed(fault)), None);
        if let Some((code, message)) = &reply.failure {
            return match code.as_str() {
                "CANCELLED" => {
                    let by = Party::Peer(self.name.clone());
                    Told::Done(Box::new(Finished::cancelled(by, interlingua_model::CancelWhy::Asked)), None)
                }
                _ if self.is_hub => failed(fault::of_hubs_code(&self.name, code, message)),
                _ => failed(fault::of_code(&self.name, code, message)),
            };
        }
        if status == 429 || status == 503 {
            return failed(self.fault(FaultKind::Busy, "is busy").retry(Retry::After(retry_after)));
        }
        if !reply.is_understood() {
            return failed(
                self.fault(FaultKind::BadReply, &format!("does not answer as a site that can be asked ({status})")),
            );
        }
        if let Some((text, asks)) = &reply.questions {
            return self.asks(hub, dispatch, text, asks, &reply.session);
        }
        if reply.cut {
            losses.push(Loss::new("output.items", LossKind::Dropped));
        }
        if interlingua_model::plain_text::is_cut(&reply.text.join("\n")) {
            losses.push(Loss::new("output.text", LossKind::Dropped));
        }
        if self.is_hub {
            losses.extend(reply.losses.iter().cloned());
        }
        self.conversations.keep(dispatch, &reply.session);
        let output = self.output(&reply, text);
        let finished = Event::Finished(Finished { outcome: Outcome::Completed, output, usage: Default::default() });
        Told::Live(Box::new(Said([Record::Emitted { event: finished, losses, raw: None }].into())))
    }

    /// What a site says of the world: data, never instructions.
    pub(super) fn provenance(&self) -> Provenance {
        Provenance { by: Party::Peer(self.name.clone()), source: None, trust: Trust::World }
    }

    /// Items as data, words as text.
    fn output(&self, reply: &Reply, text: Text) -> Output {
        let structured = reply.structured();
        let data = Part::new(Body::Data(structured.clone()), self.provenance());
        let words = reply.text.join("\n");
        let (said, parts) = match text {
            _ if words.is_empty() => (None, vec![data]),
            Text::Told => (Some(ANSWER.into()), vec![data]),
            Text::Untold => {
                let words = Part::text(interlingua_model::plain_text::clean(&words), self.provenance());
                (None, vec![words, data])
            }
        };
        Output { said, parts, structured: Some(structured), ..Output::default() }
    }

    /// A form of one field for each question. A hub that asks for approval has one question for it, of a name of its own.
    fn kind(&self, text: &str, asks: &[Asks]) -> QuestionKind {
        if let [ask] = asks
            && self.is_hub
            && ask.id == APPROVAL
        {
            let shown = Digest::of_fields([text.as_bytes(), ask.text.as_bytes()]);
            return QuestionKind::Confirm(Confirm::asked_by(&self.name, shown, None, None).into());
        }
        let mut properties = serde_json::Map::new();
        for ask in asks {
            let mut one = json!({"type": "string"});
            if !ask.options.is_empty() {
                one["enum"] = ask.options.clone().into();
            }
            let mut property = if ask.several { json!({"type": "array", "items": one}) } else { one };
            property["description"] = ask.text.as_str().into();
            properties.insert(ask.id.clone(), property);
        }
        let required: Vec<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
        let form = json!({"type": "object", "properties": properties, "required": required});
        QuestionKind::Input { form: Schema(form.into()), choices: Vec::new() }
    }

    fn asks(&self, hub: &Hub, dispatch: &Dispatch, text: &str, asks: &[Asks], session: &Session) -> Told {
        let kind = self.kind(text, asks);
        if !dispatch.call.caller.is_answered_for(&kind) {
            let text = format!("{} asks, and nobody here can answer: {text}", self.name);
            return Told::Done(Box::new(Finished::failed(Fault::caller(FaultKind::Unanswered, text))), None);
        }
        let resume = json!({"conversation": session.conversation, "state": session.state}).to_string();
        let question = Asked {
            // The task numbers its questions itself.
            id: QuestionId(dispatch.task, 0),
            to: Addressee::Caller,
            kind,
            text: interlingua_model::plain_text::clean(text).into(),
            asked_by: Party::Peer(self.name.clone()),
            expires: hub.question_expires(),
            resume: Some(Secret::new(&resume)),
            name: None,
        };
        let asked = Record::Emitted { event: Event::Asked(question), losses: Vec::new(), raw: None };
        Told::Live(Box::new(Said([Record::Sent(Sent::learnt(dispatch.key.clone(), None, false)), asked].into())))
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

/// Whether the words of an answer were passed on as they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Told,
    Untold,
}

/// What a call wants to know.
struct Wanted {
    text: String,
    site: Option<String>,
    prev: Vec<String>,
    modes: Modes,
    session: Option<Session>,
    losses: Vec<Loss>,
}

impl Wanted {
    fn of(dispatch: &Dispatch) -> Result<Wanted, Fault> {
        let unsupported =
            || Fault::hub(FaultKind::Unsupported(Feature::Operation), "a site can be asked, and nothing else");
        let input = dispatch.call.input().ok_or_else(unsupported)?;
        let arg =
            |name: &str| input.args.as_ref().and_then(|args| args.get(name)).and_then(Tree::as_str).map(str::to_owned);
        let (mut text, mut session) = (arg("query").unwrap_or_else(|| input.words().into_owned()), None);
        if let Some(answering) = &dispatch.answering {
            text = spoken(&answering.question.kind, &answering.answer).unwrap_or(text);
            session = answering.question.resume.as_ref().and_then(Secret::text).and_then(resumed);
        }
        if text.trim().is_empty() {
            return Err(Fault::caller(FaultKind::InvalidInput, "there is nothing to ask").field("query", "is missing"));
        }
        let mode = arg("mode").unwrap_or_default();
        let earlier = |turn: &interlingua_model::Turn| {
            let words: Vec<&str> = turn.parts.iter().filter_map(Part::as_text).collect();
            words.join(" ")
        };
        let mut losses = input.lost_marks();
        losses.extend(input.lost_but_words());
        Ok(Wanted {
            text,
            site: arg("site"),
            prev: input.history.iter().map(earlier).collect(),
            modes: Modes { summarize: mode == "summarize", generate: mode == "generate" },
            session,
            losses,
        })
    }

    fn question(&self) -> Question<'_> {
        Question {
            text: &self.text,
            site: self.site.as_deref(),
            prev: self.prev.iter().map(String::as_str).collect(),
            modes: self.modes,
            session: self.session.clone(),
        }
    }
}

/// An answer in words: as it was said, or the values that were given.
fn spoken(question: &QuestionKind, answer: &Answer) -> Option<String> {
    let input = match (question, answer) {
        (QuestionKind::Confirm(_), Answer::Granted) => return Some("yes".into()),
        (QuestionKind::Confirm(_), _) => return Some("no".into()),
        (_, Answer::Given(input)) => input,
        (_, Answer::Granted | Answer::Token(_) | Answer::Visited | Answer::Declined | Answer::Dismissed) => {
            return None;
        }
    };
    let Some(values) = input.args.as_ref().and_then(|args| args.tree().as_object()) else {
        return Some(input.words().into_owned());
    };
    let one = |value: &Tree| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let said = values.values().flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    Some(said.map(one).collect::<Vec<_>>().join(", "))
}

fn resumed(text: &str) -> Option<Session> {
    let kept: Tree = serde_json::from_str(text).ok()?;
    let text = |key: &str| kept.get(key).and_then(Tree::as_str).map(str::to_owned);
    Some(Session { conversation: text("conversation"), state: text("state") })
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
