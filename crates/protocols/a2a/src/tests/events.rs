//! The events of a task as updates, and the same in a snapshot.

use std::collections::BTreeMap;

use interlingua_machines::task::fold;
use interlingua_model::{
    Addressee, Answer, ArtifactId, Ask, Body, Call, CancelWhy, Channel, Chunk, ConversationId, Entry, Event, Fault,
    FaultKind, Finished, How, Input, Json, Loss, LossKind, MessageId, Outcome, Output, Part, Party, Piece, Principal,
    Provenance, Question, QuestionId, QuestionKind, Record, Route, RouteClass, Schema, Sent, Signal, SkillId, Target,
    TaskId, Time, Usage, Why,
};
use serde_json::{Value, json};

use super::parsed;
use crate::encode::{self, Frames, NoAddresses, Telling, View, encode};
use crate::ext;
use crate::json::{Dialect, write};
use crate::wire::{TaskState, Update};

const TASK: TaskId = TaskId(7);

fn entries(records: Vec<Record>) -> Vec<Entry> {
    let mut call = Call::new(
        "m1",
        interlingua_model::Origin::program(),
        Ask::Invoke { target: Target::Words, input: Input::text("hi") },
    );
    call.conversation = Some(ConversationId::from("c"));
    let first = Record::Accepted { by: Principal::anonymous(), call: Box::new(call) };
    let all = std::iter::once(first).chain(records).zip(1..);
    all.map(|(record, seq)| Entry { seq, at: Time(1000 * seq), record }).collect()
}

fn sent() -> Record {
    Record::Sent(Sent { repeatable: true, ..Sent::learnt(MessageId::from("k"), None, true) })
}

fn started() -> Record {
    let route =
        Route { skill: SkillId::new("p", "s"), version: None, class: RouteClass::Tool, why: Why::Named, args: None };
    Record::emitted(Event::Started(route))
}

fn text(text: &str) -> Part {
    Part::text(text, Provenance::hub())
}

fn finished(output: Output) -> Record {
    Record::emitted(Event::Finished(Finished::completed(output)))
}

fn told(entries: &[Entry]) -> Vec<Update> {
    let mut task = encode::begun(TASK, &entries[0]).expect("a beginning");
    let mut telling = Telling { task: &mut task, addresses: &NoAddresses };
    entries[1..].iter().flat_map(|entry| encode(entry, &mut telling).value).collect()
}

fn states(updates: &[Update]) -> Vec<TaskState> {
    let state = |update: &Update| match update {
        Update::Status(update) => Some(update.status.state),
        Update::Task(_) | Update::Message(_) | Update::Artifact(_) => None,
    };
    updates.iter().filter_map(state).collect()
}

fn snapshot(entries: &[Entry], view: View) -> Value {
    let task = fold(TASK, entries.iter().cloned()).expect("a task");
    parsed(&write::task(&encode::task(&task, view, &NoAddresses).value, Dialect::V1))
}

fn question(to: Addressee) -> Question {
    Question {
        id: QuestionId(TASK, 0),
        to,
        kind: QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() },
        text: "Where to?".into(),
        asked_by: Party::Hub,
        expires: Time(99_000),
        resume: None,
        name: None,
    }
}

#[test]
fn a_14_a_task_is_told_from_submitted_to_its_end_with_its_result_as_an_artifact() {
    let entries = entries(vec![sent(), started(), finished(Output { parts: vec![text("done")], ..Output::default() })]);
    let begun = encode::begun(TASK, &entries[0]).expect("a beginning");
    let first = parsed(&write::task(&encode::task(&begun, View::WHOLE, &NoAddresses).value, Dialect::V1));
    assert_eq!(first["status"], json!({"state": "TASK_STATE_SUBMITTED", "timestamp": "1970-01-01T00:00:01.000Z"}));
    assert_eq!(first["history"][0]["messageId"], "m1");
    let updates = told(&entries);
    assert_eq!(states(&updates), [TaskState::Working, TaskState::Completed]);
    let Update::Artifact(result) = &updates[1] else { panic!("the result before the end") };
    assert!(result.last && !result.append && &*result.context == "c");
    let whole = snapshot(&entries, View::WHOLE);
    assert_eq!(whole["artifacts"][0]["parts"], json!([{"text": "done"}]));
    assert_eq!(whole["status"]["state"], "TASK_STATE_COMPLETED");
}

#[test]
fn a_35_chunks_put_together_are_the_artifact_of_the_snapshot() {
    let chunk = |index, last, part: &str| {
        let chunk = Chunk { artifact: ArtifactId::from("a"), index, last, parts: vec![text(part)], header: None };
        Record::emitted(Event::Artifact(chunk))
    };
    let said = |piece, words: &str| {
        let parts = if words.is_empty() { Vec::new() } else { vec![text(words)] };
        Record::emitted(Event::Said { message: MessageId::from("w"), channel: Channel::Answer, piece, parts })
    };
    let answer = Output { said: Some(MessageId::from("w")), ..Output::default() };
    let entries = entries(vec![
        sent(),
        started(),
        chunk(0, false, "one "),
        said(Piece::Delta, "Hel"),
        chunk(1, true, "two"),
        said(Piece::Delta, "lo"),
        said(Piece::End, ""),
        finished(answer),
    ]);
    let mut rebuilt: BTreeMap<String, String> = BTreeMap::new();
    for update in told(&entries) {
        let Update::Artifact(update) = update else { continue };
        let known = rebuilt.contains_key(&*update.artifact.id);
        assert_eq!(update.append, known, "the first chunk opens, the others append");
        let words = update.artifact.parts.iter().map(|part| match &part.content {
            crate::wire::Content::Text(text) => text.to_string(),
            other => panic!("{other:?}"),
        });
        rebuilt.entry(update.artifact.id.to_string()).or_default().extend(words);
    }
    assert_eq!(rebuilt, BTreeMap::from([("a".to_owned(), "one two".to_owned()), ("w".to_owned(), "Hello".to_owned())]));
    let whole = snapshot(&entries, View::WHOLE);
    let shown = whole["artifacts"].as_array().expect("artifacts").iter().map(|artifact| {
        let parts = artifact["parts"].as_array().expect("parts");
        let words: String = parts.iter().map(|part| part["text"].as_str().expect("text")).collect();
        (artifact["artifactId"].as_str().expect("an id").to_owned(), words)
    });
    assert_eq!(shown.collect::<BTreeMap<_, _>>(), rebuilt);
}

#[test]
fn a_question_interrupts_and_its_answer_lets_the_task_go_on() {
    let answer = Signal::Answered {
        question: QuestionId(TASK, 0),
        message: MessageId::from("m2"),
        answer: Answer::Given(Input::text("Paris")),
    };
    let settled =
        Event::Settled { question: QuestionId(TASK, 0), by: Party::Caller, how: How::Answered, decided: None };
    let entries = entries(vec![
        Record::emitted(Event::Asked(question(Addressee::Caller))),
        Record::Received { by: Principal::anonymous(), signal: answer },
        Record::emitted(settled),
        sent(),
        started(),
        finished(Output::default()),
    ]);
    let updates = told(&entries);
    use TaskState::{Completed, InputRequired, Submitted, Working};
    assert_eq!(states(&updates), [InputRequired, Submitted, Working, Completed]);
    let asked = parsed(&write::update(&updates[0], Dialect::V1));
    let message = &asked["statusUpdate"]["status"]["message"];
    assert_eq!(message["parts"][0]["text"], "Where to?");
    assert_eq!(message["metadata"]["urn:interlingua:hub:1"]["question"]["kind"], "input");
    let said = |task: &Value| -> Vec<String> {
        task["history"]
            .as_array()
            .map(|all| all.iter().map(|m| m["parts"][0]["text"].as_str().expect("text").to_owned()).collect())
            .unwrap_or_default()
    };
    let history = |limit| said(&snapshot(&entries, View { history: limit, artifacts: true }));
    assert_eq!(history(None), ["hi", "Where to?", "Paris"]);
    assert_eq!(history(Some(2)), ["Where to?", "Paris"]);
    assert!(history(Some(0)).is_empty());
}

#[test]
fn a_question_for_somebody_else_is_only_mentioned() {
    let entries = entries(vec![Record::emitted(Event::Asked(question(Addressee::Approvers)))]);
    let updates = told(&entries);
    assert_eq!(states(&updates), [TaskState::Working]);
    let told = parsed(&write::update(&updates[0], Dialect::V1));
    let text = told["statusUpdate"]["status"]["message"]["parts"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("waits for approval"), "{text}");
}

#[test]
fn outcomes_are_told_as_the_table_says() {
    let end = |outcome| {
        let end = Finished {
            outcome,
            output: Output { parts: vec![text("so far")], ..Output::default() },
            usage: Usage::default(),
        };
        entries(vec![sent(), started(), Record::emitted(Event::Finished(end))])
    };
    let failed = |kind| Outcome::Failed(Fault::caller(kind, "it did not work"));
    for (outcome, state) in [
        (Outcome::Completed, TaskState::Completed),
        (failed(FaultKind::PeerFailed), TaskState::Failed),
        (failed(FaultKind::PeerDeclined), TaskState::Rejected),
        (failed(FaultKind::Denied), TaskState::Rejected),
        (failed(FaultKind::OutcomeUnknown), TaskState::Failed),
        (Outcome::Cancelled { by: Party::Caller, why: CancelWhy::Asked }, TaskState::Canceled),
    ] {
        let entries = end(outcome);
        let updates = told(&entries);
        assert_eq!(states(&updates).last(), Some(&state));
        assert!(updates.iter().any(|update| matches!(update, Update::Artifact(_))), "what there is is kept");
    }
    let task = snapshot(&end(failed(FaultKind::PeerFailed)), View::WHOLE);
    assert_eq!(task["status"]["message"]["parts"][0]["text"], "it did not work");
    assert_eq!(task["status"]["message"]["metadata"]["urn:interlingua:hub:1"]["fault"]["kind"], "peer_failed");
}

#[test]
fn a_27_an_older_client_is_told_when_a_stream_is_over() {
    let entries = entries(vec![sent(), started(), finished(Output::default())]);
    let updates: Vec<Value> =
        told(&entries).iter().map(|update| parsed(&write::update(update, Dialect::V03))).collect();
    assert_eq!(updates[0]["kind"], "status-update");
    assert_eq!((&updates[0]["status"]["state"], &updates[0]["final"]), (&json!("working"), &json!(false)));
    let last = updates.last().expect("an end");
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("completed"), &json!(true)));
}

#[test]
fn what_cannot_be_said_is_told_with_what_was_lost_before_and_returned_without_it() {
    let code = Part::new(Body::Code { source: "print(1)".into(), language: "python".into() }, Provenance::hub());
    let before = Loss::new("call.priority", LossKind::Dropped);
    let here = Loss::new("output.parts.code", LossKind::Flattened);
    let event = Event::Finished(Finished::completed(Output { parts: vec![code], ..Output::default() }));
    let end = Record::Emitted { event, losses: vec![before], raw: None };
    let entries = entries(vec![sent(), started(), end]);
    let mut task = encode::begun(TASK, &entries[0]).expect("a beginning");
    let mut telling = Telling { task: &mut task, addresses: &NoAddresses };
    assert_eq!(encode(&entries[2], &mut telling).losses, [], "it has begun");
    let end = encode(&entries[3], &mut telling);
    assert_eq!(end.losses, std::slice::from_ref(&here));
    let Some(Update::Status(last)) = end.value.into_iter().last() else { panic!("a status ends it") };
    let both =
        json!([{"what": "call.priority", "kind": "dropped"}, {"what": "output.parts.code", "kind": "flattened"}]);
    assert_eq!(last.metadata.as_ref().expect("losses").tree()[ext::URI]["losses"], both);

    let snapshot = encode::task(&fold(TASK, entries).expect("a task"), View::WHOLE, &NoAddresses);
    assert_eq!(snapshot.losses, [here]);
    assert_eq!(snapshot.value.metadata.expect("losses").tree()[ext::URI]["losses"], both);
}

#[test]
fn an_entry_is_told_as_no_update_one_or_two() {
    let result = Output { parts: vec![text("done")], ..Output::default() };
    for (output, last) in [(Output::default(), 1), (result, 2)] {
        let entries = entries(vec![sent(), started(), finished(output)]);
        let mut task = encode::begun(TASK, &entries[0]).expect("a beginning");
        assert!(encode::begun(TASK, &entries[2]).is_none(), "a task begins once");
        let mut telling = Telling { task: &mut task, addresses: &NoAddresses };
        let mut told = |entry| encode(entry, &mut telling).value;
        assert_eq!(told(&entries[1]), Frames::None, "that it was sent is no event");
        assert!(matches!(told(&entries[2]), Frames::One(Update::Status(_))));
        assert_eq!(told(&entries[3]).into_iter().count(), last);
    }
}
