//! A message as a call or as more input to a task that runs. It proves nothing about who sent it.

mod part;
pub mod request;

use std::time::Duration;

use interlingua_machines::bus::Kind;
use interlingua_model::{
    Ask, Call, Caller, Carried, ConversationId, Input, Json, KindSet, Limits, Loss, LossKind, MessageId, Meta, Missing,
    OnDisconnect, PeerId, Priority, Provenance, SkillId, Target, Text, Time, Trust,
};

use super::Version;
use super::ext::{self, Hints};
use super::invalid::{Invalid, Problem};
use super::wire::{Content, Message, Send};
use interlingua_wire::hub_headers::{BadHop, Headers};
use interlingua_wire::object::Object;

pub use part::decode as part;

/// Which agent a message came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressed {
    /// The hub itself: a skill by name, or plain words.
    Hub,
    Peer(PeerId),
}

/// How its sender wants to hear of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// One answer, when there is one or a question.
    Answer,
    /// The task at once.
    Receipt,
    Stream,
}

#[derive(Debug, Clone)]
pub struct Context<'a> {
    pub version: Version,
    pub door: Addressed,
    pub now: Time,
    pub headers: Headers<'a>,
    pub wants: Wants,
    /// How long a message id is remembered, where that is not the hub's own rule.
    pub replay: Option<Duration>,
}

/// What a message is.
#[derive(Debug)]
pub enum Meaning {
    Call(Box<Call>),
    /// To a task that is there already.
    More {
        task: Text,
        context: Option<Text>,
        message: MessageId,
        input: Input,
    },
    /// It belongs to no task, and is for whoever listens.
    Event(Box<Announcement>),
}

/// Something happened.
#[derive(Debug)]
pub struct Announcement {
    pub id: MessageId,
    pub topic: Text,
    pub content: Json,
    pub priority: Priority,
    pub readers: Vec<Text>,
    pub from: Option<Text>,
    pub correlation: Option<Text>,
    pub meta: Meta,
}

pub fn decode(send: Send, context: &Context<'_>) -> Result<Carried<Meaning>, Invalid> {
    let hints = ext::hints([send.message.metadata.as_ref(), send.metadata.as_ref()])?;
    let mut losses = Vec::new();
    let Send { message, configuration, metadata } = send;
    let push = configuration.push.is_some();
    if let Some(task) = message.task.clone() {
        let (id, within) = (MessageId(message.id.clone()), message.context.clone());
        let meaning = Meaning::More { task, context: within, message: id, input: input(message, &mut losses) };
        return Ok(Carried { value: meaning, losses });
    }
    let to_nobody = context.door == Addressed::Hub && hints.skill.is_none();
    match (hints.kind, &hints.topic) {
        (Some(Kind::Event), Some(topic)) => {
            let told = told(topic.clone(), hints, message)?;
            return Ok(Carried { value: Meaning::Event(Box::new(told)), losses });
        }
        // To one agent, or for one of its skills, it is a message like any other; to the hub it must say what it is about.
        (Some(Kind::Event), None) if to_nobody => return Err(Invalid::at("metadata.topic", Problem::Missing)),
        (Some(Kind::Response), _) => return Err(Invalid::at("metadata.type", Problem::UnknownValue)),
        (Some(Kind::Event | Kind::Request | Kind::Query | Kind::Artifact) | None, _) => {}
    }
    let target = target(&hints, &context.door)?;
    let (id, within) = (message.id.clone(), message.context.clone());
    let meta = message.metadata.clone().or(metadata);
    let ask = Ask::Invoke { target, input: input(message, &mut losses) };
    let mut call = Call::new(MessageId(id), context.version.wire(), ask);
    // A query leaves nothing behind: sent again, it is asked again.
    call.id_given = hints.kind != Some(Kind::Query);
    call.conversation = within.map(ConversationId);
    call.meta = Meta(meta);
    call.caller = Caller {
        can_answer: KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT),
        missing: Missing::Question,
        accepts: configuration.accepts,
        tools: Vec::new(),
    };
    travel(&hints, context, &mut call)?;
    call.limits = Limits {
        on_disconnect: OnDisconnect::Detach,
        keep: push || context.wants != Wants::Answer,
        replay: context.replay,
        ..call.limits
    };
    Ok(Carried { value: Meaning::Call(Box::new(call)), losses })
}

/// An event's content is one object, or words.
fn told(topic: Text, hints: Hints, message: Message) -> Result<Announcement, Invalid> {
    let words = message.parts.iter().map(|part| match &part.content {
        Content::Text(text) => Some(&**text),
        Content::Raw(_) | Content::Url(_) | Content::Data(_) => None,
    });
    let content = match (message.parts.as_slice(), words.collect::<Option<Vec<&str>>>()) {
        (_, Some(words)) => Some(Object::json(|object| object.text("text", &words.join("\n")))),
        ([one], None) => match &one.content {
            Content::Data(data) if data.is_object() => Some(data.clone()),
            Content::Data(_) | Content::Text(_) | Content::Raw(_) | Content::Url(_) => None,
        },
        (_, None) => None,
    };
    Ok(Announcement {
        content: content.ok_or_else(|| Invalid::at("message.parts", Problem::NotAnObject))?,
        id: MessageId(message.id),
        topic,
        priority: hints.priority.unwrap_or(Priority::NORMAL),
        readers: hints.readers,
        from: hints.from,
        correlation: hints.correlation,
        meta: Meta(message.metadata),
    })
}

/// What the way here says: the extension's words count before the headers'.
fn travel(hints: &Hints, context: &Context<'_>, call: &mut Call) -> Result<(), Invalid> {
    let headers = Headers {
        deadline: hints.deadline.as_deref().or(context.headers.deadline),
        via: hints.via.as_deref().or(context.headers.via),
        ..context.headers
    };
    let hop = headers.decode(context.now).map_err(|bad| match bad {
        BadHop::Deadline => Invalid::at("metadata.deadline", Problem::NotATime),
        BadHop::Priority => Invalid::at("metadata.priority", Problem::Priority),
    })?;
    hop.apply(call);
    if let Some(priority) = hints.priority {
        call.limits.priority = priority;
    }
    Ok(())
}

/// The skill the extension names, else the agent of the address, else whoever the words fit.
fn target(hints: &Hints, door: &Addressed) -> Result<Target, Invalid> {
    let unknown = || Invalid::at("metadata.skill", Problem::UnknownValue);
    match (&hints.skill, door) {
        (Some(skill), Addressed::Peer(peer)) => match skill.parse::<SkillId>() {
            Ok(id) if id.peer == *peer => Ok(Target::Skill(id, None)),
            Ok(_) => Err(unknown()),
            Err(_) if skill.is_empty() => Err(unknown()),
            Err(_) => Ok(Target::Skill(SkillId::new(peer.clone(), &**skill), None)),
        },
        (Some(skill), Addressed::Hub) => match skill.parse() {
            Ok(id) => Ok(Target::Skill(id, None)),
            Err(_) => Ok(Target::Capability(skill.clone())),
        },
        (None, Addressed::Peer(peer)) => Ok(Target::Peer(peer.clone())),
        (None, Addressed::Hub) => Ok(Target::Words),
    }
}

/// One object among the parts is the arguments; everything else is for people and models.
fn input(message: Message, losses: &mut Vec<Loss>) -> Input {
    let is_args = |content: &Content| matches!(content, Content::Data(data) if data.is_object());
    let only = message.parts.iter().filter(|part| matches!(part.content, Content::Data(_))).count() == 1;
    let (mut args, mut parts) = (None, Vec::new());
    for part in message.parts {
        match part.content {
            Content::Data(data) if only && data.is_object() => args = Some(data),
            ref content => {
                debug_assert!(!only || !is_args(content), "the one object is the arguments");
                parts.push(part::decode(part, &Provenance::caller()));
            }
        }
    }
    if !message.references.is_empty() {
        losses.push(Loss::new("call.references", LossKind::Dropped));
    }
    Input { args, parts, history: Vec::new(), trust: Trust::Caller }
}
