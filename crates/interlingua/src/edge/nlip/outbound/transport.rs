//! One message to the agent and one back, whichever the binding.

use std::time::Duration;

use bytes::Bytes;
use interlingua_protocols::nlip::wire::Message;
use interlingua_protocols::nlip::{Invalid, Limits, cbor, json};

use super::http::Http;
use super::legs::LegKey;
use super::socket::Sockets;

/// What came back. A WebSocket has no status: what arrives there is 200.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) message: Result<Message, Invalid>,
    pub(super) retry_after: Option<Duration>,
}

impl Received {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Nothing came back.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) begun: Begun,
    pub(super) why: Why,
    pub(super) cause: Box<dyn std::error::Error + Send + Sync>,
}

/// Could the agent have seen the message?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    No,
    Perhaps,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// No connection, or it broke.
    Connection,
    /// Its certificate was refused. Trying again changes nothing.
    Certificate,
    /// More came back than is read.
    TooLarge,
}

impl Lost {
    pub(super) fn new(begun: Begun, why: Why, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Lost {
        Lost { begun, why, cause: cause.into() }
    }

    /// Before anything was sent.
    pub(super) fn unconnected(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Lost {
        let cause = cause.into();
        let why = if is_certificate(&*cause) { Why::Certificate } else { Why::Connection };
        Lost { begun: Begun::No, why, cause }
    }
}

/// Looks for a refused certificate behind an error. An I/O error hides what it wraps from `source`, so it is asked itself.
fn is_certificate(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        if let Some(inner) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref)
            && is_certificate(inner)
        {
            return true;
        }
        next = error.source();
    }
    false
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
    ) -> Result<Received, Lost> {
        match &self.sockets {
            Some(sockets) => sockets.exchange(leg, message).await,
            None => self.http.exchange(message, headers).await,
        }
    }
}

/// What is read of a reply.
pub(super) const LIMITS: Limits = Limits { bytes: 64 << 20, depth: 128, submessages: 100_000 };

pub(super) fn from_json(body: &Bytes) -> Result<Message, Invalid> {
    json::decode(body, &LIMITS)
}

pub(super) fn from_cbor(body: &Bytes) -> Result<Message, Invalid> {
    cbor::decode(body, &LIMITS)
}
