//! `POST /nlip/route`, and `POST /agents/{peer}/nlip/route` for one agent or team: a JSON array of responses, or server-sent events with one response each, if the caller accepts them. A notification
//! is answered with 202 and no body; a message that is refused whole gets one error and a status of its own.

use std::convert::Infallible;
use std::sync::Arc;

use crate::encode::{self, Delivery, Stamp};
use crate::wire::Message;
use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::StreamExt;
use http::header::ACCEPT;
use http::{HeaderMap, StatusCode};
use interlingua_model::PeerId;

use super::parallel::{Answering, Whole, log};
use super::{Answered, Exchange, Refusal};
use crate::Endpoint;
use crate::refusal::{self, EnvelopeErrors};
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_endpoint::revocation::Brought;
use interlingua_hub::entropy;
use interlingua_net::body;
use interlingua_net::connection::Connection;

pub fn routes(state: Arc<Endpoint>) -> Router {
    Router::new()
        .route("/nlip/route", post(route).fallback(not_allowed))
        .route("/agents/{peer}/nlip/route", post(one_peer).fallback(not_allowed))
        .with_state(state)
}

async fn not_allowed() -> Response {
    EnvelopeErrors.not_allowed("POST")
}

async fn route(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    respond(shared, connection, headers, None, body).await
}

async fn one_peer(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    Path(peer): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    respond(shared, connection, headers, Some(PeerId::from(peer)), body).await
}

async fn respond(
    shared: Arc<Endpoint>,
    connection: Connection,
    headers: HeaderMap,
    peer: Option<PeerId>,
    body: Body,
) -> Response {
    let frame = match body::read(body, shared.bounds().body).await {
        Ok(frame) => frame,
        Err(fault) => return EnvelopeErrors.refuse(&fault),
    };
    let settings = shared.own.settings();
    let streamed = settings.streams_of(peer.as_ref()) && wants_events(&headers);
    let delivery = if streamed { settings.delivery_of(peer.as_ref()) } else { Delivery::Whole };
    let exchange = Exchange { shared, connection, headers, settings, streamed, delivery, peer };
    match exchange.answer(&frame).await {
        Ok(Answered::Noted) => StatusCode::ACCEPTED.into_response(),
        Ok(Answered::Running(mut answering)) if streamed => {
            let brought = Brought(std::mem::take(&mut answering.brought));
            let mut response = events(*answering);
            response.extensions_mut().insert(brought);
            response
        }
        Ok(Answered::Running(answering)) => array(answering.whole().await),
        Err(refusal) => refused(&exchange, &refusal),
    }
}

fn events(answering: Answering) -> Response {
    let events = answering.stream().map(|message| {
        let bytes = message.to_bytes();
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        Ok::<_, Infallible>(Event::default().data(text))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

fn array(Whole { status, messages, fault }: Whole) -> Response {
    let mut response = error_format::json(status, list(&messages));
    if let Some(fault) = fault.filter(|_| status != 200) {
        error_format::add_headers(&mut response, &fault);
    }
    response
}

fn list(messages: &[Message]) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(b'[');
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            out.put_u8(b',');
        }
        out.put(message.to_bytes());
    }
    out.put_u8(b']');
    out.freeze()
}

/// The one error of a message refused whole. A kind that is otherwise a call's outcome is here still a refusal.
fn refused(exchange: &Exchange, Refusal { head, fault }: &Refusal) -> Response {
    log(fault);
    let stamp = Stamp { random: entropy::bits(), now: exchange.shared.hub.now() };
    let message = encode::refuse(head, fault, stamp);
    let mut response = error_format::json(refusal::status(fault), list(&[message]));
    error_format::add_headers(&mut response, fault);
    response
}

/// `text/event-stream` is accepted, and JSON is not preferred to it.
fn wants_events(headers: &HeaderMap) -> bool {
    let mut best = (0.0, 0.0);
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for range in accepted.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |q| q.parse::<f32>().unwrap_or(0.0));
        if kind.eq_ignore_ascii_case("text/event-stream") {
            best.0 = weight;
        } else if kind.eq_ignore_ascii_case("application/json") {
            best.1 = weight;
        }
    }
    best.0 > 0.0 && best.0 >= best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sent_to_whom_they_are_no_worse_than_json() {
        for (accept, expected) in [
            ("text/event-stream", true),
            ("application/json, Text/Event-Stream", true),
            ("text/event-stream;q=0.5, application/json", false),
            ("text/event-stream;q=0", false),
            ("*/*", false),
            ("application/json", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().expect("a header"));
            assert_eq!(wants_events(&headers), expected, "{accept}");
        }
        assert!(!wants_events(&HeaderMap::new()));
    }
}
