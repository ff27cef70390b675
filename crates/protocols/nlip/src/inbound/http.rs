//! `POST /nlip`, `POST /nlip/` and `POST /agents/{peer}/nlip` (ECMA-431 clause 6).

use std::sync::Arc;

use crate::decode::Addressed;
use crate::json::{self, Keys};
use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::post;
use http::HeaderMap;
use interlingua_model::{Fault, FaultKind, Feature, PeerId};

use super::{Exchange, Reply, limits};
use crate::Endpoint;
use crate::refusal::NlipErrors;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_net::body;
use interlingua_net::connection::Connection;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

pub(super) fn routes() -> Router<Arc<Endpoint>> {
    let front = post(front_door).fallback(not_allowed);
    Router::new()
        .route("/nlip", front.clone())
        .route("/nlip/", front)
        .route("/agents/{peer}/nlip", post(one_peer).fallback(not_allowed))
}

async fn not_allowed() -> Response {
    NlipErrors.not_allowed("POST")
}

async fn front_door(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    respond(&shared, connection, headers, Addressed::Front, body).await
}

async fn one_peer(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    Path(peer): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    respond(&shared, connection, headers, Addressed::Peer(PeerId::from(peer)), body).await
}

async fn respond(
    shared: &Arc<Endpoint>,
    connection: Connection,
    headers: HeaderMap,
    door: Addressed,
    body: Body,
) -> Response {
    let frame = match body::read(body, shared.bounds().body).await {
        Ok(frame) => frame,
        Err(fault) => return NlipErrors.refuse(&fault),
    };
    let meters = shared.hub.meters();
    let mut laps = meters.laps();
    let message = match large::worked(frame.len(), || json::decode(&frame, &limits(shared))).await {
        Ok(message) => message,
        Err(invalid) => {
            meters.protocol(crate::PROTOCOL).invalid.increment(1);
            let mut response = NlipErrors.refuse(&invalid.fault());
            *response.status_mut() =
                http::StatusCode::from_u16(invalid.status()).unwrap_or(http::StatusCode::BAD_REQUEST);
            return response;
        }
    };
    laps.done(Phase::Decode);
    let exchange = Exchange { shared, connection: &connection, headers: &headers, door };
    let reply = exchange.answer(message).await;
    let mut laps = meters.laps();
    let response = encoded(reply);
    laps.done(Phase::Respond);
    response
}

/// One answer is all that is told here: whoever wants to hear more opens a socket.
fn encoded(reply: Reply) -> Response {
    let reply = match reply.ear {
        None => reply,
        Some(_) => {
            let kind = FaultKind::Unsupported(Feature::Operation);
            Reply::refused(Fault::caller(kind, "topics are listened to over a WebSocket"))
        }
    };
    let Reply { status, message, fault, ear: _, proven: _ } = reply;
    let mut response = error_format::json(status, json::encode(&message, Keys::Lower).into());
    if let Some(fault) = fault {
        error_format::add_headers(&mut response, &fault);
    }
    response
}
