//! Calls over gRPC: requests as a server reads them, and answers.

use serde_json::json;

use crate::Version;
use crate::client::call::{Bad, End, Messages, head, status};
use crate::client::decode;
use crate::client::fault::{Refusal, Why};
use crate::client::request::{self, Ask};
use crate::grpc::{BadFrame, frame, unframe};
use crate::invalid::Problem;
use crate::method::Method;
use crate::request::read_grpc;
use crate::wire::{self, Message, Operation, Role, Send};

#[test]
fn a_36_a_call_of_grpc_is_what_our_own_server_reads() {
    let mut message = Message::new(
        "m1",
        Role::User,
        vec![wire::Part::text("hi"), wire::Part::new(wire::Content::Raw(vec![0, 255].into()))],
    );
    message.metadata = Some(json!({"a": [1.5, null]}).into());
    let send = Send { message, configuration: wire::Configuration::default(), metadata: None };
    for version in [Version::V1, Version::V03] {
        for ask in [
            Ask::Send(&send),
            Ask::Stream(&send),
            Ask::Get { task: "t1" },
            Ask::Cancel { task: "t1" },
            Ask::Subscribe { task: "t1" },
        ] {
            let request = request::grpc(&ask, version, Some("agent")).expect("a request");
            let name = request.path.rsplit('/').next().expect("a name");
            let method = Method::of_grpc(name, version).expect("a method");
            let read = unframe(&request.body).expect("a frame");
            let asked = read_grpc(method, &read, version, 64).expect("it is read");
            match (&ask, asked.operation) {
                (Ask::Send(given), Operation::Send(read)) | (Ask::Stream(given), Operation::Stream(read)) => {
                    assert_eq!(read.message, given.message);
                    assert!(!read.configuration.immediate);
                }
                (Ask::Get { .. }, Operation::Get { task, .. })
                | (Ask::Cancel { .. }, Operation::Cancel { task })
                | (Ask::Subscribe { .. }, Operation::Subscribe { task }) => assert_eq!(&*task, "t1"),
                other => panic!("{other:?}"),
            }
            assert_eq!(asked.tenant.is_some(), version == Version::V1, "0.3 has no tenants");
        }
    }
}

#[test]
fn a_36_an_answer_of_grpc_is_the_update_the_other_bindings_tell() {
    let told = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    let message = crate::proto::answer_from_json(Method::Send, Version::V1, told.to_string().as_bytes());
    let heard = decode::grpc(&message.expect("it is written"), Method::Send, Version::V1, 64).expect("it is read");
    let Ok(Ok(same)) = decode::http(&told.to_string().into(), Method::Send, Version::V1, 64) else {
        panic!("no update")
    };
    assert_eq!(heard, same);
    assert!(decode::grpc(&[0xff], Method::Send, Version::V1, 64).is_err());
}

fn working() -> bytes::Bytes {
    let told = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    let message = crate::proto::answer_from_json(Method::Stream, Version::V1, told.to_string().as_bytes());
    frame(&message.expect("it is written"))
}

fn messages() -> Messages {
    Messages::new(Method::Stream, Version::V1, 1 << 10, 64, None)
}

/// The status of trailers that say this.
fn trailers(code: &'static str, message: &'static str) -> Option<Result<(), crate::client::Refusal>> {
    status(|name| match name {
        "grpc-status" => Some(code),
        "grpc-message" => Some(message),
        _ => None,
    })
}

#[test]
fn a_14_messages_come_in_pieces_and_the_trailers_say_that_they_are_all() {
    let (mut messages, all) = (messages(), [working(), working()].concat());
    let mut heard = 0;
    for piece in all.chunks(3) {
        messages.push(&bytes::Bytes::copy_from_slice(piece));
        while messages.take().expect("a message").is_some() {
            heard += 1;
        }
    }
    messages.ends(trailers("0", ""));
    assert_eq!((heard, messages.end()), (2, End::Done));
}

#[test]
fn a_45_an_answer_that_nobody_ended_is_broken_off_and_so_is_one_that_ended_on_the_way() {
    let broken = |pushed: &[u8], end| {
        let mut messages = messages();
        messages.push(&bytes::Bytes::copy_from_slice(pushed));
        let heard = messages.take().expect("no bad message").is_some();
        messages.ends(end);
        (heard, messages.end())
    };
    let whole = working();
    assert!(matches!(broken(&whole, None), (true, End::Broken(_))));
    assert!(matches!(broken(&whole[..9], trailers("0", "")), (false, End::Broken(_))));
    assert!(matches!(broken(&whole, trailers("14", "gone")), (true, End::Broken(_))));
    // Without a word from the agent it is the agent that is not there.
    let (false, End::Refused(refusal)) = broken(b"", trailers("14", "go%20on")) else { panic!("no refusal") };
    assert_eq!((refusal.why, &*refusal.message), (Why::Busy, "go on"));
    let (true, End::Refused(refusal)) = broken(&whole, trailers("4", "")) else { panic!("no refusal") };
    assert_eq!(refusal.why, Why::Deadline);
    let (false, End::Refused(refusal)) = broken(b"", trailers("what", "")) else { panic!("no refusal") };
    assert_eq!((refusal.why, &*refusal.code), (Why::Internal, "2"));
}

#[test]
fn a_32_what_is_compressed_too_large_or_no_message_at_all_is_told_apart() {
    let bad = |bytes: &'static [u8]| {
        let mut messages = messages();
        messages.push(&bytes::Bytes::from_static(bytes));
        messages.take().expect_err("no message")
    };
    assert_eq!(bad(b"\x01\0\0\0\x01x"), Bad::Invalid(BadFrame::Compressed.into()));
    assert_eq!(bad(b"<html></html>"), Bad::Invalid(BadFrame::Malformed.into()));
    assert_eq!(bad(b"\0\0\x10\0\0"), Bad::TooLarge);
    assert!(matches!(bad(b"\0\0\0\0\x01\xff"), Bad::Invalid(_)));
}

#[test]
fn a_31_an_error_without_details_is_known_by_its_first_word() {
    for (message, code, why) in [
        ("TaskNotCancelableError: it is over", 9, Why::NotCancelable),
        ("ContentTypeNotSupportedError: no", 3, Why::Media),
        ("MethodNotFoundError: no", 5, Why::Method),
        ("SomeError: no", 5, Why::TaskNotFound),
        ("an error: no", 9, Why::Unsupported),
        ("Error: ", 9, Why::Unsupported),
    ] {
        assert_eq!(Refusal::of_grpc(code, message, None).why, why, "{message}");
    }
}

#[test]
fn a_43_what_is_no_grpc_says_so_by_its_status_or_is_no_answer() {
    assert_eq!(head(200, "application/grpc+proto"), Ok(Ok(())));
    let problem = head(200, "text/html").expect_err("no answer").problem;
    assert_eq!(problem, Problem::Shape("an answer of gRPC is wanted"));
    let refusal = head(404, "text/html").expect("a status").expect_err("a refusal");
    assert!(refusal.is_elsewhere());
    assert_eq!(status(|_| None), None);
}
