//! gRPC (section 10): a service for each generation, on the hub's one port. The request's `tenant` names the agent.
//!
//! A call is one message and one answer, or a stream of them; its status comes after them. A deadline ends the answer, not the task: a
//! later request finds it (section 3.1). Compression is not offered.

use std::convert::Infallible;
use std::time::Duration;

use crate::fault::{Error, Grpc};
use crate::grpc::{self, BadFrame};
use crate::invalid::Invalid;
use crate::json::{Dialect, write};
use crate::method::Method;
use crate::refusal::{grpc_head, grpc_status, grpc_status_alone, refuse_grpc};
use crate::request::read_grpc;
use crate::{Version, proto};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method as Verb};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use interlingua_model::{Fault, FaultKind, Feature};
use tokio::time::Instant;

use super::arrived::failed;
use super::feed::Feed;
use super::{Arrived, Reply};
use interlingua_net::body;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

const TIMEOUT: &str = "grpc-timeout";
/// What a deadline is when a client names one beyond all time.
const FAR: Duration = Duration::from_secs(30 * 24 * 3600);

/// `lf.a2a.v1`.
pub(super) async fn new(arrived: Arrived, verb: Verb, body: Body) -> Response {
    respond(&arrived, Version::V1, &verb, body).await
}

/// `a2a.v1` of 0.3.
pub(super) async fn old(arrived: Arrived, verb: Verb, body: Body) -> Response {
    respond(&arrived, Version::V03, &verb, body).await
}

async fn respond(arrived: &Arrived, version: Version, verb: &Verb, body: Body) -> Response {
    if *verb != Verb::POST || !arrived.text(CONTENT_TYPE.as_str()).is_some_and(grpc::is_media) {
        let fault = Fault::caller(FaultKind::Unsupported(Feature::Media), "a call is a POST of application/grpc");
        return refuse_grpc(&fault, version);
    }
    let until = match deadline(arrived) {
        Ok(until) => until,
        Err(error) => return grpc_status_alone(&error, version),
    };
    let answering = answered(arrived, version, body, until);
    let answer = match until {
        Some(until) => tokio::time::timeout_at(until, answering).await.unwrap_or_else(|_| Err(late())),
        None => answering.await,
    };
    let mut response = answer.unwrap_or_else(|error| grpc_status_alone(&error, version));
    arrived.confirm(version, &mut response);
    response
}

/// When the client stops to wait.
fn deadline(arrived: &Arrived) -> Result<Option<Instant>, Error> {
    let Some(text) = arrived.text(TIMEOUT) else { return Ok(None) };
    match grpc::timeout(text) {
        Some(span) => Ok(Some(Instant::now() + span.min(FAR))),
        None => Err(Error::of(&Fault::caller(FaultKind::Malformed, "grpc-timeout must be digits and a unit"), None)),
    }
}

fn late() -> Error {
    Error::of(&Fault::caller(FaultKind::Deadline, "the deadline of the call passed; the task, if any, goes on"), None)
}

async fn answered(arrived: &Arrived, version: Version, body: Body, until: Option<Instant>) -> Result<Response, Error> {
    let meters = arrived.shared.hub.meters();
    let invalid = |wrong: Invalid| arrived.invalid(&wrong);
    let method = Method::of_grpc(&arrived.below, version).map_err(invalid)?;
    let body = body::read(body, arrived.shared.bounds().body).await.map_err(|fault| failed(&fault, method))?;
    let mut laps = meters.laps();
    let message = grpc::unframe(&body).map_err(unframed)?;
    arrived.speaks(version).map_err(invalid)?;
    let decoding = || read_grpc(method, &message, version, arrived.shared.bounds().depth);
    let asked = large::worked(body.len(), decoding).await.map_err(invalid)?;
    laps.done(Phase::Decode);
    let reply = arrived.perform(version, method, asked).await?;
    let mut laps = meters.laps();
    let telling = Telling { method, version };
    let response = match reply {
        Reply::Whole(answer) => {
            let message = telling.message(&write::answer(&answer, Dialect::of_http(version)))?;
            whole(message)
        }
        Reply::Stream(feed) => stream(*feed, telling, until),
    };
    laps.done(Phase::Encode);
    Ok(response)
}

fn unframed(bad: BadFrame) -> Error {
    let kind = match bad {
        BadFrame::Compressed => FaultKind::Unsupported(Feature::Operation),
        BadFrame::Malformed => FaultKind::Malformed,
        BadFrame::TooLarge => FaultKind::TooLarge,
    };
    let mut error = Error::of(&Fault::caller(kind, bad.to_string()), None);
    // So gRPC itself calls it.
    if bad == BadFrame::Compressed {
        error.row.grpc = Grpc::Unimplemented;
    }
    error
}

/// As what the answers to a call are written.
#[derive(Clone, Copy)]
struct Telling {
    method: Method,
    version: Version,
}

impl Telling {
    fn message(self, json: &[u8]) -> Result<Bytes, Error> {
        let message = proto::answer_from_json(self.method, self.version, json);
        message.map(|message| grpc::frame(&message)).map_err(|wrong| {
            tracing::error!(event = "response_not_encoded", error = %wrong, method = ?self.method, "a response does not fit its gRPC message");
            Error::of(&Fault::hub(FaultKind::Internal, "the answer could not be written"), None)
        })
    }
}

fn whole(message: Bytes) -> Response {
    let body = Full::new(message).with_trailers(async { Some(Ok(done())) });
    grpc_head(Body::new(body))
}

fn done() -> HeaderMap {
    HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"))])
}

fn stream(feed: Feed, telling: Telling, until: Option<Instant>) -> Response {
    let frames = unfold(Some(feed), move |feed| async move {
        let mut feed = feed?;
        let next = match until {
            Some(until) => tokio::time::timeout_at(until, feed.next()).await,
            None => Ok(feed.next().await),
        };
        let end = match next {
            Ok(Ok(Some(told))) => {
                match telling.message(&write::update(&told.update, Dialect::of_http(telling.version))) {
                    Ok(message) => return Some((Ok::<_, Infallible>(Frame::data(message)), Some(feed))),
                    Err(error) => grpc_status(&error, telling.version),
                }
            }
            Ok(Ok(None)) => done(),
            Ok(Err(fault)) => grpc_status(&Error::of(&fault, Some(telling.method)), telling.version),
            Err(_) => grpc_status(&late(), telling.version),
        };
        Some((Ok(Frame::trailers(end)), None))
    });
    grpc_head(Body::new(StreamBody::new(frames)))
}
