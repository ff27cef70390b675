//! Messages of the proto against what another implementation writes: `fixtures/fuzz/a2a_proto` has the bytes of the official
//! Python SDK, `fixtures/a2a/proto` the JSON it says they are.

use std::path::{Path, PathBuf};

use interlingua_model::json::Reader;
use serde_json::{Value, json};

use super::parsed;
use crate::Version;
use crate::invalid::Problem;
use crate::method::Method;
use crate::proto;
use crate::request::read_grpc;
use crate::wire::{Content, Operation};
use interlingua_wire::protobuf::{BadProtobuf, Writer};

type Translate = fn(Method, Version, &[u8]) -> bytes::Bytes;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures")
}

fn seed(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join("fuzz/a2a_proto").join(name)).expect("a seed")
}

/// Numbers are doubles in the proto: `1` and `1.0` are one.
fn doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(all) => all.iter().map(doubles).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), doubles(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn a_36_the_bytes_of_the_official_sdk_are_the_json_it_says_and_back() {
    let (mut seen, folder) = (0, fixtures().join("a2a/proto"));
    for entry in std::fs::read_dir(folder).expect("fixtures") {
        let path = entry.expect("a fixture").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let [version, method, side] = *name.split('-').collect::<Vec<_>>() else { panic!("{name}") };
        let version = Version::parse(Some(version)).expect("a version");
        let method = Method::ALL.into_iter().find(|known| format!("{known:?}") == method).expect("a method");
        let (to_json, from_json): (Translate, Translate) = match side {
            "request" => (
                |method, version, bytes| proto::request_to_json(method, version, bytes, 64).expect("it is read"),
                |method, version, json| proto::request_from_json(method, version, json).expect("it is written"),
            ),
            _ => (
                |method, version, bytes| proto::answer_to_json(method, version, bytes, 64).expect("it is read"),
                |method, version, json| proto::answer_from_json(method, version, json).expect("it is written"),
            ),
        };
        let bytes = seed(&name);
        let read = to_json(method, version, &bytes);
        let said = std::fs::read(&path).expect("a fixture");
        assert_eq!(doubles(&parsed(&read)), doubles(&parsed(&said)), "{name}");
        // Ours may have another order of fields; what they mean is the same.
        let written = from_json(method, version, &said);
        assert_eq!(doubles(&parsed(&to_json(method, version, &written))), doubles(&parsed(&said)), "{name}");
        seen += 1;
    }
    assert!(seen > 20, "{seen} fixtures");
}

#[test]
fn a_28_requests_of_both_packages_are_read_as_what_they_ask_for() {
    let get = read_grpc(Method::Get, &seed("1.0-Get-request"), Version::V1, 64).expect("it is read");
    assert_eq!(get.operation, Operation::Get { task: "t1".into(), history: Some(3) });
    assert_eq!(get.tenant.as_deref(), Some("p"));
    let get = read_grpc(Method::Get, &seed("0.3-Get-request"), Version::V03, 64).expect("it is read");
    assert_eq!(get.operation, Operation::Get { task: "t1".into(), history: Some(3) });
    let get = read_grpc(Method::PushGet, &seed("0.3-PushGet-request"), Version::V03, 64).expect("it is read");
    assert_eq!(get.operation, Operation::PushGet { task: "t1".into(), id: Some("cfg".into()) });
    let list = read_grpc(Method::PushList, &seed("0.3-PushList-request"), Version::V03, 64).expect("it is read");
    assert_eq!(list.operation, Operation::PushList { task: "t1".into() });
    let create = read_grpc(Method::PushCreate, &seed("0.3-PushCreate-request"), Version::V03, 64);
    let Operation::PushCreate(config) = create.expect("it is read").operation else { panic!("no push") };
    assert_eq!((config.task.as_deref(), config.id.as_deref()), (Some("t1"), Some("cfg")));
    let list = read_grpc(Method::List, &seed("1.0-List-request"), Version::V1, 64).expect("it is read");
    let Operation::List(list) = list.operation else { panic!("no list") };
    assert_eq!((list.size, list.history, list.artifacts), (Some(10), Some(0), false));
}

fn message(part: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let written: Result<(), ()> = Writer::new(&mut out).message(2, |message| {
        message.bytes(1, b"m");
        message.varint(4, 1);
        message.message(5, |content| {
            part(content);
            Ok(())
        })
    });
    assert_eq!(written, Ok(()));
    out
}

fn problem(bytes: &[u8]) -> (String, Problem) {
    let invalid = read_grpc(Method::Send, bytes, Version::V1, 64).expect_err("it is refused");
    (invalid.path, invalid.problem)
}

#[test]
fn a_34_a_part_has_exactly_one_content() {
    assert_eq!(problem(&message(|_| {})), ("message.parts[0]".into(), Problem::OneOf(0)));
    let two = message(|part| {
        part.bytes(1, b"text");
        part.bytes(3, b"https://example.com");
    });
    assert_eq!(problem(&two), ("message.parts[0]".into(), Problem::OneOf(2)));
    let raw = read_grpc(Method::Send, &message(|part| part.bytes(2, &[0, 255])), Version::V1, 64);
    let Operation::Send(send) = raw.expect("it is read").operation else { panic!("no send") };
    assert_eq!(send.message.parts[0].content, Content::Raw(vec![0, 255].into()));
}

#[test]
fn a_32_what_is_no_message_is_refused_where_it_is_not() {
    assert_eq!(problem(&[0x12, 0x05, 0x0a]).1, Problem::Protobuf(BadProtobuf::Ends));
    assert_eq!(problem(&[0x10, 0x01]), ("message".into(), Problem::Protobuf(BadProtobuf::Kind)));
    assert_eq!(problem(&[]), ("message".into(), Problem::Missing));
    let text = problem(&message(|part| part.bytes(1, &[0xff])));
    assert_eq!(text, ("message.parts[0].text".into(), Problem::Protobuf(BadProtobuf::Utf8)));
    let twice = [message(|part| part.bytes(1, b"a")), message(|part| part.bytes(1, b"b"))].concat();
    assert_eq!(problem(&twice), ("message".into(), Problem::Protobuf(BadProtobuf::Twice)));
    assert_eq!(problem(&seed("bad_depth")).1, Problem::Protobuf(BadProtobuf::TooDeep));
    let role = message(|part| part.bytes(1, b"a"));
    let role: Vec<u8> = role.windows(2).position(|pair| pair == [0x20, 1]).map_or(Vec::new(), |at| {
        let mut role = role.clone();
        role[at + 1] = 9;
        role
    });
    assert_eq!(problem(&role), ("message.role".into(), Problem::UnknownValue));
}

#[test]
fn a_33_a_number_no_double_holds_is_carried_as_text_and_the_rest_as_itself() {
    let spelled =
        br#"{"data":[12345678901234567890,9007199254740992,0.1,-0,1e400,1e300,1.5e-9,0.12345678901234567890]}"#;
    let mut task =
        br#"{"id":"t","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":["#.to_vec();
    task.extend_from_slice(spelled);
    task.extend_from_slice(b"]}]}");
    let written = proto::answer_from_json(Method::Get, Version::V1, &task).expect("it is written");
    let read = proto::answer_to_json(Method::Get, Version::V1, &written, 64).expect("it is read");
    assert!(Reader::new(&read, 64).is_ok());
    let data = &parsed(&read)["artifacts"][0]["parts"][0]["data"];
    assert_eq!((&data[0], &data[4]), (&json!("12345678901234567890"), &json!("1e400")));
    assert_eq!(data[7], json!("0.12345678901234567890"), "a double has 17 digits");
    assert_eq!(data[1].as_f64(), Some(9_007_199_254_740_992.0));
    assert_eq!((data[2].as_f64(), data[5].as_f64(), data[6].as_f64()), (Some(0.1), Some(1e300), Some(1.5e-9)));
}

/// The proto's numbers have a sign, and fill 64 bits below zero: what may be asked is not for the codec to say.
#[test]
fn a_28_a_number_below_zero_is_written_as_it_was_read() {
    for (given, held) in [("-5", -5), ("0", 0), ("7", 7), ("-9999999999", i32::MIN), ("9999999999", i32::MAX)] {
        let asked = format!(r#"{{"historyLength":{given}}}"#);
        let written = proto::request_from_json(Method::List, Version::V1, asked.as_bytes()).expect("it is written");
        let read = proto::request_to_json(Method::List, Version::V1, &written, 64).expect("it is read");
        assert_eq!(parsed(&read)["historyLength"], json!(held), "{given}");
    }
}

#[test]
fn a_28_who_does_not_want_to_wait_says_so_in_0_3_by_leaving_it_out() {
    let mut out = Vec::new();
    let mut request = Writer::new(&mut out);
    let written: Result<(), ()> = request.message(1, |message| {
        message.bytes(1, b"m");
        message.varint(4, 1);
        message.message(5, |part| {
            part.bytes(1, b"hi");
            Ok(())
        })
    });
    assert_eq!(written, Ok(()));
    let immediate = |bytes: &[u8]| {
        let asked = read_grpc(Method::Send, bytes, Version::V03, 64).expect("it is read");
        let Operation::Send(send) = asked.operation else { panic!("no send") };
        send.configuration.immediate
    };
    assert!(!immediate(&out), "nothing is configured");
    let configured = [&out[..], &[0x12, 0x00]].concat();
    assert!(immediate(&configured));
    let blocking = [&out[..], &[0x12, 0x02, 0x20, 0x01]].concat();
    assert!(!immediate(&blocking));
}
