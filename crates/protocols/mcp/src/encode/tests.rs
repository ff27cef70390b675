use interlingua_model::{
    Body, MessageId, Output, PeerId, Piece, Provenance, QuestionKind, RouteClass, SkillId, TaskId, Time,
};
use interlingua_wire::members::Members;
use serde_json::{Value, json};

use super::*;
use crate::wire::capabilities::Client;
use crate::wire::content::Verbatim;

fn said(version: Version) -> Said {
    let client = Client { roots: true, ..Client::default() };
    let said = Said::legacy(&Members::absent(), version, client, Time(0)).expect("nothing was said");
    Said { progress: Some(Id::number(7)), log: Some(Level::Warning), ..said }
}

/// A client that is told an exchange.
struct Reader {
    said: Said,
    reply: ReplyTo,
    asks: Asks,
    required: Option<InputRequired>,
    told: Told,
}

impl Reader {
    fn new(version: Version, verb: Verb) -> Reader {
        let asks = if version.is_modern() { Asks::InResult } else { Asks::AsRequests };
        Reader { said: said(version), reply: ReplyTo::of(verb), asks, required: None, told: Told::default() }
    }

    fn record(&mut self, record: Record) -> Carried<Frames> {
        let mut telling = Telling {
            said: &self.said,
            by: &Principal::anonymous(),
            reply: &self.reply,
            server: Server { name: "hub", title: "Hub", version: "1" },
            addresses: &Verbatim,
            conversation: None,
            public: false,
            asks: self.asks,
            required: self.required.as_ref(),
            told: &mut self.told,
        };
        encode(&Entry { seq: 1, at: Time(0), record }, &mut telling)
    }

    fn hears(&mut self, event: Event) -> Option<Frame> {
        let mut frames = self.record(Record::emitted(event)).value.into_iter();
        let first = frames.next();
        assert!(frames.next().is_none(), "one entry is one message here");
        first
    }

    fn message(&mut self, event: Event) -> Option<Value> {
        match self.hears(event) {
            None => None,
            Some(Frame::Message(message)) => Some(serde_json::from_slice(&message).expect("JSON")),
            Some(other) => panic!("a message: {other:?}"),
        }
    }

    fn end(&mut self, event: Event) -> Result<Value, Refused> {
        match self.hears(event) {
            Some(Frame::End(ended)) => ended.map(|result| serde_json::from_slice(result.json()).expect("JSON")),
            other => panic!("an end: {other:?}"),
        }
    }
}

fn started() -> Event {
    let (skill, class) = (SkillId::new("p", "s"), RouteClass::Tool);
    Event::Started(Route { skill, version: None, class, why: Why::Named, args: None })
}

fn says(channel: Channel, text: &str) -> Event {
    let parts = vec![Part::text(text, Provenance::peer(PeerId::from("p")))];
    Event::Said { message: MessageId::from("m"), channel, piece: Piece::Delta, parts }
}

fn progress(done: Option<f64>) -> Event {
    Event::Progress { done, total: None, note: None }
}

fn question(to: Addressee) -> Question {
    Question {
        id: QuestionId(TaskId(7), 3),
        to,
        kind: QuestionKind::Roots,
        text: "which?".into(),
        asked_by: Party::Hub,
        expires: Time(1),
        resume: None,
        name: None,
    }
}

#[test]
fn progress_is_told_under_the_clients_token_and_only_rises() {
    let mut reader = Reader::new(Version::LATEST_LEGACY, Verb::Call);
    let mut told = |done| reader.message(progress(done)).map(|it| it["params"]["progress"].as_f64().expect("a number"));
    let all: Vec<Option<f64>> = [Some(2.0), Some(1.0), None, Some(3.0), Some(4.5)].into_iter().map(&mut told).collect();
    assert_eq!(all, [Some(2.0), None, Some(3.0), None, Some(4.5)]);
    let waits = reader.message(Event::Asked(question(Addressee::Approvers))).expect("told");
    assert_eq!(waits["params"]["message"], "waits for approval: which?");
    assert_eq!((&waits["params"]["progressToken"], &waits["params"]["progress"]), (&json!(7), &json!(5.5)));
    reader.said.progress = None;
    assert_eq!(reader.message(progress(Some(9.0))), None, "no token, no progress");
}

#[test]
fn log_lines_below_the_wanted_level_are_not_told() {
    let mut reader = Reader::new(Version::LATEST_LEGACY, Verb::Call);
    assert_eq!(reader.message(started()), None);
    assert_eq!(reader.message(says(Channel::Note(Level::Info), "quiet")), None);
    let told = reader.message(says(Channel::Note(Level::Error), "loud")).expect("told");
    assert_eq!(told["params"], json!({"level": "error", "logger": "p", "data": "loud"}));
}

#[test]
fn a_question_is_a_request_in_a_session_and_is_taken_back_when_nobody_waits_for_it() {
    let mut reader = Reader::new(Version::LATEST_LEGACY, Verb::Call);
    let asked = reader.message(Event::Asked(question(Addressee::Caller))).expect("asked");
    assert_eq!(asked["method"], "roots/list");
    let settled =
        |how| Event::Settled { question: question(Addressee::Caller).id, by: Party::Caller, how, decided: None };
    let cancelled = reader.message(settled(How::Expired)).expect("told");
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
    assert_eq!(reader.message(settled(How::Answered)), None);
    reader.told = Told::having_asked(vec![question(Addressee::Caller).id]);
    assert_eq!(reader.message(Event::Asked(question(Addressee::Caller))), None, "asked on another stream");
}

#[test]
fn a_question_ends_a_modern_request_where_something_is_left_to_ask() {
    let mut reader = Reader::new(Version::LATEST, Verb::Call);
    assert_eq!(reader.message(Event::Asked(question(Addressee::Caller))), None, "it was answered for the client");
    reader.required = Some(InputRequired { open: vec![question(Addressee::Caller)], state: "sealed".into() });
    let result = reader.end(Event::Asked(question(Addressee::Caller))).expect("a result");
    assert_eq!((&result["resultType"], &result["requestState"]), (&json!("input_required"), &json!("sealed")));
}

#[test]
fn what_was_said_is_the_result_and_only_the_end_has_one() {
    let mut reader = Reader::new(Version::LATEST_LEGACY, Verb::Call);
    for event in [started(), says(Channel::Answer, "one "), says(Channel::Reasoning, "?"), says(Channel::Answer, "two")]
    {
        assert_eq!(reader.message(event), None);
    }
    let output = Output { said: Some(MessageId::from("m")), ..Output::default() };
    let result = reader.end(Event::Finished(Finished::completed(output))).expect("a result");
    assert_eq!(result["content"], json!([{"type": "text", "text": "one two"}]));
}

#[test]
fn what_this_version_cannot_say_comes_back_as_a_loss() {
    let mut reader = Reader::new(Version::LATEST, Verb::Call);
    let code = Body::Code { source: "print(1)".into(), language: "python".into() };
    let output = Output { parts: vec![Part::new(code, Provenance::hub())], ..Output::default() };
    let told = reader.record(Record::emitted(Event::Finished(Finished::completed(output))));
    assert_eq!(told.losses.iter().map(|loss| &*loss.what).collect::<Vec<_>>(), ["output.parts.code"]);
}

#[test]
fn a_failure_is_an_error_or_a_result_by_what_was_asked() {
    let failed = |kind| Event::Finished(Finished::failed(Fault::caller(kind, "no")));
    let result = Reader::new(Version::LATEST, Verb::Call).end(failed(FaultKind::Denied)).expect("a result");
    assert_eq!(result["isError"], true);
    let mut reading = Reader::new(Version::LATEST, Verb::Read);
    reading.reply.uri = Some("test://a".into());
    let empty = Event::Finished(Finished::completed(Output::default()));
    let refused = reading.end(empty).expect_err("a resource without contents is not there");
    assert_eq!(refused.error.code, rpc::INVALID_PARAMS);
    assert_eq!(refused.error.data.expect("data").tree()["uri"], "test://a");
    assert!(refused.error.message.contains("you are anonymous here"), "{}", refused.error.message);
}

#[test]
fn an_answer_larger_than_what_is_held_is_given_up() {
    let mut reader = Reader::new(Version::LATEST, Verb::Call);
    let long = "x".repeat(interlingua_model::transcript::MAX_SAID + 1);
    let frame = reader.hears(says(Channel::Answer, &long));
    assert!(matches!(&frame, Some(Frame::GivenUp(Err(refused))) if refused.status == 413), "{frame:?}");
}

#[test]
fn records_other_than_events_are_not_told() {
    let selected =
        interlingua_model::Selected { skill: SkillId::new("p", "s"), others: Vec::new(), attempt: 0, fault: None };
    let told = Reader::new(Version::LATEST, Verb::Call).record(Record::Selected(selected));
    assert!(told.value.is_empty() && told.losses.is_empty());
}
