//! Reads and decodes a request, and answers it.

use std::sync::Arc;

use crate::decode::{Arrived, Context, Incoming, Own, decode};
use crate::encode::{self, Envelope, Stand};
use crate::wire::Operation;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Uri};
use interlingua_model::{Fault, FaultKind, Feature, Text, uuid_v4};
use interlingua_wire::codec::Meaning;
use interlingua_wire::hub_headers::Headers;

use super::ask::{Asker, Calls, told};
use super::{promise, sites};
use crate::PROTOCOL;
use crate::refusal::NlwebErrors;
use interlingua_endpoint::Shared;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_endpoint::guard::FORM;
use interlingua_hub::entropy;
use interlingua_net::body;
use interlingua_net::connection::Connection;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

pub(super) async fn front(
    state: State<Arc<Shared>>,
    connection: Extension<Connection>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let sent = Sent { id: id(), at: Operation::Ask, site: None, method: &method, uri: &uri, headers: &headers };
    answer(state.0, connection.0, sent, body).await
}

pub(super) async fn one_peer(
    state: State<Arc<Shared>>,
    connection: Extension<Connection>,
    Path(peer): Path<String>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let sent =
        Sent { id: id(), at: Operation::Ask, site: Some(peer.into()), method: &method, uri: &uri, headers: &headers };
    answer(state.0, connection.0, sent, body).await
}

pub(super) async fn wait(
    state: State<Arc<Shared>>,
    connection: Extension<Connection>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let sent = Sent { id: id(), at: Operation::Await, site: None, method: &method, uri: &uri, headers: &headers };
    answer(state.0, connection.0, sent, body).await
}

pub(super) async fn who(
    state: State<Arc<Shared>>,
    connection: Extension<Connection>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    // Only the id that its sender gives it names such a request.
    let sent = Sent { id: "".into(), at: Operation::Who, site: None, method: &method, uri: &uri, headers: &headers };
    answer(state.0, connection.0, sent, Body::empty()).await
}

/// A request without its body.
struct Sent<'a> {
    /// What it is called in its answer, unless its sender has a name for it.
    id: Text,
    at: Operation,
    /// The one that the path names.
    site: Option<Text>,
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
}

async fn answer(shared: Arc<Shared>, connection: Connection, sent: Sent<'_>, body: Body) -> Response {
    let frame = match body::read(body, shared.bounds().body).await {
        Ok(frame) => frame,
        Err(fault) => return NlwebErrors.refuse(&fault),
    };
    let Sent { id, at, site, method, uri, headers } = sent;
    let mut laps = shared.hub.meters().laps();
    let hop = Headers::read(|name| headers.get(name)?.to_str().ok()).decode(shared.hub.now());
    // A link, an image and a redirect send GET, with nobody's wish behind it (RFC 9110, 9.2.1).
    let only_read = *method != Method::POST;
    let context = Context {
        id: &entropy::message_id,
        depth: shared.bounds().depth,
        site: site.as_ref(),
        only_read,
        hop: hop.as_ref().ok(),
    };
    let arrived = Arrived { at, query: uri.query().unwrap_or_default(), body: &frame, form: is_form(headers) };
    let Incoming { meaning, reply: asked, .. } = match large::worked(frame.len(), || decode(arrived, &context)).await {
        Ok(decoded) => decoded.value,
        Err(invalid) => {
            shared.hub.meters().protocol(PROTOCOL).invalid.increment(1);
            let (status, answer) = encode::refused(&invalid, id);
            return error_format::json(status, answer.to_string().into());
        }
    };
    laps.done(Phase::Decode);
    let envelope = Envelope::of(&asked, id, asked.sites.first().cloned().unwrap_or_default());
    let calls = match meaning {
        Meaning::Call(call) => Calls::One(call),
        Meaning::Own(Own::Several(calls)) => Calls::Several(calls),
        Meaning::Own(Own::Wait { token, action }) => {
            return promise::answer(&shared, &connection, headers, (&token, action), envelope).await;
        }
        Meaning::Own(Own::Who) => return sites::who(&shared, &connection, headers, &asked).await,
        // What names a task here is a promise.
        Meaning::Signal { .. } => {
            let kind = FaultKind::Unsupported(Feature::Operation);
            return told(&envelope, &Stand::Refused(&Fault::caller(kind, "a task is reached by its promise")));
        }
    };
    let asker = Asker { shared, connection, headers, bad_hop: hop.err(), asked, only_read };
    asker.answer(calls, envelope).await
}

/// The first generation also takes what a form sends.
fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(FORM))
}

/// Names a request to its sender.
fn id() -> Text {
    uuid_v4(entropy::bits()).into()
}
