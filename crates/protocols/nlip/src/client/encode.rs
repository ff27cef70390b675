//! Calls and answers as messages to an agent.

use interlingua_model::json::object;
use interlingua_model::{
    Answer, Ask, Call, Carried, Fault, FaultKind, Feature, Input, Json, Loss, LossKind, Question, QuestionKind,
    SkillId, Target, Turn, Way,
};
use serde_json::json;

use super::jar::TokenJar;
use super::skills;
use crate::decode::TaskWish;
use crate::encode::{Addresses, NoAddresses};
use crate::wire::{CONTROL, Message, Submessage};
use crate::{labels, part, render};

/// What the agent is known to understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tongue {
    /// Words only.
    Plain,
    /// The labels of a hub as well.
    Hub,
}

/// The message of a call: parts in order, history labelled by role, then the tokens of the leg. Arguments go as
/// `interlingua-call` to those who know it and as words to the others. Stored blobs go by the address the edge has got
/// for them (`upload`).
pub fn call(call: &Call, tongue: Tongue, jar: &TokenJar, addresses: &dyn Addresses) -> Result<Carried<Message>, Fault> {
    let Ask::Invoke { target, input } = &call.ask else {
        let text = "this agent can only be spoken to";
        return Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text));
    };
    let mut losses = Vec::new();
    let mut list = content(input, addresses, &mut losses);
    match (tongue, target, &input.args) {
        (Tongue::Hub, Target::Skill(skill, version), args) if !is_talk(skill) => {
            let arguments = args.clone().unwrap_or_else(Json::empty_object);
            list.push(named_call(skill, version.as_deref(), &arguments, call));
        }
        (_, _, Some(args)) => list.insert(0, in_words(args, &mut losses)),
        (_, _, None) => {}
    }
    Ok(Carried { value: message(list, &input.history, addresses, &mut losses, jar), losses })
}

fn is_talk(skill: &SkillId) -> bool {
    skill.skill.as_str() == super::CHAT
}

fn content(input: &Input, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Vec<Submessage> {
    let mut list = Vec::with_capacity(input.parts.len());
    input.parts.iter().for_each(|part| part::encode(part, Way::Input, addresses, losses, &mut list));
    list
}

/// By the other hub's own name of the skill. The arguments are spliced as they came: numbers keep their digits.
fn named_call(skill: &SkillId, version: Option<&str>, arguments: &Json, call: &Call) -> Submessage {
    let theirs = skills::theirs(skill);
    let mut head = json!({"skill": theirs.as_ref().unwrap_or(skill).to_string()});
    if let Some(version) = version {
        head["version"] = version.into();
    }
    if call.id_given {
        head["id"] = call.id.as_str().into();
    }
    let mut text = head.to_string().into_bytes();
    text.pop();
    text.extend_from_slice(b",\"arguments\":");
    text.extend_from_slice(arguments.as_bytes());
    text.push(b'}');
    let length = text.len();
    // Checked pieces put together by hand: an object with unique keys.
    Submessage::json(Json::slice(&text.into(), (0, length))).labelled(labels::CALL)
}

/// One text member is what is to be said; anything else is put into words, and that is a loss.
fn in_words(args: &Json, losses: &mut Vec<Loss>) -> Submessage {
    let only = args.tree().as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
    if let Some(text) = only.and_then(|value| value.as_str()) {
        return Submessage::text(text);
    }
    losses.push(Loss::new("input.args", LossKind::Flattened));
    Submessage::text(render::for_people(args))
}

fn message(
    mut list: Vec<Submessage>,
    history: &[Turn],
    addresses: &dyn Addresses,
    losses: &mut Vec<Loss>,
    jar: &TokenJar,
) -> Message {
    for (index, turn) in history.iter().enumerate() {
        let from = list.len();
        turn.parts.iter().for_each(|part| part::encode(part, Way::Input, addresses, losses, &mut list));
        let label = format!("{}:{}", labels::name(turn.role), index + 1);
        list[from..].iter_mut().for_each(|said| said.label = Some(label.as_str().into()));
    }
    // The words of the present come first; without any the history must not pass for them.
    let first = match list.first() {
        Some(said) if said.label.as_deref().is_none_or(|label| labels::Seat::of(label).is_none()) => list.remove(0),
        _ => Submessage::text(""),
    };
    list.extend(jar.all().cloned());
    Message { messagetype: None, first, submessages: list }
}

/// The message of an answer: the next one of the conversation, under its tokens. A credential goes as a token by a control
/// message, and stays in the jar.
pub fn answer(
    question: &Question,
    answer: &Answer,
    jar: &mut TokenJar,
    addresses: &dyn Addresses,
) -> Result<Carried<Message>, Fault> {
    let mut losses = Vec::new();
    let mut messagetype = None;
    let (mut list, history) = match answer {
        Answer::Given(input) => (given(input, addresses, &mut losses), input.history.as_slice()),
        Answer::Granted => (said("yes"), &[][..]),
        Answer::Declined => (said(declined(&question.kind)), &[][..]),
        Answer::Dismissed => (said("cancel"), &[][..]),
        Answer::Visited => (said("Done."), &[][..]),
        Answer::Token(secret) => {
            let Some(credential) = secret.text() else {
                return Err(Fault::hub(FaultKind::Internal, "the credential is no longer at hand"));
            };
            jar.present(credential);
            messagetype = Some(CONTROL.into());
            (said("Here is my token."), &[][..])
        }
    };
    if let Some(id) = question.resume.as_ref().and_then(|resume| resume.text()) {
        list.push(Submessage::json(structured_answer(id, answer)).labelled(labels::ANSWER));
    }
    let message = message(list, history, addresses, &mut losses, jar);
    Ok(Carried { value: Message { messagetype, ..message }, losses })
}

/// Asks how a task of the agent's stands, or says that nobody wants it any more.
pub fn about(task: &str, wish: TaskWish, jar: &TokenJar) -> Message {
    let words = match wish {
        TaskWish::Look => "How does it stand?",
        TaskWish::Cancel => "Nobody wants this any more.",
    };
    let ours = Submessage::json(json!({"task": task, "action": wish.as_str()}).into()).labelled(labels::TASK);
    message(vec![Submessage::text(words), ours], &[], &NoAddresses, &mut Vec::new(), jar)
}

fn said(text: &str) -> Vec<Submessage> {
    vec![Submessage::text(text)]
}

fn given(input: &Input, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> Vec<Submessage> {
    let mut list = content(input, addresses, losses);
    if let Some(args) = &input.args {
        list.insert(0, in_words(args, losses));
    }
    list
}

fn declined(kind: &QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Confirm(_) => "no",
        QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => "I would rather not say.",
    }
}

/// For an agent that asked by `interlingua-question`.
fn structured_answer(id: &str, answer: &Answer) -> Json {
    match answer {
        Answer::Given(input) => match &input.args {
            Some(args) => object([("id", id.into()), ("answer", args.tree().clone())]),
            None => json!({"id": id, "answer": input.words()}),
        },
        Answer::Granted => json!({"id": id, "approve": true}),
        Answer::Declined => json!({"id": id, "decline": true}),
        Answer::Dismissed => json!({"id": id, "dismiss": true}),
        Answer::Visited => json!({"id": id, "visited": true}),
        Answer::Token(_) => json!({"id": id}),
    }
    .into()
}
