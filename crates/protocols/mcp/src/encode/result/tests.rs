use bytes::Bytes;
use interlingua_model::{Digest, LossKind, PeerId, Provenance, QuestionId, QuestionKind, TaskId, Time, Uri, Wire};
use serde_json::json;

use super::*;
use crate::wire::content::Verbatim;

struct Prefixed;

impl Addresses for Prefixed {
    fn outward(&self, by: &Party, uri: &str) -> Uri {
        match by {
            Party::Peer(peer) => format!("hub://{peer}/{uri}").into(),
            Party::Caller | Party::Hub => uri.into(),
        }
    }

    fn blob(&self, _: &Digest, _: Option<&str>) -> Option<Uri> {
        None
    }

    fn rewrites(&self) -> bool {
        true
    }
}

fn encoder(version: Version, addresses: &dyn Addresses) -> Encoder<'_> {
    Encoder { version, server: Server { name: "hub", title: "Hub", version: "1" }, addresses }
}

fn written<T>(write: impl FnOnce(&mut Vec<u8>) -> T) -> String {
    let mut out = Vec::new();
    drop(write(&mut out));
    let text = String::from_utf8(out).expect("UTF-8");
    Json::parse(Bytes::copy_from_slice(text.as_bytes())).expect("JSON");
    text
}

fn raw(text: &str, wire: &'static str) -> Raw {
    Raw { wire: Wire(wire.into()), json: Json::parse(Bytes::copy_from_slice(text.as_bytes())).expect("JSON") }
}

fn by() -> Party {
    Party::Peer(PeerId::from("p"))
}

const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"hub","title":"Hub","version":"1"}"#;

#[test]
fn m_34_a_result_of_this_protocol_keeps_unknown_fields_order_and_long_numbers() {
    let result = r#"{"x":12345678901234567890.10,"content":[{"type":"text","text":"a","z":1}],"structuredContent":{"n":1.0},"_meta":{"k/v":1,"interlingua/fault":"forged"}}"#;
    let raw = raw(result, "mcp/2025-11-25");
    let done = Finished::completed(Output::default());
    let modern = written(|out| {
        encoder(Version::LATEST, &Verbatim).call(&done, Some(&raw), &by(), &Beside::default(), out);
    });
    assert_eq!(
        modern,
        format!(
            r#"{{"resultType":"complete","x":12345678901234567890.10,"content":[{{"type":"text","text":"a","z":1}}],"structuredContent":{{"n":1.0}},"_meta":{{"k/v":1,{INFO}}}}}"#
        )
    );
    let legacy = written(|out| {
        encoder(Version::LATEST_LEGACY, &Verbatim).call(&done, Some(&raw), &by(), &Beside::default(), out);
    });
    assert!(!legacy.contains("resultType") && legacy.ends_with(r#""_meta":{"k/v":1}}"#), "{legacy}");
}

#[test]
fn m_23_addresses_in_a_relayed_result_are_ours() {
    let result = r#"{"content":[{"type":"resource_link","uri":"a:1","name":"n","y":2},{"type":"resource","resource":{"uri":"b:2","text":"t"}},{"type":"text","text":"uri"}]}"#;
    let text = written(|out| {
        let done = Finished::completed(Output::default());
        let encoder = encoder(Version::LATEST_LEGACY, &Prefixed);
        encoder.call(&done, Some(&raw(result, "mcp/2025-11-25")), &by(), &Beside::default(), out);
    });
    assert_eq!(
        text,
        r#"{"content":[{"type":"resource_link","uri":"hub://p/a:1","name":"n","y":2},{"type":"resource","resource":{"uri":"hub://p/b:2","text":"t"}},{"type":"text","text":"uri"}]}"#
    );
}

#[test]
fn m_13_every_modern_result_says_its_kind_and_who_answers() {
    let encoder = encoder(Version::LATEST, &Verbatim);
    let done = Finished::completed(Output::default());
    let beside = Beside::default();
    for text in [
        written(|out| encoder.empty(out)),
        written(|out| encoder.discover("", Cache::NONE, out)),
        written(|out| encoder.list(List::Tools, std::iter::empty(), None, Cache::NONE, out)),
        written(|out| encoder.call(&done, None, &by(), &beside, out)),
        written(|out| encoder.read(&done, Some(&raw(r#"{"contents":[]}"#, "mcp/2025-06-18")), &by(), &beside, out)),
        written(|out| encoder.prompt(&done, None, &by(), &beside, out)),
        written(|out| encoder.complete(&done, &beside, out)),
    ] {
        assert!(text.starts_with(r#"{"resultType":"complete""#) && text.contains(INFO), "{text}");
    }
}

#[test]
fn m_37_public_is_passed_on_only_where_anyone_may_have_it() {
    let encoder = encoder(Version::LATEST, &Verbatim);
    let done = Finished::completed(Output::default());
    let scope = |said: &str, public: bool| {
        let result = format!(r#"{{"contents":[],"ttlMs":5,"cacheScope":"{said}"}}"#);
        let beside = Beside { public, ..Beside::default() };
        let read = written(|out| encoder.read(&done, Some(&raw(&result, "mcp/2026-07-28")), &by(), &beside, out));
        let read = Json::parse(read.into_bytes().into()).expect("JSON");
        assert_eq!(read.tree()["ttlMs"], 5);
        read.tree()["cacheScope"].as_str().expect("a scope").to_owned()
    };
    assert_eq!(scope("public", true), "public");
    for (said, public) in [("public", false), ("private", true), ("private", false), ("nonsense", true)] {
        assert_eq!(scope(said, public), "private", "{said} {public}");
    }
}

#[test]
fn what_another_protocol_answered_is_said_in_blocks_and_losses_are_told() {
    let mut output = Output { structured: Some(json!({"n": 1}).into()), ..Output::default() };
    output.artifacts = vec!["a1".into()];
    let losses = [Loss::new("call.priority", LossKind::Dropped)];
    let beside = Beside { losses: &losses, ..Beside::default() };
    let done = Finished::completed(output);
    let text = written(|out| encoder(Version::LATEST, &Verbatim).call(&done, None, &by(), &beside, out));
    let result = Json::parse(text.into_bytes().into()).expect("JSON");
    assert_eq!(result.tree()["content"][0]["text"], r#"{"n":1}"#);
    assert_eq!(result.tree()["content"][1]["uri"], "interlingua://artifacts/a1");
    assert_eq!(result.tree()["structuredContent"], json!({"n": 1}));
    let lost = json!([{"what": "call.priority", "kind": "dropped"}]);
    assert_eq!(result.tree()["_meta"]["interlingua/losses"], lost);
}

#[test]
fn a_value_that_a_version_has_no_place_for_is_text_or_told_as_lost() {
    let (list, object) = (json!([1, 2]), json!({"n": 1}));
    let lost = |version, structured: &serde_json::Value, said: Option<&str>| {
        let parts = said.map(|text| Part::text(text, Provenance::hub())).into_iter().collect();
        let output = Output { parts, structured: Some(structured.clone().into()), ..Output::default() };
        let done = Finished::completed(output);
        encoder(version, &Verbatim).call(&done, None, &by(), &Beside::default(), &mut Vec::new())
    };
    let structured = |kind| vec![Loss::new("output.structured", kind)];
    assert_eq!(lost(Version::LATEST, &list, Some("two")), []);
    assert_eq!(lost(Version::V2025_06_18, &object, Some("one")), []);
    assert_eq!(lost(Version::V2025_06_18, &list, Some("two")), structured(LossKind::Dropped), "only objects, then");
    assert_eq!(lost(Version::V2025_06_18, &list, Some("[1,2]")), structured(LossKind::Flattened), "its text says it");
    assert_eq!(lost(Version::V2025_03_26, &object, None), structured(LossKind::Flattened), "it is all there is");
}

#[test]
fn a_failure_is_a_result_that_says_so_with_its_kind() {
    let fault = Fault::caller(FaultKind::Denied, "a person said no");
    let text = written(|out| encoder(Version::LATEST, &Verbatim).failed(&fault, out));
    let result = Json::parse(text.into_bytes().into()).expect("JSON");
    assert_eq!(
        (result.tree()["isError"].as_bool(), &result.tree()["content"][0]["text"]),
        (Some(true), &json!("a person said no"))
    );
    assert_eq!(result.tree()["_meta"]["interlingua/fault"]["kind"], "denied");
}

#[test]
fn an_agent_says_how_the_conversation_goes_on() {
    let part = Part::text("hello", Provenance::hub());
    let done = Finished::completed(Output { parts: vec![part], ..Output::default() });
    let beside = Beside { conversation: Some("c.1"), ..Beside::default() };
    let text = written(|out| encoder(Version::LATEST, &Verbatim).call(&done, None, &by(), &beside, out));
    let result = Json::parse(text.into_bytes().into()).expect("JSON");
    assert_eq!(result.tree()["structuredContent"], json!({"message": "hello", "conversation": "c.1"}));
}

#[test]
fn m_14_a_question_is_asked_under_its_number_with_the_state_to_bring_back() {
    let question = Question {
        id: QuestionId(TaskId(7), 3),
        to: interlingua_model::Addressee::Caller,
        kind: QuestionKind::Roots,
        text: "?".into(),
        asked_by: by(),
        expires: Time(1),
        resume: None,
        name: None,
    };
    let text = written(|out| encoder(Version::LATEST, &Verbatim).input_required(&[question], "sealed", out));
    let result = Json::parse(text.into_bytes().into()).expect("JSON");
    assert_eq!(result.tree()["resultType"], "input_required");
    assert_eq!(result.tree()["inputRequests"]["q3"]["method"], "roots/list");
    assert_eq!(result.tree()["requestState"], "sealed");
}

#[test]
fn a_question_keeps_the_name_its_server_gave_it_where_that_is_one_questions_alone() {
    let asked = |number: u32, name: Option<&str>| Question {
        id: QuestionId(TaskId(7), number),
        to: interlingua_model::Addressee::Caller,
        kind: QuestionKind::Roots,
        text: "?".into(),
        asked_by: by(),
        expires: Time(1),
        resume: None,
        name: name.map(|name| Box::new(name.into())),
    };
    let keys = |open: &[Question]| open.iter().map(|question| input_key(question, open)).collect::<Vec<_>>();
    assert_eq!(keys(&[asked(0, Some("from")), asked(1, Some("to")), asked(2, None)]), ["from", "to", "q2"]);
    assert_eq!(keys(&[asked(0, Some("a")), asked(1, Some("a"))]), ["q0", "q1"], "two of one name");
    assert_eq!(keys(&[asked(0, Some("q1")), asked(1, None)]), ["q0", "q1"], "the name of another's number");
    let long = "n".repeat(LONGEST_NAME + 1);
    assert_eq!(keys(&[asked(0, Some("")), asked(1, Some(&long))]), ["q0", "q1"], "no name, and too long a one");
}

#[test]
fn what_a_result_cannot_say_is_told_with_what_was_lost_before_and_returned_without_it() {
    let code = Part::new(
        interlingua_model::Body::Code { source: "print(1)".into(), language: "python".into() },
        Provenance::hub(),
    );
    let stored = interlingua_model::Blob::Stored { digest: Digest([7; 32]), len: 300_000 };
    let large = Part::new(interlingua_model::Body::Blob(stored), Provenance::hub());
    let done = Finished::completed(Output { parts: vec![code, large], ..Output::default() });
    let before = [Loss::new("call.priority", LossKind::Dropped)];
    let beside = Beside { losses: &before, ..Beside::default() };
    let here = [Loss::new("output.parts.code", LossKind::Flattened), Loss::new("output.parts.blob", LossKind::Dropped)]
        .to_vec();
    let encoder = encoder(Version::LATEST, &Verbatim);
    let (mut called, mut prompted, mut read) = (Vec::new(), Vec::new(), Vec::new());
    assert_eq!(encoder.call(&done, None, &by(), &beside, &mut called), here);
    assert_eq!(encoder.prompt(&done, None, &by(), &beside, &mut prompted), here);
    assert_eq!(encoder.read(&done, None, &by(), &beside, &mut read), here);
    for told in [called, prompted, read] {
        let told = Json::parse(told.into()).expect("JSON");
        let losses = told.tree()["_meta"][meta::LOSSES].as_array().expect("losses").clone();
        let what: Vec<_> = losses.iter().filter_map(|loss| loss["what"].as_str()).collect();
        assert_eq!(what, ["call.priority", "output.parts.code", "output.parts.blob"]);
    }
    let theirs = raw(r#"{"content":[],"contents":[],"messages":[]}"#, "mcp/2025-06-18");
    assert_eq!(encoder.call(&done, Some(&theirs), &by(), &beside, &mut Vec::new()), [], "passed on as it came");
}
