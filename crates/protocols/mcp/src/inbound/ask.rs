//! One request, whatever its transport: what it asks is looked up, goes through the hub's door, and comes back as a result, an
//! error, or a call that goes on.

use std::sync::Arc;

use crate::call::{Manner, spoken};
use crate::decode::{self, Complete, Filter, Invoke, Method, Read, Reference, Refused, Said};
use crate::encode::{ARTIFACTS, Beside, Cache, Encoder, input_key};
use crate::fault::Verb;
use crate::wire::headers;
use crate::{fault, question};
use interlingua_model::{
    Answer, Ask, Completes, Fault, FaultKind, Finished, Input, Json, Noun, OnDisconnect, Output, Party, PeerId,
    Principal, Question, Request, Signal, SkillKind, Target, Text,
};
use interlingua_wire::members::Members;

use super::call_stream::{Asks, CallContext, CallIdentity, CallStream, Ended, answered};
use super::listing::{Entry, Listing};
use super::own::Shown;
use super::state::RequestState;
use super::views::with_fixed;
use super::written::Written;
use super::{SERVER, Scope, Spelling, artifacts};
use crate::Endpoint;
use interlingua_hub::entropy;
use interlingua_net::connection::{Connection, From};

/// How long a client may keep a list, and what the hub says of itself.
const LIST_TTL_MS: u64 = 10_000;
const DISCOVER_TTL_MS: u64 = 60_000;

/// Who asks, and what is known of the way they came.
pub(super) struct Asker {
    pub(super) shared: Arc<Endpoint>,
    pub(super) by: Principal,
    pub(super) connection: Connection,
    pub(super) scope: Scope,
    pub(super) said: Said,
    pub(super) asks: Asks,
    pub(super) on_disconnect: OnDisconnect,
}

/// What becomes of a request.
pub(super) enum Reply {
    Now(Ended),
    Going(Box<CallStream>),
    Listen(Filter),
    /// About the session, which only its transport knows.
    Session(Method),
}

/// Looks up a header by its name in lower case.
pub(super) type Header<'a> = &'a (dyn Fn(&str) -> Option<&'a str> + Sync);

impl Asker {
    pub(super) fn listing(&self) -> Arc<Listing> {
        let desk = &self.shared.own;
        desk.listings.now(&self.shared.hub, &self.scope, &desk.settings())
    }

    pub(super) fn about(&self, listing: &Listing, verb: Verb, call: CallIdentity) -> CallContext {
        CallContext {
            shared: self.shared.clone(),
            by: self.by.clone(),
            said: self.said.clone(),
            scope: self.scope.clone(),
            spelling: Spelling(listing.mode),
            asks: self.asks,
            verb,
            call,
            conversation: None,
            confirm: false,
            uri: None,
            public: false,
            detached: false,
            brought: Vec::new(),
        }
    }

    pub(super) fn encoder(&self) -> Encoder<'static> {
        Encoder { version: self.said.version, server: SERVER, addresses: &crate::wire::content::Verbatim }
    }

    pub(super) fn refuse(&self, fault: &Fault) -> Reply {
        let about = self.about(&self.listing(), Verb::Other, CallIdentity::default());
        Reply::Now(about.refuse(fault))
    }

    /// `params` are those the method was read from; `header` is for transports that have headers which repeat them.
    pub(super) async fn ask(&self, method: Method, params: &Members, header: Option<Header<'_>>) -> Reply {
        match method {
            Method::Discover => {
                let settings = self.shared.own.settings();
                let told = self.listing().instructions(&self.shared.hub, &self.by, &settings);
                let cache = Cache { ttl_ms: DISCOVER_TTL_MS, public: self.by.is_anonymous() };
                Reply::Now(Ok(Written::by(|out| self.encoder().discover(&told, cache, out))))
            }
            Method::Ping => Reply::Now(Ok(Written::by(|out| self.encoder().empty(out)))),
            Method::List { list, cursor, whole } => self.list(list, cursor.as_deref(), whole),
            Method::Call(invoke) => self.tool(invoke, params, header).await,
            Method::Prompt(invoke) => self.prompt(invoke, params).await,
            Method::Read(read) => self.read(read, params).await,
            Method::Complete(complete) => self.complete(complete).await,
            Method::Listen(filter) => Reply::Listen(filter),
            Method::TaskGet(_) | Method::TaskUpdate(..) | Method::TaskCancel(_) if !self.said.client.tasks => {
                Reply::Now(Err(Refused { error: fault::tasks_not_declared(), status: 400 }))
            }
            Method::TaskGet(id) => self.task_get(&id).await,
            Method::TaskUpdate(id, responses) => self.task_update(&id, &responses).await,
            Method::TaskCancel(id) => self.task_cancel(&id).await,
            session @ (Method::Initialize(_) | Method::Subscribe(_) | Method::Unsubscribe(_) | Method::SetLevel(_)) => {
                Reply::Session(session)
            }
        }
    }

    fn list(&self, list: decode::List, cursor: Option<&str>, whole: bool) -> Reply {
        let (listing, settings) = (self.listing(), self.shared.own.settings());
        let shown = match list {
            decode::List::Tools if whole => listing.whole(&settings),
            decode::List::Tools => listing.shown(&self.shared.hub, &self.by, &settings),
            decode::List::Prompts | decode::List::Resources | decode::List::Templates => Shown::All,
        };
        match listing.page(&self.shared.hub, &self.by, list, cursor, shown) {
            Err(fault) => self.refuse(&fault),
            Ok((items, next)) => {
                let cache = Cache { ttl_ms: LIST_TTL_MS, public: self.by.is_anonymous() };
                let size = items.iter().map(|item| item.len() + 1).sum::<usize>() + 256;
                let mut out = Written::with_capacity(size);
                self.encoder().list(list, items.into_iter(), next.as_deref(), cache, out.end());
                Reply::Now(Ok(out))
            }
        }
    }

    async fn tool(&self, invoke: Invoke, params: &Members, header: Option<Header<'_>>) -> Reply {
        let listing = self.listing();
        let about = self.about(&listing, Verb::Call, called("tools/call", &invoke.name, invoke.args.as_ref()));
        let entry = match listing.tool(&invoke.name) {
            Ok(entry) => entry,
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        };
        // What nobody may call is not there, in the same words as what never was.
        if self.by.is_anonymous() && !self.shared.hub.visible(&self.by).calls(&entry.skill) {
            let none = Fault::caller(FaultKind::NotFound(Noun::Skill), format!("Unknown tool: {}", invoke.name));
            return Reply::Now(about.refuse(&none));
        }
        if let Some(header) = header
            && let Err(error) = headers::check_params(&entry.params, invoke.args.as_ref(), header)
        {
            return Reply::Now(Err(Refused { error, status: 400 }));
        }
        let about = CallContext { detached: entry.skill.always_kept && self.said.client.tasks, ..about };
        if let Some(state) = &invoke.resume.state {
            return self.resumed(about, state, &invoke.resume.responses).await;
        }
        let about = CallContext { brought: brought(&invoke.resume.responses), ..about };
        let args = match &entry.fixed {
            Some(fixed) => Some(with_fixed(invoke.args, fixed)),
            None => invoke.args,
        };
        self.invoke(about, entry, args, params).await
    }

    async fn invoke(&self, mut about: CallContext, entry: &Entry, args: Option<Json>, params: &Members) -> Reply {
        let target = Target::Skill(entry.skill.id.clone(), None);
        if entry.skill.kind != SkillKind::Agent {
            let input = Input { args, ..Input::parts(Vec::new()) };
            about.confirm = self.asks_before(entry);
            return self.open(about, Ask::Invoke { target, input }, None, params).await;
        }
        let (input, token) = spoken(args);
        let hub = &self.shared.hub;
        let known = token.as_deref().and_then(|token| hub.open_conversation(&self.by, token));
        let conversation = match known {
            None => hub.new_conversation(),
            Some(id) => match hub.next_turn(&self.by, &id).await {
                Ok(_) => id,
                Err(fault) => return Reply::Now(about.refuse(&fault)),
            },
        };
        match hub.conversation_token(&self.by, &conversation) {
            Ok(token) => about.conversation = Some(token),
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        }
        self.open(about, Ask::Invoke { target, input }, Some(conversation), params).await
    }

    /// Through the hub's own socket comes the client of the hub's owner: what is known to write is asked for there, where it
    /// can be. Of what nobody described the client asks its user itself, as for any tool.
    fn asks_before(&self, entry: &Entry) -> bool {
        let effects = entry.skill.effects;
        let writes = effects.change() && !effects.unknown;
        matches!(self.connection.from, From::LocalSocket) && self.said.client.form && writes
    }

    async fn prompt(&self, invoke: Invoke, params: &Members) -> Reply {
        let listing = self.listing();
        let about = self.about(&listing, Verb::Prompt, called("prompts/get", &invoke.name, invoke.args.as_ref()));
        let skill = match listing.prompt(&invoke.name) {
            Ok(skill) => skill.clone(),
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        };
        if let Some(state) = &invoke.resume.state {
            return self.resumed(about, state, &invoke.resume.responses).await;
        }
        let about = CallContext { brought: brought(&invoke.resume.responses), ..about };
        let input = Input { args: invoke.args, ..Input::parts(Vec::new()) };
        self.open(about, Ask::Invoke { target: Target::Skill(skill, None), input }, None, params).await
    }

    async fn read(&self, read: Read, params: &Members) -> Reply {
        let listing = self.listing();
        let about = self.about(&listing, Verb::Read, called("resources/read", &read.uri, None));
        let about = CallContext { uri: Some(read.uri.clone()), ..about };
        if read.uri.starts_with(ARTIFACTS) {
            return self.artifact(&about, &read.uri).await;
        }
        let (peer, uri) = match listing.resource(&read.uri) {
            Ok(found) => found,
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        };
        if let Some(state) = &read.resume.state {
            return self.resumed(about, state, &read.resume.responses).await;
        }
        let public = self.anyone_reads(&peer, &uri);
        let about = CallContext { brought: brought(&read.resume.responses), public, ..about };
        self.open(about, Ask::Read { peer, uri }, None, params).await
    }

    /// Content that a result of theirs linked to.
    async fn artifact(&self, about: &CallContext, uri: &str) -> Reply {
        let part = artifacts::read(&self.shared.hub, &self.by, uri, self.shared.bounds().body).await;
        Reply::Now(match part {
            Err(fault) => about.refuse(&fault),
            Ok(part) => {
                let read = Finished::completed(Output { parts: vec![part], ..Output::default() });
                let mut out = Written::with_capacity(512);
                about.encoder().read(&read, None, &Party::Hub, &Beside::default(), out.end());
                Ok(out)
            }
        })
    }

    fn anyone_reads(&self, peer: &PeerId, uri: &str) -> bool {
        let catalogue = self.shared.hub.catalogue();
        catalogue.peers.get(peer).and_then(|registered| registered.reader(uri)).is_some_and(|reader| reader.public)
    }

    async fn complete(&self, complete: Complete) -> Reply {
        let listing = self.listing();
        let about = self.about(&listing, Verb::Other, CallIdentity::default());
        let of = match &complete.of {
            Reference::Prompt(name) => listing.prompt(name).cloned().map(Completes::Skill),
            Reference::Template(uri) => listing.resource(uri).map(|(peer, uri)| Completes::Template(peer, uri)),
        };
        let of = match of {
            Ok(of) => of,
            // An unknown reference is bad input here, whatever it refers to.
            Err(fault) => {
                let fault = Fault { kind: FaultKind::InvalidInput, ..fault.told_to(&self.by) };
                return Reply::Now(about.refuse(&fault));
            }
        };
        let Complete { argument, typed, known, .. } = complete;
        let ask = Ask::Complete { of, argument, typed, known };
        match self.open(about, ask, None, &Members::absent()).await {
            // A peer that completes nothing has no suggestions.
            Reply::Now(Err(refused)) if refused.error.code == interlingua_wire::rpc::METHOD_NOT_FOUND => {
                let none = interlingua_model::Finished::completed(interlingua_model::Output::default());
                Reply::Now(Ok(Written::by(|out| self.encoder().complete(&none, &Default::default(), out))))
            }
            reply => reply,
        }
    }

    /// Through the hub's door.
    async fn open(
        &self,
        about: CallContext,
        ask: Ask,
        conversation: Option<interlingua_model::ConversationId>,
        params: &Members,
    ) -> Reply {
        let manner = Manner {
            conversation,
            confirm: about.confirm,
            on_disconnect: if about.detached { OnDisconnect::Detach } else { self.on_disconnect },
        };
        let call = self.said.call(entropy::message_id, ask, manner, params);
        let request = Request { by: self.by.clone(), connection: self.connection.id, call: Box::new(call) };
        match self.shared.hub.open(request).await {
            Ok(running) => Reply::Going(Box::new(CallStream::new(about, running))),
            Err(fault) => Reply::Now(about.refuse(&fault)),
        }
    }

    /// The same call again, with what it asked for.
    async fn resumed(&self, about: CallContext, state: &str, responses: &Members) -> Reply {
        let hub = &self.shared.hub;
        let Some(state) = RequestState::open(hub, &self.by, &about.call.digest(), state) else {
            return Reply::Now(Err(Refused::params("requestState is not valid for this call, or not any more")));
        };
        let open = match about.questions(state.task).await {
            Ok(open) => open,
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        };
        let (given, left) = match sorted(open, responses) {
            Ok(sorted) => sorted,
            Err(problem) => return Reply::Now(Err(Refused::params(problem))),
        };
        for signal in given {
            if let Err(fault) = hub.signal(self.by.clone(), state.task, signal).await {
                return Reply::Now(about.refuse(&fault));
            }
        }
        if !left.is_empty() {
            return Reply::Now(about.input_required(&left, state));
        }
        match hub.follow(&self.by, state.task, state.seq).await {
            Ok(running) => Reply::Going(Box::new(CallStream::new(about, running))),
            Err(fault) => Reply::Now(about.refuse(&fault)),
        }
    }
}

fn called(method: &'static str, name: &Text, args: Option<&Json>) -> CallIdentity {
    CallIdentity { method, name: name.clone(), args: args.cloned() }
}

/// Answers to what was not asked yet; no more of them than a task may have questions.
fn brought(responses: &Members) -> Vec<(String, Json)> {
    const MOST: usize = 16;
    responses.iter().take(MOST).map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(super) type Sorted = (Vec<Signal>, Vec<Question>);

/// Answers to those questions that were answered, and the questions that are left. What belongs to no question is nothing.
pub(super) fn sorted(open: Vec<Question>, responses: &Members) -> Result<Sorted, &'static str> {
    let (mut given, mut left) = (Vec::new(), Vec::new());
    for asked in &open {
        match responses.get(&input_key(asked, &open)) {
            None => left.push(asked.clone()),
            Some(response) => {
                let answer: Answer = question::decode_answer(asked, &Members::of(&response))?;
                given.push(answered(asked.id, answer));
            }
        }
    }
    Ok((given, left))
}
