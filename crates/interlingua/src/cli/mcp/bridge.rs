//! Bridge from MCP over stdio to the hub's HTTP endpoint: lines in, requests out; answers and streams in, lines out.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::future::{AbortHandle, Abortable, BoxFuture, FutureExt};
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::{Method, Request, header};
use http_body_util::Full;
use interlingua_mcp::Version;
use interlingua_mcp::wire::{headers, meta};
use interlingua_wire::rpc::{self, Frame, Id, Message, Notification};
use interlingua_wire::sse;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use super::lines::{InputLine, Lines, MAX_LINE, line};
use crate::cli::client::{Answer, Way};
use crate::cli::{Exit, Failure};

/// How many messages may wait to be written.
const WAITING: usize = 256;
const DEPTH: usize = 128;

/// The session of a legacy client.
#[derive(Debug, Clone)]
struct Session {
    id: http::HeaderValue,
    version: String,
}

/// What came of a request.
enum Done {
    Answered(Option<Id>),
    /// A session began, and this says so to the client: not before the bridge knows it.
    Begun(Id, Session, Vec<u8>),
}

/// The path of the hub's endpoint, or of one view of it.
pub(super) fn endpoint(view: Option<&str>) -> String {
    view.map_or_else(|| "/mcp".to_owned(), |view| format!("/mcp/{view}"))
}

struct Bridge {
    way: std::sync::Arc<Way>,
    endpoint: String,
    session: Option<Session>,
    work: FuturesUnordered<BoxFuture<'static, Option<Done>>>,
    /// Requests under way, by their id.
    running: HashMap<Id, AbortHandle>,
    out: mpsc::Sender<Vec<u8>>,
}

/// Until standard input ends.
pub(super) async fn run(way: Way, endpoint: String) -> Result<Exit, Failure> {
    let (out, mut written) = mpsc::channel(WAITING);
    let (work, running) = (FuturesUnordered::new(), HashMap::new());
    let mut bridge = Bridge { way: std::sync::Arc::new(way), endpoint, session: None, work, running, out };
    let mut lines = Lines::new(BufReader::new(tokio::io::stdin()), MAX_LINE);
    let mut stdout = tokio::io::stdout();
    let broken = |error: std::io::Error| Failure::new(Exit::Failed, format!("the pipe broke: {}", error.kind()));
    loop {
        tokio::select! {
            line = lines.next() => match line.map_err(broken)? {
                InputLine::Whole(line) => bridge.take(line.into()),
                InputLine::TooLong => bridge.write(&error(None, "a message is longer than is taken here")),
                InputLine::End => break,
            },
            Some(message) = written.recv() => {
                stdout.write_all(&message).await.map_err(broken)?;
                stdout.flush().await.map_err(broken)?;
            }
            Some(done) = bridge.work.next(), if !bridge.work.is_empty() => bridge.done(done),
        }
    }
    bridge.end().await;
    Ok(Exit::Done)
}

impl Bridge {
    /// One line of the client.
    fn take(&mut self, frame: Bytes) {
        let message = match rpc::decode(&frame, DEPTH) {
            Ok(Frame::One(message)) => message,
            // Only one old version has batches; the hub knows whether this is it.
            Ok(Frame::Batch(_)) => return self.forward(frame, None, None),
            Err(invalid) => {
                let mut out = Vec::new();
                interlingua_mcp::fault::write(invalid.id.as_ref(), &invalid.error(), &mut out);
                return self.write(&out);
            }
        };
        match message {
            Message::Request(request) => {
                let version = modern(&request.params);
                let id = request.id.clone();
                self.forward(frame, version, Some((id, &*request.method == "initialize")));
            }
            Message::Notification(notification) => self.told(frame, &notification),
            Message::Response(_) if self.session.is_some() => self.forward(frame, None, None),
            Message::Response(_) => {}
        }
    }

    /// A notification goes on within its session. Without one, to close the stream is to cancel, and the rest is nobody's.
    fn told(&mut self, frame: Bytes, notification: &Notification) {
        if self.session.is_some() {
            self.forward(frame, None, None);
            if &*notification.method == "notifications/initialized" {
                self.listen();
            }
            return;
        }
        if &*notification.method == "notifications/cancelled" {
            let id = notification.params.get("requestId").as_ref().and_then(Id::of);
            if let Some(handle) = id.and_then(|id| self.running.remove(&id)) {
                handle.abort();
            }
        }
    }

    /// Sends a message on; `asked` is whose answer is awaited, and whether it opens a session.
    fn forward(&mut self, frame: Bytes, version: Option<String>, asked: Option<(Id, bool)>) {
        let session = self.session.clone().filter(|_| version.is_none());
        let named = version.or_else(|| session.as_ref().map(|session| session.version.clone()));
        let request = request((&self.way, &self.endpoint), Method::POST, frame, named.as_deref(), session.as_ref());
        let (way, out) = (self.way.clone(), self.out.clone());
        let id = asked.as_ref().map(|(id, _)| id.clone());
        let (handle, registration) = AbortHandle::new_pair();
        if let Some(id) = &id {
            self.running.insert(id.clone(), handle);
        }
        let opens = asked.is_some_and(|(_, opens)| opens);
        let work = async move {
            let relayed = match request {
                Some(request) => relay(&way, request, id.as_ref(), &out).await,
                None => Err(Failure::new(Exit::Failed, "the message cannot be sent")),
            };
            match (relayed, id) {
                (Ok(Some((Some(session), message))), Some(id)) if opens => Done::Begun(id, session, message),
                (Ok(Some((_, message))), id) => {
                    let _ = out.send(line(&message)).await;
                    Done::Answered(id)
                }
                (Ok(None), id) => Done::Answered(id),
                (Err(failure), id) => {
                    if let Some(id) = &id {
                        let _ = out.send(line(&error(Some(id), &failure.message))).await;
                    }
                    Done::Answered(id)
                }
            }
        };
        self.work.push(Abortable::new(work, registration).map(Result::ok).boxed());
    }

    /// The session's own stream: what changed.
    fn listen(&mut self) {
        let Some(session) = self.session.clone() else { return };
        let request =
            request((&self.way, &self.endpoint), Method::GET, Bytes::new(), Some(&session.version), Some(&session));
        let (way, out) = (self.way.clone(), self.out.clone());
        let work = async move {
            if let Some(request) = request {
                let _ = relay(&way, request, None, &out).await;
            }
            Some(Done::Answered(None))
        };
        self.work.push(work.boxed());
    }

    fn done(&mut self, done: Option<Done>) {
        match done {
            Some(Done::Begun(id, session, message)) => {
                self.running.remove(&id);
                self.session = Some(session);
                self.write(&message);
            }
            Some(Done::Answered(Some(id))) => drop(self.running.remove(&id)),
            Some(Done::Answered(None)) | None => {}
        }
    }

    /// Of the bridge's own words there are few; a client that reads none of them loses them first.
    fn write(&self, message: &[u8]) {
        if self.out.try_send(line(message)).is_err() {
            tracing::warn!(
                event = "mcp_client_stalled",
                "the client does not read its input; messages to it are dropped"
            );
        }
    }

    /// The client is gone: what it asked for and is not kept is cancelled.
    async fn end(mut self) {
        if let Some(session) = self.session.take()
            && let Some(request) = request(
                (&self.way, &self.endpoint),
                Method::DELETE,
                Bytes::new(),
                Some(&session.version),
                Some(&session),
            )
        {
            let _ = self.way.send(request).await;
        }
    }
}

/// The version a request names itself, which makes it one of the modern era.
fn modern(params: &interlingua_wire::members::Members) -> Option<String> {
    let named = params.object(meta::META)?.text(meta::PROTOCOL_VERSION).map(std::borrow::Cow::into_owned);
    named.filter(|named| named.bytes().all(|byte| byte.is_ascii_graphic()))
}

fn error(id: Option<&Id>, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    interlingua_mcp::fault::write(id, &rpc::Error::new(rpc::INTERNAL_ERROR, text), &mut out);
    out
}

fn request(
    (way, endpoint): (&Way, &str),
    method: Method,
    body: Bytes,
    version: Option<&str>,
    session: Option<&Session>,
) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::builder()
        .method(method)
        .uri(endpoint)
        .header(header::HOST, way.host())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream");
    if let Some(version) = version {
        request = request.header(headers::PROTOCOL_VERSION, version);
    }
    if let Some(session) = session {
        request = request.header(headers::SESSION, session.id.clone());
    }
    request.body(Full::new(body)).ok()
}

/// Writes every message of a stream; returns an answer that is whole, and the session when one began.
async fn relay(
    way: &Way,
    request: Request<Full<Bytes>>,
    id: Option<&Id>,
    out: &mpsc::Sender<Vec<u8>>,
) -> Result<Option<(Option<Session>, Vec<u8>)>, Failure> {
    let mut answer = way.send(request).await?;
    let begun = answer.headers.get(headers::SESSION).cloned();
    let streamed = answer.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if streamed {
        events(&mut answer, out).await?;
        return Ok(None);
    }
    let status = answer.status;
    let body = answer.whole(MAX_LINE).await?;
    let batch = body.first() == Some(&b'[');
    if body.is_empty() || (id.is_none() && !batch) {
        // What wants no answer gets none, whatever became of it.
        return Ok(None);
    }
    let session = begun.and_then(|id| Some(Session { id, version: negotiated(&body)? }));
    Ok(Some((session, owed(&body, id, status.as_u16()))))
}

async fn events(answer: &mut Answer, out: &mpsc::Sender<Vec<u8>>) -> Result<(), Failure> {
    let mut parser = sse::Parser::new(MAX_LINE);
    let too_large = |_| Failure::new(Exit::Failed, "the hub's answer is too large");
    while let Some(piece) = answer.piece().await? {
        parser.feed(&piece);
        while let Some(event) = parser.take().map_err(too_large)? {
            if !event.data.is_empty() {
                let _ = out.send(line(&event.data)).await;
            }
        }
    }
    Ok(())
}

/// The answer, with the id of its request: a hub that refused before it read one could not tell.
fn owed(body: &[u8], id: Option<&Id>, status: u16) -> Vec<u8> {
    let frame = Bytes::copy_from_slice(body);
    match rpc::decode(&frame, DEPTH) {
        Ok(Frame::One(Message::Response(rpc::Response { id: told, outcome: Err(problem) }))) if told.is_null() => {
            let mut out = Vec::new();
            interlingua_mcp::fault::write(id, &problem, &mut out);
            out
        }
        Ok(_) => body.to_vec(),
        Err(_) => error(id, &format!("the hub answered {status}")),
    }
}

fn negotiated(body: &[u8]) -> Option<String> {
    let frame = Bytes::copy_from_slice(body);
    match rpc::decode(&frame, DEPTH) {
        Ok(Frame::One(Message::Response(rpc::Response { outcome: Ok(result), .. }))) => {
            let version = result.text("protocolVersion")?;
            Version::parse(&version).map(|version| version.as_str().to_owned())
        }
        Ok(_) | Err(_) => None,
    }
}
