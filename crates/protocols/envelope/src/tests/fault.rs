use bytes::Bytes;
use interlingua_model::{FaultKind, Feature, Noun};
use serde_json::json;

use super::{read, request};
use crate::fault::{Spelling, code, spelling};
use crate::wire::{self, Limits};

/// The envelope's column of the fault table, row by row.
#[test]
fn the_fault_table_is_that_of_the_model() {
    let table = [
        (FaultKind::Malformed, Spelling::Error(400), "malformed"),
        (FaultKind::Unsupported(Feature::Operation), Spelling::Error(422), "unsupported"),
        (FaultKind::Unsupported(Feature::Media), Spelling::Error(415), "unsupported"),
        (FaultKind::Unsupported(Feature::Version), Spelling::Error(422), "unsupported"),
        (FaultKind::Unsupported(Feature::SwitchedOff), Spelling::Error(422), "disabled"),
        (FaultKind::Unauthenticated, Spelling::Error(401), "unauthenticated"),
        (FaultKind::Denied, Spelling::Outcome, "denied"),
        (FaultKind::NotFound(Noun::Skill), Spelling::Outcome, "not_found"),
        (FaultKind::NotFound(Noun::Task), Spelling::Error(404), "not_found"),
        (FaultKind::NotFound(Noun::Resource), Spelling::Error(404), "not_found"),
        (FaultKind::NotFound(Noun::Session), Spelling::Error(404), "session_expired"),
        (FaultKind::InvalidInput, Spelling::Outcome, "invalid_input"),
        (FaultKind::Unanswered, Spelling::Outcome, "unanswered"),
        (FaultKind::Conflict, Spelling::Error(409), "conflict"),
        (FaultKind::AlreadyFinished, Spelling::Error(409), "already_finished"),
        (FaultKind::TooLarge, Spelling::Error(413), "too_large"),
        (FaultKind::Busy, Spelling::Error(429), "busy"),
        (FaultKind::BudgetSpent, Spelling::Outcome, "budget_spent"),
        (FaultKind::Loop, Spelling::Error(400), "loop"),
        (FaultKind::Unreachable, Spelling::Outcome, "unreachable"),
        (FaultKind::PeerFailed, Spelling::Outcome, "peer_failed"),
        (FaultKind::PeerDeclined, Spelling::Outcome, "peer_declined"),
        (FaultKind::BadReply, Spelling::Outcome, "bad_reply"),
        (FaultKind::OutcomeUnknown, Spelling::Outcome, "outcome_unknown"),
        (FaultKind::Deadline, Spelling::Outcome, "timeout"),
        (FaultKind::Internal, Spelling::Error(500), "internal"),
    ];
    for (kind, expected, word) in table {
        assert_eq!((spelling(kind), code(kind)), (expected, word), "{kind:?}");
    }
}

#[test]
fn an_unreadable_message_is_refused_with_its_own_status() {
    let status = |frame: String, limits: Limits| {
        let rejected = wire::read(&Bytes::from(frame), &limits).expect_err("refused");
        spelling(rejected.invalid.fault().kind).http_status()
    };
    let with = |changes| request(changes).to_string();
    let all = Limits::default();
    assert_eq!(status("{".to_owned(), all), 400);
    assert_eq!(status(with(json!({"control": {"priority": 99}})), all), 400);
    assert_eq!(status(with(json!({"control": {"message_type": "shout"}})), all), 400);
    assert_eq!(status(with(json!({"format": {"schema_version": "2.0"}})), all), 422);
    assert_eq!(status(with(json!({"format": {"compression": "gzip"}})), all), 415);
    assert_eq!(status(with(json!({})), Limits { bytes: 10, ..all }), 413);
}

#[test]
fn a_bad_member_is_named_and_not_repeated() {
    let rejected = read(&request(json!({"control": {"timeout": "hunter2"}}))).expect_err("refused");
    let fault = rejected.invalid.fault();
    assert_eq!(&*fault.fields[0].path, "control.timeout");
    assert!(!fault.public.contains("hunter2"), "{fault}");
}
