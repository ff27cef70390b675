//! Server-sent events (WHATWG HTML, section 9.2) that carry JSON-RPC messages.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::Stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

/// How long nothing may be sent.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
pub(super) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// One message as an event. JSON of others may have line ends between its tokens, and each is a line of its own.
pub(super) fn event(id: Option<&str>, message: &[u8]) -> Bytes {
    let mut frame = Vec::with_capacity(message.len() + 48);
    if let Some(id) = id {
        frame.extend_from_slice(b"id: ");
        frame.extend_from_slice(id.as_bytes());
        frame.push(b'\n');
    }
    frame.extend_from_slice(b"data: ");
    for (index, line) in message.split(|byte| matches!(byte, b'\n' | b'\r')).enumerate() {
        if index > 0 {
            frame.extend_from_slice(b"\ndata: ");
        }
        frame.extend_from_slice(line);
    }
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

/// An event without a message, from which a client that loses the stream can go on, and after how long it should.
pub(super) fn priming(id: &str) -> Bytes {
    format!("id: {id}\nretry: 1000\ndata: \n\n").into()
}

/// A response that is a stream of events.
pub(super) fn response(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    use futures_util::StreamExt;
    let frames = frames.map(Ok::<Bytes, std::convert::Infallible>);
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // What stands between must not hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_in_a_message_does_not_end_the_event() {
        assert_eq!(event(None, b"{\"a\":\n1}"), "data: {\"a\":\ndata: 1}\n\n");
        assert_eq!(event(Some("7"), b"{}"), "id: 7\ndata: {}\n\n");
    }
}
