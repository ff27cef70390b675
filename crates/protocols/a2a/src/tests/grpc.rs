//! Frames, status and deadlines of gRPC.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::{Fault, FaultKind, Noun, Retry};

use crate::Version;
use crate::fault::Error;
use crate::grpc::{
    BadFrame, Frames, details, escape, frame, is_media, is_path, reason, timeout, unescape, unframe, write_timeout,
};
use crate::invalid::Problem;
use crate::method::Method;

#[test]
fn a_28_methods_have_the_names_of_their_package() {
    assert_eq!(Method::of_grpc("SubscribeToTask", Version::V1), Ok(Method::Subscribe));
    assert_eq!(Method::of_grpc("TaskSubscription", Version::V03), Ok(Method::Subscribe));
    assert_eq!(Method::of_grpc("GetAgentCard", Version::V03), Ok(Method::ExtendedCard));
    assert_eq!(Method::of_grpc("ListTaskPushNotificationConfig", Version::V03), Ok(Method::PushList));
    for (name, version) in [("ListTasks", Version::V03), ("TaskSubscription", Version::V1), ("", Version::V1)] {
        let refused = Method::of_grpc(name, version).expect_err("it is not there");
        assert_eq!(refused.problem, Problem::Method(name.to_owned()));
    }
    assert!(is_path("/lf.a2a.v1.A2AService/GetTask") && is_path("/a2a.v1.A2AService/GetTask"));
    assert!(!is_path("/a2a/GetTask") && !is_path("/a2a.v1.A2AService"));
    assert!(is_media("application/grpc") && is_media("application/grpc+proto; x=y"));
    assert!(!is_media("application/grpc-web") && !is_media("application/json"));
}

#[test]
fn a_32_frames_come_in_any_pieces_and_only_well_formed() {
    let all = [frame(b"one"), frame(b""), frame(b"three")].concat();
    for size in 1..all.len() {
        let (mut frames, mut seen) = (Frames::new(16), Vec::new());
        for piece in all.chunks(size) {
            frames.push(piece);
            while let Some(message) = frames.take().expect("well formed") {
                seen.push(message);
            }
        }
        assert_eq!(seen, ["one", "", "three"], "in pieces of {size}");
        assert!(frames.is_empty());
    }
    let mut frames = Frames::new(4);
    frames.push(&frame(b"large"));
    assert_eq!(frames.take(), Err(BadFrame::TooLarge));
    for (body, problem) in [
        (&b""[..], BadFrame::Malformed),
        (b"\0\0\0\0", BadFrame::Malformed),
        (b"\0\0\0\0\x02x", BadFrame::Malformed),
        (b"\0\0\0\0\x01xy", BadFrame::Malformed),
        (b"\x01\0\0\0\x01x", BadFrame::Compressed),
        (b"\x07\0\0\0\x01x", BadFrame::Malformed),
        (b"\0\xff\xff\xff\xffx", BadFrame::Malformed),
    ] {
        assert_eq!(unframe(&Bytes::copy_from_slice(body)), Err(problem), "{body:?}");
    }
}

#[test]
fn a_30_a_status_has_its_reason_and_fields() {
    let fault = Fault::caller(FaultKind::NotFound(Noun::Task), "no such task");
    let told = details(&Error::of(&fault, None));
    assert_eq!(reason(&told).as_deref(), Some("TASK_NOT_FOUND"));
    // By hand: what our own decoder would forgive.
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(told.trim_end_matches('=')).expect("base64");
    let at = |words: &str| {
        let field = [&[u8::try_from(words.len()).expect("short")], words.as_bytes()].concat();
        bytes.windows(field.len()).position(|window| window == field).unwrap_or_else(|| panic!("no {words}"))
    };
    let kind = at("type.googleapis.com/google.rpc.ErrorInfo");
    let (why, domain) = (at("TASK_NOT_FOUND"), at("a2a-protocol.org"));
    assert!(kind < why && why < domain, "an ErrorInfo with its reason and domain");
    assert_eq!((bytes[kind - 1], bytes[why - 1], bytes[domain - 1]), (0x0a, 0x0a, 0x12), "in fields 1, 1 and 2");
    let busy = Fault::caller(FaultKind::Busy, "later").retry(Retry::After(Some(Duration::from_millis(1500))));
    let busy = busy.field("message.parts", "must not be empty");
    assert_eq!(reason(&details(&Error::of(&busy, None))).as_deref(), Some("BUSY"));
    for bad in ["", "!", "AAAA", "CAU"] {
        assert_eq!(reason(bad), None);
    }
    assert_eq!(escape("100 %, é\r\n"), "100 %25, %C3%A9%0D%0A");
    assert_eq!(unescape("100 %25, %C3%A9%0D%0A %zz %"), "100 %, é\r\n %zz %");
}

#[test]
fn a_05_a_timeout_has_up_to_eight_digits_and_a_unit() {
    for (text, span) in [
        ("1H", Some(Duration::from_secs(3600))),
        ("2M", Some(Duration::from_secs(120))),
        ("3S", Some(Duration::from_secs(3))),
        ("250m", Some(Duration::from_millis(250))),
        ("99999999u", Some(Duration::from_micros(99_999_999))),
        ("5n", Some(Duration::from_nanos(5))),
        ("100000000S", None),
        ("S", None),
        ("-1S", None),
        ("1", None),
        ("", None),
        ("1é", None),
    ] {
        assert_eq!(timeout(text), span, "{text}");
    }
    assert_eq!(write_timeout(Duration::from_millis(1500)).as_deref(), Some("1500m"));
    assert_eq!(write_timeout(Duration::from_secs(1_000_000)).as_deref(), Some("1000000S"));
    assert_eq!(write_timeout(Duration::from_secs(u64::MAX)), None);
}
