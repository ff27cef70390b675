//! Decodes a message as a call, as further input to a task, or as an event.

use interlingua_machines::bus::Kind;
use interlingua_model::{
    Ask, Call, Caller, ConversationId, Input, KindSet, Limits, Loss, LossKind, MessageId, Meta, Missing, OnDisconnect,
    Priority, Provenance, SkillId, Target, Text, Trust,
};
use interlingua_wire::codec::Meaning;
use interlingua_wire::hub_headers::{BadHop, Headers, Hop};
use interlingua_wire::object::Object;

use super::{Addressed, Announcement, Context, More, Own, ReplyTo, Wants, part, task_id};
use crate::ext::{self, Hints};
use crate::invalid::{Invalid, Problem};
use crate::wire::{Configuration, Content, Message, Send};

pub(super) fn decode(
    send: Send,
    wants: Wants,
    context: &Context<'_>,
    losses: &mut Vec<Loss>,
) -> Result<(Meaning<Own>, ReplyTo), Invalid> {
    let hints = ext::hints([send.message.metadata.as_ref(), send.metadata.as_ref()])?;
    let Send { message, configuration, metadata } = send;
    let Configuration { accepts, push, history, immediate: _ } = configuration;
    let reply = ReplyTo { wants, history, webhook: push.map(Box::new) };
    if let Some(task) = &message.task {
        let (task, id, context) = (task_id(task)?, MessageId(message.id.clone()), message.context.clone());
        let more = More { task, context, message: id, input: input(message, losses) };
        return Ok((Meaning::Own(Own::More(Box::new(more))), reply));
    }
    let to_nobody = *context.door == Addressed::Hub && hints.skill.is_none();
    match (hints.kind, &hints.topic) {
        (Some(Kind::Event), Some(topic)) => {
            let hop = hop(&hints, context)?;
            let told = told(topic.clone(), hints, message, hop)?;
            return Ok((Meaning::Own(Own::Event(Box::new(told))), reply));
        }
        // To one agent, or for one of its skills, it is a message like any other; to the hub it must say what it is about.
        (Some(Kind::Event), None) if to_nobody => return Err(Invalid::at("metadata.topic", Problem::Missing)),
        (Some(Kind::Response), _) => return Err(Invalid::at("metadata.type", Problem::UnknownValue)),
        (Some(Kind::Event | Kind::Request | Kind::Query | Kind::Artifact) | None, _) => {}
    }
    let target = target(&hints, context.door)?;
    let (id, within) = (message.id.clone(), message.context.clone());
    let meta = message.metadata.clone().or(metadata);
    let ask = Ask::Invoke { target, input: input(message, losses) };
    let mut call = Call::new(MessageId(id), context.version.wire(), ask);
    // A query leaves nothing behind: sent again, it is asked again.
    call.id_given = hints.kind != Some(Kind::Query);
    call.conversation = within.map(ConversationId);
    call.meta = Meta(meta);
    call.caller = Caller {
        can_answer: KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT),
        missing: Missing::Question,
        accepts,
        tools: Vec::new(),
    };
    travel(&hints, context, &mut call)?;
    call.limits = Limits {
        on_disconnect: OnDisconnect::Detach,
        keep: reply.webhook.is_some() || wants != Wants::Answer,
        replay: context.replay,
        ..call.limits
    };
    Ok((Meaning::Call(Box::new(call)), reply))
}

/// An event's content is one object, or words.
fn told(topic: Text, hints: Hints, message: Message, hop: Hop) -> Result<Announcement, Invalid> {
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
        hop,
    })
}

/// What the way here says: the extension's words count before the headers'.
fn hop(hints: &Hints, context: &Context<'_>) -> Result<Hop, Invalid> {
    let headers = Headers {
        deadline: hints.deadline.as_deref().or(context.headers.deadline),
        via: hints.via.as_deref().or(context.headers.via),
        ..context.headers
    };
    headers.decode(context.now).map_err(|bad| match bad {
        BadHop::Deadline => Invalid::at("metadata.deadline", Problem::NotATime),
        BadHop::Priority => Invalid::at("metadata.priority", Problem::Priority),
    })
}

fn travel(hints: &Hints, context: &Context<'_>, call: &mut Call) -> Result<(), Invalid> {
    hop(hints, context)?.apply(call);
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
