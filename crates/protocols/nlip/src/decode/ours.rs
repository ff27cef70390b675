//! The hub's own extensions in a message: submessages labelled `interlingua-call`, `-answer`, `-task`, `-via` and `-origin`.

use std::borrow::Cow;

use interlingua_model::json::{Kind, Reader};
use interlingua_model::{
    Answer, Input, Json, MessageId, Part, Provenance, QuestionId, Secret, Signal, SkillId, SkillName, Target, TaskId,
    Text, Via,
};

use super::{Addressed, Meaning, TaskWish};
use crate::invalid::{Invalid, Problem};
use crate::labels;
use crate::topic::Topic;
use crate::wire::Submessage;
use interlingua_wire::hub_headers::{self, Hop};

/// What was found, apart from the parts.
#[derive(Debug, Default)]
pub(super) struct Ours {
    pub(super) calls: Vec<NamedCall>,
    pub(super) answer: Option<Answered>,
    pub(super) topic: Option<Topic>,
    pub(super) task: Option<(TaskId, TaskWish)>,
    via: Option<Via>,
    origins: Vec<String>,
}

impl Ours {
    /// False when a caller has no business with this label.
    pub(super) fn take(&mut self, submessage: &Submessage, depth: usize) -> Result<bool, Invalid> {
        let content = || submessage.content.as_json(depth).unwrap_or_else(Json::null);
        if submessage.has_label(labels::CALL) {
            self.calls.push(NamedCall::decode(&content())?);
        } else if submessage.has_label(labels::ANSWER) {
            if self.answer.replace(Answered::decode(&content())?).is_some() {
                return Err(bad_answer("one at a time"));
            }
        } else if submessage.has_label(labels::TOPIC) {
            self.topic = Some(Topic::decode(&content())?);
        } else if submessage.has_label(labels::TASK) {
            self.task = Some(task(&content())?);
        } else if submessage.has_label(labels::VIA) {
            self.via = via(&content());
        } else if submessage.has_label(labels::ORIGIN) {
            self.origins.extend(content().tree().as_str().map(str::to_owned));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// A header and a submessage may both name hubs; the header is the nearer hop's. What both say of the origin counts: it only
    /// takes rights away.
    pub(super) fn hop(&self, mut hop: Hop) -> Hop {
        if hop.via.is_none() {
            hop.via.clone_from(&self.via);
        }
        hop.origins.extend_from_slice(&self.origins);
        hop
    }
}

/// `{via: […]}`; from older hubs the list of names itself, or one text with commas.
fn via(content: &Json) -> Option<Via> {
    match content.get("via").unwrap_or(content.tree()) {
        interlingua_model::json::Tree::String(text) => hub_headers::via(text),
        tree => {
            let names: Vec<&str> = tree.as_array()?.iter().filter_map(|name| name.as_str()).collect();
            hub_headers::via(&names.join(","))
        }
    }
}

fn bad_call(what: &'static str) -> Invalid {
    Invalid { path: labels::CALL.into(), problem: Problem::BadCall(what) }
}

fn bad_answer(what: &'static str) -> Invalid {
    Invalid { path: labels::ANSWER.into(), problem: Problem::BadAnswer(what) }
}

/// `{task, action?}`: `look`, which is the default, or `cancel`.
fn task(content: &Json) -> Result<(TaskId, TaskWish), Invalid> {
    let bad = |what| Invalid { path: labels::TASK.into(), problem: Problem::BadTask(what) };
    let text = |key: &str| content.get(key).and_then(|value| value.as_str());
    let task = text("task").and_then(|id| id.parse().ok()).ok_or_else(|| bad("task must be the id of a task"))?;
    match content.get("action").map(|action| action.as_str()) {
        None | Some(Some("look")) => Ok((task, TaskWish::Look)),
        Some(Some("cancel")) => Ok((task, TaskWish::Cancel)),
        Some(_) => Err(bad("action must be look or cancel")),
    }
}

/// `{skill, arguments?, version?, id?}`, or `capability` instead of `skill`.
#[derive(Debug)]
pub(super) struct NamedCall {
    skill: Option<Text>,
    capability: Option<Text>,
    version: Option<Text>,
    pub(super) id: Option<MessageId>,
    pub(super) arguments: Json,
}

impl NamedCall {
    fn decode(content: &Json) -> Result<NamedCall, Invalid> {
        let mut call =
            NamedCall { skill: None, capability: None, version: None, id: None, arguments: Json::empty_object() };
        members(
            content,
            || bad_call("must be an object"),
            |key, reader| {
                match key {
                    "skill" => call.skill = Some(string(reader, || bad_call("skill must be a string"))?),
                    "capability" => call.capability = Some(string(reader, || bad_call("capability must be a string"))?),
                    "version" => call.version = Some(string(reader, || bad_call("version must be a string"))?),
                    "id" => call.id = Some(MessageId(string(reader, || bad_call("id must be a string"))?)),
                    "arguments" if reader.kind()? == Kind::Object => {
                        call.arguments = Json::slice(content.as_bytes(), reader.skip()?);
                    }
                    "arguments" => return Err(bad_call("arguments must be an object")),
                    _ => drop_value(reader)?,
                }
                Ok(())
            },
        )?;
        Ok(call)
    }

    /// At a peer's own door its name need not be said.
    pub(super) fn target(&self, door: &Addressed) -> Result<Target, Invalid> {
        let Some(skill) = &self.skill else {
            let capability = self.capability.clone().ok_or_else(|| bad_call("skill is required"))?;
            return Ok(Target::Capability(capability));
        };
        let id = match (skill.parse::<SkillId>(), door) {
            (Ok(id), _) => id,
            (Err(_), Addressed::Peer(peer)) if !skill.is_empty() => {
                SkillId { peer: peer.clone(), skill: SkillName(skill.clone()) }
            }
            (Err(_), Addressed::Front | Addressed::Peer(_)) => return Err(bad_call("skill must be peer/name")),
        };
        Ok(Target::Skill(id, self.version.clone()))
    }
}

/// `{id, answer | approve | decline | visited | dismiss}`; with none of them, a token of the message is the answer.
#[derive(Debug)]
pub(super) struct Answered {
    question: QuestionId,
    answer: Option<Answer>,
}

impl Answered {
    fn decode(content: &Json) -> Result<Answered, Invalid> {
        let mut question = None;
        let mut answer = None;
        members(
            content,
            || bad_answer("must be an object"),
            |key, reader| {
                let said = match key {
                    "id" => {
                        let id = string(reader, || bad_answer("id must be a string"))?;
                        question = Some(id.parse().map_err(|_| bad_answer("id is not that of a question"))?);
                        None
                    }
                    "answer" => Some(Answer::Given(given(content, reader)?)),
                    "approve" => Some(if yes(reader)? { Answer::Granted } else { Answer::Declined }),
                    "decline" => yes(reader)?.then_some(Answer::Declined),
                    "visited" => yes(reader)?.then_some(Answer::Visited),
                    "dismiss" => yes(reader)?.then_some(Answer::Dismissed),
                    _ => {
                        drop_value(reader)?;
                        None
                    }
                };
                if said.is_some() && std::mem::replace(&mut answer, said).is_some() {
                    return Err(bad_answer("says two things"));
                }
                Ok(())
            },
        )?;
        Ok(Answered { question: question.ok_or_else(|| bad_answer("id is required"))?, answer })
    }

    pub(super) fn signal(self, message: MessageId, credentials: &[Secret]) -> Result<Meaning, Invalid> {
        let answer = match (self.answer, credentials.first()) {
            (Some(answer), _) => answer,
            (None, Some(credential)) => Answer::Token(credential.clone()),
            (None, None) => return Err(bad_answer("one of answer, approve, decline, visited, dismiss is required")),
        };
        let signal = Signal::Answered { question: self.question, message, answer };
        Ok(Meaning::Signal { to: self.question.0, signal })
    }
}

/// A form's fields, or words.
fn given(content: &Json, reader: &mut Reader<'_>) -> Result<Input, Invalid> {
    if reader.kind()? == Kind::String {
        let text = reader.string()?;
        return Ok(Input::parts(vec![Part::text(&*text, Provenance::caller())]));
    }
    Ok(Input::args(Json::slice(content.as_bytes(), reader.skip()?)))
}

fn members(
    content: &Json,
    not_object: impl Fn() -> Invalid,
    mut each: impl FnMut(&str, &mut Reader<'_>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if !content.is_object() {
        return Err(not_object());
    }
    Reader::of(content).object(|key: Cow<'_, str>, reader| each(&key, reader))
}

fn string(reader: &mut Reader<'_>, problem: impl Fn() -> Invalid) -> Result<Text, Invalid> {
    if reader.kind()? != Kind::String {
        return Err(problem());
    }
    Ok(reader.string()?.into())
}

fn yes(reader: &mut Reader<'_>) -> Result<bool, Invalid> {
    if reader.kind()? != Kind::Bool {
        return Err(bad_answer("yes is true, no is false"));
    }
    Ok(reader.bool()?)
}

fn drop_value(reader: &mut Reader<'_>) -> Result<(), Invalid> {
    reader.skip()?;
    Ok(())
}
