//! How the routing envelope reports a refusal before a message is decoded: a list of one error message.

use crate::encode::{self, Stamp};
use crate::fault::{Spelling, spelling};
use crate::wire::Head;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use interlingua_model::Fault;

use interlingua_endpoint::error_format::{ErrorFormat, Farewell, refusal, sse_farewell};
use interlingua_endpoint::paths::PathRules;
use interlingua_hub::clock::Clock;
use interlingua_hub::entropy;

pub const PATHS: PathRules = PathRules { error_format: format_of, ..PathRules::NONE };

/// The error format of the envelope's own paths.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    let of_peer = |path: &str| {
        let name = path.strip_prefix("/agents/").and_then(|rest| rest.strip_suffix("/nlip/route"));
        name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
    };
    (path == "/nlip/route" || of_peer(path)).then_some(&EnvelopeErrors)
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
