//! The table of errors, row by row (section 5.4 of 1.0.1).

use std::time::Duration;

use interlingua_model::{Fault, FaultKind, Feature, Noun, Party, Retry};
use serde_json::json;

use super::parsed;
use crate::Version;
use crate::fault::{Error, Grpc, Reason, row};
use crate::invalid::{Invalid, Problem};
use crate::method::Method;

#[test]
fn a_31_the_table_is_the_specifications() {
    use Feature::{ExtendedCard, Extension, Media, Operation, Push, Version};
    use Grpc::{FailedPrecondition, Internal, InvalidArgument, NotFound};
    for (kind, rpc, http, grpc, reason) in [
        (FaultKind::NotFound(Noun::Task), -32001, 404, NotFound, "TASK_NOT_FOUND"),
        (FaultKind::AlreadyFinished, -32002, 400, FailedPrecondition, "TASK_NOT_CANCELABLE"),
        (FaultKind::Unsupported(Push), -32003, 400, FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (FaultKind::Unsupported(Operation), -32004, 400, FailedPrecondition, "UNSUPPORTED_OPERATION"),
        (FaultKind::Unsupported(Media), -32005, 400, InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED"),
        (FaultKind::BadReply, -32006, 500, Internal, "INVALID_AGENT_RESPONSE"),
        (FaultKind::Unsupported(ExtendedCard), -32007, 400, FailedPrecondition, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
        (FaultKind::Unsupported(Extension), -32008, 400, FailedPrecondition, "EXTENSION_SUPPORT_REQUIRED"),
        (FaultKind::Unsupported(Version), -32009, 400, FailedPrecondition, "VERSION_NOT_SUPPORTED"),
    ] {
        let found = row(&Fault::caller(kind, "x"), Some(Method::Cancel));
        assert_eq!((found.rpc, found.http, found.grpc, found.reason), (rpc, http, grpc, Reason::Spec(reason)));
    }
    let sent = row(&Fault::caller(FaultKind::AlreadyFinished, "x"), Some(Method::Send));
    assert_eq!((sent.rpc, sent.reason), (-32004, Reason::Spec("UNSUPPORTED_OPERATION")));
}

#[test]
fn a_31_faults_the_specification_has_no_row_for_are_told_in_its_general_codes() {
    for (kind, rpc, http, grpc) in [
        (FaultKind::Malformed, -32600, 400, "INVALID_ARGUMENT"),
        (FaultKind::Unauthenticated, -32600, 401, "UNAUTHENTICATED"),
        (FaultKind::Denied, -32600, 403, "PERMISSION_DENIED"),
        (FaultKind::NotFound(Noun::Skill), -32602, 400, "INVALID_ARGUMENT"),
        (FaultKind::InvalidInput, -32602, 400, "INVALID_ARGUMENT"),
        (FaultKind::Conflict, -32602, 400, "INVALID_ARGUMENT"),
        (FaultKind::TooLarge, -32600, 413, "RESOURCE_EXHAUSTED"),
        (FaultKind::Busy, -32603, 429, "RESOURCE_EXHAUSTED"),
        (FaultKind::Unreachable, -32603, 503, "UNAVAILABLE"),
        (FaultKind::Deadline, -32603, 504, "DEADLINE_EXCEEDED"),
        (FaultKind::Internal, -32603, 500, "INTERNAL"),
    ] {
        let found = row(&Fault::caller(kind, "x"), None);
        assert_eq!((found.rpc, found.http, found.grpc.name()), (rpc, http, grpc), "{kind:?}");
    }
    assert_eq!(row(&Fault::new(FaultKind::Busy, Party::Hub, "x"), None).http, 503);
}

#[test]
fn a_30_errors_carry_their_reason_in_the_shape_of_the_binding() {
    let error = Error::of(&Fault::caller(FaultKind::NotFound(Noun::Task), "no such task"), None);
    let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org", "metadata": {"reason": "TASK_NOT_FOUND"}});
    assert_eq!(parsed(&error.rpc(Version::V1)), json!({"code": -32001, "message": "no such task", "data": [info]}));
    assert_eq!(
        parsed(&error.http(Version::V1)),
        json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "no such task", "details": [info]}})
    );
    let old = parsed(&error.rpc(Version::V03));
    assert_eq!(old, json!({"code": -32001, "message": "no such task", "data": {"reason": "TASK_NOT_FOUND"}}));
}

#[test]
fn a_27_a_31_clients_of_0_3_know_an_error_by_its_name_where_no_code_goes() {
    let error = Error::of(&Fault::caller(FaultKind::NotFound(Noun::Task), "no such task"), None);
    let body = parsed(&error.http(Version::V03));
    assert_eq!((&body["type"], &body["message"]), (&json!("TaskNotFoundError"), &json!("no such task")));
    assert_eq!(body["error"]["code"], 404, "and what it is in 1.0");
    assert_eq!(error.status_message(Version::V03), "TaskNotFoundError: no such task");
    assert_eq!(error.status_message(Version::V1), "no such task");
    for (code, name) in [
        (-32002, "TaskNotCancelableError"),
        (-32003, "PushNotificationNotSupportedError"),
        (-32004, "UnsupportedOperationError"),
        (-32005, "ContentTypeNotSupportedError"),
        (-32006, "InvalidAgentResponseError"),
        (-32007, "ExtendedAgentCardNotConfiguredError"),
        (-32700, "JSONParseError"),
        (-32600, "InvalidRequestError"),
        (-32601, "MethodNotFoundError"),
        (-32602, "InvalidParamsError"),
        (-32603, "InternalError"),
    ] {
        let mut error = error.clone();
        error.row.rpc = code;
        assert_eq!(error.name(), name);
    }
}

#[test]
fn a_30_what_is_wrong_with_a_field_and_when_to_come_back_are_details_of_their_own() {
    let error = Error::invalid(&Invalid::at("message.parts[0]", Problem::OneOf(2)));
    let told = parsed(&error.rpc(Version::V1));
    assert_eq!(told["code"], -32602);
    assert_eq!(told["data"][1]["fieldViolations"][0]["field"], "message.parts[0]");
    let busy = Fault::caller(FaultKind::Busy, "later").retry(Retry::After(Some(Duration::from_millis(1500))));
    assert_eq!(parsed(&Error::of(&busy, None).http(Version::V1))["error"]["details"][1]["retryDelay"], "1.500s");
}

#[test]
fn a_32_what_cannot_be_read_has_a_code_of_its_own() {
    let json = interlingua_model::json::Reader::new(b"\xff", 1).expect_err("not UTF-8");
    for (problem, code) in [
        (Problem::Json(json), -32700),
        (Problem::Method("x".to_owned()), -32601),
        (Problem::Version("9.9".to_owned()), -32009),
        (Problem::Missing, -32602),
    ] {
        assert_eq!(Error::invalid(&Invalid::whole(problem)).row.rpc, code);
    }
}
