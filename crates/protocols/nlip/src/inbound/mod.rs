//! Inbound NLIP: one message in, one message out, with either binding.
//!
//! [`Exchange::answer`] does all of it: `decode`, `authenticate`, the call to the hub, `encode`. [`http`] serves it at `POST /nlip` and
//! `/agents/{peer}/nlip`, [`ws`] on the sockets of ECMA-432.

mod collect;
pub mod http;
mod topics;
pub mod ws;

use std::sync::Arc;
use std::time::Duration;

use crate::decode::{Addressed, Context, Incoming, Meaning, Own, TaskWish, WIRE, decode};
use crate::encode::{self, Addresses, NoAddresses, ReplyTo, Stand, Telling, encode};
use crate::wire::{Content, Limits, Message, Submessage};
use crate::{discover, fault, terms, tokens, upload};
use ::http::HeaderMap;
use axum::Router;
use interlingua_machines::words::{Locale, say};
use interlingua_model::{
    Answer, Call, CancelWhy, Carried, ConversationId, Fault, FaultKind, Loss, MessageId, PeerId, Principal, Question,
    QuestionKind, Request, Route, Secret, Signal, TaskId,
};
use interlingua_wire::hub_headers::Headers;

use self::collect::{Stood, watch};
pub(super) use self::topics::{Ear, Listening};
use super::uploads;
use crate::Endpoint;
use interlingua_endpoint::Shared;
use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_hub::{Running, Settled, entropy};
use interlingua_net::connection::Connection;
use interlingua_telemetry::meters::Phase;

/// How long a look at a task waits for its end: one that comes soon spares another look.
const LOOK: Duration = Duration::from_secs(1);
/// How long a cancel waits to be confirmed.
const CANCELLING: Duration = Duration::from_secs(5);

/// NLIP's paths.
pub fn routes(state: Arc<Endpoint>) -> Router {
    Router::new().merge(http::routes()).merge(ws::routes()).merge(uploads::routes()).with_state(state)
}

/// One message that arrived, and where.
pub(super) struct Exchange<'a> {
    pub(super) shared: &'a Arc<Endpoint>,
    pub(super) connection: &'a Connection,
    pub(super) headers: &'a HeaderMap,
    pub(super) door: Addressed,
}

/// What goes back. `status` is for bindings that have one; the fault says what belongs beside it.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) message: Message,
    pub(super) fault: Option<Fault>,
    /// What changes in what the other side listens to, where it can be told things.
    pub(super) ear: Option<Ear>,
    /// Whoever sent the message has shown who it is.
    pub(super) proven: bool,
}

impl Reply {
    fn of(message: Message) -> Reply {
        Reply { status: 200, message, fault: None, ear: None, proven: false }
    }

    /// To a message of which nothing is known.
    fn refused(fault: Fault) -> Reply {
        Owed::new(Principal::anonymous(), ReplyTo::default(), Vec::new()).refused(fault)
    }
}

/// What is read of a message, whichever the binding.
fn limits(shared: &Shared) -> Limits {
    let bytes = usize::try_from(shared.bounds().body).unwrap_or(usize::MAX);
    Limits { bytes, depth: shared.bounds().depth, ..Limits::default() }
}

/// What every answer to one message repeats.
struct Owed {
    /// Who hears it.
    by: Principal,
    to: ReplyTo,
    tokens: Vec<Submessage>,
    losses: Vec<Loss>,
}

impl Owed {
    fn new(by: Principal, to: ReplyTo, losses: Vec<Loss>) -> Owed {
        Owed { by, to, tokens: Vec::new(), losses }
    }

    /// A token of our own making. One that the other side brought back is not echoed besides.
    fn own(&mut self, token: Submessage) {
        self.to.echo.retain(|echoed| !tokens::same(echoed, &token));
        self.tokens.retain(|own| !tokens::same(own, &token));
        self.tokens.push(token);
    }

    fn made(&self, credential: &Secret) -> bool {
        credential.text().is_some_and(|text| self.tokens.iter().any(|own| own.content == Content::Text(text.into())))
    }

    /// What the one answer is written with.
    fn telling<'a>(&'a mut self, route: Option<Route>, addresses: &'a dyn Addresses) -> Telling<'a> {
        let to = std::mem::take(&mut self.to);
        Telling { route, losses: &self.losses, tokens: &self.tokens, addresses, to }
    }

    fn refused(self, fault: Fault) -> Reply {
        let fault = fault.told_to(&self.by);
        let message = encode::refused(&fault, &self.tokens, self.to);
        Reply { status: fault::status(&fault), message, fault: Some(fault), ear: None, proven: false }
    }

    fn said(self, text: &str) -> Reply {
        Reply::of(encode::remark(text, &self.tokens, self.to))
    }
}

impl Exchange<'_> {
    pub(super) async fn answer(&self, message: Message) -> Reply {
        if !self.shared.own.is_on() {
            let kind = FaultKind::Unsupported(interlingua_model::Feature::SwitchedOff);
            return Reply::refused(Fault::caller(kind, "NLIP is switched off here"));
        }
        let reply = self.reply(message).await;
        // The cause of an internal fault is for the log alone.
        if let Some(fault) = reply.fault.as_ref().filter(|fault| fault.kind == FaultKind::Internal) {
            tracing::error!(event = "request_failed", protocol = "nlip", error = %fault, cause = ?fault.source, "a request failed inside the hub");
        }
        reply
    }

    async fn reply(&self, message: Message) -> Reply {
        let decoded = decode(message, &self.context());
        let Carried { value: incoming, losses } = match decoded {
            Ok(decoded) => decoded,
            Err(invalid) => return Reply { status: invalid.status(), ..Reply::refused(invalid.fault()) },
        };
        let Incoming { meaning, credentials, reply: to } = incoming;
        match self.shared.authenticate(self.connection, self.headers, &credentials) {
            Ok(by) => {
                let (proven, owed) = (!by.is_anonymous(), Owed::new(by.clone(), to, losses));
                Reply { proven, ..self.authenticated(by, meaning, credentials, owed).await }
            }
            Err(fault) => Owed::new(Principal::anonymous(), to, losses).refused(fault),
        }
    }

    async fn authenticated(
        &self,
        by: Principal,
        meaning: Meaning,
        mut credentials: Vec<Secret>,
        mut owed: Owed,
    ) -> Reply {
        let token = owed.to.conversation.take();
        let (conversation, identified) = match self.conversation(&by, token, given_id(&meaning)).await {
            Ok(found) => found,
            Err(fault) => return owed.refused(fault),
        };
        match self.own_tokens(&by, &conversation, identified) {
            Ok(tokens) => tokens.into_iter().for_each(|token| owed.own(token)),
            Err(fault) => return owed.refused(fault),
        }
        // The hub's own token, brought back, is nobody's credential.
        credentials.retain(|credential| !owed.made(credential));
        // A credential that came alone answers an open question for one.
        if matches!(meaning, Meaning::Own(Own::Credentials | Own::Identify))
            && let Some((live, question)) = self.shared.hub.waiting_in(&by, &conversation)
            && matches!(question.kind, QuestionKind::Credential { .. })
            && let Some(secret) = self.foreign(&credentials)
        {
            let (message, after) = (entropy::message_id(), live.seq());
            return self.answered(by, question, Answer::Token(secret), message, after, owed).await;
        }
        match meaning {
            Meaning::Call(call) => self.call(by, call, conversation, owed).await,
            Meaning::Signal { to, signal } => match self.outward(signal, &credentials) {
                Ok(signal) => self.signal(by, to, signal, owed).await,
                Err(fault) => owed.refused(fault),
            },
            Meaning::Own(own) => self.act(own, by, credentials, conversation, owed).await,
        }
    }

    /// The hub's address.
    pub(super) fn base(&self) -> String {
        let host = self.headers.get(::http::header::HOST).and_then(|host| host.to_str().ok());
        self.shared.base(self.connection, host)
    }

    fn context(&self) -> Context<'_> {
        Context {
            hub: self.shared.hub.id(),
            door: self.door.clone(),
            message: entropy::message_id(),
            now: self.shared.hub.now(),
            headers: Headers::read(|name| self.headers.get(name)?.to_str().ok()),
            depth: self.shared.bounds().depth,
            hook: None,
        }
    }

    /// The conversation whose token was brought back, one turn on, and whether the hub said there who it is; else a new
    /// one, which costs nothing until it is. A first message that is sent again under its id begins no other.
    async fn conversation(
        &self,
        by: &Principal,
        token: Option<ConversationId>,
        id: Option<&MessageId>,
    ) -> Result<(ConversationId, bool), Fault> {
        let hub = &self.shared.hub;
        let known = token.and_then(|token| hub.open_conversation(by, token.as_str()));
        let begun = |id: &MessageId| hub.conversation_begun_by(by, self.connection.id, id.as_str());
        match known {
            None => Ok((id.map_or_else(|| hub.new_conversation(), begun), false)),
            Some(id) => hub.next_turn(by, &id).await.map(|conversation| (id, conversation.identified)),
        }
    }

    fn own_tokens(&self, by: &Principal, id: &ConversationId, identified: bool) -> Result<Vec<Submessage>, Fault> {
        let hub = &self.shared.hub;
        let mut own = vec![tokens::conversation(hub.id(), &hub.conversation_token(by, id)?.into())];
        if identified {
            own.push(tokens::authentication(&hub.identity_token(by, id)?));
        }
        Ok(own)
    }

    /// Says who the hub is, by a token that is on this answer and on every later one of the conversation (first draft,
    /// clause 6.5).
    async fn identify(&self, by: &Principal, id: &ConversationId, mut owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        let identity = match hub.identify_in(by, id).await {
            Ok(_) => hub.identity_token(by, id),
            Err(fault) => Err(fault),
        };
        match identity {
            Ok(identity) => owed.own(tokens::authentication(&identity)),
            Err(fault) => return owed.refused(fault),
        }
        owed.said(&format!("This is {} ({}), an Interlingua hub.", hub.settings().name, hub.id()))
    }

    async fn act(
        &self,
        own: Own,
        by: Principal,
        shown: Vec<Secret>,
        conversation: ConversationId,
        owed: Owed,
    ) -> Reply {
        match own {
            Own::Calls(calls) => self.calls(by, calls, conversation, owed).await,
            Own::Skills(of) => self.skills(&by, of.as_ref(), owed),
            Own::Topic(topic) => self.topic(by, shown, topic, owed).await,
            Own::Upload => match uploads::offer(&self.shared.hub, &self.base(), &by).await {
                Ok(uri) => Reply::of(upload::offer(&uri, &owed.tokens, owed.to)),
                Err(fault) => owed.refused(fault),
            },
            Own::Task(task, wish) => self.stands(by, task, wish, owed).await,
            Own::Identify => self.identify(&by, &conversation, owed).await,
            Own::Terms(asked) => Reply::of(terms::answer(asked, &self.facts(), &owed.tokens, owed.to)),
            Own::Unread { language } => Reply::of(encode::unread(&language, &owed.tokens, owed.to)),
            Own::Report { .. } => owed.said("Noted."),
            Own::Remark | Own::Credentials => owed.said("OK"),
        }
    }

    /// What this endpoint says of itself.
    fn facts(&self) -> terms::Facts {
        let bounds = self.shared.bounds();
        terms::Facts {
            base: self.base(),
            message_bytes: bounds.body,
            anonymous_bytes: bounds.anonymous_body,
            upload_bytes: bounds.upload,
            depth: bounds.depth,
            conversation: self.shared.hub.settings().conversations,
        }
    }

    /// A call, or the answer to the question this conversation waits on. One that has an id is a call, perhaps sent again.
    async fn call(&self, by: Principal, mut call: Box<Call>, conversation: ConversationId, owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        if !call.id_given
            && let Some((live, question)) = hub.waiting_in(&by, &conversation)
            && let Some(input) = call.input()
        {
            match hub.read_answer(&question, input.clone()) {
                Some(answer) => return self.answered(by, question, answer, call.id.clone(), live.seq(), owed).await,
                None if !hub.names_a_skill(&by, input) => return ask_again(&question, &input.words(), owed),
                // Words that are another request withdraw the question.
                None => drop(hub.answer(by.clone(), question.id, Answer::Declined).await),
            }
        }
        call.conversation = Some(conversation);
        match self.open(by.clone(), call).await {
            Ok(running) => self.settled(&by, running, owed).await,
            Err(fault) => owed.refused(fault),
        }
    }

    /// The hub's door, with what the call refers to at hand.
    async fn open(&self, by: Principal, mut call: Box<Call>) -> Result<Running, Fault> {
        uploads::resolve(&self.shared.hub, &by, &mut call).await?;
        let request = Request { by, connection: self.connection.id, call };
        self.shared.hub.open(request).await
    }

    async fn answered(
        &self,
        by: Principal,
        question: Question,
        answer: Answer,
        message: MessageId,
        after: u64,
        owed: Owed,
    ) -> Reply {
        let (hub, task) = (&self.shared.hub, question.id.0);
        let signal = Signal::Answered { question: question.id, message, answer };
        if let Err(fault) = hub.signal(by.clone(), task, signal).await {
            return owed.refused(fault);
        }
        match hub.follow(&by, task, after).await {
            Ok(running) => self.settled(&by, running, owed).await,
            Err(fault) => owed.refused(fault),
        }
    }

    /// The credential that is for somebody behind the hub: not one of the hub's own, which no peer may ever be shown.
    fn foreign(&self, credentials: &[Secret]) -> Option<Secret> {
        let now = self.shared.hub.now();
        let foreign = |value: &[u8]| matches!(self.shared.access.token(value, now), interlingua_access::Known::Foreign);
        credentials.iter().find(|credential| credential.value().is_some_and(foreign)).cloned()
    }

    /// An answer that is a credential goes to a peer.
    fn outward(&self, mut signal: Signal, credentials: &[Secret]) -> Result<Signal, Fault> {
        if let Signal::Answered { answer: Answer::Token(credential), .. } = &mut signal {
            let text = "a credential of this hub is not passed on; show the one the question is about";
            let none = || Fault::caller(FaultKind::InvalidInput, text);
            *credential = self.foreign(credentials).ok_or_else(none)?;
        }
        Ok(signal)
    }

    /// An answer that names its question.
    async fn signal(&self, by: Principal, task: TaskId, signal: Signal, owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        let after = hub.seq_of(task);
        if let Err(fault) = hub.signal(by.clone(), task, signal).await {
            return owed.refused(fault);
        }
        match hub.follow(&by, task, after).await {
            Ok(running) => self.settled(&by, running, owed).await,
            // An approver who does not own the task sees only that the answer was taken.
            Err(_) => owed.said("OK"),
        }
    }

    /// How a task stands that its caller was told the id of. To look at it is not to be its caller: to stop looking ends nothing.
    async fn stands(&self, by: Principal, task: TaskId, wish: TaskWish, mut owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        let patience = match wish {
            TaskWish::Look => LOOK,
            TaskWish::Cancel => match hub.signal(by.clone(), task, Signal::Cancel(CancelWhy::Asked)).await {
                Ok(()) => CANCELLING,
                // It is over: then that is the answer.
                Err(fault) if fault.kind == FaultKind::AlreadyFinished => LOOK,
                Err(fault) => return owed.refused(fault),
            },
        };
        let mut running = match hub.follow(&by, task, 0).await {
            Ok(running) => running,
            Err(fault) => return owed.refused(fault),
        };
        let stood = tokio::time::timeout(patience, watch(&mut running)).await;
        running.told();
        match stood {
            Ok(Ok(stood)) => self.stood(&by, stood, owed).await,
            Ok(Err(fault)) => owed.refused(fault),
            Err(_) => Reply::of(encode::goes_on(task, &mut owed.telling(None, &NoAddresses))),
        }
    }

    /// Reads an exchange to its end or its question, and says where it stands.
    async fn settled(&self, by: &Principal, mut running: Running, owed: Owed) -> Reply {
        match watch(&mut running).await {
            Ok(stand) => self.stood(by, stand, owed).await,
            Err(fault) => owed.refused(fault),
        }
    }

    async fn stood(&self, by: &Principal, mut stand: Stood, mut owed: Owed) -> Reply {
        let mut lost = owed.losses.clone();
        let addresses = match uploads::addresses(&self.shared.hub, &self.base(), by, stand.finished().into_iter()).await
        {
            Ok(addresses) => addresses,
            Err(fault) => return owed.refused(fault),
        };
        let mut laps = self.shared.hub.meters().laps();
        let (status, of, route) = (stand.status(), stand.of.clone(), stand.route.take());
        let mut telling = owed.telling(route, &addresses);
        let told = encode(&stand.entry(self.shared.hub.now()), &mut telling);
        // An entry that has no message is not where an exchange stands still.
        let message = told.value.into_iter().next().unwrap_or_else(|| encode::goes_on(of.task, &mut telling));
        laps.done(Phase::Encode);
        lost.extend(told.losses);
        self.lost(by, of, telling.route.as_ref(), &lost);
        Reply { status, ..Reply::of(message) }
    }

    /// Several calls of one message run together; each stands for itself.
    async fn calls(&self, by: Principal, calls: Vec<Call>, conversation: ConversationId, mut owed: Owed) -> Reply {
        let runs = calls.into_iter().map(|mut call| {
            call.conversation = Some(conversation.clone());
            let by = by.clone();
            async move {
                let mut running = self.open(by.clone(), Box::new(call)).await.map_err(|fault| fault.told_to(&by))?;
                watch(&mut running).await
            }
        });
        let stood = futures_util::future::join_all(runs).await;
        let mut arrived = owed.losses.clone();
        owed.losses.extend(stood.iter().flatten().flat_map(|stand| stand.losses.iter().cloned()));
        let finished = stood.iter().flatten().filter_map(Stood::finished);
        let addresses = match uploads::addresses(&self.shared.hub, &self.base(), &by, finished).await {
            Ok(addresses) => addresses,
            Err(fault) => return owed.refused(fault),
        };
        let stands: Vec<Stand<'_>> = stood
            .iter()
            .map(|stand| match stand {
                Ok(Stood { settled: Settled::Finished(finished), .. }) => Stand::Finished(finished),
                Ok(Stood { settled: Settled::Asked(question), .. }) => Stand::Asked(question),
                Err(fault) => Stand::Refused(fault),
            })
            .collect();
        let (message, lost) = encode::group(&stands, &mut owed.telling(None, &addresses));
        for (stand, mut lost) in stood.iter().zip(lost) {
            let Ok(stand) = stand else { continue };
            // What was lost of the message they came in is told of the first that began.
            lost.append(&mut arrived);
            self.lost(&by, stand.of.clone(), stand.route.as_ref(), &lost);
        }
        Reply::of(message)
    }

    /// What this protocol could not carry of one exchange, in the message that asked or in the one that answers.
    fn lost(&self, by: &Principal, of: Named, route: Option<&Route>, losses: &[Loss]) {
        self.shared.hub.lost(&LossContext { by, of, wire: WIRE, skill: route.map(|route| &route.skill) }, losses);
    }

    /// What this principal may call, of one peer or of all, as text and as data.
    fn skills(&self, by: &Principal, of: Option<&PeerId>, owed: Owed) -> Reply {
        let visible = self.shared.hub.visible(by);
        Reply::of(discover::skills(visible.skills_of(of).map(|skill| &**skill), &owed.tokens, owed.to))
    }
}

/// The id that the other side gave its message, where it asks for something.
fn given_id(meaning: &Meaning) -> Option<&MessageId> {
    let first = match meaning {
        Meaning::Call(call) => Some(&**call),
        Meaning::Own(Own::Calls(calls)) => calls.first(),
        Meaning::Own(_) | Meaning::Signal { .. } => None,
    };
    first.filter(|call| call.id_given).map(|call| &call.id)
}

fn ask_again(question: &Question, said: &str, mut owed: Owed) -> Reply {
    let language = Locale::detect(None, said).language;
    let again = Question { text: say::ask_again(language, &question.text).into(), ..question.clone() };
    Reply::of(encode::asked(&again, &[], &mut owed.telling(None, &NoAddresses)))
}
