//! An OTLP collector of one method, over plain HTTP/2: it accepts every export and stores it.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::within;

/// How many exports are kept for the test to read.
const KEPT: usize = 64;

/// One export: the gRPC method and its message as it came.
#[derive(Debug, Clone)]
pub struct Exported {
    pub method: String,
    pub message: Bytes,
}

impl Exported {
    /// Whether these bytes are anywhere in the message: ids are binary there, names are text.
    pub fn has(&self, needle: &[u8]) -> bool {
        self.message.windows(needle.len()).any(|window| window == needle)
    }
}

/// A running collector; gone when dropped.
#[derive(Debug)]
pub struct Collector {
    endpoint: String,
    got: mpsc::Receiver<Exported>,
    _serving: JoinSet<()>,
}

impl Collector {
    /// Listens on a free port of loopback.
    pub async fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, got) = mpsc::channel(KEPT);
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, sender));
        Collector { endpoint, got, _serving: serving }
    }

    /// What the configuration calls `telemetry.otlp`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The next export.
    pub async fn next(&mut self) -> Exported {
        within("an export", self.got.recv()).await.expect("the collector runs as long as this handle")
    }
}

async fn serve(listener: TcpListener, got: mpsc::Sender<Exported>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, got.clone()));
    }
}

async fn connection(stream: TcpStream, got: mpsc::Sender<Exported>) {
    let service = service_fn(move |request| answer(request, got.clone()));
    let http2 = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    // The exporter closes when it likes.
    let _closed = http2.serve_connection(TokioIo::new(stream), service).await;
}

/// An empty success: a message of no bytes, and status 0 in the trailers.
async fn answer(
    request: Request<Incoming>,
    got: mpsc::Sender<Exported>,
) -> Result<Response<impl hyper::body::Body<Data = Bytes, Error = Infallible>>, Infallible> {
    let method = request.uri().path().to_owned();
    let message = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    // Nobody reads any more: the test is over.
    let _over = got.send(Exported { method, message }).await;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from_static(&[0; 5])).with_trailers(std::future::ready(Some(Ok(trailers))));
    Ok(Response::builder().header("content-type", "application/grpc").body(body).expect("a fixed answer"))
}
