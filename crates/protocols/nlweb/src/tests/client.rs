//! Requests of the hub, and answers of sites.

use bytes::Bytes;
use interlingua_model::json::Tree;
use interlingua_model::{Ask, Call, Input, Loss, LossKind, Origin, Part, Provenance, Target};
use serde_json::json;

use super::super::client::{Question as Wanted, Reply, Request, Session, encode, wait};
use super::super::wire::{Dialect, MAX_ITEMS, Modes};
use super::{get, post};

#[test]
fn q_03_q_50_requests_of_ours_in_each_generation() {
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

#[test]
fn what_a_site_is_not_asked_with_is_lost() {
    let lost = |args: Tree, words: &str| {
        let parts = vec![Part::text(words, Provenance::caller())];
        let input = Input { parts, ..Input::args(args.into()) };
        let ask = Ask::Invoke { target: Target::Peer("travel".into()), input };
        let carried = encode::call(&Call::new("m", Origin::program(), ask), None).expect("a question");
        carried.losses.iter().map(|loss| loss.what.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(lost(json!({"query": "flights", "site": "a", "mode": "list"}), "flights"), Vec::<String>::new());
    assert_eq!(lost(json!({"query": "flights", "seats": 2}), ""), ["input.args"]);
    assert_eq!(lost(json!({"query": "flights"}), "Find some."), ["input.parts.text"]);
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
fn q_08_messages_of_the_first_generation_are_read_or_passed_over() {
    let item = json!({"url": "https://a.example/1", "name": "One", "site": "a"});
    let reply = heard(&[json!({"message_type": "nlws", "answer": "This one.", "items": [item]})]);
    assert_eq!(
        (reply.text.clone(), &reply.structured().tree()["results"]),
        (vec!["This one.".to_owned()], &json!([item]))
    );
    let reply = heard(&[json!({"message_type": "ask_user", "content": "Which city?", "thread_id": "c1"})]);
    assert_eq!(reply.session.conversation.as_deref(), Some("c1"));
    let (text, asks) = reply.questions.expect("a question");
    assert_eq!((text.as_str(), asks.len()), ("Which city?", 1));
    for kind in ["no_results", "item_details", "compare_items", "ensemble_result", "asking_sites", "tool_selection"] {
        let reply = heard(&[json!({"message_type": kind, "message": "noise", "details": {"x": 1}})]);
        assert!(reply.is_understood(), "{kind}");
        assert_eq!((reply.text.len(), reply.questions.is_some(), reply.failure.is_some()), (0, false, false), "{kind}");
        assert_eq!(reply.structured().tree()["results"], json!([]), "{kind}");
    }
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
    let losses = json!([{"what": "output.parts.text", "kind": "dropped"}]);
    for said in [json!({"_meta": {"losses": losses}}), json!({"message_type": "losses", "losses": losses})] {
        // Each message of a stream may say it again.
        let reply = heard(&[said.clone(), json!({"results": []}), said]);
        assert_eq!(reply.losses, [Loss::new("output.parts.text", LossKind::Dropped)]);
    }
}

#[test]
fn q_54_an_answer_without_end_is_cut() {
    let many: Vec<Tree> = (0..1_500).map(|number| json!({"name": number})).collect();
    let reply = heard(&[json!({"results": many})]);
    assert!(reply.cut && reply.items.len() == MAX_ITEMS);
    let mut reply = Reply::default();
    for text in [&b"[DONE]"[..], b"", b"{", b"\xff", b"null", b"[1]"] {
        reply.hear(&Bytes::copy_from_slice(text), 8);
    }
    assert!(!reply.is_understood());
}
