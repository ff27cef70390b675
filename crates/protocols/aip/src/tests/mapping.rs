//! Tasks, commands, results and ends, to the model and back, with their losses.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::{
    Ask, Call, CancelWhy, Card, Carried, Channel, Chunk, Entry, Event, Fault, FaultKind, Feature, Finished, Input,
    Json, Loss, LossKind, MessageId, Noun, OnDisconnect, Outcome, Output, Part, Party, PeerId, Piece, Priority,
    Provenance, Record, SkillId, Target, Time, Transcript,
};
use interlingua_wire::codec::Meaning;

use crate::client::commands;
use crate::decode::Own;
use crate::encode::{Frames, Report, Telling};
use crate::link::Tongue;
use crate::wire::{
    ClientKind, ClientMessage, ClientType, CommandResult, Limits, ResultStatus, ServerMessage, Status, ToolType,
};
use crate::{decode, discover, encode, fault, profile};

const NOW: Time = Time(1_794_724_084_245);

fn json(text: &str) -> Json {
    Json::parse(Bytes::copy_from_slice(text.as_bytes())).expect("JSON")
}

fn frame(text: &str) -> ServerMessage {
    ServerMessage::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).expect("a frame")
}

fn peer() -> PeerId {
    "dev1".into()
}

/// A TASK with these metadata, decoded.
fn task(tongue: Tongue, metadata: &str) -> Call {
    let mut message = ClientMessage::new(ClientKind::Task, Status::Continue, ClientType::Constellation);
    message.request = Some("tidy up".into());
    message.metadata = Some(json(metadata));
    match decoded(tongue, &message) {
        Meaning::Call(call) => *call,
        other => panic!("{other:?}"),
    }
}

fn decoded(tongue: Tongue, message: &ClientMessage) -> Meaning<Own> {
    let grace = Duration::from_secs(30);
    let context = decode::Context { id: &"m".into(), target: &peer(), tongue, grace, now: NOW };
    decode::decode(message, &context).expect("any frame").value.meaning
}

/// What an event is told as.
fn told(event: Event, tongue: Tongue) -> Carried<Frames> {
    let entry = Entry { seq: 1, at: NOW, record: Record::emitted(event) };
    encode::encode(&entry, &mut Telling { tongue, transcript: &mut Transcript::default() })
}

#[test]
fn a_task_is_a_kept_call_of_its_target_in_words_that_cannot_be_asked_back() {
    let metadata = r#"{"via":"a, b","traceparent":"00-1","timeout_ms":5000}"#;
    let call = task(Tongue::Plain, metadata);
    assert!(matches!(&call.ask, Ask::Invoke { target: Target::Peer(peer), .. } if peer.as_str() == "dev1"));
    assert_eq!(call.input().expect("input").words(), "tidy up");
    assert!(call.limits.keep && !call.id_given);
    assert_eq!(call.limits.on_disconnect, OnDisconnect::Cancel);
    assert_eq!(call.via.expect("hubs passed").hubs.len(), 2);
    assert_eq!(call.trace.expect("a trace").parent.as_deref(), Some("00-1"));
    assert_eq!(call.limits.deadline, None, "only the wider profile has deadlines");
    let call = task(Tongue::Profile, metadata);
    assert_eq!(call.limits.on_disconnect, OnDisconnect::CancelAfter(Duration::from_secs(30)));
    assert_eq!(call.limits.deadline.expect("a deadline").at, NOW.after(Duration::from_secs(5)));
}

#[test]
fn what_is_no_task_is_for_the_rules() {
    for kind in ClientKind::ALL.iter().filter(|kind| **kind != ClientKind::Task) {
        let message = ClientMessage::new(*kind, Status::Ok, ClientType::Device);
        let meaning = decoded(Tongue::Plain, &message);
        assert!(matches!(meaning, Meaning::Own(Own::Rules(of)) if of == *kind), "{meaning:?}");
    }
}

#[test]
fn the_end_of_a_task_tells_all_that_was_said_and_lost_before_it() {
    let said = Event::Said {
        message: "a".into(),
        channel: Channel::Answer,
        piece: Piece::Whole,
        parts: vec![Part::text("tidy", Provenance::hub())],
    };
    let lost = Loss::new("call.priority", LossKind::Dropped);
    let output = Output { said: Some("a".into()), artifacts: vec!["a1".into()], ..Output::default() };
    let entries = [
        Record::Emitted { event: said, losses: vec![lost.clone(); 300], raw: None },
        Record::emitted(Event::Finished(Finished::completed(output))),
    ];
    let mut transcript = Transcript::default();
    let mut frames = Vec::new();
    let mut losses = Vec::new();
    for (seq, record) in (1..).zip(entries) {
        transcript.push(&record).expect("room");
        let telling = &mut Telling { tongue: Tongue::Plain, transcript: &mut transcript };
        let told = encode::encode(&Entry { seq, at: NOW, record }, telling);
        frames.extend(told.value);
        losses.extend(told.losses);
    }
    let [Report::End(end)] = frames.as_slice() else { panic!("{frames:?}") };
    assert_eq!(end.result, Some(json("\"tidy\"")));
    assert_eq!(losses, [Loss::new("output.artifacts", LossKind::Dropped)], "of this wire");
    assert_eq!(end.messages.as_ref().map(Vec::len), Some(257), "and at most so many from before");
}

#[test]
fn what_stands_beside_a_structured_result_and_does_not_repeat_it_is_a_loss() {
    let end = |text: &str| {
        let parts = vec![Part::text(text, Provenance::hub())];
        let output = Output { parts, structured: Some(json(r#"{"n":1}"#)), ..Output::default() };
        encode::end(&Finished::completed(output), &[], Tongue::Plain)
    };
    let told = end("One was found.");
    assert_eq!(told.value.result, Some(json(r#"{"n":1}"#)));
    assert_eq!(told.losses, [Loss::new("output.parts.text", LossKind::Dropped)]);
    assert_eq!(end("{ \"n\": 1 }").losses, [], "the same, written as text");
}

#[test]
fn an_artifact_whose_content_is_in_the_answer_is_not_lost() {
    let chunk = |name: Option<&str>| {
        let parts = vec![Part { name: name.map(Into::into), ..Part::text("found", Provenance::hub()) }];
        let chunk = Chunk { artifact: "a1".into(), index: 0, last: true, parts, header: None };
        let output = Output { artifacts: vec!["a1".into()], ..Output::default() };
        [Record::emitted(Event::Artifact(chunk)), Record::emitted(Event::Finished(Finished::completed(output)))]
    };
    for (name, lost) in [(None, vec![]), (Some("offers"), vec![Loss::new("output.parts.name", LossKind::Dropped)])] {
        let mut transcript = Transcript::default();
        let mut losses = Vec::new();
        for (seq, record) in (1..).zip(chunk(name)) {
            transcript.push(&record).expect("room");
            let telling = &mut Telling { tongue: Tongue::Plain, transcript: &mut transcript };
            losses.extend(encode::encode(&Entry { seq, at: NOW, record }, telling).losses);
        }
        assert_eq!(losses, lost);
    }
}

#[test]
fn p_44_a_command_at_a_device_is_a_group_in_order_that_stops_at_a_failure() {
    let command = frame(
        r#"{"type":"command","status":"continue","response_id":"r","session_id":"s","actions":[
        {"tool_name":"ls","parameters":{"a":1},"tool_type":"action","call_id":"1"},
        {"tool_name":"rm","parameters":null,"tool_type":"action","call_id":"2"}]}"#,
    );
    let skill = |tool: &str| Some(SkillId::new("local", tool));
    let calls = commands::calls(&command, |index| MessageId::from(format!("m{index}")), skill, NOW);
    let calls: Vec<Call> = calls.into_iter().map(|call| call.expect("known")).collect();
    assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["m0", "m1"]);
    assert_eq!(calls[1].input().expect("input").args.as_ref().map(Json::as_str), Some("{}"));
    let finished = [
        Finished::completed(Output::default()),
        Finished::failed(Fault::hub(FaultKind::PeerFailed, "no")),
        Finished::cancelled(Party::Hub, CancelWhy::EarlierFailed),
    ];
    let results: Vec<CommandResult> =
        finished.iter().map(|finished| encode::result(finished, Some("1".into()), Some("T".into())).value).collect();
    let told: Vec<(&str, Option<&str>)> =
        results.iter().map(|result| (result.status.as_str(), result.error.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("success", None),
            ("failure", Some("no")),
            ("skipped", Some("Skipped due to previous failure (early_exit=True)."))
        ]
    );
    assert_eq!(results[2].namespace, None);
    let frame = encode::results(command.session_id, command.response_id, command.status, results, &["a line".into()]);
    assert!(frame.check().is_ok());
    assert_eq!((frame.status, frame.prev_response_id.as_deref()), (Status::Continue, Some("r")));
    assert_eq!(crate::profile::lines(&frame), (vec!["a line".into()], 0));
}

#[test]
fn p_45_a_tool_nobody_knows_fails_and_is_never_met_with_silence() {
    let command = frame(
        r#"{"type":"command","status":"continue","actions":[{"tool_name":"what","tool_type":"action","call_id":"1"}]}"#,
    );
    let calls = commands::calls(&command, |_| "m".into(), |_| None, NOW);
    let result = calls[0].as_ref().expect_err("unknown");
    assert_eq!((result.status, result.call_id.as_deref()), (ResultStatus::Failure, Some("1")));
}

#[test]
fn results_are_outcomes_one_for_each_call_whatever_came_back() {
    let result = |status, result: Option<&str>, call_id: Option<&str>| CommandResult {
        status,
        error: Some("why".into()),
        result: result.map(json),
        namespace: None,
        call_id: call_id.map(Into::into),
    };
    let given = [
        result(ResultStatus::Success, Some(r#"{"a":1}"#), Some("1")),
        result(ResultStatus::Failure, Some("\"half\""), None),
        result(ResultStatus::Skipped, None, None),
        result(ResultStatus::None, None, None),
        result(ResultStatus::Success, None, Some("other")),
    ];
    let sent = ["1", "2", "3", "4", "5", "6"].map(Into::into);
    let outcomes = decode::results(&given, &sent, &peer());
    assert_eq!(outcomes.len(), 6);
    assert_eq!(outcomes[0].outcome, Outcome::Completed);
    assert_eq!(outcomes[0].output.structured.as_ref().map(Json::as_str), Some(r#"{"a":1}"#));
    let kind = |finished: &Finished| match &finished.outcome {
        Outcome::Failed(fault) => Some(fault.kind),
        Outcome::Completed | Outcome::Cancelled { .. } => None,
    };
    assert_eq!(kind(&outcomes[1]), Some(FaultKind::PeerFailed));
    assert_eq!(outcomes[1].output.parts[0].as_text(), Some("half"), "what there is so far");
    assert!(matches!(outcomes[2].outcome, Outcome::Cancelled { why: CancelWhy::EarlierFailed, .. }));
    assert_eq!([3, 4, 5].map(|index| kind(&outcomes[index])), [Some(FaultKind::BadReply); 3]);
}

#[test]
fn p_29_the_end_of_a_task_goes_both_ways() {
    for (text, kind) in [
        (r#"{"type":"task_end","status":"completed","session_id":"s","result":[1]}"#, None),
        (
            r#"{"type":"task_end","status":"failed","session_id":"s","error":"boom","result":{}}"#,
            Some(FaultKind::PeerFailed),
        ),
        (
            r#"{"type":"task_end","status":"failed","session_id":"s","result":{"failure":"boom"}}"#,
            Some(FaultKind::PeerFailed),
        ),
        (
            r#"{"type":"task_end","status":"failed","session_id":"s","error":"Task was cancelled because target device disconnected"}"#,
            Some(FaultKind::OutcomeUnknown),
        ),
        (r#"{"type":"task_end","status":"ok","session_id":"s"}"#, Some(FaultKind::BadReply)),
    ] {
        let finished = decode::task_end(&frame(text), &peer()).value;
        match (&finished.outcome, kind) {
            (Outcome::Completed, None) => {
                assert_eq!(finished.output.structured.as_ref().map(Json::as_str), Some("[1]"))
            }
            (Outcome::Failed(fault), Some(kind)) => assert_eq!(fault.kind, kind, "{text}"),
            (other, _) => panic!("{text}: {other:?}"),
        }
    }
    let failed = Finished::failed(Fault::hub(FaultKind::Denied, "not allowed"));
    let end = encode::end(&failed, &[], Tongue::Plain).value;
    assert_eq!((end.status, end.error.as_deref(), end.result), (Status::Failed, Some("not allowed"), Some(json("{}"))));
}

#[test]
fn what_an_end_cannot_carry_is_told_as_lines_or_in_the_profile_as_data() {
    let finished = Finished {
        output: Output {
            parts: vec![Part::new(interlingua_model::Body::Link, Provenance::hub())],
            artifacts: vec!["a1".into()],
            ..Output::default()
        },
        ..Finished::cancelled(Party::Caller, CancelWhy::Asked)
    };
    let plain = encode::end(&finished, &[], Tongue::Plain);
    assert_eq!(
        plain.losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(),
        [LossKind::Approximated, LossKind::Dropped, LossKind::Dropped]
    );
    assert_eq!(plain.value.error.as_deref(), Some("cancelled: asked"));
    assert_eq!(plain.value.messages.expect("lines").len(), 3);
    assert_eq!(plain.value.result, Some(json("{}")), "no address that nobody can fetch");
    let before = [Loss::new("call.priority", LossKind::Dropped)];
    let later = encode::end(&finished, &before, Tongue::Plain);
    assert_eq!(later.losses, plain.losses, "what was lost before is told, and is not of this wire");
    assert_eq!(later.value.messages.expect("lines").len(), 4);
    let wide = encode::end(&finished, &[], Tongue::Profile);
    assert!(wide.value.messages.is_none() && !wide.losses.is_empty());
    let mut heard = frame(r#"{"type":"task_end","status":"completed","session_id":"s"}"#);
    assert_eq!(profile::losses(&heard), []);
    heard.metadata = wide.value.metadata;
    assert_eq!(profile::losses(&heard), wide.losses, "another hub reads them as they were");
}

#[test]
fn p_28_data_alone_is_the_result_and_beside_text_it_is_written() {
    let data = || Part::new(interlingua_model::Body::Data(json(r#"{"n":1}"#)), Provenance::hub());
    let result = |parts| {
        let finished = Finished::completed(Output { parts, ..Output::default() });
        let end = encode::end(&finished, &[], Tongue::Plain);
        assert_eq!(end.losses, []);
        end.value.result.expect("a result").as_str().to_owned()
    };
    assert_eq!(result(vec![data()]), r#"{"n":1}"#);
    assert_eq!(result(vec![Part::text("see", Provenance::hub()), data()]), r#""see\n{\"n\":1}""#);
}

#[test]
fn a_call_to_a_server_is_a_task_in_words_and_says_what_it_lost() {
    let mut call = Call::new(
        "m",
        interlingua_model::Origin::program(),
        Ask::Invoke { target: Target::Peer(peer()), input: Input::text("tidy") },
    );
    let sent = encode::task(&call, "gal@dev1".into(), "dev1".into(), "gal@t1".into(), "t1".into());
    assert!(sent.losses.is_empty() && sent.value.check().is_ok());
    assert_eq!(sent.value.request.as_deref(), Some("tidy"));
    if let Ask::Invoke { input, .. } = &mut call.ask {
        input.args = Some(json(r#"{"fast":true}"#));
    }
    call.limits.priority = Priority::new(9).expect("a level");
    call.conversation = Some("c".into());
    let sent = encode::task(&call, "gal@dev1".into(), "dev1".into(), "gal@t1".into(), "t1".into());
    assert_eq!(sent.value.request.as_deref(), Some("tidy\n{\"fast\":true}"));
    let lost: Vec<&str> = sent.losses.iter().map(|loss| &*loss.what).collect();
    assert_eq!(lost, ["call.priority", "call.conversation", "input.args"]);
    let command = encode::command(&call, "ls".into(), ToolType::Action, "k".into());
    assert_eq!(command.value.parameters.as_ref().map(Json::as_str), Some(r#"{"fast":true}"#));
    assert_eq!(command.losses.last().map(|loss| &*loss.what), Some("call.conversation"));
}

#[test]
fn log_lines_are_notes_and_notes_are_log_lines() {
    let events = decode::notes(&["half way".into()], &"m".into(), &peer());
    let lines = |text: &str| Frames::One(Report::Lines(vec![text.into()]));
    assert_eq!(told(events[0].clone(), Tongue::Profile).value, lines("half way"));
    assert_eq!(told(events[0].clone(), Tongue::Plain).value, Frames::None);
    let progress = Event::Progress { done: Some(1.0), total: Some(3.0), note: Some("copying".into()) };
    assert_eq!(told(progress, Tongue::Profile).value, lines("1 of 3: copying"));
    let nothing = Event::Progress { done: None, total: None, note: None };
    assert_eq!(told(nothing, Tongue::Profile).value, Frames::None);
}

#[test]
fn p_30_every_fault_has_its_spelling() {
    use fault::Spelling;
    let table = [
        (FaultKind::Malformed, Spelling::Error),
        (FaultKind::Unsupported(Feature::Operation), Spelling::Error),
        (FaultKind::Unauthenticated, Spelling::NoUpgrade),
        (FaultKind::Denied, Spelling::Refusal),
        (FaultKind::NotFound(Noun::Skill), Spelling::Refusal),
        (FaultKind::NotFound(Noun::Task), Spelling::Silence),
        (FaultKind::InvalidInput, Spelling::Refusal),
        (FaultKind::Unanswered, Spelling::Outcome),
        (FaultKind::Conflict, Spelling::Refusal),
        (FaultKind::AlreadyFinished, Spelling::Silence),
        (FaultKind::TooLarge, Spelling::Close(1009)),
        (FaultKind::Busy, Spelling::Refusal),
        (FaultKind::BudgetSpent, Spelling::Outcome),
        (FaultKind::Loop, Spelling::Refusal),
        (FaultKind::Unreachable, Spelling::Refusal),
        (FaultKind::PeerFailed, Spelling::Outcome),
        (FaultKind::OutcomeUnknown, Spelling::Outcome),
        (FaultKind::Deadline, Spelling::Outcome),
        (FaultKind::Internal, Spelling::Refusal),
    ];
    for (kind, spelling) in table {
        assert_eq!(fault::spelling(kind), spelling, "{kind:?}");
    }
    for (kind, text) in [
        (FaultKind::Unreachable, "Target device 'x' is not connected"),
        (FaultKind::Conflict, "session_id 's' is owned by another client"),
        (FaultKind::Denied, "no"),
    ] {
        let said = fault::refusal(&Fault::hub(kind, "no"), "x", "s");
        assert_eq!(&*said, text);
        let heard = fault::of_refusal(Some(&said), peer()).kind;
        assert_eq!(heard, if kind == FaultKind::Denied { FaultKind::PeerDeclined } else { kind });
    }
}

#[test]
fn p_56_a_profile_is_merged_from_three_sources() {
    let sources = discover::Sources {
        configuration: Some(json(
            r#"{"os":"windows","capabilities":["web","office"],"metadata":{"room":"12","tags":["old"]}}"#,
        )),
        manifest: Some(json(r#"{"tags":["prod"],"additional_features":["gpu"],"tier":1}"#)),
        telemetry: Some(json(
            r#"{"device_id":"dev1","platform":"linux","os_version":"6.1","cpu_count":8,"memory_total_gb":31.2,"hostname":"box","ip_address":"127.0.0.1","supported_features":["cli","web"],"platform_type":"computer","schema_version":"1.0","custom_metadata":{}}"#,
        )),
    };
    let profile = discover::merge(&sources);
    assert_eq!(profile.os.as_deref(), Some("linux"));
    assert_eq!(profile.capabilities, ["cli", "gpu", "office", "web"].map(Into::into));
    let expected = json(
        r#"{"room":"12","tags":["prod"],"custom_metadata":{"tags":["prod"],"additional_features":["gpu"],"tier":1},
        "system_info":{"platform":"linux","os_version":"6.1","cpu_count":8,"memory_total_gb":31.2,"hostname":"box","ip_address":"127.0.0.1","platform_type":"computer","schema_version":"1.0"}}"#,
    );
    assert_eq!(profile.metadata, expected);
    let card = discover::card("dev1", &sources, Vec::new(), NOW);
    assert_eq!(card.sources.len(), 3);
    assert_eq!(card.skills[0].id, SkillId::new("dev1", "do"));
    assert!(discover::merge(&discover::Sources::default()).capabilities.is_empty());
}

#[test]
fn a_devices_tools_are_skills_with_schemas_and_its_claims_free_nothing() {
    let list = json(
        r#"[{"tool_key":"action::click","tool_name":"click","title":null,"namespace":"UI","tool_type":"action","description":"clicks","input_schema":{"type":"object"},"output_schema":null,"meta":null,"annotations":null},
        {"tool_key":"data_collection::look","tool_name":"look","namespace":"UI","tool_type":"data_collection"},
        {"tool_name":"odd","tool_type":"magic"}, 7]"#,
    );
    let tools = discover::tools("dev1", &list);
    assert_eq!(tools.len(), 2);
    let (click, key) = &tools[0];
    assert_eq!((click.id.to_string().as_str(), &*click.description), ("dev1/click", "clicks"));
    assert_eq!(key.tool_type, ToolType::Action);
    assert!(tools[1].0.effects.writes, "only configuration says that it does not");
    let mut out = Vec::new();
    discover::write_tool(click, ToolType::Action, "UI", &mut out);
    let again = discover::tools("dev1", &json(&format!("[{}]", String::from_utf8(out).expect("text"))));
    assert_eq!(again[0].0.digest, click.digest);
}

#[test]
fn a_peer_that_is_no_device_is_described_as_one() {
    let card: Card = discover::card("files", &discover::Sources::default(), Vec::new(), NOW);
    let info = discover::system_info(&card);
    assert_eq!(info.get("device_id").and_then(|id| id.as_str()), Some("files"));
    assert_eq!(info.get("supported_features").and_then(|list| list.as_array()).map(Vec::len), Some(1));
}

#[test]
fn what_an_evaluator_says_goes_from_a_device_to_an_orchestrator_beside_the_result() {
    let frame = ClientMessage::decode(
        &r#"{"type":"task_end","status":"completed","session_id":"s","metadata":{"result":{"a":1},"evaluation":{"score":0.90},"messages":["x"]}}"#.into(),
        &Limits::default(),
    )
    .expect("a frame");
    let report = crate::profile::report(&frame).expect("an outcome");
    assert_eq!((&*report.lines, report.lines_lost), (&["x".into()][..], 0));
    let finished = decode::reported(&report, &peer());
    assert_eq!(finished.losses, []);
    let end = encode::end(&finished.value, &[], Tongue::Profile);
    assert_eq!(end.losses, [], "a result and what is said of it are two things");
    assert_eq!(end.value.result.as_ref().map(Json::as_str), Some(r#"{"a":1}"#));
    assert_eq!(end.value.metadata.as_ref().map(Json::as_str), Some(r#"{"evaluation":{"score":0.90}}"#));
    let plain = encode::end(&finished.value, &[], Tongue::Plain);
    assert_eq!(plain.losses.iter().map(|loss| &*loss.what).collect::<Vec<_>>(), ["output.parts.data"]);
    assert_eq!(plain.value.result, end.value.result);
}

#[test]
fn attack_an_evaluation_of_megabytes_is_left_out_and_the_loss_is_declared() {
    let long = "x".repeat(1_000_000);
    let frame = format!(
        r#"{{"type":"task_end","status":"failed","error":"no","session_id":"s","metadata":{{"evaluation":"{long}"}}}}"#
    );
    let frame = ClientMessage::decode(&frame.into(), &Limits::default()).expect("a frame");
    let finished = decode::reported(&crate::profile::report(&frame).expect("an outcome"), &peer());
    assert!(finished.value.output.parts.is_empty());
    assert_eq!(finished.losses.iter().map(|loss| &*loss.what).collect::<Vec<_>>(), ["output.parts.data"]);
}
