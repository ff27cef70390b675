//! One request, whatever its transport: its target is looked up, it enters the hub, and the response is a result, an error, or a call that
//! continues.

use std::sync::{Arc, OnceLock};

use crate::decode::{
    Context, Filter, Header, Incoming, Invalid, List, NamedTool, Names, NoTool, Own, ReplyTo, Said, SessionRequest,
    Turn,
};
use crate::encode::{Asks, Beside, Cache, Encoder, RequestOutcome, Written, input_key};
use crate::fault::Refused;
use crate::question;
use interlingua_model::{
    Answer, Ask, Call, Fault, FaultKind, Finished, Noun, OnDisconnect, Output, Party, PeerId, Principal, Question,
    Request, Signal, SkillId, Uri,
};
use interlingua_wire::codec::Meaning;
use interlingua_wire::members::Members;
use interlingua_wire::rpc;

use super::call_stream::{CallContext, CallStream, answered};
use super::listing::Listing;
use super::own::Shown;
use super::state::RequestState;
use super::{SERVER, Scope, Spelling, artifacts};
use crate::Endpoint;
use interlingua_endpoint::oauth::resource;
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
    /// A response of its own can say which scope a token lacks; one of a batch cannot.
    pub(super) challenges: bool,
    /// What is listed to it, as it was when this was first asked for.
    pub(super) listed: OnceLock<Arc<Listing>>,
}

/// What becomes of a request.
pub(super) enum Reply {
    Now(RequestOutcome),
    Going(Box<CallStream>),
    Listen(Filter),
    /// About the session, which only its transport knows.
    Session(SessionRequest),
}

impl Asker {
    fn listing(&self) -> &Listing {
        let state = &self.shared.own;
        self.listed.get_or_init(|| state.listings.now(&self.shared.hub, &self.scope, &state.settings()))
    }

    pub(super) fn about(&self, reply: ReplyTo) -> CallContext {
        CallContext {
            shared: self.shared.clone(),
            by: self.by.clone(),
            said: self.said.clone(),
            scope: self.scope.clone(),
            spelling: Spelling(self.listing().mode),
            asks: self.asks,
            reply,
            conversation: None,
            public: false,
        }
    }

    pub(super) fn encoder(&self) -> Encoder<'static> {
        Encoder { version: self.said.version, server: SERVER, addresses: &crate::wire::content::Verbatim }
    }

    pub(super) fn refuse(&self, fault: &Fault) -> Reply {
        Reply::Now(self.about(ReplyTo::default()).refuse(fault))
    }

    /// What the decoder is told of this client.
    pub(super) fn context<'a>(&'a self, header: Option<Header<'a>>) -> Context<'a> {
        Context {
            said: &self.said,
            names: self,
            header,
            minted: entropy::message_id,
            on_disconnect: self.on_disconnect,
            // Through the hub's own socket comes the client of the hub's owner.
            confirms: matches!(self.connection.from, From::LocalSocket),
        }
    }

    /// What a request that cannot be carried out ends in.
    pub(super) fn refused(&self, invalid: Invalid) -> RequestOutcome {
        match invalid {
            Invalid::Refused(refused) => Err(refused),
            Invalid::Fault { fault, verb, uri } => self.about(ReplyTo { uri, ..ReplyTo::of(verb) }).refuse(&fault),
            Invalid::Scopes(_) => {
                let error = rpc::Error::new(rpc::INVALID_REQUEST, "this token lacks a scope");
                Err(Refused { error, status: 403 })
            }
        }
    }

    pub(super) async fn ask(&self, incoming: Incoming) -> Reply {
        let reply = incoming.reply;
        match incoming.meaning {
            Meaning::Call(call) => self.open(call, reply).await,
            Meaning::Signal { to, signal } => self.signal(to, signal).await,
            Meaning::Own(own) => self.own(own, reply).await,
        }
    }

    async fn own(&self, own: Own, reply: ReplyTo) -> Reply {
        match own {
            Own::Discover => {
                let settings = self.shared.own.settings();
                let told = self.listing().instructions(&self.shared.hub, &self.by, &settings);
                let cache = Cache { ttl_ms: DISCOVER_TTL_MS, public: self.by.is_anonymous() };
                Reply::Now(Ok(Written::by(|out| self.encoder().discover(&told, cache, out))))
            }
            Own::Ping => Reply::Now(Ok(Written::by(|out| self.encoder().empty(out)))),
            Own::List { list, cursor, whole } => self.list(list, cursor.as_deref(), whole),
            Own::Resume(resume) => self.resumed(self.about(reply), &resume.state, &resume.responses).await,
            Own::Artifact(uri) => self.artifact(&self.about(reply), &uri).await,
            Own::Listen(filter) => Reply::Listen(filter),
            Own::TaskGet(id) => self.task_get(id, self.about(reply)).await,
            Own::TaskUpdate(id, responses) => self.task_update(id, self.about(reply), &responses).await,
            Own::Session(request) => Reply::Session(request),
        }
    }

    fn list(&self, list: List, cursor: Option<&str>, whole: bool) -> Reply {
        let (listing, settings) = (self.listing(), self.shared.own.settings());
        let shown = match list {
            List::Tools if whole => listing.whole(&settings),
            List::Tools => listing.shown(&self.shared.hub, &self.by, &settings),
            List::Prompts | List::Resources | List::Templates => Shown::All,
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

    /// Through the hub's door.
    async fn open(&self, mut call: Box<Call>, mut reply: ReplyTo) -> Reply {
        let turn = std::mem::take(&mut reply.turn);
        let mut about = self.about(reply);
        match self.turn(turn, &mut call).await {
            Ok(token) => about.conversation = token,
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        }
        let completes = match &call.ask {
            Ask::Invoke { .. } => false,
            Ask::Read { peer, uri } => {
                about.public = self.anyone_reads(peer, uri);
                false
            }
            Ask::Complete { .. } => true,
        };
        let request = Request { by: self.by.clone(), connection: self.connection.id, call };
        let fault = match self.shared.hub.open(request).await {
            Ok(running) => return Reply::Going(Box::new(CallStream::new(about, running))),
            Err(fault) => fault,
        };
        match about.refuse(&fault) {
            // A peer that completes nothing has no suggestions.
            Err(refused) if completes && refused.error.code == rpc::METHOD_NOT_FOUND => {
                let none = Finished::completed(Output::default());
                Reply::Now(Ok(Written::by(|out| self.encoder().complete(&none, &Beside::default(), out))))
            }
            ended => Reply::Now(ended),
        }
    }

    /// Gives what is said to an agent its conversation, and returns the token by which that goes on.
    async fn turn(&self, turn: Turn, call: &mut Call) -> Result<Option<String>, Fault> {
        let hub = &self.shared.hub;
        let known = match turn {
            Turn::None => return Ok(None),
            Turn::First => None,
            Turn::Next(token) => hub.open_conversation(&self.by, &token),
        };
        let conversation = match known {
            None => hub.new_conversation(),
            Some(id) => {
                hub.next_turn(&self.by, &id).await?;
                id
            }
        };
        let token = hub.conversation_token(&self.by, &conversation)?;
        call.conversation = Some(conversation);
        Ok(Some(token))
    }

    /// The same call again, with what it asked for.
    async fn resumed(&self, about: CallContext, state: &str, responses: &Members) -> Reply {
        let hub = &self.shared.hub;
        let Some(state) = RequestState::open(hub, &self.by, &about.reply.call.digest(), state) else {
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

/// As this client sees the hub.
impl Names for Asker {
    fn tool(&self, name: &str) -> Result<NamedTool<'_>, NoTool> {
        let entry = self.listing().tool(name).map_err(|fault| NoTool::Fault(fault.told_to(&self.by)))?;
        if self.challenges {
            let scopes = resource::missing_scopes(&self.shared, &self.by, &entry.skill);
            if !scopes.is_empty() {
                return Err(NoTool::Scopes(scopes));
            }
        }
        // What nobody may call is not there, in the same words as what never was.
        if self.by.is_anonymous() && !self.shared.hub.visible(&self.by).calls(&entry.skill) {
            let none = Fault::caller(FaultKind::NotFound(Noun::Skill), format!("Unknown tool: {name}"));
            return Err(NoTool::Fault(none.told_to(&self.by)));
        }
        Ok(NamedTool { skill: &entry.skill, params: &entry.params, fixed: entry.fixed.as_ref() })
    }

    fn prompt(&self, name: &str) -> Result<SkillId, Fault> {
        self.listing().prompt(name).cloned().map_err(|fault| fault.told_to(&self.by))
    }

    fn resource(&self, uri: &str) -> Result<(PeerId, Uri), Fault> {
        self.listing().resource(uri).map_err(|fault| fault.told_to(&self.by))
    }
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
