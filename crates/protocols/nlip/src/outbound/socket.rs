//! ECMA-432 as a client: one WebSocket for each conversation, CBOR in binary messages or JSON in text messages.
//!
//! One exchange uses a socket at a time, because answers come in the order of their questions. Idle sockets are pooled here, with a timeout
//! and a limit; one that the agent closed meanwhile is opened again. Dropping an unfinished exchange drops its socket with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::json::{self, Keys};
use crate::{cbor, wire};
use futures_util::{FutureExt, SinkExt, StreamExt};
use http::Uri;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;
use tokio_websockets::{ClientBuilder, Error, Limits, Message, WebSocketStream};

use super::address::Address;
use super::legs::LegKey;
use super::transport::{self, LIMITS, Received};
use interlingua_net::client::answers::{Answers, allowance, refused};
use interlingua_net::client::guard::Reach;
use interlingua_net::client::http::CONNECT;
use interlingua_net::client::transport_error::{Begun, TransportError, Why};
use interlingua_net::counted::Counted;
use interlingua_net::frames;

/// Sockets that wait for the next message of their conversation.
const MAX_IDLE: usize = 256;
const IDLE: Duration = Duration::from_secs(60);
/// Pings, and the like, that are passed over before an answer.
const MAX_CONTROL: usize = 1_000;

type Socket = WebSocketStream<Counted<Either<TcpStream, TlsStream<TcpStream>>>>;

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Cbor,
    Json,
}

pub(super) struct Sockets {
    address: Address,
    uri: Uri,
    tls: TlsConnector,
    framing: Framing,
    reach: Reach,
    answers: Answers,
    idle: Mutex<HashMap<LegKey, Idle>>,
}

struct Idle {
    socket: Socket,
    since: Instant,
}

impl std::fmt::Debug for Sockets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sockets").field("uri", &self.uri).field("framing", &self.framing).finish_non_exhaustive()
    }
}

impl Sockets {
    /// HTTP/2 has another way to open a WebSocket; here it is always the upgrade of HTTP/1.1.
    pub(super) fn new(
        address: &Address,
        mut tls: ClientConfig,
        framing: Framing,
        reach: Reach,
        answers: &Answers,
    ) -> Sockets {
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Sockets {
            uri: address.doors[0].clone(),
            address: address.clone(),
            tls: TlsConnector::from(Arc::new(tls)),
            framing,
            reach,
            answers: answers.clone(),
            idle: Mutex::default(),
        }
    }

    pub(super) async fn exchange(&self, leg: &LegKey, message: &wire::Message) -> Result<Received, TransportError> {
        let mut socket = match self.take(leg) {
            Some(socket) => socket,
            None => self.open().await?,
        };
        let received = self.say(&mut socket, message).await?;
        self.put_back(leg, socket);
        Ok(received)
    }

    async fn say(&self, socket: &mut Socket, message: &wire::Message) -> Result<Received, TransportError> {
        let frame = match self.framing {
            Framing::Cbor => Message::binary(cbor::encode(message, Keys::Lower)),
            Framing::Json => Message::text(
                String::from_utf8(json::encode(message, Keys::Lower)).map_err(TransportError::unconnected)?,
            ),
        };
        socket.send(frame).await.map_err(TransportError::broken)?;
        for _ in 0..MAX_CONTROL {
            let Some(frame) = frames::frame(socket).await.map_err(refused)? else { break };
            let frame = frame.map_err(broken)?;
            if frame.is_text() {
                let payload = frames::payload(socket, frame).map_err(refused)?;
                return Ok(received(transport::from_json(&payload)));
            }
            if frame.is_binary() {
                let payload = frames::payload(socket, frame).map_err(refused)?;
                return Ok(received(transport::from_cbor(&payload)));
            }
            if frame.is_close() {
                break;
            }
        }
        Err(TransportError::broken("the socket was closed before there was an answer"))
    }

    async fn open(&self) -> Result<Socket, TransportError> {
        let opened = tokio::time::timeout(CONNECT, async {
            let tcp = self.reach.connect(self.address.host(), self.address.port()).await?;
            tcp.set_nodelay(true)?;
            let stream = if self.address.secure {
                let name = ServerName::try_from(self.address.host().to_owned()).map_err(std::io::Error::other)?;
                Either::Right(self.tls.connect(name, tcp).await?)
            } else {
                Either::Left(tcp)
            };
            let limits = Limits::default().max_payload_len(Some(self.answers.message().min(LIMITS.bytes)));
            let builder = ClientBuilder::from_uri(self.uri.clone()).limits(limits);
            let stream = Counted::behind_a_head(stream, allowance(&self.answers));
            let (socket, _) = builder.connect_on(stream).await.map_err(std::io::Error::other)?;
            Ok::<_, std::io::Error>(socket)
        });
        match opened.await {
            Ok(Ok(socket)) => Ok(socket),
            Ok(Err(error)) => Err(TransportError::unconnected(error)),
            Err(late) => Err(TransportError::unconnected(late)),
        }
    }

    /// The socket of this leg, if the agent has neither closed it nor said anything on it that nobody waits for.
    fn take(&self, leg: &LegKey) -> Option<Socket> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).remove(leg)?;
        if idle.since.elapsed() > IDLE {
            return None;
        }
        let mut socket = idle.socket;
        for _ in 0..MAX_CONTROL {
            match socket.next().now_or_never() {
                None => return Some(socket),
                Some(Some(Ok(frame))) if frame.is_ping() || frame.is_pong() => {}
                Some(_) => return None,
            }
        }
        None
    }

    fn put_back(&self, leg: &LegKey, socket: Socket) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MAX_IDLE
            && let Some(oldest) = idle.iter().min_by_key(|(_, idle)| idle.since).map(|(leg, _)| leg.clone())
        {
            idle.remove(&oldest);
        }
        idle.insert(leg.clone(), Idle { socket, since: Instant::now() });
    }

    /// Lets go of sockets nobody has used for a while.
    pub(super) fn sweep(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, idle| idle.since.elapsed() <= IDLE);
    }
}

fn received(message: Result<wire::Message, crate::Invalid>) -> Received {
    Received { status: 200, message, retry_after: None, wants_post: false }
}

fn broken(error: Error) -> TransportError {
    let why = match error {
        Error::PayloadTooLong { .. } => Why::TooLarge,
        _ => Why::Connection,
    };
    TransportError::new(Begun::Perhaps, why, error)
}
