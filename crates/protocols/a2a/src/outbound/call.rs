//! One outbound call, with retry and fallback: sent by the first interface that accepts it, again where that does no harm. The answer comes
//! at once, or a [`super::follow`] follows the task.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::client::encode::{self, Answered, Recipient};
use crate::client::fault::Why;
use crate::client::follow::Teller;
use crate::client::remote::Remote;
use crate::client::{Ask, Following, Told};
use crate::wire::{Send, Update};
use http::{HeaderMap, HeaderName, HeaderValue};
use interlingua_model::peer::{Dispatch, Reply};
use interlingua_model::{
    Answer, Ask as Wanted, Blob, Body, DeadlineBy, Event, Fault, FaultKind, Loss, Part, Record, Secret, Text,
};
use interlingua_wire::hub_headers;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::events::Events;
use super::follow;
use super::interface::{Heard, InterfaceClient, Trouble};
use super::known::Known;
use super::legs::LegKey;
use super::peer::A2aPeer;
use interlingua_hub::Hub;
use interlingua_net::client::call_failure::{self, CallFailure};
use interlingua_net::client::health::{Probed, Went};
use interlingua_net::client::live::{late, told};
use interlingua_net::client::retry;
use interlingua_net::client::transport_error::{self, Begun, TransportError};

/// Content goes inside a message, in base64: so much of it and no more.
const MOST_INLINE: u64 = 16 << 20;
/// How long an agent may take to say how a task stands, or to cancel it.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// One call to the peer, in progress.
pub(super) struct OutboundCall {
    pub(super) peer: Arc<A2aPeer>,
    pub(super) hub: Arc<Hub>,
    pub(super) known: Arc<Known>,
    pub(super) dispatch: Dispatch,
    pub(super) following: Following,
    pub(super) losses: Vec<Loss>,
    /// What configuration allows one call.
    pub(super) until: Option<Instant>,
    /// Which interface it goes by.
    line: usize,
    /// What the way here says.
    travel: HeaderMap,
    /// What the caller answered when the agent asked who it is.
    credential: Option<Secret>,
    leg: Option<LegKey>,
    context: Option<Text>,
    /// That the agent's conversation is being written down.
    keeping: Option<oneshot::Receiver<Result<(), Fault>>>,
}

/// What a call comes to first.
enum Begin {
    Heard(Box<Update>, Option<Box<Events>>),
    /// The agent knows it: how it stands is asked for.
    Attach,
}

impl OutboundCall {
    pub(super) async fn new(
        peer: Arc<A2aPeer>,
        hub: Arc<Hub>,
        known: Arc<Known>,
        dispatch: Dispatch,
    ) -> Result<OutboundCall, Fault> {
        let owner = dispatch.by.owner();
        let leg = dispatch.call.remembered_by(&dispatch.by).map(|conversation| {
            let (address, owner) = (peer.address.origin.to_string(), owner.to_string());
            LegKey::new([peer.name.as_str(), &address, &owner, conversation.as_str()])
        });
        let context = match &leg {
            Some(leg) => leg.load(&hub).await?,
            None => None,
        };
        let teller = Teller {
            peer: peer.name.clone(),
            speaks_ours: known.card.hub.is_some(),
            is_hub: peer.config.hub,
            task: dispatch.task,
            owner,
        };
        let remote = dispatch.remote.as_ref().and_then(Remote::open);
        let until = peer.timeout.map(|span| Instant::now() + span);
        let (travel, line) = (travel(&dispatch), peer.chosen.load(Ordering::Relaxed) % known.lines.len().max(1));
        let following = Following::new(teller, remote);
        let losses = Vec::new();
        let (credential, keeping) = (None, None);
        Ok(OutboundCall {
            peer,
            hub,
            known,
            dispatch,
            following,
            losses,
            until,
            line,
            travel,
            credential,
            leg,
            context,
            keeping,
        })
    }

    pub(super) async fn run(mut self) -> Result<Reply, Fault> {
        let until = self.until;
        let begun = tokio::select! {
            begun = self.begin() => begun,
            () = late(until) => Err(CallFailure::Failed(self.too_late())),
        };
        match begun {
            Ok(Begin::Attach) => Ok(follow::live(self, Vec::new(), None)),
            Ok(Begin::Heard(update, events)) => self.heard(*update, events).await,
            Err(ended) => ended.reply(),
        }
    }

    /// What came first. Most agents that answer at once have no more to say.
    async fn heard(mut self, update: Update, events: Option<Box<Events>>) -> Result<Reply, Fault> {
        let heard = match self.hear(update) {
            Ok(heard) => heard,
            Err(fault) => return CallFailure::Failed(fault).reply(),
        };
        match <[Told; 1]>::try_from(heard) {
            Ok([Told::Finished(mut finished, losses)]) => {
                self.keep_context();
                self.context_kept().await?;
                self.hub.store_large_answer(&mut finished.output.parts).await?;
                self.losses.extend(losses);
                if self.losses.is_empty() {
                    return Ok(Reply::Done(finished, None));
                }
                let losses = std::mem::take(&mut self.losses);
                Ok(told(vec![Record::Emitted { event: Event::Finished(*finished), losses, raw: None }]))
            }
            Ok([other]) => Ok(follow::live(self, vec![other], events)),
            Err(heard) => Ok(follow::live(self, heard, events)),
        }
    }

    async fn begin(&mut self) -> Result<Begin, CallFailure> {
        let Some(answering) = self.dispatch.answering.take() else {
            if self.dispatch.remote.is_some() {
                return match self.following.remote() {
                    Some(_) => Ok(Begin::Attach),
                    None => Err(CallFailure::Failed(self.unknown())),
                };
            }
            let send = self.message().await?;
            return self.open(&send).await;
        };
        let mut answer = answering.answer;
        if let Answer::Given(input) = &mut answer {
            self.bring(&mut input.parts).await?;
        }
        let said = encode::answer(&answering.question, &answer, &answering.message, &self.leg());
        self.losses.extend(said.losses);
        match said.value {
            Answered::Say(send, credential) => {
                self.credential = credential;
                self.open(&send).await
            }
            Answered::Decline => {
                self.let_go().await;
                Err(CallFailure::Failed(self.unanswered(&answering.question.text)))
            }
        }
    }

    async fn message(&mut self) -> Result<Send, CallFailure> {
        let mut call = self.dispatch.call.clone();
        if let Wanted::Invoke { input, .. } = &mut call.ask {
            self.bring(&mut input.parts).await?;
        }
        let said = encode::call(&call, &self.dispatch.skill, &self.dispatch.key, &self.leg())?;
        self.losses.extend(said.losses);
        Ok(said.value)
    }

    pub(super) fn leg(&self) -> Recipient<'_> {
        let remote = self.following.remote();
        let context = remote.and_then(|remote| remote.context.clone()).or_else(|| self.context.clone());
        Recipient { card: &self.known.card, context, task: remote.map(|remote| remote.task.clone()) }
    }

    /// An agent cannot fetch from the hub's store: what is there goes inside.
    pub(super) async fn bring(&self, parts: &mut [Part]) -> Result<(), Fault> {
        for part in parts {
            let Body::Blob(Blob::Stored { digest, len }) = part.body else { continue };
            if len > MOST_INLINE {
                let text = format!("{len} bytes are too many for a message to {}", self.peer.name);
                return Err(Fault::caller(FaultKind::TooLarge, text));
            }
            let limit = usize::try_from(len).unwrap_or(usize::MAX);
            let bytes = self.hub.blobs().read(digest, 0, limit).await?;
            part.body = Body::Blob(Blob::Inline(bytes));
        }
        Ok(())
    }

    /// Sends a message and waits for what comes first. What cannot have reached the agent is tried by its other interfaces,
    /// then again.
    async fn open(&mut self, send: &Send) -> Result<Begin, CallFailure> {
        let mut attempt = 1;
        loop {
            let trouble = match self.by_any_line(send).await {
                Ok(begin) => return Ok(begin),
                Err(trouble) => trouble,
            };
            let Trouble::Lost(lost) = trouble else { return Err(self.ended(trouble)) };
            tracing::warn!(event = "peer_no_answer", peer = %self.peer.name, attempt, cause = %lost, "the peer did not answer a request");
            if lost.why == transport_error::Why::Connection {
                self.peer.note(&self.hub, Went::Missed);
            }
            let Some(wait) = retry::after(&lost, attempt, self.repeatable()) else {
                return Err(self.ended(Trouble::Lost(lost)));
            };
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn by_any_line(&mut self, send: &Send) -> Result<Begin, Trouble> {
        let (first, count) = (self.line, self.known.lines.len());
        let mut last = None;
        for offset in 0..count {
            self.line = (first + offset) % count;
            match self.by_line(send).await {
                Ok(begin) => {
                    self.peer.chosen.store(self.line, Ordering::Relaxed);
                    self.peer.note(&self.hub, Went::Reached { knock: None });
                    return Ok(begin);
                }
                // Nobody has looked at it there.
                Err(Trouble::Refused(refusal)) if refusal.is_elsewhere() => {
                    self.peer.again.notify_one();
                    last = Some(Trouble::Refused(refusal));
                }
                Err(Trouble::Lost(lost)) if lost.begun == Begun::No => {
                    last = last.or(Some(Trouble::Lost(lost)));
                }
                Err(trouble) => return Err(trouble),
            }
        }
        Err(last.unwrap_or_else(|| Trouble::Lost(TransportError::unconnected("it has no interface"))))
    }

    /// By a stream where the card promises one. A card may promise too much.
    async fn by_line(&self, send: &Send) -> Result<Begin, Trouble> {
        if self.known.card.streaming {
            match self.first(&Ask::Stream(send)).await {
                Err(Trouble::Refused(refusal))
                    if matches!(refusal.why, Why::Unsupported | Why::Method) && send.message.task.is_none() => {}
                heard => return heard,
            }
        }
        self.first(&Ask::Send(send)).await
    }

    async fn first(&self, ask: &Ask<'_>) -> Result<Begin, Trouble> {
        match self.ask(ask).await? {
            Heard::Update(update) => Ok(Begin::Heard(update, None)),
            Heard::Stream(mut events) => match events.next().await? {
                Some(update) => Ok(Begin::Heard(Box::new(update), Some(events))),
                None => Err(TransportError::broken("the stream ended before it began").into()),
            },
        }
    }

    fn line(&self) -> &InterfaceClient {
        &self.known.lines[self.line]
    }

    /// One request on the line this call goes by.
    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Result<Heard, Trouble> {
        let line = self.line();
        let mut headers = line.headers(self.known.card.hub.is_some());
        headers.extend(self.travel.clone());
        self.known.credentials.apply(&mut headers);
        if let Some(token) = self.credential.as_ref().and_then(Secret::text)
            && let Ok(mut value) = HeaderValue::try_from(format!("Bearer {token}"))
        {
            value.set_sensitive(true);
            headers.insert(http::header::AUTHORIZATION, value);
        }
        line.ask(&self.peer.ways, ask, &headers, self.left()).await
    }

    /// How long an answer is waited for at most, where configuration or the caller says so.
    fn left(&self) -> Option<Duration> {
        let configured = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let deadline = self.dispatch.call.limits.deadline.filter(|deadline| deadline.set_by == DeadlineBy::Caller);
        let asked = deadline.map(|deadline| deadline.at.until(self.hub.now()));
        [configured, asked].into_iter().flatten().min()
    }

    /// Of a task; the answer to these is never a stream, and comes soon or not at all.
    pub(super) async fn ask_soon(&self, ask: &Ask<'_>) -> Result<Update, Trouble> {
        match tokio::time::timeout(PATIENCE, self.ask(ask)).await {
            Ok(Ok(Heard::Update(update))) => Ok(*update),
            Ok(Ok(Heard::Stream(_))) => Err(TransportError::broken("a stream where there is none").into()),
            Ok(Err(trouble)) => Err(trouble),
            Err(late) => Err(TransportError::broken(late).into()),
        }
    }

    pub(super) fn shows(&mut self, credential: Option<Secret>) {
        self.credential = credential.or(self.credential.take());
    }

    pub(super) fn hear(&mut self, update: Update) -> Result<Vec<Told>, Fault> {
        self.following.hear(update, self.hub.question_expires())
    }

    /// The next call of this conversation goes on in the agent's. It is written down while the agent works.
    pub(super) fn keep_context(&mut self) {
        let (Some(leg), Some(context)) = (self.leg.clone(), self.following.context().cloned()) else { return };
        if self.context.as_ref() == Some(&context) {
            return;
        }
        self.context = Some(context.clone());
        let (hub, (kept, keeping)) = (self.hub.clone(), oneshot::channel());
        self.hub.spawn(async move { drop(kept.send(leg.keep(&hub, &context).await)) });
        self.keeping = Some(keeping);
    }

    /// Before the caller is told anything that it may answer, or that it may call again after.
    pub(super) async fn context_kept(&mut self) -> Result<(), Fault> {
        match self.keeping.take() {
            Some(keeping) => keeping.await.unwrap_or(Ok(())),
            None => Ok(()),
        }
    }

    /// Tells the agent that nobody wants its task any more.
    pub(super) async fn let_go(&self) {
        let Some(remote) = self.following.remote() else { return };
        if let Err(trouble) = self.ask_soon(&Ask::Cancel { task: &remote.task }).await {
            tracing::debug!(peer = %self.peer.name, ?trouble, "a task was not cancelled");
        }
    }

    pub(super) fn repeatable(&self) -> bool {
        self.dispatch.skill.effects.idempotent
    }

    pub(super) fn unanswered(&self, question: &str) -> Fault {
        let text = format!("{} asks, and nobody here can answer: {question}", self.peer.name);
        Fault::caller(FaultKind::Unanswered, text)
    }

    pub(super) fn too_late(&self) -> Fault {
        call_failure::too_late(&self.peer.name)
    }

    pub(super) fn unknown(&self) -> Fault {
        call_failure::unknown(&self.peer.name)
    }

    pub(super) fn ended(&self, trouble: Trouble) -> CallFailure {
        let fault = |kind, what: &str| self.peer.fault(kind, what);
        match trouble {
            Trouble::Refused(refusal) => {
                let fault = refusal.fault(&self.peer.name);
                if matches!(refusal.why, Why::SkillNotFound | Why::Extension) {
                    self.peer.again.notify_one();
                }
                if refusal.is_outcome() { CallFailure::Failed(fault) } else { CallFailure::Refused(fault) }
            }
            Trouble::Bad(invalid) => {
                CallFailure::Failed(fault(FaultKind::BadReply, &format!("does not answer as an A2A agent: {invalid}")))
            }
            Trouble::Lost(lost) => CallFailure::lost(&self.peer.name, &lost, self.repeatable()),
        }
    }
}

/// The trace, the hubs passed and the deadline, as headers. What cannot be a header is not sent.
fn travel(dispatch: &Dispatch) -> HeaderMap {
    let pairs = hub_headers::encode(&dispatch.call)
        .into_iter()
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?)));
    pairs.collect()
}
