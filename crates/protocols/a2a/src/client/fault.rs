//! Error mapping of agents' errors. The name of an error counts first, then its code, then the status: the statuses of some changed between
//! 1.0.0 and 1.0.1, their names did not (section 5.4).

use std::time::Duration;

use interlingua_model::json::Tree;
use interlingua_model::{Fault, FaultKind, Feature, Json, Noun, Party, PeerId, Retry, Text};

use crate::grpc;
use interlingua_wire::rpc;

/// A peer's words, no more of them than belong into a fault.
const LONGEST: usize = 400;

/// An agent said no to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub why: Why,
    pub message: Text,
    /// Its own code or status.
    pub code: Text,
    pub retry: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    TaskNotFound,
    NotCancelable,
    /// Also: the task is over.
    Unsupported,
    Media,
    BadReply,
    Extension,
    Version,
    /// There is nothing of this name or at this path.
    Method,
    Params,
    Malformed,
    Unauthenticated,
    Denied,
    SkillNotFound,
    TooLarge,
    Busy,
    Loop,
    Deadline,
    Internal,
}

impl Refusal {
    pub fn of_rpc(error: &rpc::Error) -> Refusal {
        let details = error.data.as_ref().map(Json::tree);
        let named = details.and_then(reason).and_then(of_reason);
        Refusal {
            why: named.unwrap_or_else(|| of_code(error.code)),
            message: bounded(&error.message),
            code: error.code.to_string().into(),
            retry: details.and_then(retry),
        }
    }

    /// `status`: of the response; an event of a stream has none. The body may be anything.
    pub fn of_http(status: Option<u16>, body: &Json, retry_after: Option<Duration>) -> Refusal {
        let error = body.get("error").filter(|error| error.is_object()).unwrap_or(body.tree());
        let details = error.get("details").or_else(|| error.get("data"));
        let told = error.get("code").and_then(Tree::as_i64);
        let typed = || body.get("type").and_then(Tree::as_str).and_then(of_name);
        let named = details.and_then(reason).and_then(of_reason).or_else(typed);
        let coded = told.filter(|code| *code < 0).map(of_code);
        let status = status.or_else(|| told.and_then(|code| u16::try_from(code).ok()));
        let says = |key: &str| error.get(key).and_then(Tree::as_str);
        Refusal {
            why: named.or(coded).unwrap_or_else(|| of_status(status.unwrap_or(500))),
            message: bounded(says("message").or_else(|| says("detail")).unwrap_or_default()),
            code: status.map(|status| status.to_string()).unwrap_or_default().into(),
            retry: details.and_then(retry).or(retry_after),
        }
    }

    /// A status with a body that says nothing.
    pub fn of_status(status: u16, retry_after: Option<Duration>) -> Refusal {
        Refusal::of_http(Some(status), &Json::null(), retry_after)
    }

    /// The status of a call of gRPC, as its headers or trailers say it; `details` is `grpc-status-details-bin`.
    pub fn of_grpc(code: u32, message: &str, details: Option<&str>) -> Refusal {
        let message = grpc::unescape(message);
        let typed = || message.split_once(": ").and_then(|(name, _)| of_name(name));
        let named = details.and_then(grpc::reason).and_then(|reason| of_reason(&reason)).or_else(typed);
        Refusal {
            why: named.unwrap_or_else(|| of_grpc_code(code)),
            message: bounded(&message),
            code: code.to_string().into(),
            retry: details.and_then(grpc::retry),
        }
    }

    /// Nobody has looked at the request: another interface may.
    pub fn is_elsewhere(&self) -> bool {
        match self.why {
            Why::Version | Why::Method => true,
            Why::TaskNotFound
            | Why::NotCancelable
            | Why::Unsupported
            | Why::Media
            | Why::BadReply
            | Why::Extension
            | Why::Params
            | Why::Malformed
            | Why::Unauthenticated
            | Why::Denied
            | Why::SkillNotFound
            | Why::TooLarge
            | Why::Busy
            | Why::Loop
            | Why::Deadline
            | Why::Internal => false,
        }
    }

    /// May the agent have begun what it then failed at?
    pub fn is_outcome(&self) -> bool {
        matches!(self.why, Why::Internal | Why::Deadline | Why::BadReply)
    }

    pub fn fault(&self, peer: &PeerId) -> Fault {
        let (kind, what) = match self.why {
            Why::TaskNotFound => (FaultKind::PeerFailed, "does not know the task any more"),
            Why::NotCancelable => (FaultKind::PeerFailed, "cannot cancel it"),
            Why::Unsupported => (FaultKind::Unsupported(Feature::Operation), "does not do this"),
            Why::Media => (FaultKind::InvalidInput, "does not take content of this kind"),
            Why::BadReply => (FaultKind::BadReply, "had no valid answer"),
            Why::Extension => (FaultKind::Unsupported(Feature::Extension), "insists on an extension"),
            Why::Version => (FaultKind::Unsupported(Feature::Version), "speaks another version"),
            Why::Method => (FaultKind::BadReply, "does not answer as its card says"),
            Why::Params => (FaultKind::InvalidInput, "says the message is not valid"),
            Why::Malformed => (FaultKind::BadReply, "could not read the message"),
            Why::Unauthenticated => (FaultKind::Unreachable, "wants credentials that the hub does not have"),
            Why::Denied => (FaultKind::PeerDeclined, "declined"),
            Why::SkillNotFound => (FaultKind::NotFound(Noun::Skill), "does not have this skill any more"),
            Why::TooLarge => (FaultKind::TooLarge, "says the message is too large"),
            Why::Busy => (FaultKind::Busy, "is busy"),
            Why::Loop => (FaultKind::Loop, "has had this call before"),
            Why::Deadline => (FaultKind::Deadline, "took too long"),
            Why::Internal => (FaultKind::PeerFailed, "failed"),
        };
        let public = match &*self.message {
            "" => format!("{peer} {what}"),
            message => format!("{peer} {what}: {message}"),
        };
        let mut fault = Fault::new(kind, Party::Peer(peer.clone()), public);
        fault.peer_code = Some(self.code.clone());
        match kind {
            FaultKind::Busy => fault.retry(Retry::After(self.retry)),
            // Trying again does not bring a credential.
            FaultKind::Unreachable => fault.retry(Retry::No),
            _ => fault,
        }
    }
}

/// The reason of the first `ErrorInfo`; 0.3 of a hub says it in `data`.
fn reason(details: &Tree) -> Option<&str> {
    let info = details.as_array().into_iter().flatten().chain([details]);
    info.filter_map(|detail| detail.get("reason")?.as_str()).next()
}

/// `google.rpc.RetryInfo`.
fn retry(details: &Tree) -> Option<Duration> {
    let delay = details.as_array()?.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn of_reason(reason: &str) -> Option<Why> {
    Some(match reason {
        "TASK_NOT_FOUND" => Why::TaskNotFound,
        "TASK_NOT_CANCELABLE" => Why::NotCancelable,
        "PUSH_NOTIFICATION_NOT_SUPPORTED" | "UNSUPPORTED_OPERATION" | "EXTENDED_AGENT_CARD_NOT_CONFIGURED" => {
            Why::Unsupported
        }
        "CONTENT_TYPE_NOT_SUPPORTED" => Why::Media,
        "INVALID_AGENT_RESPONSE" => Why::BadReply,
        "EXTENSION_SUPPORT_REQUIRED" => Why::Extension,
        "VERSION_NOT_SUPPORTED" => Why::Version,
        "UNKNOWN_METHOD" => Why::Method,
        "INVALID_INPUT" | "CONFLICT" => Why::Params,
        "MALFORMED" => Why::Malformed,
        "UNAUTHENTICATED" => Why::Unauthenticated,
        "DENIED" => Why::Denied,
        "SKILL_NOT_FOUND" => Why::SkillNotFound,
        "TOO_LARGE" => Why::TooLarge,
        "BUSY" | "UNREACHABLE" => Why::Busy,
        "LOOP_DETECTED" => Why::Loop,
        "DEADLINE" => Why::Deadline,
        _ => return None,
    })
}

/// How servers of 0.3 name an error where no code goes: as `type` over HTTP, before the message over gRPC.
fn of_name(name: &str) -> Option<Why> {
    Some(match name {
        "TaskNotFoundError" => Why::TaskNotFound,
        "TaskNotCancelableError" => Why::NotCancelable,
        "PushNotificationNotSupportedError"
        | "UnsupportedOperationError"
        | "ExtendedAgentCardNotConfiguredError"
        | "AuthenticatedExtendedCardNotConfiguredError" => Why::Unsupported,
        "ContentTypeNotSupportedError" => Why::Media,
        "InvalidAgentResponseError" => Why::BadReply,
        "ExtensionSupportRequiredError" => Why::Extension,
        "VersionNotSupportedError" => Why::Version,
        "MethodNotFoundError" => Why::Method,
        "InvalidParamsError" => Why::Params,
        "InvalidRequestError" | "JSONParseError" => Why::Malformed,
        "InternalError" => Why::Internal,
        _ => return None,
    })
}

fn of_code(code: i64) -> Why {
    match code {
        -32001 => Why::TaskNotFound,
        -32002 => Why::NotCancelable,
        -32003 | -32004 | -32007 => Why::Unsupported,
        -32005 => Why::Media,
        -32006 => Why::BadReply,
        -32008 => Why::Extension,
        -32009 => Why::Version,
        rpc::METHOD_NOT_FOUND => Why::Method,
        rpc::INVALID_PARAMS => Why::Params,
        rpc::PARSE_ERROR | rpc::INVALID_REQUEST => Why::Malformed,
        _ => Why::Internal,
    }
}

fn of_status(status: u16) -> Why {
    match status {
        400 | 422 => Why::Params,
        401 => Why::Unauthenticated,
        403 => Why::Denied,
        300..=399 | 404 | 405 | 501 => Why::Method,
        408 | 504 => Why::Deadline,
        413 => Why::TooLarge,
        415 => Why::Media,
        429 | 503 => Why::Busy,
        _ => Why::Internal,
    }
}

/// The codes of gRPC that mean something by themselves.
fn of_grpc_code(code: u32) -> Why {
    match code {
        3 | 11 => Why::Params,
        4 => Why::Deadline,
        5 => Why::TaskNotFound,
        7 => Why::Denied,
        8 | 14 => Why::Busy,
        9 => Why::Unsupported,
        12 => Why::Method,
        16 => Why::Unauthenticated,
        _ => Why::Internal,
    }
}

pub(super) fn bounded(text: &str) -> Text {
    text.chars().take(LONGEST).collect::<String>().into()
}
