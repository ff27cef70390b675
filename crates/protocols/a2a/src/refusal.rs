//! How A2A reports a refusal before a message is decoded, in each of its bindings.

use crate::fault::Error;
use crate::{Version, grpc};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use hyper::body::Frame;
use interlingua_model::{Fault, FaultKind, Feature};
use interlingua_wire::rpc::Id;

use interlingua_endpoint::error_format::{ErrorFormat, Farewell, refusal, sse_farewell};
use interlingua_endpoint::paths::PathRules;

pub const PATHS: PathRules = PathRules {
    error_format: format_of,
    takes: |path, media| grpc::is_media(media) && grpc::is_path(path),
    ..PathRules::NONE
};

/// JSON-RPC at an agent's address, HTTP with JSON below it; cards are plain JSON; gRPC has paths of its own.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    match grpc::version_of(path) {
        Some(Version::V1) => return Some(&A2aErrors::Grpc(Version::V1)),
        Some(Version::V03) => return Some(&A2aErrors::Grpc(Version::V03)),
        None => {}
    }
    let below = match path.strip_prefix("/agents/") {
        Some(rest) => rest.split_once('/')?.1,
        None => path.strip_prefix('/')?,
    };
    match below {
        "a2a" | "a2a/" => Some(&A2aErrors::Rpc),
        ".well-known/agent-card.json" => Some(&A2aErrors::Http(Version::V1)),
        _ if below.starts_with("a2a/v1/") => Some(&A2aErrors::Http(Version::V03)),
        _ if below.starts_with("a2a/") => Some(&A2aErrors::Http(Version::V1)),
        _ => None,
    }
}

/// By the binding that a path belongs to.
#[derive(Debug, Clone, Copy)]
pub enum A2aErrors {
    Rpc,
    Http(Version),
    Grpc(Version),
}

impl ErrorFormat for A2aErrors {
    fn refuse(&self, fault: &Fault) -> Response {
        let (status, body) = match *self {
            A2aErrors::Rpc => refuse_rpc(fault),
            A2aErrors::Http(version) => refuse_http(fault, version),
            A2aErrors::Grpc(version) => return refuse_grpc(fault, version),
        };
        refusal(status, body, fault)
    }

    fn farewell(&self, fault: &Fault, head: &HeaderMap) -> Farewell {
        let (_, message) = match *self {
            A2aErrors::Rpc => refuse_rpc(fault),
            A2aErrors::Http(version) => refuse_http(fault, version),
            A2aErrors::Grpc(version) => {
                return Farewell::Said(Frame::trailers(grpc_status(&Error::of(fault, None), version)));
            }
        };
        sse_farewell(&message, head)
    }
}

/// An error as a response of JSON-RPC.
pub(crate) fn error_frame(error: &Error, id: &Id, version: Version) -> Bytes {
    let told = error.rpc(version);
    let mut out = Vec::with_capacity(told.len() + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_str().as_bytes());
    out.extend_from_slice(b",\"error\":");
    out.extend_from_slice(&told);
    out.push(b'}');
    out.into()
}

/// A refusal of JSON-RPC before anything was read.
fn refuse_rpc(fault: &Fault) -> (u16, Bytes) {
    let error = Error::of(fault, None);
    let status = match fault.kind {
        FaultKind::Unsupported(Feature::Media) => 415,
        _ => error.row.http,
    };
    (status, error_frame(&error, &Id::NULL, Version::V1))
}

/// A refusal of HTTP with JSON before anything was read.
fn refuse_http(fault: &Fault, version: Version) -> (u16, Bytes) {
    let mut error = Error::of(fault, None);
    if fault.kind == FaultKind::Unsupported(Feature::Media) {
        error.row.http = 415;
    }
    (error.row.http, error.http(version))
}

/// The head of an answer in gRPC; a status may follow at once or after the messages.
pub(crate) fn grpc_head(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(grpc::MEDIA));
    response
}

/// An error as the status of gRPC.
pub(crate) fn grpc_status(error: &Error, version: Version) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("grpc-status", HeaderValue::from(u16::from(error.row.grpc.number())));
    let texts = [
        ("grpc-message", grpc::escape(&error.status_message(version))),
        ("grpc-status-details-bin", grpc::details(error)),
    ];
    for (name, text) in texts {
        headers.extend(HeaderValue::from_str(&text).ok().map(|value| (http::HeaderName::from_static(name), value)));
    }
    headers
}

/// Nothing but a status.
pub(crate) fn grpc_status_alone(error: &Error, version: Version) -> Response {
    let mut response = grpc_head(Body::empty());
    response.headers_mut().extend(grpc_status(error, version));
    response
}

/// A refusal before anything was read. What is no gRPC at all is told so by HTTP.
pub(crate) fn refuse_grpc(fault: &Fault, version: Version) -> Response {
    let mut response = grpc_status_alone(&Error::of(fault, None), version);
    if fault.kind == FaultKind::Unsupported(Feature::Media) {
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    response
}
