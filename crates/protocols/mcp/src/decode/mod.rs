//! The server side of requests: decodes a client's request in one pass.
//!
//! A request for a skill, a resource or a completion becomes a call ([`call`]); lists, sessions, subscriptions and resumed calls are
//! handled in this protocol. The metadata of a request is read first ([`Said`]): a request with invalid metadata is refused before its
//! sender is authenticated.
//!
//! Deliberately absent: conversations and the state that a client brings back. Only the hub can open them.

mod call;
mod said;
#[cfg(test)]
mod tests;

pub use said::{Said, level_name};

use interlingua_model::{
    CancelWhy, Carried, Digest, Fault, FaultKind, Json, Level, MessageId, Noun, OnDisconnect, PeerId, Signal, Skill,
    SkillId, TaskId, Text, Uri,
};

use super::Version;
use super::fault::{self, Refused, Verb};
use super::wire::capabilities::Client;
use super::wire::headers::Param;
use super::wire::meta;
use interlingua_wire::codec::{self, Meaning};
use interlingua_wire::members::Members;
use interlingua_wire::rpc::Request;
use said::level;

/// What is known of a request besides what it asks.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub said: &'a Said,
    pub names: &'a dyn Names,
    /// For transports that have headers which repeat parameters.
    pub header: Option<Header<'a>>,
    /// Names a call whose client gave it no id.
    pub minted: fn() -> MessageId,
    /// Of calls that cannot end in a receipt.
    pub on_disconnect: OnDisconnect,
    /// It came from the hub's owner: what is known to write is confirmed first, where the client can be asked. Of what nobody
    /// described the client asks its user itself, as for any tool.
    pub confirms: bool,
}

/// Looks up a header by its name in lower case.
pub type Header<'a> = &'a (dyn Fn(&str) -> Option<&'a str> + Sync);

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("said", &self.said).finish_non_exhaustive()
    }
}

/// What the names in a request mean to its client. A fault is worded for that client.
pub trait Names {
    fn tool(&self, name: &str) -> Result<NamedTool<'_>, NoTool>;
    fn prompt(&self, name: &str) -> Result<SkillId, Fault>;
    /// Whose resource this is, and as that peer knows it.
    fn resource(&self, uri: &str) -> Result<(PeerId, Uri), Fault>;
}

#[derive(Debug, Clone, Copy)]
pub struct NamedTool<'a> {
    pub skill: &'a Skill,
    /// Arguments that headers repeat.
    pub params: &'a [Param],
    /// Arguments that a view has fixed.
    pub fixed: Option<&'a Json>,
}

/// Why there is no tool of a name.
#[derive(Debug)]
pub enum NoTool {
    Fault(Fault),
    /// Each of these scopes would make the client's token reach it.
    Scopes(Vec<String>),
}

/// Why a request is not carried out.
#[derive(Debug)]
pub enum Invalid {
    Refused(Refused),
    /// Something it names is not there. How a fault is told depends on what was asked.
    Fault {
        fault: Box<Fault>,
        verb: Verb,
        uri: Option<Text>,
    },
    /// A tool that the client's token would reach with one of these scopes (authorization, scope challenge).
    Scopes(Vec<String>),
}

impl From<Refused> for Invalid {
    fn from(refused: Refused) -> Invalid {
        Invalid::Refused(refused)
    }
}

impl Invalid {
    fn fault(fault: Fault, verb: Verb) -> Invalid {
        Invalid::Fault { fault: Box::new(fault), verb, uri: None }
    }
}

pub type Incoming = codec::Incoming<Own, ReplyTo>;

/// What only this protocol has.
#[derive(Debug)]
pub enum Own {
    Discover,
    Ping,
    /// `whole`: a hub asks, which searches for itself.
    List {
        list: List,
        cursor: Option<Text>,
        whole: bool,
    },
    /// A call that was asked something goes on.
    Resume(Resume),
    /// Content that a result linked to.
    Artifact(Text),
    Listen(Filter),
    TaskGet(TaskId),
    TaskUpdate(TaskId, Members),
    Session(SessionRequest),
}

/// About the session, which only its transport knows.
#[derive(Debug)]
pub enum SessionRequest {
    Initialize(Initialize),
    Subscribe(Text),
    Unsubscribe(Text),
    SetLevel(Level),
}

/// What the answer to a request depends on besides its outcome.
#[derive(Debug, Default)]
pub struct ReplyTo {
    pub verb: Verb,
    /// What was called: what is handed out is good for no other call.
    pub call: CallIdentity,
    /// The resource that is read, as the client calls it.
    pub uri: Option<Text>,
    pub turn: Turn,
    /// It was opened so that it outlives its client, who may be given a receipt; until then leaving is a cancel all the same.
    pub detached: bool,
    /// Answers that came with the call, before the hub asked: a client may know what its server will want.
    pub brought: Vec<(String, Json)>,
}

impl ReplyTo {
    pub fn of(verb: Verb) -> ReplyTo {
        ReplyTo { verb, ..ReplyTo::default() }
    }
}

/// Which turn of a conversation with an agent a call is.
#[derive(Debug, Default)]
pub enum Turn {
    /// It is not said to an agent.
    #[default]
    None,
    First,
    /// Of the conversation with this token.
    Next(String),
}

/// Which call it was: the same with another name or other arguments is another one.
#[derive(Debug, Clone, Default)]
pub struct CallIdentity {
    pub method: &'static str,
    pub name: Text,
    pub args: Option<Json>,
}

impl CallIdentity {
    /// Most calls are never asked anything, and need none.
    pub fn digest(&self) -> Digest {
        let args = self.args.as_ref().map_or([0; 32], |args| args.digest().0);
        Digest::of_fields([self.method.as_bytes(), self.name.as_bytes(), &args])
    }
}

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

#[derive(Debug, Clone)]
pub struct Initialize {
    pub version: Version,
    pub client: Client,
}

/// What an earlier result asked to be brought back.
#[derive(Debug, Clone)]
pub struct Resume {
    pub state: Text,
    pub responses: Members,
}

/// What a listener wants to hear.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    pub updates: Vec<Text>,
}

/// How many resources one listener may follow.
pub const MAX_UPDATES: usize = 1_000;

/// Reads what a request asks.
pub fn decode(request: &Request, context: &Context<'_>) -> Result<Carried<Incoming>, Invalid> {
    let (params, version) = (&request.params, context.said.version);
    checked(params)?;
    let modern = version.is_modern();
    let incoming = match &*request.method {
        "tools/list" => list(List::Tools, params),
        "prompts/list" => list(List::Prompts, params),
        "resources/list" => list(List::Resources, params),
        "resources/templates/list" => list(List::Templates, params),
        "tools/call" => call::tool(params, context)?,
        "prompts/get" => call::prompt(params, context)?,
        "resources/read" => call::read(params, context)?,
        "completion/complete" => call::complete(params, context)?,
        "server/discover" if modern => own(Own::Discover),
        "subscriptions/listen" if modern => own(Own::Listen(filter(params)?)),
        "tasks/get" if modern => {
            Incoming { reply: ReplyTo::of(Verb::Call), ..own(Own::TaskGet(task(params, context)?)) }
        }
        "tasks/update" if modern => own(Own::TaskUpdate(task(params, context)?, responses(params))),
        "tasks/cancel" if modern => {
            let (to, signal) = (task(params, context)?, Signal::Cancel(CancelWhy::Asked));
            incoming(Meaning::Signal { to, signal }, ReplyTo::default())
        }
        "initialize" if !modern => session(SessionRequest::Initialize(initialize(params)?)),
        "ping" if !modern => own(Own::Ping),
        "resources/subscribe" if !modern => session(SessionRequest::Subscribe(needed(params, "uri")?)),
        "resources/unsubscribe" if !modern => session(SessionRequest::Unsubscribe(needed(params, "uri")?)),
        "logging/setLevel" if !modern => match params.text("level").as_deref().and_then(level) {
            Some(level) => session(SessionRequest::SetLevel(level)),
            None => return Err(Refused::params("no such log level").into()),
        },
        method => return Err(Refused::no_such_method(method, version).into()),
    };
    Ok(Carried::whole(incoming))
}

fn incoming(meaning: Meaning<Own>, reply: ReplyTo) -> Incoming {
    Incoming { meaning, credentials: Vec::new(), reply }
}

fn own(own: Own) -> Incoming {
    incoming(Meaning::Own(own), ReplyTo::default())
}

fn session(request: SessionRequest) -> Incoming {
    own(Own::Session(request))
}

fn checked(params: &Members) -> Result<(), Refused> {
    if params.json().is_some() && !params.is_object() {
        return Err(Refused::params("`params` must be an object"));
    }
    Ok(())
}

fn text(params: &Members, key: &str) -> Option<Text> {
    params.text(key).map(|text| (&*text).into())
}

fn needed(params: &Members, key: &str) -> Result<Text, Refused> {
    text(params, key).ok_or_else(|| Refused::params(format!("`{key}` is missing")))
}

fn responses(params: &Members) -> Members {
    params.object("inputResponses").unwrap_or(Members::absent())
}

fn list(list: List, params: &Members) -> Incoming {
    let whole = params.object(meta::META).is_some_and(|meta| meta.bool(meta::WHOLE) == Some(true));
    own(Own::List { list, cursor: text(params, "cursor"), whole })
}

/// The task that a client who declared the extension names.
fn task(params: &Members, context: &Context<'_>) -> Result<TaskId, Invalid> {
    let id = needed(params, "taskId")?;
    if !context.said.client.tasks {
        return Err(Refused { error: fault::tasks_not_declared(), status: 400 }.into());
    }
    let none = || Fault::caller(FaultKind::NotFound(Noun::Task), "no such task");
    id.parse().map_err(|_| Invalid::fault(none(), Verb::Other))
}

fn filter(params: &Members) -> Result<Filter, Refused> {
    let wanted = params.object("notifications").ok_or_else(|| Refused::params("`notifications` is missing"))?;
    let updates = wanted.list("resourceSubscriptions").unwrap_or_default();
    if updates.len() > MAX_UPDATES {
        return Err(Refused::params("too many resources for one listener"));
    }
    let updates = updates.iter().filter_map(|uri| uri.tree().as_str().map(Into::into)).collect();
    let flag = |key| wanted.bool(key).unwrap_or_default();
    Ok(Filter {
        tools: flag("toolsListChanged"),
        prompts: flag("promptsListChanged"),
        resources: flag("resourcesListChanged"),
        updates,
    })
}

/// What opens a session. Nothing is known of its client before.
pub fn initialize(params: &Members) -> Result<Initialize, Refused> {
    checked(params)?;
    let asked = params.text("protocolVersion").ok_or_else(|| Refused::params("`protocolVersion` is missing"))?;
    let version = Version::negotiate(&asked);
    let capabilities = params.object("capabilities").unwrap_or(Members::absent());
    Ok(Initialize { version, client: Client::decode(&capabilities, version) })
}
