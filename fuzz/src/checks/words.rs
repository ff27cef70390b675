//! Invariants of plain words for any pattern and any text: the same text has the same meaning, and the extracted arguments are an object
//! that the skill accepts.

use interlingua_machines::team::{Evaluation, Offer, Workflow, read_reply};
use interlingua_machines::words::answer::{FormAnswer, consent, is_cancel, to_form};
use interlingua_machines::words::given::given;
use interlingua_machines::words::{Found, Match, Matcher, folded, form, missing};
use interlingua_model::{
    Body, CardFrom, Effects, Json, Part, Phrase, Provenance, Schema, Skill, SkillId, SkillKind, Time, Trust, visible,
};

const SCHEMA: &str = r#"{"type":"object","required":["from"],"properties":{
    "from":{"type":"string"},"to":{"type":"string"},"on":{"type":"string","format":"date"},
    "at":{"type":"string","format":"time"},"count":{"type":"integer","minimum":0},"price":{"type":"number"},
    "direct":{"type":"boolean"},"cabin":{"enum":["economy","business"]},"tags":{"type":"array","items":{"type":"string"}}}}"#;
/// 2026-11-17.
const NOW: Time = Time(1_794_873_600_000);

/// A pattern, then a text.
pub(crate) fn said(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, said) = text.split_once('\n').unwrap_or(("find flights from {from} [to {to}]", text));
    let schema = Schema(Json::parse(SCHEMA.as_bytes().to_vec().into()).expect("a schema"));
    let id = SkillId::new("travel", "find_flights");
    let mut skill = Skill::new(id, SkillKind::Tool, "Finds flights", schema, Effects::reads_only(CardFrom::Manifest));
    for locale in ["en", "es"] {
        skill.phrases.push(Phrase { locale: locale.into(), pattern: pattern.into() });
    }
    let (matcher, _) = Matcher::compile([&skill]);
    let meant = matcher.match_words(said, NOW, None, |_| true);
    assert_eq!(matcher.match_words(said, NOW, None, |_| true), meant, "the same text has two meanings");
    assert_eq!(matcher.match_words(said, NOW, None, |_| false), Match::None, "what may not be called was found");
    match &meant {
        Match::One(found) => complete(found, &skill),
        Match::Several(found) => found.iter().for_each(|found| complete(found, &skill)),
        Match::None => {}
    }
    let read = given(&skill, said, None, None);
    assert!(read.args.is_object());
    let names = missing(&skill.input, &read.args);
    let wanted = form(&skill.input, &names);
    if let FormAnswer::Given(fields) = to_form(&wanted, &[], said, NOW, None) {
        assert!(fields.is_object());
    }
    let _ = (consent(said, None), is_cancel(said), folded::quoted(said), folded::name(said));
    shown(said);
    for offer in [Offer::AnswerOrVote, Offer::VoteOnly, Offer::StopOnly] {
        assert!(!offer.names().is_empty());
        let mut parts = vec![Part::text(said, Provenance::hub())];
        parts.extend(
            Json::parse(said.as_bytes().to_vec().into())
                .ok()
                .map(|data| Part::new(Body::Data(data), Provenance::hub())),
        );
        let turn = read_reply(&parts, offer, &["a1.1".into(), "a2.1".into()]);
        assert!(!turn.calls.is_empty() && turn.trust <= Trust::Peer);
    }
}

fn complete(found: &Found, skill: &Skill) {
    assert!(found.args.is_object());
    assert_eq!(found.missing, missing(&skill.input, &found.args));
}

/// What a person is shown says what it is, and says the same when it is shown again.
fn shown(text: &str) {
    let once = visible::visible(text).into_owned();
    assert_eq!(visible::visible(&once), once);
    let line = visible::visible_line(text).into_owned();
    assert!(!line.contains(['\n', '\r']));
    if let Ok(json) = Json::parse(text.as_bytes().to_vec().into()) {
        for name in ["new_answer", "vote", "stop", "other"] {
            let _ = (Workflow::read(name, &json), Evaluation::read(name, &json));
        }
        let spelt = visible::visible_json(json.as_str()).into_owned();
        let again = Json::parse(spelt.into_bytes().into()).expect("it is JSON still");
        assert_eq!(again.tree(), json.tree());
    }
}
