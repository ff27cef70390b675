//! The guard: one layer before every path, WebSocket and `/api` included. Strangers' bytes are not parsed beyond it.
//!
//! It stops what a web page could make a visitor's browser send: a foreign `Host` (DNS rebinding), a foreign `Origin`, a
//! cross-site fetch, and the content types a page may send without asking (RFC 9110, Fetch "simple requests").

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Method};
use interlingua_core::{Fault, FaultKind, Feature, Subject};
use interlingua_protocols::a2a;

use super::access::Shown;
use super::gate::Gate;
use super::shape::Shape;
use super::{broken, lasting};
use crate::edge::Shared;
use crate::hub::audit::AuditLine;
use crate::telemetry::meters::Phase;

/// What forms send.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// The headers that decide whether a request is taken, and in whose name. Each is sent once (RFC 9110 section 5.3).
const JUDGED: [HeaderName; 8] = [
    HOST,
    ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
    HeaderName::from_static("sec-fetch-mode"),
    HeaderName::from_static("sec-fetch-dest"),
    CONTENT_TYPE,
    CONTENT_ENCODING,
    AUTHORIZATION,
];

/// What the guard compares with; made from configuration.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Names a request may give as its host besides loopback's; empty on a listener that is not loopback means any.
    pub hosts: Vec<String>,
    /// Only loopback listeners: then a foreign `Host` is a rebound name.
    pub loopback_only: bool,
}

impl Guard {
    /// The layer's function.
    pub async fn check(self, shared: Arc<Shared>, request: Request, next: Next) -> Response {
        let hub = &shared.hub;
        let mut laps = hub.meters.laps();
        let (path, headers) = (request.uri().path(), request.headers());
        let judged = self.judge(request.method(), path, request.uri().authority(), headers);
        laps.done(Phase::Accept);
        match judged {
            Ok(()) => {
                let uri = request.uri().clone();
                let shown = request.extensions().get().map(|connection| Shown::of(*connection, headers));
                // A file goes to disk as it comes.
                let admitted = if is_upload(uri.path()) {
                    Ok((request, None))
                } else {
                    shared.room.admit(request, || shown.as_ref().map(|shown| Gate::new(&shared, shown)))
                };
                let (request, _held) = match admitted {
                    Ok(admitted) => admitted,
                    Err(fault) => {
                        hub.audit
                            .write(AuditLine::new("accept", Subject::Anonymous).on(uri.path()).refused(fault.kind));
                        return Shape::of(uri.path()).refuse(&fault);
                    }
                };
                let response = broken::answered(uri.path(), next.run(request)).await;
                match shown {
                    Some(shown) => lasting::watched(&shared, shown, uri.path(), response),
                    None => response,
                }
            }
            Err(fault) => {
                hub.audit.write(AuditLine::new("accept", Subject::Anonymous).on(path).refused(fault.kind));
                Shape::of(path).refuse(&fault)
            }
        }
    }

    pub(crate) fn judge(
        &self,
        method: &Method,
        path: &str,
        authority: Option<&http::uri::Authority>,
        headers: &HeaderMap,
    ) -> Result<(), Fault> {
