//! Out-of-band upload of large content (ECMA-430 clause 6.4): asks the agent for an address, uploads there, and refers to it. An agent that
//! names no address gets the content inside the message.
//!
//! The address must be the agent's own: an agent cannot make the hub send content to another machine.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::upload;
use crate::wire::Message;
use ::http::{Method, Uri};
use bytes::Bytes;
use futures_util::TryStreamExt;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use interlingua_model::content::INLINE_LIMIT;
use interlingua_model::{Blob, Body, Digest, Fault, FaultKind, Part};
use tokio::time::Instant;

use super::peer::OutboundCall;
use super::transport::{LIMITS, Received};
use interlingua_hub::pieces;
use interlingua_net::client::call_failure::CallFailure;
use interlingua_net::client::health::refused;
use interlingua_net::client::http::{Body as Sending, whole};

/// How long an agent that names no place is not asked again.
const REMEMBERED: Duration = Duration::from_secs(600);
/// In a message content is spelt in base64, a third longer.
const MOST_INLINE: u64 = (LIMITS.bytes as u64) / 4 * 3;

/// What is known of the agent's ways.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    not_before: Mutex<Option<Instant>>,
}

impl Uploads {
    fn may_ask(&self) -> bool {
        let not_before = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        not_before.is_none_or(|not_before| Instant::now() >= not_before)
    }

    fn declined(&self) {
        *self.not_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + REMEMBERED);
    }
}

impl OutboundCall {
    /// Sends the large ones ahead and leaves their addresses in their place; what stays is brought inside.
    pub(super) async fn place(&mut self, parts: &mut [Part]) -> Result<(), CallFailure> {
        for part in parts {
            let Body::Blob(blob) = &part.body else { continue };
            let blob = blob.clone();
            if length(&blob) > INLINE_LIMIT as u64
                && let Some(address) = self.ask_place().await?
                && self.upload(&address, &blob).await?
            {
                part.body = Body::Link;
                part.uri = Some(address.to_string().into());
            } else if let Blob::Stored { digest, len } = blob {
                part.body = Body::Blob(Blob::Inline(self.read(digest, len).await?));
            }
        }
        Ok(())
    }

    async fn ask_place(&mut self) -> Result<Option<Uri>, CallFailure> {
        if !self.peer.uploads.may_ask() {
            return Ok(None);
        }
        let question = upload::ask(self.jar.all().cloned());
        let received = self.exchange(&question, true).await?;
        let reply = received.message.ok().filter(|_| (200..300).contains(&received.status));
        let named = match &reply {
            Some(reply) => {
                self.take_tokens(reply).await?;
                upload::address(reply).and_then(|uri| self.own(&uri))
            }
            None => None,
        };
        if named.is_none() {
            self.peer.uploads.declined();
        }
        Ok(named)
    }

    /// The place that the agent named, if it is the agent's own.
    fn own(&self, given: &str) -> Option<Uri> {
        self.peer
            .own
            .place(given)
            .inspect_err(|elsewhere| refused(&self.hub, &self.peer.name, &elsewhere.to_string()))
            .ok()
    }

    /// True when the agent has it. One that says that it takes a POST instead is sent that; one that refuses gets it inline.
    async fn upload(&mut self, to: &Uri, blob: &Blob) -> Result<bool, CallFailure> {
        for method in [Method::PUT, Method::POST] {
            let body = self.body(blob);
            let sent = self.peer.transport.http.upload(method, to, length(blob), body).await;
            match sent {
                Ok(received) if received.wants_post => {}
                Ok(received) => return self.verify(&received, blob),
                Err(lost) => {
                    tracing::warn!(event = "peer_upload_failed", peer = %self.peer.name, cause = %lost.cause, "an upload to the peer failed; the content is sent inline");
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }

    /// An agent that says what it stored must have stored what was sent.
    #[expect(clippy::result_large_err, reason = "how every call of a peer ends; made once a call")]
    fn verify(&self, received: &Received, blob: &Blob) -> Result<bool, CallFailure> {
        if !received.is_success() {
            return Ok(false);
        }
        let told = received.message.as_ref().ok().and_then(stored_digest);
        match told {
            Some(told) if told != digest(blob) => {
                let text = format!("{} stored something else than it was sent", self.peer.name);
                let origin = interlingua_model::Party::Peer(self.peer.name.clone());
                Err(CallFailure::Failed(Fault::new(FaultKind::BadReply, origin, text)))
            }
            Some(_) | None => Ok(true),
        }
    }

    fn body(&self, blob: &Blob) -> Sending {
        match blob {
            Blob::Inline(bytes) => whole(bytes.clone()),
            Blob::Stored { digest, .. } => {
                let pieces = pieces(self.hub.blobs().clone(), *digest);
                StreamBody::new(pieces.map_ok(Frame::data)).boxed_unsync()
            }
        }
    }

    async fn read(&self, digest: Digest, len: u64) -> Result<Bytes, CallFailure> {
        if len > MOST_INLINE {
            let text = format!("{} takes no uploads, and {len} bytes are too many for a message", self.peer.name);
            return Err(CallFailure::Refused(Fault::caller(FaultKind::TooLarge, text)));
        }
        let limit = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = self.hub.blobs().read(digest, 0, limit).await.map_err(Fault::from)?;
        Ok(bytes)
    }
}

fn length(blob: &Blob) -> u64 {
    match blob {
        Blob::Inline(bytes) => bytes.len() as u64,
        Blob::Stored { len, .. } => *len,
    }
}

fn digest(blob: &Blob) -> Digest {
    match blob {
        Blob::Inline(bytes) => Digest::of(bytes),
        Blob::Stored { digest, .. } => *digest,
    }
}

/// `sha256` in a structured part, as hubs answer an upload.
fn stored_digest(reply: &Message) -> Option<Digest> {
    reply.all().find_map(|said| said.content.as_json(LIMITS.depth)?.get("sha256")?.as_str()?.parse().ok())
}
