//! Requests to the hub.

use interlingua_model::{
    Answer, Ask, Blob, Body, Call, KindSet, Loss, LossKind, Missing, OnDisconnect, Role, Secret, Signal, SkillId,
    Target, TaskId, Via,
};
use serde_json::json;

use super::*;

fn with(submessages: &str) -> String {
    format!(r#"{{"format":"text","subformat":"english","content":"hi","submessages":[{submessages}]}}"#)
}

fn control(text: &str) -> String {
    format!(r#"{{"messagetype":"control","format":"text","subformat":"english","content":"{text}"}}"#)
}

fn call(text: &str) -> Call {
    match incoming(text).meaning {
        Meaning::Call(call) => *call,
        other => panic!("a call, not {other:?}"),
    }
}

fn target_and_words(call: &Call) -> (&Target, String) {
    match &call.ask {
        Ask::Invoke { target, input } => (target, input.words().into_owned()),
        other => panic!("{other:?}"),
    }
}

fn token(name: &str, content: &str) -> String {
    format!(r#"{{"format":"token","subformat":"{name}","content":{content}}}"#)
}

#[test]
fn n_01_words_at_the_front_door_are_a_call_with_this_wires_manners() {
    let call = call(&with(""));
    assert_eq!(target_and_words(&call), (&Target::Words, "hi".into()));
    assert_eq!((call.id.as_str(), call.id_given), ("m1", false));
    assert_eq!(call.caller.missing, Missing::Question);
    assert!(call.caller.can_answer.has(KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL)));
    assert_eq!((call.limits.on_disconnect, call.limits.keep), (OnDisconnect::Cancel, false));
}

#[test]
fn words_at_a_peers_door_are_for_that_peer() {
    let meaning = at(Addressed::Peer("p".into()), &with("")).unwrap().value.meaning;
    let Meaning::Call(call) = meaning else { panic!("a call") };
    assert_eq!(target_and_words(&call).0, &Target::Peer("p".into()));
}

#[test]
fn n_11_an_unknown_messagetype_asks_like_any_other() {
    let call = call(r#"{"messagetype":"request","format":"text","subformat":"english","content":"hi"}"#);
    assert_eq!(target_and_words(&call), (&Target::Words, "hi".into()));
}

fn words_in(language: &str) -> String {
    let text = format!(r#"{{"format":"text","subformat":"{language}","content":"hello"}}"#);
    target_and_words(&call(&text)).1
}

#[test]
fn n_19_english_is_understood() {
    assert_eq!([words_in("English"), words_in("english")], ["hello", "hello"]);
}

#[test]
fn n_20_language_tags_are_understood_as_well_as_names() {
    for language in ["en", "en-US", "conversational english", "es"] {
        assert_eq!(words_in(language), "hello", "{language}");
    }
}

#[test]
fn n_21_every_format_becomes_a_part_with_its_label() {
    let call = call(&with(
        r#"{"format":"structured","subformat":"application/json","content":{"a":1},"label":"L"},
           {"format":"structured","subformat":"uri","content":"https://example.org/"},
           {"format":"structured","subformat":"html","content":"<p>"},
           {"format":"structured","subformat":"Python","content":"print()"},
           {"format":"binary","subformat":"generic/pdf","content":"AAEC"},
           {"format":"location","subformat":"GPS","content":"48.1,11.6"},
           {"format":"location","subformat":"text","content":"at home"},
           {"format":"generic","subformat":"acme","content":[1]}"#,
    ));
    let Ask::Invoke { input, .. } = &call.ask else { panic!("words") };
    let bodies: Vec<&Body> = input.parts.iter().map(|part| &part.body).collect();
    assert_eq!(bodies[1], &Body::Data(json!({"a": 1}).into()));
    assert_eq!(input.parts[1].label.as_deref(), Some("L"));
    assert_eq!((bodies[2], input.parts[2].uri.as_deref()), (&Body::Link, Some("https://example.org/")));
    assert_eq!(bodies[3], &Body::Code { source: "<p>".into(), language: "html".into() });
    assert_eq!(bodies[4], &Body::Code { source: "print()".into(), language: "Python".into() });
    assert_eq!(bodies[5], &Body::Blob(Blob::Inline(Bytes::from_static(&[0, 1, 2]))));
    assert_eq!(input.parts[5].media.as_deref(), Some("application/pdf"));
    assert_eq!(bodies[6], &Body::Place { text: None, gps: Some("48.1,11.6".into()) });
    assert_eq!(bodies[7], &Body::Place { text: Some("at home".into()), gps: None });
    assert_eq!(bodies[8], &Body::Other { namespace: "acme".into(), value: json!([1]).into() });
}

#[test]
fn structured_content_sent_as_text_is_read() {
    let call = call(&with(r#"{"format":"structured","subformat":"json","content":"{\"a\": 1}"}"#));
    let Ask::Invoke { input, .. } = &call.ask else { panic!("words") };
    assert_eq!(input.parts[1].body, Body::Data(json!({"a": 1}).into()));
}

#[test]
fn n_23_a_dot_before_an_encoding_says_nothing() {
    for (subformat, media) in [
        ("image/.png", "image/png"),
        ("image/png", "image/png"),
        ("VIDEO/.mp4;base64", "video/mp4"),
        ("sensor/raw", "sensor/raw"),
        ("generic/text/csv", "text/csv"),
    ] {
        let call = call(&format!(r#"{{"format":"binary","subformat":"{subformat}","content":"AAEC"}}"#));
        let Ask::Invoke { input, .. } = &call.ask else { panic!("words") };
        assert_eq!(input.parts[0].media.as_deref(), Some(media));
    }
}

#[test]
fn n_24_source_code_in_a_language_nobody_reads_is_answered_in_words() {
    let meaning = incoming(r#"{"format":"structured","subformat":"cobol","content":"STOP RUN."}"#).meaning;
    assert!(matches!(&meaning, Meaning::Own(Own::Unread { language }) if &**language == "cobol"), "{meaning:?}");
}

/// What goes back of these tokens.
fn echoed(tokens: &[String]) -> Vec<Submessage> {
    let read = incoming(&with(&tokens.join(",")));
    let Meaning::Call(call) = read.meaning else { panic!("a call") };
    assert_eq!(call.input().unwrap().parts.len(), 1, "a token is never a part");
    read.reply.echo
}

#[test]
fn n_25_a_conversation_token_goes_back() {
    assert_eq!(echoed(&[token("conversation", "\"A\"")]), [Submessage::token("conversation", "A")]);
}

#[test]
fn n_26_a_suffixed_conversation_token_goes_back_with_its_suffix() {
    assert_eq!(echoed(&[token("Conversation_alice", "\"A\"")]), [Submessage::token("Conversation_alice", "A")]);
}

#[test]
fn n_27_all_of_several_tokens_go_back_in_order() {
    let both = [token("conversation", "\"A\""), token("conversation", "\"B\"")];
    assert_eq!(echoed(&both), [Submessage::token("conversation", "A"), Submessage::token("conversation", "B")]);
}

#[test]
fn n_28_an_authentication_token_goes_back() {
    assert_eq!(echoed(&[token("authentication", "\"D\"")]), [Submessage::token("authentication", "D")]);
}

#[test]
fn n_29_a_token_of_any_name_and_content_goes_back_as_it_came() {
    let odd = [token("group_7", "{\"g\": [7, 1.10]}"), r#"{"format":"TOKEN","subformat":"x","content":7}"#.to_owned()];
    let back = Message { messagetype: None, first: Submessage::text("hi"), submessages: echoed(&odd) };
    assert_eq!(written(&back), with(&odd.join(",")));
}

#[test]
fn n_31_a_token_keeps_its_label() {
    let labelled = r#"{"format":"token","subformat":"x","content":"E","label":"L1"}"#.to_owned();
    assert_eq!(echoed(&[labelled]), [Submessage::token("x", "E").labelled("L1")]);
}

#[test]
fn n_30_a_token_may_come_first() {
    let alone = incoming(r#"{"format":"token","subformat":"conversation","content":"A","label":"L"}"#);
    assert!(matches!(alone.meaning, Meaning::Own(Own::Remark)));
    assert_eq!(alone.reply.echo, [Submessage::token("conversation", "A").labelled("L")]);
    let followed = call(
        r#"{"format":"token","subformat":"conversation","content":"A","submessages":[
            {"format":"text","subformat":"english","content":"hi"}]}"#,
    );
    assert_eq!(target_and_words(&followed).1, "hi");
}

#[test]
fn n_32_only_tokens_are_tokens() {
    let text = with(
        r#"{"format":"text","subformat":"conversational english","content":"so"},{"format":"token","subformat":"conversation","content":"A"}"#,
    );
    let read = incoming(&text);
    assert_eq!(read.reply.echo.len(), 1);
    let Meaning::Call(call) = read.meaning else { panic!("a call") };
    assert_eq!(call.input().unwrap().words(), "hi\nso");
}

#[test]
fn our_own_conversation_token_is_known_by_its_name_and_not_echoed() {
    let read = incoming(&with(&[token("conversation_H", "\"C1\""), token("conversation_other", "\"C2\"")].join(",")));
    assert_eq!(read.reply.conversation, Some("C1".into()));
    assert_eq!(read.reply.echo.len(), 1);
    let Meaning::Call(call) = read.meaning else { panic!("a call") };
    assert_eq!(call.conversation, Some("C1".into()));
}

#[test]
fn n_70_authentication_tokens_are_credentials_whatever_word_is_used() {
    let read = incoming(&with(
        &[token("authentication", "\"s1\""), token("Authorization_x", "\"s2\""), token("authenticated", "\"no\"")]
            .join(","),
    ));
    assert_eq!(read.credentials, [Secret::new("s1"), Secret::new("s2")]);
    assert!(!format!("{read:?}").contains("s1"));
}

#[test]
fn n_35_a_control_message_is_answered_as_one() {
    let read = incoming(&control("please note"));
    assert!(read.reply.control);
    assert!(matches!(read.meaning, Meaning::Own(Own::Remark)));
    assert!(incoming(r#"{"control":true,"format":"text","subformat":"english","content":"x"}"#).reply.control);
}

#[test]
fn n_37_a_request_for_an_upload_address_is_found_in_english_and_spanish() {
    for text in [
        "Where do large uploads go?",
        "I need an upload end-point.",
        "Please give me a URL to upload a file",
        "How do I send a very LARGE file?",
        "¿Dónde puedo subir un archivo?",
        "Necesito enviar datos grandes",
    ] {
        assert!(matches!(incoming(&control(text)).meaning, Meaning::Own(Own::Upload)), "{text}");
    }
    for text in ["hello", "what is uploadable?", "largest sender"] {
        assert!(!matches!(incoming(&control(text)).meaning, Meaning::Own(Own::Upload)), "{text}");
    }
    assert!(matches!(incoming(&with("")).meaning, Meaning::Call(_)), "only a control message asks it");
}

#[test]
fn an_application_may_read_control_messages_its_own_way() {
    let hub = HubId::from("h");
    let hook = |text: &str| (text == "parcel?").then_some(phrases::Wish::Upload);
    let context = Context {
        hub: &hub,
        door: Addressed::Front,
        message: "m".into(),
        now: NOW,
        headers: Headers::default(),
        depth: 128,
        hook: Some(&hook),
    };
    let read = decode(message(&control("parcel?")), &context).unwrap().value;
    assert!(matches!(read.meaning, Meaning::Own(Own::Upload)));
}

#[test]
fn what_it_can_do_is_a_query() {
    for text in ["What can you do?", "¿Qué puedes hacer?", "list your skills"] {
        let text = format!(r#"{{"format":"text","subformat":"english","content":"{text}"}}"#);
        assert!(matches!(incoming(&text).meaning, Meaning::Own(Own::Skills(None))), "{text}");
        let meaning = at(Addressed::Peer("p".into()), &text).unwrap().value.meaning;
        assert!(matches!(meaning, Meaning::Call(_)), "a peer answers for itself");
    }
    assert!(matches!(incoming(&control("your capabilities?")).meaning, Meaning::Own(Own::Skills(None))));
    let meaning = at(Addressed::Peer("p".into()), &control("what can you do")).unwrap().value.meaning;
    assert!(matches!(meaning, Meaning::Own(Own::Skills(Some(peer))) if peer.as_str() == "p"));
}

fn called(members: &str) -> String {
    format!(r#"{{"format":"structured","subformat":"json","label":"Interlingua-Call","content":{members}}}"#)
}

#[test]
fn a_call_by_name_keeps_its_arguments_byte_for_byte() {
    let made = call(&with(&called(
        r#"{"skill":"a/b","version":"2","id":"k1","arguments":{"n": 1.10,"z":12345678901234567890123}}"#,
    )));
    let Ask::Invoke { target, input } = &made.ask else { panic!("a skill") };
    assert_eq!(target, &Target::Skill(SkillId::new("a", "b"), Some("2".into())));
    assert_eq!(input.args.as_ref().unwrap().as_str(), r#"{"n": 1.10,"z":12345678901234567890123}"#);
    assert_eq!((made.id.as_str(), made.id_given), ("k1", true));
}

#[test]
fn several_calls_stand_in_one_message() {
    let list = [called(r#"{"skill":"a/b"}"#), called(r#"{"capability":"translate"}"#)].join(",");
    let Meaning::Own(Own::Calls(calls)) = incoming(&with(&list)).meaning else { panic!("calls") };
    assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["m1/0", "m1/1"]);
    let Ask::Invoke { target, input } = &calls[1].ask else { panic!("a capability") };
    assert_eq!((target, input.args.as_ref().unwrap().as_str()), (&Target::Capability("translate".into()), "{}"));
}

#[test]
fn a_call_that_is_none_is_refused_where_it_stands() {
    for members in ["7", "{}", r#"{"skill":3}"#, r#"{"skill":"nopeer"}"#, r#"{"skill":"a/b","arguments":[]}"#] {
        let invalid = at(Addressed::Front, &with(&called(members))).unwrap_err();
        assert_eq!((invalid.path.as_str(), invalid.class()), (labels::CALL, Class::Schema), "{members}");
    }
    assert!(
        at(Addressed::Peer("p".into()), &with(&called(r#"{"skill":"nopeer"}"#))).is_ok(),
        "the peer is known there"
    );
}

#[test]
fn an_answer_names_its_question() {
    let task = TaskId(0xabc);
    let answered = |members: &str| {
        let text = format!(
            r#"{{"format":"structured","subformat":"json","label":"interlingua-answer","content":{{"id":"{task}.2",{members}}}}}"#
        );
        match incoming(&with(&text)).meaning {
            Meaning::Signal { to, signal: Signal::Answered { question, message, answer } } => {
                assert_eq!((to, question.to_string()), (task, format!("{task}.2")));
                assert_eq!(message.as_str(), "m1");
                answer
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(answered(r#""approve":true"#), Answer::Granted);
    assert_eq!(answered(r#""approve":false"#), Answer::Declined);
    assert_eq!(answered(r#""decline":true"#), Answer::Declined);
    assert_eq!(answered(r#""visited":true"#), Answer::Visited);
    assert_eq!(answered(r#""dismiss":true"#), Answer::Dismissed);
    let Answer::Given(words) = answered(r#""answer":"May 1""#) else { panic!("words") };
    assert_eq!(words.words(), "May 1");
    let Answer::Given(form) = answered(r#""answer":{"date":"May 1"}"#) else { panic!("a form") };
    assert_eq!(form.args.unwrap().as_str(), r#"{"date":"May 1"}"#);
}

#[test]
fn a_token_beside_the_id_of_a_question_is_the_answer() {
    let text = with(&format!(
        r#"{{"format":"structured","subformat":"json","label":"interlingua-answer","content":{{"id":"{}.0"}}}},{}"#,
        TaskId(1),
        token("authentication", "\"s\"")
    ));
    let Meaning::Signal { signal: Signal::Answered { answer, .. }, .. } = incoming(&text).meaning else {
        panic!("an answer")
    };
    assert_eq!(answer, Answer::Token(Secret::new("s")));
}

#[test]
fn answers_that_are_none_are_refused() {
    let id = format!("\"id\":\"{}.0\"", TaskId(1));
    for members in
        ["", r#""id":"x""#, &id, &format!(r#"{id},"approve":"yes""#), &format!(r#"{id},"approve":true,"decline":true"#)]
    {
        let text = format!(
            r#"{{"format":"structured","subformat":"json","label":"interlingua-answer","content":{{{members}}}}}"#
        );
        let invalid = at(Addressed::Front, &with(&text)).unwrap_err();
        assert_eq!(invalid.class(), Class::Schema, "{members}");
    }
}

#[test]
fn n_72_labels_that_are_roles_and_numbers_are_history() {
    let turn = |label: &str, text: &str| {
        format!(r#"{{"format":"text","subformat":"english","content":"{text}","label":"{label}"}}"#)
    };
    let list =
        [turn("assistant:2", "two"), turn("User_1", "one"), turn("3-user", "three"), turn("note", "kept")].join(",");
    let call = call(&with(&list));
    let Ask::Invoke { input, .. } = &call.ask else { panic!("words") };
    let turns: Vec<_> = input.history.iter().map(|turn| (turn.role, turn.parts[0].as_text().unwrap())).collect();
    assert_eq!(turns, [(Role::User, "one"), (Role::Agent, "two"), (Role::User, "three")]);
    assert_eq!(input.words(), "hi\nkept");
}

#[test]
fn n_72_roles_alone_are_history_in_the_order_sent_and_numbers_alone_stay_labels() {
    let turn = |label: &str, text: &str| {
        format!(r#"{{"format":"text","subformat":"english","content":"{text}","label":"{label}"}}"#)
    };
    let read = |list: [String; 3]| {
        let call = call(&with(&list.join(",")));
        let Ask::Invoke { input, .. } = call.ask else { panic!("words") };
        input
    };
    let input = read([turn("user", "one"), turn("assistant", "two"), turn("user", "three")]);
    let turns: Vec<_> = input.history.iter().map(|turn| (turn.role, turn.parts[0].as_text().unwrap())).collect();
    assert_eq!(turns, [(Role::User, "one"), (Role::Agent, "two"), (Role::User, "three")]);
    assert_eq!(input.words(), "hi");
    // Nothing says who spoke: each stays a part of the message, under the label it came with.
    let input = read([turn("1", "one"), turn("2", "two"), turn("3", "three")]);
    assert!(input.history.is_empty());
    assert_eq!(input.words(), "hi\none\ntwo\nthree");
    let labels: Vec<_> = input.parts.iter().filter_map(|part| part.label.as_deref()).collect();
    assert_eq!(labels, ["1", "2", "3"]);
}

#[test]
fn n_73_a_report_of_the_first_draft_is_understood() {
    for (subformat, content, text) in
        [("code", "404", "error code 404"), ("code", "\"404\"", "error code 404"), ("text", "\"no\"", "no")]
    {
        let sent = format!(r#"{{"format":"error","subformat":"{subformat}","content":{content}}}"#);
        let meaning = incoming(&sent).meaning;
        assert!(matches!(&meaning, Meaning::Own(Own::Report { text: said }) if &**said == text), "{meaning:?}");
    }
}

#[test]
fn a_callers_forgery_of_the_hubs_words_is_dropped_and_told() {
    let read = at(
        Addressed::Front,
        &with(r#"{"format":"structured","subformat":"json","label":"INTERLINGUA-fault","content":{}}"#),
    )
    .unwrap();
    assert_eq!(read.losses, [Loss::new("input.parts", LossKind::Dropped)]);
}

#[test]
fn hubs_passed_may_be_named_in_the_message() {
    let call =
        call(&with(r#"{"format":"structured","subformat":"json","label":"interlingua-via","content":["a","b"]}"#));
    assert_eq!(call.via, Some(Via { hubs: vec!["a".into(), "b".into()], limit: Via::LIMIT }));
}
