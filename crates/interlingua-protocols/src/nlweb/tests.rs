use bytes::Bytes;
use interlingua_core::json::Tree;
use interlingua_core::{
    Fault, FaultKind, Finished, Json, Loss, LossKind, Output, Part, PeerId, Provenance, Question, QuestionId,
    QuestionKind, Route, RouteClass, Schema, SkillId, Target, TaskId, Time, Why,
};
use serde_json::json;

use super::client::{Question as Wanted, Reply, Request, Session, wait};
use super::decode::{Arrived, Invalid, ask};
use super::encode::{Envelope, Frame, Stand, begin, end, refused, status, whole};
use super::wire::{Action, Asked, Dialect, Modes};
use super::{decode, discover, fault};

fn get(query: &str) -> Asked {
    ask(Arrived { query, body: &Bytes::new(), form: false, depth: 32 }).unwrap()
}

fn post(body: &Tree) -> Result<Asked, decode::Refused> {
    ask(Arrived { query: "", body: &Bytes::from(body.to_string()), form: false, depth: 32 })
}

#[test]
fn q_01_q_02_flat_parameters_come_by_address_form_or_json_and_the_body_wins() {
    let asked = get("query=spicy%20snacks+now&site=a,b&prev=one,two&query_id=7&streaming=False&thread_id=t");
    assert_eq!((asked.dialect, &*asked.text), (Dialect::Flat, "spicy snacks now"));
    assert_eq!(asked.sites, ["a".into(), "b".into()] as [interlingua_core::Text; 2]);
    assert_eq!((asked.prev.len(), asked.streaming, asked.query_id.as_deref()), (2, false, Some("7")));
    assert_eq!(asked.conversation.as_deref(), Some("t"));
    assert!(
        get("query=x").streaming && get("query=x&streaming=yes").streaming && get("query=x&site=all").sites.is_empty()
    );
    let body = Bytes::from_static(br#"{"query": "from the body", "prev": ["a, with a comma"], "streaming": false}"#);
    let asked = ask(Arrived { query: "query=from+the+address&site=s", body: &body, form: false, depth: 32 }).unwrap();
    assert_eq!(
        (&*asked.text, &*asked.prev[0], asked.sites.len(), asked.streaming),
        ("from the body", "a, with a comma", 1, false)
    );
    let body = Bytes::from_static(b"query=by+form&mode=summarize");
    let asked = ask(Arrived { query: "", body: &body, form: true, depth: 32 }).unwrap();
    assert!(&*asked.text == "by form" && asked.modes.summarize);
}

#[test]
fn q_03_both_names_of_the_mode_count_and_none_is_a_list() {
    assert_eq!(get("query=x&generate_mode=none").modes, Modes::default());
    assert_eq!(get("query=x&mode=list").modes, Modes::default());
    assert!(get("query=x&mode=summarize").modes.summarize && get("query=x&generate_mode=generate").modes.generate);
}

#[test]
fn q_20_q_41_nested_requests_say_their_generation() {
    let asked = post(&json!({"query": {"text": "pasta", "site": "recipes", "max_results": 3, "min_score": 70},
        "context": {"@type": "ConversationalContext", "prev": ["soup"]}, "prefer": {"streaming": false, "mode": "list,summarize"},
        "meta": {"api_version": "0.54", "session_context": {"conversation_id": "c", "state_token": "s"}, "start_num": 2}}))
    .unwrap();
    assert_eq!((asked.dialect, asked.most, asked.first, asked.streaming), (Dialect::Results, 3, 2, false));
    assert_eq!(
        (asked.conversation.as_deref(), asked.state.as_deref(), &*asked.prev[0]),
        (Some("c"), Some("s"), "soup")
    );
    assert!(asked.modes.summarize && (asked.least_score - 70.0).abs() < f64::EPSILON);
    let of = |more: Tree| {
        let mut body = json!({"query": {"text": "x"}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post(&body).unwrap().dialect
    };
    assert_eq!(of(json!({})), Dialect::Named);
    assert_eq!(of(json!({"meta": {"version": "v0.55"}})), Dialect::Named);
    assert_eq!(of(json!({"meta": {"version": "0.5"}})), Dialect::Content);
    assert_eq!(of(json!({"return_response": {"streaming": false}})), Dialect::Content);
    assert_eq!(of(json!({"meta": {"api_version": "1.2"}})), Dialect::Named);
}

#[test]
fn q_20_q_45_unknown_keys_of_a_query_are_refused_where_that_is_the_rule() {
    let body = |version: &str| json!({"query": {"text": "x", "cuisine": "thai"}, "meta": {"api_version": version}});
    assert_eq!(post(&body("0.54")).unwrap_err().invalid, Invalid::Unknown("cuisine".into()));
    assert!(post(&body("0.55")).is_ok());
}

#[test]
fn q_21_q_23_what_cannot_be_read_is_named_in_the_words_of_the_sender() {
    let flat = ask(Arrived { query: "site=a", body: &Bytes::new(), form: false, depth: 32 }).unwrap_err();
    let (status, answer) = refused(&flat, "1".into());
    assert_eq!((status, &answer["message_type"]), (400, &json!("error")));
    for body in [json!([]), json!({"query": {}}), json!({"query": 5}), json!({"query": {"text": " "}})] {
        let (status, answer) = refused(&post(&body).unwrap_err(), "1".into());
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("INVALID_REQUEST")), "{body}");
        assert_eq!(answer["_meta"]["response_type"], "failure");
    }
    let broken = Bytes::from_static(b"{\"query\":");
    assert!(ask(Arrived { query: "", body: &broken, form: false, depth: 32 }).is_err());
}

#[test]
fn q_25_await_takes_a_token_and_one_of_two_actions() {
    let read = |body: Tree| decode::wait(&Bytes::from(body.to_string()), 32);
    assert_eq!(read(json!({"promise_token": "t", "action": "checkin"})), Ok(("t".into(), Action::CheckIn)));
    assert_eq!(read(json!({"promise_token": "t", "action": "cancel"})), Ok(("t".into(), Action::Cancel)));
    assert_eq!(read(json!({"action": "cancel"})).unwrap_err().code(), "MISSING_FIELD");
    assert_eq!(read(json!({"promise_token": "t"})).unwrap_err().code(), "MISSING_FIELD");
    assert_eq!(read(json!({"promise_token": "t", "action": "wait"})).unwrap_err().code(), "INVALID_ACTION");
}

#[test]
fn q_63_q_65_a_site_is_a_peer_and_whoever_leaves_cancels() {
    let asked = get("query=x&prev=[\"before, this\"]");
    let call = asked.call("m", Some("airline"));
    let interlingua_core::Ask::Invoke { target, input } = &call.ask else { panic!() };
    assert_eq!((target, input.history.len()), (&Target::Peer(PeerId::from("airline")), 1));
    let call = asked.call("m", None);
    let interlingua_core::Ask::Invoke { target, .. } = &call.ask else { panic!() };
    assert_eq!(target, &Target::Words);
    assert_eq!(call.limits.on_disconnect, interlingua_core::OnDisconnect::Cancel);
    assert_eq!(call.origin.wire().unwrap().0, "nlweb/0.1");
}

fn rows() -> Finished {
    let structured = json!({"extracted_data": [{"airline": "Air France", "price": "$650"}, {"name": "United", "url": "https://u.example/1", "score": 20}],
        "source_url": "https://a.example/flights"});
    Finished::completed(Output {
        parts: vec![Part::text("two flights", Provenance::hub())],
        structured: Some(Json::from_tree(structured)),
        ..Output::default()
    })
}

fn envelope(asked: &Asked) -> Envelope {
    let mut envelope = Envelope::of(asked, "r1".into(), "airline".into());
    envelope.conversation = Some("c1".into());
    envelope
}

fn nested(version: &str, more: Tree) -> Asked {
    let mut query = json!({"text": "x"});
    query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post(&json!({"query": query, "meta": {"api_version": version}})).unwrap()
}

#[test]
fn q_04_q_05_q_06_q_09_a_whole_answer_of_the_first_generation() {
    let finished = rows();
    let said = whole(&envelope(&get("query=x&mode=summarize")), &Stand::Finished(&finished));
    assert_eq!(said["query_id"], "r1", "one is made");
    assert_eq!(whole(&envelope(&get("query=x&query_id=mine")), &Stand::Finished(&finished))["query_id"], "mine");
    let first = &said["results"][0];
    assert_eq!(
        (&first["name"], &first["site"], &first["url"]),
        (&json!("Air France"), &json!("airline"), &json!("https://a.example/flights"))
    );
    assert_eq!(first["schema_object"], json!({"airline": "Air France", "price": "$650"}));
    assert!(first["score"].as_f64().unwrap() > 51.0);
    assert_eq!(said["results"][1]["score"], 20.0);
    assert_eq!(said["summary"], json!({"message": "two flights"}));
    let list = whole(&envelope(&get("query=x")), &Stand::Finished(&finished));
    assert!(list.get("summary").is_none(), "{list}");
}

#[test]
fn q_07_q_08_a_stream_of_the_first_generation_ends_with_complete() {
    let (finished, envelope) = (rows(), envelope(&get("query=x&mode=summarize")));
    let mut frames = begin(&envelope);
    frames.extend(super::encode::progress(&envelope, "step 1"));
    frames.extend(end(&envelope, &Stand::Finished(&finished)));
    let kinds: Vec<&str> = frames.iter().map(|frame| frame.data["message_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["api_version", "intermediate_message", "result_batch", "summary", "complete"]);
    assert!(frames.iter().all(|frame| frame.name.is_none() && frame.data["query_id"] == "r1"));
    let fault = Fault::hub(FaultKind::Deadline, "too long");
    let failed = Finished::failed(fault);
    let frames = end(&envelope, &Stand::Finished(&failed));
    assert_eq!((&frames[0].data["message_type"], &frames[0].data["error"]), (&json!("error"), &json!("too long")));
}

#[test]
fn q_22_q_23_q_24_answers_of_version_0_54() {
    let (finished, envelope) = (rows(), envelope(&nested("0.54", json!({"min_score": 51}))));
    let said = whole(&envelope, &Stand::Finished(&finished));
    assert_eq!((&said["_meta"]["version"], &said["_meta"]["response_type"]), (&json!("0.54"), &json!("Answer")));
    assert_eq!(said["results"].as_array().unwrap().len(), 1, "below the least score");
    assert_eq!(said["results"][0]["grounding"]["source_urls"], json!(["https://a.example/flights"]));
    assert_eq!(begin(&envelope), Vec::<Frame>::new());
    let frames = end(&envelope, &Stand::Finished(&finished));
    assert!(frames.iter().all(|frame| frame.name.is_none()));
    assert!(frames[0].data.get("_meta").is_some() && frames[1].data.get("results").is_some() && frames.len() == 2);
    let fault = Fault::caller(FaultKind::InvalidInput, "no");
    let frames = end(&envelope, &Stand::Refused(&fault));
    assert_eq!(frames[0].data["_meta"]["response_type"], "Failure");
    assert_eq!(frames[1].data["error"], json!({"code": "INVALID_REQUEST", "message": "no"}));
}

#[test]
fn q_42_q_45_named_events_of_version_0_55() {
    let mut asked = nested("0.55", json!({}));
    asked.modes.summarize = true;
    let (finished, envelope) = (rows(), envelope(&asked));
    let mut frames = begin(&envelope);
    frames.extend(end(&envelope, &Stand::Finished(&finished)));
    let names: Vec<_> = frames.iter().map(|frame| frame.name.unwrap()).collect();
    assert_eq!(names, ["start", "result", "result", "complete"]);
    assert_eq!(
        (&frames[1].data["results"][1]["index"], &frames[2].data["results"][0]["@type"]),
        (&json!(1), &json!("SearchSummary"))
    );
    assert_eq!(frames[3].data["_meta"]["session_context"]["conversation_id"], "c1");
    assert_eq!(frames[3].data["_meta"]["response_type"], "answer");
}

#[test]
fn q_24_q_44_q_64_questions_and_promises() {
    let form = json!({"type": "object", "properties": {"date": {"type": "string", "description": "The day"}, "cabin": {"enum": ["economy", "business"]}}});
    let question = Question {
        id: QuestionId(TaskId(1), 0),
        to: interlingua_core::Addressee::Caller,
        kind: QuestionKind::Input { form: Schema(form.into()), choices: Vec::new() },
        text: "On which day?".into(),
        asked_by: interlingua_core::Party::Hub,
        expires: Time(0),
        resume: None,
        name: None,
    };
    let named = envelope(&nested("0.55", json!({})));
    let said = whole(&named, &Stand::Asked(&question));
    let questions = said["elicitation"]["questions"].as_array().unwrap();
    assert_eq!(said["elicitation"]["text"], "On which day?");
    assert!(questions.contains(&json!({"id": "date", "text": "The day", "type": "text"})), "{said}");
    assert!(questions.contains(
        &json!({"id": "cabin", "text": "cabin", "type": "single_select", "options": ["economy", "business"]})
    ));
    assert_eq!(said["_meta"]["session_context"]["state_token"], "c1");
    let flat = end(&envelope(&get("query=x")), &Stand::Asked(&question));
    assert_eq!((&flat[0].data["message_type"], &flat[0].data["thread_id"]), (&json!("ask_user"), &json!("c1")));
    let promise = Stand::Promised { token: "t", note: None };
    assert_eq!((status(Dialect::Named, &promise), status(Dialect::Results, &promise)), (202, 200));
    assert_eq!(whole(&named, &promise)["promise"]["token"], "t");
    assert_eq!(end(&named, &promise).last().unwrap().data["promise"]["token"], "t");
    let content = envelope(&nested("0.5", json!({})));
    let finished = rows();
    assert_eq!(whole(&content, &Stand::Finished(&finished))["content"][0]["type"], "resource");
}

#[test]
fn q_43_q_44_faults_have_codes_and_refusals_a_status() {
    let all = [
        (FaultKind::Malformed, "INVALID_REQUEST", 400),
        (FaultKind::Unauthenticated, "UNAUTHORIZED", 401),
        (FaultKind::Denied, "FORBIDDEN", 403),
        (FaultKind::NotFound(interlingua_core::Noun::Skill), "NOT_FOUND", 404),
        (FaultKind::TooLarge, "TOO_LARGE", 413),
        (FaultKind::PeerFailed, "UPSTREAM_ERROR", 200),
        (FaultKind::Deadline, "TIMEOUT", 200),
        (FaultKind::Internal, "INTERNAL_ERROR", 500),
    ];
    for (kind, code, status) in all {
        let one = Fault::hub(kind, "x");
        assert_eq!((fault::code(&one), fault::status(&one)), (code, status), "{kind:?}");
    }
    let limited = Fault::caller(FaultKind::Busy, "x");
    assert_eq!((fault::code(&limited), fault::status(&limited)), ("RATE_LIMITED", 429));
    let cancelled = Finished::cancelled(interlingua_core::Party::Caller, interlingua_core::CancelWhy::Asked);
    assert_eq!(
        whole(&envelope(&nested("0.55", json!({}))), &Stand::Finished(&cancelled))["error"]["code"],
        "CANCELLED"
    );
}

#[test]
fn q_11_sites_have_the_key_with_a_hyphen() {
    let sites = [discover::Site { name: "a".into(), description: "d".into() }];
    let listed = discover::sites(&sites);
    assert_eq!(listed["message-type"], "sites");
    assert_eq!(discover::read_sites(&listed), ["a"]);
}

#[test]
fn q_46_the_file_for_models_says_where_to_ask() {
    assert_eq!(discover::ask_links(&discover::about("Hub")).next(), Some("/ask"));
    for (text, found) in [
        (
            "- [Ask us](https://s.example/api/ask?streaming=false): now",
            Some("https://s.example/api/ask?streaming=false"),
        ),
        ("Questions go to https://s.example/ask.", Some("https://s.example/ask")),
        ("POST to `/nlweb/ask/` please", Some("/nlweb/ask/")),
        ("- [docs](/docs/ask-us) and [task](/task)", None),
        ("[broken](/ask", None),
        ("", None),
    ] {
        assert_eq!(discover::ask_links(text).next(), found, "{text}");
    }
}

#[test]
fn q_26_actions_of_an_item_pass_as_they_came() {
    let action = json!({"@context": "https://schema.org", "@type": "AddToCartAction", "name": "add", "protocol": "HTTP",
        "method": "POST", "endpoint": "/cart", "params": {"id": 1}});
    let item =
        json!({"@type": "Product", "name": "Tea", "url": "https://s.example/1", "score": 80, "actions": [action]});
    let mut reply = Reply::default();
    let answer = json!({"_meta": {"response_type": "answer"}, "results": [item]});
    reply.hear(&Bytes::from(answer.to_string()), 64);
    let output = Output { structured: Some(reply.structured()), ..Output::default() };
    let finished = Finished::completed(output);
    let asked = nested("0.55", json!({}));
    assert_eq!(whole(&envelope(&asked), &Stand::Finished(&finished))["results"][0]["actions"], json!([action]));
    let flat = whole(&envelope(&get("query=x")), &Stand::Finished(&finished));
    assert_eq!(flat["results"][0]["schema_object"]["actions"], json!([action]));
}

#[test]
fn w_47_an_answer_says_which_way_was_taken() {
    let route = Route {
        skill: SkillId::new("airline", "search_flights"),
        version: None,
        class: RouteClass::DrivenSite,
        why: Why::Phrase,
    };
    let said = json!({"skill": "airline/search_flights", "class": "driven_site", "why": "phrase"});
    let finished = rows();
    let mut nested = envelope(&nested("0.55", json!({})));
    nested.route = Some(route.clone());
    assert_eq!(whole(&nested, &Stand::Finished(&finished))["_meta"]["route"], said);
    let mut flat = envelope(&get("query=x"));
    flat.route = Some(route);
    assert_eq!(whole(&flat, &Stand::Finished(&finished))["route"], said);
}

#[test]
fn q_50_requests_of_ours_in_each_generation() {
    let session = Some(Session { conversation: Some("c".into()), state: Some("s".into()) });
    let wanted = Wanted { text: "a b&c", site: Some("x"), prev: vec!["p, q"], modes: Modes::default(), session };
    let Request::Get(query) = wanted.request(Dialect::Flat) else { panic!() };
    assert_eq!(
        query,
        "query=a%20b%26c&streaming=true&mode=list&generate_mode=none&site=x&prev=%5B%22p%2C%20q%22%5D&thread_id=c"
    );
    let again = get(&query);
    assert_eq!((&*again.text, &*again.prev[0]), ("a b&c", "p, q"));
    for dialect in [Dialect::Content, Dialect::Results, Dialect::Named] {
        let Request::Post(body) = wanted.request(dialect) else { panic!() };
        let again = post(&body).unwrap();
        assert_eq!((again.dialect, again.state.as_deref(), &*again.sites[0]), (dialect, Some("s"), "x"));
    }
    assert_eq!(wait("t", true)["action"], "cancel");
}

fn heard(messages: &[Tree]) -> Reply {
    let mut reply = Reply::default();
    messages.iter().for_each(|message| reply.hear(&Bytes::from(message.to_string()), 64));
    reply
}

#[test]
fn q_51_q_52_q_53_answers_of_every_generation_are_one_answer() {
    let item = json!({"url": "https://a.example/1", "name": "One", "site": "a", "score": 90, "description": "d", "schema_object": {"@type": "Recipe"}});
    let first = heard(&[
        json!({"message_type": "api_key", "key_name": "maps", "key_value": "secret"}),
        json!({"message_type": "result_batch", "results": [item], "query_id": ""}),
        json!({"message_type": "summary", "message": "One thing."}),
        json!({"message_type": "something_new", "x": 1}),
        json!({"message_type": "complete"}),
    ]);
    let late = heard(&[
        json!({"message_type": "begin-nlweb-response"}),
        json!({"message_type": "result", "content": [item]}),
        json!({"message_type": "end-nlweb-response"}),
    ]);
    let flat = heard(&[json!({"query_id": "1", "results": [item], "summary": {"message": "One thing."}})]);
    let content = heard(&[
        json!({"_meta": {"version": "0.5"}, "content": [{"type": "text", "text": "One thing."}, {"type": "resource", "resource": item}]}),
    ]);
    let results = heard(&[
        json!({"_meta": {"version": "0.54", "response_type": "Answer"}}),
        json!({"results": [item]}),
        json!({"results": [{"@type": "Summary", "text": "One thing."}]}),
    ]);
    let named = heard(&[
        json!({"_meta": {"version": "0.55"}}),
        json!({"results": [item]}),
        json!({"results": [{"@type": "SearchSummary", "text": "One thing."}]}),
        json!({"_meta": {"response_type": "answer", "session_context": {"conversation_id": "c"}}}),
    ]);
    for (reply, summary) in
        [(&first, true), (&late, false), (&flat, true), (&content, true), (&results, true), (&named, true)]
    {
        assert!(reply.is_understood());
        assert_eq!(reply.structured().tree()["results"], json!([item]));
        assert_eq!(reply.text, if summary { vec!["One thing.".to_owned()] } else { vec![] });
        assert!(!format!("{:?}", reply.structured()).contains("secret"));
    }
    assert_eq!(named.session.conversation.as_deref(), Some("c"));
}

#[test]
fn q_24_q_42_questions_promises_failures_and_order() {
    let reply = heard(&[json!({"_meta": {"response_type": "Elicitation", "session_context": {"state_token": "s"}},
        "elicitation": {"text": "When?", "questions": [{"id": "date", "text": "Day", "type": "text"}, {"id": "c", "text": "Cabin", "type": "single_select", "options": ["a", "b"]}]}})]);
    let (text, asks) = reply.questions.unwrap();
    assert_eq!(
        (text.as_str(), asks.len(), asks[1].options.len(), reply.session.state.as_deref()),
        ("When?", 2, 2, Some("s"))
    );
    let reply =
        heard(&[json!({"_meta": {"response_type": "Promise"}, "promise": {"token": "t", "estimated_time": 60}})]);
    assert_eq!(reply.promise.map(|promise| (promise.token, promise.seconds)), Some(("t".into(), Some(60))));
    let reply = heard(&[
        json!({"_meta": {"response_type": "Failure"}}),
        json!({"error": {"code": "INVALID_REQUEST", "message": "m"}}),
    ]);
    assert!(reply.wants_another_dialect(200));
    let reply = heard(&[json!({"message_type": "error", "error": "boom", "status": 500})]);
    assert_eq!(reply.failure, Some(("ERROR".into(), "boom".into())));
    assert!(!reply.wants_another_dialect(200) && Reply::default().wants_another_dialect(200));
    let reply =
        heard(&[json!({"results": [{"name": "b", "index": 1}]}), json!({"results": [{"name": "a", "index": 0}]})]);
    assert_eq!(reply.structured().tree()["results"][0]["name"], "a");
}

#[test]
fn what_a_hub_lost_behind_its_answer_is_heard_in_every_generation() {
    let losses = json!([{"what": "output.text", "kind": "dropped"}]);
    for said in [json!({"_meta": {"losses": losses}}), json!({"message_type": "losses", "losses": losses})] {
        // Each message of a stream may say it again.
        let reply = heard(&[said.clone(), json!({"results": []}), said]);
        assert_eq!(reply.losses, [Loss::new("output.text", LossKind::Dropped)]);
    }
}

#[test]
fn q_54_an_answer_without_end_is_cut() {
    let many: Vec<Tree> = (0..1_500).map(|number| json!({"name": number})).collect();
    let reply = heard(&[json!({"results": many})]);
    assert!(reply.cut && reply.items.len() == super::wire::MAX_ITEMS);
    let mut reply = Reply::default();
    for text in [&b"[DONE]"[..], b"", b"{", b"\xff", b"null", b"[1]"] {
        reply.hear(&Bytes::copy_from_slice(text), 8);
    }
    assert!(!reply.is_understood());
}
