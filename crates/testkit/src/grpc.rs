//! A gRPC call on the wire: one message sent, messages back as they arrive, a status at the end. The test interprets the messages.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;

use crate::connection::{Connection, request};
use crate::within;

/// The request of a call: `message` in its frame.
pub fn call(path: &str, headers: &[(&str, &str)], message: &[u8]) -> Request<Full<Bytes>> {
    let mut body = vec![0];
    body.extend_from_slice(&u32::try_from(message.len()).expect("a message of a test").to_be_bytes());
    body.extend_from_slice(message);
    let builder = request(Method::POST, path).header("content-type", "application/grpc").header("te", "trailers");
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(Full::new(body.into())).expect("a request")
}

/// The answer to a call.
#[derive(Debug)]
pub struct Messages {
    pub status: u16,
    pub headers: HeaderMap,
    /// After the last message.
    pub trailers: HeaderMap,
    body: Incoming,
    read: BytesMut,
}

impl Connection {
    /// Sends a call; its answer is read message by message.
    pub async fn messages(&mut self, request: Request<Full<Bytes>>) -> Messages {
        let response = within("the head of an answer", self.open(request)).await.expect("an answer begins");
        let (parts, body) = response.into_parts();
        let (status, headers, trailers) = (parts.status.as_u16(), parts.headers, HeaderMap::new());
        Messages { status, headers, trailers, body, read: BytesMut::new() }
    }
}

impl Messages {
    /// The next message, or nothing at the end.
    pub async fn next(&mut self) -> Option<Bytes> {
        within("a message", async {
            loop {
                if let Some(&[0, a, b, c, d]) = self.read.first_chunk::<5>() {
                    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).expect("a length");
                    if self.read.len() >= length + 5 {
                        self.read.advance(5);
                        return Some(self.read.split_to(length).freeze());
                    }
                }
                match self.body.frame().await?.expect("the stream ends cleanly").into_data() {
                    Ok(bytes) => self.read.extend_from_slice(&bytes),
                    Err(frame) => self.trailers = frame.into_trailers().unwrap_or_default(),
                }
            }
        })
        .await
    }

    /// The code of its end, in the head of an answer without messages or after them.
    pub fn code(&self) -> Option<&str> {
        self.text("grpc-status")
    }

    /// A header, or what came in its place at the end.
    pub fn text(&self, name: &str) -> Option<&str> {
        let value = self.trailers.get(name).or_else(|| self.headers.get(name));
        value.and_then(|value| value.to_str().ok())
    }
}
