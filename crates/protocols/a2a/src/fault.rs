//! The table of errors (section 5.4, as of 1.0.1), in the form of each binding.
//!
//! JSON-RPC answers with 200 and a code, HTTP with a status and `google.rpc.Status` as JSON, gRPC with a status and details. 0.3 has the
//! same codes and no `ErrorInfo`: over HTTP its clients read the `type` of the body, over gRPC the name before the message.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use interlingua_model::{Fault, FaultKind, Feature, FieldIssue, Noun, Party, Retry, Text};

use super::Version;
use super::invalid::{Invalid, Problem};
use super::method::Method;
use interlingua_wire::object::Object;

/// Whose reasons the specification's are.
pub const DOMAIN: &str = "a2a-protocol.org";
/// Whose the others are.
pub const OWN_DOMAIN: &str = "interlingua";

/// The codes of gRPC this table uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grpc {
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Unimplemented,
    Internal,
    Unavailable,
    Unauthenticated,
}

impl Grpc {
    pub fn number(self) -> u8 {
        match self {
            Grpc::InvalidArgument => 3,
            Grpc::DeadlineExceeded => 4,
            Grpc::NotFound => 5,
            Grpc::PermissionDenied => 7,
            Grpc::ResourceExhausted => 8,
            Grpc::FailedPrecondition => 9,
            Grpc::Unimplemented => 12,
            Grpc::Internal => 13,
            Grpc::Unavailable => 14,
            Grpc::Unauthenticated => 16,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Grpc::InvalidArgument => "INVALID_ARGUMENT",
            Grpc::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Grpc::NotFound => "NOT_FOUND",
            Grpc::PermissionDenied => "PERMISSION_DENIED",
            Grpc::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Grpc::FailedPrecondition => "FAILED_PRECONDITION",
            Grpc::Unimplemented => "UNIMPLEMENTED",
            Grpc::Internal => "INTERNAL",
            Grpc::Unavailable => "UNAVAILABLE",
            Grpc::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub rpc: i32,
    pub http: u16,
    pub grpc: Grpc,
    pub reason: Reason,
}

/// A name that programs can go by: the specification's, or one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Spec(&'static str),
    Own(&'static str),
}

const fn spec(rpc: i32, http: u16, grpc: Grpc, reason: &'static str) -> Row {
    Row { rpc, http, grpc, reason: Reason::Spec(reason) }
}

const fn own(rpc: i32, http: u16, grpc: Grpc, reason: &'static str) -> Row {
    Row { rpc, http, grpc, reason: Reason::Own(reason) }
}

const TASK_NOT_FOUND: Row = spec(-32001, 404, Grpc::NotFound, "TASK_NOT_FOUND");
const NOT_CANCELABLE: Row = spec(-32002, 400, Grpc::FailedPrecondition, "TASK_NOT_CANCELABLE");
const NO_PUSH: Row = spec(-32003, 400, Grpc::FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED");
const UNSUPPORTED: Row = spec(-32004, 400, Grpc::FailedPrecondition, "UNSUPPORTED_OPERATION");
const MEDIA: Row = spec(-32005, 400, Grpc::InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED");
const BAD_REPLY: Row = spec(-32006, 500, Grpc::Internal, "INVALID_AGENT_RESPONSE");
const NO_EXTENDED_CARD: Row = spec(-32007, 400, Grpc::FailedPrecondition, "EXTENDED_AGENT_CARD_NOT_CONFIGURED");
const EXTENSION: Row = spec(-32008, 400, Grpc::FailedPrecondition, "EXTENSION_SUPPORT_REQUIRED");
const VERSION: Row = spec(-32009, 400, Grpc::FailedPrecondition, "VERSION_NOT_SUPPORTED");
const PARSE: Row = own(-32700, 400, Grpc::InvalidArgument, "MALFORMED");
const REQUEST: Row = own(-32600, 400, Grpc::InvalidArgument, "MALFORMED");
const METHOD: Row = own(-32601, 404, Grpc::Unimplemented, "UNKNOWN_METHOD");
const PARAMS: Row = own(-32602, 400, Grpc::InvalidArgument, "INVALID_INPUT");

/// What a refusal is called. `method`: what was asked for; a task that is over refuses a cancel by another name than a message.
pub fn row(fault: &Fault, method: Option<Method>) -> Row {
    match fault.kind {
        FaultKind::Malformed => REQUEST,
        FaultKind::Unsupported(feature) => match feature {
            Feature::Operation | Feature::SwitchedOff => UNSUPPORTED,
            Feature::Media => MEDIA,
            Feature::Version => VERSION,
            Feature::Extension => EXTENSION,
            Feature::Push => NO_PUSH,
            Feature::ExtendedCard => NO_EXTENDED_CARD,
        },
        FaultKind::Unauthenticated => own(-32600, 401, Grpc::Unauthenticated, "UNAUTHENTICATED"),
        FaultKind::Denied => own(-32600, 403, Grpc::PermissionDenied, "DENIED"),
        FaultKind::NotFound(Noun::Skill) => own(-32602, 400, Grpc::InvalidArgument, "SKILL_NOT_FOUND"),
        FaultKind::NotFound(Noun::Task | Noun::Resource | Noun::Session) => TASK_NOT_FOUND,
        FaultKind::InvalidInput => PARAMS,
        FaultKind::Conflict => own(-32602, 400, Grpc::InvalidArgument, "CONFLICT"),
        FaultKind::AlreadyFinished if method == Some(Method::Cancel) => NOT_CANCELABLE,
        FaultKind::AlreadyFinished => UNSUPPORTED,
        FaultKind::TooLarge => own(-32600, 413, Grpc::ResourceExhausted, "TOO_LARGE"),
        FaultKind::Busy if fault.origin == Party::Caller => own(-32603, 429, Grpc::ResourceExhausted, "BUSY"),
        FaultKind::Busy => own(-32603, 503, Grpc::Unavailable, "BUSY"),
        FaultKind::Loop => own(-32004, 400, Grpc::FailedPrecondition, "LOOP_DETECTED"),
        FaultKind::Unreachable => own(-32603, 503, Grpc::Unavailable, "UNREACHABLE"),
        FaultKind::BadReply => BAD_REPLY,
        FaultKind::Deadline => own(-32603, 504, Grpc::DeadlineExceeded, "DEADLINE"),
        FaultKind::Unanswered
        | FaultKind::BudgetSpent
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::OutcomeUnknown
        | FaultKind::Internal => own(-32603, 500, Grpc::Internal, "INTERNAL"),
    }
}

/// An error as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub row: Row,
    pub message: Text,
    pub fields: Vec<FieldIssue>,
    pub retry: Option<Duration>,
}

impl Error {
    pub fn of(fault: &Fault, method: Option<Method>) -> Error {
        let retry = match (fault.kind, fault.retry) {
            (FaultKind::Busy, Retry::After(after)) => Some(after.unwrap_or(Duration::from_secs(1))),
            _ => None,
        };
        Error { row: row(fault, method), message: fault.public.clone(), fields: fault.fields.clone(), retry }
    }

    pub fn invalid(invalid: &Invalid) -> Error {
        let row = match &invalid.problem {
            Problem::Json(_) => PARSE,
            Problem::Version(_) | Problem::OtherVersion(..) => VERSION,
            Problem::Method(_) => METHOD,
            Problem::NoSuchTask => TASK_NOT_FOUND,
            Problem::Path => own(-32601, 404, Grpc::NotFound, "NOT_FOUND"),
            Problem::Protobuf(_)
            | Problem::Frame(_)
            | Problem::Shape(_)
            | Problem::NotAnObject
            | Problem::NotAnArray
            | Problem::NotAString
            | Problem::NotABool
            | Problem::NotANumber
            | Problem::NotATime
            | Problem::NotBase64
            | Problem::UnknownValue
            | Problem::Missing
            | Problem::Empty
            | Problem::OneOf(_)
            | Problem::PageSize
            | Problem::Cursor
            | Problem::Control
            | Problem::Priority => PARAMS,
        };
        let fields = match invalid.path.as_str() {
            "" => Vec::new(),
            path => vec![FieldIssue { path: path.into(), problem: invalid.problem.to_string().into() }],
        };
        Error { row, message: invalid.to_string().into(), fields, retry: None }
    }

    /// The `error` member of a JSON-RPC response.
    pub fn rpc(&self, version: Version) -> Bytes {
        let mut out = Vec::with_capacity(256);
        let mut object = Object::open(&mut out);
        object.key("code").extend_from_slice(self.row.rpc.to_string().as_bytes());
        object.text("message", &self.message);
        match version {
            Version::V1 => self.write_details(&mut object, "data"),
            Version::V03 => object.object("data", |data| data.text("reason", self.reason().0)),
        }
        object.finish();
        out.into()
    }

    /// The body of an HTTP error: `google.rpc.Status` (section 11.6). In 0.3 it has its name and message beside that.
    pub fn http(&self, version: Version) -> Bytes {
        let mut out = Vec::with_capacity(256);
        let mut object = Object::open(&mut out);
        match version {
            Version::V1 => {}
            Version::V03 => {
                object.text("type", self.name());
                object.text("message", &self.message);
            }
        }
        object.object("error", |error| {
            error.number("code", self.row.http.into());
            error.text("status", self.row.grpc.name());
            error.text("message", &self.message);
            self.write_details(error, "details");
        });
        object.finish();
        out.into()
    }

    /// The message of a status of gRPC. In 0.3 it begins with the error's name.
    pub fn status_message(&self, version: Version) -> Cow<'_, str> {
        match version {
            Version::V1 => Cow::Borrowed(&self.message),
            Version::V03 => Cow::Owned(format!("{}: {}", self.name(), self.message)),
        }
    }

    /// What the specification calls an error of this code (sections 8.1 and 8.2 of 0.3, 3.3.2 of 1.0).
    pub fn name(&self) -> &'static str {
        match self.row.rpc {
            -32001 => "TaskNotFoundError",
            -32002 => "TaskNotCancelableError",
            -32003 => "PushNotificationNotSupportedError",
            -32004 => "UnsupportedOperationError",
            -32005 => "ContentTypeNotSupportedError",
            -32006 => "InvalidAgentResponseError",
            // 0.3 called the card "authenticated extended"; clients of it know it by its newer name.
            -32007 => "ExtendedAgentCardNotConfiguredError",
            -32008 => "ExtensionSupportRequiredError",
            -32009 => "VersionNotSupportedError",
            -32700 => "JSONParseError",
            -32600 => "InvalidRequestError",
            -32601 => "MethodNotFoundError",
            -32602 => "InvalidParamsError",
            _ => "InternalError",
        }
    }

    /// Reason and domain.
    pub fn reason(&self) -> (&'static str, &'static str) {
        match self.row.reason {
            Reason::Spec(reason) => (reason, DOMAIN),
            Reason::Own(reason) => (reason, OWN_DOMAIN),
        }
    }

    fn write_details(&self, object: &mut Object<'_>, key: &str) {
        let violations = (!self.fields.is_empty()).then_some(Detail::BadRequest);
        let retry = self.retry.map(Detail::Retry);
        let details = [Some(Detail::Info), violations, retry].into_iter().flatten();
        object.array(key, details, |detail, out| {
            let mut object = Object::open(out);
            match detail {
                Detail::Info => {
                    let (reason, domain) = self.reason();
                    object.text("@type", "type.googleapis.com/google.rpc.ErrorInfo");
                    object.text("reason", reason);
                    object.text("domain", domain);
                    // The official client in Python hands on the metadata and nothing else of it.
                    object.object("metadata", |metadata| metadata.text("reason", reason));
                }
                Detail::BadRequest => {
                    object.text("@type", "type.googleapis.com/google.rpc.BadRequest");
                    object.array("fieldViolations", &self.fields, |field, out| {
                        let mut object = Object::open(out);
                        object.text("field", &field.path);
                        object.text("description", &field.problem);
                        object.finish();
                    });
                }
                Detail::Retry(after) => {
                    object.text("@type", "type.googleapis.com/google.rpc.RetryInfo");
                    object.text("retryDelay", &format!("{}.{:03}s", after.as_secs(), after.subsec_millis()));
                }
            }
            object.finish();
        });
    }
}

#[derive(Clone, Copy)]
enum Detail {
    Info,
    BadRequest,
    Retry(Duration),
}
