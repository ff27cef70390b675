//! Messages in JSON.

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::Tree;
use serde_json::json;

use super::*;

const HELLO: &str = r#"{"format":"text","subformat":"english","content":"hello"}"#;

fn entry(members: &str) -> String {
    format!(r#"{{"format":"text","subformat":"english","content":"hi","submessages":[{members}]}}"#)
}

#[test]
fn n_02_keys_are_read_in_any_case() {
    let expected = message(
        r#"{"messagetype":"x","format":"text","subformat":"english","content":"hello","submessages":[{"format":"token","subformat":"a","content":"T","label":"L"}]}"#,
    );
    for [mt, f, s, c, subs, l] in [
        ["MessageType", "Format", "Subformat", "Content", "Submessages", "Label"],
        ["MESSAGETYPE", "FORMAT", "SUBFORMAT", "CONTENT", "SUBMESSAGES", "LABEL"],
        ["messageType", "format", "subFormat", "content", "subMessages", "label"],
    ] {
        let text = format!(
            r#"{{"{mt}":"x","{f}":"text","{s}":"english","{c}":"hello","{subs}":[{{"{f}":"token","{s}":"a","{c}":"T","{l}":"L"}}]}}"#
        );
        assert_eq!(message(&text), expected, "{text}");
    }
}

#[test]
fn two_keys_that_differ_only_in_case_are_refused() {
    let (path, problem) = refusal(r#"{"format":"text","Format":"token","subformat":"english","content":"hi"}"#);
    assert_eq!((path.as_str(), problem), ("format", Problem::SameKeyTwice));
    let (path, problem) = refusal(&entry(r#"{"format":"text","subformat":"a","content":1,"CONTENT":2}"#));
    assert_eq!((path.as_str(), problem), ("submessages[0].content", Problem::SameKeyTwice));
}

#[test]
fn n_03_values_of_format_subformat_and_messagetype_are_read_in_any_case_and_kept_as_written() {
    let shouted = message(r#"{"messagetype":"CONTROL","format":"TEXT","subformat":"ENGLISH","content":"Hi"}"#);
    assert!(shouted.is_control());
    assert!(shouted.first.is(Format::Text, "english"));
    assert_eq!(shouted.first.content, Content::Text("Hi".into()), "content is never altered");
    assert_eq!(written(&shouted), r#"{"messagetype":"CONTROL","format":"TEXT","subformat":"ENGLISH","content":"Hi"}"#);
}

#[test]
fn n_04_a_message_without_format_is_refused() {
    assert_eq!(refusal(r#"{"subformat":"english","content":"hi"}"#), ("format".into(), Problem::Missing));
}

#[test]
fn n_05_a_message_without_subformat_is_refused() {
    assert_eq!(refusal(r#"{"format":"text","content":"hi"}"#), ("subformat".into(), Problem::Missing));
}

#[test]
fn n_06_a_message_without_content_is_refused() {
    assert_eq!(refusal(r#"{"format":"text","subformat":"english"}"#), ("content".into(), Problem::Missing));
}

#[test]
fn n_07_a_format_outside_the_table_is_refused() {
    let (path, problem) = refusal(r#"{"format":"bogus","subformat":"english","content":"hi"}"#);
    assert_eq!((path.as_str(), problem), ("format", Problem::UnknownFormat));
}

#[test]
fn n_08_a_format_outside_the_table_is_refused_in_a_submessage_too() {
    let (path, problem) = refusal(&entry(r#"{"format":"bogus","subformat":"x","content":"y"}"#));
    assert_eq!((path.as_str(), problem), ("submessages[0].format", Problem::UnknownFormat));
}

#[test]
fn n_09_a_messagetype_that_is_no_string_is_refused() {
    let text = r#"{"messagetype":1,"format":"text","subformat":"english","content":"hi"}"#;
    assert_eq!(refusal(text), ("messagetype".into(), Problem::NotAString));
}

#[test]
fn n_10_messagetype_is_optional() {
    assert_eq!(message(HELLO), Message::text("hello"));
}

#[test]
fn n_11_an_unknown_messagetype_is_data() {
    let asked = message(r#"{"messagetype":"request","format":"text","subformat":"english","content":"hi"}"#);
    assert!(!asked.is_control() && !asked.is_error());
}

#[test]
fn n_12_submessages_that_are_no_array_are_refused() {
    let text = r#"{"format":"text","subformat":"english","content":"hi","submessages":{}}"#;
    assert_eq!(refusal(text), ("submessages".into(), Problem::NotAnArray));
}

#[test]
fn n_13_an_empty_list_of_submessages_is_no_list_and_never_written() {
    let empty = message(&entry(""));
    assert_eq!(empty, Message::text("hi"));
    assert!(!written(&empty).contains("submessages"));
}

#[test]
fn n_14_the_order_of_submessages_is_kept() {
    let list: Vec<String> =
        (0..10).map(|n| format!(r#"{{"format":"text","subformat":"english","content":"{n}"}}"#)).collect();
    let text = entry(&list.join(","));
    assert_eq!(written(&message(&text)), text);
}

#[test]
fn n_15_a_label_that_is_no_string_is_refused() {
    let (path, problem) = refusal(&entry(r#"{"format":"text","subformat":"a","content":"b","label":3}"#));
    assert_eq!((path.as_str(), problem), ("submessages[0].label", Problem::NotAString));
}

#[test]
fn n_16_a_label_is_kept_whatever_the_case_of_its_key() {
    let labelled = message(&entry(r#"{"format":"text","subformat":"a","content":"b","LABEL":"Mine"}"#));
    assert_eq!(labelled.submessages[0].label.as_deref(), Some("Mine"));
}

#[test]
fn n_17_a_submessage_needs_format_subformat_and_content() {
    for (members, field) in [
        (r#"{"subformat":"a","content":"b"}"#, "format"),
        (r#"{"format":"text","content":"b"}"#, "subformat"),
        (r#"{"format":"text","subformat":"a"}"#, "content"),
    ] {
        assert_eq!(refusal(&entry(members)), (format!("submessages[0].{field}"), Problem::Missing));
    }
    assert_eq!(refusal(&entry("7")), ("submessages[0]".into(), Problem::NotAnObject));
}

#[test]
fn n_18_content_may_be_any_json_value() {
    for content in ["1", "1.50", "true", "null", "[1,\"two\"]", r#"{"a":{"b":null}}"#, "123456789012345678901234567890"]
    {
        let text = format!(r#"{{"format":"structured","subformat":"json","content":{content}}}"#);
        let read = message(&text);
        let Content::Json(json) = &read.first.content else { panic!("{content} is not a string") };
        assert_eq!(json.as_str(), content, "kept digit for digit");
        assert_eq!(written(&read), text);
    }
}

#[test]
fn n_21_all_six_formats_are_read_at_the_top_and_below() {
    for (format, subformat, content) in [
        ("text", "english", "\"hi\""),
        ("token", "group_7", "\"T\""),
        ("structured", "json", "{\"a\":1}"),
        ("binary", "image/png", "\"AAEC\""),
        ("location", "gps", "\"48.1,11.6\""),
        ("generic", "acme", "[1]"),
    ] {
        let members = format!(r#"{{"format":"{format}","subformat":"{subformat}","content":{content}}}"#);
        assert_eq!(message(&members).first.format.as_str(), format);
        assert_eq!(message(&entry(&members)).submessages[0], message(&members).first);
    }
}

#[test]
fn n_22_the_kind_and_the_base64_of_binary_content_are_checked() {
    let binary = |subformat: &str, content: &str| {
        format!(r#"{{"format":"binary","subformat":"{subformat}","content":{content}}}"#)
    };
    for subformat in ["foo/png", "nonsense", "image", "image/", "image/.", "/png", ""] {
        assert_eq!(refusal(&binary(subformat, "\"AAEC\"")), ("subformat".into(), Problem::BinaryKind), "{subformat}");
    }
    for content in ["\"no base64!\"", "\"AAE\"", "7", "null", "{}"] {
        assert_eq!(refusal(&binary("image/png", content)), ("content".into(), Problem::NotBase64), "{content}");
    }
    for subformat in
        ["audio/wav", "image/png", "sensor/raw", "generic/pdf", "video/.mp3", "IMAGE/PNG", "image/png;base64"]
    {
        let read = message(&binary(subformat, "\"AAEC\""));
        assert_eq!(read.first.content, Content::Bytes(Bytes::from_static(&[0, 1, 2])), "{subformat}");
        assert!(!read.first.subformat.contains("base64"));
    }
}

#[test]
fn n_36_the_legacy_control_flag_makes_a_control_message() {
    let flagged = message(r#"{"control":true,"format":"text","subformat":"english","content":"hi"}"#);
    assert!(flagged.is_control());
    let unflagged = message(r#"{"control":false,"format":"text","subformat":"english","content":"hi"}"#);
    assert!(!unflagged.is_control());
    let odd = message(r#"{"control":"yes","format":"text","subformat":"english","content":"hi"}"#);
    assert!(!odd.is_control(), "an unknown field, not an error");
}

#[test]
fn null_is_the_same_as_absent_where_a_field_is_optional() {
    let nulls = r#"{"messagetype":null,"format":"text","subformat":"english","content":"hello","label":null,"submessages":null}"#;
    assert_eq!(message(nulls), Message::text("hello"));
}

#[test]
fn unknown_fields_and_nested_lists_are_ignored() {
    let text = r#"{"conversation_id":7,"format":"text","subformat":"english","content":"hi","submessages":[
        {"format":"text","subformat":"a","content":"b","messagetype":3,"submessages":[{}],"x":{"y":[1]}}]}"#;
    assert_eq!(message(text).submessages, [Submessage::new(Format::Text, "a", Content::Text("b".into()))]);
}

#[test]
fn n_45_what_is_not_json_or_not_utf_8_is_malformed() {
    for bytes in [&b"{"[..], b"", b"nonsense", b"{\"format\":\xff}", br#"{"format":NaN}"#, br#"{"a":1,"a":2}"#] {
        let invalid = json::decode(&Bytes::copy_from_slice(bytes), &Limits::default()).unwrap_err();
        assert_eq!(invalid.class(), Class::Malformed, "{invalid}");
    }
    for text in ["[]", "7", "{}", r#"{"format":"bogus","subformat":"a","content":"b"}"#] {
        assert_eq!(read(text).unwrap_err().class(), Class::Schema, "{text}");
    }
}

#[test]
fn n_46_hostile_values_are_refused_and_nothing_panics() {
    let deep = "[".repeat(200_000);
    for content in [r#""\ud800""#, "NaN", "1e", deep.as_str()] {
        let text = format!(r#"{{"format":"structured","subformat":"json","content":{content}}}"#);
        assert_eq!(read(&text).unwrap_err().class(), Class::Malformed);
    }
    for format in ["3", "null", "{}", "[]"] {
        let (path, problem) = refusal(&entry(&format!(r#"{{"format":{format},"subformat":"a","content":"b"}}"#)));
        assert_eq!((path.as_str(), problem), ("submessages[0].format", Problem::NotAString));
    }
}

#[test]
fn n_47_a_frame_over_the_limit_is_too_large() {
    let limits = Limits { bytes: HELLO.len() - 1, ..Limits::default() };
    let invalid = json::decode(&Bytes::from(HELLO), &limits).unwrap_err();
    assert_eq!(invalid.class(), Class::TooLarge);
    let limits = Limits { submessages: 1, ..Limits::default() };
    let two = entry(&[HELLO, HELLO].join(","));
    let invalid = json::decode(&Bytes::from(two), &limits).unwrap_err();
    assert_eq!((invalid.path.as_str(), invalid.class()), ("submessages", Class::TooLarge));
}

#[test]
fn n_48_twenty_thousand_tokens_are_read_and_written() {
    let tokens: Vec<String> =
        (0..20_000).map(|n| format!(r#"{{"format":"token","subformat":"t_{n}","content":"{n}"}}"#)).collect();
    let text = entry(&tokens.join(","));
    assert_eq!(written(&message(&text)), text);
}

#[test]
fn n_50_what_is_written_validates_against_annex_a() {
    let full = Message::text("a \"quoted\" line\n\u{1}")
        .typed(wire::CONTROL)
        .with(Submessage::json(Json::from_tree(json!({"a": [1, null]}))).labelled("interlingua-route"))
        .with(Submessage::new(Format::Binary, "image/png", Content::Bytes(Bytes::from_static(b"\0\xff"))))
        .with(Submessage::token("conversation_hub", "C"));
    annex_a(&Json::parse(written(&full).into()).unwrap());
    annex_a(&Json::parse(written(&Message::text("x")).into()).unwrap());
}

/// Annex A by hand: types of fields, required ones, the closed list of formats, no null where a string or array must be.
pub(crate) fn annex_a(message: &Json) {
    let object = message.tree().as_object().expect("an object");
    for (key, value) in object {
        match key.as_str() {
            "messagetype" | "format" | "subformat" | "label" => assert!(value.is_string(), "{key}"),
            "content" => {}
            "submessages" => {
                let list = value.as_array().expect("an array");
                assert!(!list.is_empty(), "one or more");
                for entry in list {
                    assert!(entry.get("messagetype").is_none() && entry.get("submessages").is_none());
                    required(entry);
                }
            }
            other => panic!("{other} is not a field of the standard"),
        }
    }
    required(message.tree());
}

fn required(entry: &Tree) {
    let format = entry["format"].as_str().expect("a format");
    assert!(["text", "token", "structured", "binary", "location", "generic"].contains(&format), "{format}");
    assert!(entry["subformat"].is_string());
    assert!(entry.get("content").is_some());
}

#[test]
fn title_case_is_an_option() {
    let text = String::from_utf8(json::encode(
        &Message::text("hi").typed("control").with(Submessage::token("a", "b").labelled("L")),
        Keys::Title,
    ));
    assert_eq!(
        text.unwrap(),
        r#"{"MessageType":"control","Format":"text","Subformat":"english","Content":"hi","Submessages":[{"Format":"token","Subformat":"a","Content":"b","Label":"L"}]}"#
    );
}

#[test]
fn a_tokens_content_is_not_shown_by_debug() {
    let shown = format!("{:?}", Message::text("hi").with(Submessage::token("authentication", "hunter2")));
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn n_73_the_first_drafts_error_format_is_read() {
    for text in [
        r#"{"format":"error","subformat":"code","content":404}"#,
        r#"{"format":"error","subformat":"code","content":"404"}"#,
        r#"{"format":"error","subformat":"text","content":"no such thing"}"#,
    ] {
        assert_eq!(message(text).first.format, Format::Error);
    }
}
