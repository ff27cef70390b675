use interlingua_model::Secret;
use interlingua_model::json::Tree;
use proptest::prelude::*;
use serde_json::json;

use super::wire::any_message;
use super::{call, message};
use crate::ecma::{carried, carry, from_ecma, is_envelope, to_ecma};
use crate::wire::{self, Limits};
use interlingua_nlip::wire::Content;
use interlingua_nlip::{self, Format, Keys, Submessage};

#[test]
fn h_24_tool_calls_tokens_and_errors_have_their_place_in_the_message() {
    let envelope = message(json!({"control": {"message_type": "error", "auth_token": "sesame"},
        "content": {"error": "No tool calls found in request"}, "tool_calls": [call("t1", "read_file")]}));
    let message = to_ecma(&envelope);
    assert!(is_envelope(&message) && message.is_error());
    assert_eq!(message.first.content, Content::Text("No tool calls found in request".into()));
    let token = |name: &str| message.submessages.iter().find(|it| it.is(Format::Token, name)).map(|it| &it.content);
    assert_eq!(token("conversation_session"), Some(&Content::Text("s1".into())));
    assert_eq!(token("conversation_context"), Some(&Content::Text("c1".into())));
    assert_eq!(token("authorization_envelope"), Some(&Content::Text("sesame".into())));
    let call = message.labelled("envelope-tool-call").expect("a call");
    assert!(call.is(Format::Structured, "json"));
}

#[test]
fn h_24_no_token_is_in_anything_but_a_token() {
    let envelope = message(
        json!({"control": {"auth_token": "sesame"}, "token": {"context_token": "open", "state_token": "door"}}),
    );
    let message = to_ecma(&envelope);
    for submessage in message.all().filter(|it| it.format != Format::Token) {
        let shown = format!("{:?}", submessage.content);
        assert!(!["sesame", "open", "door"].iter().any(|secret| shown.contains(secret)), "{shown}");
    }
    let token = Submessage::token("authorization", "sesame");
    let carrying = carry(&interlingua_nlip::Message::text("hello").with(token), "m1");
    assert!(!carrying.content.as_str().contains("sesame"));
    assert!(!format!("{carrying:?}").contains("sesame"));
}

#[test]
fn a_person_can_read_what_an_envelope_is_about() {
    let words = |changes: Tree| match to_ecma(&message(changes)).first.content {
        Content::Text(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(words(json!({"content": {"messages": [{"role": "user", "content": "Hello"}]}})), "Hello");
    assert_eq!(words(json!({"tool_calls": [call("t", "read_file")]})), "Please call read_file.");
    assert_eq!(words(json!({"content": {"status": "success", "result": "42"}})), "42");
    assert_eq!(words(json!({})), "A request in a routing envelope.");
}

#[test]
fn a_message_that_claims_to_be_an_envelope_is_checked() {
    let whole = to_ecma(&message(json!({"tool_calls": [call("t1", "read_file")]})));
    assert!(from_ecma(&whole, &Limits::default()).is_ok());
    let control = whole.submessages.iter().position(|it| it.has_label("envelope-control")).expect("control");
    let mut without = whole.clone();
    without.submessages.remove(control);
    assert!(from_ecma(&without, &Limits::default()).is_err());
    let twice = whole.clone().with(whole.submessages[control].clone());
    assert!(from_ecma(&twice, &Limits::default()).is_err());
    let extra = whole.clone().with(Submessage::text("and another thing"));
    assert_eq!(from_ecma(&extra, &Limits::default()).expect("readable").losses.len(), 1);
    assert!(from_ecma(&whole, &Limits { tool_calls: 0, ..Limits::default() }).is_err());
    let smuggled = json!({"message_type": "request", "message_id": "m", "auth_token": "x"});
    let mut smuggling = whole;
    smuggling.submessages[control].content = Content::Json(smuggled.into());
    let both = smuggling.clone().with(Submessage::token("authorization_envelope", "y"));
    assert!(from_ecma(&both, &Limits::default()).is_err());
}

#[test]
fn an_envelope_without_its_tokens_carries_nothing() {
    let mut envelope =
        carry(&interlingua_nlip::Message::text("hello").with(Submessage::token("conversation", "x")), "m1");
    assert!(carried(&envelope, &interlingua_nlip::Limits::default()).is_some());
    for state in [None, Some(Secret::new("[]")), Some(Secret::new("[1,2]")), Some(Secret::new("nonsense"))] {
        envelope.token.state_token = state;
        assert_eq!(carried(&envelope, &interlingua_nlip::Limits::default()), None);
    }
    assert_eq!(carried(&message(json!({})), &interlingua_nlip::Limits::default()), None);
}

proptest! {
    #[test]
    fn h_24_every_envelope_survives_the_message(envelope in any_message()) {
        let back = from_ecma(&to_ecma(&envelope), &Limits::default()).expect("an envelope");
        prop_assert_eq!(back.value, envelope);
        prop_assert_eq!(back.losses, vec![]);
    }

    #[test]
    fn h_24_every_envelope_survives_the_message_on_the_wire(envelope in any_message()) {
        let frame = interlingua_nlip::json::encode(&to_ecma(&envelope), Keys::Lower);
        let message = interlingua_nlip::json::decode(&frame.into(), &interlingua_nlip::Limits::default()).expect("a message");
        prop_assert_eq!(from_ecma(&message, &Limits::default()).expect("an envelope").value, envelope);
    }

    #[test]
    fn h_24_every_message_survives_the_envelope(message in interlingua_nlip::arbitrary::any_message()) {
        let frame = carry(&message, "m1").to_bytes();
        let envelope = wire::read(&frame, &Limits::default()).expect("readable").value;
        prop_assert_eq!(carried(&envelope, &interlingua_nlip::Limits::default()), Some(message.clone()));
        let there_and_back = from_ecma(&to_ecma(&envelope), &Limits::default()).expect("an envelope").value;
        prop_assert_eq!(carried(&there_and_back, &interlingua_nlip::Limits::default()), Some(message));
    }
}
