//! Encodes the hub's messages to a server, each complete with its id.

use bytes::Bytes;
use interlingua_model::{
    Ask, Call, Completes, HubId, Json, KindSet, Loss, LossKind, MessageId, Priority, Skill, SkillKind, Trace, Via,
};

use crate::names::server_name;
use crate::wire::headers;
use crate::wire::meta::{self, META};
use crate::wire::version::is_ours;
use crate::{Version, fault};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc::{self, Id};

pub const DISCOVER: &str = "server/discover";
pub const INITIALIZE: &str = "initialize";
pub const INITIALIZED: &str = "notifications/initialized";
pub const CANCELLED: &str = "notifications/cancelled";
pub const PING: &str = "ping";
pub const LISTEN: &str = "subscriptions/listen";
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub const SUBSCRIBE: &str = "resources/subscribe";
pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
pub const TASK_GET: &str = "tasks/get";
pub const TASK_UPDATE: &str = "tasks/update";
pub const TASK_CANCEL: &str = "tasks/cancel";

/// A message on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// `None`: a notification or a response.
    pub id: Option<u64>,
    pub method: &'static str,
    pub body: Bytes,
    /// What HTTP repeats of the body, in the modern era.
    pub headers: Vec<(String, String)>,
}

/// How this hub speaks on one request.
#[derive(Debug, Clone)]
pub struct Manner<'a> {
    pub version: Version,
    /// What whoever called the hub can be asked: a server is told nothing else, so it asks nothing else.
    pub can_answer: KindSet,
    /// Is the server a hub, which understands our own keys?
    pub hub: bool,
    pub trace: Option<&'a Trace>,
    pub via: Option<&'a Via>,
    /// What led to the call, for a hub.
    pub origin: Option<String>,
    /// The caller's own `_meta`, when it came in this protocol.
    pub meta: Option<Members>,
    pub key: Option<&'a MessageId>,
    /// How urgent it is, for a hub.
    pub priority: Priority,
    /// May it tell how far it is?
    pub progress: bool,
    /// May it answer with a receipt? The hub waits for whoever cannot hold one, except where the caller speaks the same
    /// version and did not say so: then the server decides as it would without a hub.
    pub receipts: bool,
    /// Asks a hub for all of a list, however long it is. Other servers do not know the word.
    pub whole: bool,
}

impl Manner<'_> {
    /// For what the hub asks on its own account.
    pub fn own(version: Version) -> Manner<'static> {
        Manner {
            version,
            can_answer: KindSet::NONE,
            hub: false,
            trace: None,
            via: None,
            origin: None,
            meta: None,
            key: None,
            priority: Priority::NORMAL,
            progress: false,
            receipts: true,
            whole: false,
        }
    }

    fn write(&self, id: u64, params: &mut Object<'_>) {
        if !self.version.is_modern() && !self.says_anything() {
            return;
        }
        params.object(META, |meta| {
            if self.version.is_modern() {
                meta.text(meta::PROTOCOL_VERSION, self.version.as_str());
                write_info(meta::CLIENT_INFO, meta);
                meta.object(meta::CLIENT_CAPABILITIES, |all| self.capabilities(all));
            }
            if self.progress {
                meta.number(meta::PROGRESS_TOKEN, id);
            }
            if let Some(trace) = self.trace {
                meta::write_trace(trace, meta);
            }
            if let Some(via) = self.via {
                meta.array(meta::VIA, &via.hubs, |hub: &HubId, out| {
                    interlingua_model::json::write_string(hub.as_str(), out)
                });
            }
            if let Some(origin) = self.origin.as_ref().filter(|_| self.hub) {
                meta.text(meta::ORIGIN, origin);
            }
            if let Some(key) = self.key.filter(|_| self.hub) {
                meta.text(meta::MESSAGE_ID, key.as_str());
            }
            if self.hub && self.priority != Priority::NORMAL {
                meta.number(meta::PRIORITY, self.priority.level().into());
            }
            if self.whole {
                meta.bool(meta::WHOLE, true);
            }
            self.pass_on(meta);
        });
    }

    fn says_anything(&self) -> bool {
        self.whole || self.progress || self.trace.is_some() || self.via.is_some() || self.meta.is_some()
    }

    /// What the caller wrote and the hub does not own.
    fn pass_on(&self, object: &mut Object<'_>) {
        for (key, value) in self.meta.iter().flat_map(Members::iter) {
            let protocols = key.starts_with("io.modelcontextprotocol/") && key != meta::LOG_LEVEL;
            let written = [meta::PROGRESS_TOKEN, meta::TRACEPARENT, meta::TRACESTATE, meta::BAGGAGE].contains(&key);
            let level = key == meta::LOG_LEVEL && !self.version.is_modern();
            if !protocols && !written && !level && !key.starts_with(meta::OURS) {
                object.value(key, &value);
            }
        }
    }

    fn capabilities(&self, all: &mut Object<'_>) {
        write_capabilities(self.can_answer, self.version, all);
        if self.receipts {
            all.object("extensions", |extensions| extensions.object(meta::TASKS, |_| {}));
        }
    }
}

fn write_capabilities(can: KindSet, version: Version, all: &mut Object<'_>) {
    let (form, url) = (can.has(KindSet::INPUT), can.has(KindSet::VISIT) && version.has_url_elicitation());
    if version.has_elicitation() && (form || url) {
        all.object("elicitation", |modes| {
            if form && version.has_url_elicitation() {
                modes.object("form", |_| {});
            }
            if url {
                modes.object("url", |_| {});
            }
        });
    }
    if can.has(KindSet::MODEL) {
        all.object("sampling", |_| {});
    }
    if can.has(KindSet::ROOTS) {
        all.object("roots", |_| {});
    }
}

fn write_info(key: &str, object: &mut Object<'_>) {
    object.object(key, |info| {
        info.text("name", "interlingua");
        info.text("version", env!("CARGO_PKG_VERSION"));
    });
}

/// A request whose params `fill` writes; `_meta` is added.
pub fn request(id: u64, method: &'static str, manner: &Manner<'_>, fill: impl FnOnce(&mut Object<'_>)) -> Outgoing {
    let params = Object::json(|params| {
        fill(params);
        manner.write(id, params);
    });
    let mut body = Vec::with_capacity(params.as_bytes().len() + 64);
    rpc::write_request(&Id::number(id), method, Some(&params), &mut body);
    let mut headers = Vec::new();
    if manner.version.is_modern() {
        headers.push((headers::METHOD.into(), method.into()));
        // The tasks extension's methods are named by their task (its section on request headers).
        if [TASK_GET, TASK_UPDATE, TASK_CANCEL].contains(&method)
            && let Some(task) = params.get("taskId").and_then(|task| task.as_str())
        {
            headers.push((headers::NAME.into(), headers::encode(task).into_owned()));
        }
    }
    Outgoing { id: Some(id), method, body: body.into(), headers }
}

pub fn notification(method: &'static str, manner: &Manner<'_>, fill: impl FnOnce(&mut Object<'_>)) -> Outgoing {
    let params = Object::json(fill);
    let mut body = Vec::new();
    rpc::write_notification(method, Some(&params), &mut body);
    let headers = if manner.version.is_modern() { vec![(headers::METHOD.into(), method.into())] } else { Vec::new() };
    Outgoing { id: None, method, body: body.into(), headers }
}

/// Opens a legacy session. Everything the hub can relay is declared: who cannot answer declines, call by call.
pub fn initialize(id: u64, version: Version) -> Outgoing {
    let all = KindSet::INPUT.with(KindSet::VISIT).with(KindSet::MODEL).with(KindSet::ROOTS);
    request(id, INITIALIZE, &Manner::own(version), |params| {
        params.text("protocolVersion", version.as_str());
        params.object("capabilities", |capabilities| write_capabilities(all, version, capabilities));
        write_info("clientInfo", params);
    })
}

pub fn cancelled(of: u64, manner: &Manner<'_>, reason: &str) -> Outgoing {
    notification(CANCELLED, manner, |params| {
        params.number("requestId", of);
        params.text("reason", reason);
    })
}

/// The answer to a request of the server's.
pub fn response(to: &Id, answer: Result<&Json, &rpc::Error>) -> Outgoing {
    let mut body = Vec::new();
    match answer {
        Ok(result) => rpc::write_result(to, &mut body, |out| out.extend_from_slice(result.as_bytes())),
        Err(error) => rpc::write_error(Some(to), error, &mut body),
    }
    Outgoing { id: None, method: "response", body: body.into(), headers: Vec::new() }
}

/// What a call is in this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Call,
    Prompt,
    Read,
    Complete,
}

impl Verb {
    pub fn of(call: &Call, kind: SkillKind) -> Verb {
        match &call.ask {
            Ask::Read { .. } => Verb::Read,
            Ask::Complete { .. } => Verb::Complete,
            Ask::Invoke { .. } => match kind {
                SkillKind::Prompt => Verb::Prompt,
                SkillKind::Tool | SkillKind::Agent => Verb::Call,
            },
        }
    }

    pub fn method(self) -> &'static str {
        match self {
            Verb::Call => "tools/call",
            Verb::Prompt => "prompts/get",
            Verb::Read => "resources/read",
            Verb::Complete => "completion/complete",
        }
    }

    pub fn fault(self) -> fault::Verb {
        match self {
            Verb::Call => fault::Verb::Call,
            Verb::Prompt => fault::Verb::Prompt,
            Verb::Read => fault::Verb::Read,
            Verb::Complete => fault::Verb::Other,
        }
    }
}

/// A call, as its server takes it. `answers`: what the server asked for when the same call was made before.
pub fn call(
    id: u64,
    call: &Call,
    skill: &Skill,
    manner: &Manner<'_>,
    answers: Option<&super::state::Answers>,
) -> Outgoing {
    let verb = Verb::of(call, skill.kind);
    let mut outgoing = request(id, verb.method(), manner, |params| {
        write_ask(&call.ask, skill, params);
        write_unknown(call, params);
        if let Some(answers) = answers {
            answers.write(params);
        }
    });
    if manner.version.is_modern() {
        repeat(&call.ask, skill, &mut outgoing.headers);
    }
    outgoing
}

/// What HTTP repeats of a call: its name, and the arguments that the tool's schema marks.
fn repeat(ask: &Ask, skill: &Skill, repeated: &mut Vec<(String, String)>) {
    let name = match ask {
        Ask::Invoke { .. } => server_name(&skill.id.skill),
        Ask::Read { uri, .. } => uri,
        Ask::Complete { .. } => return,
    };
    repeated.push((headers::NAME.into(), headers::encode(name).into_owned()));
    let Ask::Invoke { input, .. } = ask else { return };
    for param in headers::params(&skill.input.0).unwrap_or_default() {
        if let Some(value) = headers::value(input.args.as_ref(), &param) {
            repeated.push((param.header, headers::encode(&value).into_owned()));
        }
    }
}

/// What the caller's request held beyond what is known here, when it spoke this protocol (model: the raw lane).
fn write_unknown(call: &Call, params: &mut Object<'_>) {
    const KNOWN: [&str; 11] = [
        "name",
        "uri",
        "arguments",
        META,
        "requestState",
        "inputResponses",
        "task",
        "ref",
        "argument",
        "context",
        "cursor",
    ];
    let raw = call.raw.as_ref().filter(|raw| is_ours(&raw.wire));
    let Some(json) = raw.map(|raw| &raw.json) else { return };
    for (key, value) in Members::of(json).iter().filter(|(key, _)| !KNOWN.contains(key)) {
        params.value(key, &value);
    }
}

fn write_ask(ask: &Ask, skill: &Skill, params: &mut Object<'_>) {
    match ask {
        Ask::Invoke { input, .. } => {
            params.text("name", server_name(&skill.id.skill));
            match &input.args {
                Some(args) => params.value("arguments", args),
                None => params.value("arguments", &Json::empty_object()),
            }
        }
        Ask::Read { uri, .. } => params.text("uri", uri),
        Ask::Complete { of, argument, typed, known } => {
            params.object("ref", |of_what| match of {
                Completes::Skill(id) => {
                    of_what.text("type", "ref/prompt");
                    of_what.text("name", server_name(&id.skill));
                }
                Completes::Template(_, uri) => {
                    of_what.text("type", "ref/resource");
                    of_what.text("uri", uri);
                }
            });
            params.object("argument", |named| {
                named.text("name", argument);
                named.text("value", typed);
            });
            if known.is_object() && &known.as_bytes()[..] != b"{}" {
                params.object("context", |context| context.value("arguments", known));
            }
        }
    }
}

/// What a server of this protocol has no place for. Its deadline is kept by the hub; another hub is told how urgent it is.
pub fn losses(call: &Call, hub: bool) -> Vec<Loss> {
    let mut losses = Vec::new();
    if !hub && call.limits.priority != Priority::NORMAL {
        losses.push(Loss::new("call.priority", LossKind::Dropped));
    }
    losses
}

/// May a server answer this call with a receipt? See [`Manner::receipts`].
pub fn takes_receipts(call: &Call, version: Version) -> bool {
    let same = call.origin.wire().is_some_and(|wire| *wire == version.wire());
    !same || callers_meta(call).is_some_and(|meta| meta.has(meta::TASKS))
}

/// The caller's `_meta`, when it spoke this protocol.
pub fn callers_meta(call: &Call) -> Option<Members> {
    let meta = call.meta.0.as_ref().filter(|_| call.origin.wire().is_some_and(is_ours))?;
    Some(Members::of(meta))
}
