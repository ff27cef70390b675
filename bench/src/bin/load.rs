//! A closed-loop load generator: so many connections, one request at a time on each, every answer checked.
//!
//! Prints `START` when the warm-up is over and one line of JSON at the end, so that whoever started it can read the server's
//! processor time at both moments. In the body, `@N@` becomes a number that no other request of this run has. By gRPC the body is
//! one message, which is framed here.

use std::{
    error::Error,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use bytes::{BufMut, Bytes, BytesMut};
use clap::{Parser, ValueEnum};
use http::{HeaderMap, Request, Response, Uri, request};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use interlingua_bench::{Seen, report, say};
use memchr::memmem;
use tokio::{net::TcpStream, task::JoinSet, time::timeout};

type Failure = Box<dyn Error + Send + Sync>;

/// The marker that becomes a number.
const MARK: &str = "@N@";
/// An answer that takes longer is an error.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends the same request again and again and says how long the answers took.
#[derive(Parser, Debug, Clone)]
struct Options {
    /// Where to post, as http://host:port/path.
    #[arg(long)]
    url: Uri,
    /// A file with the body.
    #[arg(long)]
    body: PathBuf,
    /// A text every answer must contain; the body's number may be part of it.
    #[arg(long)]
    expect: String,
    /// A header of every request, as name=value; may be given several times.
    #[arg(long)]
    header: Vec<String>,
    /// The status every answer must have.
    #[arg(long, default_value_t = 200)]
    status: u16,
    /// Connections, each with one request under way.
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// How long to measure.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How long to send before measuring.
    #[arg(long, default_value_t = 1.0)]
    warm: f64,
    /// Stop after so many measured requests in all, whatever the time.
    #[arg(long)]
    requests: Option<u64>,
    /// The first of the numbers that replace `@N@`.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// How many digits these numbers have at least.
    #[arg(long, default_value_t = 1)]
    digits: usize,
    /// What is spoken.
    #[arg(long, value_enum, default_value_t = Protocol::Json)]
    protocol: Protocol,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// JSON over HTTP/1.1.
    Json,
    /// A call of one message and one answer, over HTTP/2 without TLS.
    Grpc,
}

/// One connection.
enum Sender {
    Json(http1::SendRequest<Full<Bytes>>),
    Grpc(http2::SendRequest<Full<Bytes>>),
}

impl Sender {
    async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Sender::Json(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Grpc(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

static NUMBER: AtomicU64 = AtomicU64::new(0);
static MEASURED: AtomicU64 = AtomicU64::new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let body = std::fs::read_to_string(&options.body)?;
    NUMBER.store(options.first, Ordering::Relaxed);
    let begin = Instant::now() + Duration::from_secs_f64(options.warm);
    let end = begin + Duration::from_secs_f64(options.seconds);

    let mut connections = JoinSet::new();
    for _ in 0..options.connections {
        connections.spawn(send_until(options.clone(), body.clone(), begin, end));
    }
    connections.spawn(async move {
        tokio::time::sleep_until(begin.into()).await;
        say("START");
        Seen::default()
    });
    let seen = connections.join_all().await;
    say(&report(begin.elapsed(), seen, NUMBER.load(Ordering::Relaxed)));
    Ok(())
}

/// One connection's loop. A connection that breaks is opened again, and counts as an error.
async fn send_until(options: Options, body: String, begin: Instant, end: Instant) -> Seen {
    let mut seen = Seen::default();
    let mut connection = None;
    while Instant::now() < end && !enough(&options) {
        let number = format!("{:0digits$}", NUMBER.fetch_add(1, Ordering::Relaxed), digits = options.digits);
        let started = Instant::now();
        let answered = async {
            let mut sender = match connection.take() {
                Some(sender) => sender,
                None => connect(&options).await?,
            };
            exchange(&mut sender, &options, &body, &number).await?;
            connection = Some(sender);
            Ok::<(), Failure>(())
        };
        let outcome = timeout(PATIENCE, answered).await.unwrap_or_else(|_| Err("no answer in time".into()));
        if started < begin {
            continue;
        }
        MEASURED.fetch_add(1, Ordering::Relaxed);
        seen.note(started, outcome);
    }
    seen
}

fn enough(options: &Options) -> bool {
    options.requests.is_some_and(|requests| MEASURED.load(Ordering::Relaxed) >= requests)
}

#[expect(clippy::disallowed_methods, reason = "ends with the sender it serves; there is no supervisor here")]
async fn connect(options: &Options) -> Result<Sender, Failure> {
    let authority = options.url.authority().ok_or("the URL has no host")?.as_str();
    let stream = TcpStream::connect(authority).await?;
    stream.set_nodelay(true)?;
    match options.protocol {
        Protocol::Json => {
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            Ok(Sender::Json(sender))
        }
        Protocol::Grpc => {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            Ok(Sender::Grpc(sender))
        }
    }
}

/// The head of a request, which its version of HTTP wants in its own way.
fn head(options: &Options) -> request::Builder {
    match options.protocol {
        Protocol::Json => Request::post(options.url.path())
            .header("host", options.url.authority().map_or("", |authority| authority.as_str()))
            .header("content-type", "application/json"),
        Protocol::Grpc => {
            Request::post(options.url.clone()).header("content-type", "application/grpc").header("te", "trailers")
        }
    }
}

fn framed(protocol: Protocol, body: String) -> Result<Bytes, Failure> {
    match protocol {
        Protocol::Json => Ok(body.into()),
        Protocol::Grpc => {
            let mut frame = BytesMut::with_capacity(body.len() + 5);
            // Not compressed, then its length.
            frame.put_u8(0);
            frame.put_u32(u32::try_from(body.len())?);
            frame.put_slice(body.as_bytes());
            Ok(frame.freeze())
        }
    }
}

/// Whether the answer says that all went well, beside its status: gRPC says it after the answer, or at once when there is none.
fn went_well(protocol: Protocol, headers: &HeaderMap, trailers: Option<&HeaderMap>) -> bool {
    let said = |headers: &HeaderMap| headers.get("grpc-status").is_some_and(|status| status == "0");
    match protocol {
        Protocol::Json => true,
        Protocol::Grpc => trailers.is_some_and(said) || said(headers),
    }
}

/// One request and its whole answer, checked.
async fn exchange(sender: &mut Sender, options: &Options, body: &str, number: &str) -> Result<(), Failure> {
    let body = if body.contains(MARK) { body.replace(MARK, number) } else { body.to_owned() };
    let mut request = head(options);
    for (name, value) in options.header.iter().filter_map(|header| header.split_once('=')) {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(framed(options.protocol, body)?))?;
    let (head, answer) = sender.send(request).await?.into_parts();
    let answer = answer.collect().await?;
    if !went_well(options.protocol, &head.headers, answer.trailers()) {
        return Err(format!("status {}: {:?}, {:?}", head.status, head.headers, answer.trailers()).into());
    }
    let bytes = answer.to_bytes();
    let expected = options.expect.replace(MARK, number);
    if head.status != options.status || memmem::find(&bytes, expected.as_bytes()).is_none() {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
        return Err(format!("status {}: {text}", head.status).into());
    }
    Ok(())
}
