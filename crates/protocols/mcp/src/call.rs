//! The call that a request becomes: what its client said of itself and of the call, in the model's terms.

use interlingua_model::{
    Ask, Call, Caller, ConversationId, Input, Json, Limits, MessageId, Meta, Missing, OnDisconnect, Part, Provenance,
    Raw, Wire,
};

use super::decode::{Said, level_name};
use super::discover::{CONVERSATION, MESSAGE};
use super::wire::meta;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

/// What is known of a call besides what its client said.
#[derive(Debug)]
pub struct Manner {
    pub conversation: Option<ConversationId>,
    pub confirm: bool,
    pub on_disconnect: OnDisconnect,
}

impl Said {
    /// `minted` names a call whose client gave it no id; `params` are those the method was read from.
    pub fn call(&self, minted: impl FnOnce() -> MessageId, ask: Ask, manner: Manner, params: &Members) -> Call {
        let id = self.message.clone().unwrap_or_else(minted);
        let mut call = Call::new(id, self.version.wire(), ask);
        call.id_given = self.message.is_some();
        call.conversation = manner.conversation;
        call.caller = Caller { can_answer: self.client.kinds(), missing: Missing::Refuse, accepts: Vec::new() };
        call.limits = Limits {
            deadline: self.deadline,
            priority: self.priority,
            on_disconnect: manner.on_disconnect,
            confirm: manner.confirm,
            ..Limits::default()
        };
        call.via.clone_from(&self.via);
        if let Some(origin) = &self.origin {
            call.told(origin);
        }
        call.trace.clone_from(&self.trace);
        call.meta = passed_meta(self);
        call.raw = unknown_params(params, &self.version.wire());
        call
    }
}

/// What was said to an agent, and the token of its conversation. Words alone are words; other arguments stay what they are.
pub fn spoken(args: Option<Json>) -> (Input, Option<String>) {
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
