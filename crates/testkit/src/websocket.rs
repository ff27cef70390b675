//! A WebSocket client that sends and receives whole messages.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use http::header::AUTHORIZATION;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Limits, MaybeTlsStream, Message, WebSocketStream};

use crate::within;

/// An open WebSocket.
#[derive(Debug)]
pub struct WebSocket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl WebSocket {
    /// Opens a WebSocket at `path` with no further headers; panics when the server refuses.
    pub async fn open(address: SocketAddr, path: &str) -> Self {
        Self::open_with(address, path, None).await
    }

    /// The same, with a token.
    pub async fn open_with(address: SocketAddr, path: &str, token: Option<&str>) -> Self {
        Self::try_open(address, path, token).await.unwrap_or_else(|error| panic!("no WebSocket at {path}: {error}"))
    }

    /// As [`WebSocket::open_with`], for a server that may refuse.
    pub async fn try_open(
        address: SocketAddr,
        path: &str,
        token: Option<&str>,
    ) -> Result<Self, tokio_websockets::Error> {
        let uri = format!("ws://{address}{path}");
        let mut builder = ClientBuilder::new().limits(Limits::unlimited()).uri(&uri).expect("an address and a path");
        if let Some(token) = token {
            let bearer = format!("Bearer {token}").parse().expect("a token is a header value");
            builder = builder.add_header(AUTHORIZATION, bearer).expect("no header of the handshake's own");
        }
        let (stream, _response) = within("a WebSocket handshake", builder.connect()).await?;
        Ok(Self { stream })
    }

    /// Sends a text message.
    pub async fn send_text(&mut self, text: impl Into<String>) {
        self.send(Message::text(text.into())).await;
    }

    /// Sends a binary message.
    pub async fn send_binary(&mut self, bytes: Vec<u8>) {
        self.send(Message::binary(bytes)).await;
    }

    /// Sends any message, a ping for one.
    pub async fn send(&mut self, message: Message) {
        within("a message to be taken", self.stream.send(message)).await.expect("the connection is open");
    }

    /// The next message, control messages included; nothing when the connection has ended.
    pub async fn next(&mut self) -> Option<Message> {
        within("a message", self.stream.next()).await.and_then(Result::ok)
    }

    /// The next text or binary message; panics when the connection ends first.
    pub async fn next_data(&mut self) -> Message {
        loop {
            let message = self.next().await.expect("a message before the end of the connection");
            if message.is_text() || message.is_binary() {
                return message;
            }
        }
    }

    /// The next message as JSON; panics when it is not a text message with JSON in it.
    pub async fn next_json(&mut self) -> Value {
        let message = self.next_data().await;
        let text = message.as_text().unwrap_or_else(|| panic!("a binary message where text was due: {message:?}"));
        serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
    }
}
