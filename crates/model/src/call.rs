//! Calls: what the caller asks for, the target, and what the caller can receive.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::card::Schema;
use crate::content::{Input, Meta, Party, Trust};
use crate::event::Why;
use crate::fault::{Fault, FaultKind};
use crate::id::{ConversationId, HubId, Media, MessageId, PeerId, SkillId, TaskId, Text, Time, Uri, Version};
use crate::json::Json;
use crate::origin::{Chosen, Maker, Origin};
use crate::principal::Principal;
use crate::question::{KindSet, QuestionKind};
use crate::wire::Raw;

/// What enters the hub. Made only by `authenticate`, or for a child call from its parent's chain.
#[derive(Debug)]
pub struct Request {
    /// Who calls, as authentication established it.
    pub by: Principal,
    /// Names the connection within this hub: an Anonymous caller's idempotency keys count only there.
    pub connection: u64,
    /// What is asked for. Boxed, because a request is moved through every phase.
    pub call: Box<Call>,
}

/// What is asked for, with everything the hub needs to know in order to route, check, bound and trace it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The caller's message id, a child's derived id, or a minted one.
    pub id: MessageId,
    /// True for the first two: then it is an idempotency key.
    pub id_given: bool,
    /// What is asked for, and of whom.
    pub ask: Ask,
    /// The conversation it belongs to, if the caller named one or the hub opened one for it.
    pub conversation: Option<ConversationId>,
    /// The agent, team or graph run that calls: its scope, budget and cancellation apply.
    pub parent: Option<TaskId>,
    /// What this caller can take: which questions, which media types.
    pub caller: Caller,
    /// Deadline, priority, and what is stored.
    pub limits: Limits,
    /// The hubs it passed before this one; `None` for a call that did not come from a hub.
    pub via: Option<Via>,
    /// The trace it belongs to, for telemetry.
    pub trace: Option<Trace>,
    /// The wire it arrived by and what caused it. Journals written before origins existed have nothing here for calls of the hub's own.
    #[serde(rename = "wire", default = "Origin::program")]
    pub origin: Origin,
    /// Metadata of the caller's protocol that the model has no field for.
    #[serde(default, skip_serializing_if = "Meta::is_none")]
    pub meta: Meta,
    /// The request as it was written, for a peer that speaks the same protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
}

impl Call {
    /// A call with default settings; decoders set the fields that their wire has.
    pub fn new(id: impl Into<MessageId>, origin: impl Into<Origin>, ask: Ask) -> Call {
        Call {
            id: id.into(),
            id_given: false,
            ask,
            conversation: None,
            parent: None,
            caller: Caller::default(),
            limits: Limits::default(),
            via: None,
            trace: None,
            origin: origin.into(),
            meta: Meta::default(),
            raw: None,
        }
    }

    /// The conversation under which data may be stored for this caller. Anonymous callers share one owner and are distinguished by this
    /// alone, so a guessable name is not enough.
    pub fn remembered_by(&self, by: &Principal) -> Option<&ConversationId> {
        self.conversation.as_ref().filter(|id| !by.is_anonymous() || id.is_unguessable())
    }

    /// A call that the hub makes on behalf of this one, which runs as `task`: it inherits the origin, priority, deadline and route. Its id
    /// is the same after a restart, and leads to the same exchange.
    pub fn child(&self, task: TaskId, here: &HubId, by: Maker, id: impl Into<MessageId>, ask: Ask) -> Call {
        let mut call = Call::new(id, self.origin.child(by, self.trust()), ask);
        call.id_given = true;
        call.parent = Some(task);
        call.limits.priority = self.limits.priority;
        call.limits.deadline = self.limits.deadline.filter(|deadline| deadline.set_by == DeadlineBy::Caller);
        call.via = self.via.as_ref().and_then(|via| via.before(here));
        call.trace.clone_from(&self.trace);
        call
    }

    /// Adds what the previous hub reports as the cause of this call.
    pub fn told(&mut self, origin: &str) {
        self.origin.told(origin);
    }

    /// Adds this origin to the causes of the call.
    pub fn led_by(&mut self, origin: &Origin) {
        self.origin.joins(origin);
    }

    /// The lowest trust of its causes and its input.
    pub fn trust(&self) -> Trust {
        self.origin.trust().min(self.input().map_or(Trust::Caller, |input| input.trust))
    }

    /// How this target was chosen, given why its route was selected.
    pub fn chosen_by(&self, why: Why) -> Chosen {
        match self.origin.chosen_by() {
            Chosen::ByName if matches!(why, Why::Phrase | Why::Ranked) => Chosen::ByWords,
            Chosen::ByName if self.names_another() => Chosen::ByArgument,
            chosen @ (Chosen::ByName | Chosen::ByModel | Chosen::ByWords | Chosen::ByPlan | Chosen::ByArgument) => {
                chosen
            }
        }
    }

    /// Does one of its arguments name the actual target?
    fn names_another(&self) -> bool {
        match &self.ask {
            Ask::Invoke { target: Target::Skill(id, _), .. } => id.is_call_skill(),
            Ask::Invoke { .. } | Ask::Read { .. } | Ask::Complete { .. } => false,
        }
    }

    /// The skill it names, before a route was chosen.
    pub fn names(&self) -> Option<&SkillId> {
        match &self.ask {
            Ask::Invoke { target: Target::Skill(id, _), .. } | Ask::Complete { of: Completes::Skill(id), .. } => {
                Some(id)
            }
            Ask::Invoke { .. } | Ask::Complete { .. } | Ask::Read { .. } => None,
        }
    }

    /// The input of an invocation; `None` for a read or a completion.
    pub fn input(&self) -> Option<&Input> {
        match &self.ask {
            Ask::Invoke { input, .. } => Some(input),
            Ask::Read { .. } | Ask::Complete { .. } => None,
        }
    }
}

/// The three things that can be asked of a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Call a skill.
    Invoke {
        /// The skill, or how to find it.
        target: Target,
        /// Arguments and content.
        input: Input,
    },
    /// The contents come back as parts, each with its own `uri`.
    Read {
        /// The peer that has the resource.
        peer: PeerId,
        /// The resource, as its peer spells it.
        uri: Uri,
    },
    /// Asks for completions of an argument. `known`: the arguments given so far. The answer is `structured`: an object with `values`, and
    /// if the peer reports them `total` and `hasMore`.
    Complete {
        /// The skill or template whose argument is completed.
        of: Completes,
        /// The argument's name.
        argument: Text,
        /// What was typed of it so far.
        typed: Text,
        /// The other arguments given so far, as an object.
        known: Json,
    },
}

/// What has an argument that can be completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Completes {
    /// An argument of a skill.
    Skill(SkillId),
    /// The template of a resource, as its peer spells it.
    Template(PeerId, Uri),
}

/// Where an invocation goes: the more it names, the less the hub chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// This skill, and this version of it where one is given.
    Skill(SkillId, Option<Version>),
    /// Any healthy peer whose skill declares it.
    Capability(Text),
    /// This peer, in words.
    Peer(PeerId),
    /// Plain words to the hub, or to its configured front door.
    Words,
}

/// What this caller can receive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caller {
    /// The kinds of questions that the caller's protocol can carry and the caller said it answers.
    pub can_answer: KindSet,
    /// What happens when a required argument is absent.
    pub missing: Missing,
    /// Media types that the caller reads; empty where it did not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<Media>,
    /// Tools that the caller runs itself, for a callee that has a model to offer them to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ClientTool>,
}

/// How many tools a caller may offer.
pub const MAX_CLIENT_TOOLS: usize = 64;
/// How many bytes the names, descriptions and schemas of these tools may have together.
pub const MAX_CLIENT_TOOL_BYTES: usize = 256 * 1024;
/// The longest tool name that providers of models accept.
pub const MAX_TOOL_NAME: usize = 64;

/// A tool that the caller runs itself. [`QuestionKind::Tool`] asks the caller to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientTool {
    /// The name that the model uses: 1 to [`MAX_TOOL_NAME`] letters, digits, `_` and `-`.
    pub name: Text,
    /// The description that the model is given.
    pub description: Text,
    /// JSON Schema of its arguments.
    pub input: Schema,
}

impl ClientTool {
    /// Checks the tools that a caller offers. A name has only characters that every provider of models accepts.
    pub fn check(tools: &[ClientTool]) -> Result<(), Fault> {
        let wrong = |text: String| Err(Fault::caller(FaultKind::InvalidInput, text));
        if tools.len() > MAX_CLIENT_TOOLS {
            return wrong(format!("{} tools are offered; {MAX_CLIENT_TOOLS} are the most", tools.len()));
        }
        let bytes: usize = tools.iter().map(ClientTool::weight).sum();
        if bytes > MAX_CLIENT_TOOL_BYTES {
            return wrong(format!("the tools have {bytes} bytes; {MAX_CLIENT_TOOL_BYTES} are the most"));
        }
        let mut names = BTreeSet::new();
        for tool in tools {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            if tool.name.is_empty() || tool.name.len() > MAX_TOOL_NAME || !tool.name.bytes().all(plain) {
                let text = "the name of a tool is 1 to 64 letters of a-z, A-Z, 0-9, '_' and '-'";
                return wrong(text.to_owned());
            }
            if !tool.input.0.is_object() {
                return wrong(format!("the schema of the tool '{}' is not an object", tool.name));
            }
            if !names.insert(&tool.name) {
                return wrong(format!("the tool '{}' is offered twice", tool.name));
            }
        }
        Ok(())
    }

    /// Size in bytes, of everything the caller wrote.
    pub fn weight(&self) -> usize {
        self.name.len() + self.description.len() + self.input.0.as_bytes().len()
    }
}

impl Caller {
    /// Can a question of a peer be answered? A request for approval goes to an approver, whatever the caller's wire can carry.
    pub fn is_answered_for(&self, question: &QuestionKind) -> bool {
        match question {
            QuestionKind::Confirm(_) => true,
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => self.can_answer.has(question.set()),
        }
    }
}

impl Default for Caller {
    fn default() -> Self {
        Caller { can_answer: KindSet::NONE, missing: Missing::Refuse, accepts: Vec::new(), tools: Vec::new() }
    }
}

/// A required argument is absent: ask, or `InvalidInput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// Ask the caller for it.
    Question,
    /// Refuse the call as [`FaultKind::InvalidInput`].
    Refuse,
}

/// How long a call may take, how urgent it is, and what is stored of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// When it must be finished; `None` until the hub sets its default.
    pub deadline: Option<Deadline>,
    /// Its place in the queue of calls that wait for their turn.
    pub priority: Priority,
    /// What happens when the caller's connection ends first.
    pub on_disconnect: OnDisconnect,
    /// A task from the start. Otherwise an exchange becomes one once it asks, its id is reported, it outlives its caller, its skill is
    /// always stored, or its id was given and the skill is not idempotent.
    pub keep: bool,
    /// The caller requires approval whatever the skill's effects say.
    #[serde(default)]
    pub confirm: bool,
    /// Calls that follow from it run only if they are known to read only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_read: bool,
    /// How long its id is stored for replay, if its wire overrides the hub's setting; zero means not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            deadline: None,
            priority: Priority::NORMAL,
            on_disconnect: OnDisconnect::Cancel,
            keep: false,
            confirm: false,
            only_read: false,
            replay: None,
        }
    }
}

/// The hub's own default deadline pauses while only questions are open; a caller's never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadline {
    /// The time at which the exchange fails as [`FaultKind::Deadline`].
    pub at: Time,
    /// Who set it, and so whose fault a missed deadline is.
    pub set_by: DeadlineBy,
}

/// Who set a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeadlineBy {
    /// The caller, in its protocol.
    Caller,
    /// The hub, by its configuration or its peer's.
    Hub,
}

impl DeadlineBy {
    /// The party that a fault about this deadline names.
    pub fn party(self) -> Party {
        match self {
            DeadlineBy::Caller => Party::Caller,
            DeadlineBy::Hub => Party::Hub,
        }
    }
}

/// 0 to 9; 5 is normal, 9 the most urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(u8);

impl Priority {
    /// The priority of a call that does not specify one.
    pub const NORMAL: Priority = Priority(5);
    /// The most urgent level.
    pub const MAX: u8 = 9;

    /// A level from 0 to [`Priority::MAX`]; `None` above it.
    pub fn new(level: u8) -> Option<Priority> {
        (level <= Self::MAX).then_some(Priority(level))
    }

    /// The level, from 0 to [`Priority::MAX`].
    pub fn level(self) -> u8 {
        self.0
    }
}

/// What becomes of an exchange when its caller's connection ends before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDisconnect {
    /// Cancel it.
    Cancel,
    /// Cancel it unless the caller is back within this time.
    CancelAfter(Duration),
    /// Run it to its end; the caller reads the outcome later.
    Detach,
}

/// Hubs passed so far. A hub that finds itself here, or the list full, answers `Loop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    /// In the order they were passed.
    pub hubs: Vec<HubId>,
    /// How many there may be; at most [`Via::LIMIT`].
    pub limit: u8,
}

impl Via {
    /// How many hubs a call may pass.
    pub const LIMIT: u8 = 8;

    /// The path without this hub, for a call that it makes on behalf of one it has accepted: the entry point adds the hub itself.
    pub fn before(&self, here: &HubId) -> Option<Via> {
        let hubs: Vec<HubId> = self.hubs.iter().filter(|hub| *hub != here).cloned().collect();
        (!hubs.is_empty()).then_some(Via { hubs, limit: self.limit })
    }

    /// The hubs passed once `here` has accepted the call, or the fault that stops a loop.
    pub fn through(before: Option<&Via>, here: &HubId) -> Result<Via, Fault> {
        let (mut hubs, limit) =
            before.map_or((Vec::new(), Via::LIMIT), |via| (via.hubs.clone(), via.limit.min(Via::LIMIT)));
        if hubs.contains(here) || hubs.len() >= usize::from(limit) {
            let passed: Vec<&str> = hubs.iter().take(usize::from(Via::LIMIT)).map(HubId::as_str).collect();
            let text = format!("the call has already passed the hubs {}", passed.join(", "));
            return Err(Fault::hub(FaultKind::Loop, text));
        }
        hubs.push(here.clone());
        Ok(Via { hubs, limit })
    }
}

/// W3C trace context, verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The header `traceparent`.
    pub parent: Option<Text>,
    /// The header `tracestate`.
    pub state: Option<Text>,
    /// The header `baggage`.
    pub baggage: Option<Text>,
}
