//! The endpoint: `POST`, and for sessions `GET` and `DELETE`, at `/mcp`, `/mcp/{view}` and `/agents/{peer}/mcp`.
//!
//! One endpoint for both eras. A request is of the modern era (2026-07-28, transports) when its version header or its `_meta`
//! says so; one that names a legacy version, or nothing, is of the legacy era.

use std::sync::{Arc, OnceLock};

use crate::decode::{Header, Said, decode};
use crate::encode::{Asks, RequestOutcome};
use crate::fault::Refused;
use crate::wire::{headers, meta};
use crate::{Era, Version, fault};
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Router, response};
use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderMap, Method, StatusCode};
use interlingua_model::{Fault, OnDisconnect, PeerId};
use interlingua_wire::members::Members;
use interlingua_wire::rpc::{self, Frame, Id, Message};

use super::Scope;
use super::ask::{Asker, Reply};
use super::call_stream::{CallStream, Next};
use super::frames;
use super::listen;
use super::views;
use crate::Endpoint;
use crate::PROTOCOL;
use crate::refusal::McpErrors;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_endpoint::oauth::resource;
use interlingua_net::body;
use interlingua_net::connection::Connection;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

pub fn routes(state: Arc<Endpoint>) -> Router {
    Router::new()
        .route("/mcp", any(all))
        .route("/mcp/", any(all))
        .route("/mcp/{view}", any(one_view))
        .route("/agents/{peer}/mcp", any(one_peer))
        .with_state(state)
}

async fn all(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    method: Method,
    headers: HeaderMap,
    body: Body,
) -> Response {
    Arrived { shared, connection, headers, scope: Scope::All }.answer(&method, body).await
}

async fn one_peer(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    Path(peer): Path<String>,
    method: Method,
    headers: HeaderMap,
    body: Body,
) -> Response {
    Arrived { shared, connection, headers, scope: Scope::Peer(PeerId::from(peer)) }.answer(&method, body).await
}

async fn one_view(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    Path(view): Path<String>,
    method: Method,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let settings = shared.own.settings();
    if !settings.views.contains_key(view.as_str()) {
        let by = shared.authenticate(&connection, &headers, &[]);
        return McpErrors.refuse(&by.map_or_else(|fault| fault, |by| views::none(&settings.views, &by)));
    }
    Arrived { shared, connection, headers, scope: Scope::View(view.into()) }.answer(&method, body).await
}

/// A request as it came.
pub(super) struct Arrived {
    pub(super) shared: Arc<Endpoint>,
    pub(super) connection: Connection,
    pub(super) headers: HeaderMap,
    pub(super) scope: Scope,
}

impl Arrived {
    async fn answer(self, method: &Method, body: Body) -> Response {
        let (shared, scope) = (self.shared.clone(), self.scope.clone());
        let mut response = match *method {
            Method::POST => self.post(body).await,
            Method::GET if self.has_session() => self.get().await,
            Method::DELETE if self.has_session() => self.delete().await,
            _ => McpErrors.not_allowed("POST"),
        };
        if response.status() == StatusCode::UNAUTHORIZED {
            resource::challenge(&shared, &scope.path(), &mut response);
        }
        response
    }

    /// Sessions are of the legacy era: a modern request that names one means nothing by it.
    fn has_session(&self) -> bool {
        let modern = self.header(headers::PROTOCOL_VERSION).and_then(|named| Version::parse(named.trim()));
        self.headers.contains_key(headers::SESSION) && !modern.is_some_and(Version::is_modern)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    async fn post(self, body: Body) -> Response {
        let frame = match body::read(body, self.shared.bounds().body).await {
            Ok(frame) => frame,
            Err(fault) => return McpErrors.refuse(&fault),
        };
        let mut laps = self.shared.hub.meters().laps();
        let depth = self.shared.bounds().depth;
        let decoded = large::worked(frame.len(), || rpc::decode(&frame, depth)).await;
        laps.done(Phase::Decode);
        match decoded {
            Ok(Frame::One(message)) => {
                let meta = message.params().and_then(|params| params.object(meta::META));
                match self.era(&message, meta.as_ref()) {
                    Era::Modern => self.modern(message, meta).await,
                    Era::Legacy => self.legacy(message).await,
                }
            }
            Ok(Frame::Batch(messages)) if self.has_session() => self.batch(messages).await,
            Ok(Frame::Batch(_)) => self.invalid(&rpc::Invalid::shape(None, "batches are not taken here")),
            Err(invalid) => self.invalid(&invalid),
        }
    }

    pub(super) fn invalid(&self, invalid: &rpc::Invalid) -> Response {
        self.shared.hub.meters().protocol(PROTOCOL).invalid.increment(1);
        refused(invalid.id.as_ref(), &Refused { error: invalid.error(), status: 400 })
    }

    /// Which era a message is of.
    fn era(&self, message: &Message, meta: Option<&Members>) -> Era {
        let method = match message {
            Message::Request(request) => &*request.method,
            Message::Notification(notification) => &*notification.method,
            Message::Response(_) => return Era::Legacy,
        };
        let says_so = meta.is_some_and(|meta| meta.has(meta::PROTOCOL_VERSION));
        match self.header(headers::PROTOCOL_VERSION) {
            None => {
                if says_so {
                    Era::Modern
                } else {
                    Era::Legacy
                }
            }
            Some(named) => match Version::parse(named.trim()).map(Version::era) {
                Some(Era::Modern) => Era::Modern,
                Some(Era::Legacy) if !says_so => Era::Legacy,
                None if method == "initialize" || self.headers.contains_key(headers::SESSION) => Era::Legacy,
                Some(Era::Legacy) | None => Era::Modern,
            },
        }
    }

    async fn modern(self, message: Message, meta: Option<Members>) -> Response {
        let request = match message {
            Message::Request(request) if request.id.is_null() => {
                return self.invalid(&rpc::Invalid::shape(None, "`id` must be text or a number"));
            }
            Message::Request(request) => request,
            // The modern era has no notification that a client sends over HTTP; one that comes is taken and means nothing.
            Message::Notification(_) => return StatusCode::ACCEPTED.into_response(),
            Message::Response(_) => {
                return self.invalid(&rpc::Invalid::shape(None, "a client sends requests, not responses"));
            }
        };
        let id = request.id.clone();
        let asker = match self.modern_asker(&request, meta.as_ref()) {
            Ok(asker) => asker,
            Err(refused) => return refused.response(&id),
        };
        let header = |name: &str| self.header(name);
        let header: Option<Header<'_>> = if self.is_local() { None } else { Some(&header) };
        let incoming = match decode(&request, &asker.context(header)) {
            Ok(incoming) => incoming.value,
            Err(invalid) => return asker.refusal(&id, invalid),
        };
        match asker.ask(incoming).await {
            Reply::Now(ended) => ended_response(&id, ended),
            Reply::Going(going) => answer(id, going).await,
            Reply::Listen(filter) => listen::stream(&asker, id, filter),
            Reply::Session(_) => {
                self::refused(Some(&id), &Refused::no_such_method(&request.method, asker.said.version))
            }
        }
    }

    /// Headers against the body, `_meta`, then who asks; in this order, so that strangers learn nothing more.
    fn modern_asker(&self, request: &rpc::Request, meta: Option<&Members>) -> Result<Asker, NotTaken> {
        let params = &request.params;
        if let Some(named) = meta.and_then(|meta| meta.text(meta::PROTOCOL_VERSION)) {
            self.check(headers::PROTOCOL_VERSION, &named)?;
        }
        self.check(headers::METHOD, &request.method)?;
        let said = Said::modern(meta, self.shared.hub.now())?;
        let name = match &*request.method {
            "tools/call" | "prompts/get" => params.text("name"),
            "resources/read" => params.text("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => params.text("taskId"),
            _ => None,
        };
        if let Some(name) = name {
            self.check(headers::NAME, &name)?;
        }
        let by = self.shared.authenticate(&self.connection, &self.headers, &[]).map_err(NotTaken::Fault)?;
        Ok(Asker {
            shared: self.shared.clone(),
            by,
            connection: self.connection,
            scope: self.scope.clone(),
            said,
            asks: Asks::InResult,
            on_disconnect: OnDisconnect::Cancel,
            challenges: true,
            listed: OnceLock::new(),
        })
    }

    /// The hub's own socket has nothing between that would route by headers.
    fn is_local(&self) -> bool {
        matches!(self.connection.from, interlingua_net::connection::From::LocalSocket)
    }

    fn check(&self, header: &'static str, body: &str) -> Result<(), NotTaken> {
        if self.is_local() {
            return Ok(());
        }
        let mismatch = |error| NotTaken::Refused(Refused { error, status: 400 });
        if self.headers.get_all(header).iter().nth(1).is_some() {
            return Err(mismatch(headers::mismatch(format!("the header {header} is there twice"))));
        }
        let given = self.headers.get(header).map(|value| value.to_str().unwrap_or("\u{fffd}"));
        headers::check(header, given, body).map_err(mismatch)
    }
}

/// Why a request was not even looked at.
pub(super) enum NotTaken {
    Refused(Refused),
    Fault(Fault),
}

impl From<Refused> for NotTaken {
    fn from(refused: Refused) -> NotTaken {
        NotTaken::Refused(refused)
    }
}

impl NotTaken {
    pub(super) fn response(&self, id: &Id) -> Response {
        match self {
            NotTaken::Refused(refused) => self::refused(Some(id), refused),
            NotTaken::Fault(fault) => faulted(Some(id), fault),
        }
    }
}

/// A fault that concerns the request as such.
pub(super) fn faulted(id: Option<&Id>, fault: &Fault) -> Response {
    let spelt = fault::spelling(fault, Version::LATEST, fault::Verb::Other);
    let (code, status) = match spelt {
        fault::Spelling::Error { code, status } => (code, status),
        fault::Spelling::Outcome => (rpc::INTERNAL_ERROR, 200),
    };
    let mut response = refused(id, &Refused { error: fault::error(fault, code), status });
    error_format::add_headers(&mut response, fault);
    response
}

pub(super) fn refused(id: Option<&Id>, refused: &Refused) -> Response {
    let mut out = Vec::with_capacity(256);
    fault::write(id, &refused.error, &mut out);
    error_format::json(refused.status, out.into())
}

pub(super) fn ended_response(id: &Id, ended: RequestOutcome) -> Response {
    match ended {
        Err(refused) => self::refused(Some(id), &refused),
        Ok(result) => error_format::json(200, result.message(id)),
    }
}

/// A whole response message.
pub(super) fn end_message(id: &Id, ended: RequestOutcome) -> Bytes {
    match ended {
        Ok(result) => result.message(id),
        Err(refused) => {
            let mut out = Vec::with_capacity(256);
            fault::write(Some(id), &refused.error, &mut out);
            out.into()
        }
    }
}

/// Plain JSON when the result is the first thing there is, else a stream. Closing it cancels the call: the body holds it.
async fn answer(id: Id, mut going: Box<CallStream>) -> Response {
    match tokio::time::timeout(frames::KEEP_ALIVE, going.next()).await {
        Ok(Next::Ended(ended)) => ended_response(&id, ended),
        Ok(Next::Message(first)) => streamed(id, going, Some(first)),
        // Nothing for long: what stands between should see that somebody is at work.
        Err(_) => streamed(id, going, None),
    }
}

enum Streaming {
    First(Bytes, Id, Box<CallStream>),
    On(Id, Box<CallStream>),
    Over,
}

fn streamed(id: Id, going: Box<CallStream>, first: Option<Vec<u8>>) -> response::Response {
    let first = first.map_or(frames::COMMENT, |message| frames::event(None, &message));
    frames::response(unfold(Streaming::First(first, id, going), |streaming| async move {
        match streaming {
            Streaming::Over => None,
            Streaming::First(frame, id, going) => Some((frame, Streaming::On(id, going))),
            Streaming::On(id, mut going) => Some(match tokio::time::timeout(frames::KEEP_ALIVE, going.next()).await {
                Err(_) => (frames::COMMENT, Streaming::On(id, going)),
                Ok(Next::Message(message)) => (frames::event(None, &message), Streaming::On(id, going)),
                Ok(Next::Ended(ended)) => (frames::event(None, &end_message(&id, ended)), Streaming::Over),
            }),
        }
    }))
}
