//! How MCP reports a refusal before a message is decoded: a JSON-RPC error without an id.

use crate::Version;
use crate::fault::{Spelling, Verb, error, spelling, write};
use axum::response::Response;
use http::HeaderMap;
use interlingua_model::{Fault, FaultKind};
use interlingua_wire::rpc;

use interlingua_endpoint::error_format::{ErrorFormat, Farewell, is_event_stream, refusal};
use interlingua_endpoint::paths::PathRules;

pub const PATHS: PathRules = PathRules { error_format: format_of, has_metadata: is_own, ..PathRules::NONE };

/// The error format of MCP's own paths.
pub fn format_of(path: &str) -> Option<&'static dyn ErrorFormat> {
    is_own(path).then_some(&McpErrors)
}

fn is_own(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/") || (path.starts_with("/agents/") && path.ends_with("/mcp"))
}

#[derive(Debug, Clone, Copy)]
pub struct McpErrors;

impl ErrorFormat for McpErrors {
    fn refuse(&self, fault: &Fault) -> Response {
        let (code, status) = code_and_status(fault);
        let mut body = Vec::new();
        write(None, &error(fault, code), &mut body);
        refusal(status, body.into(), fault)
    }

    /// An error there answers a request by its id; a stream may just end, and the next request is told why.
    fn farewell(&self, _: &Fault, head: &HeaderMap) -> Farewell {
        if is_event_stream(head) { Farewell::Silent } else { Farewell::Broken }
    }
}

/// A request refused before it was read: there is no call whose outcome it could be.
fn code_and_status(fault: &Fault) -> (i64, u16) {
    match spelling(fault, Version::LATEST, Verb::Other) {
        _ if fault.kind == FaultKind::Denied => (rpc::INVALID_REQUEST, 403),
        Spelling::Error { code, status } => (code, status),
        Spelling::Outcome => (rpc::INTERNAL_ERROR, 500),
    }
}
