//! The two kinds of frames.

use bytes::Bytes;
use interlingua_model::{Json, Text, Time};
use proptest::prelude::*;

use crate::wire::{
    ClientKind, ClientMessage, ClientType, Command, CommandResult, Limits, ResultStatus, ServerKind, ServerMessage,
    Status, ToolType,
};
use crate::{Invalid, safe_task_name, stamp};

fn client(text: &str) -> Result<ClientMessage, Invalid> {
    ClientMessage::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

fn server(text: &str) -> Result<ServerMessage, Invalid> {
    ServerMessage::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

#[test]
fn p_04_every_member_is_written_and_any_optional_one_may_be_left_out() {
    let least = client(r#"{"type":"heartbeat","status":"ok"}"#).expect("the least there is");
    assert_eq!(
        least.encode(),
        r#"{"type":"heartbeat","status":"ok","client_type":"device","session_id":null,"task_name":null,"client_id":null,"target_id":null,"request":null,"action_results":null,"timestamp":null,"request_id":null,"prev_response_id":null,"error":null,"metadata":null}"#
    );
    let least = server(r#"{"type":"heartbeat","status":"ok"}"#).expect("the least there is");
    assert_eq!(
        least.encode(),
        r#"{"type":"heartbeat","status":"ok","user_request":null,"agent_name":null,"process_name":null,"root_name":null,"actions":null,"messages":null,"error":null,"session_id":null,"task_name":null,"timestamp":null,"response_id":null,"result":null}"#
    );
}

#[test]
fn p_03_every_frame_is_one_object_with_a_type_and_a_status() {
    for kind in ServerKind::ALL {
        for status in Status::ALL {
            let text = String::from_utf8(ServerMessage::new(*kind, *status).encode().to_vec()).expect("text");
            let begins = format!(r#"{{"type":"{}","status":"{}","#, kind.as_str(), status.as_str());
            assert!(text.starts_with(&begins) && text.ends_with('}'), "{text}");
        }
    }
}

#[test]
fn p_05_unknown_members_are_passed_over_and_words_are_matched_exactly() {
    let read = client(r#"{"type":"task","status":"continue","colour":{"a":[1]},"client_type":"constellation"}"#);
    assert_eq!(read.expect("a frame").client_type, ClientType::Constellation);
    for (frame, path) in [
        (r#"{"type":"HEARTBEAT","status":"ok"}"#, "type"),
        (r#"{"type":"ping","status":"ok"}"#, "type"),
        (r#"{"type":"heartbeat","status":"OK"}"#, "status"),
        (r#"{"type":"heartbeat"}"#, "status"),
        (r#"{"status":"ok"}"#, "type"),
        (r#"{"type":null,"status":"ok"}"#, "type"),
        (r#"{"type":"heartbeat","status":"ok","client_type":null}"#, "client_type"),
        (r#"{"type":"heartbeat","status":"ok","session_id":7}"#, "session_id"),
        (r#"{"type":"heartbeat","status":"ok","metadata":[]}"#, "metadata"),
        (r#"{"type":"heartbeat","status":"ok","action_results":{}}"#, "action_results"),
        (
            r#"{"type":"heartbeat","status":"ok","action_results":[{"status":"success"},{}]}"#,
            "action_results[1].status",
        ),
        (r#"{"type":"heartbeat","status":"ok","action_results":[1]}"#, "action_results[0]"),
        ("[]", ""),
        ("nonsense", ""),
        (r#"{"type":"heartbeat","status":"ok","status":"ok"}"#, ""),
        (r#"{"type":"heartbeat","status":"ok"} {}"#, ""),
    ] {
        assert_eq!(client(frame).expect_err(frame).path, path, "{frame}");
    }
    for (frame, path) in [
        (r#"{"type":"command","status":"continue","actions":[{"tool_name":"x"}]}"#, "actions[0].tool_type"),
        (r#"{"type":"command","status":"continue","actions":[{"tool_type":"action"}]}"#, "actions[0].tool_name"),
        (r#"{"type":"command","status":"continue","messages":["a",1]}"#, "messages[1]"),
    ] {
        assert_eq!(server(frame).expect_err(frame).path, path, "{frame}");
    }
}

#[test]
fn a_refusal_never_repeats_what_was_sent() {
    let invalid = client(r#"{"type":"SECRET-VALUE","status":"ok"}"#).expect_err("unknown");
    assert!(!invalid.to_string().contains("SECRET"), "{invalid}");
}

#[test]
fn p_06_a_client_that_does_not_say_is_a_device() {
    assert_eq!(client(r#"{"type":"register","status":"ok"}"#).expect("a frame").client_type, ClientType::Device);
}

#[test]
fn p_39_what_is_too_large_is_refused_before_it_is_read() {
    let limits = Limits { bytes: 40, ..Limits::default() };
    let read = |text: &str| ClientMessage::decode(&Bytes::copy_from_slice(text.as_bytes()), &limits);
    assert!(read(r#"{"type":"heartbeat","status":"ok"}"#).is_ok());
    let large = read(r#"{"type":"heartbeat","status":"ok","x":"12345678"}"#).expect_err("large");
    assert!(large.to_string().contains("larger"));
    let long = "x".repeat(5000);
    let named = client(&format!(r#"{{"type":"task","status":"ok","session_id":"{long}"}}"#)).expect_err("long");
    assert_eq!(named.path, "session_id");
    assert!(client(&format!(r#"{{"type":"task","status":"ok","request":"{long}"}}"#)).is_ok(), "a request may be long");
    let deep = format!(r#"{{"type":"task","status":"ok","metadata":{{"a":{}1{}}}}}"#, "[".repeat(200), "]".repeat(200));
    assert!(client(&deep).is_err());
    let many = vec![r#"{"status":"success"}"#; 5000].join(",");
    assert!(client(&format!(r#"{{"type":"command_results","status":"ok","action_results":[{many}]}}"#)).is_err());
}

#[test]
fn values_travel_as_they_were_written() {
    let frame = r#"{"type":"task_end","status":"completed","result":{"n":12345678901234567890.10,"é":"\u00e9"}}"#;
    let text = String::from_utf8(server(frame).expect("a frame").encode().to_vec()).expect("text");
    assert!(text.contains(r#""result":{"n":12345678901234567890.10,"é":"\u00e9"}}"#), "{text}");
}

#[test]
fn what_a_kind_of_frame_needs_is_checked_by_whoever_writes_it() {
    let bare = |kind| ClientMessage::new(kind, Status::Ok, ClientType::Device).check();
    let needy = [
        ClientKind::Register,
        ClientKind::Task,
        ClientKind::CommandResults,
        ClientKind::TaskEnd,
        ClientKind::TaskCancel,
        ClientKind::DeviceInfoRequest,
    ];
    for kind in ClientKind::ALL {
        assert_eq!(bare(*kind).is_err(), needy.contains(kind), "{kind:?}");
    }
    for kind in ServerKind::ALL {
        let needs = matches!(kind, ServerKind::Command | ServerKind::TaskEnd);
        assert_eq!(ServerMessage::new(*kind, Status::Ok).check().is_err(), needs, "{kind:?}");
    }
}

#[test]
fn p_24_names_of_tasks_are_safe_in_a_path() {
    for (given, safe) in [
        ("my task/name", "my_task_name"),
        ("../../etc", "_.._etc"),
        ("..hidden", "hidden"),
        ("ü", "_"),
        ("a.b-c_d", "a.b-c_d"),
    ] {
        assert_eq!(&*safe_task_name(Some(given), 1), safe, "{given}");
    }
    for empty in [None, Some(""), Some("...")] {
        assert_eq!(safe_task_name(empty, 1).len(), 36, "an id");
    }
}

#[test]
fn times_are_written_as_python_does() {
    assert_eq!(&*stamp(Time(1_794_724_084_245)), "2026-11-15T06:28:04.245000+00:00");
    assert_eq!(&*stamp(Time(1_794_724_084_000)), "2026-11-15T06:28:04+00:00");
}

fn text() -> impl Strategy<Value = Option<Text>> {
    prop::option::of("[a-z\"\\\\\n é🦀]{0,8}".prop_map(|text| text.as_str().into()))
}

fn value() -> impl Strategy<Value = Option<Json>> {
    prop::option::of(prop_oneof![Just("{}"), Just("[1,\"x\"]"), Just("1.50"), Just("\"\""), Just("false")])
        .prop_map(|text| text.map(|text| Json::parse(Bytes::from_static(text.as_bytes())).expect("JSON")))
}

fn result() -> impl Strategy<Value = CommandResult> {
    (prop::sample::select(ResultStatus::ALL), text(), value(), text(), text()).prop_map(
        |(status, error, result, namespace, call_id)| CommandResult { status, error, result, namespace, call_id },
    )
}

fn command() -> impl Strategy<Value = Command> {
    (text(), any::<bool>(), prop::sample::select(ToolType::ALL), text()).prop_map(
        |(name, empty, tool_type, call_id)| Command {
            tool_name: name.unwrap_or_default(),
            parameters: empty.then(Json::empty_object),
            tool_type,
            call_id,
        },
    )
}

proptest! {
    #[test]
    fn whatever_a_client_writes_is_read_the_same(
        kind in prop::sample::select(ClientKind::ALL),
        status in prop::sample::select(Status::ALL),
        client_type in prop::sample::select(ClientType::ALL),
        texts in prop::array::uniform9(text()),
        results in prop::option::of(prop::collection::vec(result(), 0..4)),
        empty in any::<bool>(),
    ) {
        let [session_id, task_name, client_id, target_id, request, timestamp, request_id, prev_response_id, error] = texts;
        let metadata = empty.then(Json::empty_object);
        let message = ClientMessage { kind, status, client_type, session_id, task_name, client_id, target_id, request,
            action_results: results, timestamp, request_id, prev_response_id, error, metadata };
        let frame = message.encode();
        let read = ClientMessage::decode(&frame, &Limits::default());
        prop_assert_eq!(read.as_ref(), Ok(&message));
    }

    #[test]
    fn whatever_a_server_writes_is_read_the_same(
        kind in prop::sample::select(ServerKind::ALL),
        status in prop::sample::select(Status::ALL),
        texts in prop::array::uniform9(text()),
        actions in prop::option::of(prop::collection::vec(command(), 0..4)),
        messages in prop::option::of(prop::collection::vec("[a-z\n]{0,5}".prop_map(|text| text.as_str().into()), 0..3)),
        result in value(),
        empty in any::<bool>(),
    ) {
        let [user_request, agent_name, process_name, root_name, error, session_id, task_name, timestamp, response_id] = texts;
        let metadata = empty.then(Json::empty_object);
        let message = ServerMessage { kind, status, user_request, agent_name, process_name, root_name, actions, messages,
            error, session_id, task_name, timestamp, response_id, result, metadata };
        let frame = message.encode();
        let read = ServerMessage::decode(&frame, &Limits::default());
        prop_assert_eq!(read.as_ref(), Ok(&message));
    }

    #[test]
    fn no_bytes_make_a_reader_fall_over(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let frame = Bytes::from(bytes);
        let _ = ClientMessage::decode(&frame, &Limits::default());
        let _ = ServerMessage::decode(&frame, &Limits::default());
    }
}
