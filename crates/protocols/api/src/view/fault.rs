//! JSON of failures: of a request, and of an exchange.

use interlingua_model::{Fault, Retry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of every response that is not 2xx.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    pub error: FaultView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultView {
    /// Kind of failure, from a closed list, such as `not_found`, `invalid_input`, `busy`, `deadline`.
    pub kind: String,
    pub message: String,
    /// Origin of the failure: `caller`, `hub`, or the name of a peer.
    pub origin: String,
    /// Problems of single arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldView>,
    pub retry: RetryView,
    /// If `retry` is `later`: wait at least this many milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The peer's own error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_code: Option<String>,
    /// The exit code of the command line for this failure.
    pub exit_code: u8,
}

/// Whether the same call may be retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryView {
    No,
    Later,
    /// Only if the call is idempotent.
    IfIdempotent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldView {
    pub path: String,
    pub problem: String,
}

impl From<&Fault> for FaultView {
    fn from(fault: &Fault) -> FaultView {
        let (retry, retry_after_ms) = match fault.retry {
            Retry::No => (RetryView::No, None),
            Retry::After(span) => (RetryView::Later, span.and_then(|span| u64::try_from(span.as_millis()).ok())),
            Retry::IfIdempotent => (RetryView::IfIdempotent, None),
        };
        let fields = fault.fields.iter();
        FaultView {
            kind: fault.kind.as_str().into(),
            message: fault.public.to_string(),
            origin: super::party(&fault.origin),
            fields: fields.map(|f| FieldView { path: f.path.to_string(), problem: f.problem.to_string() }).collect(),
            retry,
            retry_after_ms,
            peer_code: fault.peer_code.as_ref().map(ToString::to_string),
            exit_code: fault.kind.exit_code(),
        }
    }
}

impl From<&Fault> for ErrorBody {
    fn from(fault: &Fault) -> ErrorBody {
        ErrorBody { error: fault.into() }
    }
}
