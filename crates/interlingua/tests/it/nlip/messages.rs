//! ECMA-430, clause 5: messages.

use serde_json::{Value, json};

use super::{ask, echoed, hub, refused, text, token, tokens, with};

#[tokio::test]
async fn n_01_a_minimal_message_is_answered_by_a_message() {
    let reply = ask(&hub().await, &text("hello")).await;
    assert_eq!(reply["format"], "text");
    // A greeting is answered with what can be done here, and is no wish to do any of it.
    assert!(reply.to_string().contains("hub/help") && !reply.to_string().contains("interlingua-question"), "{reply}");
}

#[tokio::test]
async fn n_02_keys_are_taken_in_any_case() {
    let hub = hub().await;
    for keys in [
        ["format", "subformat", "content"],
        ["Format", "Subformat", "Content"],
        ["FORMAT", "SUBFORMAT", "CONTENT"],
        ["fOrmat", "subFormat", "conTent"],
    ] {
        let reply = ask(&hub, &json!({keys[0]: "text", keys[1]: "english", keys[2]: "read shopping.txt"})).await;
        assert!(reply.to_string().contains("Two lemons"), "{keys:?}: {reply}");
    }
}

#[tokio::test]
async fn n_03_values_of_format_subformat_and_messagetype_are_taken_in_any_case() {
    let hub = hub().await;
    let reply = ask(&hub, &json!({"format": "TEXT", "subformat": "ENGLISH", "content": "read shopping.txt"})).await;
    assert!(reply.to_string().contains("Two lemons"), "{reply}");
    let reply =
        ask(&hub, &json!({"messagetype": "CONTROL", "format": "Text", "subformat": "English", "content": "hello"}))
            .await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}

#[tokio::test]
async fn n_04_a_message_without_format_is_refused() {
    refused(&hub().await, &json!({"subformat": "english", "content": "hello"})).await;
}

#[tokio::test]
async fn n_05_a_message_without_subformat_is_refused() {
    refused(&hub().await, &json!({"format": "text", "content": "hello"})).await;
}

#[tokio::test]
async fn n_06_a_message_without_content_is_refused() {
    refused(&hub().await, &json!({"format": "text", "subformat": "english"})).await;
}

#[tokio::test]
async fn n_07_a_format_outside_table_1_is_refused() {
    refused(&hub().await, &json!({"format": "bogus", "subformat": "english", "content": "x"})).await;
}

#[tokio::test]
async fn n_08_so_it_is_inside_a_submessage() {
    refused(&hub().await, &with(text("x"), &[json!({"format": "bogus", "subformat": "y", "content": "z"})])).await;
}

#[tokio::test]
async fn n_09_messagetype_must_be_a_string() {
    refused(&hub().await, &json!({"messagetype": 1, "format": "text", "subformat": "english", "content": "x"})).await;
}

#[tokio::test]
async fn n_10_messagetype_may_be_absent() {
    let reply = ask(&hub().await, &text("read shopping.txt")).await;
    assert!(reply.to_string().contains("Two lemons"), "{reply}");
}

#[tokio::test]
async fn n_11_an_unknown_messagetype_is_data() {
    let hub = hub().await;
    let mut message = text("read shopping.txt");
    let plain = ask(&hub, &message).await;
    message["messagetype"] = "request".into();
    let typed = ask(&hub, &message).await;
    assert_eq!(plain["content"], typed["content"]);
}

#[tokio::test]
async fn n_12_submessages_must_be_an_array() {
    let mut message = text("x");
    message["submessages"] = json!({});
    refused(&hub().await, &message).await;
}

#[tokio::test]
async fn n_13_an_empty_list_is_taken_as_absent_and_never_sent() {
    let hub = hub().await;
    // `ask` checks that the answer has no empty list.
    let empty = ask(&hub, &with(text("read shopping.txt"), &[])).await;
    assert_eq!(empty["content"], ask(&hub, &text("read shopping.txt")).await["content"], "{empty}");
}

#[tokio::test]
async fn n_14_the_order_of_submessages_is_kept() {
    let sent: Vec<Value> = (0..10).map(|number| token(&format!("group_{number}"), &number.to_string())).collect();
    let reply = ask(&hub().await, &with(text("hello"), &sent)).await;
    let came: Vec<Value> = tokens(&reply).into_iter().filter(|token| sent.contains(token)).collect();
    assert_eq!(came, sent);
    let words: Vec<Value> = (0..10).map(|number| text(&number.to_string())).collect();
    let back = echoed(&hub().await, &words).await;
    let back: Vec<Value> = back.into_iter().filter(|part| words.contains(part)).collect();
    assert_eq!(back, words, "what is no token, too");
}

#[tokio::test]
async fn n_15_a_label_must_be_a_string() {
    let part = json!({"format": "text", "subformat": "english", "content": "x", "label": 3});
    refused(&hub().await, &with(text("x"), &[part])).await;
}

#[tokio::test]
async fn n_16_the_label_key_is_taken_in_any_case() {
    let sent = json!({"format": "token", "subformat": "group_1", "content": "t", "LABEL": "Mine"});
    let reply = ask(&hub().await, &with(text("hello"), &[sent])).await;
    assert!(tokens(&reply).iter().any(|token| token["label"] == "Mine"), "{reply}");
}

#[tokio::test]
async fn n_17_a_submessage_needs_format_subformat_and_content() {
    let hub = hub().await;
    for missing in ["format", "subformat", "content"] {
        let mut part = text("x");
        part.as_object_mut().expect("an object").remove(missing);
        refused(&hub, &with(text("x"), &[part])).await;
    }
}

#[tokio::test]
async fn n_18_content_may_be_any_json_value() {
    let hub = hub().await;
    for content in [json!(3), json!(1.5), json!(true), json!([1, "a"]), Value::Null, json!({"a": {"b": 1}})] {
        let part = json!({"format": "structured", "subformat": "json", "content": content});
        ask(&hub, &part).await;
        let back = echoed(&hub, std::slice::from_ref(&part)).await;
        // The reference SDK reads objects and strings: any other value of the hub's own message is in an object.
        let mut shown = part.clone();
        if !content.is_object() {
            shown["content"] = json!({"interlingua-value": content});
        }
        assert!(back.contains(&shown), "{content}: {back:?}");
    }
}

#[tokio::test]
async fn n_19_english_is_supported() {
    let hub = hub().await;
    for name in ["English", "english"] {
        let reply = ask(&hub, &json!({"format": "text", "subformat": name, "content": "read shopping.txt"})).await;
        assert!(reply.to_string().contains("Two lemons"), "{name}: {reply}");
    }
}

#[tokio::test]
async fn n_20_english_is_understood_by_its_codes() {
    let hub = hub().await;
    for name in ["en", "en-US", "EN-gb"] {
        let reply = ask(&hub, &json!({"format": "text", "subformat": name, "content": "read shopping.txt"})).await;
        assert!(reply.to_string().contains("Two lemons"), "{name}: {reply}");
    }
}

#[tokio::test]
async fn n_21_all_six_formats_are_taken_at_the_top_and_inside() {
    let hub = hub().await;
    let parts = [
        text("hello"),
        token("conversation", "t"),
        json!({"format": "structured", "subformat": "json", "content": {"a": 1}}),
        json!({"format": "binary", "subformat": "image/png", "content": "iVBORw0KGgo="}),
        json!({"format": "location", "subformat": "gps", "content": "40.4168,-3.7038"}),
        json!({"format": "generic", "subformat": "my-extension", "content": "x"}),
    ];
    for part in parts {
        let top = ask(&hub, &part).await;
        assert_ne!(top["messagetype"], "error", "{part}: {top}");
        let below = ask(&hub, &with(text("hello"), std::slice::from_ref(&part))).await;
        assert_ne!(below["messagetype"], "error", "{part}: {below}");
        if part["format"] == "token" {
            assert!(tokens(&below).contains(&part), "{below}");
        } else {
            let back = echoed(&hub, std::slice::from_ref(&part)).await;
            assert!(back.contains(&part), "{part} was not processed: {back:?}");
        }
    }
}

#[tokio::test]
async fn n_22_the_kind_of_binary_content_is_checked() {
    let hub = hub().await;
    for kind in ["foo/png", "nonsense"] {
        refused(&hub, &json!({"format": "binary", "subformat": kind, "content": "eA=="})).await;
    }
    for kind in ["audio/mp3", "image/png", "sensor/raw", "generic/bytes", "video/.mp4"] {
        ask(&hub, &json!({"format": "binary", "subformat": kind, "content": "eA=="})).await;
    }
}

#[tokio::test]
async fn n_23_an_encoding_that_begins_with_a_dot_is_the_one_without() {
    let hub = hub().await;
    let picture = |kind: &str| json!({"format": "binary", "subformat": kind, "content": "iVBORw0KGgo="});
    let (dotted, plain) = (echoed(&hub, &[picture("image/.png")]).await, echoed(&hub, &[picture("image/png")]).await);
    assert_eq!(dotted, plain);
    assert!(plain.contains(&picture("image/png")), "{plain:?}");
}

#[tokio::test]
async fn n_24_a_programming_language_nobody_knows_is_answered_in_words() {
    let reply = ask(&hub().await, &json!({"format": "structured", "subformat": "cobol", "content": "STOP RUN."})).await;
    assert_eq!((&reply["format"], reply.get("messagetype")), (&json!("text"), None), "{reply}");
    assert!(reply["content"].as_str().is_some_and(|content| content.to_lowercase().contains("cobol")), "{reply}");
    // A program tells it from an answer by the fault beside it.
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    let fault = parts.iter().find(|part| part["label"] == "interlingua-fault").unwrap_or_else(|| panic!("{reply}"));
    assert_eq!((&fault["format"], &fault["content"]["kind"]), (&json!("structured"), &json!("unsupported")), "{reply}");
}

#[tokio::test]
async fn n_73_the_error_format_of_the_first_draft_is_understood_and_never_sent() {
    let hub = hub().await;
    for (kind, content) in [("code", json!(404)), ("code", json!("404")), ("text", json!("It broke."))] {
        let reply = ask(&hub, &json!({"format": "error", "subformat": kind, "content": content})).await;
        assert_eq!((&reply["format"], &reply["content"]), (&json!("text"), &json!("Noted.")), "{reply}");
        assert!(!reply.to_string().contains(r#""format":"error""#), "{reply}");
    }
    let below = json!({"format": "error", "subformat": "code", "content": 404});
    let back = echoed(&hub, std::slice::from_ref(&below)).await;
    assert!(back.iter().any(|part| part["format"] == "text" && part["content"] == "error code 404"), "{back:?}");
    assert!(back.iter().all(|part| part["format"] != "error"), "{back:?}");
}
