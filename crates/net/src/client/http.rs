//! HTTP connection pool, HTTP/1.1 or HTTP/2 as the peer offers. Redirects are not followed, and bodies are read up to a bound.
//! [`super::guard`] checks the address of every connection.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::RETRY_AFTER;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::rt::Executor;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::{TokioIo, TokioTimer};
use interlingua_model::Fault;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower::Service;

use super::answers::{Answers, Coming, too_large};
use super::guard::{Reach, Refused};
use super::transport_error::{Begun, TransportError};
use interlingua_hub::supervisor::Supervisor;

pub const CONNECT: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);
/// Idle connections kept to one peer.
const KEPT: usize = 32;
/// How long a connection of HTTP/2 is silent before the system looks after it, and how often it does.
const ALIVE: Duration = Duration::from_secs(30);
const ALIVE_TRIES: u32 = 3;

/// A body is a message, or a blob read from the store as it goes.
pub type Body = UnsyncBoxBody<Bytes, Fault>;

pub fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// One pool. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Pool {
    client: Client<HttpsConnector<Dialler>, Body>,
    reach: Reach,
    answers: Answers,
}

/// Connections are driven under the supervisor: nothing of theirs outlives the hub.
#[derive(Clone)]
struct Driven(Supervisor);

impl<F> Executor<F> for Driven
where
    F: Future + Send + 'static,
{
    fn execute(&self, connection: F) {
        self.0.run_until_stop(async move {
            connection.await;
        });
    }
}

impl Pool {
    pub fn new(tls: ClientConfig, supervisor: &Supervisor, reach: Reach, answers: &Answers) -> Pool {
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let dialler = Dialler { reach: reach.clone(), idle: Idle::Closed };
        let connector = https.enable_all_versions().wrap_connector(dialler);
        Pool { client: client(supervisor).build(connector), reach, answers: answers.clone() }
    }

    /// By HTTP/2 and nothing else, also where there is no TLS to agree on it. All requests at a time share one connection:
    /// see [`super::h2_pool`].
    pub(super) fn http2(tls: ClientConfig, supervisor: &Supervisor, reach: Reach, answers: &Answers) -> Pool {
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let dialler = Dialler { reach: reach.clone(), idle: Idle::LookedAfter };
        let connector = https.enable_http2().wrap_connector(dialler);
        Pool { client: client(supervisor).http2_only(true).build(connector), reach, answers: answers.clone() }
    }

    /// Is anybody there? Any answer will do, also the end of a connection that was taken: who serves something else has nothing
    /// to say to a plain request.
    pub async fn knock(&self, method: Method, door: &Uri) -> Result<(), TransportError> {
        let request = Request::builder().method(method).uri(door).body(whole(Bytes::new()));
        let request = request.map_err(TransportError::unconnected)?;
        match tokio::time::timeout(CONNECT, self.send(request)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(lost)) if lost.begun == Begun::Perhaps => Ok(()),
            Ok(Err(lost)) => Err(lost),
            Err(late) => Err(TransportError::unconnected(late)),
        }
    }

    /// Sends a request; its answer's body is still to be read.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<Coming>, TransportError> {
        if !request.uri().host().is_some_and(|host| self.reach.admits_host(host)) {
            return Err(TransportError::unconnected(Refused::Inside));
        }
        let answered = self.client.request(request).await;
        answered.map(|response| response.map(|body| Coming::new(body, &self.answers))).map_err(|error| {
            if error.is_connect() { TransportError::unconnected(error) } else { TransportError::broken(error) }
        })
    }
}

/// Makes connections, each to an address that was judged for it.
#[derive(Debug, Clone)]
struct Dialler {
    reach: Reach,
    idle: Idle,
}

/// What becomes of a connection on which nothing is said.
#[derive(Debug, Clone, Copy)]
enum Idle {
    /// The pool lets go of it.
    Closed,
    /// A stream may be silent for hours, and servers of gRPC take HTTP/2's own pings for an attack: the system looks whether the
    /// other side is still there.
    LookedAfter,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Dialling = Pin<Box<dyn Future<Output = Result<TokioIo<TcpStream>, Failure>> + Send>>;

impl Service<Uri> for Dialler {
    type Response = TokioIo<TcpStream>;
    type Error = Failure;
    type Future = Dialling;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Dialling {
        let Dialler { reach, idle } = self.clone();
        Box::pin(async move {
            let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
            let judged = reach.resolve(uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(usual)).await?;
            Ok(tcp(Judged(judged), idle).call(uri).await?)
        })
    }
}

fn tcp(judged: Judged, idle: Idle) -> HttpConnector<Judged> {
    let mut tcp = HttpConnector::new_with_resolver(judged);
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT));
    match idle {
        Idle::Closed => {}
        Idle::LookedAfter => {
            tcp.set_keepalive(Some(ALIVE));
            tcp.set_keepalive_interval(Some(ALIVE));
            tcp.set_keepalive_retries(Some(ALIVE_TRIES));
        }
    }
    tcp
}

/// What a name was resolved to: it is not asked for again.
#[derive(Debug, Clone)]
struct Judged(Vec<SocketAddr>);

impl Service<Name> for Judged {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = std::future::Ready<std::io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        std::future::ready(Ok(self.0.clone().into_iter()))
    }
}

fn client(supervisor: &Supervisor) -> Builder {
    let mut builder = Client::builder(Driven(supervisor.clone()));
    builder.pool_idle_timeout(IDLE).pool_max_idle_per_host(KEPT).pool_timer(TokioTimer::new()).timer(TokioTimer::new());
    builder
}

/// Reads a body of at most `limit` bytes, and of no more than any message may have.
pub async fn read(response: Response<Coming>, limit: usize) -> Result<Bytes, TransportError> {
    let mut body = response.into_body();
    let limit = limit.min(body.most());
    let beyond = || too_large(format!("an answer of more than {limit} bytes"));
    if body.declared() > limit as u64 {
        return Err(beyond());
    }
    let mut all = Read::Nothing;
    while let Some(frame) = body.frame(all.len()).await {
        let Ok(data) = frame?.into_data() else { continue };
        if all.len() + data.len() > limit {
            return Err(beyond());
        }
        all = all.and(data);
    }
    let whole = all.bytes();
    body.whole(whole)
}

/// What was read so far; most answers are one piece, which is not copied.
enum Read {
    Nothing,
    Piece(Bytes),
    Pieces(BytesMut),
}

impl Read {
    fn len(&self) -> usize {
        match self {
            Read::Nothing => 0,
            Read::Piece(piece) => piece.len(),
            Read::Pieces(pieces) => pieces.len(),
        }
    }

    fn and(self, data: Bytes) -> Read {
        let mut pieces = match self {
            Read::Nothing => return Read::Piece(data),
            Read::Piece(piece) => BytesMut::from(piece),
            Read::Pieces(pieces) => pieces,
        };
        pieces.extend_from_slice(&data);
        Read::Pieces(pieces)
    }

    fn bytes(self) -> Bytes {
        match self {
            Read::Nothing => Bytes::new(),
            Read::Piece(piece) => piece,
            Read::Pieces(pieces) => pieces.freeze(),
        }
    }
}

/// Seconds only: the other form is a date, and clocks differ.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}
