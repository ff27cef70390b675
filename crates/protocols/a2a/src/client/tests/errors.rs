//! The table of errors, read by name, by code and by status.

use std::time::Duration;

use interlingua_model::{FaultKind, Retry};

use super::*;
use crate::Version;
use crate::client::decode;
use crate::client::fault::{Refusal, Why};
use crate::fault::Error;
use crate::grpc;
use crate::method::Method;
use crate::wire::{TaskState, Update};

fn info(reason: &str) -> Value {
    json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}])
}

fn http(status: u16, body: &Value) -> Why {
    Refusal::of_http(Some(status), &body.clone().into(), None).why
}

#[test]
fn a_31_an_error_is_known_by_its_name_whatever_its_status() {
    // The statuses of 1.0.0 and of 1.0.1.
    for (statuses, reason, why) in [
        ([409, 400], "TASK_NOT_CANCELABLE", Why::NotCancelable),
        ([415, 400], "CONTENT_TYPE_NOT_SUPPORTED", Why::Media),
        ([502, 500], "INVALID_AGENT_RESPONSE", Why::BadReply),
        ([404, 404], "TASK_NOT_FOUND", Why::TaskNotFound),
        ([501, 400], "UNSUPPORTED_OPERATION", Why::Unsupported),
        ([501, 400], "VERSION_NOT_SUPPORTED", Why::Version),
    ] {
        for status in statuses {
            assert_eq!(
                http(status, &json!({"error": {"code": status, "details": info(reason)}})),
                why,
                "{reason} {status}"
            );
        }
    }
    assert_eq!(http(404, &Value::Null), Why::Method);
    assert_eq!(http(503, &json!("down")), Why::Busy);
    assert_eq!(http(418, &json!({"message": "teapot"})), Why::Internal);
    assert_eq!(http(400, &json!({"code": -32001, "message": "no task"})), Why::TaskNotFound);
}

#[test]
fn a_31_what_our_own_server_says_is_understood_in_both_generations() {
    let fault = interlingua_model::Fault::caller(FaultKind::AlreadyFinished, "over");
    let error = Error::of(&fault, Some(Method::Cancel));
    for version in [Version::V1, Version::V03] {
        let body =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}}", String::from_utf8_lossy(&error.rpc(version)));
        let heard = decode::rpc(&body.into(), Method::Cancel, version, 64).expect("readable").expect_err("refused");
        assert_eq!((heard.why, &*heard.message), (Why::NotCancelable, "over"));
    }
    let heard = decode::http(&error.http(Version::V1), Method::Stream, Version::V1, 64)
        .expect("readable")
        .expect_err("refused");
    assert_eq!(heard.why, Why::NotCancelable);
}

#[test]
fn a_31_a_server_of_0_3_names_its_error_in_the_body_or_before_the_message() {
    let told = json!({"type": "TaskNotCancelableError", "message": "over"}).into();
    assert_eq!(Refusal::of_http(Some(409), &told, None).why, Why::NotCancelable);
    assert_eq!(Refusal::of_grpc(12, "UnsupportedOperationError: over", None).why, Why::Unsupported);
    assert_eq!(Refusal::of_grpc(13, "anything: else", None).why, Why::Internal);
}

#[test]
fn a_refusal_becomes_a_fault_that_says_whose_and_whether_to_come_again() {
    let busy = Refusal::of_http(
        Some(503),
        &json!({"error": {"message": "later", "details": [{"retryDelay": "1.500s"}]}}).into(),
        Some(Duration::from_secs(9)),
    );
    let fault = busy.fault(&"p".into());
    assert_eq!((fault.kind, fault.retry), (FaultKind::Busy, Retry::After(Some(Duration::from_millis(1500)))));
    assert_eq!(&*fault.public, "p is busy: later");
    let unknown = Refusal::of_status(401, None).fault(&"p".into());
    assert_eq!((unknown.kind, unknown.retry), (FaultKind::Unreachable, Retry::No));
    assert!(Refusal::of_status(405, None).is_elsewhere() && !Refusal::of_status(400, None).is_elsewhere());
    assert!(Refusal::of_status(500, None).is_outcome() && !Refusal::of_status(429, None).is_outcome());
}

#[test]
fn a_27_what_a_server_of_0_3_tells_is_read_in_both_its_dialects() {
    let told = json!({"jsonrpc": "2.0", "id": 1, "result": {"kind": "status-update", "taskId": "t", "contextId": "c",
        "final": true, "status": {"state": "canceled"}}});
    let Ok(Ok(Update::Status(update))) = decode::rpc(&bytes(&told), Method::Stream, Version::V03, 64) else {
        panic!("not understood")
    };
    assert_eq!((&*update.task, update.status.state), ("t", TaskState::Canceled));
    let told = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELLED",
        "update": {"messageId": "m", "role": "ROLE_AGENT", "content": [{"text": "over"}]}}}});
    let Ok(Ok(Update::Task(task))) = decode::http(&bytes(&told), Method::Send, Version::V03, 64) else {
        panic!("not understood")
    };
    assert_eq!(task.status.state, TaskState::Canceled);
    assert_eq!(task.status.message.map(|message| message.parts.len()), Some(1));
}

#[test]
fn what_is_no_answer_is_invalid_and_never_an_empty_success() {
    for garbage in [
        "",
        "<html>",
        "[]",
        "{}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}",
    ] {
        decode::rpc(&Bytes::from(garbage), Method::Send, Version::V1, 64).expect_err(garbage);
        decode::http(&Bytes::from(garbage), Method::Get, Version::V1, 64).expect_err(garbage);
    }
}

#[test]
fn a_31_a_status_of_grpc_is_known_by_its_name_then_by_its_code() {
    let fault = interlingua_model::Fault::caller(FaultKind::AlreadyFinished, "it is over — 100 %");
    let error = Error::of(&fault, Some(Method::Cancel));
    let (message, details) = (grpc::escape(&error.message), grpc::details(&error));
    let heard = Refusal::of_grpc(error.row.grpc.number().into(), &message, Some(&details));
    assert_eq!((heard.why, &*heard.message, &*heard.code), (Why::NotCancelable, "it is over — 100 %", "9"));
    // 1.0.0 had another code for the same name.
    assert_eq!(Refusal::of_grpc(12, "", Some(&details)).why, Why::NotCancelable);
    for (code, why) in [
        (3, Why::Params),
        (4, Why::Deadline),
        (5, Why::TaskNotFound),
        (7, Why::Denied),
        (9, Why::Unsupported),
        (12, Why::Method),
        (13, Why::Internal),
        (14, Why::Busy),
        (16, Why::Unauthenticated),
        (99, Why::Internal),
    ] {
        assert_eq!(Refusal::of_grpc(code, "x", Some("nonsense")).why, why, "{code}");
    }
    let busy = interlingua_model::Fault::caller(FaultKind::Busy, "later");
    let busy = grpc::details(&Error::of(&busy.retry(Retry::After(Some(Duration::from_millis(1500)))), None));
    assert_eq!(Refusal::of_grpc(8, "", Some(&busy)).retry, Some(Duration::from_millis(1500)));
}
