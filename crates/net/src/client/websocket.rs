//! Reconnecting WebSocket client: one future for connecting, reading and timers, which reconnects when the connection is lost.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::SinkExt;
use http::Uri;
use http::uri::{PathAndQuery, Scheme};
use interlingua_model::{Fault, FaultKind};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;
use tokio_websockets::{ClientBuilder, Limits, Message, WebSocketStream};

use super::answers::{Answers, allowance, refused};
use super::guard::Reach;
use super::http::CONNECT;
use super::tls::{self, Trust};
use crate::counted::Counted;
use crate::frames;
use interlingua_hub::Hub;

/// How long a message may take to leave.
const SEND: Duration = Duration::from_secs(60);

type Socket = WebSocketStream<Counted<Either<TcpStream, TlsStream<TcpStream>>>>;
type Opening = Pin<Box<dyn Future<Output = std::io::Result<Socket>> + Send>>;

/// Where a WebSocket is opened, and whom to believe there.
#[derive(Clone)]
pub struct Place {
    uri: Uri,
    tls: TlsConnector,
    secure: bool,
    answers: Answers,
    reach: Reach,
}

impl std::fmt::Debug for Place {
    /// The query may hold a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("host", &self.uri.host()).field("path", &self.uri.path()).finish_non_exhaustive()
    }
}

impl Place {
    /// `query` is added to that of the address.
    pub fn new(hub: &Hub, url: &str, query: Option<&str>, ca: Option<&Path>) -> Result<Place, Fault> {
        let bad = || Fault::hub(FaultKind::InvalidInput, "this is not an address of a WebSocket");
        let given: Uri = url.parse().map_err(|_| bad())?;
        let secure = match given.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            Some(_) | None => return Err(bad()),
        };
        let path = given.path_and_query().map_or("/", PathAndQuery::as_str);
        let path = match query {
            Some(query) => format!("{path}{}{query}", if path.contains('?') { '&' } else { '?' }),
            None => path.to_owned(),
        };
        let scheme = if secure { Scheme::HTTPS } else { Scheme::HTTP };
        let authority = given.authority().ok_or_else(bad)?.clone();
        let uri = Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build().map_err(|_| bad())?;
        let mut tls = tls::config(&Trust::of(ca, &uri))?;
        // HTTP/2 has another way to open a WebSocket; here it is always the upgrade of HTTP/1.1.
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let reach = Reach::address(hub, &uri);
        Ok(Place { uri, tls: TlsConnector::from(Arc::new(tls)), secure, answers: hub.answers().clone(), reach })
    }

    async fn open(self) -> std::io::Result<Socket> {
        let host = self.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = self.uri.port_u16().unwrap_or(if self.secure { 443 } else { 80 });
        let opened = tokio::time::timeout(CONNECT, async {
            let tcp = self.reach.connect(&host, port).await?;
            tcp.set_nodelay(true)?;
            let stream = if self.secure {
                let name = ServerName::try_from(host.clone()).map_err(std::io::Error::other)?;
                Either::Right(self.tls.connect(name, tcp).await?)
            } else {
                Either::Left(tcp)
            };
            let limits = Limits::default().max_payload_len(Some(self.answers.message()));
            let builder = ClientBuilder::from_uri(self.uri.clone()).limits(limits);
            let stream = Counted::behind_a_head(stream, allowance(&self.answers));
            let (socket, _) = builder.connect_on(stream).await.map_err(std::io::Error::other)?;
            Ok(socket)
        });
        opened.await.unwrap_or_else(|late| Err(std::io::Error::other(late)))
    }
}

/// What there is to react to.
#[derive(Debug)]
pub enum Turn {
    Opened,
    /// A text message.
    Text(Bytes),
    /// The other side gave some other sign of life.
    Alive,
    /// There is no connection any more, or none could be made.
    Gone(Option<std::io::Error>),
    Due,
}

/// At most one connection at a time.
pub struct Carrier {
    place: Place,
    socket: Option<Socket>,
    opening: Option<Opening>,
}

impl std::fmt::Debug for Carrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Carrier")
            .field("place", &self.place)
            .field("open", &self.socket.is_some())
            .finish_non_exhaustive()
    }
}

impl Carrier {
    pub fn new(place: Place) -> Carrier {
        Carrier { place, socket: None, opening: None }
    }

    pub fn connect(&mut self) {
        self.socket = None;
        self.opening = Some(Box::pin(self.place.clone().open()));
    }

    /// Sends a text message; false when there is no connection, or none any more.
    pub async fn send(&mut self, text: Bytes) -> bool {
        let Some(socket) = &mut self.socket else { return false };
        matches!(tokio::time::timeout(SEND, socket.send(Message::text(text))).await, Ok(Ok(())))
    }

    /// Says goodbye without waiting to hear the same.
    pub async fn close(&mut self) {
        self.opening = None;
        if let Some(mut socket) = self.socket.take() {
            let _ = tokio::time::timeout(Duration::from_secs(1), socket.close()).await;
        }
    }

    /// Waits for whatever comes first. Cancel safe.
    pub async fn next(&mut self, timer: Option<Instant>) -> Turn {
        let due = async {
            match timer {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            opened = opened(&mut self.opening) => {
                self.opening = None;
                match opened {
                    Ok(socket) => {
                        self.socket = Some(socket);
                        Turn::Opened
                    }
                    Err(error) => Turn::Gone(Some(error)),
                }
            }
            message = received(&mut self.socket) => match message {
                Ok(Some(Heard::Text(text))) => Turn::Text(text),
                Ok(Some(Heard::Other)) => Turn::Alive,
                Err(error) => {
                    self.socket = None;
                    Turn::Gone(Some(error))
                }
                Ok(None) => {
                    self.socket = None;
                    Turn::Gone(None)
                }
            },
            () = due => Turn::Due,
        }
    }
}

async fn opened(opening: &mut Option<Opening>) -> std::io::Result<Socket> {
    match opening {
        Some(opening) => opening.await,
        None => std::future::pending().await,
    }
}

enum Heard {
    Text(Bytes),
    Other,
}

/// Nothing, when the other side closed it.
async fn received(socket: &mut Option<Socket>) -> std::io::Result<Option<Heard>> {
    let Some(socket) = socket else { return std::future::pending().await };
    let cut = |refusal| std::io::Error::other(refused(refusal).to_string());
    let frame = frames::frame(socket).await.map_err(cut)?;
    match frame.transpose().map_err(std::io::Error::other)? {
        Some(frame) if frame.is_text() => Ok(Some(Heard::Text(frames::payload(socket, frame).map_err(cut)?))),
        Some(frame) if frame.is_binary() => {
            frames::payload(socket, frame).map_err(cut)?;
            Ok(Some(Heard::Other))
        }
        Some(frame) if !frame.is_close() => Ok(Some(Heard::Other)),
        Some(_) | None => Ok(None),
    }
}
