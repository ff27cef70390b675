//! Streamable HTTP, both eras: each message is a POST, its answer JSON or an event stream.
//!
//! Modern: no session, nothing to resume; dropping the stream cancels. Legacy: a session in a header, streams that may break off and are
//! resumed (`Last-Event-ID`), and a stream of the server's own ([`Streamable::listen`]).

use std::sync::Arc;
use std::time::Duration;

use crate::Version;
use crate::client::encode::Outgoing;
use crate::wire::headers::{PROTOCOL_VERSION, SESSION};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use interlingua_model::Owner;
use interlingua_wire::rpc::{self, Frame, Message};
use interlingua_wire::sse::Parser;
use tokio_util::sync::CancellationToken;

use super::pipe::{DEPTH, asked};
use super::table::{PendingRequest, Table};
use super::{Calls, Refused, Source, Trouble};
use crate::outbound::changes::Changes;
use crate::outbound::credentials::Credentials;
use interlingua_hub::supervisor::Supervisor;
use interlingua_net::client::answers::{Coming, too_large};
use interlingua_net::client::http::{Pool, read, retry_after, whole};
use interlingua_net::client::oauth::Judged;
use interlingua_net::client::place::Own;
use interlingua_net::client::transport_error::{TransportError, Why};
use interlingua_net::large;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";
const LAST_EVENT_ID: &str = "last-event-id";
/// How often a stream that broke off is taken up without anything new on it.
const MAX_RESUMES: u32 = 5;
/// How often one request is sent again with another token.
const MAX_RENEWALS: u32 = 2;
const RESUME_AFTER: Duration = Duration::from_millis(500);
/// How often the pause doubles.
const MAX_DOUBLINGS: u32 = 6;
/// A server may ask for a pause, not for any.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Where a server is and how it is spoken to.
#[derive(Debug, Clone)]
pub(in super::super) struct Endpoint {
    pub(in super::super) pool: Pool,
    pub(in super::super) uri: Uri,
    /// Which addresses that it names are its own.
    pub(in super::super) own: Arc<Own>,
    pub(in super::super) credentials: Arc<Credentials>,
    pub(in super::super) supervisor: Supervisor,
}

impl Endpoint {
    /// Sends a request with the hub's credentials. One that was refused for its token was not looked at: it is sent again with
    /// another, if there is one.
    async fn send(
        &self,
        method: &Method,
        uri: &Uri,
        mut headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Response<Coming>, Trouble> {
        let mut renewals = 0;
        loop {
            let mut request = Request::new(whole(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            let sent = self.credentials.apply(request.headers_mut()).await;
            // What cannot be refused for its token is sent once.
            let again = (sent.is_of_account() && renewals < MAX_RENEWALS).then(|| headers.clone());
            request.headers_mut().extend(headers);
            let response = self.pool.send(request).await?;
            headers = match (self.credentials.judge(&sent, &response).await, again) {
                (Judged::Again, Some(again)) => again,
                (Judged::Answer | Judged::Again, _) => return Ok(response),
                (Judged::SignIn(sign_in), _) => return Err(Trouble::SignIn(sign_in)),
            };
            renewals += 1;
        }
    }

    pub(super) async fn post(
        &self,
        uri: &Uri,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Coming>, Trouble> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(ACCEPT, HeaderValue::from_static(BOTH));
        self.send(&Method::POST, uri, headers, &body).await
    }

    /// An event stream; the error is the status that is not one.
    pub(super) async fn stream(&self, mut headers: HeaderMap) -> Result<Result<Response<Coming>, Refused>, Trouble> {
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        let response = self.send(&Method::GET, &self.uri, headers, &Bytes::new()).await?;
        let is_stream = response.status() == StatusCode::OK && is_media(response.headers(), EVENTS);
        Ok(if is_stream { Ok(response) } else { Err(refused(&response)) })
    }
}

#[derive(Debug)]
pub(in super::super) struct Streamable {
    endpoint: Endpoint,
    /// Version and session.
    headers: HeaderMap,
    modern: bool,
    changes: Arc<Changes>,
    pub(super) table: Arc<Table>,
    pub(super) closed: CancellationToken,
}

impl Streamable {
    /// `version`: named in every request once it is known. `session`: given by a legacy server.
    pub(in super::super) fn new(
        endpoint: &Endpoint,
        version: Option<Version>,
        session: Option<HeaderValue>,
        changes: Arc<Changes>,
    ) -> Streamable {
        let mut headers = HeaderMap::new();
        if let Some(version) = version {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        Streamable {
            endpoint: endpoint.clone(),
            headers,
            modern: version.is_some_and(Version::is_modern),
            changes,
            table: Arc::default(),
            closed: CancellationToken::new(),
        }
    }

    fn has_session(&self) -> bool {
        self.headers.contains_key(SESSION)
    }

    async fn post(&self, outgoing: &Outgoing) -> Result<Response<Coming>, Trouble> {
        let mut headers = self.headers.clone();
        for (name, value) in &outgoing.headers {
            let name = HeaderName::try_from(name.as_str()).map_err(TransportError::unconnected)?;
            headers.insert(name, HeaderValue::try_from(value.as_str()).map_err(TransportError::unconnected)?);
        }
        self.endpoint.post(&self.endpoint.uri, headers, outgoing.body.clone()).await
    }

    pub(super) async fn open(self: &Arc<Self>, outgoing: &Outgoing, owner: Option<Owner>) -> Result<Calls, Trouble> {
        let (id, place) = self.enter(outgoing, owner).ok_or(Trouble::TooMany)?;
        let response = self.post(outgoing).await?;
        let source = self.source(id, response).await?;
        Ok(Calls { place, source })
    }

    /// With the headers of the answer, which bring a session's name.
    pub(in super::super) async fn open_with_head(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        owner: Option<Owner>,
    ) -> Result<(Calls, HeaderMap), Trouble> {
        let (id, place) = self.enter(outgoing, owner).ok_or(Trouble::TooMany)?;
        let response = self.post(outgoing).await?;
        let head = response.headers().clone();
        let source = self.source(id, response).await?;
        Ok((Calls { place, source }, head))
    }

    /// `None`: too many calls are in flight.
    fn enter(&self, outgoing: &Outgoing, owner: Option<Owner>) -> Option<(u64, PendingRequest)> {
        let id = outgoing.id.unwrap_or_default();
        Some((id, self.table.enter(id, owner)?))
    }

    async fn source(self: &Arc<Self>, id: u64, response: Response<Coming>) -> Result<Source, Trouble> {
        let status = response.status();
        if status == StatusCode::OK && is_media(response.headers(), EVENTS) {
            return Ok(Source::Events(Box::new(Events::new(self.clone(), id, response))));
        }
        if status == StatusCode::NOT_FOUND && self.has_session() {
            return Err(Trouble::SessionGone);
        }
        let refused = refused(&response);
        let speaks = is_media(response.headers(), JSON) && !matches!(status.as_u16(), 401 | 403);
        if !speaks {
            return Err(Trouble::Refused(refused));
        }
        let body = read(response, usize::MAX).await?;
        match large::beside(body.len(), || rpc::decode(&body, DEPTH)) {
            // Errors of the modern era come with a status of their own.
            Ok(Frame::One(message @ Message::Response(_))) => Ok(Source::Answered(Some(own(message, id)))),
            Ok(_) | Err(_) if !status.is_success() => Err(Trouble::Refused(refused)),
            Ok(_) => Err(TransportError::broken("an answer that is none").into()),
            Err(invalid) => Err(TransportError::broken(invalid).into()),
        }
    }

    pub(super) async fn send(&self, outgoing: &Outgoing) -> Result<(), TransportError> {
        let response = self.post(outgoing).await.map_err(Trouble::lost)?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(TransportError::broken(format!("it answered a notification with HTTP {status}"))),
        }
    }

    /// A cancel in the modern era is the end of the stream itself.
    pub(super) fn mention(self: Arc<Self>, outgoing: Outgoing) {
        if self.modern {
            return;
        }
        let supervisor = self.endpoint.supervisor.clone();
        supervisor.run_until_stop(async move {
            if let Err(lost) = self.send(&outgoing).await {
                tracing::debug!(cause = %lost, "a notification was not delivered");
            }
        });
    }

    /// The stream on which a legacy server says what belongs to no call. Ends when the server has none, or for good.
    pub(in super::super) async fn listen(self: Arc<Self>) {
        let mut events = Events::idle(self.clone());
        loop {
            tokio::select! {
                () = self.closed.cancelled() => return,
                message = events.next() => match message {
                    Ok(Message::Request(request)) => {
                        if let Some(answer) = asked(&self.table, request) {
                            self.clone().mention(answer);
                        }
                    }
                    Ok(Message::Notification(_) | Message::Response(_)) => {}
                    Err(_) => return,
                },
            }
        }
    }

    /// Tells a legacy server that its session is over.
    pub(super) fn close(self: Arc<Self>) {
        self.closed.cancel();
        self.table.clear();
        if !self.has_session() {
            return;
        }
        let supervisor = self.endpoint.supervisor.clone();
        supervisor.run_until_stop(async move {
            let _ = self.endpoint.send(&Method::DELETE, &self.endpoint.uri, self.headers.clone(), &Bytes::new()).await;
        });
    }
}

/// An error for a request that could not be read has no id; there was only one request.
fn own(message: Message, id: u64) -> Message {
    match message {
        Message::Response(response) if response.id.is_null() => {
            Message::Response(rpc::Response { id: rpc::Id::number(id), ..response })
        }
        other => other,
    }
}

fn is_media(headers: &HeaderMap, media: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media)
}

pub(super) fn refused<B>(response: &Response<B>) -> Refused {
    Refused { status: response.status().as_u16(), retry_after: retry_after(response.headers()) }
}

/// How long to wait before a stream is opened again. A server that ends its stream after every event is asked less and less
/// often, unless its events have marks: then it wants to be asked.
fn paused(pause: Duration, unmarked: u32) -> Duration {
    let doublings = unmarked.saturating_sub(1).min(MAX_DOUBLINGS);
    pause.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

/// The events of one answer, or of the server's own stream.
pub(in super::super) struct Events {
    http: Arc<Streamable>,
    /// The request whose answer ends it; `None` for a stream that answers nothing.
    id: Option<u64>,
    body: Option<Coming>,
    parser: Parser,
    last: Option<HeaderValue>,
    pause: Duration,
    /// How often it was taken up since anything came on it.
    resumes: u32,
    /// How often it was opened since it had a mark from which it can be taken up.
    unmarked: u32,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("id", &self.id).field("resumes", &self.resumes).finish_non_exhaustive()
    }
}

impl Events {
    fn new(http: Arc<Streamable>, id: u64, response: Response<Coming>) -> Events {
        let body = response.into_body();
        Events { id: Some(id), parser: Parser::new(body.most()), body: Some(body), unmarked: 1, ..Events::idle(http) }
    }

    /// Not opened yet.
    fn idle(http: Arc<Streamable>) -> Events {
        // Until it is opened, nothing is read.
        let parser = Parser::new(0);
        Events { http, id: None, body: None, parser, last: None, pause: RESUME_AFTER, resumes: 0, unmarked: 0 }
    }

    /// Cancel safe: what was read is kept in the parser.
    pub(super) async fn next(&mut self) -> Result<Message, TransportError> {
        loop {
            while let Some(event) = self.parser.take().map_err(too_large)? {
                if let Some(id) = event.id {
                    self.last = HeaderValue::try_from(id).ok();
                    self.unmarked = 0;
                }
                if let Some(pause) = event.retry {
                    self.pause = pause.min(LONGEST_PAUSE);
                }
                if event.data.is_empty() {
                    continue;
                }
                self.resumes = 0;
                let data = match &mut self.body {
                    Some(body) => body.whole(event.data)?,
                    None => event.data,
                };
                if let Some(message) = self.message(&data)? {
                    return Ok(message);
                }
            }
            self.more().await?;
        }
    }

    /// Changes go their own way; the rest is for whoever reads.
    fn message(&self, data: &Bytes) -> Result<Option<Message>, TransportError> {
        match large::beside(data.len(), || rpc::decode(data, DEPTH)).map_err(TransportError::broken)? {
            Frame::One(Message::Notification(notification))
                if self.http.changes.heard(&notification.method, &notification.params) =>
            {
                Ok(None)
            }
            Frame::One(message) => Ok(Some(match self.id {
                Some(id) => own(message, id),
                None => message,
            })),
            Frame::Batch(_) => Err(TransportError::broken("several messages in one event")),
        }
    }

    async fn more(&mut self) -> Result<(), TransportError> {
        let Some(body) = &mut self.body else { return self.resume().await };
        match body.frame(self.parser.unfinished()).await {
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    self.parser.feed(&bytes);
                }
            }
            // What was begun and did not end would not end when it is taken up again.
            Some(Err(lost)) if matches!(lost.why, Why::Slow | Why::Busy) => return Err(lost),
            Some(Err(_)) | None => self.body = None,
        }
        Ok(())
    }

    /// Takes up a stream that broke off. One of the modern era, or without a mark, is lost; the server's own is opened anew.
    async fn resume(&mut self) -> Result<(), TransportError> {
        let resumable = !self.http.modern && (self.id.is_none() || self.last.is_some());
        if !resumable || self.resumes > MAX_RESUMES {
            return Err(TransportError::broken("the stream ended before there was an answer"));
        }
        if self.unmarked > 0 || self.last.is_some() {
            tokio::time::sleep(paused(self.pause, self.unmarked)).await;
        }
        self.resumes += 1;
        self.unmarked = self.unmarked.saturating_add(1);
        let mut headers = self.http.headers.clone();
        if let Some(last) = &self.last {
            headers.insert(LAST_EVENT_ID, last.clone());
        }
        match self.http.endpoint.stream(headers).await.map_err(Trouble::lost)? {
            Ok(response) => {
                let body = response.into_body();
                self.parser = Parser::new(body.most());
                self.body = Some(body);
                Ok(())
            }
            Err(refused) => {
                Err(TransportError::broken(format!("the stream cannot be taken up: HTTP {}", refused.status)))
            }
        }
    }
}
