//! The server side: decodes what a message asks of the hub.
//!
//! Tokens are split off first; the hub's own labels are read next (`interlingua-call`, `-answer`, `-via`); control messages are about the
//! exchange (clause 6.3); everything else is a text in plain words, to the hub or to one peer. The hub decides whether a message of a
//! waiting conversation is an answer: it arrives as a call that names the conversation.

mod ours;

use interlingua_model::{
    Ask, Body, Call, Caller, Carried, ConversationId, HubId, Input, KindSet, Loss, LossKind, MessageId, Missing, Part,
    PeerId, Provenance, Secret, Target, TaskId, Text, Time, Trust, Way, Wire,
};

use super::invalid::{Invalid, Problem};
use super::labels::{self, take_history};
use super::phrases::{self, Hook, Wish};
use super::terms::Term;
use super::tokens::{self, Tokens};
use super::topic::Topic;
use super::wire::{Format, Message, Submessage};
use super::{encode::ReplyTo, part};
use interlingua_wire::codec;
use interlingua_wire::hub_headers::{Headers, Hop};
use ours::Ours;

/// The name of this wire.
pub const WIRE: Wire = Wire(std::borrow::Cow::Borrowed("nlip/1"));

/// What the edge knows of a message besides its bytes.
#[derive(Clone)]
pub struct Context<'a> {
    pub hub: &'a HubId,
    pub door: Addressed,
    /// Minted for this message: NLIP has no message ids.
    pub message: MessageId,
    pub now: Time,
    pub headers: Headers<'a>,
    /// Of JSON that comes as text.
    pub depth: usize,
    pub hook: Option<Hook<'a>>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("door", &self.door).field("message", &self.message).finish_non_exhaustive()
    }
}

/// Where the message came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressed {
    /// `/nlip`
    Front,
    /// `/agents/{peer}/nlip`
    Peer(PeerId),
}

/// What a message of NLIP is, understood.
pub type Incoming = codec::Incoming<Own, ReplyTo>;
pub type Meaning = codec::Meaning<Own>;

/// What only NLIP has.
#[derive(Debug)]
pub enum Own {
    /// Several in one message.
    Calls(Vec<Call>),
    /// What can be called: everywhere, or at one peer.
    Skills(Option<PeerId>),
    /// Something about events on topics.
    Topic(Topic),
    /// How a task of the caller's stands, or that it is not wanted any more.
    Task(TaskId, TaskWish),
    /// A control message asks where large content goes (clause 6.4).
    Upload,
    /// A control message asks the hub to say who it is (first draft, clause 6.5).
    Identify,
    /// It brings credentials and asks nothing else: the answer to an open question for them, if there is one.
    Credentials,
    /// A control message asks about the endpoint: limits, policies, formats, languages, addresses; one of them, or all.
    Terms(Option<Term>),
    /// Only source code, at a door where nobody reads it (clause 5.3).
    Unread { language: Text },
    /// The peer says that something failed on its side.
    Report { text: Text },
    /// Nothing is asked: the answer only shows that it came.
    Remark,
}

/// What is wanted of a task that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskWish {
    Look,
    Cancel,
}

impl TaskWish {
    pub fn as_str(self) -> &'static str {
        match self {
            TaskWish::Look => "look",
            TaskWish::Cancel => "cancel",
        }
    }
}

/// Reads what a message means.
pub fn decode(message: Message, context: &Context<'_>) -> Result<Carried<Incoming>, Invalid> {
    let hop = context.headers.decode(context.now).map_err(bad_header)?;
    let control = message.is_control();
    let report = report(&message);
    let (rest, Tokens { credentials, conversation, echo }) = tokens::split(message, context.hub);
    let mut losses = Vec::new();
    let (ours, parts) = sort(rest, context.depth, &mut losses)?;
    let said = Said { context, hop: ours.hop(hop), conversation: conversation.clone(), control };
    let meaning = match report {
        Some(text) => Meaning::Own(Own::Report { text }),
        None => said.meaning(ours, parts, &credentials)?,
    };
    let reply = ReplyTo { control, echo, conversation };
    Ok(Carried { value: Incoming { meaning, credentials, reply }, losses })
}

fn bad_header(bad: interlingua_wire::hub_headers::BadHop) -> Invalid {
    Invalid::whole(Problem::BadHeader(bad))
}

/// A message type of `error`, or the first draft's format: the sender tells of a failure, it asks nothing.
fn report(message: &Message) -> Option<Text> {
    let first = &message.first;
    let reported = first.format == Format::Error || message.is_error();
    reported.then(|| {
        part::report_text(if first.format == Format::Error { &first.subformat } else { "text" }, &first.content)
    })
}

/// The hub's own words apart from the parts. A label of ours that a caller has no business writing is dropped.
fn sort(rest: Vec<Submessage>, depth: usize, losses: &mut Vec<Loss>) -> Result<(Ours, Vec<Part>), Invalid> {
    let caller = Provenance::caller();
    let mut ours = Ours::default();
    let mut parts = Vec::with_capacity(rest.len());
    for submessage in rest {
        if submessage.label.as_deref().is_some_and(labels::is_ours) {
            if !ours.take(&submessage, depth)? {
                losses.push(Loss::new("input.parts", LossKind::Dropped));
            }
        } else {
            parts.extend(part::decode(submessage, &caller, depth, Way::Input, losses));
        }
    }
    Ok((ours, parts))
}

/// A message with its tokens split off.
struct Said<'a> {
    context: &'a Context<'a>,
    hop: Hop,
    conversation: Option<ConversationId>,
    control: bool,
}

impl Said<'_> {
    fn meaning(self, ours: Ours, mut parts: Vec<Part>, credentials: &[Secret]) -> Result<Meaning, Invalid> {
        if let Some(answer) = ours.answer {
            return answer.signal(self.context.message.clone(), credentials);
        }
        if let Some(topic) = ours.topic {
            return Ok(Meaning::Own(Own::Topic(topic)));
        }
        if let Some((task, wish)) = ours.task {
            return Ok(Meaning::Own(Own::Task(task, wish)));
        }
        let history = take_history(&mut parts);
        let input = Input { args: None, parts, history, trust: Trust::Caller };
        if !ours.calls.is_empty() {
            return self.calls(ours.calls, input);
        }
        let words = input.words();
        if let Some(wish) = self.wish(&words) {
            return Ok(Meaning::Own(self.wished(wish)));
        }
        if (self.control || input.parts.is_empty()) && !credentials.is_empty() {
            return Ok(Meaning::Own(Own::Credentials));
        }
        if self.control || (input.parts.is_empty() && input.history.is_empty()) {
            return Ok(Meaning::Own(Own::Remark));
        }
        if let Some(language) = self.unread(&input) {
            return Ok(Meaning::Own(Own::Unread { language }));
        }
        let target = match &self.context.door {
            Addressed::Front => Target::Words,
            Addressed::Peer(peer) => Target::Peer(peer.clone()),
        };
        let id = self.context.message.clone();
        Ok(Meaning::Call(Box::new(self.call(id, target, input))))
    }

    /// At a peer's own door plain words are for the peer.
    fn wish(&self, words: &str) -> Option<Wish> {
        if let Some(wish) = self.context.hook.and_then(|hook| hook(words)) {
            return Some(wish);
        }
        match (self.control, &self.context.door) {
            (true, _) => phrases::of_control(words),
            (false, Addressed::Front) => phrases::of_data(words),
            (false, Addressed::Peer(_)) => None,
        }
    }

    fn wished(&self, wish: Wish) -> Own {
        match (wish, &self.context.door) {
            (Wish::Upload, _) => Own::Upload,
            (Wish::Credentials, _) => Own::Identify,
            (Wish::Terms(asked), _) => Own::Terms(asked),
            (Wish::Skills, Addressed::Front) => Own::Skills(None),
            (Wish::Skills, Addressed::Peer(peer)) => Own::Skills(Some(peer.clone())),
        }
    }

    /// The language of source code that came without a word, where only words are understood.
    fn unread(&self, input: &Input) -> Option<Text> {
        if self.context.door != Addressed::Front || !input.words().is_empty() {
            return None;
        }
        input.parts.iter().find_map(|part| match &part.body {
            Body::Code { language, .. } if part.media.is_none() => Some(language.clone()),
            Body::Code { .. }
            | Body::Text { .. }
            | Body::Data(_)
            | Body::Blob(_)
            | Body::Link
            | Body::Place { .. }
            | Body::Other { .. } => None,
        })
    }

    fn calls(&self, calls: Vec<ours::NamedCall>, input: Input) -> Result<Meaning, Invalid> {
        let of = u16::try_from(calls.len()).map_err(|_| Invalid::whole(Problem::BadCall("too many in one message")))?;
        let mut made = Vec::with_capacity(calls.len());
        for (index, named) in (0..of).zip(calls) {
            let target = named.target(&self.context.door)?;
            let minted = || match of {
                1 => self.context.message.clone(),
                _ => format!("{}/{index}", self.context.message).into(),
            };
            let given = named.id.is_some();
            let id = named.id.unwrap_or_else(minted);
            let mut call = self.call(id, target, Input { args: Some(named.arguments), ..input.clone() });
            call.id_given = given;
            made.push(call);
        }
        Ok(match made.pop() {
            Some(only) if made.is_empty() => Meaning::Call(Box::new(only)),
            last => {
                made.extend(last);
                Meaning::Own(Own::Calls(made))
            }
        })
    }

    /// The manners of this wire: one whole answer; a missing argument may be asked for; a caller that goes away has
    /// lost interest.
    fn call(&self, id: MessageId, target: Target, input: Input) -> Call {
        let mut call = Call::new(id, WIRE, Ask::Invoke { target, input });
        self.hop.apply(&mut call);
        call.conversation.clone_from(&self.conversation);
        call.caller = Caller {
            can_answer: KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT),
            missing: Missing::Question,
            accepts: Vec::new(),
            tools: Vec::new(),
        };
        call
    }
}
