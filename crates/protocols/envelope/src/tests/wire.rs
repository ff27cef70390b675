use bytes::Bytes;
use interlingua_model::json::Tree;
use interlingua_model::{Json, Loss, LossKind, Secret};
use proptest::prelude::*;
use serde_json::json;

use super::{call, message, read, request};
use crate::invalid::Invalid;
use crate::wire::{
    self, Control, Format, Limits, Message, MessageType, NativeForm, Status, Token, ToolCall, ToolResult,
};

fn invalid(changes: Tree) -> Invalid {
    read(&request(changes)).expect_err("refused").invalid
}

fn path(changes: Tree) -> String {
    match invalid(changes) {
        Invalid::Field { path, .. } | Invalid::TooLarge { path, .. } => path,
        Invalid::Unknown { path, .. } => path.to_owned(),
        other @ (Invalid::Json(_) | Invalid::Rule(_)) => panic!("{other}"),
    }
}

#[test]
fn r_01_message_types_are_four_and_lower_case() {
    for kind in MessageType::ALL {
        assert_eq!(message(json!({"control": {"message_type": kind.as_str()}})).control.message_type, kind);
    }
    for unknown in ["Request", "REQUEST", "event", ""] {
        assert_eq!(path(json!({"control": {"message_type": unknown}})), "control.message_type");
    }
    assert_eq!(path(json!({"control": {"message_type": null}})), "control.message_type");
}

#[test]
fn r_02_defaults_are_those_of_the_schema() {
    let least = json!({"format": {}, "control": {"message_type": "request", "message_id": "m", "timestamp": "t"},
        "token": {}, "content": {}, "tool_calls": [{"tool_id": "t", "tool_name": "n", "parameters": {}}]});
    let read = read(&least).expect("readable").value;
    assert_eq!(read.format, Format::default());
    assert_eq!(&*read.format.content_type, "application/json");
    assert_eq!(&*read.format.encoding, "utf-8");
    assert_eq!(&*read.format.schema_version, "1.0");
    assert_eq!(read.format.compression, None);
    assert_eq!((read.control.priority, read.control.retry_count, read.control.timeout), (0, 0, None));
    assert_eq!(read.token, Token::default());
    assert_eq!(read.metadata, Json::empty_object());
    assert!(!read.tool_calls.expect("calls")[0].require_confirmation);
}

#[test]
fn r_02_priority_is_0_to_10() {
    for priority in [0, 10] {
        assert_eq!(message(json!({"control": {"priority": priority}})).control.priority, priority);
    }
    for priority in [11, 255, 256, 1_000_000] {
        assert_eq!(path(json!({"control": {"priority": priority}})), "control.priority");
    }
}

#[test]
fn r_03_numbers_are_unsigned() {
    for (object, member) in
        [("control", "timeout"), ("control", "priority"), ("control", "retry_count"), ("token", "conversation_turn")]
    {
        for bad in [json!(-1), json!(-5), json!(1.5), json!("5"), json!(true), json!(1e3)] {
            let changes = json!({object: {member: bad}});
            assert_eq!(path(changes), format!("{object}.{member}"));
        }
    }
}

#[test]
fn r_22_arguments_that_are_a_json_string_are_parsed() {
    let object = json!({"city": "Zürich", "n": 1});
    let once = object.to_string();
    let twice = Tree::String(once.clone()).to_string();
    for parameters in [object.clone(), Tree::String(once), Tree::String(twice)] {
        let read = message(json!({"tool_calls": [{"tool_id": "t", "tool_name": "n", "parameters": parameters}]}));
        assert_eq!(read.tool_calls.expect("calls")[0].parameters.tree(), &object);
    }
    for parameters in ["", "[]", "\"x\"", "{\"a\":1", "{\"a\":1,\"a\":2}", "\"\\\"{}\\\"\"", "7"] {
        let changes = json!({"tool_calls": [{"tool_id": "t", "tool_name": "n", "parameters": parameters}]});
        assert_eq!(path(changes), "tool_calls[0].parameters", "{parameters}");
    }
}

#[test]
fn r_38_limits_are_refused_by_name() {
    let limits = Limits { bytes: 2_000, depth: 8, content: 400, parameters: 200, tool_calls: 2 };
    let refused = |changes: Tree| {
        let frame = Bytes::from(request(changes).to_string());
        wire::read(&frame, &limits).expect_err("refused").invalid
    };
    let path = |invalid: Invalid| match invalid {
        Invalid::TooLarge { path, .. } => path,
        other => panic!("{other:?}"),
    };
    let long = |length: usize| "x".repeat(length);
    assert_eq!(path(refused(json!({"content": {"a": long(2_000)}}))), "the message");
    assert_eq!(path(refused(json!({"content": {"a": long(500)}}))), "content");
    assert_eq!(path(refused(json!({"metadata": {"a": long(500)}}))), "metadata");
    let parameters = |value: Tree| json!({"tool_calls": [{"tool_id": "t", "tool_name": "n", "parameters": value}]});
    assert_eq!(path(refused(parameters(json!({"a": long(300)})))), "tool_calls[0].parameters");
    assert_eq!(path(refused(parameters(json!({"a": long(300)}).to_string().into()))), "tool_calls[0].parameters");
    let three = json!({"tool_calls": [call("1", "n"), call("2", "n"), call("3", "n")]});
    assert_eq!(path(refused(three)), "tool_calls");
    assert_eq!(path(refused(json!({"control": {"message_id": long(1_025)}}))), "control.message_id");
    let deep = refused(json!({"content": {"a": [[[[[[[[1]]]]]]]]}}));
    assert!(matches!(deep, Invalid::Json(_)), "{deep:?}");
}

#[test]
fn r_40_what_is_not_understood_is_refused() {
    for (member, bad) in [
        ("schema_version", "2.0"),
        ("schema_version", "1"),
        ("encoding", "utf-16"),
        ("encoding", "latin-1"),
        ("compression", "gzip"),
        ("content_type", "text/plain"),
        ("content_type", "application/jsonp"),
    ] {
        assert_eq!(path(json!({"format": {member: bad}})), format!("format.{member}"), "{bad}");
    }
    for (member, good) in [
        ("encoding", json!("UTF-8")),
        ("compression", json!("none")),
        ("content_type", json!("application/json; charset=utf-8")),
    ] {
        message(json!({"format": {member: good}}));
    }
}

#[test]
fn r_13_a_refused_message_leaves_what_its_answer_repeats() {
    let rejected = read(&request(json!({"format": {"schema_version": "9.9"}}))).expect_err("refused");
    assert_eq!(&*rejected.head.format.schema_version, "9.9");
    assert_eq!(rejected.head.message_id.as_deref(), Some("m1"));
    assert_eq!(rejected.head.token.session_id.as_deref(), Some("s1"));
    assert_eq!(rejected.head.token.state_token, Some(Secret::new("st1")));
}

#[test]
fn required_members_are_named_when_missing() {
    assert_eq!(path(json!({"control": {"message_id": null}})), "control.message_id");
    assert_eq!(path(json!({"control": {"message_id": ""}})), "control.message_id");
    assert_eq!(path(json!({"tool_calls": [call("1", "n"), {"tool_id": "2"}]})), "tool_calls[1].tool_name");
    assert_eq!(path(json!({"tool_calls": [{"tool_name": "n"}]})), "tool_calls[0].tool_id");
    assert_eq!(path(json!({"tool_results": [{"tool_id": "1", "tool_name": "n"}]})), "tool_results[0].status");
    assert_eq!(
        path(json!({"tool_results": [{"tool_id": "1", "tool_name": "n", "status": "maybe"}]})),
        "tool_results[0].status"
    );
}

#[test]
fn an_unknown_member_is_a_loss_and_losses_are_bounded() {
    let carried = read(&request(json!({"control": {"colour": "red"}, "extra": 1}))).expect("readable");
    let losses = ["message.control.colour", "message.extra"].map(|what| Loss::new(what, LossKind::Dropped));
    assert!(losses.iter().all(|loss| carried.losses.contains(loss)), "{:?}", carried.losses);
    let many: serde_json::Map<String, Tree> = (0..500).map(|n| (format!("k{n}"), json!(n))).collect();
    assert!(read(&request(json!({"control": many}))).expect("readable").losses.len() <= 17);
}

#[test]
fn a_token_is_never_shown_by_debug() {
    let shown = format!("{:?}", message(json!({"control": {"auth_token": "sesame"}})));
    for secret in ["sesame", "\"c1\"", "\"st1\""] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn nulls_are_written_in_the_order_of_the_schema() {
    let written = message(json!({"tool_calls": [call("t1", "read_file")]})).to_bytes();
    let expected = concat!(
        r#"{"format":{"content_type":"application/json","encoding":"utf-8","schema_version":"1.0","compression":null},"#,
        r#""control":{"message_type":"request","message_id":"m1","correlation_id":null,"#,
        r#""timestamp":"2026-01-01T00:00:00.000000Z","priority":0,"timeout":null,"retry_count":0},"#,
        r#""token":{"session_id":"s1","context_token":"c1","state_token":"st1","conversation_turn":3},"content":{},"#,
        r#""tool_calls":[{"tool_id":"t1","tool_name":"read_file","parameters":{"path":"a.txt"},"require_confirmation":false}],"#,
        r#""tool_results":null,"metadata":{}}"#
    );
    assert_eq!(std::str::from_utf8(&written).expect("UTF-8"), expected);
}

#[test]
fn hostile_bytes_are_refused_without_panic() {
    let good = request(json!({"tool_calls": [call("t", "n")]})).to_string();
    for end in 0..good.len() {
        if good.is_char_boundary(end) {
            let cut = Bytes::copy_from_slice(&good.as_bytes()[..end]);
            assert!(wire::read(&cut, &Limits::default()).is_err());
        }
    }
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for hostile in [
        "",
        "null",
        "[]",
        "\"\"",
        "7",
        "{}",
        "{\"control\":1}",
        "{\"control\":{\"message_type\":\"request\",\"message_type\":\"error\",\"message_id\":\"m\"}}",
        "{\"control\":{\"message_type\":\"\\ud800\",\"message_id\":\"m\"}}",
        "{\"tool_calls\":{}}",
        "{\"tool_calls\":[[]]}",
        "{\"content\":[]}",
        &format!("{{\"content\":{nested}}}"),
        &format!("{good}{good}"),
    ] {
        assert!(wire::read(&Bytes::from(hostile.to_owned()), &Limits::default()).is_err(), "{hostile:.80}");
    }
    assert!(wire::read(&Bytes::from_static(b"\xff\xfe{}"), &Limits::default()).is_err());
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::from),
        any::<i64>().prop_map(Tree::from),
        ".{0,12}".prop_map(Tree::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4).prop_map(|map| Tree::Object(map.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Json> {
    prop::collection::btree_map(".{0,6}", any_tree(), 0..4)
        .prop_map(|map| Json::from_tree(Tree::Object(map.into_iter().collect())))
}

fn any_secret() -> impl Strategy<Value = Option<Secret>> {
    prop::option::of(".{0,24}".prop_map(Secret::new))
}

fn any_format() -> impl Strategy<Value = Format> {
    let compression = prop::option::of(prop_oneof![Just("none"), Just("identity")]);
    (prop_oneof![Just("utf-8"), Just("UTF-8")], compression).prop_map(|(encoding, compression)| Format {
        encoding: encoding.into(),
        compression: compression.map(Into::into),
        ..Format::default()
    })
}

fn any_control() -> impl Strategy<Value = Control> {
    let numbers = (0u8..=10, any::<Option<u32>>(), any::<u32>());
    let texts = (".{1,24}", prop::option::of(".{0,24}"), prop::option::of(".{0,24}"));
    (prop::sample::select(&MessageType::ALL[..]), texts, numbers, any_secret()).prop_map(
        |(message_type, (id, correlation, timestamp), (priority, timeout, retry_count), auth_token)| Control {
            correlation_id: correlation.map(Into::into),
            timestamp: timestamp.map(Into::into),
            priority,
            timeout,
            retry_count,
            auth_token,
            ..Control::new(message_type, id)
        },
    )
}

fn any_token() -> impl Strategy<Value = Token> {
    (prop::option::of(".{0,24}"), any_secret(), any_secret(), any::<u64>()).prop_map(
        |(session, context_token, state_token, conversation_turn)| Token {
            session_id: session.map(Into::into),
            context_token,
            state_token,
            conversation_turn,
        },
    )
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let form = prop::option::of(prop::sample::select(&NativeForm::ALL[..]));
    (".{0,12}", ".{0,24}", any_object(), any::<bool>(), form).prop_map(
        |(id, name, parameters, require_confirmation, form)| ToolCall {
            tool_id: id.into(),
            tool_name: name.into(),
            parameters,
            require_confirmation,
            form,
        },
    )
}

fn any_result() -> impl Strategy<Value = ToolResult> {
    let result = prop::option::of(any_tree().prop_filter("null is none", |tree| !tree.is_null()));
    let texts = (".{0,12}", ".{0,24}", prop::option::of(".{0,24}"));
    (texts, prop::sample::select(&Status::ALL[..]), result, any_object()).prop_map(
        |((id, name, error), status, result, metadata)| ToolResult {
            tool_id: id.into(),
            tool_name: name.into(),
            status,
            result: result.map(Json::from_tree),
            error: error.map(Into::into),
            metadata,
        },
    )
}

/// Any message that can be read.
pub(crate) fn any_message() -> impl Strategy<Value = Message> {
    let calls = prop::option::of(prop::collection::vec(any_call(), 0..4));
    let results = prop::option::of(prop::collection::vec(any_result(), 0..4));
    (any_format(), any_control(), any_token(), any_object(), calls, results, any_object()).prop_map(
        |(format, control, token, content, tool_calls, tool_results, metadata)| Message {
            format,
            control,
            token,
            content,
            tool_calls,
            tool_results,
            metadata,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(message in any_message()) {
        let carried = wire::read(&message.to_bytes(), &Limits::default()).expect("readable");
        prop_assert_eq!(carried.losses, vec![]);
        prop_assert_eq!(carried.value, message);
    }

    #[test]
    fn what_is_read_writes_the_same_value(message in any_message()) {
        let first = message.to_bytes();
        let again = wire::read(&first, &Limits::default()).expect("readable").value.to_bytes();
        prop_assert_eq!(first, again);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = wire::read(&Bytes::from(bytes), &Limits::default());
    }

    #[test]
    fn no_change_of_a_byte_makes_it_panic(message in any_message(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = message.to_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(carried) = wire::read(&Bytes::from(bytes), &Limits::default()) {
            let again = wire::read(&carried.value.to_bytes(), &Limits::default());
            prop_assert_eq!(again.map(|again| again.value), Ok(carried.value));
        }
    }
}
