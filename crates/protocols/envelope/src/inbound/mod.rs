//! Inbound envelope: one message in; a list of responses, or a stream of them, out.
//!
//! The steps are `read`, `authenticate`, `decode`, the session, the call to the hub, `encode`, in this order. A message that is refused
//! whole leaves no trace: nothing of it is tracked before its principal and its purpose are known.

pub mod http;
mod parallel;

use std::sync::Arc;

use crate::decode::{self, Incoming, Meaning, Own, Tool};
use crate::encode::{Delivery, Encoder, Of};
use crate::invalid::Invalid;
use crate::wire::{self, Head, Limits, Message, MessageType};
use ::http::HeaderMap;
use bytes::Bytes;
use interlingua_model::json::Tree;
use interlingua_model::{
    Call, Carried, ConversationId, Digest, Fault, FaultKind, Json, Loss, MessageId, Noun, PeerId, Principal, Secret,
    Signal, TaskId, Text, Time,
};
use interlingua_wire::hub_headers;

use self::parallel::{Answering, Lane};
use super::notes::Note;
use super::sessions::{Brought, Context, Kind, Noting, TakenUp};
use super::settings::Settings;
use crate::spellings::Visible;
use crate::{Endpoint, PROTOCOL};
use interlingua_hub::audit::AuditLine;
use interlingua_hub::hooks::HookNote;
use interlingua_net::connection::Connection;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;
use interlingua_telemetry::trace;

/// One message that arrived, and where.
struct Exchange {
    shared: Arc<Endpoint>,
    connection: Connection,
    headers: HeaderMap,
    settings: Arc<Settings>,
    /// As one array, or as a stream, perhaps of whole answers.
    streamed: bool,
    delivery: Delivery,
    /// Whose path it came to; `None`: the hub's.
    peer: Option<PeerId>,
}

/// What becomes of a message.
enum Answered {
    /// It is answered by running something.
    Running(Box<Answering>),
    /// It wants no answer.
    Noted,
}

/// A message that is refused whole.
#[derive(Debug)]
pub struct Refusal {
    head: Head,
    fault: Fault,
}

impl Exchange {
    async fn answer(&self, frame: &Bytes) -> Result<Answered, Box<Refusal>> {
        let bounds = self.shared.bounds();
        let limits = Limits {
            bytes: usize::try_from(bounds.body).unwrap_or(usize::MAX),
            depth: bounds.depth,
            ..Limits::default()
        };
        let meters = self.shared.hub.meters();
        let mut laps = meters.laps();
        let read = large::worked(frame.len(), || wire::read(frame, &limits)).await;
        laps.done(Phase::Decode);
        let Carried { value: message, losses } = match read {
            Ok(read) => read,
            Err(rejected) if self.settings.enabled => {
                meters.protocol(super::PROTOCOL).invalid.increment(1);
                return Err(refusal(&rejected.head, rejected.invalid.fault()));
            }
            Err(rejected) => return Err(refusal(&rejected.head, disabled())),
        };
        let head = Head {
            format: message.format.clone(),
            message_id: Some(message.control.message_id.clone()),
            token: message.token.clone(),
        };
        self.route(message, losses).await.map_err(|fault| refusal(&head, fault))
    }

    async fn route(&self, message: Message, losses: Vec<Loss>) -> Result<Answered, Fault> {
        // Any message type, and before anything is looked at (R-04, H-02).
        if !self.settings.enabled {
            return Err(disabled());
        }
        let brought = message.control.auth_token.as_slice().to_vec();
        let by = self.shared.authenticate(&self.connection, &self.headers, &brought)?;
        self.authenticated(&by, brought, message, losses).await.map_err(|fault| fault.told_to(&by))
    }

    /// The path of a peer of which this principal may see nothing is treated as not found.
    fn check_peer(&self, by: &Principal) -> Result<(), Fault> {
        let Some(peer) = &self.peer else { return Ok(()) };
        let is_there = self.shared.hub.visible(by).has_peer(peer);
        let unknown = || Fault::caller(FaultKind::NotFound(Noun::Resource), "no agent is reached at this path");
        is_there.then_some(()).ok_or_else(unknown)
    }

    async fn authenticated(
        &self,
        by: &Principal,
        brought: Vec<Secret>,
        mut message: Message,
        mut losses: Vec<Loss>,
    ) -> Result<Answered, Fault> {
        self.check_peer(by)?;
        let context = take_context(&mut message);
        let message_id = MessageId(message.control.message_id.clone());
        let kind = match message.control.message_type {
            MessageType::Notification => Kind::Note,
            MessageType::Request | MessageType::Response | MessageType::Error => Kind::Turn,
        };
        let now = self.shared.hub.now();
        let decoded = self.decode(message, by, now).map_err(|invalid| invalid.fault())?;
        losses.extend(decoded.losses);
        let Incoming { meaning, reply: mut head, .. } = decoded.value;
        if let Meaning::Own(Own::Noted { session: None, .. }) = meaning {
            return Ok(Answered::Noted);
        }
        if kind == Kind::Note || matches!(meaning, Meaning::Signal { .. }) {
            // Calls are counted at the hub's door.
            self.shared.hub.admission().check_rate(by)?;
        }
        let settings = self.shared.hub.settings();
        let (context, most, bytes) = (context.as_ref(), settings.conversations_of_one, settings.bytes_of(&by.owner()));
        let said = Brought { by, token: &head.token, message: &message_id, context, kind, most, bytes };
        let sessions = &self.shared.own.sessions;
        let taken = sessions.take_up(said, &self.settings, now).await?;
        let TakenUp { token, conversation, key, context, losses: lost } = taken;
        losses.extend(lost);
        head.token = token;
        let lanes = match meaning {
            Meaning::Own(Own::Tools(routed)) => {
                let lane = |tool: &Tool, call: Result<Box<Call>, Fault>| match call {
                    Ok(call) => Lane::Waiting(self.adapted(call, conversation.clone())),
                    Err(fault) => {
                        // It never comes to the hub's door, where decisions are written down.
                        let line = AuditLine::new("call", by.owner()).on(&tool.name).refused(fault.kind);
                        self.shared.hub.write_audit(line);
                        Lane::Refused(fault)
                    }
                };
                let lanes = routed.into_iter().map(|it| {
                    let lane = lane(&it.tool, it.call);
                    (Of::Tool(it.tool), lane)
                });
                lanes.collect()
            }
            Meaning::Call(call) => vec![(Of::Chat, Lane::Waiting(self.adapted(call, conversation)))],
            Meaning::Signal { to, signal } => vec![self.signalled(by, to, signal).await],
            Meaning::Own(Own::Noted { session, content }) => {
                if let Some(key) = key {
                    self.note(by, key, session, Note::new(&message_id, &content, now)).await?;
                }
                return Ok(Answered::Noted);
            }
        };
        let (lanes, states) = lanes.into_iter().unzip();
        let encoder = Encoder::new(head, lanes, self.delivery, losses).bringing(context);
        let encoder = if self.streamed { encoder.delivering(self.settings.deliveries()) } else { encoder };
        let host = self.headers.get(::http::header::HOST).and_then(|host| host.to_str().ok());
        Ok(Answered::Running(Box::new(Answering {
            hub: self.shared.hub.clone(),
            by: by.clone(),
            connection: self.connection.id,
            base: self.shared.base(&self.connection, host),
            parallel: self.settings.parallel,
            lanes: states,
            encoder,
            brought,
        })))
    }

    /// From the wire to the model, with the names this principal knows.
    fn decode(&self, message: Message, by: &Principal, now: Time) -> Result<Carried<Incoming>, Invalid> {
        let hub = &self.shared.hub;
        let catalogue = hub.catalogue();
        let made = self.shared.own.spellings.of(&catalogue, &self.settings);
        let peer = self.peer.as_ref();
        let names = Visible { table: &made.table, seen: hub.visible(by), by, peer };
        let context = decode::Context {
            names: &names,
            translators: &made.translators,
            now,
            default_timeout: self.settings.default_timeout,
            peer,
        };
        decode::decode(message, &context)
    }

    /// What the message leaves to the session, the configuration and the transport.
    fn adapted(&self, mut call: Box<Call>, conversation: Option<ConversationId>) -> Box<Call> {
        call.conversation = conversation;
        call.id_given = self.settings.tracks_messages;
        let text = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        if call.via.is_none() {
            call.via = text(hub_headers::VIA).and_then(hub_headers::via);
        }
        if let Some(origin) = text(hub_headers::ORIGIN) {
            call.told(origin);
        }
        // A streamed answer is made after the request was answered: what it belongs to is written down here.
        call.trace = call.trace.take().or_else(trace::ambient);
        call
    }

    /// A yes or an answer: it goes to its task, and what the task does then is the response.
    async fn signalled(&self, by: &Principal, task: TaskId, signal: Signal) -> (Of, Lane) {
        let hub = &self.shared.hub;
        let of = match hub.task(by, task).await {
            Ok(kept) => Tool::of(&kept.call).map_or(Of::Chat, Of::Tool),
            Err(_) => Of::Chat,
        };
        let lane = match self.tell(by, task, signal).await {
            Ok(lane) => lane,
            Err(fault) => Lane::Refused(fault),
        };
        (of, lane)
    }

    async fn tell(&self, by: &Principal, task: TaskId, signal: Signal) -> Result<Lane, Fault> {
        let hub = &self.shared.hub;
        let after = hub.seq_of(task);
        if let Err(fault) = hub.signal(by.clone(), task, signal.clone()).await {
            // The same message again is the same answer again, not a second one (H-11).
            return match parallel::received(hub, by, task, &signal).await {
                Some(running) => Ok(Lane::Running(running)),
                None => Err(fault),
            };
        }
        Ok(match hub.follow(by, task, after).await {
            Ok(running) => Lane::Running(running),
            // Who approves without owning the task sees only that the answer was taken.
            Err(_) => Lane::Taken,
        })
    }

    /// Stores a notification beside its session, and informs the hooks of one that is new.
    async fn note(&self, by: &Principal, key: Digest, session: Option<Text>, note: Note) -> Result<(), Fault> {
        let (hub, settings) = (self.shared.hub.settings(), &*self.settings);
        let (most, bytes) = (hub.conversations_of_one, hub.bytes_of(&by.owner()));
        let of = Noting { by, settings, most, bytes, now: note.at };
        if self.shared.own.sessions.note(&note, key, of).await? {
            let (by, wire) = (by.owner().to_string(), PROTOCOL);
            let Note { message, content, .. } = note;
            self.shared.hub.tell_notification(&HookNote { hook: "".into(), by, wire, session, message, content });
        }
        Ok(())
    }
}

fn refusal(head: &Head, fault: Fault) -> Box<Refusal> {
    Box::new(Refusal { head: head.clone(), fault })
}

fn disabled() -> Fault {
    decode::disabled("the router is disabled")
}

/// What is to be kept is sealed in the session and is no part of any call, which may be journaled as it is.
fn take_context(message: &mut Message) -> Option<Context> {
    if message.metadata.as_bytes().len() <= 2 {
        return None;
    }
    let context = match message.metadata.get("context")? {
        kept @ Tree::Object(_) => Context::Keep(Json::from_tree(kept.clone())),
        Tree::Bool(true) => Context::Bring,
        _ => return None,
    };
    if let Tree::Object(members) = message.metadata.tree() {
        let mut rest = members.clone();
        rest.remove("context");
        message.metadata = Json::from_tree(Tree::Object(rest));
    }
    Some(context)
}
