//! How A2A reports a refusal before a message is decoded, in each of its bindings.

use crate::{Version, grpc};
use axum::response::Response;
use http::HeaderMap;
use hyper::body::Frame;
use interlingua_model::Fault;

use super::inbound::{grpc_status, refuse_grpc, refuse_http, refuse_rpc};
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
            A2aErrors::Grpc(version) => return Farewell::Said(Frame::trailers(grpc_status(fault, version))),
        };
        sse_farewell(&message, head)
    }
}
