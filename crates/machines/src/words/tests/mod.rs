//! Plain words, from the outside.

mod answers;
mod given;
mod hostile;
mod phrases;
mod ranking;

use super::*;
use interlingua_model::card::{CardFrom, Effects, Phrase, Schema, Skill, SkillKind};
use interlingua_model::id::{SkillId, Time};
use interlingua_model::json::{Json, Tree};

/// Sunday 15 November 2026, 09:00 UTC.
const NOW: Time = Time(1_794_733_200_000);

fn json(text: &str) -> Json {
    Json::parse(bytes::Bytes::copy_from_slice(text.as_bytes())).expect("JSON")
}

fn skill(id: &str, schema: &str, phrases: &[(&str, &str)]) -> Skill {
    let id: SkillId = id.parse().expect("peer/skill");
    let effects = Effects::reads_only(CardFrom::Configuration);
    let mut skill = Skill::new(id, SkillKind::Tool, "a skill", Schema(json(schema)), effects);
    skill.phrases = phrases
        .iter()
        .map(|(locale, pattern)| Phrase { locale: (*locale).into(), pattern: (*pattern).into() })
        .collect();
    skill
}

const FLIGHTS: &str = r#"{"type":"object","properties":{
    "origin":{"type":"string"},"destination":{"type":"string"},"date":{"type":"string","format":"date"},
    "passengers":{"type":"integer"},"cabin":{"type":"string","enum":["economy","first_class"]}},
    "required":["origin","destination","date"]}"#;

fn flights() -> Skill {
    skill(
        "airline/search_flights",
        FLIGHTS,
        &[
            (
                "en",
                "(search|find|look for) [the] flights from {origin} to {destination} [on {date}] [for {passengers} passengers]",
            ),
            ("es", "(busca|buscar) vuelos (de|desde) {origin} a {destination} [(el|para) {date:date}]"),
        ],
    )
}

fn files() -> Vec<Skill> {
    let path = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    let write = r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}"#;
    vec![
        skill(
            "local/read_file",
            path,
            &[("en", "(read|show|open) [the] [file] {path:path}"), ("es", "(lee|abre) [el archivo] {path:path}")],
        ),
        skill("local/list_directory", path, &[("en", "list [the] [(files in|directory|folder)] {path:path}")]),
        skill("local/write_file", write, &[("en", "write {content:text} to [the] [file] {path:path}")]),
    ]
}

fn compile(skills: &[Skill]) -> Matcher {
    let (matcher, problems) = Matcher::compile(skills);
    assert_eq!(problems, []);
    matcher
}

fn said(matcher: &Matcher, text: &str) -> Match {
    matcher.match_words(text, NOW, None, |_| true)
}

fn one(matcher: &Matcher, text: &str) -> Found {
    match said(matcher, text) {
        Match::One(found) => found,
        other => panic!("{text}: {other:?}"),
    }
}

/// The skill and its arguments.
fn call(matcher: &Matcher, text: &str) -> (String, Tree) {
    let found = one(matcher, text);
    (found.skill.to_string(), found.args.tree().clone())
}
