//! One connection: frames in, frames out, and whether it still lives.
//!
//! Frames of a connection are taken in their order. Until the server has let it in, what comes early waits, and not much of it.
//! `/aip/ws` is the same with the wider profile for everybody.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use interlingua_core::{Fault, FaultKind, Feature, Json};
use interlingua_protocols::aip::link::{Due, Heard, Link, POLICY};
use interlingua_protocols::aip::server::say::{self, Stamp};
use interlingua_protocols::aip::server::{self, Happening};
use interlingua_protocols::aip::wire::{ClientKind, ClientMessage, ClientType, Limits, ServerMessage};
use interlingua_protocols::aip::{PROFILE, profile};
use interlingua_protocols::object::Object;
use tokio::sync::mpsc;
use tokio_websockets::{CloseCode, Error, Message as Frame};

use super::entry::{self, Pass};
use crate::edge::Shared;
use crate::edge::aip::PROTOCOL;
use crate::edge::aip::desk::{Desk, Out};
use crate::hub::{Hub, entropy};
use crate::server::connection::Connection;
use crate::server::shape::Shape;
use crate::server::upgrade::{Socket, agree};
use crate::telemetry::meters::Phase;

/// How long a frame may take to leave. A client that asks and does not read is gone.
const SEND: Duration = Duration::from_secs(60);
/// How long the other side may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);
/// How much may wait until a connection is let in.
const EARLY: usize = 16;
const EARLY_BYTES: usize = 1024 * 1024;
/// It does not read what it is sent.
const SLOW: u16 = 1013;
const TOO_LARGE: u16 = 1009;
const GOING_AWAY: u16 = 1001;

pub fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/ws", any(plain)).route("/aip/ws", any(profiled)).merge(super::http::routes())
}

/// Who speaks the wider profile on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wide {
    WhoAsks,
    Everybody,
}

async fn plain(shared: State<Arc<Shared>>, connection: Extension<Connection>, request: Request) -> Response {
    upgraded(shared, connection, request, Wide::WhoAsks)
}

async fn profiled(shared: State<Arc<Shared>>, connection: Extension<Connection>, request: Request) -> Response {
    upgraded(shared, connection, request, Wide::Everybody)
}

fn upgraded(
    State(shared): State<Arc<Shared>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    wide: Wide,
) -> Response {
    let desk = shared.aip.clone();
    let settings = desk.settings();
    if !settings.enabled {
        let kind = FaultKind::Unsupported(Feature::SwitchedOff);
        return Shape::Api.refuse(&Fault::caller(kind, "devices are not let in here: `aip.enabled` is false"));
    }
    let pass = match entry::admit(&shared, &settings, &connection, request.headers(), request.uri()) {
        Ok(pass) => pass,
        Err(fault) => return Shape::Api.refuse(&fault),
    };
    let agreed = match agree(&mut request) {
        Ok(agreed) => agreed,
        Err(fault) => return Shape::Api.refuse(&fault),
    };
    let limits = Limits { depth: shared.bounds().depth, ..Limits::default() };
    let (response, socket) = agreed.split(limits.bytes);
    let hub = shared.hub.clone();
    let supervisor = hub.supervisor.clone();
    supervisor.run(async move {
        if let Some(socket) = socket.await {
            let (connection, told) = desk.enter();
            let link = Link::open(settings.pulse, hub.now());
            let talk =
                Talk { hub, desk, connection, link, told, pass, wide, limits, early: VecDeque::new(), probed: false };
            talk.run(socket).await;
        }
    });
    response
}

struct Talk {
    hub: Arc<Hub>,
    desk: Arc<Desk>,
    connection: server::Connection,
    link: Link,
    told: mpsc::Receiver<Out>,
    pass: Pass,
    wide: Wide,
    limits: Limits,
    /// Frames that came before it was let in.
    early: VecDeque<Bytes>,
    /// It was asked for a sign of life, because another claims its id.
    probed: bool,
}

/// The connection ends: with a code, or because the other side is gone.
type Close = Option<u16>;

impl Talk {
    async fn run(mut self, mut socket: Socket) {
        let meters = self.hub.meters.protocol(PROTOCOL);
        meters.sockets.increment(1.0);
        let stopping = self.hub.supervisor.stopping().clone();
        let close = tokio::select! {
            close = self.converse(&mut socket) => close,
            () = stopping.cancelled() => Some(GOING_AWAY),
        };
        // Whoever waits for this client hears of it at once, not after its goodbye.
        self.desk.left(self.connection);
        let goodbye = async {
            if let Some(code) = close.and_then(|code| CloseCode::try_from(code).ok()) {
                let _ = socket.send(Frame::close(Some(code), "")).await;
            }
            let _ = socket.close().await;
        };
        let _ = tokio::time::timeout(GOODBYE, goodbye).await;
        meters.sockets.decrement(1.0);
    }

    async fn converse(&mut self, socket: &mut Socket) -> Close {
        loop {
            let timer = self.hub.clock.instant(self.link.next_timer());
            let room = self.has_room();
            // What came early is answered after the acknowledgement, which waits to be told.
            let early = if self.link.who().is_some() && self.told.is_empty() { self.early.pop_front() } else { None };
            let turn = match early {
                Some(frame) => self.text(socket, &frame).await,
                None => tokio::select! {
                    biased;
                    out = self.told.recv() => self.tell(socket, out).await,
                    frame = socket.next(), if room => self.hear(socket, frame).await,
                    () = tokio::time::sleep_until(timer) => self.tick(socket).await,
                },
            };
            if let Err(close) = turn {
                return close;
            }
        }
    }

    fn has_room(&self) -> bool {
        self.early.len() < EARLY && self.early.iter().map(Bytes::len).sum::<usize>() < EARLY_BYTES
    }

    async fn tell(&mut self, socket: &mut Socket, out: Option<Out>) -> Result<(), Close> {
        match out {
            None => Err(Some(SLOW)),
            Some(Out::Close(code)) => Err(Some(code)),
            Some(Out::Probe) => {
                self.probed = true;
                send(socket, Frame::ping(Bytes::new())).await
            }
            Some(Out::Frame(frame)) => self.say(socket, &frame).await,
            Some(Out::Admit(who)) => {
                if who.role == ClientType::Device {
                    self.desk.registrar.settled().await;
                }
                self.link.admit(who);
                Ok(())
            }
        }
    }

    async fn say(&self, socket: &mut Socket, frame: &ServerMessage) -> Result<(), Close> {
        let mut laps = self.hub.meters.laps();
        let bytes = frame.encode();
        laps.done(Phase::Encode);
        send(socket, Frame::text(bytes)).await
    }

    async fn hear(&mut self, socket: &mut Socket, frame: Option<Result<Frame, Error>>) -> Result<(), Close> {
        let frame = match frame {
            None => return Err(None),
            Some(Err(Error::PayloadTooLong { .. })) => return Err(Some(TOO_LARGE)),
            // The library has closed the socket with the code that belongs to the error.
            Some(Err(_)) => return Err(None),
            Some(Ok(frame)) => frame,
        };
        self.link.alive(self.hub.now());
        if std::mem::take(&mut self.probed) {
            self.desk.step(Happening::Alive(self.connection));
        }
        if frame.is_close() {
            Err(None)
        } else if frame.is_text() {
            self.text(socket, &frame.into_payload().into()).await
        } else if frame.is_binary() {
            let heard = self.stamped(|link, stamp| link.binary(stamp));
            self.heard(socket, heard).await
        } else {
            Ok(())
        }
    }

    async fn text(&mut self, socket: &mut Socket, frame: &Bytes) -> Result<(), Close> {
        if self.link.is_pending() {
            self.early.push_back(frame.clone());
            return Ok(());
        }
        let mut laps = self.hub.meters.laps();
        let message = ClientMessage::decode(frame, &self.limits);
        laps.done(Phase::Decode);
        if message.is_err() {
            self.hub.meters.protocol(PROTOCOL).invalid.increment(1);
        }
        let heard = self.stamped(|link, stamp| link.hear(message, stamp));
        self.heard(socket, heard).await
    }

    fn stamped<T>(&mut self, work: impl FnOnce(&mut Link, &mut Stamp<'_>) -> T) -> T {
        let mut mint = entropy::bits;
        work(&mut self.link, &mut Stamp { now: self.hub.now(), mint: &mut mint })
    }

    async fn heard(&mut self, socket: &mut Socket, heard: Heard) -> Result<(), Close> {
        match heard {
            Heard::Nothing => Ok(()),
            Heard::Reply(frame) => self.say(socket, &frame).await,
            Heard::Refuse(frame, code) => {
                self.say(socket, &frame).await?;
                Err(Some(code))
            }
            Heard::Pass(message) if message.kind == ClientKind::Register => self.register(socket, message).await,
            Heard::Pass(message) => {
                self.desk.step(Happening::Frame(self.connection, message));
                Ok(())
            }
        }
    }

    async fn register(&mut self, socket: &mut Socket, mut message: ClientMessage) -> Result<(), Close> {
        match entry::principal(&self.pass, &self.desk.settings(), &message) {
            Ok(by) => self.desk.proved(self.connection, by),
            Err(text) => {
                let refusal = self.stamped(|_, stamp| say::error(text, stamp));
                self.say(socket, &refusal).await?;
                return Err(Some(POLICY));
            }
        }
        if self.wide == Wide::Everybody && !profile::is_asked(&message) {
            message.metadata = Some(with_profile(message.metadata.as_ref()));
        }
        self.desk.step(Happening::Frame(self.connection, message));
        Ok(())
    }

    async fn tick(&mut self, socket: &mut Socket) -> Result<(), Close> {
        match self.link.tick(self.hub.now()) {
            Due::Nothing => Ok(()),
            Due::Ping => send(socket, Frame::ping(Bytes::new())).await,
            Due::Close(code) => Err(Some(code)),
        }
    }
}

async fn send(socket: &mut Socket, frame: Frame) -> Result<(), Close> {
    match tokio::time::timeout(SEND, socket.send(frame)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(None),
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
