//! How the routing envelope reports a refusal before a message is decoded: a list of one error message.

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use interlingua_core::Fault;
use interlingua_protocols::envelope::encode::{self, Stamp};
use interlingua_protocols::envelope::fault::{Spelling, spelling};
use interlingua_protocols::envelope::wire::Head;

use crate::endpoint::error_format::{ErrorFormat, Farewell, refusal, sse_farewell};
use crate::endpoint::paths::PathRules;
use crate::hub::clock::Clock;
use crate::hub::entropy;

pub const PATHS: PathRules = PathRules { error_format: format_of, ..PathRules::NONE };

/// The error format of the envelope's own path.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    (path == "/nlip/route").then_some(&EnvelopeErrors)
}

#[derive(Debug, Clone, Copy)]
pub struct EnvelopeErrors;

impl EnvelopeErrors {
    fn message(fault: &Fault) -> Bytes {
        let stamp = Stamp { random: entropy::bits(), now: Clock::start().now() };
        encode::refuse(&Head::default(), fault, stamp).to_bytes()
    }
}

impl ErrorFormat for EnvelopeErrors {
    fn refuse(&self, fault: &Fault) -> Response {
        let body = [b"[", &*EnvelopeErrors::message(fault), b"]"].concat();
        refusal(status(fault), body.into(), fault)
    }

    fn farewell(&self, fault: &Fault, head: &HeaderMap) -> Farewell {
        sse_farewell(&EnvelopeErrors::message(fault), head)
    }
}

/// A message refused whole is an error message: there is no tool call whose outcome it could be.
pub(super) fn status(fault: &Fault) -> u16 {
    match spelling(fault.kind) {
        Spelling::Error(status) => status,
        Spelling::Outcome => 403,
    }
}
