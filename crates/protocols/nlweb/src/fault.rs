//! Faults in this protocol: a code, and an HTTP status for refusals. An exchange that was begun and failed is a failure under 200, as the
//! specification has it.

use interlingua_model::{Fault, FaultKind, Feature, Noun, Party, PeerId};

/// The code of a failure.
pub fn code(fault: &Fault) -> &'static str {
    match fault.kind {
        FaultKind::Malformed | FaultKind::InvalidInput => "INVALID_REQUEST",
        FaultKind::Unsupported(_) => "UNSUPPORTED",
        FaultKind::Unauthenticated => "UNAUTHORIZED",
        FaultKind::Denied => "FORBIDDEN",
        FaultKind::NotFound(_) => "NOT_FOUND",
        FaultKind::Unanswered => "UNANSWERED",
        FaultKind::Conflict => "CONFLICT",
        FaultKind::AlreadyFinished => "ALREADY_FINISHED",
        FaultKind::TooLarge => "TOO_LARGE",
        FaultKind::Busy if fault.origin == Party::Caller => "RATE_LIMITED",
        FaultKind::Busy | FaultKind::Unreachable => "UNAVAILABLE",
        FaultKind::BudgetSpent => "BUDGET_SPENT",
        FaultKind::Loop => "LOOP_DETECTED",
        FaultKind::PeerFailed | FaultKind::BadReply => "UPSTREAM_ERROR",
        FaultKind::PeerDeclined => "DECLINED",
        FaultKind::OutcomeUnknown => "OUTCOME_UNKNOWN",
        FaultKind::Deadline => "TIMEOUT",
        FaultKind::Internal => "INTERNAL_ERROR",
    }
}

/// The HTTP status of a refusal. What was begun and failed is 200 wherever it arises.
pub fn status(fault: &Fault) -> u16 {
    match fault.kind {
        FaultKind::Malformed | FaultKind::InvalidInput | FaultKind::Unsupported(_) => 400,
        FaultKind::Unauthenticated => 401,
        FaultKind::Denied => 403,
        FaultKind::NotFound(Noun::Skill | Noun::Task | Noun::Resource | Noun::Session) => 404,
        FaultKind::Conflict => 409,
        FaultKind::TooLarge => 413,
        FaultKind::Busy if fault.origin == Party::Caller => 429,
        FaultKind::Busy => 503,
        FaultKind::Internal => 500,
        FaultKind::Unanswered
        | FaultKind::AlreadyFinished
        | FaultKind::BudgetSpent
        | FaultKind::Loop
        | FaultKind::Unreachable
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline => 200,
    }
}

/// What a failure that another hub told us is: its codes are ours.
pub fn of_hubs_code(peer: &PeerId, code: &str, message: &str) -> Fault {
    let fault = of_code(peer, code, message);
    let kind = match code {
        "UNSUPPORTED" => FaultKind::Unsupported(Feature::Operation),
        "FORBIDDEN" => FaultKind::Denied,
        "UNANSWERED" => FaultKind::Unanswered,
        "CONFLICT" => FaultKind::Conflict,
        "TOO_LARGE" => FaultKind::TooLarge,
        "BUDGET_SPENT" => FaultKind::BudgetSpent,
        "LOOP_DETECTED" => FaultKind::Loop,
        "DECLINED" => FaultKind::PeerDeclined,
        "OUTCOME_UNKNOWN" => FaultKind::OutcomeUnknown,
        _ => return fault,
    };
    Fault { kind, retry: kind.retry(), ..fault }
}

/// What a failure that somebody else told us is.
pub fn of_code(peer: &PeerId, code: &str, message: &str) -> Fault {
    let kind = match code {
        "INVALID_REQUEST" | "MISSING_FIELD" | "INVALID_ACTION" => FaultKind::InvalidInput,
        "UNAUTHORIZED" | "FORBIDDEN" => FaultKind::PeerDeclined,
        "NOT_FOUND" => FaultKind::NotFound(Noun::Resource),
        "RATE_LIMITED" | "UNAVAILABLE" => FaultKind::Busy,
        "TIMEOUT" => FaultKind::Deadline,
        _ => FaultKind::PeerFailed,
    };
    let text: String = match message.trim() {
        "" => "the site failed and did not say why".to_owned(),
        message => message.chars().take(500).collect(),
    };
    let mut fault = Fault::new(kind, Party::Peer(peer.clone()), text);
    fault.peer_code = Some(code.chars().take(60).collect::<String>().into());
    fault
}
