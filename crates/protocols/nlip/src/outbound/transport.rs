//! Sends one message to the agent and reads one back, with either binding.

use std::time::Duration;

use crate::wire::Message;
use crate::{Invalid, Limits, cbor, json};
use bytes::Bytes;

use super::http::Http;
use super::legs::LegKey;
use super::socket::Sockets;
use interlingua_net::client::transport_error::TransportError;
use interlingua_net::large;

/// What came back. A WebSocket has no status: what arrives there is 200.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) message: Result<Message, Invalid>,
    pub(super) retry_after: Option<Duration>,
    /// The method was refused, and a POST would not be.
    pub(super) wants_post: bool,
}

impl Received {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The two bindings. HTTP is there for both: uploads and probes go by it.
#[derive(Debug)]
pub(super) struct Transport {
    pub(super) http: Http,
    pub(super) sockets: Option<Sockets>,
}

impl Transport {
    /// Headers go with a message only over HTTP.
    pub(super) fn carries_headers(&self) -> bool {
        self.sockets.is_none()
    }

    pub(super) async fn exchange(
        &self,
        leg: &LegKey,
        message: &Message,
        headers: &[(&'static str, String)],
    ) -> Result<Received, TransportError> {
        match &self.sockets {
            Some(sockets) => sockets.exchange(leg, message).await,
            None => self.http.exchange(message, headers).await,
        }
    }
}

/// What is read of a reply.
pub(super) const LIMITS: Limits = Limits { bytes: 64 << 20, depth: 128, submessages: 100_000 };

pub(super) fn from_json(body: &Bytes) -> Result<Message, Invalid> {
    large::beside(body.len(), || json::decode(body, &LIMITS))
}

pub(super) fn from_cbor(body: &Bytes) -> Result<Message, Invalid> {
    large::beside(body.len(), || cbor::decode(body, &LIMITS))
}
