//! Messages in CBOR. `ciborium`'s own values serve as the other implementation.

use bytes::Bytes;
use ciborium::Value;
use interlingua_model::Json;
use serde_json::json;

use super::*;

fn frame(value: &Value) -> Bytes {
    let mut out = Vec::new();
    ciborium::into_writer(value, &mut out).expect("written");
    out.into()
}

fn read(frame: &Bytes) -> Result<Message, Invalid> {
    cbor::decode(frame, &Limits::default())
}

fn map(members: &[(&str, Value)]) -> Value {
    Value::Map(members.iter().map(|(key, value)| (Value::from(*key), value.clone())).collect())
}

fn of(content: Value) -> Bytes {
    frame(&map(&[("format", "structured".into()), ("subformat", "json".into()), ("content", content)]))
}

#[test]
fn n_52_a_message_written_by_another_implementation_is_read() {
    let value = map(&[
        ("MessageType", "control".into()),
        ("Format", "text".into()),
        ("Subformat", "English".into()),
        ("Content", "hello".into()),
        (
            "Submessages",
            Value::Array(vec![map(&[
                ("format", "token".into()),
                ("subformat", "conversation".into()),
                ("content", "C".into()),
                ("label", "L".into()),
            ])]),
        ),
    ]);
    let expected = Message::new(Submessage::new(Format::Text, "English", Content::Text("hello".into())))
        .typed("control")
        .with(Submessage::token("conversation", "C").labelled("L"));
    assert_eq!(read(&frame(&value)).unwrap(), expected);
}

#[test]
fn n_52_a_message_we_write_is_read_by_another_implementation() {
    let message = Message::text("hi").with(Submessage::json(Json::from_tree(json!({"a": [1, -2, 1.5, true, null]}))));
    let value: Value = ciborium::from_reader(&cbor::encode(&message, Keys::Lower)[..]).unwrap();
    let list = Value::Array(vec![1.into(), (-2).into(), 1.5.into(), true.into(), Value::Null]);
    let expected = map(&[
        ("format", "text".into()),
        ("subformat", "english".into()),
        ("content", "hi".into()),
        (
            "submessages",
            Value::Array(vec![map(&[
                ("format", "structured".into()),
                ("subformat", "json".into()),
                ("content", map(&[("a", list)])),
            ])]),
        ),
    ]);
    assert_eq!(value, expected);
}

#[test]
fn n_53_byte_strings_travel_as_bytes() {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let message = Message::new(Submessage::new(Format::Binary, "image/png", Content::Bytes(bytes.clone().into())));
    let written = Bytes::from(cbor::encode(&message, Keys::Lower));
    assert!(written.len() < bytes.len() + 64, "no base64");
    assert_eq!(read(&written).unwrap(), message);
}

#[test]
fn n_29_a_token_of_bytes_goes_back_as_bytes() {
    let token = Submessage::new(Format::Token, "group_7", Content::Bytes(Bytes::from_static(b"\0\xff")));
    let sent = Message::text("hi").with(token.clone());
    let read = read(&cbor::encode(&sent, Keys::Lower).into()).unwrap();
    let (_, tokens) = tokens::split(read, &HubId::from("h"));
    assert_eq!(tokens.echo, [token]);
}

#[test]
fn base64_text_for_binary_content_is_taken_too() {
    let value =
        map(&[("format", "binary".into()), ("subformat", "image/png;base64".into()), ("content", "AAEC".into())]);
    assert_eq!(read(&frame(&value)).unwrap().first.content, Content::Bytes(Bytes::from_static(&[0, 1, 2])));
}

#[test]
fn items_of_indefinite_length_are_read() {
    // {_ "format": (_ "te" "xt"), "subformat": "a", "content": [_ 1, {_ "k": 2}]}
    let frame = b"\xbf\x66format\x7f\x62te\x62xt\xff\x69subformat\x61a\x67content\x9f\x01\xbf\x61k\x02\xff\xff\xff";
    let message = read(&Bytes::from_static(frame)).unwrap();
    assert_eq!(message.first.content, Content::Json(Json::from_tree(json!([1, {"k": 2}]))));
}

#[test]
fn integers_and_floats_keep_their_value() {
    for (value, text) in [
        (Value::from(u64::MAX), "18446744073709551615"),
        (Value::from(-1), "-1"),
        (Value::Float(1.5), "1.5"),
        (Value::Float(-0.0), "-0.0"),
    ] {
        let Content::Json(json) = read(&of(value)).unwrap().first.content else { panic!("a number") };
        assert_eq!(json.as_str(), text);
    }
    // -2^64, the smallest integer CBOR has.
    let frame = b"\xa3\x66format\x6astructured\x69subformat\x61a\x67content\x3b\xff\xff\xff\xff\xff\xff\xff\xff";
    let Content::Json(json) = read(&Bytes::from_static(frame)).unwrap().first.content else { panic!("a number") };
    assert_eq!(json.as_str(), "-18446744073709551616");
    assert_eq!(cbor::encode(&read(&Bytes::from_static(frame)).unwrap(), Keys::Lower), frame, "the same item again");
}

#[test]
fn a_number_beyond_integers_and_doubles_is_text_in_cbor() {
    for text in ["12345678901234567890123", "1e400", "0.12345678901234567890"] {
        let sent = message(&format!(r#"{{"format":"structured","subformat":"json","content":{{"n":{text}}}}}"#));
        let read = read(&cbor::encode(&sent, Keys::Lower).into()).unwrap();
        assert_eq!(read.first.content, Content::Json(json!({"n": text}).into()));
    }
}

#[test]
fn n_56_bad_cbor_is_malformed() {
    for bytes in [&b"\xff"[..], b"", b"\x1c", b"\xa1", b"\xa1\x66format", b"\xbf\x66format", b"\xf8\x14"] {
        let invalid = read(&Bytes::copy_from_slice(bytes)).unwrap_err();
        assert_eq!(invalid.class(), Class::Malformed, "{invalid}");
    }
}

#[test]
fn trailing_bytes_and_tags_are_refused() {
    let mut two = cbor::encode(&Message::text("hi"), Keys::Lower);
    two.push(0xf6);
    assert_eq!(read(&two.into()).unwrap_err().problem, Problem::Trailing);
    assert_eq!(read(&of(Value::Tag(1, Box::new(7.into())))).unwrap_err().problem, Problem::Tag);
}

#[test]
fn keys_that_occur_twice_are_refused_at_every_level() {
    let value = map(&[("format", "text".into()), ("FORMAT", "text".into())]);
    assert_eq!(read(&frame(&value)).unwrap_err().problem, Problem::SameKeyTwice);
    let twice = map(&[("a", 1.into()), ("a", 2.into())]);
    assert_eq!(read(&of(twice)).unwrap_err().problem, Problem::SameKeyTwice);
}

#[test]
fn what_json_cannot_say_has_no_place_in_structured_content() {
    for content in [Value::Bytes(vec![1]), Value::Float(f64::NAN), Value::Float(f64::INFINITY)] {
        let invalid = read(&of(content)).unwrap_err();
        assert_eq!((invalid.path.as_str(), invalid.problem), ("content", Problem::NoJsonForm));
    }
    let undefined = b"\xa3\x66format\x6astructured\x69subformat\x61a\x67content\xf7";
    assert_eq!(read(&Bytes::from_static(undefined)).unwrap_err().problem, Problem::NoJsonForm);
}

#[test]
fn n_53_byte_strings_inside_structured_content_come_back_as_they_were() {
    let inner = map(&[("photo", Value::Bytes(vec![0, 255, 7])), ("n", 1.into()), ("none", Value::Bytes(Vec::new()))]);
    let content = map(&[("list", Value::Array(vec![inner, Value::Bytes(vec![9])])), ("after", "text".into())]);
    let sent = of(content);
    let message = read(&sent).unwrap();
    let Content::Json(held) = &message.first.content else { panic!("{message:?}") };
    assert_eq!(held.tree()["list"][0]["photo"], json!({"interlingua-bytes": "AP8H"}), "how JSON peers are told");
    assert_eq!(cbor::encode(&message, Keys::Lower), sent);
    for other in
        [json!({"interlingua-bytes": "?"}), json!({"interlingua-bytes": 1}), json!({"interlingua-bytes": "", "x": 1})]
    {
        let text = json!({"format": "structured", "subformat": "json", "content": {"a": [other, {}]}}).to_string();
        let sent = super::message(&text);
        assert_eq!(read(&cbor::encode(&sent, Keys::Lower).into()).unwrap(), sent, "{text}");
    }
}

#[test]
fn a_length_that_lies_takes_no_memory() {
    // Text, bytes, array and map of 2^62 elements, and nothing behind them.
    for major in [0x7b, 0x5b, 0x9b, 0xbb_u8] {
        let mut frame = b"\xa3\x66format\x6astructured\x69subformat\x61a\x67content".to_vec();
        frame.push(major);
        frame.extend_from_slice(&(1_u64 << 62).to_be_bytes());
        assert_eq!(read(&frame.into()).unwrap_err().class(), Class::Malformed);
    }
}

#[test]
fn depth_is_bounded() {
    for opener in [0x81_u8, 0x9f] {
        let mut frame = b"\xa3\x66format\x6astructured\x69subformat\x61a\x67content".to_vec();
        frame.extend(std::iter::repeat_n(opener, 200_000));
        assert_eq!(read(&frame.into()).unwrap_err().problem, Problem::TooDeep);
    }
    let mut unknown = b"\xa4\x61x".to_vec();
    unknown.extend(std::iter::repeat_n(0x81_u8, 200_000));
    assert_eq!(read(&unknown.into()).unwrap_err().problem, Problem::TooDeep);
}
