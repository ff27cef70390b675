//! Upgrades a request to a WebSocket: HTTP/1.1 upgrade (RFC 6455 section 4.2) and HTTP/2 extended CONNECT (RFC 8441).

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use interlingua_model::{Fault, FaultKind, Feature, Retry};
use tokio_websockets::{Limits, ServerBuilder, WebSocketStream};

use crate::connection_limits::{ConnectionLimits, Place};
use crate::counted::{Allowance, Counted};

pub type Socket = WebSocketStream<Counted<TokioIo<Upgraded>>>;

/// Where a connection came in, put into the extensions of requests that may become a socket.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// Absent on the socket in the data directory.
    pub address: Option<IpAddr>,
    pub places: ConnectionLimits,
}

/// What RFC 6455 section 1.3 appends to the key.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// When somebody who found no place may try again.
const AGAIN: Duration = Duration::from_secs(5);

/// The response that agrees, and the socket that follows it.
pub struct Agreed {
    pub response: Response,
    /// Of the other end; absent on the socket in the data directory.
    pub address: Option<IpAddr>,
    on_upgrade: OnUpgrade,
    place: Option<Place>,
}

impl std::fmt::Debug for Agreed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Agreed")
    }
}

/// Agrees to a WebSocket, or says what is wrong with the request.
pub fn agree(request: &mut Request) -> Result<Agreed, Fault> {
    let mut response = Response::new(axum::body::Body::empty());
    let arrival = request.extensions_mut().remove::<Arrival>();
    let address = arrival.as_ref().and_then(|arrival| arrival.address);
    let mut place = None;
    if request.version() == Version::HTTP_2 {
        let asked = request.extensions().get::<hyper::ext::Protocol>().map(hyper::ext::Protocol::as_str);
        if request.method() != Method::CONNECT || asked != Some("websocket") {
            return Err(not_asked());
        }
        // One of many on its connection: it takes a place as a connection of its own would.
        if let Some(arrival) = arrival {
            place = Some(arrival.places.try_take(address).ok_or_else(no_place)?);
        }
    } else {
        let accept = accept(request.method(), request.headers())?;
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    Ok(Agreed { response, address, on_upgrade: hyper::upgrade::on(request), place })
}

impl Agreed {
    /// The response to send, and the socket once it was sent; messages of more than `limit` bytes end it.
    pub fn split(self, limit: usize, allowance: Allowance) -> (Response, impl Future<Output = Option<Socket>> + Send) {
        let socket = async move {
            let upgraded = self.on_upgrade.await.ok()?;
            let limits = Limits::default().max_payload_len(Some(limit));
            let counted = Counted::new(TokioIo::new(upgraded), allowance, self.place);
            Some(ServerBuilder::new().limits(limits).serve(counted))
        };
        (self.response, socket)
    }
}

/// There are as many sockets as there may be, of all or of this address.
pub fn no_place() -> Fault {
    Fault::hub(FaultKind::Busy, "there is no place for one more WebSocket").retry(Retry::After(Some(AGAIN)))
}

fn not_asked() -> Fault {
    Fault::caller(FaultKind::Unsupported(Feature::Operation), "this path speaks WebSocket: ask for the upgrade")
}

pub(crate) fn accept(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, Fault> {
    let has = |name: &http::HeaderName, token: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(',').any(|part| part.trim().eq_ignore_ascii_case(token))
    };
    if *method != Method::GET || !has(&UPGRADE, "websocket") || !has(&CONNECTION, "upgrade") {
        return Err(not_asked());
    }
    if !has(&SEC_WEBSOCKET_VERSION, "13") {
        return Err(Fault::caller(FaultKind::Unsupported(Feature::Version), "only WebSocket version 13 is spoken"));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if STANDARD.decode(key).map(|key| key.len()).ok() != Some(16) {
        return Err(Fault::caller(FaultKind::Malformed, "Sec-WebSocket-Key must be 16 bytes in base64"));
    }
    let mut digest = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY);
    digest.update(key);
    digest.update(GUID);
    HeaderValue::from_str(&STANDARD.encode(digest.finish())).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accept_value_is_that_of_the_standards_example() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("upgrade", "WebSocket"),
            ("connection", "keep-alive, Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] {
            headers.insert(name, value.parse().expect("a header"));
        }
        assert_eq!(accept(&Method::GET, &headers).expect("agreed"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        headers.insert("sec-websocket-version", "8".parse().expect("a header"));
        assert_eq!(accept(&Method::GET, &headers).expect_err("refused").kind, FaultKind::Unsupported(Feature::Version));
        assert!(accept(&Method::GET, &HeaderMap::new()).is_err());
    }
}
