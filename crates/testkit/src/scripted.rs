//! Scripted peer: the test decides every answer, and reads everything that was sent.
//!
//! Over HTTP/1.1 and HTTP/2, with or without TLS, or over WebSocket. A `GET` is a reachability check: it is answered with 405 and not
//! recorded, except by a peer made with [`Scripted::web`].

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Version};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use rustls::ServerConfig;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;
use tokio_websockets::{Limits, Message, ServerBuilder};

/// What the peer was sent: a request, or a message on a socket.
#[derive(Debug, Clone)]
pub struct Heard {
    pub method: Method,
    pub path: String,
    pub version: Version,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Which connection it came on, counted from 0.
    pub connection: usize,
}

impl Heard {
    /// The body as JSON; panics with the body when it is not.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", String::from_utf8_lossy(&self.body)))
    }

    /// One header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// What the peer does with a request.
#[derive(Debug, Clone)]
pub enum Say {
    /// 200 with JSON.
    Json(Value),
    /// A status, headers, and JSON.
    Status(u16, Vec<(&'static str, String)>, Value),
    /// A status, a content type, and these bytes.
    Raw(u16, &'static str, Bytes),
    /// 200 with an event stream that comes in pieces.
    Stream(Vec<Piece>),
    /// 200 of gRPC, with these headers; messages and trailers come in pieces.
    Call(Vec<(&'static str, String)>, Vec<Piece>),
    /// Ends the connection without an answer.
    Nothing,
}

/// What a stream does next.
#[derive(Debug, Clone)]
pub enum Piece {
    Bytes(Bytes),
    /// Waits until it is told to go on.
    Until(Arc<Notify>),
    /// What comes after the body.
    Trailers(Vec<(&'static str, String)>),
    /// Breaks off in the middle.
    Cut,
}

impl Piece {
    /// One event.
    pub fn event(data: &Value) -> Piece {
        Piece::Bytes(format!("data: {data}\n\n").into())
    }
}

/// The peer. Dropped, it is gone.
#[derive(Debug)]
pub struct Scripted {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    serving: JoinHandle<()>,
}

impl Scripted {
    /// Over plain HTTP. The script is given each request and how many came before it.
    pub async fn http(script: impl Fn(&Heard, usize) -> Say + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(Http { script, gets: Gets::Unheard })).await
    }

    /// Over plain HTTP, where a `GET` is a request like any other.
    pub async fn web(script: impl Fn(&Heard, usize) -> Say + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(Http { script, gets: Gets::Heard })).await
    }

    /// Over TLS, with HTTP/2 where the caller wants it.
    pub async fn https(mut tls: ServerConfig, script: impl Fn(&Heard, usize) -> Say + Send + Sync + 'static) -> Self {
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self::serve(Some(TlsAcceptor::from(Arc::new(tls))), Arc::new(Http { script, gets: Gets::Unheard })).await
    }

    /// Over WebSocket. A script that answers a message with nothing closes the socket.
    pub async fn websocket(script: impl Fn(&Message, usize) -> Option<Message> + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(Sockets { script })).await
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All that it was sent so far, oldest first.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn serve(tls: Option<TlsAcceptor>, speaks: Arc<impl Speaks>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (log, connections) = (Log(heard.clone()), AtomicUsize::new(0));
        let serving = beside(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, speaks, log) = (tls.clone(), speaks.clone(), log.clone());
                let connection = connections.fetch_add(1, Ordering::Relaxed);
                beside(async move {
                    match tls {
                        None => speaks.speak(stream, connection, log).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                speaks.speak(stream, connection, log).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, heard, serving }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Clone)]
struct Log(Arc<Mutex<Vec<Heard>>>);

impl Log {
    /// How many came before it.
    fn write(&self, heard: Heard) -> usize {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(heard);
        log.len() - 1
    }
}

trait Speaks: Send + Sync + 'static {
    fn speak(
        self: Arc<Self>,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        connection: usize,
        log: Log,
    ) -> impl Future<Output = ()> + Send;
}

struct Http<S> {
    script: S,
    gets: Gets,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gets {
    Heard,
    Unheard,
}

impl<S: Fn(&Heard, usize) -> Say + Send + Sync + 'static> Speaks for Http<S> {
    async fn speak(
        self: Arc<Self>,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        connection: usize,
        log: Log,
    ) {
        let answer = move |request: Request<Incoming>| {
            let (log, speaks) = (log.clone(), self.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                if head.method == Method::GET && speaks.gets == Gets::Unheard {
                    return Ok(response(405, &[], &Value::Null));
                }
                let heard = Heard {
                    method: head.method,
                    path: head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
                    version: head.version,
                    headers: head.headers,
                    body,
                    connection,
                };
                let before = log.write(heard.clone());
                match (speaks.script)(&heard, before) {
                    Say::Json(json) => Ok(response(200, &[], &json)),
                    Say::Status(status, headers, json) => Ok(response(status, &headers, &json)),
                    Say::Raw(status, media, bytes) => Ok(raw(status, media, bytes)),
                    Say::Stream(pieces) => Ok(streamed("text/event-stream", &[], pieces)),
                    Say::Call(headers, pieces) => Ok(streamed("application/grpc", &headers, pieces)),
                    Say::Nothing => Err("the script says nothing"),
                }
            }
        };
        let builder = auto::Builder::new(TokioExecutor::new());
        // An error is the other side's to see.
        let _seen_there = builder.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
    }
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn response(status: u16, headers: &[(&'static str, String)], json: &Value) -> Response<Body> {
    let mut builder = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, value);
    }
    builder.body(whole(json.to_string().into())).expect("a status and headers")
}

fn raw(status: u16, media: &str, bytes: Bytes) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", media)
        .body(whole(bytes))
        .expect("a status and a media type")
}

fn streamed(media: &str, headers: &[(&'static str, String)], pieces: Vec<Piece>) -> Response<Body> {
    let frames = stream::unfold(VecDeque::from(pieces), |mut pieces| async move {
        loop {
            match pieces.pop_front()? {
                Piece::Bytes(bytes) => return Some((Ok(Frame::data(bytes)), pieces)),
                Piece::Until(told) => told.notified().await,
                Piece::Trailers(trailers) => {
                    let named = |(name, text): (&'static str, String)| {
                        (HeaderName::from_static(name), HeaderValue::try_from(text).expect("text of a trailer"))
                    };
                    let trailers = trailers.into_iter().map(named).collect();
                    return Some((Ok(Frame::trailers(trailers)), pieces));
                }
                Piece::Cut => {
                    // What stands before it leaves while nothing more is there to be written.
                    tokio::task::yield_now().await;
                    return Some((Err(io::Error::other("the script breaks off")), VecDeque::new()));
                }
            }
        }
    });
    let builder = Response::builder().status(200).header("content-type", media);
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, value));
    builder.body(StreamBody::new(frames).boxed_unsync()).expect("a status and headers")
}

struct Sockets<S> {
    script: S,
}

impl<S: Fn(&Message, usize) -> Option<Message> + Send + Sync + 'static> Speaks for Sockets<S> {
    async fn speak(
        self: Arc<Self>,
        mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        connection: usize,
        log: Log,
    ) {
        let builder = ServerBuilder::new().limits(Limits::unlimited());
        let Ok((request, mut socket)) = builder.accept(&mut stream).await else {
            let _gone = stream
                .write_all(b"HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .await;
            return;
        };
        while let Some(Ok(message)) = socket.next().await {
            if !message.is_text() && !message.is_binary() {
                continue;
            }
            let before = log.write(Heard {
                method: Method::GET,
                path: request.uri().path().to_owned(),
                version: request.version(),
                headers: request.headers().clone(),
                body: Bytes::copy_from_slice(message.as_payload()),
                connection,
            });
            let sent = match (self.script)(&message, before) {
                Some(answer) => socket.send(answer).await,
                None => socket.close().await,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// A port that takes connections and never answers; for addresses nobody must call.
pub async fn counting_listener() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    beside(async move {
        let mut held: Vec<TcpStream> = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            held.push(stream);
        }
    });
    (address, count)
}

/// Runs beside the test and ends with its runtime.
#[expect(clippy::disallowed_methods, reason = "ends with the test's runtime; the test kit has no supervisor")]
fn beside(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(work)
}
