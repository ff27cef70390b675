use std::sync::Arc;

use interlingua_model::json::Tree;
use interlingua_model::{
    Addressee, ArtifactId, Blob, Body, CancelWhy, CardFrom, Carried, Channel, Chunk, Confirm, Digest, Effects, Entry,
    Event, Fault, FaultKind, Finished, Json, Level, Loss, LossKind, MessageId, Noun, Output, Part, Party, Piece,
    Principal, Provenance, Question, QuestionId, QuestionKind, Record, Signal, SkillId, TaskId, Text,
};
use serde_json::json;

use super::{NOW, call, decode_whole, message, stamp, tree};
use crate::decode::{Meaning, Own, Tool, disabled};
use crate::encode::{Delivery, Encoder, Frames, Of, Stamp, Telling, refuse};
use crate::wire::{Head, Message};

fn head() -> Head {
    let message = message(json!({}));
    Head { format: message.format, message_id: Some(message.control.message_id), token: message.token }
}

fn tool(id: &str) -> Of {
    Of::Tool(Tool {
        id: id.into(),
        name: "read_file".into(),
        marks: json!({"protocol": "builtin", "tool_category": "massgen_builtin"}).into(),
        form: None,
    })
}

fn encoder(lanes: Vec<Of>, delivery: Delivery) -> Encoder {
    Encoder::new(head(), lanes, delivery, Vec::new())
}

fn told(encoder: &mut Encoder, lane: usize, event: &Event, losses: &[Loss], stamp: Stamp) -> Carried<Frames> {
    let record = Record::Emitted { event: event.clone(), losses: losses.to_vec(), raw: None };
    crate::encode::encode(&Entry { seq: 1, at: NOW, record }, &mut Telling { encoder, lane, stamp })
}

fn tell(encoder: &mut Encoder, lane: usize, event: &Event, losses: &[Loss], stamp: Stamp) -> Option<Message> {
    match told(encoder, lane, event, losses, stamp).value {
        Frames::None => None,
        Frames::One(message) => Some(message),
        Frames::Several(messages) => panic!("one at most, not {messages:?}"),
    }
}

fn text(words: &str) -> Part {
    Part::text(words, Provenance::hub())
}

fn completed(parts: Vec<Part>, structured: Option<Tree>) -> Event {
    let output = Output { parts, structured: structured.map(Json::from_tree), ..Output::default() };
    Event::Finished(Finished::completed(output))
}

fn said(message: &str, channel: Channel, piece: Piece, words: &str) -> Event {
    Event::Said { message: MessageId::from(message), channel, piece, parts: vec![text(words)] }
}

fn encode_one(event: Event) -> Tree {
    let mut encoder = encoder(vec![tool("t1")], Delivery::Whole);
    tree(&tell(&mut encoder, 0, &event, &[], stamp(1)).expect("a response"))
}

fn failed(kind: FaultKind, public: &str) -> Event {
    Event::Finished(Finished::failed(Fault::caller(kind, public)))
}

fn confirmation(question: QuestionId, to: Addressee) -> Event {
    let effects = Effects {
        reads: false,
        writes: true,
        destroys: false,
        spends: false,
        idempotent: false,
        calls: false,
        unknown: false,
        claimed_by: CardFrom::Configuration,
    };
    let confirm = Confirm {
        call: Digest::of(b"call"),
        skill: SkillId::new("files", "write_file"),
        args: Some(json!({"path": "a"}).into()),
        parts: Box::default(),
        effects,
        basis: None,
        relays: None,
    };
    Event::Asked(Question {
        id: question,
        to,
        kind: QuestionKind::Confirm(confirm.into()),
        text: "Write a?".into(),
        asked_by: Party::Hub,
        expires: NOW,
        resume: None,
        name: None,
    })
}

#[test]
fn r_07_a_final_response_has_one_result_of_its_call() {
    let response = encode_one(completed(vec![text("hello")], None));
    let results = response["tool_results"].as_array().expect("results");
    assert_eq!(results.len(), 1);
    assert_eq!((&results[0]["tool_id"], &results[0]["tool_name"]), (&json!("t1"), &json!("read_file")));
    assert_eq!((&results[0]["status"], &results[0]["result"]), (&json!("success"), &json!("hello")));
    assert_eq!(results[0]["error"], Tree::Null);
}

#[test]
fn r_09_a_failed_tool_is_a_response_with_status_error() {
    let response = encode_one(failed(FaultKind::PeerFailed, "the disk is full"));
    assert_eq!(response["control"]["message_type"], "response");
    let result = &response["tool_results"][0];
    assert_eq!((&result["status"], &result["result"]), (&json!("error"), &Tree::Null));
    assert!(result["error"].as_str().expect("text").contains("the disk is full"));
    assert_eq!(response["content"], json!({"status": "error", "result": null}));
}

#[test]
fn r_09_a_protocol_failure_is_an_error_message() {
    let mut encoder = encoder(vec![tool("t1")], Delivery::Whole);
    let fault = Fault::hub(FaultKind::Busy, "too many calls");
    let error = tree(&encoder.refuse(0, &fault, stamp(1)).expect("an error"));
    assert_eq!(error["control"]["message_type"], "error");
    assert_eq!(error["content"]["code"], "busy");
    assert_eq!(error["tool_results"][0]["status"], "error");
    assert_eq!(encoder.http_status(), 429);
}

#[test]
fn r_10_content_is_status_and_result() {
    let response = encode_one(completed(Vec::new(), Some(json!({"rows": [1, 2]}))));
    assert_eq!(response["content"], json!({"status": "success", "result": {"rows": [1, 2]}}));
    assert_eq!(response["tool_results"][0]["result"], json!({"rows": [1, 2]}));
}

#[test]
fn r_11_a_response_is_new_and_names_its_request() {
    let mut encoder = encoder(vec![tool("a"), tool("b")], Delivery::Whole);
    let one = tree(&tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(u128::MAX)).expect("a response"));
    let two = tree(&tell(&mut encoder, 1, &completed(vec![], None), &[], stamp(0)).expect("a response"));
    assert_eq!(one["control"]["message_id"], "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_eq!(two["control"]["message_id"], "00000000-0000-4000-8000-000000000000");
    for response in [&one, &two] {
        assert_eq!(response["control"]["correlation_id"], "m1");
        assert_eq!(response["control"]["timestamp"], "2026-01-01T00:00:00.000Z");
        assert_eq!(response["token"]["session_id"], "s1");
        assert_eq!(response["token"]["context_token"], "c1");
    }
}

#[test]
fn r_12_the_state_token_is_copied_to_responses_and_errors() {
    assert_eq!(encode_one(completed(vec![], None))["token"]["state_token"], "st1");
    let error = tree(&refuse(&head(), &Fault::caller(FaultKind::Malformed, "no"), stamp(1)));
    assert_eq!(error["token"]["state_token"], "st1");
    // An error adds no turn.
    assert_eq!(error["token"]["conversation_turn"], 3);
}

#[test]
fn r_05_the_error_names_the_request() {
    let fault = decode_whole(json!({})).expect_err("refused");
    let error = tree(&refuse(&head(), &fault, stamp(1)));
    assert_eq!(error["control"]["message_type"], "error");
    assert_eq!(error["content"]["error"], "No tool calls found in request");
    assert_eq!(error["content"]["original_request"], "m1");
    assert_eq!(error["metadata"]["final"], true);
}

#[test]
fn r_13_an_error_repeats_the_format_of_its_request() {
    let mut head = head();
    head.format.schema_version = "9.9".into();
    head.format.compression = Some("gzip".into());
    let error = tree(&refuse(&head, &Fault::caller(FaultKind::Malformed, "no"), stamp(1)));
    assert_eq!((&error["format"]["schema_version"], &error["format"]["compression"]), (&json!("9.9"), &json!("gzip")));
}

#[test]
fn r_19_output_is_streamed_in_chunks_and_joined_without_logs() {
    let mut encoder = encoder(vec![tool("t1")], Delivery::Stream);
    let events = [
        said("a", Channel::Answer, Piece::Whole, "one"),
        said("l", Channel::Note(Level::Info), Piece::Whole, "a log line"),
        said("b", Channel::Answer, Piece::Delta, "tw"),
        said("b", Channel::Answer, Piece::Delta, "o"),
        said("b", Channel::Answer, Piece::Delta, ""),
        said("r", Channel::Reasoning, Piece::Whole, "hm"),
        completed(vec![], None),
    ];
    let responses: Vec<Tree> = events
        .iter()
        .enumerate()
        .filter_map(|(n, event)| tell(&mut encoder, 0, event, &[], stamp(n as u128)))
        .map(|message| tree(&message))
        .collect();
    let chunk =
        |text: &str, log: bool| json!({"stream_chunk": text, "tool_id": "t1", "tool_name": "read_file", "is_log": log});
    let contents: Vec<&Tree> = responses.iter().map(|response| &response["content"]).collect();
    let expected =
        [chunk("one", false), chunk("a log line", true), chunk("tw", false), chunk("o", false), chunk("hm", true)];
    assert_eq!(contents[..5], expected.iter().collect::<Vec<_>>());
    assert_eq!(contents[5], &json!({"status": "success", "result": "one\ntwo"}));
    assert!(responses[..5].iter().all(|response| response["tool_results"].is_null()));
}

#[test]
fn r_19_after_a_stream_the_last_response_has_the_blocks_and_where_they_came_from() {
    let mut encoder = encoder(vec![tool("t1")], Delivery::Stream);
    tell(&mut encoder, 0, &said("a", Channel::Answer, Piece::Whole, "see"), &[], stamp(1)).expect("a chunk");
    let blob = Part::new(Body::Blob(Blob::Inline(b"\x01\x02".as_slice().into())), Provenance::hub());
    let last = tell(&mut encoder, 0, &completed(vec![text("see"), blob], None), &[], stamp(2)).expect("a response");
    let last = tree(&last);
    let expected =
        json!({"output": "see", "blocks": [{"type": "text", "text": "see"}, {"type": "blob", "data": "AQI="}]});
    assert_eq!(last["tool_results"][0]["result"], expected);
    assert_eq!(last["tool_results"][0]["metadata"]["protocol"], "builtin");
}

/// As `conformance/deviations.md` says of R-20: reasoning is not passed over, and is told as a log.
#[test]
fn r_20_in_a_chat_reasoning_is_a_log_line_and_no_part_of_the_content() {
    let mut encoder = encoder(vec![Of::Chat], Delivery::Stream);
    let mut next =
        |event: &Event| tell(&mut encoder, 0, event, &[], stamp(1)).map(|message| tree(&message)["content"].clone());
    let thought = next(&said("r", Channel::Reasoning, Piece::Whole, "hm"));
    assert_eq!(thought, Some(json!({"stream_chunk": "hm", "is_log": true})));
    let words = next(&said("a", Channel::Answer, Piece::Whole, "yes"));
    assert_eq!(words, Some(json!({"partial": true, "content": "yes"})));
    assert_eq!(next(&completed(vec![], None)), Some(json!({"partial": false, "complete": true, "content": "yes"})));
}

#[test]
fn r_19_a_whole_answer_has_no_chunks() {
    let mut encoder = encoder(vec![tool("t1")], Delivery::Whole);
    assert!(tell(&mut encoder, 0, &said("a", Channel::Answer, Piece::Whole, "one"), &[], stamp(1)).is_none());
    let last = tree(&tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(2)).expect("a response"));
    assert_eq!(last["content"]["result"], "one");
}

#[test]
fn r_25_results_say_where_they_came_from() {
    let marks = [
        ("mcp__web_search", json!({"protocol": "mcp", "original_format": "mcp_tool_result"})),
        ("custom_tool__search_flights", json!({"protocol": "custom", "tool_type": "massgen_custom"})),
        ("read_file", json!({"protocol": "builtin", "tool_category": "massgen_builtin"})),
    ];
    for (name, expected) in marks {
        let Meaning::Own(Own::Tools(routed)) =
            decode_whole(json!({"tool_calls": [call("t", name)]})).expect("decodable").value.meaning
        else {
            panic!("no calls")
        };
        let mut encoder = encoder(vec![Of::Tool(routed[0].tool.clone())], Delivery::Whole);
        let response = tree(&tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(1)).expect("a response"));
        assert_eq!(response["tool_results"][0]["metadata"], expected, "{name}");
    }
}

#[test]
fn r_34_a_passed_deadline_is_a_timeout() {
    let response = encode_one(failed(FaultKind::Deadline, "30 s have passed"));
    assert!(response["tool_results"][0]["error"].as_str().expect("text").starts_with("timeout"));
}

#[test]
fn r_35_a_confirmation_leaves_the_call_pending() {
    let question = QuestionId(TaskId(7), 1);
    let response = encode_one(confirmation(question, Addressee::Caller));
    assert_eq!(response["tool_results"][0]["status"], "pending");
    assert_eq!(response["content"], json!({"status": "pending", "result": null}));
    assert_eq!(response["metadata"]["confirmation"]["id"], question.to_string());
    assert_eq!(response["metadata"]["confirmation"]["parameters"], json!({"path": "a"}));
    assert_eq!(response["tool_results"][0]["metadata"]["confirmation"]["id"], question.to_string());
    assert_eq!(response["metadata"]["final"], true);
}

#[test]
fn r_35_nothing_follows_the_pending_response() {
    let mut encoder = encoder(vec![tool("t")], Delivery::Stream);
    assert!(
        tell(&mut encoder, 0, &confirmation(QuestionId(TaskId(7), 1), Addressee::Approvers), &[], stamp(1)).is_some()
    );
    assert!(encoder.is_done());
    assert!(tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(2)).is_none());
    assert!(encoder.refuse(0, &Fault::caller(FaultKind::Denied, "no"), stamp(3)).is_none());
}

#[test]
fn a_denied_or_cancelled_call_says_so() {
    let denied = encode_one(failed(FaultKind::Denied, "a person said no"));
    assert!(denied["tool_results"][0]["error"].as_str().expect("text").starts_with("denied"));
    let cancelled = encode_one(Event::Finished(Finished::cancelled(Party::Caller, CancelWhy::Asked)));
    assert!(cancelled["tool_results"][0]["error"].as_str().expect("text").starts_with("cancelled"));
}

#[test]
fn h_09_every_response_to_one_request_has_the_hubs_turn() {
    let mut head = head();
    head.token.conversation_turn = 17;
    let mut encoder = Encoder::new(head, vec![tool("a"), tool("b")], Delivery::Whole, Vec::new());
    for lane in [0, 1] {
        let response = tree(&tell(&mut encoder, lane, &completed(vec![], None), &[], stamp(1)).expect("a response"));
        assert_eq!(response["token"]["conversation_turn"], 17);
    }
}

#[test]
fn h_10_responses_are_numbered_and_the_last_is_marked() {
    let mut encoder = encoder(vec![tool("a"), tool("b"), tool("c")], Delivery::Stream);
    let fault = Fault::caller(FaultKind::NotFound(Noun::Skill), "no tool");
    let messages = [
        tell(&mut encoder, 1, &said("m", Channel::Answer, Piece::Delta, "x"), &[], stamp(1)),
        tell(&mut encoder, 2, &completed(vec![], None), &[], stamp(2)),
        encoder.refuse(0, &fault, stamp(3)),
        tell(&mut encoder, 1, &completed(vec![], None), &[], stamp(4)),
    ];
    let marks: Vec<(u64, bool)> = messages
        .iter()
        .map(|message| tree(message.as_ref().expect("a response"))["metadata"].clone())
        .map(|metadata| (metadata["seq"].as_u64().expect("seq"), metadata["final"] == true))
        .collect();
    assert_eq!(marks, [(0, false), (1, false), (2, false), (3, true)]);
    assert!(encoder.is_done());
    assert_eq!(encoder.http_status(), 200);
}

#[test]
fn h_15_the_cause_of_a_fault_is_never_written() {
    let secret = std::io::Error::other("cannot read the key file: password hunter2");
    let event = Event::Finished(Finished::failed(Fault::internal(secret)));
    let written = encode_one(event).to_string();
    assert!(!written.contains("hunter2"), "{written}");
    let secret = std::io::Error::other("hunter2");
    let refused = tree(&refuse(&head(), &Fault::internal(secret), stamp(1))).to_string();
    assert!(!refused.contains("hunter2"), "{refused}");
}

#[test]
fn h_02_a_disabled_router_says_that_it_is_disabled() {
    let error = tree(&refuse(&head(), &disabled("the router is disabled"), stamp(1)));
    assert_eq!((&error["control"]["message_type"], &error["content"]["code"]), (&json!("error"), &json!("disabled")));
    assert_eq!(error["tool_results"], Tree::Null);
}

#[test]
fn r_24_a_tool_nobody_has_is_never_a_success() {
    let Meaning::Own(Own::Tools(routed)) =
        decode_whole(json!({"tool_calls": [call("t", "no_such")]})).expect("decodable").value.meaning
    else {
        panic!("no calls")
    };
    let mut encoder = encoder(vec![Of::Tool(routed[0].tool.clone())], Delivery::Whole);
    let fault = routed[0].call.as_ref().expect_err("unknown");
    let response = tree(&encoder.refuse(0, fault, stamp(1)).expect("a response"));
    assert_eq!(response["tool_results"][0]["status"], "error");
    assert_eq!(response["tool_results"][0]["metadata"]["code"], "not_found");
    assert_eq!((&response["control"]["message_type"], encoder.http_status()), (&json!("response"), 200));
}

#[test]
fn losses_are_told_once() {
    let inbound = vec![Loss::new("message.extra", LossKind::Dropped)];
    let mut encoder = Encoder::new(head(), vec![tool("a"), tool("b")], Delivery::Whole, inbound);
    let outbound = [Loss::new("event.parts", LossKind::Flattened)];
    let one = told(&mut encoder, 0, &completed(vec![], None), &outbound, stamp(1));
    assert_eq!(one.losses, [Loss::new("message.extra", LossKind::Dropped)], "those of this wire alone");
    let one = tree(&one.value.into_iter().next().expect("a response"));
    let all = json!([{"what": "message.extra", "kind": "dropped"}, {"what": "event.parts", "kind": "flattened"}]);
    assert_eq!(one["metadata"]["losses"], all);
    let two = told(&mut encoder, 1, &completed(vec![], None), &[], stamp(2));
    assert_eq!(two.losses, []);
    let two = tree(&two.value.into_iter().next().expect("a response"));
    assert_eq!(two["metadata"].get("losses"), None);
    assert_eq!(told(&mut encoder, 2, &completed(vec![], None), &[], stamp(3)), Carried::whole(Frames::None));
}

#[test]
fn what_the_session_keeps_comes_with_the_last_response_of_all() {
    let kept = Json::from_tree(json!({"step": 3}));
    let mut encoder = encoder(vec![tool("a"), tool("b")], Delivery::Stream).bringing(Some(kept));
    let chunk = tell(&mut encoder, 0, &said("m", Channel::Answer, Piece::Whole, "one"), &[], stamp(1));
    let one = tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(2));
    for response in [chunk, one] {
        assert_eq!(tree(&response.expect("a response"))["metadata"].get("context"), None);
    }
    let refused = encoder.refuse(1, &Fault::caller(FaultKind::Denied, "no"), stamp(3)).expect("a response");
    assert_eq!(tree(&refused)["metadata"], json!({"seq": 2, "final": true, "context": {"step": 3}}));
}

#[test]
fn what_the_hub_writes_down_for_itself_has_no_response() {
    let mut encoder = encoder(vec![tool("t")], Delivery::Stream);
    let record = Record::Received { by: Principal::anonymous(), signal: Signal::Cancel(CancelWhy::Asked) };
    let telling = &mut Telling { encoder: &mut encoder, lane: 0, stamp: stamp(1) };
    let told = crate::encode::encode(&Entry { seq: 1, at: NOW, record }, telling);
    assert_eq!(told, Carried::whole(Frames::None));
    assert!(!encoder.is_done());
}

#[test]
fn r_19_pieces_that_are_not_text_are_blocks() {
    let blob = Part::new(Body::Blob(Blob::Inline(b"\x01\x02".as_slice().into())), Provenance::hub());
    let response = encode_one(completed(vec![text("see"), blob], None));
    let expected =
        json!({"output": "see", "blocks": [{"type": "text", "text": "see"}, {"type": "blob", "data": "AQI="}]});
    assert_eq!(response["content"]["result"], expected);
}

#[test]
fn artifacts_are_in_the_result_and_listed() {
    let mut encoder = encoder(vec![tool("t")], Delivery::Whole);
    encoder.found_at(0, "https://hub/api/artifacts/t.");
    let chunk = |index, words: &str, last| {
        Event::Artifact(Chunk { artifact: ArtifactId::from("a1"), index, last, parts: vec![text(words)], header: None })
    };
    for event in [chunk(0, "first ", false), chunk(1, "second", true)] {
        assert!(tell(&mut encoder, 0, &event, &[], stamp(1)).is_none());
    }
    let output = Output { artifacts: vec!["a1".into()], ..Output::default() };
    let end = Event::Finished(Finished::completed(output));
    let response = tree(&tell(&mut encoder, 0, &end, &[], stamp(1)).expect("a response"));
    assert_eq!(response["content"]["result"], "first second");
    assert_eq!(response["metadata"]["artifacts"], json!(["https://hub/api/artifacts/t.a1/content"]));
}

#[test]
fn artifacts_made_on_the_way_are_no_part_of_the_answer() {
    let mut encoder = encoder(vec![Of::Chat], Delivery::Whole);
    encoder.found_at(0, "https://hub/api/artifacts/t.");
    let parts = vec![text("a draft")];
    let draft = Event::Artifact(Chunk { artifact: "a1".into(), index: 0, last: true, parts, header: None });
    for event in [draft, said("m", Channel::Answer, Piece::Delta, "the answer")] {
        assert!(tell(&mut encoder, 0, &event, &[], stamp(1)).is_none());
    }
    let output = Output { said: Some("m".into()), ..Output::default() };
    let end = Event::Finished(Finished::completed(output));
    let response = tree(&tell(&mut encoder, 0, &end, &[], stamp(1)).expect("a response"));
    assert_eq!(response["content"]["content"], "the answer");
    assert_eq!(
        response["metadata"]["artifacts"],
        json!(["https://hub/api/artifacts/t.a1/content"]),
        "it can still be read"
    );
}

#[test]
fn a_failed_call_keeps_what_it_had_beside_its_error() {
    let mut finished = Finished::failed(Fault::hub(FaultKind::BudgetSpent, "no tokens left"));
    finished.output.parts = vec![text("half")];
    let response = encode_one(Event::Finished(finished));
    assert_eq!(response["tool_results"][0]["result"], Tree::Null);
    assert_eq!(response["tool_results"][0]["metadata"]["partial"], "half");
}

#[test]
fn progress_is_metadata_of_a_stream() {
    let progress = Event::Progress { done: Some(1.0), total: Some(f64::NAN), note: Some(Arc::from("step")) };
    let mut stream = encoder(vec![tool("t")], Delivery::Stream);
    let response = tree(&tell(&mut stream, 0, &progress, &[], stamp(1)).expect("a response"));
    assert_eq!(response["metadata"]["progress"], json!({"done": 1, "note": "step"}));
    assert!(tell(&mut encoder(vec![tool("t")], Delivery::Whole), 0, &progress, &[], stamp(1)).is_none());
}

#[test]
fn a_chat_is_answered_in_parts_and_whole() {
    let mut encoder = encoder(vec![Of::Chat], Delivery::Stream);
    let part =
        tell(&mut encoder, 0, &said("m", Channel::Answer, Piece::Delta, "Hel"), &[], stamp(1)).expect("a response");
    assert_eq!(tree(&part)["content"], json!({"partial": true, "content": "Hel"}));
    tell(&mut encoder, 0, &said("m", Channel::Answer, Piece::Delta, "lo"), &[], stamp(2));
    let last = tree(&tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(3)).expect("a response"));
    assert_eq!(last["content"], json!({"partial": false, "complete": true, "content": "Hello"}));
    assert_eq!(last["tool_results"], Tree::Null);
}

#[test]
fn r_21_a_models_failure_is_an_error_and_no_completion() {
    let mut encoder = encoder(vec![Of::Chat], Delivery::Stream);
    tell(&mut encoder, 0, &said("m", Channel::Answer, Piece::Delta, "It is "), &[], stamp(1));
    let broke = failed(FaultKind::BadReply, "the model's answer broke off before its end");
    let last = tree(&tell(&mut encoder, 0, &broke, &[], stamp(2)).expect("a response"));
    assert_eq!(last["content"]["complete"], false);
    assert_eq!(last["content"]["error"], "bad_reply: the model's answer broke off before its end");
    assert_eq!(last["content"]["content"], "It is ", "what was said is not lost");
}

#[test]
fn every_written_message_can_be_read() {
    let mut encoder = encoder(vec![tool("t\"\u{1}"), Of::Chat], Delivery::Stream);
    let odd = "\u{0}\"\\\u{2028}😀";
    let events = [said("m", Channel::Answer, Piece::Whole, odd), completed(vec![text(odd)], None)];
    let mut messages: Vec<Message> = Vec::new();
    for lane in [0, 1] {
        messages.extend(events.iter().filter_map(|event| tell(&mut encoder, lane, event, &[], stamp(1))));
    }
    messages.push(refuse(&head(), &Fault::caller(FaultKind::InvalidInput, odd).field(odd, odd), stamp(1)));
    assert_eq!(messages.len(), 5);
    for message in messages {
        let read = crate::wire::read(&message.to_bytes(), &Default::default()).expect("readable");
        assert_eq!(read.value, message);
        assert_eq!(read.losses, []);
    }
}

#[test]
fn a_collected_answer_is_bounded() {
    let mut encoder = encoder(vec![tool("t")], Delivery::Whole);
    let megabyte: Text = "x".repeat(1024 * 1024).into();
    for _ in 0..20 {
        tell(&mut encoder, 0, &said("m", Channel::Answer, Piece::Delta, &megabyte), &[], stamp(1));
    }
    let last = tell(&mut encoder, 0, &completed(vec![], None), &[], stamp(1)).expect("a response");
    assert!(last.content.as_bytes().len() < 17 * 1024 * 1024);
    assert!(last.metadata.as_str().contains("output.parts"));
}
