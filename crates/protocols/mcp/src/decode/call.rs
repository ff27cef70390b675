//! Requests that become calls: the client's statements about itself and about the call, in the model's terms.
//!
//! The target of a request is looked up first; a header that does not match its argument is refused next. A request with a `requestState`
//! continues an existing call; any other begins one.

use interlingua_model::{
    Ask, Call, Caller, Completes, Effects, Fault, FaultKind, Input, Json, Limits, Meta, OnDisconnect, Part, Provenance,
    Raw, SkillKind, Target, Text, Wire,
};

use super::{
    CallIdentity, Context, Incoming, Invalid, NoTool, Own, ReplyTo, Resume, Said, Turn, incoming, level_name, needed,
    responses, text,
};
use crate::discover::{CONVERSATION, MESSAGE};
use crate::fault::{Refused, Verb};
use crate::names::ARTIFACTS;
use crate::wire::{headers, meta};
use interlingua_wire::codec::Meaning;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

/// `tools/call`.
pub(super) fn tool(params: &Members, context: &Context<'_>) -> Result<Incoming, Invalid> {
    let call = invoked("tools/call", params)?;
    let found = context.names.tool(&call.name).map_err(|none| match none {
        NoTool::Fault(fault) => Invalid::fault(fault, Verb::Call),
        NoTool::Scopes(scopes) => Invalid::Scopes(scopes),
    })?;
    if let Some(header) = context.header {
        let same = headers::check_params(found.params, call.args.as_ref(), header);
        same.map_err(|error| Refused { error, status: 400 })?;
    }
    let skill = found.skill;
    let detached = skill.always_kept && context.said.client.tasks;
    let mut reply = ReplyTo { verb: Verb::Call, call, detached, ..ReplyTo::default() };
    if let Some(resume) = resume(params) {
        return Ok(incoming(Meaning::Own(Own::Resume(resume)), reply));
    }
    reply.brought = brought(params);
    let args = reply.call.args.clone();
    let args = match found.fixed {
        Some(fixed) => Some(with_fixed(args, fixed)),
        None => args,
    };
    let (input, confirm) = match skill.kind {
        SkillKind::Agent => {
            let (input, token) = spoken(args);
            reply.turn = token.map_or(Turn::First, Turn::Next);
            (input, false)
        }
        SkillKind::Tool | SkillKind::Prompt => {
            (Input { args, ..Input::parts(Vec::new()) }, is_confirmed(skill.effects, context))
        }
    };
    let ask = Ask::Invoke { target: Target::Skill(skill.id.clone(), None), input };
    let mut call = new_call(ask, &reply, params, context);
    call.limits.confirm = confirm;
    Ok(incoming(Meaning::Call(call), reply))
}

fn is_confirmed(effects: Effects, context: &Context<'_>) -> bool {
    let writes = effects.change() && !effects.unknown;
    context.confirms && context.said.client.form && writes
}

/// `prompts/get`.
pub(super) fn prompt(params: &Members, context: &Context<'_>) -> Result<Incoming, Invalid> {
    let call = invoked("prompts/get", params)?;
    let skill = context.names.prompt(&call.name).map_err(|fault| Invalid::fault(fault, Verb::Prompt))?;
    let mut reply = ReplyTo { verb: Verb::Prompt, call, ..ReplyTo::default() };
    if let Some(resume) = resume(params) {
        return Ok(incoming(Meaning::Own(Own::Resume(resume)), reply));
    }
    reply.brought = brought(params);
    let input = Input { args: reply.call.args.clone(), ..Input::parts(Vec::new()) };
    let ask = Ask::Invoke { target: Target::Skill(skill, None), input };
    Ok(incoming(Meaning::Call(new_call(ask, &reply, params, context)), reply))
}

/// `resources/read`.
pub(super) fn read(params: &Members, context: &Context<'_>) -> Result<Incoming, Invalid> {
    let uri = needed(params, "uri")?;
    let call = CallIdentity { method: "resources/read", name: uri.clone(), args: None };
    let mut reply = ReplyTo { verb: Verb::Read, call, uri: Some(uri.clone()), ..ReplyTo::default() };
    if uri.starts_with(ARTIFACTS) {
        return Ok(incoming(Meaning::Own(Own::Artifact(uri)), reply));
    }
    let (peer, own) = context.names.resource(&uri).map_err(|fault| Invalid::Fault {
        fault: Box::new(fault),
        verb: Verb::Read,
        uri: Some(uri),
    })?;
    if let Some(resume) = resume(params) {
        return Ok(incoming(Meaning::Own(Own::Resume(resume)), reply));
    }
    reply.brought = brought(params);
    let call = new_call(Ask::Read { peer, uri: own }, &reply, params, context);
    Ok(incoming(Meaning::Call(call), reply))
}

/// `completion/complete`.
pub(super) fn complete(params: &Members, context: &Context<'_>) -> Result<Incoming, Invalid> {
    let reference = params.object("ref").ok_or_else(|| Refused::params("`ref` is missing"))?;
    let of = match reference.text("type").as_deref() {
        Some("ref/prompt") => Reference::Prompt(needed(&reference, "name")?),
        Some("ref/resource") => Reference::Template(needed(&reference, "uri")?),
        Some(_) | None => return Err(Refused::params("`ref` must be a prompt or a resource template").into()),
    };
    let argument = params.object("argument").ok_or_else(|| Refused::params("`argument` is missing"))?;
    let known = params.object("context").and_then(|context| context.get("arguments")).filter(Json::is_object);
    let (argument, typed) = (needed(&argument, "name")?, needed(&argument, "value")?);
    let of = match &of {
        Reference::Prompt(name) => context.names.prompt(name).map(Completes::Skill),
        Reference::Template(uri) => context.names.resource(uri).map(|(peer, uri)| Completes::Template(peer, uri)),
    };
    // An unknown reference is bad input here, whatever it refers to.
    let bad = |fault| Invalid::fault(Fault { kind: FaultKind::InvalidInput, ..fault }, Verb::Other);
    let known = known.unwrap_or_else(Json::empty_object);
    let ask = Ask::Complete { of: of.map_err(bad)?, argument, typed, known };
    let reply = ReplyTo::default();
    let call = new_call(ask, &reply, &Members::absent(), context);
    Ok(incoming(Meaning::Call(call), reply))
}

enum Reference {
    Prompt(Text),
    Template(Text),
}

fn invoked(method: &'static str, params: &Members) -> Result<CallIdentity, Refused> {
    let args = match params.get("arguments") {
        Some(args) if args.is_object() => Some(args),
        Some(args) if args.is_null() => None,
        Some(_) => return Err(Refused::params("`arguments` must be an object")),
        None => None,
    };
    Ok(CallIdentity { method, name: needed(params, "name")?, args })
}

fn resume(params: &Members) -> Option<Resume> {
    Some(Resume { state: text(params, "requestState")?, responses: responses(params) })
}

fn new_call(ask: Ask, reply: &ReplyTo, params: &Members, context: &Context<'_>) -> Box<Call> {
    let said = context.said;
    let id = said.message.clone().unwrap_or_else(context.minted);
    let mut call = Call::new(id, said.version.wire(), ask);
    call.id_given = said.message.is_some();
    call.caller = Caller { can_answer: said.client.kinds(), ..Caller::default() };
    call.limits = Limits {
        deadline: said.deadline,
        priority: said.priority,
        on_disconnect: if reply.detached { OnDisconnect::Detach } else { context.on_disconnect },
        ..Limits::default()
    };
    call.via.clone_from(&said.via);
    if let Some(origin) = &said.origin {
        call.told(origin);
    }
    call.trace.clone_from(&said.trace);
    call.meta = passed_meta(said);
    call.raw = unknown_params(params, &said.version.wire());
    Box::new(call)
}

/// Answers to what was not asked yet; no more of them than a task may have questions.
fn brought(params: &Members) -> Vec<(String, Json)> {
    const MOST: usize = 16;
    responses(params).iter().take(MOST).map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Arguments with the fixed ones in their place, whatever was given for them.
fn with_fixed(args: Option<Json>, fixed: &Json) -> Json {
    let (given, fixed) = (args.as_ref().map(Members::of).unwrap_or(Members::absent()), Members::of(fixed));
    Object::json(|object| {
        for (name, value) in given.iter().filter(|(name, _)| !fixed.has(name)) {
            object.value(name, &value);
        }
        for (name, value) in fixed.iter() {
            object.value(name, &value);
        }
    })
}

/// What was said to an agent, and the token of its conversation. Words alone are words; other arguments stay what they are.
fn spoken(args: Option<Json>) -> (Input, Option<String>) {
    let members = args.as_ref().map(Members::of).unwrap_or(Members::absent());
    let token = members.text(CONVERSATION).map(std::borrow::Cow::into_owned);
    let rest = members.len() - usize::from(members.has(CONVERSATION));
    if let (Some(text), 1) = (members.text(MESSAGE), rest) {
        return (Input::parts(vec![Part::text(&*text, Provenance::caller())]), token);
    }
    let args = args.map(|args| match token {
        None => args,
        Some(_) => Object::json(|object| {
            for (key, value) in members.iter().filter(|(key, _)| *key != CONVERSATION) {
                object.value(key, &value);
            }
        }),
    });
    (Input { args, ..Input::parts(Vec::new()) }, token)
}

/// What a peer of the same protocol is told of a client's `_meta`: what is neither the protocol's nor ours, the level from
/// which it wants log lines, and whether it can hold a receipt.
fn passed_meta(said: &Said) -> Meta {
    if said.log.is_none() && !said.client.tasks {
        return Meta(said.free.clone());
    }
    Meta(Some(Object::json(|object| {
        if let Some(free) = &said.free {
            object.splice(free);
        }
        if let Some(level) = said.log {
            object.text(meta::LOG_LEVEL, level_name(level));
        }
        if said.client.tasks {
            object.object(meta::TASKS, |_| {});
        }
    })))
}

/// Parameters this hub does not know travel beside the call, to a peer of the same protocol.
fn unknown_params(params: &Members, wire: &Wire) -> Option<Raw> {
    let known = ["name", "uri", "arguments", meta::META, "requestState", "inputResponses", "task"];
    if params.keys().all(|key| known.contains(&key)) {
        return None;
    }
    Some(Raw { wire: wire.clone(), json: params.json()?.clone() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_view_has_fixed_is_not_changed_by_the_caller() {
        let fixed: Json = json!({"folder": "/public"}).into();
        let args = with_fixed(Some(json!({"folder": "/private", "text": "x"}).into()), &fixed);
        assert_eq!(args.tree(), &json!({"text": "x", "folder": "/public"}));
        assert_eq!(with_fixed(None, &fixed).tree(), fixed.tree());
    }
}
