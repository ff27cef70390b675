//! `/nlip/ws` (CBOR) and `/nlip/ws/text` (JSON), ECMA-432.
//!
//! Messages of one socket are answered one after another, in their order. The socket is read all the time, so that pings are answered, a
//! silent peer is detected and a close cancels the running call. A client that sends more than the queue holds is disconnected, because a
//! close behind unread messages would not be seen. A message that cannot be decoded gets an error message (clause 11) in a frame of the
//! socket's own kind: its client reads no other.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::decode::Addressed;
use crate::encode::{self, ReplyTo};
use crate::invalid::Invalid;
use crate::json::Keys;
use crate::topic;
use crate::wire::Message;
use crate::{cbor, json};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use bytes::Bytes;
use http::HeaderMap;
use interlingua_model::{Fault, Principal};
use tokio_websockets::{CloseCode, Message as Frame};
use tracing::Instrument;

use super::{Ear, Exchange, Listening, limits};
use crate::Endpoint;
use crate::PROTOCOL;
use crate::refusal::NlipErrors;
use interlingua_access::Shown;
use interlingua_endpoint::Shared;
use interlingua_endpoint::error_format::ErrorFormat;
use interlingua_endpoint::revocation::Pass;
use interlingua_hub::byte_budget::SMALL;
use interlingua_net::connection::Connection;
use interlingua_net::connection_limits::Place;
use interlingua_net::frames::{self, Arrived, Close, TAKEN_BACK, UNPROVEN, Whole, send};
use interlingua_net::large;
use interlingua_net::upgrade::{Socket, agree, no_place};
use interlingua_telemetry::meters::Phase;
use interlingua_telemetry::trace;

/// How many messages may wait while one is answered. Together they are as long as one may be, or there is only one.
const MAX_WAITING: usize = 256;
/// Bytes of small ones among them.
const MAX_SMALL: usize = 1024 * 1024;
/// A socket that is silent this long is asked whether it is there.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// After so many unanswered heartbeats it is not.
const MISSED: u32 = 3;
/// How many patterns of topics one socket may listen to.
const MAX_EARS: usize = 16;

pub(super) fn routes() -> Router<Arc<Endpoint>> {
    Router::new().route("/nlip/ws", any(binary)).route("/nlip/ws/text", any(text))
}

/// How messages are spelt on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding {
    Cbor,
    Json,
}

async fn binary(shared: State<Arc<Endpoint>>, connection: Extension<Connection>, request: Request) -> Response {
    upgraded(shared, connection, request, Binding::Cbor)
}

async fn text(shared: State<Arc<Endpoint>>, connection: Extension<Connection>, request: Request) -> Response {
    upgraded(shared, connection, request, Binding::Json)
}

fn upgraded(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    binding: Binding,
) -> Response {
    // A wrong credential is refused before the upgrade, with a status; none at all may still come with each message.
    let by = match shared.access.transport(&connection, request.headers(), shared.hub.now()) {
        Ok(by) => by,
        Err(fault) => return NlipErrors.refuse(&fault),
    };
    let agreed = match agree(&mut request) {
        Ok(agreed) => agreed,
        Err(fault) => return NlipErrors.refuse(&fault),
    };
    let standing = match Standing::of(&by, &shared, agreed.address) {
        Ok(standing) => standing,
        Err(fault) => return NlipErrors.refuse(&fault),
    };
    let headers = std::mem::take(request.headers_mut());
    let pass = Pass::of_connection(&shared.shared, Shown::of(connection, &headers));
    let (response, socket) = agreed.split(standing.limit(&shared), shared.allowance());
    let supervisor = shared.hub.supervisor().clone();
    supervisor.run(async move {
        if let Some(socket) = socket.await {
            let (waiting, ears) = (VecDeque::new(), Vec::new());
            let session = Session { shared, connection, headers, binding, standing, waiting, ears, silent: 0 };
            session.run(socket, pass).await;
        }
    });
    response
}

/// Whether it was shown who is there: with the upgrade, or in a message since.
#[derive(Debug)]
enum Standing {
    Proven,
    /// Its messages are short, and such sockets are few.
    Stranger {
        _place: Place,
    },
}

impl Standing {
    fn of(by: &Principal, shared: &Shared, address: Option<IpAddr>) -> Result<Standing, Fault> {
        if !by.is_anonymous() {
            return Ok(Standing::Proven);
        }
        let _place = shared.strangers.try_take(address).ok_or_else(no_place)?;
        Ok(Standing::Stranger { _place })
    }

    /// How long one message may be.
    fn limit(&self, shared: &Shared) -> usize {
        let body = usize::try_from(shared.bounds().body).unwrap_or(usize::MAX);
        match self {
            Standing::Proven => body,
            Standing::Stranger { .. } => body.min(UNPROVEN),
        }
    }
}

struct Session {
    shared: Arc<Endpoint>,
    connection: Connection,
    headers: HeaderMap,
    binding: Binding,
    standing: Standing,
    waiting: VecDeque<Whole>,
    /// What it listens to.
    ears: Vec<Listening>,
    silent: u32,
}

impl Session {
    /// `pass`: what the socket was opened with; none when that was taken back since.
    async fn run(mut self, mut socket: Socket, pass: Option<Pass>) {
        let meters = self.shared.hub.meters().protocol(PROTOCOL);
        meters.sockets().increment(1.0);
        let shared = self.shared.clone();
        let taken_back = async {
            if let Some(pass) = pass {
                pass.ended().await;
            }
        };
        let closed = frames::until_ended(&shared.hub, taken_back, self.converse(&mut socket)).await;
        frames::goodbye(socket, closed).await;
        meters.sockets().decrement(1.0);
    }

    /// Until the socket is closed: by the other side (`None`), or for a reason of ours.
    async fn converse(&mut self, socket: &mut Socket) -> Close {
        loop {
            let frame = match self.waiting.pop_front() {
                Some(frame) => frame,
                None => match self.next(socket).await {
                    Ok(Some(frame)) => frame,
                    Ok(None) => continue,
                    Err(close) => return close,
                },
            };
            let answered = match self.answer(socket, frame).await {
                Ok(answer) => send(socket, answer).await,
                Err(close) => return close,
            };
            if let Err(close) = answered {
                return close;
            }
        }
    }

    /// The next message; `None` when only time passed or a control frame came.
    async fn next(&mut self, socket: &mut Socket) -> Result<Option<Whole>, Close> {
        let arrived = tokio::select! {
            event = heard(&mut self.ears) => return self.tell(socket, event).await,
            arrived = tokio::time::timeout(HEARTBEAT, frames::next(socket)) => arrived,
        };
        self.heeded(socket, arrived).await
    }

    /// What came within a heartbeat; who sent nothing is asked whether it is there.
    async fn heeded(&mut self, socket: &mut Socket, arrived: Beat) -> Result<Option<Whole>, Close> {
        match arrived {
            Ok(arrived) => {
                self.silent = 0;
                self.taken(arrived?)
            }
            Err(_) if self.silent >= MISSED => Err(Some((CloseCode::POLICY_VIOLATION, "silent for too long"))),
            Err(_) => {
                self.silent += 1;
                send(socket, Frame::ping(Bytes::new())).await?;
                Ok(None)
            }
        }
    }

    /// An event on a topic, between two messages.
    async fn tell(&mut self, socket: &mut Socket, event: Heard) -> Result<Option<Whole>, Close> {
        let (place, next) = event;
        let Some(next) = next else { return Err(Some(TAKEN_BACK)) };
        match next {
            Ok(Some((seq, event))) => {
                send(socket, self.encode(&topic::encode(seq, &event))).await?;
                Ok(None)
            }
            Ok(None) => {
                self.ears.swap_remove(place);
                Ok(None)
            }
            Err(fault) => {
                tracing::error!(event = "stream_failed", protocol = "nlip", error = %fault, cause = ?fault.source, "a topic subscription failed inside the hub");
                Err(Some((CloseCode::INTERNAL_SERVER_ERROR, "a topic cannot be listened to any more")))
            }
        }
    }

    /// The same pattern again begins anew.
    fn listen(&mut self, ear: Ear) -> Result<(), Close> {
        match ear {
            Ear::Closes(pattern) => self.ears.retain(|ear| ear.pattern != pattern),
            Ear::Opens(listening) => {
                self.ears.retain(|ear| ear.pattern != listening.pattern);
                if self.ears.len() >= MAX_EARS {
                    return Err(Some((CloseCode::POLICY_VIOLATION, "too many topics on one socket")));
                }
                self.ears.push(*listening);
            }
        }
        Ok(())
    }

    fn taken(&self, arrived: Arrived) -> Result<Option<Whole>, Close> {
        match (self.binding, arrived) {
            (_, Arrived::Alive) => Ok(None),
            (Binding::Cbor, Arrived::Binary(message)) | (Binding::Json, Arrived::Text(message)) => Ok(Some(message)),
            (Binding::Cbor, Arrived::Text(_)) | (Binding::Json, Arrived::Binary(_)) => {
                Err(Some((CloseCode::UNSUPPORTED_DATA, "this end-point takes the other kind of frame")))
            }
        }
    }

    /// Answers one message while the socket is read: what comes meanwhile waits, a close or silence cancels.
    async fn answer(&mut self, socket: &mut Socket, frame: Whole) -> Result<Frame, Close> {
        let mut laps = self.shared.hub.meters().laps();
        let decoded = large::worked(frame.bytes.len(), || self.decode(&frame.bytes)).await;
        laps.done(Phase::Decode);
        let message = match decoded {
            Ok(message) => message,
            Err(invalid) => {
                self.shared.hub.meters().protocol(PROTOCOL).invalid.increment(1);
                return Ok(self.encode(&encode::refused(&invalid.fault(), &[], ReplyTo::default())));
            }
        };
        let (shared, connection, headers) = (self.shared.clone(), self.connection, self.headers.clone());
        let answering = async move {
            let exchange =
                Exchange { shared: &shared, connection: &connection, headers: &headers, door: Addressed::Front };
            exchange.answer(message).await
        };
        // Every message has a span of its own, in the trace the socket was opened with.
        let begun = trace::request(&self.headers);
        let answering = trace::within(begun.context, answering).instrument(begun.span);
        let mut answering = std::pin::pin!(answering);
        loop {
            tokio::select! {
                reply = answering.as_mut() => {
                    // It was not read while the message was decoded.
                    socket.get_mut().pardon();
                    if reply.proven {
                        self.proven(socket);
                    }
                    if let Some(ear) = reply.ear {
                        self.listen(ear)?;
                    }
                    return Ok(self.encode(&reply.message));
                }
                arrived = tokio::time::timeout(HEARTBEAT, frames::next(socket)) => {
                    let message = self.heeded(socket, arrived).await?;
                    self.wait(message)?;
                }
            }
        }
    }

    /// A message showed who is there.
    fn proven(&mut self, socket: &mut Socket) {
        if let Standing::Stranger { .. } = self.standing {
            self.standing = Standing::Proven;
            frames::allow(socket, self.standing.limit(&self.shared));
        }
    }

    fn wait(&mut self, message: Option<Whole>) -> Result<(), Close> {
        self.waiting.extend(message);
        let lengths = || self.waiting.iter().map(|whole| whole.bytes.len());
        // Small ones hold no room among all bodies.
        let small: usize = lengths().filter(|length| *length as u64 <= SMALL).sum();
        let fits = self.waiting.len() <= 1
            || (lengths().sum::<usize>() <= self.standing.limit(&self.shared) && small <= MAX_SMALL);
        if fits && self.waiting.len() <= MAX_WAITING { Ok(()) } else { Err(frames::too_many()) }
    }

    fn decode(&self, frame: &Bytes) -> Result<Message, Invalid> {
        match self.binding {
            Binding::Cbor => cbor::decode(frame, &limits(&self.shared)),
            Binding::Json => json::decode(frame, &limits(&self.shared)),
        }
    }

    fn encode(&self, message: &Message) -> Frame {
        match self.binding {
            Binding::Cbor => Frame::binary(Bytes::from(cbor::encode(message, Keys::Lower))),
            Binding::Json => text_frame(message),
        }
    }
}

/// What came, or that nothing did for the time of a heartbeat.
type Beat = Result<Result<Arrived, Close>, tokio::time::error::Elapsed>;

/// What a subscription says next.
type Next = Result<Option<(u64, interlingua_machines::bus::Message)>, interlingua_model::Fault>;

/// Which subscription says something, and what; nothing when what was shown for it counts no more.
type Heard = (usize, Option<Next>);

/// The next event on any of these. Cancel safe, as each of them is.
async fn heard(ears: &mut [Listening]) -> Heard {
    if ears.is_empty() {
        return std::future::pending().await;
    }
    let listening = ears.iter_mut().map(|ear| {
        Box::pin(async {
            tokio::select! {
                next = ear.subscription.next() => Some(next),
                () = ear.pass.ended() => None,
            }
        })
    });
    let (event, place, _) = futures_util::future::select_all(listening).await;
    (place, event)
}

fn text_frame(message: &Message) -> Frame {
    // What the encoder writes is made of strings, so it is UTF-8.
    Frame::text(String::from_utf8(json::encode(message, Keys::Lower)).unwrap_or_default())
}
