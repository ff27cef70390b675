//! Failures: of a request, and of an exchange.

use interlingua_model::{Fault, Retry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of every answer that is not 2xx.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    pub error: FaultView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultView {
    /// What kind of failure: a closed list, such as `not_found`, `invalid_input`, `busy`, `deadline`.
    pub kind: String,
    pub message: String,
    /// Whose it is: `caller`, `hub`, or the name of a peer.
    pub origin: String,
    /// What is wrong with single arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldView>,
    pub retry: RetryView,
    /// Not before so many milliseconds, when `retry` is `later`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The peer's own code for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_code: Option<String>,
    /// The exit code of the command line for it.
    pub exit_code: u8,
}

/// May the same be tried again?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryView {
    No,
    Later,
    /// When doing it twice is as good as once.
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
