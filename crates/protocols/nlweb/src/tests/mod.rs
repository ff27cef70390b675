//! Requests and answers of every generation; [`client`] is the client side, [`telling`] what a stream sends before its end.

mod client;
mod telling;

use bytes::Bytes;
use interlingua_model::json::Tree;
use interlingua_model::{
    Call, Event, Fault, FaultKind, Finished, Json, Output, Part, PeerId, Provenance, Question, QuestionId,
    QuestionKind, Route, RouteClass, Schema, SkillId, Target, TaskId, Text, Time, Why,
};
use interlingua_wire::codec::Meaning;
use serde_json::json;

use super::client::Reply;
use super::decode::{Arrived, Context, Incoming, Invalid, Own, Problem, decode};
use super::encode::{Envelope, Frame, Stand, Streamed, refused, status, whole};
use super::wire::{Action, Asked, Dialect, Modes, Operation};
use super::{discover, fault};

/// What a request to this site, or to all of them, means.
fn decoded(arrived: Arrived<'_>, site: Option<&str>) -> Result<Incoming, Invalid> {
    let site = site.map(Text::from);
    let context = Context { id: &|| "m".into(), depth: 32, site: site.as_ref(), only_read: false, hop: None };
    decode(arrived, &context).map(|decoded| decoded.value)
}

/// How a request to `ask` is to be answered.
fn ask(query: &str, body: &Bytes, form: bool) -> Result<Asked, Invalid> {
    decoded(Arrived { at: Operation::Ask, query, body, form }, None).map(|incoming| incoming.reply)
}

fn get(query: &str) -> Asked {
    ask(query, &Bytes::new(), false).unwrap()
}

fn post(body: &Tree) -> Result<Asked, Invalid> {
    ask("", &Bytes::from(body.to_string()), false)
}

#[test]
fn q_01_q_02_flat_parameters_come_by_address_form_or_json_and_the_body_wins() {
    let asked = get("query=spicy%20snacks+now&site=a,b&prev=one,two&query_id=7&streaming=False&thread_id=t");
    assert_eq!((asked.dialect, &*asked.text), (Dialect::Flat, "spicy snacks now"));
    assert_eq!(asked.sites, ["a".into(), "b".into()] as [interlingua_model::Text; 2]);
    assert_eq!((asked.prev.len(), asked.streaming, asked.query_id.as_deref()), (2, false, Some("7")));
    assert_eq!(asked.conversation.as_deref(), Some("t"));
    assert!(
        get("query=x").streaming && get("query=x&streaming=yes").streaming && get("query=x&site=all").sites.is_empty()
    );
    let body = Bytes::from_static(br#"{"query": "from the body", "prev": ["a, with a comma"], "streaming": false}"#);
    let asked = ask("query=from+the+address&site=s", &body, false).unwrap();
    assert_eq!(
        (&*asked.text, &*asked.prev[0], asked.sites.len(), asked.streaming),
        ("from the body", "a, with a comma", 1, false)
    );
    let body = Bytes::from_static(b"query=by+form&mode=summarize");
    let asked = ask("", &body, true).unwrap();
    assert!(&*asked.text == "by form" && asked.modes.summarize);
}

/// All that a server of the first generation reads, each with what it changes.
#[test]
fn q_02_every_parameter_of_the_first_generation_is_taken() {
    let plain = get("query=x");
    assert_eq!(plain.sites.len(), 0, "all of them");
    type Changed = fn(&Asked) -> bool;
    let all: [(&str, &str, Changed); 10] = [
        ("query", "other", |asked| &*asked.text == "other"),
        ("site", "a,b", |asked| asked.sites.len() == 2),
        ("prev", "one,two", |asked| asked.prev.len() == 2),
        ("decontextualized_query", "whole", |asked| &*asked.text == "whole"),
        ("streaming", "0", |asked| !asked.streaming),
        ("query_id", "7", |asked| asked.query_id.as_deref() == Some("7")),
        ("mode", "summarize", |asked| asked.modes.summarize),
        ("generate_mode", "generate", |asked| asked.modes.generate),
        ("thread_id", "t", |asked| asked.conversation.as_deref() == Some("t")),
        ("required_item_type", "Recipe", |asked| asked.item_type.as_deref() == Some("Recipe")),
    ];
    for (name, value, changed) in all {
        assert!(!changed(&plain) && changed(&get(&format!("query=x&{name}={value}"))), "{name} in an address");
        let body =
            json!({"query": "x"}).as_object().cloned().into_iter().flatten().chain([(name.into(), value.into())]);
        assert!(changed(&post(&Tree::Object(body.collect())).unwrap()), "{name} in JSON");
    }
    // Who asks is known by a credential, models are configured, nothing is fetched for an asker.
    for name in ["last_ans", "model", "context_url", "context_description", "oauth_id"] {
        assert_eq!(get(&format!("query=x&{name}=http://a.example/")), plain, "{name} changes nothing");
    }
    for off in ["False", "false", "0"] {
        assert!(!get(&format!("query=x&streaming={off}")).streaming, "{off}");
    }
    for on in ["FALSE", "no", "off", "1", ""] {
        assert!(get(&format!("query=x&streaming={on}")).streaming, "{on}");
    }
    assert!(ask("site=a", &Bytes::new(), false).is_err(), "only it is required");
}

#[test]
fn q_02_a_required_type_leaves_out_all_other_items() {
    let row = |kind: Tree, name: &str| json!({"@type": kind, "name": name});
    let inner = json!({"name": "inner", "schema_object": {"@type": "Recipe"}});
    let results = json!({"results": [row("Recipe".into(), "a"), row(json!(["Thing", "Recipe"]), "b"), row("Book".into(), "c"),
        {"name": "d"}, inner]});
    let finished = Finished::completed(Output { structured: Some(Json::from_tree(results)), ..Output::default() });
    let said = whole(&envelope(&get("query=x&required_item_type=Recipe")), &Stand::Finished(&finished));
    let names: Vec<&Tree> = said["results"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["a", "b", "inner"]);
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
    assert_eq!((&*asked.text, &*asked.sites[0]), ("pasta", "recipes"));
    let asked = post(&json!({"query": {"text": "it", "num_results": 7, "decontextualized_query": "pasta"},
        "prefer": {"response_format": "conv_search", "accept-language": "fr", "user-agent": "u"},
        "meta": {"api_version": "0.54", "user": {"id": "u"}, "remember": true}}))
    .unwrap();
    assert_eq!((&*asked.text, asked.most, asked.streaming), ("pasta", 7, true), "streaming unless it is turned off");
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
    assert_eq!(post(&body("0.54")).unwrap_err().problem, Problem::Unknown("cuisine".into()));
    assert!(post(&body("0.55")).is_ok());
}

#[test]
fn q_21_q_23_what_cannot_be_read_is_named_in_the_words_of_the_sender() {
    let flat = ask("site=a", &Bytes::new(), false).unwrap_err();
    let (status, answer) = refused(&flat, "1".into());
    assert_eq!((status, &answer["message_type"]), (400, &json!("error")));
    for body in [json!([]), json!({"query": {}}), json!({"query": 5}), json!({"query": {"text": " "}})] {
        let (status, answer) = refused(&post(&body).unwrap_err(), "1".into());
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("INVALID_REQUEST")), "{body}");
        assert_eq!(answer["_meta"]["response_type"], "failure");
    }
    let broken = Bytes::from_static(b"{\"query\":");
    assert!(ask("", &broken, false).is_err());
}

#[test]
fn q_25_await_takes_a_token_and_one_of_two_actions() {
    let read = |body: Tree| {
        let body = Bytes::from(body.to_string());
        let arrived = Arrived { at: Operation::Await, query: "", body: &body, form: false };
        decoded(arrived, None).map(|incoming| incoming.meaning)
    };
    for (word, action) in [("checkin", Action::CheckIn), ("cancel", Action::Cancel)] {
        let meaning = read(json!({"promise_token": "t", "action": word})).unwrap();
        let Meaning::Own(Own::Wait { token, action: wanted }) = meaning else { panic!("{meaning:?}") };
        assert_eq!((&*token, wanted), ("t", action));
    }
    let code = |body: Tree| {
        let invalid = read(body).unwrap_err();
        assert_eq!(invalid.dialect, Dialect::Named);
        invalid.problem.code()
    };
    assert_eq!(code(json!({"action": "cancel"})), "MISSING_FIELD");
    assert_eq!(code(json!({"promise_token": "t"})), "MISSING_FIELD");
    assert_eq!(code(json!({"promise_token": "t", "action": "wait"})), "INVALID_ACTION");
}

/// The calls that a request to `ask` is.
fn calls(query: &str, site: Option<&str>) -> Vec<Call> {
    let body = Bytes::new();
    let incoming = decoded(Arrived { at: Operation::Ask, query, body: &body, form: false }, site).unwrap();
    match incoming.meaning {
        Meaning::Call(call) => vec![*call],
        Meaning::Own(Own::Several(calls)) => calls,
        other => panic!("{other:?}"),
    }
}

fn target(call: &Call) -> &Target {
    let interlingua_model::Ask::Invoke { target, .. } = &call.ask else { panic!("{call:?}") };
    target
}

#[test]
fn q_63_a_site_is_a_peer() {
    let query = "query=x&prev=[\"before, this\"]";
    let peer = |name: &str| Target::Peer(PeerId::from(name));
    let [call] = calls(query, Some("airline")).try_into().unwrap();
    assert_eq!((target(&call), call.input().unwrap().history.len()), (&peer("airline"), 1));
    let [call] = calls(query, None).try_into().unwrap();
    assert_eq!(target(&call), &Target::Words);
    assert_eq!(call.origin.wire().unwrap().0, "nlweb/0.1");
    let several = calls("query=x&site=b,a", None);
    assert_eq!(several.iter().map(target).collect::<Vec<_>>(), [&peer("b"), &peer("a")]);
    let [call] = calls("query=x&site=b,a", Some("airline")).try_into().unwrap();
    assert_eq!(target(&call), &peer("airline"), "the path wins");
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

fn begin(envelope: &Envelope) -> Vec<Frame> {
    Streamed::new(envelope.clone()).begin()
}

/// The end of a stream that has told nothing before it.
fn end(envelope: &Envelope, stand: &Stand<'_>) -> Vec<Frame> {
    Streamed::new(envelope.clone()).end(stand)
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
    assert_eq!(
        (&first["siteUrl"], &first["description"], &first["ranking_type"]),
        (&json!("airline"), &json!("airline: Air France, price: $650"), &json!("REGULAR_TRACK"))
    );
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 8, "what an item has, and nothing else: {keys:?}");
    assert!((51.0..=100.0).contains(&first["score"].as_f64().unwrap()));
    assert_eq!(said["results"][1]["score"], 20.0);
    assert_eq!(said["summary"], json!({"message": "two flights"}));
    let list = whole(&envelope(&get("query=x")), &Stand::Finished(&finished));
    assert!(list.get("summary").is_none(), "{list}");
}

#[test]
fn q_06_an_item_of_another_site_keeps_what_it_says_of_itself() {
    let row = json!({"url": "https://a.example/1", "name": "One", "site": "a", "siteUrl": "https://a.example", "score": 77,
        "description": "d", "ranking_type": "FAST_TRACK", "schema_object": {"@type": "Recipe"}});
    let many: Vec<Tree> =
        (0..12).map(|number| json!({"name": number.to_string()})).chain([row.clone()]).rev().collect();
    let finished = Finished::completed(Output {
        structured: Some(Json::from_tree(json!({"results": many}))),
        ..Output::default()
    });
    let said = whole(&envelope(&get("query=x")), &Stand::Finished(&finished));
    let results = said["results"].as_array().unwrap();
    for key in ["url", "name", "site", "siteUrl", "description", "ranking_type"] {
        assert_eq!(results[0][key], row[key], "{key}");
    }
    assert_eq!((&results[0]["score"], results.len()), (&json!(77), 10), "at most ten of them");
}

#[test]
fn q_07_q_08_a_stream_of_the_first_generation_ends_with_complete() {
    let (finished, envelope) = (rows(), envelope(&get("query=x&mode=summarize")));
    let mut frames = begin(&envelope);
    let progress = Event::Progress { done: None, total: None, note: Some("step 1".into()) };
    frames.extend(telling::told(&mut Streamed::new(envelope.clone()), progress));
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
        to: interlingua_model::Addressee::Caller,
        kind: QuestionKind::Input { form: Schema(form.into()), choices: Vec::new() },
        text: "On which day?".into(),
        asked_by: interlingua_model::Party::Hub,
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
        (FaultKind::NotFound(interlingua_model::Noun::Skill), "NOT_FOUND", 404),
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
    let cancelled = Finished::cancelled(interlingua_model::Party::Caller, interlingua_model::CancelWhy::Asked);
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
        args: Some(json!({"origin": "Berlin"}).into()),
    };
    let said = json!({"skill": "airline/search_flights", "class": "driven_site", "why": "phrase",
        "arguments": {"origin": "Berlin"}});
    let finished = rows();
    let mut nested = envelope(&nested("0.55", json!({})));
    nested.route = Some(route.clone());
    assert_eq!(whole(&nested, &Stand::Finished(&finished))["_meta"]["route"], said);
    let mut flat = envelope(&get("query=x"));
    flat.route = Some(route);
    assert_eq!(whole(&flat, &Stand::Finished(&finished))["route"], said);
}
