//! The legacy era over HTTP (2025-03-26 to 2025-11-25, transports): `initialize` opens a session, its id comes with every later request,
//! `GET` opens the session's stream or resumes a lost one, `DELETE` ends it.
//!
//! A client that disconnects has not cancelled: its call continues and is stored, and its events can be read again from the journal by the
//! id of the last one seen. Questions are requests on the stream of the call; their ids name the question, so any process can receive the
//! answer.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::decode::{Said, SessionRequest, decode, initialize};
use crate::encode::{Asks, Encoder, RequestOutcome, Written};
use crate::fault::Refused;
use crate::wire::capabilities::Client;
use crate::wire::headers;
use crate::{Era, Version, fault, question};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::unfold;
use http::{HeaderValue, StatusCode};
use interlingua_model::{
    Answer, Fault, FaultKind, Input, Noun, OnDisconnect, Principal, QuestionId, QuestionKind, Text,
};
use interlingua_wire::rpc::{self, Id, Message};
use serde_json::json;

use super::ask::{Asker, Reply};
use super::call_stream::{CallStream, Next, answered};
use super::http::{Arrived, end_message, ended_response, faulted, refused};
use super::listen::{self, Listening};
use super::resume::{self, ResumePoint};
use super::sessions::{Memory, Running, Session};
use super::{SERVER, Spelling, frames};
use crate::Endpoint;
use interlingua_endpoint::error_format;

/// A result that comes within this time is plain JSON; what takes longer is a stream.
const SOON: Duration = Duration::from_millis(50);

/// What a client hears that spoke before it introduced itself, over HTTP or over a pipe.
const NO_SESSION: &str = "there is no session yet: send `initialize` first, and over HTTP the header Mcp-Session-Id of its answer \
with every later request (a request of 2026-07-28 needs neither, but names its version)";

/// A session, and who speaks in it.
pub(super) struct Within {
    pub(super) by: Principal,
    pub(super) session: Session,
    pub(super) memory: Arc<Memory>,
}

impl Arrived {
    pub(super) async fn legacy(self, message: Message) -> Response {
        match message {
            Message::Request(request) if &*request.method == "initialize" => self.initialize(&request),
            message => match self.within().await {
                Ok(within) => self.in_session(&within, message).await,
                Err(response) => *response,
            },
        }
    }

    /// Several messages at once, which 2025-03-26 knows. Each stands for itself; nobody can be asked anything meanwhile.
    pub(super) async fn batch(self, messages: Vec<Result<Message, rpc::Invalid>>) -> Response {
        let within = match self.within().await {
            Ok(within) => within,
            Err(response) => return *response,
        };
        if !within.session.version.has_batches() {
            return self.invalid(&rpc::Invalid::shape(None, "batches are not taken in this version"));
        }
        let one = |message: Result<Message, rpc::Invalid>| async {
            match message {
                Err(invalid) => Some(written_error(invalid.id.as_ref(), &invalid.error()).into()),
                Ok(Message::Request(request)) => {
                    let ended = self.whole(&within, &request).await;
                    Some(end_message(&request.id, ended))
                }
                Ok(message) => {
                    self.noted(&within, message).await;
                    None
                }
            }
        };
        let answers: Vec<Bytes> = join_all(messages.into_iter().map(one)).await.into_iter().flatten().collect();
        if answers.is_empty() {
            return StatusCode::ACCEPTED.into_response();
        }
        error_format::json(200, [b"[", &*answers.join(&b','), b"]"].concat().into())
    }

    async fn whole(&self, within: &Within, request: &rpc::Request) -> RequestOutcome {
        let asker = Asker { challenges: false, ..self.asker(within, request, Client::default())? };
        let incoming = match decode(request, &asker.context(None)) {
            Ok(incoming) => incoming.value,
            Err(invalid) => return asker.refused(invalid),
        };
        match asker.ask(incoming).await {
            Reply::Now(ended) => ended,
            Reply::Going(mut going) => going.end().await,
            Reply::Session(request) => self.about_session(within, request).await,
            Reply::Listen(_) => Err(Refused::no_such_method(&request.method, within.session.version)),
        }
    }

    fn initialize(&self, request: &rpc::Request) -> Response {
        let by = match self.shared.authenticate(&self.connection, &self.headers, &[]) {
            Ok(by) => by,
            Err(fault) => return faulted(Some(&request.id), &fault),
        };
        let asked = match initialize(&request.params) {
            Ok(asked) => asked,
            Err(problem) => return refused(Some(&request.id), &problem),
        };
        let hub = &self.shared.hub;
        let session = Session::new(hub, asked.version, asked.client);
        let sealed =
            session.seal(hub, &by, &self.scope).and_then(|id| HeaderValue::from_str(&id).map_err(Fault::internal));
        let (state, mut out) = (&self.shared.own, Written::with_capacity(1024));
        let listing = state.listings.now(hub, &self.scope, &state.settings());
        encoder(asked.version).initialize(&listing.instructions(hub, &by, &state.settings()), out.end());
        let mut response = ended_response(&request.id, Ok(out));
        match sealed {
            Ok(id) => drop(response.headers_mut().insert(headers::SESSION, id)),
            Err(fault) => return faulted(Some(&request.id), &fault),
        }
        response
    }

    /// The session that the headers name: none is 400, one that is over or never was is 404.
    pub(super) async fn within(&self) -> Result<Within, Box<Response>> {
        let bad = |text: &'static str| {
            let error = rpc::Error::new(rpc::INVALID_REQUEST, text);
            Box::new(refused(None, &Refused { error, status: 400 }))
        };
        let Some(id) = self.header(headers::SESSION) else { return Err(bad(NO_SESSION)) };
        if let Some(named) = self.header(headers::PROTOCOL_VERSION)
            && Version::parse(named.trim()).is_none_or(|version| version.era() == Era::Modern)
        {
            return Err(bad("the version in the header MCP-Protocol-Version is not one of a session"));
        }
        let by = self.shared.authenticate(&self.connection, &self.headers, &[]);
        let by = by.map_err(|fault| Box::new(faulted(None, &fault)))?;
        let hub = &self.shared.hub;
        match self.shared.own.sessions.find(hub, &by, &self.scope, id).await {
            Ok(Some((session, memory))) => Ok(Within { by, session, memory }),
            Ok(None) => {
                let text = "this session is not known, or not any more";
                let none = Fault::caller(FaultKind::NotFound(Noun::Session), text).told_to(&by);
                Err(Box::new(faulted(None, &none)))
            }
            Err(fault) => Err(Box::new(faulted(None, &fault))),
        }
    }

    fn asker(&self, within: &Within, request: &rpc::Request, client: Client) -> Result<Asker, Refused> {
        let Session { version, .. } = within.session;
        let mut said = Said::legacy(&request.params, version, client, self.shared.hub.now())?;
        said.log = Some(within.memory.level());
        Ok(Asker {
            shared: self.shared.clone(),
            by: within.by.clone(),
            connection: self.connection,
            scope: self.scope.clone(),
            said,
            asks: Asks::AsRequests,
            on_disconnect: OnDisconnect::Detach,
            challenges: true,
            listed: OnceLock::new(),
        })
    }

    async fn in_session(&self, within: &Within, message: Message) -> Response {
        let request = match message {
            Message::Request(request) => request,
            message => {
                self.noted(within, message).await;
                return StatusCode::ACCEPTED.into_response();
            }
        };
        if request.id.is_null() {
            return self.invalid(&rpc::Invalid::shape(None, "`id` must be text or a number"));
        }
        let id = request.id.clone();
        let asker = match self.asker(within, &request, within.session.client) {
            Ok(asker) => asker,
            Err(problem) => return refused(Some(&id), &problem),
        };
        let incoming = match decode(&request, &asker.context(None)) {
            Ok(incoming) => incoming.value,
            Err(invalid) => return asker.refusal(&id, invalid),
        };
        match asker.ask(incoming).await {
            Reply::Now(ended) => ended_response(&id, ended),
            Reply::Going(going) => {
                let running = within.memory.begin(&id);
                let stream =
                    Stream { place: ResumePoint::new(&id, &asker.said, &going), arrived: self.kept(), running };
                stream.answer(going, within.session.version).await
            }
            Reply::Session(request) => ended_response(&id, self.about_session(within, request).await),
            Reply::Listen(_) => refused(Some(&id), &Refused::no_such_method(&request.method, within.session.version)),
        }
    }

    fn kept(&self) -> Arc<Endpoint> {
        self.shared.clone()
    }

    /// Requests that change the session alone. The change is written down before it is answered: what memory loses is told by
    /// what was written.
    async fn about_session(&self, within: &Within, request: SessionRequest) -> RequestOutcome {
        let mut subscribed = None;
        match request {
            SessionRequest::SetLevel(level) => within.memory.set_level(level),
            SessionRequest::Subscribe(uri) => {
                self.subscribe(within, uri.clone())?;
                subscribed = Some(uri);
            }
            SessionRequest::Unsubscribe(uri) => within.memory.unsubscribe(&uri),
            SessionRequest::Initialize(_) => return Err(Refused::params("this session has begun already")),
        }
        let (sessions, hub) = (&self.shared.own.sessions, &self.shared.hub);
        if let Err(fault) = sessions.changed(hub, &within.by, &within.session, &within.memory).await {
            subscribed.iter().for_each(|uri| within.memory.unsubscribe(uri));
            return Err(Refused::params(fault.public));
        }
        Ok(Written::by(|out| encoder(within.session.version).empty(out)))
    }

    fn subscribe(&self, within: &Within, uri: Text) -> Result<(), Refused> {
        let following = listen::followed(&self.shared, &within.by, &self.scope, &uri).map_err(|fault| {
            let code = match fault.kind {
                FaultKind::NotFound(_) => fault::RESOURCE_NOT_FOUND,
                _ => rpc::INVALID_PARAMS,
            };
            Refused { error: fault::not_found(&fault, code, &uri), status: 200 }
        })?;
        if within.memory.subscribe(uri, following) {
            return Ok(());
        }
        Err(Refused::params("this session follows as many resources as it can"))
    }

    /// What wants no answer: an answer to a question, or a notification.
    async fn noted(&self, within: &Within, message: Message) {
        match message {
            Message::Response(response) => answer(&self.shared, &within.by, &response).await,
            Message::Notification(notification) if &*notification.method == "notifications/cancelled" => {
                if let Some(id) = notification.params.get("requestId").as_ref().and_then(Id::of) {
                    within.memory.cancel(&id);
                }
            }
            Message::Notification(_) | Message::Request(_) => {}
        }
    }

    /// `GET`: the session's own stream, or one that was lost.
    pub(super) async fn get(self) -> Response {
        let within = match self.within().await {
            Ok(within) => within,
            Err(response) => return *response,
        };
        match self.header("last-event-id") {
            None => self.session_stream(&within),
            Some(last) => match ResumePoint::parse(last) {
                Some(place) => resume::stream(&self, &within, place).await,
                None => self.session_stream(&within),
            },
        }
    }

    fn session_stream(&self, within: &Within) -> Response {
        let hub = &self.shared.hub;
        let mode = self.shared.own.settings().mode(&self.scope);
        let telling = Listening::new(&self.shared, &within.by, &self.scope, Spelling(mode), None);
        let over = (within.memory.take_stream(), hub.stopping().clone());
        let state = (telling, vec![frames::COMMENT], within.memory.clone(), over);
        frames::response(unfold(state, |(mut telling, mut ready, memory, over)| async move {
            if let Some(frame) = ready.pop() {
                return Some((frame, (telling, ready, memory, over)));
            }
            let told = tokio::select! {
                told = tokio::time::timeout(frames::KEEP_ALIVE, telling.next(|| memory.filter())) => told,
                () = over.0.cancelled() => return None,
                () = over.1.cancelled() => return None,
            };
            let frame = match told {
                Err(_) => frames::COMMENT,
                Ok(told) => {
                    ready = told?.iter().rev().map(|message| frames::event(None, message)).collect();
                    ready.pop()?
                }
            };
            Some((frame, (telling, ready, memory, over)))
        }))
    }

    /// `DELETE`: the session is over.
    pub(super) async fn delete(self) -> Response {
        let within = match self.within().await {
            Ok(within) => within,
            Err(response) => return *response,
        };
        match self.shared.own.sessions.end(&self.shared.hub, &within.by, &within.session).await {
            Ok(()) => StatusCode::NO_CONTENT.into_response(),
            Err(fault) => faulted(None, &fault),
        }
    }
}

pub(super) fn encoder(version: Version) -> Encoder<'static> {
    Encoder { version, server: SERVER, addresses: &crate::wire::content::Verbatim }
}

fn written_error(id: Option<&Id>, error: &rpc::Error) -> Vec<u8> {
    let mut out = Vec::new();
    fault::write(id, error, &mut out);
    out
}

/// A client's answer to a question that was put as a request. What belongs to no open question of theirs is nothing.
pub(super) async fn answer(shared: &interlingua_endpoint::Shared, by: &Principal, response: &rpc::Response) {
    let id = response.id.json();
    let Some(id) = id.tree().as_str().and_then(|id| id.parse::<QuestionId>().ok()) else { return };
    let Some(live) = shared.hub.live(id.0) else { return };
    let Some(asked) = live.questions().into_iter().find(|question| question.id == id) else { return };
    let answer = match &response.outcome {
        Ok(result) => match question::decode_answer(&asked, result) {
            Ok(answer) => answer,
            Err(problem) => return tracing::debug!(%problem, "an answer does not fit its question"),
        },
        Err(_) if matches!(asked.kind, QuestionKind::Roots) => Answer::Given(Input::args(json!({"roots": []}).into())),
        Err(_) => Answer::Declined,
    };
    if let Err(fault) = shared.hub.signal(by.clone(), id.0, answered(id, answer)).await {
        tracing::debug!(error = %fault, "an answer was not taken");
    }
}

/// The stream of one call. Whoever drops it has not cancelled the call.
struct Stream {
    place: ResumePoint,
    arrived: Arc<Endpoint>,
    running: Running,
}

enum Streaming {
    First(Vec<Bytes>, Box<Stream>, Box<CallStream>),
    On(Box<Stream>, Box<CallStream>),
    Over,
}

impl Stream {
    async fn answer(self, mut going: Box<CallStream>, version: Version) -> Response {
        let first = tokio::select! {
            first = tokio::time::timeout(SOON, going.next()) => first,
            () = self.running.token.cancelled() => {
                going.cancel().await;
                return StatusCode::ACCEPTED.into_response();
            }
        };
        let mut frames = Vec::new();
        match first {
            Ok(Next::Ended(ended)) => return ended_response(&self.place.request, ended),
            Ok(Next::Message(message)) => frames.push(frames::event(Some(&self.place.at(going.seq)), &message)),
            Err(_) => {}
        }
        // A client of 2025-11-25 can come back even if nothing else was sent.
        if version >= Version::V2025_11_25 {
            frames.push(frames::priming(&self.place.at(0)));
        } else if frames.is_empty() {
            frames.push(frames::COMMENT);
        }
        frames::response(unfold(Streaming::First(frames, Box::new(self), going), |streaming| async move {
            match streaming {
                Streaming::Over => None,
                Streaming::First(mut frames, stream, going) => {
                    let frame = frames.pop()?;
                    let next = match frames.is_empty() {
                        true => Streaming::On(stream, going),
                        false => Streaming::First(frames, stream, going),
                    };
                    Some((frame, next))
                }
                Streaming::On(stream, going) => stream.next(going).await,
            }
        }))
    }

    async fn next(self: Box<Self>, mut going: Box<CallStream>) -> Option<(Bytes, Streaming)> {
        let next = tokio::select! {
            next = tokio::time::timeout(frames::KEEP_ALIVE, going.next()) => next,
            () = self.running.token.cancelled() => {
                // No response after a cancellation.
                going.cancel().await;
                return None;
            }
        };
        Some(match next {
            Err(_) => (frames::COMMENT, Streaming::On(self, going)),
            Ok(Next::Message(message)) => {
                let frame = frames::event(Some(&self.place.at(going.seq)), &message);
                (frame, Streaming::On(self, going))
            }
            Ok(Next::Ended(ended)) => {
                let frame = frames::event(Some(&self.place.at(going.seq)), &end_message(&self.place.request, ended));
                self.arrived.own.sessions.keep_final(going.task(), frame.clone());
                (frame, Streaming::Over)
            }
        })
    }
}
