//! The server's side of requests: what a client asks, read once.
//!
//! A request of the modern era says in its `_meta` who asks and what it can take; in the legacy era that was said when the
//! session began, and is passed in. What is asked of a skill, a resource or a completion becomes a call at the hub's door;
//! lists, sessions and subscriptions are the edge's own business.

use interlingua_model::{Deadline, DeadlineBy, Json, Level, MessageId, Priority, TaskId, Text, Time, Trace, Via};

use super::Version;
use super::fault::UNSUPPORTED_VERSION;
use super::wire::capabilities::Client;
use super::wire::meta;
use interlingua_wire::hub_headers;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc::{self, Id};

/// An error response, and the status it has on HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub error: rpc::Error,
    pub status: u16,
}

impl Refused {
    pub fn params(text: impl Into<Text>) -> Refused {
        Refused { error: rpc::Error::new(rpc::INVALID_PARAMS, text), status: 200 }
    }

    /// A request that is wrong as such.
    fn malformed(text: impl Into<Text>) -> Refused {
        Refused { error: rpc::Error::new(rpc::INVALID_PARAMS, text), status: 400 }
    }

    pub fn no_such_method(method: &str, version: Version) -> Refused {
        let short: String = method.chars().take(64).collect();
        let error = rpc::Error::new(rpc::METHOD_NOT_FOUND, format!("Method not found: {short}"));
        Refused { error, status: if version.is_modern() { 404 } else { 200 } }
    }
}

/// What a request says beside what it asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub version: Version,
    pub client: Client,
    /// Progress is told under it.
    pub progress: Option<Id>,
    /// Log lines from this level up; without it none.
    pub log: Option<Level>,
    pub trace: Option<Trace>,
    pub via: Option<Via>,
    /// What the hub before says led to it, as it came.
    pub origin: Option<String>,
    pub deadline: Option<Deadline>,
    pub priority: Priority,
    /// An idempotency key.
    pub message: Option<MessageId>,
    /// What of `_meta` is neither the protocol's nor ours: a peer of the same protocol may know it.
    pub free: Option<Json>,
}

impl Said {
    fn new(version: Version, client: Client, meta: &Members, now: Time) -> Result<Said, Refused> {
        let (via, deadline, priority) = (meta::via(meta), meta.text(meta::DEADLINE), meta.text(meta::PRIORITY));
        let hop = hub_headers::Headers {
            via: via.as_deref(),
            deadline: deadline.as_deref(),
            priority: priority.as_deref(),
            ..hub_headers::Headers::default()
        };
        let hop = hop.decode(now).map_err(|bad| Refused::params(bad.to_string()))?;
        let priority = match meta.number(meta::PRIORITY).map(Priority::new) {
            Some(Some(priority)) => priority,
            Some(None) => return Err(Refused::params("interlingua/priority must be 0 to 9")),
            None => hop.priority,
        };
        Ok(Said {
            version,
            client,
            progress: meta.get(meta::PROGRESS_TOKEN).as_ref().and_then(Id::of).filter(|token| !token.is_null()),
            log: None,
            trace: meta::trace(meta),
            via: hop.via,
            origin: meta.text(meta::ORIGIN).map(|text| text.into_owned()),
            deadline: hop.deadline.map(|deadline| Deadline { set_by: DeadlineBy::Caller, ..deadline }),
            priority,
            message: meta.text(meta::MESSAGE_ID).map(|id| MessageId::from(&*id)),
            free: meta::free(meta),
        })
    }

    /// A modern request, by its `_meta`: version and capabilities are required (2026-07-28, basic, `_meta`).
    pub fn modern(meta: Option<&Members>, now: Time) -> Result<Said, Refused> {
        let meta = meta.ok_or_else(|| Refused::malformed("`_meta` is missing"))?;
        let named = |key: &str| Refused::malformed(format!("`_meta` has no {key}"));
        let version = meta.text(meta::PROTOCOL_VERSION).ok_or_else(|| named(meta::PROTOCOL_VERSION))?;
        let version = match Version::parse(&version) {
            Some(version) if version.is_modern() => version,
            Some(_) | None => return Err(unsupported(&version)),
        };
        let client = meta.object(meta::CLIENT_CAPABILITIES).ok_or_else(|| named(meta::CLIENT_CAPABILITIES))?;
        let log = match meta.text(meta::LOG_LEVEL) {
            None => None,
            Some(level) => Some(self::level(&level).ok_or_else(|| Refused::malformed("no such log level"))?),
        };
        Ok(Said { log, ..Said::new(version, Client::decode(&client, version), meta, now)? })
    }

    /// A request of a session.
    pub fn legacy(params: &Members, version: Version, client: Client, now: Time) -> Result<Said, Refused> {
        let meta = params.object(meta::META).unwrap_or(Members::absent());
        Said::new(version, client, &meta, now)
    }
}

/// A version this hub does not answer in.
pub fn unsupported(asked: &str) -> Refused {
    let data = Object::json(|data| {
        data.array("supported", Version::SERVED, |version, out| {
            interlingua_model::json::write_string(version.as_str(), out);
        });
        data.text("requested", &asked.chars().take(64).collect::<String>());
    });
    Refused { error: rpc::Error::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with(data), status: 400 }
}

/// The protocol's eight levels as the model's four.
pub fn level(text: &str) -> Option<Level> {
    Some(match text {
        "debug" => Level::Debug,
        "info" | "notice" => Level::Info,
        "warning" => Level::Warning,
        "error" | "critical" | "alert" | "emergency" => Level::Error,
        _ => return None,
    })
}

/// The level as the protocol spells it.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
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

/// What is asked.
#[derive(Debug, Clone)]
pub enum Method {
    Discover,
    Initialize(Initialize),
    Ping,
    /// `whole`: a hub asks, which searches for itself.
    List {
        list: List,
        cursor: Option<Text>,
        whole: bool,
    },
    Call(Invoke),
    Prompt(Invoke),
    Read(Read),
    Complete(Complete),
    Subscribe(Text),
    Unsubscribe(Text),
    SetLevel(Level),
    Listen(Filter),
    TaskGet(Text),
    TaskUpdate(Text, Members),
    TaskCancel(Text),
}

#[derive(Debug, Clone)]
pub struct Initialize {
    pub version: Version,
    pub client: Client,
    pub name: Text,
}

#[derive(Debug, Clone)]
pub struct Invoke {
    pub name: Text,
    pub args: Option<Json>,
    pub resume: Resume,
}

#[derive(Debug, Clone)]
pub struct Read {
    pub uri: Text,
    pub resume: Resume,
}

/// What an earlier result asked to be brought back.
#[derive(Debug, Clone)]
pub struct Resume {
    pub state: Option<Text>,
    pub responses: Members,
}

#[derive(Debug, Clone)]
pub struct Complete {
    pub of: Reference,
    pub argument: Text,
    pub typed: Text,
    pub known: Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    Prompt(Text),
    Template(Text),
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

/// Reads what a method of this version asks.
pub fn decode(method: &str, params: &Members, version: Version) -> Result<Method, Refused> {
    if params.json().is_some() && !params.is_object() {
        return Err(Refused::params("`params` must be an object"));
    }
    let modern = version.is_modern();
    let whole = || params.object(meta::META).is_some_and(|meta| meta.bool(meta::WHOLE) == Some(true));
    let list = |list| Ok(Method::List { list, cursor: text(params, "cursor"), whole: whole() });
    match method {
        "tools/list" => list(List::Tools),
        "prompts/list" => list(List::Prompts),
        "resources/list" => list(List::Resources),
        "resources/templates/list" => list(List::Templates),
        "tools/call" => invoke(params).map(Method::Call),
        "prompts/get" => invoke(params).map(Method::Prompt),
        "resources/read" => Ok(Method::Read(Read { uri: needed(params, "uri")?, resume: resume(params) })),
        "completion/complete" => complete(params).map(Method::Complete),
        "server/discover" if modern => Ok(Method::Discover),
        "subscriptions/listen" if modern => filter(params).map(Method::Listen),
        "tasks/get" if modern => Ok(Method::TaskGet(needed(params, "taskId")?)),
        "tasks/update" if modern => {
            let responses = params.object("inputResponses").unwrap_or(Members::absent());
            Ok(Method::TaskUpdate(needed(params, "taskId")?, responses))
        }
        "tasks/cancel" if modern => Ok(Method::TaskCancel(needed(params, "taskId")?)),
        "initialize" if !modern => initialize(params).map(Method::Initialize),
        "ping" if !modern => Ok(Method::Ping),
        "resources/subscribe" if !modern => Ok(Method::Subscribe(needed(params, "uri")?)),
        "resources/unsubscribe" if !modern => Ok(Method::Unsubscribe(needed(params, "uri")?)),
        "logging/setLevel" if !modern => match params.text("level").as_deref().and_then(level) {
            Some(level) => Ok(Method::SetLevel(level)),
            None => Err(Refused::params("no such log level")),
        },
        _ => Err(Refused::no_such_method(method, version)),
    }
}

fn text(params: &Members, key: &str) -> Option<Text> {
    params.text(key).map(|text| (&*text).into())
}

fn needed(params: &Members, key: &str) -> Result<Text, Refused> {
    text(params, key).ok_or_else(|| Refused::params(format!("`{key}` is missing")))
}

fn invoke(params: &Members) -> Result<Invoke, Refused> {
    let args = match params.get("arguments") {
        Some(args) if args.is_object() => Some(args),
        Some(args) if args.is_null() => None,
        Some(_) => return Err(Refused::params("`arguments` must be an object")),
        None => None,
    };
    Ok(Invoke { name: needed(params, "name")?, args, resume: resume(params) })
}

fn resume(params: &Members) -> Resume {
    let responses = params.object("inputResponses").unwrap_or(Members::absent());
    Resume { state: text(params, "requestState"), responses }
}

fn complete(params: &Members) -> Result<Complete, Refused> {
    let reference = params.object("ref").ok_or_else(|| Refused::params("`ref` is missing"))?;
    let of = match reference.text("type").as_deref() {
        Some("ref/prompt") => Reference::Prompt(needed(&reference, "name")?),
        Some("ref/resource") => Reference::Template(needed(&reference, "uri")?),
        Some(_) | None => return Err(Refused::params("`ref` must be a prompt or a resource template")),
    };
    let argument = params.object("argument").ok_or_else(|| Refused::params("`argument` is missing"))?;
    let known = params.object("context").and_then(|context| context.get("arguments")).filter(Json::is_object);
    Ok(Complete {
        of,
        argument: needed(&argument, "name")?,
        typed: needed(&argument, "value")?,
        known: known.unwrap_or_else(Json::empty_object),
    })
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

fn initialize(params: &Members) -> Result<Initialize, Refused> {
    let asked = params.text("protocolVersion").ok_or_else(|| Refused::params("`protocolVersion` is missing"))?;
    let version = Version::negotiate(&asked);
    let capabilities = params.object("capabilities").unwrap_or(Members::absent());
    let info = params.object("clientInfo").unwrap_or(Members::absent());
    let name = info.text("name").unwrap_or_default().chars().take(64).collect::<String>();
    Ok(Initialize { version, client: Client::decode(&capabilities, version), name: name.into() })
}

/// The id of a task as the hub spells it.
pub fn task(id: &str) -> Option<TaskId> {
    id.parse().ok()
}
