//! The JSON of `/api`, as programs see it.

use interlingua_model::{
    CancelWhy, Channel, Confirm, Digest, Effects, Event, Fault, FaultKind, Finished, Json, Noun, Output, Part, Party,
    Piece, Provenance, Question, QuestionId, QuestionKind, Route, RouteClass, Secret, SkillId, Step, StepKind,
    StepState, TaskId, Time, Why,
};

use super::{ErrorBody, EventView, ExchangeRequest, NumberedEvent, OutcomeView};

fn json(text: &str) -> Json {
    Json::parse(text.to_owned().into()).unwrap()
}

fn events() -> Vec<Event> {
    let said = Part::text("hello", Provenance::peer("hotels".into()));
    let question = Question {
        id: QuestionId(TaskId(7), 1),
        to: interlingua_model::Addressee::Approvers,
        kind: QuestionKind::Confirm(Box::new(Confirm {
            call: Digest::of(b"x"),
            skill: SkillId::new("hotels", "book"),
            args: Some(json("{\"nights\":2}")),
            parts: Box::default(),
            effects: Effects::unknown(),
            basis: None,
            relays: None,
        })),
        text: "Book it?".into(),
        asked_by: Party::Hub,
        expires: Time(1_700_000_000_000),
        resume: Some(Secret::new("the callee's state")),
        name: None,
    };
    let output =
        Output { structured: Some(json("{\"price\":1.10,\"id\":12345678901234567890123}")), ..Output::default() };
    vec![
        Event::Started(Route {
            skill: SkillId::new("hotels", "book"),
            version: None,
            class: RouteClass::Agent,
            why: Why::Named,
            args: None,
        }),
        Event::Said { message: "m".into(), channel: Channel::Answer, piece: Piece::Delta, parts: vec![said] },
        Event::Progress { done: Some(1.0), total: Some(2.0), note: None },
        Event::Asked(question),
        Event::Step(Box::new(Step {
            id: "s".into(),
            parent: Some("t".into()),
            skill: Some(SkillId::new("hotels", "book")),
            title: "hotels/book".into(),
            kind: StepKind::Edit,
            state: StepState::Done,
            args: Some(json("{\"nights\":2}")),
            parts: vec![Part::text("booked", Provenance::hub())],
        })),
        Event::Asked(Question {
            id: QuestionId(TaskId(7), 2),
            to: interlingua_model::Addressee::Caller,
            kind: QuestionKind::Tool { name: "look".into(), args: json("{\"at\":\"desk\"}") },
            text: "Run it.".into(),
            asked_by: Party::Peer("ann".into()),
            expires: Time(1_700_000_000_000),
            resume: None,
            name: Some(Box::new("s".into())),
        }),
        Event::Finished(Finished::completed(output)),
        Event::Finished(Finished::failed(Fault::caller(FaultKind::NotFound(Noun::Skill), "no such skill"))),
        Event::Finished(Finished::cancelled(Party::Caller, CancelWhy::Asked)),
    ]
}

#[test]
fn an_event_reads_as_it_was_written() {
    for event in events() {
        let view = EventView::from(&event);
        let read = EventView::read(view.name(), &view.data().unwrap()).unwrap().unwrap();
        assert_eq!(read, view);
    }
    assert_eq!(EventView::read("news", "{}").unwrap(), None);
}

#[test]
fn numbers_survive_as_they_were_written() {
    let view = EventView::from(&events()[6]);
    assert!(view.data().unwrap().contains("\"price\":1.10,\"id\":12345678901234567890123"), "{}", view.data().unwrap());
}

#[test]
fn a_question_never_shows_the_state_of_the_callee() {
    let data = EventView::from(&events()[3]).data().unwrap();
    assert!(!data.contains("state"), "{data}");
    assert!(data.starts_with("{\"id\":\"00000000000000000000000000000007.1\",\"task\":"), "{data}");
}

#[test]
fn in_a_list_an_event_is_one_object() {
    let event = NumberedEvent::new(3, Time(0), &events()[2]);
    let expected = r#"{"seq":3,"at":"1970-01-01T00:00:00.000Z","event":"progress","data":{"done":1.0,"total":2.0}}"#;
    assert_eq!(serde_json::to_string(&event).unwrap(), expected);
}

#[test]
fn an_error_names_what_and_where_and_whether_to_try_again() {
    let fault = Fault::caller(FaultKind::InvalidInput, "the arguments do not fit").field("/nights", "is not a number");
    let expected = r#"{"error":{"kind":"invalid_input","message":"the arguments do not fit","origin":"caller","fields":[{"path":"/nights","problem":"is not a number"}],"retry":"no","exit_code":2}}"#;
    assert_eq!(serde_json::to_string(&ErrorBody::from(&fault)).unwrap(), expected);
    assert_eq!(
        serde_json::to_string(&ErrorBody::from(&Fault::internal(std::io::Error::other("disk 7 is gone")))).unwrap(),
        r#"{"error":{"kind":"internal","message":"the hub failed to do this; its log has the cause","origin":"hub","retry":"no","exit_code":1}}"#
    );
}

#[test]
fn outcomes_have_one_word() {
    let words: Vec<OutcomeView> = events()[6..]
        .iter()
        .map(|event| match EventView::from(event) {
            EventView::Finished(finished) => finished.outcome,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(words, [OutcomeView::Completed, OutcomeView::Failed, OutcomeView::Cancelled]);
}

#[test]
fn a_call_is_read_with_its_units_and_without_surprises() {
    let call: ExchangeRequest =
        serde_json::from_str(r#"{"skill":"hotels/book","arguments":{"nights":2},"deadline":"30s","priority":7}"#)
            .unwrap();
    assert_eq!(call.deadline.unwrap().0.as_secs(), 30);
    assert_eq!(call.arguments.unwrap().as_str(), "{\"nights\":2}");
    let unknown = serde_json::from_str::<ExchangeRequest>(r#"{"skil":"hotels/book"}"#).unwrap_err();
    assert!(unknown.to_string().starts_with("unknown field `skil`"), "{unknown}");
}
