//! Encodes calls, answers and further input as messages to an agent.
//!
//! Arguments are a data part; those of a skill that takes plain words are sent as text. Our extension names the skill for agents that
//! support it; for others with more than one skill the text names it.

use interlingua_machines::bus::{Kind, Said};
use interlingua_model::{
    Answer, Ask, Call, Carried, Fault, FaultKind, Feature, Input, Json, Loss, LossKind, MessageId, Part, Priority,
    Question, QuestionKind, Role as Spoke, Secret, Skill, Text, Turn, Way,
};

use super::skills::{takes_words, theirs};
use crate::discover::AgentCard;
use crate::encode::{NoAddresses, part};
use crate::ext::{self, Outgoing, Purpose};
use crate::wire::{self, Configuration, Content, Message, Role, Send};
use interlingua_wire::object::Object;

/// The protocol's name in what a call came by.
const PROTOCOL: &str = "a2a";

/// With whom one speaks, and in which of its conversations and tasks.
#[derive(Debug, Clone)]
pub struct Recipient<'c> {
    pub card: &'c AgentCard,
    pub context: Option<Text>,
    pub task: Option<Text>,
}

/// A call as a message. Blobs must be at hand: an agent cannot fetch from the hub's store.
pub fn call(call: &Call, skill: &Skill, key: &MessageId, leg: &Recipient<'_>) -> Result<Carried<Send>, Fault> {
    let Ask::Invoke { input, .. } = &call.ask else {
        let text = "an agent can be spoken to and has nothing to read or complete";
        return Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text));
    };
    let mut losses = Vec::new();
    let mut parts = Vec::new();
    let id = theirs(leg.card, &skill.id.skill);
    match id {
        Some(id) if leg.card.hub.is_none() && leg.card.skills.len() > 1 => {
            losses.push(Loss::new("call.skill", LossKind::Flattened));
            parts.push(wire::Part::text(format!("Use your skill \"{}\" ({id}).", skill.title)));
        }
        Some(_) | None => {}
    }
    parts.extend(history(&input.history, &mut losses));
    parts.extend(input.parts.iter().map(|given| part(given, Way::Input, &NoAddresses, &mut losses)));
    if let Some(args) = &input.args {
        parts.push(arguments(args, takes_words(skill)));
    }
    let mut message = leg.message(key, parts);
    if leg.card.hub.is_none() && call.limits.priority != Priority::NORMAL {
        losses.push(Loss::new("call.priority", LossKind::Dropped));
    }
    let purpose = purpose(call);
    if leg.card.hub.is_none() && purpose.other_than_request().is_some() {
        losses.push(Loss::new("call.kind", LossKind::Dropped));
    }
    message.metadata = metadata(call, id, purpose, leg);
    if leg.card.hub.is_some() {
        message.extensions = vec![ext::URI.into()];
    }
    let configuration = Configuration { accepts: call.caller.accepts.clone(), ..usual() };
    Ok(Carried { value: Send { message, configuration, metadata: None }, losses })
}

/// What an answer leads to.
#[derive(Debug)]
pub enum Answered {
    /// A message to the task. A credential travels beside it, never in it.
    Say(Box<Send>, Option<Secret>),
    /// There is no answer: the task is not wanted any more.
    Decline,
}

pub fn answer(question: &Question, answer: &Answer, key: &MessageId, leg: &Recipient<'_>) -> Carried<Answered> {
    let mut losses = Vec::new();
    let says = |text: &str| vec![wire::Part::text(text)];
    let (parts, credential) = match answer {
        Answer::Given(input) => (given(input, leg, &mut losses), None),
        Answer::Granted => (says("yes"), None),
        Answer::Visited => (says("Done."), None),
        Answer::Token(secret) => (says("Here is my credential."), Some(secret.clone())),
        Answer::Declined if matches!(question.kind, QuestionKind::Confirm(_)) => (says("no"), None),
        Answer::Declined | Answer::Dismissed => return Carried { value: Answered::Decline, losses },
    };
    let send = Send { message: leg.message(key, parts), configuration: usual(), metadata: None };
    Carried { value: Answered::Say(Box::new(send), credential), losses }
}

/// More input to a task that runs.
pub fn more(input: &Input, key: &MessageId, leg: &Recipient<'_>) -> Carried<Send> {
    let mut losses = Vec::new();
    let parts = given(input, leg, &mut losses);
    let send = Send { message: leg.message(key, parts), configuration: usual(), metadata: None };
    Carried { value: send, losses }
}

/// The newest message of a task's history is asked for: some agents put their answer nowhere else.
fn usual() -> Configuration {
    Configuration { history: Some(1), immediate: true, ..Configuration::default() }
}

impl Recipient<'_> {
    fn message(&self, key: &MessageId, mut parts: Vec<wire::Part>) -> Message {
        if parts.is_empty() {
            parts.push(wire::Part::text(""));
        }
        let mut message = Message::new(key.0.clone(), Role::User, parts);
        message.context.clone_from(&self.context);
        message.task.clone_from(&self.task);
        message
    }
}

/// To a hub the form as it was filled in; to others what was said, which the form was read from.
fn given(input: &Input, leg: &Recipient<'_>, losses: &mut Vec<Loss>) -> Vec<wire::Part> {
    match &input.args {
        Some(args) if leg.card.hub.is_some() => vec![arguments(args, false)],
        Some(args) if input.parts.is_empty() => vec![arguments(args, true)],
        Some(_) | None => input.parts.iter().map(|given| part(given, Way::Input, &NoAddresses, losses)).collect(),
    }
}

/// One text member is what is to be said, where words are wanted.
fn arguments(args: &Json, words: bool) -> wire::Part {
    let only = args.tree().as_object().filter(|members| words && members.len() == 1);
    match only.and_then(|members| members.values().next()).and_then(|value| value.as_str()) {
        Some(text) => wire::Part::text(text),
        None => wire::Part { media: Some("application/json".into()), ..wire::Part::new(Content::Data(args.clone())) },
    }
}

/// There is no place for what was said before: it is told in one text.
fn history(turns: &[Turn], losses: &mut Vec<Loss>) -> Option<wire::Part> {
    if turns.is_empty() {
        return None;
    }
    losses.push(Loss::new("input.history", LossKind::Flattened));
    let mut text = String::from("What was said before:");
    for turn in turns {
        let who = match turn.role {
            Spoke::System => "system",
            Spoke::User => "user",
            Spoke::Agent => "agent",
            Spoke::Tool => "tool",
        };
        let said: Vec<&str> = turn.parts.iter().filter_map(Part::as_text).collect();
        text.push_str(&format!("\n{who}: {}", said.join(" ")));
    }
    Some(wire::Part::text(text))
}

/// What a message between agents was for; of one that came in by this protocol, what it said it is. Who speaks is told only where
/// the hub has seen that they may.
fn purpose(call: &Call) -> Purpose<'_> {
    if let Some(said) = Said::of(call) {
        return Purpose { kind: Some(said.kind), from: Some(said.from), correlation: Some(said.id) };
    }
    let ours = own_metadata(call).and_then(|metadata| metadata.get(ext::URI));
    let text = |key: &str| ours.and_then(|ours| ours.get(key)?.as_str());
    Purpose { kind: text("type").and_then(Kind::parse), from: None, correlation: text("correlationId") }
}

/// What came in by this protocol.
fn own_metadata(call: &Call) -> Option<&Json> {
    let same = call.origin.wire().is_some_and(|wire| wire.protocol() == PROTOCOL);
    call.meta.0.as_ref().filter(|_| same)
}

/// The caller's own metadata goes on where it came in by this protocol; what the hub owns in it is written anew.
fn metadata(call: &Call, skill: Option<&str>, purpose: Purpose<'_>, leg: &Recipient<'_>) -> Option<Json> {
    let via = call.via.as_ref().map(|via| via.hubs.as_slice()).unwrap_or_default();
    let outgoing = Outgoing { skill, priority: call.limits.priority, via, purpose };
    let ours = leg.card.hub.as_ref().and_then(|_| outgoing.metadata());
    let theirs = own_metadata(call).and_then(|meta| meta.tree().as_object());
    let mut theirs = theirs.into_iter().flatten().filter(|(key, _)| *key != ext::URI).peekable();
    if theirs.peek().is_none() {
        return ours;
    }
    Some(Object::json(|object| {
        for (key, value) in theirs {
            object.value(key, &Json::from_tree(value.clone()));
        }
        if let Some(ours) = &ours {
            object.splice(ours);
        }
    }))
}
