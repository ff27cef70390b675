//! One WebSocket connection: frames in, frames out, and liveness.
//!
//! Frames of a connection are processed in their order. Until the server has registered the client, early frames wait in a small queue.
//! `/aip/ws` is the same with the wider profile for every client.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::invalid::is_of_another_kind;
use crate::link::{Due, Heard, Link, POLICY};
use crate::say::{self, Stamp};
use crate::server::{self, Happening};
use crate::wire::{ClientKind, ClientMessage, ClientType, Limits, ServerMessage};
use crate::{PROFILE, profile};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use bytes::Bytes;
use interlingua_model::{Fault, FaultKind, Feature, Json, Principal};
use interlingua_wire::object::Object;
use tokio_util::sync::CancellationToken;
use tokio_websockets::{CloseCode, Message as Frame};

use super::custom_messages::{Beside, Sender};
use super::entry::{self, ClaimedIdentity, Entered, Pass};
use super::files::{self, Files, Refused};
use crate::Endpoint;
use crate::queue::{Inbox, Out, Waits};
use crate::server_runtime::ServerRuntime;
use crate::{Extensions, PROTOCOL};
use interlingua_hub::{Hub, entropy};
use interlingua_net::connection::Connection;
use interlingua_net::frames::{self, Arrived, Close, Whole, send};
use interlingua_net::large;

use interlingua_net::upgrade::{Socket, agree};
use interlingua_telemetry::meters::Phase;

/// How long a whole file may take to leave.
const FILE: Duration = Duration::from_secs(600);
/// How much may wait until a connection is let in.
const EARLY: usize = 16;
const EARLY_BYTES: usize = 1024 * 1024;
/// It does not read what it is sent.
const SLOW: u16 = 1013;

pub fn routes(state: Arc<Endpoint>) -> Router {
    Router::new()
        .route("/ws", any(plain))
        .route("/aip/ws", any(profiled))
        .merge(super::http::routes())
        .with_state(state)
}

/// Who speaks the wider profile on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wide {
    WhoAsks,
    Everybody,
}

async fn plain(shared: State<Arc<Endpoint>>, connection: Extension<Connection>, request: Request) -> Response {
    upgraded(shared, connection, request, Wide::WhoAsks)
}

async fn profiled(shared: State<Arc<Endpoint>>, connection: Extension<Connection>, request: Request) -> Response {
    upgraded(shared, connection, request, Wide::Everybody)
}

fn upgraded(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    wide: Wide,
) -> Response {
    let runtime = shared.own.clone();
    let settings = runtime.settings();
    if !settings.enabled {
        let kind = FaultKind::Unsupported(Feature::SwitchedOff);
        return shared
            .default_format()
            .refuse(&Fault::caller(kind, "devices are not let in here: `aip.enabled` is false"));
    }
    let entered = Entered::new(connection, request.headers(), request.uri());
    let pass = match entered.admit(&shared, &settings) {
        Ok(pass) => pass,
        Err(fault) => return shared.default_format().refuse(&fault),
    };
    let agreed = match agree(&mut request) {
        Ok(agreed) => agreed,
        Err(fault) => return shared.default_format().refuse(&fault),
    };
    // A key or a credential was shown to come this far.
    let bytes = usize::try_from(shared.bounds().body).unwrap_or(usize::MAX);
    let limits = Limits { bytes, depth: shared.bounds().depth, ..Limits::default() };
    let (response, socket) = agreed.split(limits.bytes, shared.allowance());
    let (hub, room) = (shared.hub.clone(), shared.bounds().upload);
    let supervisor = hub.supervisor().clone();
    supervisor.run(async move {
        if let Some(socket) = socket.await {
            let (connection, told) = runtime.enter();
            let talk = ClientSocket {
                link: Link::open(settings.pulse, hub.now()),
                extensions: runtime.extensions(),
                shared,
                hub,
                runtime,
                connection,
                told,
                entered,
                pass,
                wide,
                limits,
                early: VecDeque::new(),
                probed: false,
                claim: None,
                by: None,
                files: Files::new(room),
                gone: CancellationToken::new(),
            };
            talk.run(socket).await;
        }
    });
    response
}

struct ClientSocket {
    shared: Arc<Endpoint>,
    hub: Arc<Hub>,
    runtime: Arc<ServerRuntime>,
    connection: server::Connection,
    link: Link,
    told: Inbox,
    entered: Entered,
    pass: Pass,
    wide: Wide,
    limits: Limits,
    /// Frames that came before it was let in.
    early: VecDeque<Whole>,
    /// It was asked for a sign of life, because another claims its id.
    probed: bool,
    extensions: Arc<Extensions>,
    /// Who it says it is, and who that is, once it was believed.
    claim: Option<ClaimedIdentity>,
    by: Option<Principal>,
    files: Files,
    gone: CancellationToken,
}

/// The connection ends with this code. Why, was said before: the Python server gives no reason either.
fn close(code: u16) -> Close {
    CloseCode::try_from(code).ok().map(|code| (code, ""))
}

impl ClientSocket {
    async fn run(mut self, mut socket: Socket) {
        let meters = self.hub.meters().protocol(PROTOCOL);
        meters.sockets().increment(1.0);
        let hub = self.hub.clone();
        let cut = self.told.cut();
        let closed = tokio::select! {
            biased;
            () = cut.cancelled() => None,
            closed = frames::until_ended(&hub, std::future::pending(), self.converse(&mut socket)) => closed,
        };
        self.gone.cancel();
        self.told.clear();
        // Whoever waits for this client hears of it at once, not after its goodbye.
        self.runtime.left(self.connection);
        if cut.is_cancelled() {
            // It does not read: a goodbye would only keep what is on its way in memory.
            drop(socket);
        } else {
            frames::goodbye(socket, closed).await;
        }
        meters.sockets().decrement(1.0);
    }

    async fn converse(&mut self, socket: &mut Socket) -> Close {
        let mut changes = self.shared.access.changes();
        loop {
            let timer = self.hub.instant(self.link.next_timer());
            let room = self.has_room();
            // What came early is answered after the acknowledgement, which waits to be told.
            let early = if self.link.who().is_some() && self.told.is_empty() { self.early.pop_front() } else { None };
            let turn = match early {
                Some(frame) => self.text(socket, frame).await,
                None => tokio::select! {
                    biased;
                    // First: who sends without end must not keep it from being seen.
                    Ok(()) = changes.changed() => self.is_itself_still(),
                    waits = self.told.next() => self.tell(socket, waits).await,
                    arrived = frames::next(socket), if room => match arrived {
                        Ok(arrived) => self.hear(socket, arrived).await,
                        Err(close) => Err(close),
                    },
                    () = tokio::time::sleep_until(timer) => self.tick(socket).await,
                },
            };
            if let Err(close) = turn {
                return close;
            }
        }
    }

    /// A credential that was taken back ends the connection that it opened.
    fn still_admitted(&self) -> Result<(), Close> {
        self.entered.admit(&self.shared, &self.runtime.settings()).map(drop).map_err(|_| close(POLICY))
    }

    /// The same of the name that it came in under: it may have been given to another since.
    fn is_itself_still(&self) -> Result<(), Close> {
        let admitted = self.entered.admit(&self.shared, &self.runtime.settings());
        let pass = admitted.map_err(|_| close(POLICY))?;
        match &self.claim {
            None => Ok(()),
            Some(claim) => {
                let named = entry::principal(&pass, &self.hub, &self.runtime, claim);
                named.map(drop).map_err(|_| close(POLICY))
            }
        }
    }

    fn has_room(&self) -> bool {
        self.early.len() < EARLY && self.early.iter().map(|frame| frame.bytes.len()).sum::<usize>() < EARLY_BYTES
    }

    /// What waits counts until it has left.
    async fn tell(&mut self, socket: &mut Socket, waits: Option<Waits>) -> Result<(), Close> {
        let Some(Waits { out, weight: _leaves_later }) = waits else { return Err(close(SLOW)) };
        match out {
            Out::Close(code) => Err(close(code)),
            Out::Probe => {
                self.probed = true;
                send(socket, Frame::ping(Bytes::new())).await
            }
            Out::Frame(frame) => self.say(socket, *frame).await,
            Out::Foreign(frame) => send(socket, Frame::text(frame)).await,
            Out::Admit(who) => {
                if who.role == ClientType::Device {
                    self.runtime.registrar.settled().await;
                }
                self.link.admit(who);
                Ok(())
            }
        }
    }

    /// A frame that the middleware stops is not sent.
    async fn say(&mut self, socket: &mut Socket, frame: ServerMessage) -> Result<(), Close> {
        let mut laps = self.hub.meters().laps();
        let frame = match self.extensions.middleware.outgoing(frame) {
            Ok(frame) => frame,
            Err(fault) => {
                tracing::warn!(event = "frame_blocked", error = %fault, "middleware stopped an outgoing frame");
                return Ok(());
            }
        };
        let bytes = frame.encode();
        laps.done(Phase::Encode);
        send(socket, Frame::text(bytes)).await
    }

    async fn hear(&mut self, socket: &mut Socket, arrived: Arrived) -> Result<(), Close> {
        self.link.alive(self.hub.now());
        if std::mem::take(&mut self.probed) {
            self.runtime.step(Happening::Alive(self.connection));
        }
        match arrived {
            // A sign of life puts off the timer that would look at it.
            Arrived::Alive => self.still_admitted(),
            Arrived::Text(frame) => self.text(socket, frame).await,
            Arrived::Binary(frame) => match self.sender().filter(Sender::is_wide) {
                Some(sender) => {
                    self.still_admitted()?;
                    let taken = self.files.bytes(&sender, frame.bytes).await;
                    self.filed(socket, taken).await
                }
                None => {
                    let heard = self.stamped(|link, stamp| link.binary(stamp));
                    self.heard(socket, heard).await
                }
            },
        }
    }

    async fn text(&mut self, socket: &mut Socket, frame: Whole) -> Result<(), Close> {
        self.still_admitted()?;
        if self.link.is_pending() {
            self.early.push_back(frame);
            return Ok(());
        }
        let frame = &frame.bytes;
        let mut laps = self.hub.meters().laps();
        let message = large::worked(frame.len(), || ClientMessage::decode(frame, &self.limits)).await;
        laps.done(Phase::Decode);
        let message = match message {
            Ok(message) => match self.extensions.middleware.incoming(message) {
                Ok(message) => Ok(message),
                Err(fault) => return self.refuse(socket, &fault).await,
            },
            Err(invalid) => match self.sender().filter(|_| is_of_another_kind(&invalid)) {
                Some(sender) => match sender.hear(frame, &self.limits, &self.extensions) {
                    Beside::Unknown => Err(invalid),
                    beside => return self.beside(socket, &sender, beside).await,
                },
                None => Err(invalid),
            },
        };
        match &message {
            Ok(message) => self.observed(message),
            Err(_) => self.hub.meters().protocol(PROTOCOL).invalid.increment(1),
        }
        let heard = self.stamped(|link, stamp| link.hear(message, stamp));
        self.heard(socket, heard).await
    }

    /// One that fails is written down and stops nothing.
    fn observed(&self, message: &ClientMessage) {
        let told = self.extensions.observers.dispatch(message.kind.as_str(), message).unwrap_or_default();
        for fault in told.into_iter().filter_map(Result::err) {
            tracing::warn!(event = "frame_observer_failed", error = %fault, "an observer of incoming frames failed");
        }
    }

    /// Whoever was let in.
    fn sender(&self) -> Option<Sender> {
        Some(Sender {
            who: self.link.who()?.clone(),
            by: self.by.clone()?,
            hub: self.hub.clone(),
            runtime: self.runtime.clone(),
            connection: self.connection,
            gone: self.gone.clone(),
        })
    }

    async fn beside(&mut self, socket: &mut Socket, sender: &Sender, beside: Beside) -> Result<(), Close> {
        match beside {
            Beside::Unknown | Beside::Answer(None) => Ok(()),
            Beside::Answer(Some(frame)) => send(socket, Frame::text(frame)).await,
            Beside::File(frame) if files::is_request(&frame) => {
                let sent = tokio::time::timeout(FILE, files::send(sender, &frame, socket)).await;
                match sent {
                    Ok(sent) => self.filed(socket, sent.map(|()| None)).await,
                    Err(_) => Err(None),
                }
            }
            Beside::File(frame) => {
                let taken = self.files.heading(sender, &frame).await;
                self.filed(socket, taken).await
            }
        }
    }

    async fn filed(&mut self, socket: &mut Socket, taken: Result<Option<Json>, Refused>) -> Result<(), Close> {
        match taken {
            Ok(None) => Ok(()),
            Ok(Some(result)) => {
                let ack = self.stamped(|_, stamp| say::ack(None, stamp));
                self.say(socket, ServerMessage { result: Some(result), ..ack }).await
            }
            Err(Refused(fault)) => self.refuse(socket, &fault).await,
        }
    }

    async fn refuse(&mut self, socket: &mut Socket, fault: &Fault) -> Result<(), Close> {
        let refusal = self.stamped(|_, stamp| say::error(fault.public.clone(), stamp));
        self.say(socket, refusal).await
    }

    fn stamped<T>(&mut self, work: impl FnOnce(&mut Link, &mut Stamp<'_>) -> T) -> T {
        let mut mint = entropy::bits;
        work(&mut self.link, &mut Stamp { now: self.hub.now(), mint: &mut mint })
    }

    async fn heard(&mut self, socket: &mut Socket, heard: Heard) -> Result<(), Close> {
        match heard {
            Heard::Nothing => Ok(()),
            Heard::Reply(frame) => self.say(socket, frame).await,
            Heard::Refuse(frame, code) => {
                self.say(socket, frame).await?;
                Err(close(code))
            }
            Heard::Pass(message) if message.kind == ClientKind::Register => self.register(socket, message).await,
            Heard::Pass(message) => {
                self.runtime.step(Happening::Frame(self.connection, message));
                Ok(())
            }
        }
    }

    async fn register(&mut self, socket: &mut Socket, mut message: ClientMessage) -> Result<(), Close> {
        let claim = ClaimedIdentity::of(&message);
        match entry::principal(&self.pass, &self.hub, &self.runtime, &claim) {
            Ok(by) => {
                self.claim = Some(claim);
                self.by = Some(by.clone());
                self.runtime.proved(self.connection, by);
            }
            Err(text) => {
                let refusal = self.stamped(|_, stamp| say::error(text, stamp));
                self.say(socket, refusal).await?;
                return Err(close(POLICY));
            }
        }
        if self.wide == Wide::Everybody && !profile::is_asked(&message) {
            message.metadata = Some(with_profile(message.metadata.as_ref()));
        }
        self.runtime.step(Happening::Frame(self.connection, message));
        Ok(())
    }

    async fn tick(&mut self, socket: &mut Socket) -> Result<(), Close> {
        // It may have expired.
        self.still_admitted()?;
        match self.link.tick(self.hub.now()) {
            Due::Nothing => Ok(()),
            Due::Ping => send(socket, Frame::ping(Bytes::new())).await,
            Due::Close(code) => Err(close(code)),
        }
    }
}

/// The same with the profile asked for.
fn with_profile(metadata: Option<&Json>) -> Json {
    Object::json(|out| {
        out.text("profile", PROFILE);
        if let Some(metadata) = metadata {
            out.splice(metadata);
        }
    })
}
