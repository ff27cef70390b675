//! Messages, parts and tasks in the three spellings.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{bytes, parsed, source};
use crate::invalid::{Invalid, Problem};
use crate::json::{Dialect, write};
use crate::wire::{Content, Message, Part, Role, Send, Update};

const DIALECTS: [Dialect; 3] = [Dialect::V1, Dialect::V03, Dialect::V03Proto];

fn send(dialect: Dialect, message: &Value) -> Result<Send, Invalid> {
    let frame = bytes(&json!({ "message": message }));
    source(&frame, dialect).send().map(|(send, _)| send)
}

fn with_parts(parts: Value) -> Value {
    json!({"messageId": "m1", "role": "ROLE_USER", "parts": parts})
}

#[test]
fn a_33_unknown_members_are_ignored_and_required_ones_are_asked_for_by_name() {
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi", "new": 1}], "x": {"y": [1]}});
    assert_eq!(send(Dialect::V1, &message).expect("a message").message.id.as_ref(), "m1");
    for missing in ["messageId", "role", "parts"] {
        let mut message = message.clone();
        message.as_object_mut().expect("an object").remove(missing);
        let invalid = send(Dialect::V1, &message).expect_err(missing);
        assert_eq!((invalid.path.as_str(), &invalid.problem), (&*format!("message.{missing}"), &Problem::Missing));
    }
    let empty = send(Dialect::V1, &with_parts(json!([]))).expect_err("no parts");
    assert_eq!(empty.problem, Problem::Empty);
}

#[test]
fn a_33_enumerations_are_names_and_readers_take_numbers_and_the_proto_spelling_of_members() {
    let message = json!({"message_id": "m1", "role": 1, "parts": [{"text": "hi", "media_type": "text/plain"}]});
    let read = send(Dialect::V1, &message).expect("a message").message;
    assert_eq!((read.role, read.parts[0].media.as_deref()), (Role::User, Some("text/plain")));
    for role in ["user", "ROLE_UNSPECIFIED", "ROLE_SYSTEM"] {
        let message = json!({"messageId": "m1", "role": role, "parts": [{"text": "hi"}]});
        assert_eq!(send(Dialect::V1, &message).expect_err(role).problem, Problem::UnknownValue);
    }
}

#[test]
fn a_34_a_part_has_exactly_one_content() {
    for (part, members) in [(json!({}), 0), (json!({"text": "a", "url": "b"}), 2), (json!({"raw": "", "data": 1}), 2)] {
        let invalid = send(Dialect::V1, &with_parts(json!([part]))).expect_err("not one");
        assert_eq!(invalid.problem, Problem::OneOf(members), "{part}");
        assert_eq!(invalid.path, "message.parts[0]");
    }
    for dialect in [Dialect::V03, Dialect::V03Proto] {
        let file = json!({"kind": "file", "file": {"uri": "a", "bytes": "YQ=="}});
        let message = json!({"messageId": "m", "role": "user", "parts": [file], "content": [file]});
        let mut message = message;
        if dialect == Dialect::V03Proto {
            message = json!({"messageId": "m", "role": "ROLE_USER", "content": [file]});
        }
        assert_eq!(send(dialect, &message).expect_err("two").problem, Problem::OneOf(2));
    }
}

#[test]
fn a_34_data_is_any_value_and_raw_is_base64_of_either_alphabet() {
    for data in [json!(null), json!([1, "a", null]), json!({"a": 1}), json!(1.5), json!("text"), json!(true)] {
        let read = send(Dialect::V1, &with_parts(json!([{ "data": data }]))).expect("a message");
        let Content::Data(kept) = &read.message.parts[0].content else { panic!("data") };
        assert_eq!(parsed(kept.as_bytes()), data);
    }
    for raw in ["-_8", "-_8=", "+/8=", "+/8"] {
        let read = send(Dialect::V1, &with_parts(json!([{ "raw": raw }]))).expect(raw);
        assert_eq!(read.message.parts[0].content, Content::Raw(vec![0xfb, 0xff].into()));
    }
    let bad = send(Dialect::V1, &with_parts(json!([{"raw": "a b"}]))).expect_err("not base64");
    assert_eq!((bad.path.as_str(), bad.problem), ("message.parts[0].raw", Problem::NotBase64));
}

#[test]
fn a_27_the_older_generation_is_read_in_both_of_its_dialects() {
    let rpc = json!({"kind": "message", "messageId": "m", "role": "user", "parts": [
        {"kind": "text", "text": "hi"},
        {"kind": "file", "file": {"uri": "https://x/y", "mimeType": "image/png", "name": "y"}},
        {"kind": "file", "file": {"fileWithBytes": "YQ=="}},
        {"kind": "data", "data": {"a": 1}}
    ]});
    let rest = json!({"messageId": "m", "role": "ROLE_USER", "content": [
        {"text": "hi"},
        {"file": {"fileWithUri": "https://x/y", "mimeType": "image/png", "name": "y"}},
        {"file": {"fileWithBytes": "YQ=="}},
        {"data": {"data": {"a": 1}}}
    ]});
    let (rpc, rest) = (send(Dialect::V03, &rpc).expect("rpc"), send(Dialect::V03Proto, &rest).expect("rest"));
    assert_eq!(rpc, rest);
    assert_eq!(rpc.message.parts[1].content, Content::Url("https://x/y".into()));
    assert_eq!(rpc.message.parts[1].media.as_deref(), Some("image/png"));
    assert_eq!(rpc.message.parts.len(), 4);
}

#[test]
fn a_05_waiting_is_the_default_of_both_generations_and_each_says_otherwise_in_its_own_way() {
    let read = |dialect, configuration: Value| {
        let role = if dialect == Dialect::V03 { "user" } else { "ROLE_USER" };
        let parts = json!([{"kind": "text", "text": "hi"}]);
        let message = json!({"messageId": "m", "role": role, "parts": parts});
        let frame = bytes(&json!({"message": message, "configuration": configuration}));
        source(&frame, dialect).send().expect("a send").0.configuration
    };
    assert!(!read(Dialect::V1, json!({})).immediate);
    assert!(read(Dialect::V1, json!({"returnImmediately": true})).immediate);
    assert!(!read(Dialect::V1, json!({"blocking": false})).immediate);
    assert!(!read(Dialect::V03, json!({})).immediate);
    assert!(!read(Dialect::V03, json!({"blocking": true})).immediate);
    assert!(read(Dialect::V03, json!({"blocking": false})).immediate);
    let push = json!({"taskPushNotificationConfig": {"url": "https://x/", "authentication": {"scheme": "Bearer", "credentials": "c"}}});
    let push = read(Dialect::V1, push).push.expect("a configuration");
    assert_eq!(push.authentication.expect("some").scheme.as_ref(), "Bearer");
    let push = json!({"pushNotificationConfig": {"url": "https://x/", "token": "t", "authentication": {"schemes": ["Bearer"]}}});
    let push = read(Dialect::V03, push).push.expect("a configuration");
    assert_eq!(push.token.and_then(|token| token.text().map(str::to_owned)).as_deref(), Some("t"));
}

#[test]
fn a_20_credentials_that_could_end_a_header_are_refused() {
    for config in [
        json!({"taskId": "t", "url": "https://x/", "token": "a\r\nX: y"}),
        json!({"taskId": "t", "url": "https://x/", "authentication": {"scheme": "Bearer", "credentials": "a\nb"}}),
        json!({"taskId": "t", "url": "https://x/", "authentication": {"scheme": "Be\rarer"}}),
    ] {
        let frame = bytes(&config);
        assert_eq!(source(&frame, Dialect::V1).push_create().expect_err("refused").problem, Problem::Control);
    }
}

#[test]
fn a_27_what_is_written_for_an_older_client_has_kinds_and_lower_case_states() {
    let mut message = Message::new(
        "m",
        Role::Agent,
        vec![Part::text("hi"), Part::new(Content::Data(interlingua_model::Json::null()))],
    );
    message.task = Some("t".into());
    let written = |dialect| parsed(&write::update(&Update::Message(message.clone()), dialect));
    assert_eq!(
        written(Dialect::V1),
        json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}, {"data": null}], "taskId": "t"}})
    );
    assert_eq!(
        written(Dialect::V03),
        json!({"kind": "message", "messageId": "m", "role": "agent", "taskId": "t",
            "parts": [{"kind": "text", "text": "hi"}, {"kind": "data", "data": {"value": null}}]})
    );
    assert_eq!(
        written(Dialect::V03Proto),
        json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "taskId": "t",
            "content": [{"text": "hi"}, {"data": {"data": {"value": null}}}]}})
    );
}

fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        ".*".prop_map(|text| Content::Text(text.into())),
        proptest::collection::vec(any::<u8>(), 0..50).prop_map(|raw| Content::Raw(raw.into())),
        "[a-z]+://[a-z/]{1,20}".prop_map(|url| Content::Url(url.into())),
        any::<u32>().prop_map(|n| Content::Data(interlingua_model::Json::from_tree(json!({"n": n})))),
    ];
    let media = proptest::option::of("[a-z]{1,8}/[a-z]{1,8}");
    (content, media, proptest::option::of("[a-z.]{1,12}")).prop_map(|(content, media, name)| {
        // Only files have them in the older generation.
        let file = matches!(content, Content::Raw(_) | Content::Url(_));
        let (media, name) = if file { (media, name) } else { (None, None) };
        Part { content, media: media.map(Into::into), filename: name.map(Into::into), metadata: None }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_in_every_dialect(parts in proptest::collection::vec(part(), 1..5), id in "[ -~]{1,20}") {
        let mut message = Message::new(id, Role::User, parts);
        message.context = Some("c".into());
        message.extensions = vec!["urn:x".into()];
        let sent = Send { message, configuration: crate::wire::Configuration::default(), metadata: None };
        for dialect in DIALECTS {
            let frame = write::send(&sent, None, dialect);
            let (read, _) = source(&frame, dialect).send().expect("what we wrote");
            prop_assert_eq!(&read, &sent);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(input in proptest::collection::vec(any::<u8>(), 0..300)) {
        let frame = bytes::Bytes::from(input);
        for dialect in DIALECTS {
            let source = source(&frame, dialect);
            let _ = (source.send(), source.list(), source.update(), source.push_create(), source.get());
        }
    }
}
