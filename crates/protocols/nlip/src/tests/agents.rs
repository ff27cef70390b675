//! The hub as a client of an agent.

use std::time::Duration;

use interlingua_model::{
    Answer, Ask, Blob, Body, Call, Digest, Fault, FaultKind, Finished, Input, Loss, LossKind, Noun, Outcome, Part,
    Party, Provenance, QuestionId, QuestionKind, Retry, Role, Secret, Skill, SkillId, Target, TaskId, Turn,
};
use serde_json::json;

use super::*;
use crate::client::{JarFull, Replied, ReplyContext, TokenJar, Tongue};
use crate::encode::{Addresses, NoAddresses, ReplyTo, Telling};

fn leg(tongue: Tongue) -> ReplyContext {
    ReplyContext { peer: "p".into(), tongue, question: QuestionId(TaskId(1), 0), expires: NOW, depth: 128 }
}

fn invoke(target: Target, input: Input) -> Call {
    Call::new("m1", interlingua_model::Origin::program(), Ask::Invoke { target, input })
}

fn chat(input: Input) -> Call {
    invoke(Target::Skill(SkillId::new("p", "chat"), None), input)
}

fn sent(call: &Call, tongue: Tongue) -> (Message, Vec<Loss>) {
    let carried = client::encode::call(call, tongue, &TokenJar::default(), &NoAddresses).expect("a message");
    (carried.value, carried.losses)
}

fn finished(message: Message) -> Finished {
    match client::decode::reply(message, &leg(Tongue::Plain)).value {
        Replied::Finished(finished) => *finished,
        Replied::Asked(question) => panic!("{question:?}"),
        Replied::GoesOn(goes_on) => panic!("{goes_on:?}"),
    }
}

fn jar(reply: &str) -> TokenJar {
    let mut jar = TokenJar::default();
    jar.absorb(&message(reply)).expect("room");
    jar
}

const REPLY: &str = r#"{"format":"text","subformat":"english","content":"hello","submessages":[
    {"format":"token","subformat":"conversation_srv","content":"S1","label":"L"},
    {"format":"token","subformat":"group","content":{"a":1}},
    {"format":"token","subformat":"group","content":7},
    {"format":"token","subformat":"authentication","content":"made by the server"}]}"#;

#[test]
fn n_34_the_servers_tokens_go_back_unmodified() {
    let jar = jar(REPLY);
    let next = client::encode::call(&chat(Input::text("more")), Tongue::Plain, &jar, &NoAddresses).unwrap().value;
    assert_eq!(next.first.content, Content::Text("more".into()));
    assert_eq!(next.submessages, message(REPLY).submessages);
}

#[test]
fn n_34_a_token_is_kept_until_another_of_its_name_comes() {
    let mut jar = jar(REPLY);
    jar.absorb(&Message::text("no tokens here")).unwrap();
    assert_eq!(jar.all().count(), 4);
    jar.absorb(&Message::text("hi").with(Submessage::token("GROUP", "new"))).unwrap();
    let groups: Vec<_> = jar.all().filter(|token| token.subformat.eq_ignore_ascii_case("group")).collect();
    assert_eq!(groups, [&Submessage::token("GROUP", "new")], "both of that name are replaced");
    assert_eq!(jar.all().count(), 3);
}

#[test]
fn a_jar_is_kept_with_its_conversation() {
    let mut jar = jar(REPLY);
    jar.present("mine");
    let bytes = Submessage::new(Format::Token, "raw", Content::Bytes(Bytes::from_static(b"\"7\"")));
    jar.absorb(&Message::text("hi").with(bytes).with(Submessage::token("text", "7"))).unwrap();
    let kept: Vec<crate::client::Token> = jar.to_tokens();
    assert_eq!(TokenJar::from_tokens(&kept), jar);
    assert!(!format!("{kept:?} {jar:?}").contains("mine\""), "no content in a log");
}

#[test]
fn a_jar_has_a_bound() {
    let mut flood = Message::text("hi");
    flood.submessages = (0..2_000).map(|n| Submessage::token(format!("t{n}"), "x")).collect();
    let mut jar = TokenJar::default();
    assert_eq!(jar.absorb(&flood), Err(JarFull));
    assert_eq!(jar.absorb(&Message::text("hi").with(Submessage::token("t", "x".repeat(2 << 20)))), Err(JarFull));
    assert_eq!(jar, TokenJar::default());
}

#[test]
fn n_69_tokens_stay_on_their_leg() {
    let caller = incoming(
        r#"{"format":"text","subformat":"english","content":"hi","submessages":[
        {"format":"token","subformat":"authentication","content":"callers-secret"},
        {"format":"token","subformat":"conversation","content":"callers-talk"}]}"#,
    );
    let Meaning::Call(call) = caller.meaning else { panic!("a call") };
    let (one, two) = (jar(REPLY), TokenJar::default());
    let to_one = client::encode::call(&call, Tongue::Plain, &one, &NoAddresses).unwrap().value;
    let to_two = client::encode::call(&call, Tongue::Plain, &two, &NoAddresses).unwrap().value;
    assert!(!written(&to_one).contains("callers-"));
    assert_eq!(to_two, Message { messagetype: None, first: to_two.first.clone(), submessages: Vec::new() });
    let done = finished(message(REPLY));
    let back = ended(&done, Telling { to: caller.reply, ..Telling::default() }).value;
    assert!(!written(&back).contains("made by the server"), "the agent's tokens do not reach the caller");
    assert!(written(&back).contains("callers-talk"), "the caller's own come back");
}

#[test]
fn n_70_asked_for_credentials_the_client_sends_its_token_with_every_later_message() {
    let asks =
        message(r#"{"messagetype":"control","format":"text","subformat":"english","content":"Please authenticate."}"#);
    let Replied::Asked(question) = client::decode::reply(asks, &leg(Tongue::Plain)).value else { panic!("a question") };
    assert!(matches!(question.kind, QuestionKind::Credential { .. }));
    assert_eq!(question.asked_by, Party::Peer("p".into()));

    let mut jar = TokenJar::default();
    let answer = Answer::Token(Secret::new("s3cret"));
    let reply = client::encode::answer(&question, &answer, &mut jar, &NoAddresses).unwrap().value;
    assert!(reply.is_control());
    assert_eq!(reply.submessages, [Submessage::token("authentication", "s3cret")]);
    jar.absorb(&reply).unwrap();
    let next = client::encode::call(&chat(Input::text("go on")), Tongue::Plain, &jar, &NoAddresses).unwrap().value;
    assert_eq!(next.submessages, [Submessage::token("authentication", "s3cret")], "once, though it was echoed");
}

struct Uploaded;

impl Addresses for Uploaded {
    fn artifact(&self, _: &interlingua_model::ArtifactId) -> Option<interlingua_model::Uri> {
        None
    }

    fn blob(&self, _: &Digest) -> Option<interlingua_model::Uri> {
        Some("https://agent/upload/1".into())
    }
}

#[test]
fn n_71_uploaded_content_is_referred_to_by_its_address() {
    let stored = Body::Blob(Blob::Stored { digest: Digest::of(b"x"), len: 1 << 30 });
    let input =
        Input::parts(vec![Part::text("summarise this", Provenance::caller()), Part::new(stored, Provenance::caller())]);
    let made = client::encode::call(&chat(input), Tongue::Plain, &TokenJar::default(), &Uploaded).unwrap();
    assert_eq!(made.value.submessages, [Submessage::uri("https://agent/upload/1")]);
    assert_eq!(made.losses, []);
}

#[test]
fn n_72_history_goes_out_labelled_and_is_history_again_at_the_other_end() {
    let turn = |role, text: &str| Turn { role, parts: vec![Part::text(text, Provenance::caller())] };
    let mut input = Input::text("and now?");
    input.history = vec![turn(Role::User, "one"), turn(Role::Agent, "two"), turn(Role::User, "three")];
    let (out, _) = sent(&chat(input), Tongue::Plain);
    let labels: Vec<_> = out.submessages.iter().map(|said| said.label.as_deref().unwrap()).collect();
    assert_eq!(labels, ["user:1", "assistant:2", "user:3"]);
    let Meaning::Call(call) = incoming(&written(&out)).meaning else { panic!("a call") };
    let input = call.input().unwrap();
    assert_eq!(input.words(), "and now?");
    assert_eq!(input.history.iter().map(|turn| turn.role).collect::<Vec<_>>(), [Role::User, Role::Agent, Role::User]);
}

#[test]
fn arguments_are_words_to_an_agent_and_a_call_to_a_hub() {
    let args: interlingua_model::Json = json!({"from": "NYC", "to": "Paris"}).into();
    let skill = || Target::Skill(SkillId::new("airline", "search"), Some("2".into()));
    let (plain, losses) = sent(&invoke(skill(), Input::args(args.clone())), Tongue::Plain);
    assert_eq!(plain, Message::text("from: NYC\nto: Paris"));
    assert_eq!(losses, [Loss::new("input.args", LossKind::Flattened)]);
    let (hub, losses) = sent(&invoke(skill(), Input::args(args)), Tongue::Hub);
    assert_eq!(losses, []);
    let called = hub.labelled(labels::CALL).expect("a call");
    assert_eq!(
        called.content,
        Content::Json(
            json!({"skill": "airline/search", "version": "2", "arguments": {"from": "NYC", "to": "Paris"}}).into()
        )
    );
    let (said, losses) = sent(&chat(Input::args(json!({"text": "hello"}).into())), Tongue::Plain);
    assert_eq!((said, losses), (Message::text("hello"), vec![]));
}

#[test]
fn what_is_not_said_in_words_cannot_be_asked_of_an_agent() {
    let read = Call::new("m", interlingua_model::Origin::program(), Ask::Read { peer: "p".into(), uri: "x".into() });
    let fault = client::encode::call(&read, Tongue::Plain, &TokenJar::default(), &NoAddresses).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unsupported(_)));
}

#[test]
fn a_reply_is_the_outcome_with_the_agents_provenance() {
    let done = finished(message(REPLY));
    assert_eq!(done.outcome, Outcome::Completed);
    assert_eq!(done.output.parts.len(), 1, "tokens are not content");
    assert_eq!(done.output.parts[0].provenance, Provenance::peer("p".into()));
}

#[test]
fn n_73_a_failure_is_understood_in_either_spelling() {
    for (text, code, said) in [
        (r#"{"messagetype":"Error","format":"text","subformat":"English","content":"no"}"#, None, "p failed: no"),
        (r#"{"format":"error","subformat":"text","content":"no"}"#, None, "p failed: no"),
        (r#"{"format":"error","subformat":"code","content":404}"#, Some("404"), "p failed: error code 404"),
        (r#"{"format":"error","subformat":"code","content":"E7"}"#, Some("E7"), "p failed: error code E7"),
    ] {
        let Outcome::Failed(fault) = finished(message(text)).outcome else { panic!("{text}") };
        assert_eq!((fault.kind, fault.peer_code.as_deref()), (FaultKind::PeerFailed, code));
        assert_eq!(&*fault.public, said);
    }
}

#[test]
fn a_hubs_fault_keeps_its_kind_only_if_it_is_known_to_be_a_hub() {
    let told = Fault::caller(FaultKind::NotFound(Noun::Task), "no such task");
    let reply = encode::refused(&told, &[], ReplyTo::default());
    for (tongue, kind) in [(Tongue::Hub, FaultKind::NotFound(Noun::Task)), (Tongue::Plain, FaultKind::PeerFailed)] {
        let Replied::Finished(done) = client::decode::reply(reply.clone(), &leg(tongue)).value else { panic!("done") };
        let Outcome::Failed(fault) = done.outcome else { panic!("failed") };
        assert_eq!((fault.kind, fault.origin), (kind, Party::Peer("p".into())));
    }
    assert_eq!(
        client::decode::refused(404, Some(&reply), None, &leg(Tongue::Hub)).kind,
        FaultKind::NotFound(Noun::Task)
    );
}

#[test]
fn every_status_but_success_is_a_fault() {
    let fault = |status| client::decode::refused(status, None, Some(Duration::from_secs(3)), &leg(Tongue::Plain));
    for (status, kind) in [
        (422, FaultKind::InvalidInput),
        (429, FaultKind::Busy),
        (503, FaultKind::Busy),
        (401, FaultKind::Unauthenticated),
        (307, FaultKind::BadReply),
        (404, FaultKind::BadReply),
        (400, FaultKind::PeerFailed),
        (500, FaultKind::PeerFailed),
        (413, FaultKind::TooLarge),
        (504, FaultKind::Deadline),
    ] {
        assert_eq!(fault(status).kind, kind, "{status}");
    }
    assert_eq!(fault(503).retry, Retry::After(Some(Duration::from_secs(3))));
}

#[test]
fn a_question_asked_by_label_is_a_question_and_its_id_comes_back_with_the_answer() {
    let asked = message(
        r#"{"format":"text","subformat":"english","content":"On which date?","submessages":[
        {"format":"structured","subformat":"json","label":"interlingua-question","content":
         {"id":"remote.7","kind":"input","text":"On which date?","form":{"type":"object"},"choices":[{"id":"1","text":"May 1"}]}}]}"#,
    );
    let Replied::Asked(question) = client::decode::reply(asked, &leg(Tongue::Plain)).value else {
        panic!("a question")
    };
    assert!(matches!(&question.kind, QuestionKind::Input { choices, .. } if choices.len() == 1));
    assert_eq!((question.id, &*question.text), (QuestionId(TaskId(1), 0), "On which date?"));
    let answer = Answer::Given(Input::text("May 1"));
    let reply = client::encode::answer(&question, &answer, &mut TokenJar::default(), &NoAddresses).unwrap().value;
    assert_eq!(reply.first, Submessage::text("May 1"));
    let structured = reply.labelled(labels::ANSWER).expect("an answer");
    assert_eq!(structured.content, Content::Json(json!({"id": "remote.7", "answer": "May 1"}).into()));
}

#[test]
fn a_question_in_plain_words_is_the_agents_answer() {
    let done = finished(Message::text("Which city do you mean?"));
    assert_eq!(done.outcome, Outcome::Completed);
}

#[test]
fn a_yes_to_another_hub_is_understood_there() {
    let question = interlingua_model::Question {
        id: QuestionId(TaskId(9), 0),
        to: interlingua_model::Addressee::Caller,
        kind: QuestionKind::Confirm(Box::new(interlingua_model::Confirm {
            call: Digest::of(b"c"),
            skill: SkillId::new("files", "delete"),
            args: None,
            parts: Box::default(),
            effects: interlingua_model::Effects::unknown(),
            basis: None,
            relays: None,
        })),
        text: "Delete?".into(),
        asked_by: Party::Hub,
        expires: NOW,
        resume: None,
        name: None,
    };
    let shown = asking(&question, Telling::default());
    let Replied::Asked(passed_on) = client::decode::reply(shown, &leg(Tongue::Hub)).value else { panic!("a question") };
    let yes =
        client::encode::answer(&passed_on, &Answer::Granted, &mut TokenJar::default(), &NoAddresses).unwrap().value;
    let Meaning::Signal { signal, .. } = incoming(&written(&yes)).meaning else { panic!("an answer") };
    let interlingua_model::Signal::Answered { question: id, answer, .. } = signal else { panic!("an answer") };
    assert_eq!((id, answer), (question.id, Answer::Granted));
}

#[test]
fn the_skills_of_another_hub_are_read_as_it_lists_them_and_called_by_its_own_names() {
    let skill = |peer: &str, name: &str| {
        let input = interlingua_model::Schema(json!({"type": "object", "required": ["path"]}).into());
        let effects = interlingua_model::Effects::reads_only(interlingua_model::CardFrom::Configuration);
        let id = SkillId::new(peer, name);
        Skill::new(id, interlingua_model::SkillKind::Tool, "Reads a file.", input, effects)
    };
    let mut taken = skill("third", "a.b");
    taken.tags = vec![client::skills::IMPORTED.into()];
    let listed = [skill("local", "read_file"), skill("hub", "help"), skill("local", "v1.2"), taken];
    let reply = crate::discover::skills(&listed, &[], ReplyTo::default());
    let read = client::skills::read(&reply, &"far".into(), 128);
    let names: Vec<String> = read.iter().map(|skill| skill.id.to_string()).collect();
    assert_eq!(names, ["far/local.read_file", "far/local.v1.2"], "not its own, not what it took from others");
    assert_eq!((&read[0].description, &read[0].input), (&listed[0].description, &listed[0].input));
    assert!(read[0].effects.reads && !read[0].effects.writes && read[0].effects.idempotent);
    assert_eq!(client::skills::theirs(&read[1].id), Some(SkillId::new("local", "v1.2")));

    let call = invoke(Target::Skill(read[0].id.clone(), None), Input::args(json!({"path": "a"}).into()));
    let (message, _) = sent(&call, Tongue::Hub);
    let named = message.all().find(|part| part.has_label("interlingua-call")).expect("a call");
    assert_eq!(named.content.as_json(8).expect("JSON").get("skill"), Some(&json!("local/read_file")));

    let asked = client::skills::ask(&TokenJar::default());
    assert!(asked.is_control());
    let nothing = client::skills::read(&asked, &"far".into(), 128);
    assert!(nothing.is_empty(), "no list, no skills");
}
