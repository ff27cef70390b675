//! `/api`: the hub's own interface, for programs and for the client commands.
//!
//! [`decode`] converts requests to calls and signals, [`crate::view`] has the JSON of responses, [`events`] streams it. A refusal is an
//! [`ErrorBody`](crate::view::ErrorBody) with the status of the table of faults; a failure of an exchange that ran is an outcome and
//! answered with 200.
//!
//! Deliberately absent: permissions. The hub decides what a caller may see or do, for every path alike.
//!
//! [`view`] has types of its own, converted from the model's, so that the model can change without breaking programs that use the
//! interface. [`fault`] maps a fault to its HTTP status. [`openapi`] describes it all from the same types.

mod agents;
mod artifacts;
mod audit;
mod confirmations;
mod decode;
mod devices;
mod events;
mod exchanges;
mod explain;
pub mod fault;
#[doc(hidden)]
pub mod fuzzing;
mod keys;
mod links;
mod lists;
mod messages;
pub mod openapi;
mod page;
mod protocol;
mod questions;
pub mod refusal;
mod routed;
mod session;
mod sites;
mod tasks;
mod timeline;
mod tokens;
pub mod view;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use bytes::Bytes;
use http::header::{HOST, LOCATION};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use interlingua_model::{Fault, FaultKind, Feature, Noun, Principal, TaskId};
use serde::Serialize;

use self::links::Links;
use crate::refusal::ApiErrors;
use interlingua_access::Shown;
use interlingua_access::sessions::is_session;
use interlingua_endpoint::Shared;
use interlingua_endpoint::error_format::{ErrorFormat, json};
use interlingua_endpoint::ports::Ports;
use interlingua_net::connection::Connection;

pub use self::protocol::Api;

/// The HTTP side of the hub's own interface.
pub type Endpoint = interlingua_endpoint::Endpoint<Ports>;

/// What this interface is called in the audit, in spans and metrics.
pub const PROTOCOL: &str = "api";

pub fn routes(state: Arc<Endpoint>) -> Router {
    Router::new()
        .route("/api/openapi.json", get(description))
        .route("/api/peers", get(lists::peers))
        .route("/api/skills", get(lists::skills))
        .route("/api/agents", get(agents::list).post(agents::register))
        .route("/api/agents/{id}", get(agents::read).delete(agents::unregister))
        .route("/api/messages", get(messages::read).post(messages::send))
        .route("/api/messages/{id}", delete(messages::put_aside))
        .route("/api/artifacts", get(artifacts::list).post(artifacts::share))
        .route("/api/artifacts/{id}", get(artifacts::read).delete(artifacts::forget))
        .route("/api/artifacts/{id}/content", get(artifacts::fetch).put(artifacts::fill))
        .route("/api/artifacts/{id}/access", put(artifacts::relist))
        .route("/api/exchanges", post(exchanges::open))
        .route("/api/exchanges/{id}", delete(tasks::cancel))
        .route("/api/tasks", get(tasks::list).post(tasks::start))
        .route("/api/tasks/{id}", get(tasks::read).delete(tasks::cancel))
        .route("/api/tasks/{id}/events", get(tasks::events))
        .route("/api/tasks/{id}/timeline", get(timeline::read))
        .route("/api/tasks/{id}/signals", post(tasks::signal))
        .route("/api/confirmations", get(confirmations::list))
        .route("/api/confirmations/{id}", get(confirmations::read).post(confirmations::decide))
        .route("/api/questions", get(questions::list))
        .route("/api/questions/{id}", get(questions::read))
        .route("/api/questions/{id}/settled", get(questions::settled))
        .route("/api/conversations", get(lists::conversations))
        .route("/api/conversations/{id}", delete(lists::forget_conversation))
        .route("/api/sessions", get(routed::list))
        .route("/api/sessions/{id}", get(routed::read))
        .route(session::PATH, get(session::read).post(session::begin).delete(session::end))
        .route("/api/session/tickets", post(session::ticket))
        .route("/api/sites/sessions", get(sites::sessions))
        .route("/api/sites/sessions/{id}", delete(sites::end))
        .route("/api/devices", get(devices::list))
        .route("/api/devices/{id}", get(devices::read))
        .route("/api/devices/{id}/telemetry", get(devices::telemetry))
        .route("/api/sites/pages", get(sites::pages))
        .route("/api/sites/pages/{id}", get(sites::picture))
        .route("/api/audit", get(audit::list))
        .route("/api/audit/forget", post(audit::forget))
        .route("/api/audit/pages", get(audit::pages))
        .route("/api/explain", post(explain::explain))
        .route("/api/tokens", get(tokens::list).post(tokens::create))
        .route("/api/tokens/{id}", delete(tokens::revoke))
        .route("/api/keys", get(keys::list))
        .route("/api/keys/rotate", post(keys::rotate))
        .route("/api/keys/old", delete(keys::take_out))
        .route_layer(axum::middleware::from_fn(phrased))
        .method_not_allowed_fallback(not_allowed)
        .with_state(state)
}

/// Who asked, once that is known.
#[derive(Clone, Default)]
struct AskedBy(Arc<OnceLock<Principal>>);

/// Every refusal of this interface is phrased here for whoever asked.
async fn phrased(mut request: Request, next: Next) -> Response {
    let asked = AskedBy::default();
    request.extensions_mut().insert(asked.clone());
    let mut response = next.run(request).await;
    if asked.0.get().is_some_and(is_session) {
        response = session::unstored(response);
    }
    match (response.extensions_mut().remove::<Refusal>(), asked.0.get()) {
        (Some(Refusal(fault)), Some(by)) => ApiErrors.refuse(&fault.told_to(by)),
        (Some(_) | None, _) => response,
    }
}

/// The methods that are taken are in the `Allow` header, which the router adds.
async fn not_allowed() -> Response {
    let kind = FaultKind::Unsupported(Feature::Operation);
    let mut response = ApiErrors.refuse(&Fault::caller(kind, "this method is not taken here"));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

static DESCRIPTION: LazyLock<Bytes> = LazyLock::new(|| openapi::document().to_string().into());

async fn description(_: Asker) -> Response {
    json(200, DESCRIPTION.clone())
}

/// Who asks, proven by connection and headers.
struct Asker {
    by: Principal,
    shown: Shown,
    connection: Connection,
    /// The hub as they reach it.
    base: String,
}

impl Asker {
    /// Addresses that they can fetch.
    fn links(&self, shared: &Shared) -> Links {
        Links { hub: shared.hub.clone(), by: self.by.clone(), base: self.base.clone() }
    }
}

/// Where a request comes from, whoever it is: for signing in.
struct Visitor {
    connection: Connection,
    /// The hub as they reach it.
    base: String,
}

impl FromRequestParts<Arc<Endpoint>> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Endpoint>) -> Result<Visitor, Refusal> {
        let unknown = || Fault::hub(FaultKind::Internal, "nothing is known of this connection");
        let connection = *parts.extensions.get::<Connection>().ok_or_else(unknown)?;
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        Ok(Visitor { connection, base: shared.base(&connection, host) })
    }
}

impl FromRequestParts<Arc<Endpoint>> for Asker {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Endpoint>) -> Result<Asker, Refusal> {
        let Visitor { connection, base } = Visitor::from_request_parts(parts, shared).await?;
        let shown = Shown::with_session(connection, &parts.headers);
        let by = shared.authenticate_shown(&shown, &[])?;
        if let Some(AskedBy(asked)) = parts.extensions.get() {
            asked.get_or_init(|| by.clone());
        }
        if is_session(&by) {
            session::check_change(shared, parts)?;
            session::note_use(shared, &shown, &by);
        }
        Ok(Asker { by, shown, connection, base })
    }
}

/// A request that was not done. Its response carries it, for [`phrased`].
#[derive(Debug, Clone)]
pub struct Refusal(Fault);

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal(fault)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        if self.0.kind == FaultKind::Internal {
            tracing::error!(event = "request_failed", protocol = "api", error = %self.0, cause = ?self.0.source, "a request failed inside the hub");
        }
        let mut response = ApiErrors.refuse(&self.0);
        response.extensions_mut().insert(self);
        response
    }
}

type Answered = Result<Response, Refusal>;

fn answer(status: StatusCode, view: &impl Serialize) -> Answered {
    let body = serde_json::to_vec(view).map_err(Fault::internal)?;
    Ok(json(status.as_u16(), body.into()))
}

fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Says where a kept exchange is found.
fn located(mut response: Response, task: TaskId) -> Response {
    if let Ok(place) = HeaderValue::from_str(&format!("/api/tasks/{task}")) {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

fn task_id(text: &str) -> Result<TaskId, Fault> {
    text.parse().map_err(|_| interlingua_hub::live::no_such_task())
}

fn no_such_conversation() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "no such conversation")
}
