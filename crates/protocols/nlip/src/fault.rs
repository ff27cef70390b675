//! Faults in this protocol. A refusal has an HTTP status and an error message; a failed outcome is an error message under 200, since the
//! exchange itself succeeded. The standard fixes neither status codes nor an error body: the codes are our choice, the message type is that
//! of ECMA-432 clause 11. A text only says what is wrong and where.

use std::time::Duration;

use interlingua_model::{Fault, FaultKind, Feature, Json, Noun, Party, PeerId, Retry};
use serde_json::json;

use super::invalid::{Class, Invalid};

/// The HTTP status of a refusal.
pub fn status(fault: &Fault) -> u16 {
    match fault.kind {
        FaultKind::Malformed => 400,
        FaultKind::Unsupported(Feature::Media) => 415,
        FaultKind::Unsupported(
            Feature::Operation
            | Feature::Version
            | Feature::Extension
            | Feature::Push
            | Feature::ExtendedCard
            | Feature::SwitchedOff,
        )
        | FaultKind::InvalidInput => 422,
        FaultKind::Unauthenticated => 401,
        FaultKind::Denied => 403,
        FaultKind::NotFound(Noun::Skill | Noun::Task | Noun::Resource | Noun::Session) => 404,
        FaultKind::Conflict | FaultKind::AlreadyFinished => 409,
        FaultKind::TooLarge => 413,
        FaultKind::Busy if fault.origin == Party::Caller => 429,
        FaultKind::Busy | FaultKind::Unreachable => 503,
        FaultKind::Loop => 508,
        FaultKind::BadReply | FaultKind::OutcomeUnknown => 502,
        FaultKind::Deadline => 504,
        FaultKind::Internal => 500,
        // These are outcomes wherever they arise: the hub did its part.
        FaultKind::Unanswered | FaultKind::BudgetSpent | FaultKind::PeerFailed | FaultKind::PeerDeclined => 200,
    }
}

/// What goes into `Retry-After`.
pub fn retry_after(fault: &Fault) -> Option<Duration> {
    match fault.retry {
        Retry::After(span) => span,
        Retry::No | Retry::IfIdempotent => None,
    }
}

/// The content of `interlingua-fault`.
pub(super) fn structured(fault: &Fault) -> Json {
    let mut value = json!({"kind": fault.kind.as_str(), "retry": retry_text(fault.retry)});
    if let Some(detail) = detail(fault.kind) {
        value["detail"] = detail.into();
    }
    if let Some(span) = retry_after(fault) {
        value["retry_after_ms"] = u64::try_from(span.as_millis()).unwrap_or(u64::MAX).into();
    }
    if !fault.fields.is_empty() {
        value["fields"] =
            fault.fields.iter().map(|issue| json!({"path": &*issue.path, "problem": &*issue.problem})).collect();
    }
    value.into()
}

fn retry_text(retry: Retry) -> &'static str {
    match retry {
        Retry::No => "no",
        Retry::After(_) => "after",
        Retry::IfIdempotent => "if_idempotent",
    }
}

/// What the name of the kind leaves open.
fn detail(kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::NotFound(noun) => Some(match noun {
            Noun::Skill => "skill",
            Noun::Task => "task",
            Noun::Resource => "resource",
            Noun::Session => "session",
        }),
        FaultKind::Unsupported(feature) => Some(match feature {
            Feature::Operation => "operation",
            Feature::Media => "media",
            Feature::Version => "version",
            Feature::Extension => "extension",
            Feature::Push => "push",
            Feature::ExtendedCard => "extended_card",
            Feature::SwitchedOff => "switched_off",
        }),
        FaultKind::Malformed
        | FaultKind::Unauthenticated
        | FaultKind::Denied
        | FaultKind::InvalidInput
        | FaultKind::Unanswered
        | FaultKind::Conflict
        | FaultKind::AlreadyFinished
        | FaultKind::TooLarge
        | FaultKind::Busy
        | FaultKind::BudgetSpent
        | FaultKind::Loop
        | FaultKind::Unreachable
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline
        | FaultKind::Internal => None,
    }
}

/// A fault another hub told of. Its kind is kept; that it came from there is said.
pub(super) fn read(content: &Json, peer: &PeerId, text: &str) -> Option<Fault> {
    let word = |key: &str| content.get(key).and_then(|value| value.as_str());
    let kind = named(word("kind")?, word("detail"))?;
    let public: String = text.chars().take(400).collect();
    let mut fault = Fault::new(kind, Party::Peer(peer.clone()), public);
    if let Some(millis) = content.get("retry_after_ms").and_then(|value| value.as_u64()) {
        fault.retry = Retry::After(Some(Duration::from_millis(millis)));
    }
    Some(fault)
}

fn named(kind: &str, of: Option<&str>) -> Option<FaultKind> {
    FaultKind::all().find(|known| known.as_str() == kind && (of.is_none() || detail(*known) == of))
}

impl Invalid {
    /// The HTTP status: not JSON 400, not a message 422, too large 413.
    pub fn status(&self) -> u16 {
        match self.class() {
            Class::Malformed => 400,
            Class::Schema => 422,
            Class::TooLarge => 413,
        }
    }

    /// The refusal as a fault, its path as the field.
    pub fn fault(&self) -> Fault {
        let kind = match self.class() {
            Class::Malformed | Class::Schema => FaultKind::Malformed,
            Class::TooLarge => FaultKind::TooLarge,
        };
        let fault = Fault::caller(kind, self.to_string());
        if self.path.is_empty() { fault } else { fault.field(self.path.as_str(), self.problem.to_string()) }
    }

    /// How a WebSocket is closed when it is closed for this (RFC 6455 section 7.4.1).
    pub fn close_code(&self) -> u16 {
        match self.class() {
            Class::Malformed | Class::Schema => CLOSE_BAD_DATA,
            Class::TooLarge => CLOSE_TOO_BIG,
        }
    }
}

/// A kind of frame the end-point does not take: text where CBOR is spoken.
pub const CLOSE_UNSUPPORTED: u16 = 1003;
/// Data that is not what its kind says.
pub const CLOSE_BAD_DATA: u16 = 1007;
pub const CLOSE_TOO_BIG: u16 = 1009;
