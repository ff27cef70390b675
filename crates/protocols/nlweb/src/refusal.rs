//! How NLWeb reports a refusal before a question is decoded: an answer that says what is wrong.

use crate::encode::{Envelope, Stand, whole};
use crate::{Dialect, fault};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use interlingua_model::Fault;

use interlingua_endpoint::error_format::{ErrorFormat, Farewell, refusal, sse_farewell};
use interlingua_endpoint::guard::FORM;
use interlingua_endpoint::paths::PathRules;

pub const PATHS: PathRules = PathRules { error_format: format_of, takes, ..PathRules::NONE };

/// The error format of NLWeb's own paths.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    is_own(path).then_some(&NlwebErrors)
}

fn is_own(path: &str) -> bool {
    let one = path.strip_prefix("/agents/").and_then(|rest| rest.split_once('/')).map(|(_, below)| below);
    matches!(path, "/ask" | "/ask/" | "/await" | "/sites" | "/who") || one == Some("ask")
}

/// A page can send a form without asking, but not without its Origin, which the guard looks at; and what a form asks here a link
/// asks as well.
fn takes(path: &str, media: &str) -> bool {
    media.eq_ignore_ascii_case(FORM) && is_own(path) && path != "/await"
}

#[derive(Debug, Clone, Copy)]
pub struct NlwebErrors;

impl NlwebErrors {
    fn message(fault: &Fault) -> Bytes {
        whole(&Envelope::unread(Dialect::Named, "".into()), &Stand::Refused(fault)).to_string().into()
    }
}

impl ErrorFormat for NlwebErrors {
    fn refuse(&self, fault: &Fault) -> Response {
        refusal(status(fault), NlwebErrors::message(fault), fault)
    }

    fn farewell(&self, fault: &Fault, head: &HeaderMap) -> Farewell {
        sse_farewell(&NlwebErrors::message(fault), head)
    }
}

/// A request refused before it was read is never an answer.
fn status(fault: &Fault) -> u16 {
    match fault::status(fault) {
        200 => 503,
        status => status,
    }
}
