//! One HTTP connection at a time, without pooling or retries: a test sees exactly what the hub answered to what it sent.

use std::{net::SocketAddr, sync::Arc};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, pki_types::ServerName};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use crate::within;

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// What came after the body.
    pub trailers: HeaderMap,
}

impl Answer {
    /// The body as JSON; panics with the body when it is not.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("status {}, not JSON ({error}): {}", self.status, self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// One header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A request with a body; add headers with the builder of [`request`] when more is needed.
pub fn post(path: &str, content_type: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let builder = request(Method::POST, path).header("content-type", content_type);
    builder.body(Full::new(body.into())).expect("path and content type are plain text")
}

/// Starts a request.
pub fn request(method: Method, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path)
}

/// One connection to one server.
#[derive(Debug)]
pub struct Connection {
    sender: Sender,
    authority: String,
    /// Shown with every request that says nothing of who it is from.
    bearer: Option<String>,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// HTTP/1.1 over TCP.
    pub async fn http1(address: SocketAddr) -> Self {
        Self { sender: http1_over(connect(address).await).await, authority: address.to_string(), bearer: None }
    }

    /// As [`Connection::http1`], for a server that may not be there.
    pub async fn try_http1(address: SocketAddr) -> std::io::Result<Self> {
        let stream = within("a connection", TcpStream::connect(address)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { sender: http1_over(stream).await, authority: address.to_string(), bearer: None })
    }

    /// HTTP/2 over TCP with prior knowledge.
    pub async fn h2c(address: SocketAddr) -> Self {
        Self { sender: http2_over(connect(address).await).await, authority: address.to_string(), bearer: None }
    }

    /// TLS, then HTTP/2 or HTTP/1.1 as the server chooses by ALPN. An error is the handshake's.
    pub async fn tls(address: SocketAddr, name: &str, mut config: ClientConfig) -> std::io::Result<Self> {
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let server = ServerName::try_from(name.to_owned()).expect("a server name or an IP address");
        let connecting = TlsConnector::from(Arc::new(config)).connect(server, connect(address).await);
        let stream = within("a TLS handshake", connecting).await?;
        let chosen_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let sender = if chosen_http2 { http2_over(stream).await } else { http1_over(stream).await };
        Ok(Self { sender, authority: format!("{name}:{}", address.port()), bearer: None })
    }

    /// Shows this token with every request that has no credential of its own and is no browser's.
    pub fn showing(mut self, token: Option<String>) -> Self {
        self.bearer = token.map(|token| format!("Bearer {token}"));
        self
    }

    /// Whether the connection speaks HTTP/2.
    pub fn is_http2(&self) -> bool {
        match self.sender {
            Sender::Http1(_) => false,
            Sender::Http2(_) => true,
        }
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Answer {
        self.try_send(request).await.unwrap_or_else(|error| panic!("no answer: {error:?}"))
    }

    /// As [`Connection::send`], for a server that may close instead of answering.
    pub async fn try_send(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, hyper::Error> {
        within("an answer", async {
            let (parts, body) = self.open(request).await?.into_parts();
            let body = body.collect().await?;
            let trailers = body.trailers().cloned().unwrap_or_default();
            let (status, headers) = (parts.status.as_u16(), parts.headers);
            Ok(Answer { status, headers, body: body.to_bytes(), trailers })
        })
        .await
    }

    /// Sends a request and hands over the answer as server-sent events, as they come.
    pub async fn events(&mut self, request: Request<Full<Bytes>>) -> Events {
        let response = within("the head of an answer", self.open(request)).await.expect("an answer begins");
        Events { status: response.status().as_u16(), body: response.into_body(), read: BytesMut::new() }
    }

    /// Sends a request; the body of its answer is still to come.
    pub(crate) async fn open(&mut self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>, hyper::Error> {
        if let Some(bearer) = &self.bearer
            && says_nothing(request.headers().keys().map(http::HeaderName::as_str))
        {
            request.headers_mut().insert("authorization", bearer.parse().expect("a token is a header value"));
        }
        match &mut self.sender {
            Sender::Http1(sender) => {
                if !request.headers().contains_key("host") {
                    let host = self.authority.parse().expect("an address is a header value");
                    request.headers_mut().insert("host", host);
                }
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                let absolute = format!("http://{}{}", self.authority, request.uri());
                *request.uri_mut() = absolute.parse().expect("an authority and a path make a URI");
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

/// Neither a credential, nor the signs of a browser: a page has no token of anybody's.
pub(crate) fn says_nothing<'a>(headers: impl IntoIterator<Item = &'a str>) -> bool {
    headers.into_iter().all(|name| {
        let name = name.to_ascii_lowercase();
        let page = name == "origin" || (name.starts_with("sec-fetch-") && name != "sec-fetch-mode");
        !page && name != "authorization" && name != "x-api-key"
    })
}

/// The `data` of server-sent events, one after another.
#[derive(Debug)]
pub struct Events {
    pub status: u16,
    body: Incoming,
    read: BytesMut,
}

impl Events {
    /// The next event's data, or nothing at the end of the stream. Comments and keep-alives are passed over.
    pub async fn next(&mut self) -> Option<String> {
        self.numbered().await.map(|(_, data)| data)
    }

    /// As [`Events::next`], with the event's id; empty when it has none.
    pub async fn numbered(&mut self) -> Option<(String, String)> {
        within("an event", async {
            loop {
                if let Some(end) = self.read.windows(2).position(|pair| pair == b"\n\n") {
                    let block = self.read.split_to(end + 2);
                    let block = String::from_utf8_lossy(&block);
                    if let Some(data) = data_of(&block) {
                        let id = block.lines().find_map(|line| line.strip_prefix("id:")).unwrap_or_default();
                        return Some((id.trim().to_owned(), data));
                    }
                    continue;
                }
                let frame = self.body.frame().await?.expect("the stream ends cleanly");
                if let Ok(bytes) = frame.into_data() {
                    self.read.extend_from_slice(&bytes);
                }
            }
        })
        .await
    }
}

fn data_of(block: &str) -> Option<String> {
    let lines: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim_start).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

async fn connect(address: SocketAddr) -> TcpStream {
    let stream = within("a connection", TcpStream::connect(address)).await;
    let stream = stream.unwrap_or_else(|error| panic!("nothing listens on {address}: {error}"));
    stream.set_nodelay(true).expect("TCP has the option");
    stream
}

async fn http1_over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Sender {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1 has no handshake");
    drive(connection);
    Sender::Http1(sender)
}

async fn http2_over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Sender {
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = within("an HTTP/2 preface", handshake).await.expect("an HTTP/2 server");
    drive(connection);
    Sender::Http2(sender)
}

/// Runs a connection beside the test until its sender is dropped.
#[expect(clippy::disallowed_methods, reason = "ends with the sender it serves; the test kit has no supervisor")]
fn drive(connection: impl Future<Output = Result<(), hyper::Error>> + Send + 'static) {
    tokio::spawn(async move {
        // An error is seen by the request that was under way.
        let _seen_by_the_request = connection.await;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lines_of_an_event_are_joined_and_comments_are_no_event() {
        assert_eq!(data_of("event: x\ndata: {\"a\":\ndata: 1}\n\n").as_deref(), Some("{\"a\":\n1}"));
        assert_eq!(data_of(": keep-alive\n\n"), None);
    }
}
