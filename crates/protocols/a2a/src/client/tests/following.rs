//! An agent's reports of a call, as events.

use interlingua_model::{
    Channel, Event, FaultKind, Finished, Outcome, Owner, Part, Party, Principal, Proof, QuestionKind, TaskId, Time,
};

use super::*;
use crate::client::follow::{Following, Teller, Told};
use crate::client::remote::Remote;
use crate::ext;
use crate::json::Dialect;
use crate::json::read::Source;

fn owner() -> Owner {
    Principal::hub_owner(Proof::InProcess).owner()
}

fn follows(speaks_ours: bool, is_hub: bool) -> Following {
    Following::new(Teller { peer: "p".into(), speaks_ours, is_hub, task: TaskId(1), owner: owner() }, None)
}

fn hear(following: &mut Following, update: &Value) -> Vec<Told> {
    try_hear(following, update).expect("well said")
}

fn try_hear(following: &mut Following, update: &Value) -> Result<Vec<Told>, interlingua_model::Fault> {
    let frame = bytes(update);
    let update = Source { frame: &frame, dialect: Dialect::V1, depth: 64 }.update().expect("an update");
    following.hear(update, Time(9))
}

fn status(state: &str) -> Value {
    json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}}})
}

fn saying(state: &str, id: &str, parts: Value) -> Value {
    let mut status = status(state);
    status["statusUpdate"]["status"]["message"] = json!({"messageId": id, "role": "ROLE_AGENT", "parts": parts});
    status
}

fn made(id: &str, text: &str, append: bool, last: bool) -> Value {
    json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "append": append, "lastChunk": last,
        "artifact": {"artifactId": id, "name": "page", "parts": [{"text": text}]}}})
}

fn task(state: &str, artifacts: Value) -> Value {
    json!({"task": {"id": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}, "artifacts": artifacts}})
}

fn finished(told: &[Told]) -> &Finished {
    match told.last() {
        Some(Told::Finished(finished, _)) => finished,
        other => panic!("not finished: {other:?}"),
    }
}

fn chunks(told: &[Told]) -> Vec<(u32, bool, Vec<&str>)> {
    let chunk = |told: &'_ Told| match told {
        Told::Event(Event::Artifact(chunk)) => Some(chunk.clone()),
        _ => None,
    };
    told.iter()
        .filter(|told| chunk(told).is_some())
        .map(|told| match told {
            Told::Event(Event::Artifact(chunk)) => {
                (chunk.index, chunk.last, chunk.parts.iter().filter_map(Part::as_text).collect())
            }
            _ => unreachable!("filtered"),
        })
        .collect()
}

#[test]
fn a_direct_message_is_the_whole_answer_and_its_one_object_is_for_programs() {
    let mut following = follows(false, false);
    let told = hear(
        &mut following,
        &json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "contextId": "c",
            "parts": [{"text": "two hotels"}, {"data": {"hotels": 2}}]}}),
    );
    let output = &finished(&told).output;
    assert_eq!(output.parts[0].as_text(), Some("two hotels"));
    assert_eq!(output.structured.as_ref().map(|json| json.as_str()), Some("{\"hotels\":2}"));
    assert_eq!(output.parts.len(), 1);
    let parts = |parts: Value| json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}});
    for (said, structured, left) in [
        (json!([{"data": {"n": 1}}, {"data": {"n": 1}}]), true, 0),
        (json!([{"data": {"n": 1}}, {"data": {"n": 2}}]), false, 2),
        (json!([{"data": [1]}]), false, 1),
    ] {
        let told = hear(&mut follows(false, false), &parts(said.clone()));
        let output = &finished(&told).output;
        assert_eq!((output.structured.is_some(), output.parts.len()), (structured, left), "{said}");
    }
    assert_eq!(following.context().map(|context| &**context), Some("c"));
}

#[test]
fn an_artifact_of_a_task_that_has_ended_is_whole() {
    let page = json!([{"artifactId": "a", "name": "page", "parts": [{"text": "one"}]}]);
    let told = hear(&mut follows(false, false), &task("COMPLETED", page.clone()));
    assert_eq!(chunks(&told), [(0, true, vec!["one"])]);
    let told = hear(&mut follows(false, false), &task("WORKING", page));
    assert_eq!(chunks(&told), [(0, false, vec!["one"])], "there may be more");
}

#[test]
fn a_35_chunks_build_an_artifact_in_order_and_one_that_was_never_begun_is_the_agents_mistake() {
    let mut following = follows(false, false);
    let first = hear(&mut following, &made("a", "one ", false, false));
    assert_eq!(first[0], Told::Known(Remote { task: "t".into(), context: Some("c".into()) }));
    assert_eq!(chunks(&first), [(0, false, vec!["one "])]);
    assert_eq!(chunks(&hear(&mut following, &made("a", "two", true, true))), [(1, true, vec!["two"])]);
    let again = try_hear(&mut following, &made("a", "three", true, false)).expect_err("it is ended");
    assert_eq!(again.kind, FaultKind::BadReply);
    assert_eq!(
        try_hear(&mut following, &made("b", "x", true, false)).expect_err("never begun").kind,
        FaultKind::BadReply
    );
    assert_eq!(chunks(&hear(&mut following, &made("a", "anew", false, false))), [(0, false, vec!["anew"])]);
    let told = hear(&mut following, &status("COMPLETED"));
    assert_eq!(finished(&told).output.artifacts, ["a".into()]);
}

#[test]
fn a_45_a_snapshot_after_events_tells_only_what_is_new() {
    let mut following = follows(false, false);
    hear(&mut following, &made("a", "one", false, false));
    let two = json!([{"artifactId": "a", "parts": [{"text": "one"}, {"text": "two"}]}]);
    assert_eq!(chunks(&hear(&mut following, &task("WORKING", two.clone()))), [(1, false, vec!["two"])]);
    assert_eq!(hear(&mut following, &task("WORKING", two.clone())), [], "nothing new");
    let fewer = json!([{"artifactId": "a", "parts": [{"text": "other"}]}]);
    assert_eq!(chunks(&hear(&mut following, &task("WORKING", fewer))), [(0, false, vec!["other"])]);
}

#[test]
fn words_about_the_work_are_progress_once_and_other_content_is_a_note() {
    let mut following = follows(false, false);
    let told = hear(&mut following, &saying("WORKING", "m1", json!([{"text": "looking"}])));
    assert!(matches!(&told[1], Told::Event(Event::Progress { note: Some(note), .. }) if &**note == "looking"));
    assert_eq!(hear(&mut following, &saying("WORKING", "m1", json!([{"text": "looking"}]))), []);
    let told = hear(&mut following, &saying("WORKING", "m2", json!([{"data": {"left": 3}}])));
    assert!(matches!(&told[0], Told::Event(Event::Said { channel: Channel::Note(_), .. })));
    let mut counted = status("WORKING");
    counted["statusUpdate"]["metadata"] = json!({ext::URI: {"progress": {"done": 1, "total": 4}}});
    let told = hear(&mut following, &counted);
    assert_eq!(told, [Told::Event(Event::Progress { done: Some(1.0), total: Some(4.0), note: None })]);
}

#[test]
fn a_question_ends_the_request_and_a_wish_for_credentials_does_not() {
    let mut following = follows(false, false);
    let told = hear(&mut following, &saying("INPUT_REQUIRED", "q", json!([{"text": "Which dates?"}])));
    let Some(Told::Ends(question)) = told.last() else { panic!("{told:?}") };
    assert_eq!((&*question.text, question.kind.as_str()), ("Which dates?", "input"));
    let mut following = follows(false, false);
    let auth = saying("AUTH_REQUIRED", "q", json!([{"text": "Log in"}, {"url": "https://login.example/1"}]));
    let told = hear(&mut following, &auth);
    let Some(Told::Asks(question)) = told.last() else { panic!("{told:?}") };
    assert!(matches!(&question.kind, QuestionKind::Visit { url } if &**url == "https://login.example/1"));
    assert_eq!(hear(&mut following, &auth), [], "asked once");
    assert_eq!(hear(&mut following, &status("WORKING")), [Told::GoesOn]);
}

#[test]
fn a_form_and_a_request_for_approval_are_taken_from_who_speaks_the_extension() {
    let mut asked = saying("INPUT_REQUIRED", "q", json!([{"text": "?"}]));
    asked["statusUpdate"]["status"]["message"]["metadata"] =
        json!({ext::URI: {"question": {"kind": "confirm", "skill": "files/erase", "arguments": {"all": true}}}});
    let kind = |speaks, hub| match hear(&mut follows(speaks, hub), &asked).pop() {
        Some(Told::Ends(question)) => question.kind.as_str(),
        other => panic!("{other:?}"),
    };
    assert_eq!([kind(false, false), kind(true, false), kind(true, true)], ["input", "confirm", "confirm"]);
    asked["statusUpdate"]["status"]["message"]["metadata"][ext::URI]["question"] =
        json!({"kind": "input", "form": {"type": "object", "properties": {"day": {"type": "string"}}}});
    let told = hear(&mut follows(true, false), &asked);
    let Some(Told::Ends(question)) = told.last() else { panic!("{told:?}") };
    assert!(matches!(&question.kind, QuestionKind::Input { form, .. } if form.0.as_str().contains("day")));
}

#[test]
fn every_terminal_state_is_one_outcome_and_a_failure_says_why() {
    let outcome = |state: &str| {
        let said = saying(state, "m", json!([{"text": "no room"}, {"data": {"left": 0}}]));
        finished(&hear(&mut follows(false, false), &said)).clone()
    };
    assert_eq!(outcome("COMPLETED").outcome, Outcome::Completed);
    let failed = outcome("FAILED");
    let Outcome::Failed(fault) = &failed.outcome else { panic!("{failed:?}") };
    assert_eq!((fault.kind, &*fault.public), (FaultKind::PeerFailed, "p failed: no room"));
    assert!(failed.output.structured.is_some(), "what there is so far");
    assert!(matches!(outcome("REJECTED").outcome, Outcome::Failed(fault) if fault.kind == FaultKind::PeerDeclined));
    assert!(matches!(outcome("CANCELED").outcome, Outcome::Cancelled { by: Party::Peer(_), .. }));
}

#[test]
fn a_hubs_result_is_the_result_and_its_fault_and_losses_are_believed_only_where_configured() {
    let result = json!([{"artifactId": "result", "name": "result", "parts": [{"data": {"n": 1}}, {"text": "one"}]}]);
    let told = hear(&mut follows(true, false), &task("COMPLETED", result.clone()));
    let output = &finished(&told).output;
    assert!(output.structured.is_some() && output.artifacts.is_empty() && output.parts.len() == 1);
    let told = hear(&mut follows(false, false), &task("COMPLETED", result));
    assert_eq!(finished(&told).output.artifacts.len(), 1, "a plain agent's artifact is one");
    let mut failed = saying("FAILED", "m", json!([{"text": "twice"}]));
    failed["statusUpdate"]["status"]["message"]["metadata"] = json!({ext::URI: {"fault": {"kind": "loop"}}});
    failed["statusUpdate"]["metadata"] = json!({ext::URI: {"losses": [{"what": "call.x", "kind": "dropped"}]}});
    for (hub, kind, lost) in [(true, FaultKind::Loop, 1), (false, FaultKind::PeerFailed, 0)] {
        let told = hear(&mut follows(true, hub), &failed);
        let Some(Told::Finished(finished, losses)) = told.last() else { panic!("{told:?}") };
        assert!(matches!(&finished.outcome, Outcome::Failed(fault) if fault.kind == kind));
        assert_eq!(losses.len(), lost);
    }
}

#[test]
fn an_answer_that_stands_nowhere_else_is_taken_from_the_history() {
    let mut done = task("COMPLETED", json!([]));
    done["task"]["history"] = json!([
        {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
        {"messageId": "2", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]},
    ]);
    assert_eq!(finished(&hear(&mut follows(false, false), &done)).output.parts[0].as_text(), Some("hello"));
}

#[test]
fn what_is_told_of_another_task_is_a_bad_reply() {
    let mut following = follows(false, false);
    hear(&mut following, &status("WORKING"));
    let mut other = status("COMPLETED");
    other["statusUpdate"]["taskId"] = "u".into();
    assert_eq!(try_hear(&mut following, &other).expect_err("another").kind, FaultKind::BadReply);
}

#[test]
fn a_47_the_ids_under_which_an_agent_knows_a_call_survive_being_kept() {
    for remote in
        [Remote { task: "t \"1\"\n".into(), context: Some("c".into()) }, Remote { task: "t".into(), context: None }]
    {
        assert_eq!(Remote::open(&remote.seal()), Some(remote));
    }
    assert_eq!(Remote::open(&interlingua_model::Secret::new("not json")), None);
}
