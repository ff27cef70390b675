//! The HTTP status of a refusal, from the table of faults (column HTTP). A failure of an exchange that ran is an outcome, not a refusal: it
//! is answered with 200 and reported in the body.

use http::StatusCode;
use interlingua_model::{Fault, FaultKind, Feature, Party};

pub fn status(fault: &Fault) -> StatusCode {
    match fault.kind {
        FaultKind::Malformed => StatusCode::BAD_REQUEST,
        FaultKind::Unsupported(Feature::Media) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        FaultKind::Unsupported(
            Feature::Operation
            | Feature::Version
            | Feature::Extension
            | Feature::Push
            | Feature::ExtendedCard
            | Feature::SwitchedOff,
        )
        | FaultKind::InvalidInput
        | FaultKind::Unanswered => StatusCode::UNPROCESSABLE_ENTITY,
        FaultKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        FaultKind::Denied => StatusCode::FORBIDDEN,
        FaultKind::NotFound(_) => StatusCode::NOT_FOUND,
        FaultKind::Conflict | FaultKind::AlreadyFinished => StatusCode::CONFLICT,
        FaultKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        FaultKind::Busy if fault.origin == Party::Caller => StatusCode::TOO_MANY_REQUESTS,
        FaultKind::Busy | FaultKind::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
        FaultKind::BudgetSpent => StatusCode::PAYMENT_REQUIRED,
        FaultKind::Loop => StatusCode::LOOP_DETECTED,
        FaultKind::PeerFailed | FaultKind::PeerDeclined | FaultKind::BadReply | FaultKind::OutcomeUnknown => {
            StatusCode::BAD_GATEWAY
        }
        FaultKind::Deadline => StatusCode::GATEWAY_TIMEOUT,
        FaultKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::status;
    use interlingua_model::{Fault, FaultKind, Feature, Noun, Party};

    #[test]
    fn refusals_have_the_status_of_the_table() {
        let of = |kind, origin| status(&Fault::new(kind, origin, "")).as_u16();
        let table = [
            (FaultKind::Malformed, Party::Caller, 400),
            (FaultKind::Unsupported(Feature::Operation), Party::Caller, 422),
            (FaultKind::Unsupported(Feature::Media), Party::Caller, 415),
            (FaultKind::Unauthenticated, Party::Caller, 401),
            (FaultKind::Denied, Party::Caller, 403),
            (FaultKind::NotFound(Noun::Skill), Party::Caller, 404),
            (FaultKind::NotFound(Noun::Task), Party::Caller, 404),
            (FaultKind::InvalidInput, Party::Caller, 422),
            (FaultKind::Conflict, Party::Caller, 409),
            (FaultKind::AlreadyFinished, Party::Caller, 409),
            (FaultKind::TooLarge, Party::Caller, 413),
            (FaultKind::Busy, Party::Caller, 429),
            (FaultKind::Busy, Party::Hub, 503),
            (FaultKind::Loop, Party::Hub, 508),
            (FaultKind::Unreachable, Party::Peer("p".into()), 503),
            (FaultKind::BadReply, Party::Peer("p".into()), 502),
            (FaultKind::OutcomeUnknown, Party::Hub, 502),
            (FaultKind::Deadline, Party::Hub, 504),
            (FaultKind::Internal, Party::Hub, 500),
        ];
        for (kind, origin, expected) in table {
            assert_eq!(of(kind, origin), expected, "{kind:?}");
        }
    }
}
