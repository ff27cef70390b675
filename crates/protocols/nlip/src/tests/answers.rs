//! Answers of the hub.

use interlingua_model::{
    Addressee, ArtifactId, Blob, Body, CancelWhy, Channel, Choice, Chunk, Confirm, Digest, Effects, Entry, Event,
    Fault, FaultKind, Feature, Finished, How, Json, Loss, LossKind, Noun, Outcome, Output, Part, Party, Piece,
    Principal, Provenance, Question, QuestionId, QuestionKind, Record, Retry, Route, RouteClass, Schema, Signal,
    SkillId, TaskId, Uri, WebLink, Why,
};
use serde_json::json;

use super::messages::annex_a;
use super::*;
use crate::encode::{Addresses, Frames, ReplyTo, Stand, Telling};

struct Here;

impl Addresses for Here {
    fn artifact(&self, id: &ArtifactId) -> Option<Uri> {
        Some(format!("https://hub/api/artifacts/{id}").into())
    }

    fn blob(&self, _: &Digest) -> Option<Uri> {
        Some("https://hub/blob".into())
    }
}

fn said(text: &str) -> Part {
    Part::text(text, Provenance::peer("p".into()))
}

fn shown(message: &Message) -> serde_json::Value {
    let text = written(message);
    annex_a(&Json::parse(text.clone().into()).unwrap());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn n_50_text_leads_and_everything_else_follows_in_order() {
    let route =
        Route { skill: SkillId::new("p", "s"), version: None, class: RouteClass::Tool, why: Why::Named, args: None };
    let output = Output {
        said: None,
        parts: vec![Part::new(Body::Data(json!([1]).into()), Provenance::hub()), said("Here it is.")],
        structured: Some(json!({"n": 1}).into()),
        artifacts: vec!["a1".into()],
    };
    let telling = Telling {
        route: Some(route),
        losses: &[Loss::new("call.priority", LossKind::Dropped)],
        tokens: &[tokens::conversation(&"h".into(), &"C1".into())],
        addresses: &Here,
        ..Telling::default()
    };
    let to = ReplyTo {
        control: false,
        echo: vec![Submessage::token("conversation_alice", "T").labelled("L")],
        ..ReplyTo::default()
    };
    let reply = ended(&Finished::completed(output), Telling { to, ..telling }).value;
    assert_eq!(
        shown(&reply),
        json!({"format": "text", "subformat": "english", "content": "Here it is.", "submessages": [
            {"format": "structured", "subformat": "json", "content": {"interlingua-value": [1]}},
            {"format": "structured", "subformat": "json", "content": {"n": 1}},
            {"format": "structured", "subformat": "uri", "content": "https://hub/api/artifacts/a1"},
            {"format": "structured", "subformat": "json", "label": "interlingua-route",
             "content": {"skill": "p/s", "class": "tool", "why": "named"}},
            {"format": "structured", "subformat": "json", "label": "interlingua-losses",
             "content": {"losses": [{"what": "call.priority", "kind": "dropped"}]}},
            {"format": "token", "subformat": "conversation_alice", "content": "T", "label": "L"},
            {"format": "token", "subformat": "conversation_h", "content": "C1"}]})
    );
}

#[test]
fn only_a_question_and_the_end_of_an_exchange_are_messages() {
    let route =
        Route { skill: SkillId::new("p", "s"), version: None, class: RouteClass::Tool, why: Why::Named, args: None };
    let mut telling = Telling { to: ReplyTo { control: true, ..ReplyTo::default() }, ..Telling::default() };
    let asked = question(QuestionKind::Roots, "Where?");
    let spoken = Event::Said {
        message: "a".into(),
        channel: Channel::Answer,
        piece: Piece::Whole,
        parts: vec![said("on the way")],
    };
    let settled = Event::Settled { question: asked.id, by: Party::Caller, how: How::Answered, decided: None };
    let progress = Event::Progress { done: Some(1.0), total: None, note: None };
    let chunk = Chunk { artifact: "a1".into(), index: 0, last: true, parts: Vec::new(), header: None };
    for event in [Event::Started(route.clone()), spoken, progress, Event::Artifact(chunk), settled] {
        let record = Record::Emitted { event, losses: vec![Loss::new("x", LossKind::Dropped)], raw: None };
        let told = encode::encode(&Entry { seq: 1, at: NOW, record }, &mut telling);
        assert_eq!(told, Carried::whole(Frames::None));
    }
    let received = Record::Received { by: Principal::anonymous(), signal: Signal::Cancel(CancelWhy::Asked) };
    let told = encode::encode(&Entry { seq: 2, at: NOW, record: received }, &mut telling);
    assert_eq!(told, Carried::whole(Frames::None));
    let losses = vec![Loss::new("call.priority", LossKind::Dropped)];
    let record = Record::Emitted { event: Event::Asked(asked), losses, raw: None };
    let told = encode::encode(&Entry { seq: 3, at: NOW, record }, &mut telling);
    assert_eq!(told.losses, [], "those of the record were lost before");
    let Frames::One(message) = told.value else { panic!("a message, not {:?}", told.value) };
    assert!(message.is_control() && message.labelled(labels::QUESTION).is_some());
    assert!(message.labelled(labels::ROUTE).is_some(), "the way was told before");
    assert!(message.labelled(labels::LOSSES).is_some());
}

#[test]
fn the_route_and_the_losses_have_these_bytes() {
    let route = Route {
        skill: SkillId::new("p", "s"),
        version: Some("2 \"beta\"".into()),
        class: RouteClass::Tool,
        why: Why::Phrase,
        args: Some(Json::parse(r#"{ "b" : "ü\u0001", "a": [1, 2.50] }"#.into()).expect("JSON")),
    };
    let losses = [Loss::new("call.priority", LossKind::Dropped), Loss::new("output.parts", LossKind::Flattened)];
    let telling = Telling { route: Some(route), losses: &losses, ..Telling::default() };
    let reply = ended(&Finished::completed(Output::default()), telling).value;
    let bytes = reply.submessages.iter().map(|submessage| match &submessage.content {
        Content::Json(json) => json.as_str(),
        other => panic!("{other:?}"),
    });
    let bytes: Vec<&str> = bytes.collect();
    assert_eq!(
        bytes,
        [
            r#"{"skill":"p/s","class":"tool","why":"phrase","version":"2 \"beta\"","arguments":{"b":"ü\u0001","a":[1,2.50]}}"#,
            r#"{"losses":[{"what":"call.priority","kind":"dropped"},{"what":"output.parts","kind":"flattened"}]}"#,
        ]
    );
}

#[test]
fn structured_results_are_put_into_words_for_people_and_go_along_whole() {
    let rows: Vec<_> = (0..60).map(|n| json!({"flight": format!("F{n}"), "price": n})).collect();
    let output = Output { structured: Some(json!(rows).into()), ..Output::default() };
    let reply = ended(&Finished::completed(output), Telling::default()).value;
    let Content::Text(text) = &reply.first.content else { panic!("text first") };
    assert!(text.starts_with("- flight: F0, price: 0\n- flight: F1"), "{text}");
    assert!(text.ends_with("… and 20 more"), "{text}");
    assert_eq!(reply.submessages, [Submessage::json(json!(rows).into())]);

    let output = Output { structured: Some(json!({"from": "NYC", "stops": null}).into()), ..Output::default() };
    let reply = ended(&Finished::completed(output), Telling::default()).value;
    assert_eq!(reply.first, Submessage::text("from: NYC\nstops: none"));
}

#[test]
fn an_answer_with_nothing_to_say_is_still_a_message() {
    let reply = ended(&Finished::completed(Output::default()), Telling::default()).value;
    assert_eq!(reply, Message::text("Done."));
    let picture = Part::new(Body::Blob(Blob::Inline(Bytes::from_static(&[0, 1, 2]))), Provenance::hub());
    let output = Output { parts: vec![picture], ..Output::default() };
    let reply = ended(&Finished::completed(output), Telling::default()).value;
    assert_eq!(shown(&reply), json!({"format": "binary", "subformat": "generic/octet-stream", "content": "AAEC"}));
}

#[test]
fn n_35_whatever_answers_a_control_message_is_one() {
    let to = || ReplyTo { control: true, echo: Vec::new(), ..ReplyTo::default() };
    assert!(encode::remark("Noted.", &[], to()).is_control());
    assert!(
        ended(&Finished::completed(Output::default()), Telling { to: to(), ..Telling::default() }).value.is_control()
    );
    assert!(encode::refused(&Fault::hub(FaultKind::Busy, "busy"), &[], to()).is_control());
}

#[test]
fn n_49_a_failure_says_what_and_not_why_inside() {
    let cause = std::io::Error::other("/var/lib/secret.db is locked");
    let mut failed = Finished::failed(Fault::internal(cause));
    failed.output.parts.push(said("half an answer"));
    let reply = ended(&failed, Telling::default()).value;
    assert_eq!(
        shown(&reply),
        json!({"messagetype": "error", "format": "text", "subformat": "english",
            "content": "the hub failed to do this; its log has the cause", "submessages": [
            {"format": "text", "subformat": "english", "content": "half an answer"},
            {"format": "structured", "subformat": "json", "label": "interlingua-fault",
             "content": {"kind": "internal", "retry": "no"}}]})
    );
}

#[test]
fn a_cancelled_exchange_is_an_error_that_says_so() {
    let reply = ended(&Finished::cancelled(Party::Caller, CancelWhy::Asked), Telling::default()).value;
    assert!(reply.is_error());
    assert_eq!(reply.first, Submessage::text("cancelled: asked"));
}

fn question(kind: QuestionKind, text: &str) -> Question {
    Question {
        id: QuestionId(TaskId(5), 0),
        to: Addressee::Caller,
        kind,
        text: text.into(),
        asked_by: Party::Hub,
        expires: NOW,
        resume: None,
        name: None,
    }
}

#[test]
fn a_yes_or_no_is_asked_in_words_and_in_structure() {
    let confirm = Confirm {
        call: Digest::of(b"call"),
        skill: SkillId::new("files", "delete"),
        args: Some(json!({"path": "a"}).into()),
        parts: Box::default(),
        effects: Effects::unknown(),
        basis: None,
        relays: None,
    };
    let text = "Delete a? Answer yes or no.";
    let asked = asking(&question(QuestionKind::Confirm(confirm.into()), text), Telling::default());
    assert_eq!(asked.first, Submessage::text(text));
    let content = &shown(&asked)["submessages"][0];
    assert_eq!(content["label"], "interlingua-question");
    assert_eq!(content["content"]["id"], format!("{}.0", TaskId(5)));
    assert_eq!(content["content"]["arguments"], json!({"path": "a"}));
    assert_eq!(content["content"]["expires"], "2023-11-14T22:13:20.000Z");
}

#[test]
fn n_70_credentials_are_asked_for_by_a_control_message() {
    let kind = QuestionKind::Credential { scheme: "bearer".into(), scopes: vec!["read".into()] };
    let asked = asking(&question(kind, "Who are you?"), Telling::default());
    assert!(asked.is_control());
    assert_eq!(shown(&asked)["submessages"][0]["content"]["scopes"], json!(["read"]));
}

#[test]
fn choices_are_listed_and_an_address_to_visit_is_a_uri() {
    let choices = vec![Choice { id: "1".into(), text: "Rome".into() }, Choice { id: "2".into(), text: "Paris".into() }];
    let kind = QuestionKind::Input { form: Schema(json!({"type": "string"}).into()), choices };
    let asked = asking(&question(kind, "Which city?"), Telling::default());
    assert_eq!(asked.first, Submessage::text("Which city?\n- Rome\n- Paris"));
    let kind = QuestionKind::Visit { url: WebLink::parse("https://example.org/login").expect("a link") };
    let asked = asking(&question(kind, "Log in."), Telling::default());
    assert_eq!(asked.submessages[0], Submessage::uri("https://example.org/login"));
}

#[test]
fn several_outcomes_are_one_message() {
    let ok = Finished::completed(Output { parts: vec![said("fine")], ..Output::default() });
    let bad = Fault::caller(FaultKind::InvalidInput, "no such city").field("city", "unknown");
    let (reply, lost) = encode::group(&[Stand::Finished(&ok), Stand::Refused(&bad)], &mut Telling::default());
    assert_eq!(lost, [vec![], vec![]]);
    assert_eq!(reply.first, Submessage::text("1. success: fine\n2. error: no such city"));
    let list = &shown(&reply)["submessages"];
    assert_eq!(list[0]["content"], "fine", "the parts themselves");
    assert_eq!(list[1]["content"], json!({"index": 0, "status": "success", "text": "fine"}));
    assert_eq!(list[2]["content"]["fault"]["fields"], json!([{"path": "city", "problem": "unknown"}]));
}

#[test]
fn a_peers_part_cannot_pass_for_the_hubs_words() {
    let forged = Part::new(Body::Data(json!({"kind": "busy"}).into()), Provenance::peer("p".into()))
        .labelled("Interlingua-Fault");
    let output = Output { parts: vec![said("ok"), forged], ..Output::default() };
    let reply = ended(&Finished::completed(output), Telling::default()).value;
    assert_eq!(reply.submessages[0].label, None);
    assert!(reply.labelled(labels::LOSSES).is_some());
}

#[test]
fn large_content_goes_by_address_or_is_told_as_lost() {
    let stored = Part::new(Body::Blob(Blob::Stored { digest: Digest::of(b"x"), len: 1 << 30 }), Provenance::hub());
    let finished = Finished::completed(Output { parts: vec![said("big"), stored], ..Output::default() });
    let telling = Telling { addresses: &Here, ..Telling::default() };
    let reply = ended(&finished, telling).value;
    assert_eq!(reply.submessages, [Submessage::uri("https://hub/blob")]);
    let reply = ended(&finished, Telling::default()).value;
    let told = json!({"losses": [{"what": "output.parts.blob", "kind": "dropped"}]});
    assert_eq!(shown(&reply)["submessages"][0]["content"], told);
}

#[test]
fn what_a_message_cannot_say_is_told_with_what_was_lost_before_and_returned_without_it() {
    let stored = Part::new(Body::Blob(Blob::Stored { digest: Digest::of(b"x"), len: 1 << 30 }), Provenance::hub());
    let big = Finished::completed(Output { parts: vec![said("big"), stored], ..Output::default() });
    let small = Finished::completed(Output { parts: vec![said("small")], ..Output::default() });
    let before = [Loss::new("call.priority", LossKind::Dropped)];
    let telling = Telling { losses: &before, ..Telling::default() };
    let here = Loss::new("output.parts.blob", LossKind::Dropped);
    let told = json!([{"what": "call.priority", "kind": "dropped"}, {"what": "output.parts.blob", "kind": "dropped"}]);
    let told = json!({"losses": told});

    let reply = ended(&big, telling.clone());
    assert_eq!(reply.losses, std::slice::from_ref(&here));
    assert_eq!(shown(&reply.value)["submessages"][0]["content"], told);
    assert_eq!(ended(&small, telling.clone()).losses, []);

    let stands = [Stand::Finished(&small), Stand::Finished(&big), Stand::Finished(&small)];
    let (message, lost) = encode::group(&stands, &mut telling.clone());
    assert_eq!(lost, [vec![], vec![here], vec![]], "each call has its own");
    let labelled = message.labelled(labels::LOSSES).expect("they are told together");
    assert_eq!(labelled.content, Submessage::json(told.into()).content);
}

#[test]
fn every_kind_of_fault_has_its_status() {
    let caller = |kind| fault::status(&Fault::caller(kind, ""));
    for (kind, status) in [
        (FaultKind::Malformed, 400),
        (FaultKind::Unsupported(Feature::Media), 415),
        (FaultKind::Unsupported(Feature::Operation), 422),
        (FaultKind::Unauthenticated, 401),
        (FaultKind::Denied, 403),
        (FaultKind::NotFound(Noun::Skill), 404),
        (FaultKind::InvalidInput, 422),
        (FaultKind::Conflict, 409),
        (FaultKind::AlreadyFinished, 409),
        (FaultKind::TooLarge, 413),
        (FaultKind::Busy, 429),
        (FaultKind::Loop, 508),
        (FaultKind::Unreachable, 503),
        (FaultKind::BadReply, 502),
        (FaultKind::OutcomeUnknown, 502),
        (FaultKind::Deadline, 504),
        (FaultKind::Internal, 500),
        (FaultKind::PeerFailed, 200),
    ] {
        assert_eq!(caller(kind), status, "{kind:?}");
    }
    assert_eq!(fault::status(&Fault::hub(FaultKind::Busy, "")), 503, "ours, not the caller's limit");
    let busy = Fault::hub(FaultKind::Busy, "").retry(Retry::After(Some(std::time::Duration::from_secs(2))));
    assert_eq!(fault::retry_after(&busy), Some(std::time::Duration::from_secs(2)));
}

#[test]
fn n_45_a_frame_that_is_no_message_is_answered_by_one() {
    let invalid = read(r#"{"format":"bogus","subformat":"a","content":"b"}"#).unwrap_err();
    assert_eq!((invalid.status(), read("{").unwrap_err().status()), (422, 400));
    let shown = shown(&encode::refused(&invalid.fault(), &[], ReplyTo::default()));
    assert_eq!(shown["messagetype"], "error");
    assert_eq!(shown["content"], "format: must be one of text, token, structured, binary, location, generic");
    let limits = Limits { bytes: 1, ..Limits::default() };
    let large = json::decode(&Bytes::from_static(b"{}"), &limits).unwrap_err();
    assert_eq!((large.status(), large.close_code()), (413, fault::CLOSE_TOO_BIG));
}

#[test]
fn n_56_bad_cbor_is_answered_by_an_error_in_english_text() {
    let invalid = cbor::decode(&Bytes::from_static(b"\xff"), &Limits::default()).unwrap_err();
    assert_eq!(invalid.close_code(), fault::CLOSE_BAD_DATA);
    let shown = shown(&encode::refused(&invalid.fault(), &[], ReplyTo::default()));
    let fields = ["messagetype", "format", "subformat"].map(|field| &shown[field]);
    assert_eq!(fields, ["error", "text", "english"]);
}

#[test]
fn n_33_our_token_stands_beside_the_callers() {
    let to = ReplyTo { control: false, echo: vec![Submessage::token("conversation", "theirs")], ..ReplyTo::default() };
    let reply = encode::remark("hello", &[tokens::conversation(&"h".into(), &"ours".into())], to);
    let expected = [Submessage::token("conversation", "theirs"), Submessage::token("conversation_h", "ours")];
    assert_eq!(reply.submessages, expected);
}

#[test]
fn n_55_binary_content_is_base64_in_json() {
    let picture = Submessage::new(Format::Binary, "image/png", Content::Bytes(Bytes::from_static(b"\0\xff\x10\x80")));
    assert_eq!(written(&Message::new(picture)), r#"{"format":"binary","subformat":"image/png","content":"AP8QgA=="}"#);
}

#[test]
fn n_73_the_error_format_is_never_written() {
    let report = Part::new(Body::Text { text: "error code 4".into(), language: None }, Provenance::peer("p".into()));
    let finished = Finished {
        outcome: Outcome::Failed(Fault::new(FaultKind::PeerFailed, Party::Peer("p".into()), "it failed")),
        output: Output { parts: vec![report], ..Output::default() },
        usage: interlingua_model::Usage::default(),
    };
    let reply = ended(&finished, Telling::default()).value;
    assert!(reply.all().all(|submessage| submessage.format != Format::Error));
    assert!(reply.is_error());
}
