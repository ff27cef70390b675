//! The client side of the codec, in the order of the specification.

use bytes::Bytes;
use interlingua_model::peer::{Answering, View};
use interlingua_model::{
    Answer, Ask, Call, Effects, Event, FaultKind, Input, Json, KindSet, Loss, LossKind, Noun, Outcome, PeerId,
    Priority, Question, QuestionKind, Schema, Skill, SkillId, SkillKind, Target, Time, Trace, Uri, Via,
};
use serde_json::{Value, json};

use super::decode::ReplyContext;
use super::list::{self, List, Server};
use super::{Manner, Replied, TaskState, Verb, encode, state};
use crate::Version;
use crate::decode::Said;
use crate::wire::capabilities::Client;
use interlingua_wire::members::Members;
use interlingua_wire::rpc;

fn members(value: Value) -> Members {
    Members::of(&value.into())
}

fn leg(verb: Verb, version: Version) -> ReplyContext {
    ReplyContext { peer: PeerId::from("p"), version, verb, is_hub: false, expires: Time(9), view: View::Full }
}

fn tool() -> Skill {
    let input = Schema(json!({"type": "object"}).into());
    Skill::new(SkillId::new("p", "find"), SkillKind::Tool, "", input, Effects::unknown())
}

fn calling(args: &str) -> Call {
    let args = Json::parse(Bytes::copy_from_slice(args.as_bytes())).expect("JSON");
    let target = Target::Skill(SkillId::new("p", "find"), None);
    Call::new("m", interlingua_model::Origin::program(), Ask::Invoke { target, input: Input::args(args) })
}

fn body(outgoing: &encode::Outgoing) -> Value {
    serde_json::from_slice(&outgoing.body).expect("JSON")
}

fn replied(verb: Verb, result: Value) -> Replied {
    leg(verb, Version::LATEST).response(Ok(members(result))).expect("understood")
}

#[test]
fn a_modern_call_says_who_asks_and_what_can_be_asked_back() {
    let trace = Trace { parent: Some("00-a-b-01".into()), ..Trace::default() };
    let manner = Manner {
        can_answer: KindSet::INPUT.with(KindSet::CONFIRM),
        trace: Some(&trace),
        progress: true,
        ..Manner::own(Version::LATEST)
    };
    let sent = encode::call(7, &calling(r#"{"n":1.0e2, "big":12345678901234567890}"#), &tool(), &manner, None);
    let text = String::from_utf8(sent.body.to_vec()).expect("UTF-8");
    assert!(text.contains(r#""arguments":{"n":1.0e2, "big":12345678901234567890}"#), "as they were written: {text}");
    let sent_body = body(&sent);
    let meta = &sent_body["params"]["_meta"];
    assert_eq!(sent_body["id"], 7);
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"], json!({"form": {}}));
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"].get("sampling"), None);
    assert_eq!((&meta["progressToken"], &meta["traceparent"]), (&json!(7), &json!("00-a-b-01")));
    let headers: Vec<(&str, &str)> = sent.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(headers, [("mcp-method", "tools/call"), ("mcp-name", "find")]);
}

#[test]
fn m_44_trace_keys_travel_bare_and_m_34_so_does_what_the_caller_added() {
    let trace = Trace { parent: Some("t".into()), state: Some("s".into()), baggage: Some("b".into()) };
    let meta = members(json!({"x/y": 1, "progressToken": "theirs", "interlingua/via": ["x"],
        "io.modelcontextprotocol/clientInfo": {"name": "caller"}, "traceparent": "old"}));
    let manner = Manner { trace: Some(&trace), meta: Some(meta), ..Manner::own(Version::LATEST_LEGACY) };
    let sent = body(&encode::call(1, &calling("{}"), &tool(), &manner, None));
    let expected = json!({"traceparent": "t", "tracestate": "s", "baggage": "b", "x/y": 1});
    assert_eq!(sent["params"]["_meta"], expected, "and nothing that is the hub's or the caller's own");
}

#[test]
fn another_hub_is_told_the_priority_and_a_server_loses_it() {
    let mut call = calling("{}");
    call.limits.priority = Priority::new(7).expect("a level");
    let told = |hub: bool| {
        let manner = Manner { hub, priority: call.limits.priority, ..Manner::own(Version::LATEST) };
        body(&encode::call(1, &call, &tool(), &manner, None))["params"]["_meta"]["interlingua/priority"].clone()
    };
    assert_eq!((told(true), encode::losses(&call, true)), (json!(7), Vec::new()));
    let lost = vec![Loss::new("call.priority", LossKind::Dropped)];
    assert_eq!((told(false), encode::losses(&call, false)), (Value::Null, lost));
}

#[test]
fn a_legacy_call_has_no_meta_of_its_own_and_no_headers() {
    let sent = encode::call(1, &calling("{}"), &tool(), &Manner::own(Version::LATEST_LEGACY), None);
    assert_eq!(body(&sent)["params"], json!({"name": "find", "arguments": {}}));
    assert!(sent.headers.is_empty());
}

#[test]
fn resources_prompts_and_completions_have_their_own_verbs() {
    let read = Call::new(
        "m",
        interlingua_model::Origin::program(),
        Ask::Read { peer: "p".into(), uri: Uri::from("test://ä") },
    );
    let sent = encode::call(1, &read, &tool(), &Manner::own(Version::LATEST), None);
    assert_eq!((sent.method, body(&sent)["params"]["uri"].as_str()), ("resources/read", Some("test://ä")));
    assert_eq!(sent.headers[1], ("mcp-name".into(), "=?base64?dGVzdDovL8Ok?=".into()));
    let prompt = Skill { kind: SkillKind::Prompt, id: SkillId::new("p", "prompt:greet"), ..tool() };
    let sent = encode::call(1, &calling("{}"), &prompt, &Manner::own(Version::LATEST), None);
    assert_eq!((sent.method, body(&sent)["params"]["name"].as_str()), ("prompts/get", Some("greet")));
    let complete = Call::new(
        "m",
        interlingua_model::Origin::program(),
        Ask::Complete {
            of: interlingua_model::Completes::Template("p".into(), "test://{id}".into()),
            argument: "id".into(),
            typed: "1".into(),
            known: json!({"a": "b"}).into(),
        },
    );
    let sent = body(&encode::call(1, &complete, &tool(), &Manner::own(Version::LATEST_LEGACY), None));
    let expected = json!({"ref": {"type": "ref/resource", "uri": "test://{id}"},
        "argument": {"name": "id", "value": "1"}, "context": {"arguments": {"a": "b"}}});
    assert_eq!(sent["params"], expected);
}

#[test]
fn m_13_a_result_without_its_type_is_complete_and_an_unknown_type_is_refused() {
    let Replied::Finished(finished, _, raw) = replied(Verb::Call, json!({"content": [{"type": "text", "text": "a"}]}))
    else {
        panic!("finished")
    };
    assert_eq!(finished.output.parts[0].as_text(), Some("a"));
    assert_eq!(raw.expect("as it came").wire, Version::LATEST.wire());
    let unknown = leg(Verb::Call, Version::LATEST).response(Ok(members(json!({"resultType": "x", "content": []}))));
    assert_eq!(unknown.expect_err("nobody asked for it").kind, FaultKind::BadReply);
}

#[test]
fn a_tool_that_failed_is_an_outcome_with_what_it_said() {
    let result =
        json!({"isError": true, "content": [{"type": "text", "text": "no disk"}], "structuredContent": {"a": 1}});
    let Replied::Finished(finished, ..) = replied(Verb::Call, result) else { panic!("finished") };
    let Outcome::Failed(fault) = &finished.outcome else { panic!("failed") };
    assert_eq!((fault.kind, &*fault.public), (FaultKind::PeerFailed, "p failed: no disk"));
    assert_eq!(finished.output.structured.as_ref().map(Json::as_str), Some(r#"{"a":1}"#));
}

#[test]
fn m_34_an_answer_that_only_passes_through_is_not_read_and_travels_as_it_came() {
    let head = ReplyContext { view: View::Head, ..leg(Verb::Call, Version::LATEST) };
    let text = r#"{"content":[{"type":"text","text":"a"}],"x-new":1.50,"resultType":"complete"}"#;
    let result = |text: &'static str| Members::of(&Json::parse(Bytes::from_static(text.as_bytes())).expect("JSON"));
    let Ok(Replied::Finished(finished, _, Some(raw))) = head.response(Ok(result(text))) else { panic!("finished") };
    assert!(finished.output.parts.is_empty());
    assert_eq!(raw.json.as_bytes(), text);
    for read in [
        r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#,
        r#"{"content":[{"type":"text","text":"a"}],"_meta":{"interlingua/fault":{}}}"#,
    ] {
        let Ok(Replied::Finished(finished, ..)) = head.response(Ok(result(read))) else { panic!("finished") };
        assert_eq!(finished.output.parts.len(), 1, "{read}");
    }
}

#[test]
fn m_34_what_a_caller_of_this_protocol_added_reaches_the_server() {
    let mut call = calling("{}");
    let raw = r#"{"name":"theirs","x-new":[1.50],"arguments":{"no":1},"_meta":{}}"#;
    let json = Json::parse(Bytes::from_static(raw.as_bytes())).expect("JSON");
    call.raw = Some(interlingua_model::Raw { wire: Version::LATEST.wire(), json });
    let sent = encode::call(1, &call, &tool(), &Manner::own(Version::LATEST_LEGACY), None);
    let text = String::from_utf8(sent.body.to_vec()).expect("UTF-8");
    assert!(text.contains(r#"{"name":"find","arguments":{},"x-new":[1.50]}"#), "{text}");
}

#[test]
fn m_35_marked_arguments_are_repeated_and_absent_ones_are_not() {
    let input = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"}, "none": {"type": "string", "x-mcp-header": "None"}}});
    let skill = Skill { input: Schema(input.into()), ..tool() };
    let call = calling(r#"{"region":"Köln","none":null}"#);
    let sent = encode::call(1, &call, &skill, &Manner::own(Version::LATEST), None);
    let repeated: Vec<(&str, &str)> = sent.headers[1..].iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(repeated, [("mcp-name", "find"), ("mcp-param-region", "=?base64?S8O2bG4=?=")]);
}

#[test]
fn a_resource_without_contents_is_not_there() {
    let missing = leg(Verb::Read, Version::LATEST).response(Ok(members(json!({"contents": []})))).expect_err("none");
    assert_eq!(missing.kind, FaultKind::NotFound(Noun::Resource));
    for code in [-32602, -32002] {
        let error = rpc::Error::new(code, "not found");
        let fault = leg(Verb::Read, Version::LATEST_LEGACY).response(Err(error)).expect_err("not there");
        assert_eq!(fault.kind, FaultKind::NotFound(Noun::Resource), "{code}");
    }
}

#[test]
fn a_prompts_turns_are_parts_labelled_by_role() {
    let result = json!({"messages": [
        {"role": "user", "content": {"type": "text", "text": "q"}},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]});
    let Replied::Finished(finished, ..) = replied(Verb::Prompt, result) else { panic!("finished") };
    let labels: Vec<Option<&str>> = finished.output.parts.iter().map(|part| part.label.as_deref()).collect();
    assert_eq!(labels, [Some("user"), Some("assistant"), Some("assistant")]);
}

fn asked() -> Vec<Question> {
    let result = json!({"resultType": "input_required", "requestState": "opaque\u{e9}", "inputRequests": {
        "who": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema":
            {"type": "object", "properties": {"name": {"type": "string"}}}}},
        "where": {"method": "roots/list"}}});
    match replied(Verb::Call, result) {
        Replied::Asked(questions) => questions,
        other => panic!("{other:?}"),
    }
}

#[test]
fn m_14_answers_go_back_together_with_the_state_exactly_as_it_came() {
    let mut questions = asked();
    questions.sort_by_key(|question| question.kind == QuestionKind::Roots);
    let questions: [Question; 2] = questions.try_into().expect("two");
    assert!(matches!(questions[0].kind, QuestionKind::Input { .. }) && questions[1].kind == QuestionKind::Roots);
    let name = Answer::Given(Input::args(json!({"name": "Ada"}).into()));
    let answering = Answering {
        question: questions[1].clone(),
        message: "m2".into(),
        answer: Answer::Declined,
        also: vec![(questions[0].clone(), name)],
    };
    let resumed = state::resume(&answering).expect("can be given");
    assert_eq!(resumed.task, None);
    let sent = encode::call(8, &calling("{}"), &tool(), &Manner::own(Version::LATEST), Some(&resumed.answers));
    let params = &body(&sent)["params"];
    let expected = json!({"who": {"action": "accept", "content": {"name": "Ada"}}, "where": {"roots": []}});
    assert_eq!(params["inputResponses"], expected);
    assert_eq!(params["requestState"], "opaque\u{e9}");
}

#[test]
fn a_server_may_ask_for_its_state_alone_and_a_legacy_one_may_not_ask_this_way() {
    let result = json!({"resultType": "input_required", "requestState": "s"});
    assert_eq!(replied(Verb::Call, result.clone()), Replied::Again(json!("s").into()));
    assert!(leg(Verb::Call, Version::LATEST_LEGACY).response(Ok(members(result))).is_err());
}

#[test]
fn addresses_to_visit_come_as_an_error_of_the_last_legacy_version() {
    let data =
        json!({"elicitations": [{"mode": "url", "message": "Log in", "url": "https://x/1", "elicitationId": "e"}]});
    let error = rpc::Error::new(-32042, "visit").with(data.into());
    let replied = leg(Verb::Call, Version::LATEST_LEGACY).response(Err(error)).expect("a question");
    let Replied::Asked(questions) = replied else { panic!("asked") };
    assert_eq!(
        questions[0].kind,
        QuestionKind::Visit { url: interlingua_model::WebLink::parse("https://x/1").expect("a link") }
    );
}

#[test]
fn a_task_of_the_server_is_followed_by_its_states() {
    let leg = leg(Verb::Call, Version::LATEST);
    let Replied::Task(task) = replied(Verb::Call, json!({"resultType": "task", "taskId": "t1", "pollIntervalMs": 5}))
    else {
        panic!("a task")
    };
    assert_eq!(state::kept_task(&state::task(&task.id)).as_deref(), Some("t1"));
    let read = |value: Value| leg.task(Ok(members(value))).expect("a state");
    assert!(matches!(read(json!({"taskId": "t1", "status": "working"})), TaskState::Working { .. }));
    let done = json!({"taskId": "t1", "status": "completed", "result": {"content": []}});
    assert!(matches!(read(done), TaskState::Ended(..)));
    let asks = json!({"taskId": "t1", "status": "input_required", "inputRequests": {"r": {"method": "roots/list"}}});
    let TaskState::Asked(questions) = read(asks) else { panic!("asks") };
    let answering =
        Answering { question: questions[0].clone(), message: "m".into(), answer: Answer::Declined, also: Vec::new() };
    assert_eq!(state::resume(&answering).expect("given").task.as_deref(), Some("t1"));
    assert!(leg.task(Ok(members(json!({"status": "asleep"})))).is_err());
}

#[test]
fn progress_and_log_lines_are_events() {
    let leg = leg(Verb::Call, Version::LATEST_LEGACY);
    let progress = leg.notification(
        "notifications/progress",
        &members(json!({"progressToken": 1, "progress": 0.5, "total": 2, "message": "half"})),
        &"k".into(),
        0,
    );
    assert_eq!(progress, Some(Event::Progress { done: Some(0.5), total: Some(2.0), note: Some("half".into()) }));
    let noted = leg.notification(
        "notifications/message",
        &members(json!({"level": "error", "logger": "db", "data": {"a": 1}})),
        &"k".into(),
        3,
    );
    let Some(Event::Said { message, parts, .. }) = noted else { panic!("a note") };
    assert_eq!((message.as_str(), parts[0].as_text()), ("k.note.3", Some(r#"{"a":1}"#)));
    assert_eq!(leg.notification("notifications/other", &Members::absent(), &"k".into(), 0), None);
}

#[test]
fn what_a_server_is_is_read_from_either_greeting() {
    let legacy = members(json!({"protocolVersion": "2025-06-18", "serverInfo": {"name": "s", "title": "S"},
        "capabilities": {"tools": {"listChanged": true}, "completions": {}}, "instructions": "use it"}));
    let server = Server::decode(&legacy);
    assert_eq!(server.title.as_deref(), Some("S"));
    assert!(server.has(List::Tools) && !server.has(List::Resources) && server.tells_changes() && server.completions);
    assert_eq!(list::chosen_version(&legacy), Some(Version::V2025_06_18));
    assert!(!list::is_discovery(&legacy));
    let modern = members(json!({"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "m", "version": "2"}}}));
    assert!(list::is_discovery(&modern) && list::supports(&modern, "supportedVersions", Version::LATEST));
    let server = Server::decode(&modern);
    assert_eq!((server.title.as_deref(), server.version.as_deref()), (Some("m"), Some("2")));
}

#[test]
fn an_empty_cursor_is_a_cursor() {
    let page = |value: Value| list::page(List::Tools, &members(value));
    assert_eq!(page(json!({"tools": [], "nextCursor": ""})), Some((Vec::new(), Some(String::new()))));
    assert_eq!(page(json!({"tools": []})), Some((Vec::new(), None)));
    assert_eq!(page(json!({"things": []})), None);
}

/// JSON of any shape, in which the names that a reader looks for occur often.
fn reply() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let name = prop::sample::select(vec![
        "content",
        "type",
        "text",
        "data",
        "mimeType",
        "structuredContent",
        "isError",
        "resultType",
        "inputRequests",
        "requestState",
        "task",
        "taskId",
        "status",
        "messages",
        "role",
        "contents",
        "uri",
        "blob",
        "resource",
        "completion",
        "values",
        "total",
        "hasMore",
        "_meta",
        "x",
    ]);
    let word =
        prop::sample::select(vec!["text", "image", "resource_link", "resource", "working", "input_required", "", "é"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let members = prop::collection::vec((name.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            members.prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn nothing_a_server_says_breaks_the_reader(said in reply(), modern: bool) {
        let json = Json::parse(Bytes::from(said.to_string())).expect("it is JSON");
        let version = if modern { Version::LATEST } else { Version::LATEST_LEGACY };
        for verb in [Verb::Call, Verb::Prompt, Verb::Read, Verb::Complete] {
            let _ = leg(verb, version).response(Ok(Members::of(&json)));
            let _ = leg(verb, version).task(Ok(Members::of(&json)));
        }
    }
}

#[test]
fn requests_about_a_task_are_named_by_it() {
    for method in [encode::TASK_GET, encode::TASK_UPDATE, encode::TASK_CANCEL] {
        let about = |version| encode::request(1, method, &Manner::own(version), |params| params.text("taskId", "t é"));
        let sent = about(Version::LATEST);
        let headers: Vec<(&str, &str)> = sent.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(headers, [("mcp-method", method), ("mcp-name", "=?base64?dCDDqQ==?=")]);
        assert!(about(Version::LATEST_LEGACY).headers.is_empty(), "headers are of the modern era");
    }
}

#[test]
fn a_receipt_is_taken_for_whoever_cannot_hold_one_except_by_callers_of_the_same_version() {
    let mut call = calling("{}");
    assert!(encode::takes_receipts(&call, Version::LATEST), "a caller of another protocol waits with the hub");
    call.origin = Version::LATEST_LEGACY.wire().into();
    assert!(encode::takes_receipts(&call, Version::LATEST));
    call.origin = Version::LATEST.wire().into();
    assert!(!encode::takes_receipts(&call, Version::LATEST), "the server decides as it would without a hub");
    call.meta = interlingua_model::Meta(Some(json!({"io.modelcontextprotocol/tasks": {}}).into()));
    assert!(encode::takes_receipts(&call, Version::LATEST));
    let declared = |receipts| {
        let manner = Manner { receipts, ..Manner::own(Version::LATEST) };
        let sent = body(&encode::call(1, &calling("{}"), &tool(), &manner, None));
        sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"].clone()
    };
    assert_eq!(declared(true), json!({"io.modelcontextprotocol/tasks": {}}));
    assert_eq!(declared(false), json!(null));
}

#[test]
fn a_task_that_failed_keeps_the_code_its_call_would_have_had() {
    let task = json!({"taskId": "t", "status": "failed", "error": {"code": -32603, "message": "out of paper"}});
    let ended = leg(Verb::Call, Version::LATEST).task(Ok(members(task))).expect("understood");
    let TaskState::Ended(finished, ..) = ended else { panic!("{ended:?}") };
    let Outcome::Failed(fault) = finished.outcome else { panic!("it failed") };
    assert_eq!((fault.kind, fault.peer_code.as_deref()), (FaultKind::PeerFailed, Some("-32603")));
    assert_eq!(&*fault.public, "p failed: out of paper");
}

#[test]
fn what_a_server_tells_of_its_resources_is_read_from_its_capabilities() {
    let server = |resources: Value| Server::decode(&members(json!({"capabilities": {"resources": resources}})));
    assert!(server(json!({"subscribe": true})).resources.subscribe);
    assert!(!server(json!({"listChanged": true})).resources.subscribe);
}

#[test]
fn the_kind_of_a_fault_is_believed_of_a_hub_alone() {
    let plain = leg(Verb::Call, Version::LATEST);
    let hub = ReplyContext { is_hub: true, ..plain.clone() };
    let looped = json!({
        "content": [{"type": "text", "text": "went in circles"}], "isError": true,
        "_meta": {"interlingua/fault": {"kind": "loop", "retry": "no"}},
    });
    let refused = rpc::Error::new(-32603, "went in circles").with(json!({"kind": "loop"}).into());
    for (leg, kind) in [(&hub, FaultKind::Loop), (&plain, FaultKind::PeerFailed)] {
        let Ok(Replied::Finished(finished, ..)) = leg.response(Ok(members(looped.clone()))) else {
            panic!("an outcome")
        };
        let Outcome::Failed(fault) = finished.outcome else { panic!("failed") };
        assert_eq!((fault.kind, &*fault.public), (kind, "p failed: went in circles"));
        assert_eq!(leg.response(Err(refused.clone())).expect_err("refused").kind, kind);
    }
}

#[test]
fn losses_are_believed_of_a_hub_alone_and_of_its_tasks_too() {
    let plain = leg(Verb::Call, Version::LATEST);
    let hub = ReplyContext { is_hub: true, ..plain.clone() };
    let result = json!({
        "content": [{"type": "text", "text": "a"}],
        "_meta": {"interlingua/losses": [{"what": "output.parts.place", "kind": "flattened"}]},
    });
    let task = json!({"taskId": "t", "status": "completed", "result": result});
    for (leg, believed) in [(&hub, vec![Loss::new("output.parts.place", LossKind::Flattened)]), (&plain, Vec::new())] {
        let Ok(Replied::Finished(_, losses, _)) = leg.response(Ok(members(result.clone()))) else {
            panic!("an outcome")
        };
        assert_eq!(losses, believed);
        let Ok(TaskState::Ended(_, losses, _)) = leg.task(Ok(members(task.clone()))) else { panic!("an end") };
        assert_eq!(losses, believed);
    }
}

#[test]
fn the_hubs_passed_are_read_as_they_are_written() {
    let via = Via { hubs: vec!["a".into(), "b".into()], limit: Via::LIMIT };
    let manner = Manner { via: Some(&via), ..Manner::own(Version::LATEST_LEGACY) };
    let sent = body(&encode::call(1, &calling("{}"), &tool(), &manner, None));
    let params = members(sent["params"].clone());
    let read = Said::legacy(&params, Version::LATEST_LEGACY, Client::default(), Time(1)).expect("a request");
    assert_eq!(read.via, Some(via.clone()));
    let spelt = members(json!({"_meta": {"interlingua/via": "a, b"}}));
    let read = Said::legacy(&spelt, Version::LATEST_LEGACY, Client::default(), Time(1)).expect("a request");
    assert_eq!(read.via, Some(via));
}
