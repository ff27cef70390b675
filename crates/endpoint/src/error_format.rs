//! The form in which a protocol reports a refusal before a message is decoded. Each protocol has its own; see
//! [`PathTable`](super::paths::PathTable) for which path has which.

use std::fmt::Debug;

use axum::response::Response;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::Full;
use hyper::body::Frame;
use interlingua_model::{Fault, FaultKind, Feature, Retry};

/// How a stream ends early.
#[derive(Debug)]
pub enum Farewell {
    Said(Frame<Bytes>),
    Silent,
    /// Broken off, so that it is not mistaken for a complete one.
    Broken,
}

/// How a protocol reports errors outside of its own messages.
pub trait ErrorFormat: Send + Sync + Debug {
    /// A refusal: status, body and headers.
    fn refuse(&self, fault: &Fault) -> Response;

    /// The last message of a stream that ends early; the head shows what kind of stream it is.
    fn farewell(&self, fault: &Fault, head: &HeaderMap) -> Farewell;

    /// The refusal of a method that this path does not take.
    fn not_allowed(&self, allow: &'static str) -> Response {
        let kind = FaultKind::Unsupported(Feature::Operation);
        let mut response = self.refuse(&Fault::caller(kind, format!("only {allow} is taken here")));
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        response
    }
}

/// A refusal whose body is JSON, with the headers of its fault.
pub fn refusal(status: u16, body: Bytes, fault: &Fault) -> Response {
    let mut response = json(status, body);
    add_headers(&mut response, fault);
    response
}

/// Is this the head of a stream of server-sent events?
pub fn is_event_stream(head: &HeaderMap) -> bool {
    head.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"text/event-stream"))
}

/// A last event with this message, if the stream is one of server-sent events.
pub fn sse_farewell(message: &[u8], head: &HeaderMap) -> Farewell {
    if !is_event_stream(head) {
        return Farewell::Broken;
    }
    Farewell::Said(Frame::data([b"event: error\ndata: ", message, b"\n\n"].concat().into()))
}

/// Adds the headers of a fault.
pub fn add_headers(response: &mut Response, fault: &Fault) {
    let headers = response.headers_mut();
    if fault.kind == FaultKind::Unauthenticated {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let (FaultKind::Busy, Retry::After(after)) = (fault.kind, fault.retry) {
        let millis = after.map_or(1_000, |after| after.as_millis());
        let seconds = u64::try_from(millis.div_ceil(1_000).max(1)).unwrap_or(u64::MAX);
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// A JSON response.
pub fn json(status: u16, body: Bytes) -> Response {
    let mut response = Response::new(axum::body::Body::new(Full::new(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
