//! The routing envelope inside the hub: a call of an agent becomes a routed message, which is encoded and decoded by the same code
//! as one from outside, and so is its response.
//!
//! In effect it is the direct path: the same entry point, permissions, ids and confirmations. The router adds two things: translators that
//! are switched off refuse, and every call and its result exist as a message. There is no fallback to another path after a call was made,
//! so nothing is done twice (H-22).

use std::sync::Weak;
use std::time::Duration;

use crate::decode::{Context, Incoming, Meaning, Own, Routed as Decision, decode};
use crate::encode::{Delivery, Encoder, Of, Stamp, Telling, encode};
use crate::names::Names;
use crate::wire::{self, Control, Format, Limits, Message, MessageType, Status, Token, ToolCall, ToolResult};
use interlingua_model::{Ask, Call, Entry, Fault, FaultKind, Json, Principal, SkillId, Target, Text};

use super::{Endpoint, Routing};
use crate::spellings::{Made, Visible};
use interlingua_hub::call_router::{CallRouter, Routed, RoutedCall};
use interlingua_hub::{Hub, entropy};

/// The one call of a message.
const TOOL: &str = "call";

/// Calls of agents go through the envelope. Held weakly: the hub holds the agent, and the envelope the hub.
#[derive(Debug)]
pub(crate) struct InsideRouter(pub(crate) Weak<Endpoint>);

impl CallRouter for InsideRouter {
    fn route(&self, hub: &Hub, by: &Principal, call: Call, timeout: Option<Duration>) -> Result<Routed, Fault> {
        let Some(envelope) = self.0.upgrade() else { return Ok((call, None)) };
        let (call, inside) = envelope.own.inside(hub, by, call, timeout)?;
        Ok((call, inside.map(|inside| Box::new(inside) as _)))
    }
}

/// A call that travels as a message, and the answer to it in the making.
#[derive(Debug)]
pub(crate) struct Inside {
    encoder: Encoder,
    result: Option<ToolResult>,
}

impl Routing {
    /// Sends a call through the router: the call that comes out of it is the one to make. `None` where the router is
    /// switched off, and the call is made as it is (H-02).
    fn inside(
        &self,
        hub: &Hub,
        by: &Principal,
        call: Call,
        timeout: Option<Duration>,
    ) -> Result<(Call, Option<Inside>), Fault> {
        let settings = self.settings();
        let Some((skill, args)) = named(&call).filter(|_| settings.enabled) else { return Ok((call, None)) };
        let catalogue = hub.catalogue();
        let made = self.spellings.of(&catalogue, &settings);
        let message = message(&call, spelt(&made, &skill), args, timeout);
        let message = travelled(&message)?;
        let now = hub.now();
        let names = Visible { table: &made.table, seen: hub.visible(by), by, peer: None };
        let default_timeout = settings.default_timeout;
        let context = Context { names: &names, translators: &made.translators, now, default_timeout, peer: None };
        let decoded = decode(message, &context).map_err(|invalid| invalid.fault())?;
        let Incoming { meaning, reply: head, .. } = decoded.value;
        let Meaning::Own(Own::Tools(mut decided)) = meaning else { return Err(odd()) };
        let Decision { tool, call: routed } = decided.pop().ok_or_else(odd)?;
        let encoder = Encoder::new(head, vec![Of::Tool(tool)], Delivery::Whole, Vec::new());
        Ok((merged(call, *routed?), Some(Inside { encoder, result: None })))
    }
}

fn odd() -> Fault {
    Fault::hub(FaultKind::Internal, "a routed call did not come out of the router")
}

fn named(call: &Call) -> Option<(SkillId, Json)> {
    match &call.ask {
        Ask::Invoke { target: Target::Skill(id, _), input } => {
            Some((id.clone(), input.args.clone().unwrap_or_else(Json::empty_object)))
        }
        Ask::Invoke { .. } | Ask::Read { .. } | Ask::Complete { .. } => None,
    }
}

/// The name its translator gives a skill, where no other skill has it; every skill's id is a name, too.
fn spelt(made: &Made, skill: &SkillId) -> Text {
    let id = skill.to_string();
    let named = made.table.named(&id).ok();
    let translator = named.and_then(|named| made.translators.get(&named.translator).cloned());
    let own = translator.and_then(|translator| translator.spell(skill).own.into_iter().next());
    let is_its =
        |name: &String| made.table.named(name).is_ok_and(|named| named.target == Target::Skill(skill.clone(), None));
    own.filter(is_its).unwrap_or(id).into()
}

fn message(call: &Call, name: Text, parameters: Json, timeout: Option<Duration>) -> Message {
    let mut control = Control::new(MessageType::Request, call.id.as_str());
    control.timeout = timeout.map(|span| u32::try_from(span.as_secs()).unwrap_or(u32::MAX).max(1));
    let require_confirmation = call.limits.confirm;
    Message {
        format: Format::default(),
        control,
        token: Token { session_id: call.parent.map(|task| task.to_string().into()), ..Token::default() },
        content: Json::empty_object(),
        tool_calls: Some(vec![ToolCall {
            tool_id: TOOL.into(),
            tool_name: name,
            parameters,
            require_confirmation,
            form: None,
        }]),
        tool_results: None,
        metadata: Json::empty_object(),
    }
}

/// The message as whoever receives its bytes reads it.
fn travelled(message: &Message) -> Result<Message, Fault> {
    let read = wire::read(&message.to_bytes(), &Limits::default());
    let refused = |_| Fault::hub(FaultKind::TooLarge, "the call does not fit into a routed message");
    read.map(|read| read.value).map_err(refused)
}

/// What the message says, with what only the hub knows of the call: whose child it is, its key, what its model had read.
fn merged(call: Call, routed: Call) -> Call {
    let trust = call.input().map(|input| input.trust);
    let mut ask = routed.ask;
    if let (Ask::Invoke { input, .. }, Some(trust)) = (&mut ask, trust) {
        input.trust = trust;
    }
    let mut limits = call.limits;
    limits.confirm = routed.limits.confirm;
    limits.deadline = limits.deadline.or(routed.limits.deadline);
    let mut origin = call.origin;
    origin.joins(&routed.origin);
    Call { ask, limits, origin, ..call }
}

impl RoutedCall for Inside {
    fn hear(&mut self, entry: &Entry, hub: &Hub) {
        let stamp = Stamp { random: entropy::bits(), now: hub.now() };
        for response in encode(entry, &mut Telling { encoder: &mut self.encoder, lane: 0, stamp }).value {
            let results = travelled(&response).ok().and_then(|response| response.tool_results);
            self.result = results.and_then(|mut results| results.pop()).or(self.result.take());
        }
    }

    fn failed(&self) -> Option<bool> {
        self.result.as_ref().map(|result| match result.status {
            Status::Success => false,
            Status::Error | Status::Pending => true,
        })
    }
}
