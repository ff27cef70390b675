//! A feed as server-sent events, in the format of its binding. A comment at intervals keeps the connection of a quiet task alive.

use std::convert::Infallible;
use std::time::Duration;

use crate::fault::Error;
use crate::wire::Update;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use interlingua_model::{Fault, FaultKind};

use super::feed::{Feed, FeedUpdate};

/// How long nothing may be sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": the task goes on\n\n");

/// How one binding writes an event, and a failure in the middle.
pub(super) trait Wrap: Send + 'static {
    fn update(&self, update: &Update) -> Bytes;
    fn error(&self, error: &Error) -> Bytes;
}

pub(super) fn stream(feed: Feed, wrap: impl Wrap) -> Response {
    let frames = unfold(Some((feed, wrap)), |state| async move {
        let (mut feed, wrap) = state?;
        let frame = match tokio::time::timeout(KEEP_ALIVE, feed.next()).await {
            Err(_) => COMMENT,
            Ok(Ok(Some(told))) => event(&told, &wrap),
            Ok(Ok(None)) => return None,
            Ok(Err(fault)) => return Some((Ok::<_, Infallible>(failed(&fault, &wrap)), None)),
        };
        Some((Ok(frame), Some((feed, wrap))))
    });
    response(Body::from_stream(frames))
}

/// A stream of one event, which is no event of a task.
pub(super) fn one(json: &[u8]) -> Response {
    let mut frame = Vec::with_capacity(json.len() + 8);
    data(json, &mut frame);
    response(Body::from(frame))
}

fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn event(told: &FeedUpdate, wrap: &impl Wrap) -> Bytes {
    let mut frame = format!("id: {}\n", told.id).into_bytes();
    data(&wrap.update(&told.update), &mut frame);
    frame.into()
}

/// The hub could not go on telling. Without a number, for it is no event of the task.
fn failed(fault: &Fault, wrap: &impl Wrap) -> Bytes {
    if fault.kind == FaultKind::Internal {
        tracing::error!(event = "stream_failed", protocol = crate::PROTOCOL, error = %fault, cause = ?fault.source, "an event stream failed inside the hub");
    }
    let mut frame = b"event: error\n".to_vec();
    data(&wrap.error(&Error::of(fault, None)), &mut frame);
    frame.into()
}

/// JSON of others may have line ends between its tokens, and each line of data is a line of its own.
fn data(json: &[u8], frame: &mut Vec<u8>) {
    for line in json.split(|byte| matches!(byte, b'\n' | b'\r')) {
        frame.extend_from_slice(b"data: ");
        frame.extend_from_slice(line);
        frame.push(b'\n');
    }
    frame.push(b'\n');
}
