//! How NLIP reports a refusal before a message is decoded: a message that says what is wrong.

use crate::encode::{ReplyTo, refused};
use crate::{fault, json, upload};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use interlingua_model::Fault;

use interlingua_endpoint::error_format::{ErrorFormat, Farewell, refusal, sse_farewell};
use interlingua_endpoint::paths::PathRules;

pub const PATHS: PathRules =
    PathRules { error_format: format_of, is_upload: |path| path.starts_with(upload::PATH), ..PathRules::NONE };

/// The error format of NLIP's own paths.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    let own = path == "/nlip" || path.starts_with("/nlip/");
    (own || (path.starts_with("/agents/") && path.ends_with("/nlip"))).then_some(&NlipErrors)
}

#[derive(Debug, Clone, Copy)]
pub struct NlipErrors;

impl NlipErrors {
    fn message(fault: &Fault) -> Bytes {
        json::encode(&refused(fault, &[], ReplyTo::default()), json::Keys::Lower).into()
    }
}

impl ErrorFormat for NlipErrors {
    fn refuse(&self, fault: &Fault) -> Response {
        refusal(fault::status(fault), NlipErrors::message(fault), fault)
    }

    fn farewell(&self, fault: &Fault, head: &HeaderMap) -> Farewell {
        sse_farewell(&NlipErrors::message(fault), head)
    }
}
