//! How `/api` reports a refusal: an [`ErrorBody`]. Paths that belong to no protocol use this form too.

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use interlingua_model::Fault;

use crate::fault;
use crate::view::ErrorBody;
use interlingua_endpoint::error_format::{ErrorFormat, Farewell, refusal, sse_farewell};
use interlingua_endpoint::paths::PathRules;

pub const PATHS: PathRules = PathRules {
    error_format: format_of,
    is_upload: |path| path.starts_with("/api/artifacts/") && path.ends_with("/content"),
    takes_sessions: |path| path.starts_with("/api/"),
    ..PathRules::NONE
};

/// The error format of the hub's own interface.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    path.starts_with("/api/").then_some(&ApiErrors)
}

#[derive(Debug, Clone, Copy)]
pub struct ApiErrors;

impl ApiErrors {
    fn body(fault: &Fault) -> Bytes {
        serde_json::to_vec(&ErrorBody { error: fault.into() }).unwrap_or_default().into()
    }
}

impl ErrorFormat for ApiErrors {
    fn refuse(&self, fault: &Fault) -> Response {
        refusal(fault::status(fault).as_u16(), ApiErrors::body(fault), fault)
    }

    fn farewell(&self, fault: &Fault, head: &HeaderMap) -> Farewell {
        sse_farewell(&ApiErrors::body(fault), head)
    }
}
