//! Decodes a message into the model.
//!
//! A request with tool calls becomes a group of calls that run together; one with `content.messages` and no tool calls is a chat with the
//! front door, or with the peer whose path it came to; one with an answer settles a question; a notification needs no answer. Everything else is refused: an empty request,
//! and a response or error that nobody waits for.
//!
//! Decided elsewhere: the principal (`control.auth_token` is passed on as a credential and proves nothing), whether the session is alive,
//! and whether the hub routes at all.

mod answer;
mod chat;
mod native;

use std::time::Duration;

use interlingua_model::{
    Ask, Call, Caller, Carried, ConversationId, Deadline, DeadlineBy, Fault, FaultKind, Feature, HubId, Input, Json,
    KindSet, Limits, Loss, LossKind, Meta, OnDisconnect, PeerId, Target, Text, Time, Trace, Via, Wire,
};

use super::invalid::{Invalid, Rule};
use super::names::Names;
use super::priority;
use super::translators::Translators;
use super::wire::{Head, Message, MessageType, NativeForm, ToolCall};
use interlingua_model::json::Tree;
use interlingua_wire::codec;
use interlingua_wire::object::Object;

/// The name of this wire.
pub const WIRE: Wire = Wire(std::borrow::Cow::Borrowed("envelope/1.0"));

/// What this wire's callers can be asked.
const CAN_ANSWER: KindSet = KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT);

/// What the decoder must know besides the message.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub names: &'a dyn Names,
    pub translators: &'a Translators,
    pub now: Time,
    /// Holds when a message has no `control.timeout`.
    pub default_timeout: Option<Duration>,
    /// The peer whose own path the message came to; `None`: the hub's.
    pub peer: Option<&'a PeerId>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("now", &self.now).finish_non_exhaustive()
    }
}

/// A message of the envelope, understood. Every answer repeats its head.
pub type Incoming = codec::Incoming<Own, Head>;
pub type Meaning = codec::Meaning<Own>;

/// What only the envelope has. A chat is a call.
#[derive(Debug)]
pub enum Own {
    /// In the order of the message.
    Tools(Vec<Routed>),
    /// No answer. With a session it is stored there, for the session's owner to read.
    Noted { session: Option<Text>, content: Json },
}

/// One tool call. A name nobody knows, or whose translator is switched off, refuses this call alone.
#[derive(Debug)]
pub struct Routed {
    pub tool: Tool,
    pub call: Result<Box<Call>, Fault>,
}

/// What a result says of the call it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub id: Text,
    pub name: Text,
    /// Of the translator: where the tool came from.
    pub marks: Json,
    /// The form in which the result is given besides the envelope's own (O-34).
    pub form: Option<NativeForm>,
}

impl Tool {
    /// The tool of a kept call, for whoever answers it later.
    pub fn of(call: &Call) -> Option<Tool> {
        let meta = call.meta.0.as_ref()?;
        let text = |key| meta.get(key).and_then(|value| value.as_str()).map(Text::from);
        let marks = meta.get("marks").cloned().map_or_else(Json::empty_object, Json::from_tree);
        let form = text("tool_format").and_then(|name| NativeForm::parse(&name));
        Some(Tool { id: text("tool_id")?, name: text("tool_name")?, marks, form })
    }
}

/// Reads what a message means.
pub fn decode(message: Message, context: &Context<'_>) -> Result<Carried<Incoming>, Invalid> {
    let mut losses = Vec::new();
    let meaning = match message.control.message_type {
        MessageType::Request => request(&message, context, &mut losses)?,
        MessageType::Notification => {
            Meaning::Own(Own::Noted { session: message.token.session_id.clone(), content: message.content })
        }
        MessageType::Response | MessageType::Error => {
            return Err(Rule::Unroutable(message.control.message_type.as_str()).into());
        }
    };
    let reply = Head { format: message.format, message_id: Some(message.control.message_id), token: message.token };
    let credentials = message.control.auth_token.into_iter().collect();
    Ok(Carried { value: Incoming { meaning, credentials, reply }, losses })
}

fn request(message: &Message, context: &Context<'_>, losses: &mut Vec<Loss>) -> Result<Meaning, Invalid> {
    let calls = message.tool_calls.as_deref().unwrap_or_default();
    if let Some((to, signal)) = answer::decode(message)? {
        if !calls.is_empty() {
            return Err(Rule::AnswerAndCalls.into());
        }
        return Ok(Meaning::Signal { to, signal });
    }
    if !calls.is_empty() {
        if message.content != Json::empty_object() {
            losses.push(Loss::new("message.content", LossKind::Dropped));
        }
        return Ok(Meaning::Own(Own::Tools(tools(message, calls, context)?)));
    }
    let input = chat::decode(&message.content, losses)?.ok_or(Rule::AsksNothing)?;
    let target = context.peer.map_or(Target::Words, |peer| Target::Peer(peer.clone()));
    let ask = Ask::Invoke { target, input };
    let mut call = opened(message, context, &message.control.message_id, ask);
    call.meta = caller_meta(message, None);
    Ok(Meaning::Call(Box::new(call)))
}

fn tools(message: &Message, calls: &[ToolCall], context: &Context<'_>) -> Result<Vec<Routed>, Rule> {
    let wanted = wanted_form(message)?;
    for (index, call) in calls.iter().enumerate() {
        if calls[..index].iter().any(|earlier| earlier.tool_id == call.tool_id) {
            return Err(Rule::SameToolId(index));
        }
    }
    Ok(calls.iter().map(|call| routed(message, call, wanted.or(call.form), context)).collect())
}

/// `metadata.tool_format`: results are wanted in this form, whatever form the calls have (O-34).
fn wanted_form(message: &Message) -> Result<Option<NativeForm>, Rule> {
    if is_empty(&message.metadata) {
        return Ok(None);
    }
    match message.metadata.get("tool_format") {
        None | Some(Tree::Null) => Ok(None),
        Some(named) => named.as_str().and_then(NativeForm::parse).map(Some).ok_or(Rule::UnknownToolFormat),
    }
}

fn routed(message: &Message, call: &ToolCall, form: Option<NativeForm>, context: &Context<'_>) -> Routed {
    let named = context.names.named(&call.tool_name);
    // Whose a known tool is, the registry says; for an unknown one the spelling is all there is (H-13).
    let translator = match &named {
        Ok(named) => context.translators.get(&named.translator),
        Err(_) => Some(context.translators.guess(&call.tool_name)),
    };
    let marks = translator.map_or_else(Json::empty_object, |translator| translator.marks().clone());
    let tool = Tool { id: call.tool_id.clone(), name: call.tool_name.clone(), marks, form };
    if let Some(off) = translator.filter(|translator| !translator.enabled) {
        return Routed { tool, call: Err(disabled(&format!("translator disabled: {}", off.name))) };
    }
    let call = named.map(|named| {
        let ask = Ask::Invoke { target: named.target, input: Input::args(call.parameters.clone()) };
        let id = format!("{}/{}", message.control.message_id, call.tool_id);
        let mut opened = opened(message, context, &id, ask);
        opened.limits.confirm = call.require_confirmation;
        opened.meta = caller_meta(message, Some(&tool));
        Box::new(opened)
    });
    Routed { tool, call }
}

/// A call with the manners of this wire. Its id is the caller's and so an idempotency key (R-18, H-11).
fn opened(message: &Message, context: &Context<'_>, id: &str, ask: Ask) -> Call {
    let mut call = Call::new(id, WIRE, ask);
    call.id_given = true;
    call.conversation = message.token.session_id.clone().map(ConversationId);
    call.caller = Caller { can_answer: CAN_ANSWER, ..Caller::default() };
    call.limits = Limits {
        deadline: deadline(message.control.timeout, context),
        priority: priority::decode(message.control.priority),
        on_disconnect: OnDisconnect::Cancel,
        keep: false,
        confirm: false,
        ..Limits::default()
    };
    if !is_empty(&message.metadata) {
        call.via = via(&message.metadata);
        if let Some(origin) =
            message.metadata.get(interlingua_wire::hub_headers::ORIGIN).and_then(|origin| origin.as_str())
        {
            call.told(origin);
        }
        call.trace = trace(&message.metadata);
    }
    call
}

fn deadline(timeout: Option<u32>, context: &Context<'_>) -> Option<Deadline> {
    let (span, set_by) = match timeout {
        Some(seconds) => (Duration::from_secs(seconds.into()), DeadlineBy::Caller),
        None => (context.default_timeout?, DeadlineBy::Hub),
    };
    Some(Deadline { at: context.now.after(span), set_by })
}

/// What is not an array of names is no route; a route longer than the limit is cut where it is already a loop.
fn via(metadata: &Json) -> Option<Via> {
    let hubs = metadata.get("via")?.as_array()?;
    let hubs = hubs.iter().filter_map(|hub| hub.as_str()).take(usize::from(Via::LIMIT)).map(HubId::from).collect();
    Some(Via { hubs, limit: Via::LIMIT })
}

fn trace(metadata: &Json) -> Option<Trace> {
    let text = |key| metadata.get(key).and_then(|value| value.as_str()).map(Text::from);
    let trace = Trace { parent: text("traceparent"), state: text("tracestate"), baggage: text("baggage") };
    (trace != Trace::default()).then_some(trace)
}

/// The caller's own metadata, and which tool this was: [`Tool::of`] reads it back.
fn caller_meta(message: &Message, tool: Option<&Tool>) -> Meta {
    if tool.is_none() && is_empty(&message.metadata) {
        return Meta::default();
    }
    Meta(Some(Object::json(|meta| {
        if let Some(tool) = tool {
            meta.text("tool_id", &tool.id);
            meta.text("tool_name", &tool.name);
            meta.value("marks", &tool.marks);
            if let Some(form) = tool.form {
                meta.text("tool_format", form.as_str());
            }
        }
        if !is_empty(&message.metadata) {
            meta.value("metadata", &message.metadata);
        }
    })))
}

fn is_empty(object: &Json) -> bool {
    object.as_bytes().len() <= 2
}

/// Something that exists and is switched off (R-32, H-02).
pub fn disabled(text: &str) -> Fault {
    Fault::caller(FaultKind::Unsupported(Feature::SwitchedOff), text)
}
