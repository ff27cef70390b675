//! They call us: one message in, one message out, whatever the binding.
//!
//! [`Exchange::answer`] is the whole of it: `decode`, `authenticate`, the hub's door, `encode`. [`http`] puts it behind
//! `POST /nlip` and `/agents/{peer}/nlip`.

pub mod http;
pub mod ws;

use std::sync::Arc;

use ::http::HeaderMap;
use interlingua_core::words::{Locale, say};
use interlingua_core::{
    Answer, Call, Carried, ConversationId, Event, Fault, Finished, Inbound, Loss, PeerId, Principal, Query, Question,
    QuestionKind, Request, Route, Secret, Signal, collect,
};
use interlingua_protocols::hop::{self, Headers};
use interlingua_protocols::nlip::decode::{Context, Door, Incoming, Meaning, decode};
use interlingua_protocols::nlip::encode::{self, Beside, NoAddresses, ReplyTo, Stand};
use interlingua_protocols::nlip::wire::{Message, Submessage};
use interlingua_protocols::nlip::{discover, fault, tokens};

use super::uploads;
use crate::edge::Shared;
use crate::hub::policy::Action;
use crate::hub::{Running, Settled, entropy};
use crate::server::connection::Connection;
use crate::telemetry::meters::Phase;

/// One message that arrived, and where.
pub(super) struct Exchange<'a> {
    pub(super) shared: &'a Shared,
    pub(super) connection: &'a Connection,
    pub(super) headers: &'a HeaderMap,
    pub(super) door: Door,
}

/// What goes back. `status` is for bindings that have one; the fault says what belongs beside it.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) message: Message,
    pub(super) fault: Option<Fault>,
}

/// What every answer to one message repeats.
struct Owed {
    to: ReplyTo,
    tokens: Vec<Submessage>,
    losses: Vec<Loss>,
}

impl Owed {
    fn beside<'a>(&'a self, route: Option<&'a Route>) -> Beside<'a> {
        Beside { route, losses: &self.losses, tokens: &self.tokens, addresses: &NoAddresses }
    }

    fn refused(self, fault: Fault) -> Reply {
        let message = encode::refused(&fault, &self.tokens, self.to);
        Reply { status: fault::status(&fault), message, fault: Some(fault) }
    }

    fn said(self, text: &str) -> Reply {
        Reply { status: 200, message: encode::remark(text, &self.tokens, self.to), fault: None }
    }
}

impl Exchange<'_> {
    pub(super) async fn answer(&self, message: Message) -> Reply {
        if !self.shared.routing.settings().doors {
            let kind = interlingua_core::FaultKind::Unsupported(interlingua_core::Feature::SwitchedOff);
            let fault = Fault::caller(kind, "NLIP is switched off here");
            let message = encode::refused(&fault, &[], ReplyTo::default());
            return Reply { status: fault::status(&fault), message, fault: Some(fault) };
        }
        let decoded = decode(message, &self.context());
        let Carried { value: incoming, losses } = match decoded {
            Ok(decoded) => decoded,
            Err(invalid) => {
                let fault = invalid.fault();
                let message = encode::refused(&fault, &[], ReplyTo::default());
                return Reply { status: invalid.status(), message, fault: Some(fault) };
            }
        };
        let Incoming { meaning, credentials, conversation, reply } = incoming;
        let mut owed = Owed { to: reply, tokens: Vec::new(), losses };
        let by = match self.shared.authenticate(self.connection, self.headers, &credentials) {
            Ok(by) => by,
            Err(fault) => return owed.refused(fault),
        };
        let conversation = match self.conversation(&by, conversation).await {
            Ok(conversation) => conversation,
            Err(fault) => return owed.refused(fault),
        };
        match self.shared.hub.conversation_token(&by, &conversation) {
            Ok(token) => owed.tokens.push(tokens::conversation(&self.shared.hub.id, &ConversationId::from(token))),
            Err(fault) => return owed.refused(fault),
        }
        match meaning {
            Meaning::Credentials => self.credentials(by, credentials, conversation, owed).await,
            Meaning::Ask(Inbound::Signal { to, signal }) => match self.outward(signal, &credentials) {
                Ok(signal) => self.signal(by, to, signal, owed).await,
                Err(fault) => owed.refused(fault),
            },
            meaning => self.act(meaning, by, conversation, owed).await,
        }
    }

    /// The hub's address as the other side reached it: the guard has looked at the name.
    pub(super) fn base(&self) -> String {
        let scheme = if self.connection.encrypted { "https" } else { "http" };
        let host = self.headers.get(::http::header::HOST).and_then(|host| host.to_str().ok());
        match (host, self.shared.address.get()) {
            (Some(host), _) => format!("{scheme}://{host}"),
            (None, Some(address)) => format!("{scheme}://{address}"),
            (None, None) => String::new(),
        }
    }

    fn context(&self) -> Context<'_> {
        let text = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        Context {
            hub: &self.shared.hub.id,
            door: self.door.clone(),
            message: entropy::message_id(),
            now: self.shared.hub.now(),
            headers: Headers {
                via: text(hop::VIA),
                deadline: text(hop::DEADLINE),
                priority: text(hop::PRIORITY),
                traceparent: text(hop::TRACEPARENT),
                tracestate: text(hop::TRACESTATE),
                baggage: text(hop::BAGGAGE),
            },
            depth: self.shared.bounds().depth,
            hook: None,
        }
    }

    /// The conversation whose token was brought back, one turn on; else a new one, which costs nothing until it is.
    async fn conversation(&self, by: &Principal, token: Option<ConversationId>) -> Result<ConversationId, Fault> {
        let known = token.and_then(|token| self.shared.hub.open_conversation(by, token.as_str()));
        match known {
            None => Ok(self.shared.hub.new_conversation()),
            Some(id) => {
                self.shared.hub.next_turn(by, &id).await?;
                Ok(id)
            }
        }
    }

    async fn act(&self, meaning: Meaning, by: Principal, conversation: ConversationId, owed: Owed) -> Reply {
        match meaning {
            Meaning::Ask(Inbound::Call(call)) => self.call(by, call, conversation, owed).await,
            Meaning::Ask(Inbound::Calls(calls)) => self.calls(by, calls, conversation, owed).await,
            Meaning::Ask(Inbound::Query(Query::Skills(_))) => self.skills(&by, None, owed),
            Meaning::Ask(Inbound::Query(Query::Card(peer))) => self.skills(&by, Some(&peer), owed),
            Meaning::Ask(_) => owed.refused(Fault::caller(
                interlingua_core::FaultKind::Unsupported(interlingua_core::Feature::Operation),
                "that cannot be asked here",
            )),
            Meaning::Upload => uploads::offer(self, &by, owed.to, &owed.tokens).await,
            Meaning::Identify => {
                let hub = &self.shared.hub;
                owed.said(&format!("This is {} ({}), an Interlingua hub.", hub.settings.load().name, hub.id))
            }
            Meaning::Unread { language } => owed.said(&format!("I do not read {language} source code.")),
            Meaning::Report { .. } => owed.said("Noted."),
            Meaning::Remark | Meaning::Credentials => owed.said("OK"),
        }
    }

    /// A call, or the answer to the question this conversation waits on.
    async fn call(&self, by: Principal, mut call: Box<Call>, conversation: ConversationId, owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        if let Some((live, question)) = hub.waiting_in(&by, &conversation)
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
        if let Err(fault) = uploads::resolve(hub, &by, &mut call).await {
            return owed.refused(fault);
        }
        match self.open(by.clone(), call).await {
            Ok(running) => self.settled(&by, running, owed).await,
            Err(fault) => owed.refused(fault),
        }
    }

    async fn open(&self, by: Principal, call: Box<Call>) -> Result<Running, Fault> {
        let request = Request { by, connection: self.connection.id, inbound: Inbound::Call(call) };
        self.shared.hub.open(request).await
    }

    async fn answered(
        &self,
        by: Principal,
        question: Question,
        answer: Answer,
        message: interlingua_core::MessageId,
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

    /// A credential that came alone answers an open question for one.
    async fn credentials(
        &self,
        by: Principal,
        credentials: Vec<Secret>,
        conversation: ConversationId,
        owed: Owed,
    ) -> Reply {
        let waiting = self.shared.hub.waiting_in(&by, &conversation);
        match (waiting, self.foreign(&credentials)) {
            (Some((live, question)), Some(secret)) if matches!(question.kind, QuestionKind::Credential { .. }) => {
                let (message, after) = (entropy::message_id(), live.seq());
                self.answered(by, question, Answer::Token(secret), message, after, owed).await
            }
            _ => owed.said("OK"),
        }
    }

    /// The credential that is for somebody behind the hub: not one of the hub's own, which no peer may ever be shown.
    fn foreign(&self, credentials: &[Secret]) -> Option<Secret> {
        let now = self.shared.hub.now();
        let foreign =
            |value: &[u8]| matches!(self.shared.access.token(value, now), crate::server::access::Known::Foreign);
        credentials.iter().find(|credential| credential.value().is_some_and(foreign)).cloned()
    }

    /// An answer that is a credential goes to a peer.
    fn outward(&self, mut signal: Signal, credentials: &[Secret]) -> Result<Signal, Fault> {
        if let Signal::Answered { answer: Answer::Token(credential), .. } = &mut signal {
            let text = "a credential of this hub is not passed on; show the one the question is about";
            let none = || Fault::caller(interlingua_core::FaultKind::InvalidInput, text);
            *credential = self.foreign(credentials).ok_or_else(none)?;
        }
        Ok(signal)
    }

    /// An answer that names its question.
    async fn signal(&self, by: Principal, to: interlingua_core::Handle, signal: Signal, owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        let interlingua_core::Handle::Task(task) = to else {
            return owed.refused(crate::hub::live::no_such_task());
        };
        let after = hub.live.get(task).map_or(0, |live| live.seq());
        if let Err(fault) = hub.signal(by.clone(), task, signal).await {
            return owed.refused(fault);
        }
        match hub.follow(&by, task, after).await {
            Ok(running) => self.settled(&by, running, owed).await,
            // An approver who does not own the task sees only that the answer was taken.
            Err(_) => owed.said("OK"),
        }
    }

    /// Reads an exchange to its end or its question, and says where it stands.
    async fn settled(&self, by: &Principal, mut running: Running, owed: Owed) -> Reply {
        let stand = match watch(&mut running).await {
            Ok(stand) => stand,
            Err(fault) => return owed.refused(fault),
        };
        let addresses = match &stand.settled {
            Settled::Finished(finished) => uploads::addresses(self, by, finished).await,
            Settled::Asked(_) => Ok(uploads::Known::default()),
        };
        let addresses = match addresses {
            Ok(addresses) => addresses,
            Err(fault) => return owed.refused(fault),
        };
        let mut laps = self.shared.hub.meters.laps();
        let beside = Beside { addresses: &addresses, ..owed.beside(stand.route.as_ref()) };
        let reply = match stand.settled {
            Settled::Finished(finished) => {
                let message = encode::finished(&finished, &beside, owed.to.clone());
                Reply { status: outcome_status(&finished), message, fault: None }
            }
            Settled::Asked(question) => {
                Reply { status: 200, message: encode::asked(&question, &beside, owed.to.clone()), fault: None }
            }
        };
        laps.done(Phase::Encode);
        reply
    }

    /// Several calls of one message run together; each stands for itself.
    async fn calls(&self, by: Principal, calls: Vec<Call>, conversation: ConversationId, owed: Owed) -> Reply {
        let runs = calls.into_iter().map(|mut call| {
            call.conversation = Some(conversation.clone());
            let by = by.clone();
            async move {
                let mut running = self.open(by, Box::new(call)).await?;
                watch(&mut running).await
            }
        });
        let stands = futures_util::future::join_all(runs).await;
        let stands: Vec<Stand<'_>> = stands
            .iter()
            .map(|stand| match stand {
                Ok(Stood { settled: Settled::Finished(finished), .. }) => Stand::Finished(finished),
                Ok(Stood { settled: Settled::Asked(question), .. }) => Stand::Asked(question),
                Err(fault) => Stand::Refused(fault),
            })
            .collect();
        Reply { status: 200, message: encode::group(&stands, &owed.beside(None), owed.to.clone()), fault: None }
    }

    /// What this principal may call, of one peer or of all, as text and as data.
    fn skills(&self, by: &Principal, of: Option<&PeerId>, owed: Owed) -> Reply {
        let hub = &self.shared.hub;
        let (catalogue, policy, now) = (hub.registry.catalogue(), hub.policy.load(), hub.now());
        let skills: Vec<Arc<interlingua_core::Skill>> = catalogue
            .newest()
            .filter(|skill| of.is_none_or(|peer| skill.id.peer == *peer))
            .filter(|skill| policy.allows(by, Action::List, skill, now))
            .cloned()
            .collect();
        let message = discover::skills(skills.iter().map(|skill| &**skill), &owed.tokens, owed.to);
        Reply { status: 200, message, fault: None }
    }
}

fn ask_again(question: &Question, said: &str, owed: Owed) -> Reply {
    let language = Locale::detect(None, said).language;
    let again = Question { text: say::ask_again(language, &question.text).into(), ..question.clone() };
    Reply { status: 200, message: encode::asked(&again, &owed.beside(None), owed.to.clone()), fault: None }
}

/// The HTTP status of an outcome: 200 but where nothing could be reached or the time ran out.
fn outcome_status(finished: &Finished) -> u16 {
    use interlingua_core::{FaultKind, Outcome};
    match &finished.outcome {
        Outcome::Failed(fault)
            if matches!(
                fault.kind,
                FaultKind::Unreachable | FaultKind::BadReply | FaultKind::Deadline | FaultKind::Loop
            ) =>
        {
            fault::status(fault)
        }
        Outcome::Completed | Outcome::Failed(_) | Outcome::Cancelled { .. } => 200,
    }
}

/// Where an exchange stands, and by which way it came there.
struct Stood {
    settled: Settled,
    route: Option<Route>,
}

async fn watch(running: &mut Running) -> Result<Stood, Fault> {
    let mut route = None;
    let mut said = Vec::new();
    let mut settled = running
        .settle(|event| match event {
            Event::Started(started) => route = Some(started.clone()),
            Event::Said { .. } => said.push(event.clone()),
            Event::Progress { .. }
            | Event::Artifact(_)
            | Event::Asked(_)
            | Event::Settled { .. }
            | Event::Finished(_) => {}
        })
        .await?;
    if let Settled::Finished(finished) = &mut settled {
        finished.output.parts = collect(finished, &said);
    }
    Ok(Stood { settled, route })
}
