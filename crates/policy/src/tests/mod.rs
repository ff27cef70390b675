//! Rules as people write them, and their decisions.

mod decisions;
mod flaws;
mod kept;
mod random;
mod scale;

use interlingua_model::policy::{
    Action, Asked, Could, Decision, Effect, Judge, Legislator, Object, Roles, Ruling, Source,
};
use interlingua_model::{
    CardFrom, Effects, Json, Link, Proof, Schema, Skill, SkillId, SkillKind, Subject, Text, Time, Trust,
};

use crate::Cedar;

/// 2026-11-15T12:00:00Z.
const NOON: Time = Time(1_794_744_000_000);
const HOUR: u64 = 3_600_000;

fn source(text: &str) -> Source {
    Source { name: "rules.cedar".into(), text: text.into() }
}

fn read(text: &str) -> Ruling {
    read_with(text, &Roles::default())
}

fn read_with(text: &str, roles: &Roles) -> Ruling {
    match Cedar.read(&[source(text)], roles) {
        Ok(ruling) => ruling,
        Err(flaws) => panic!("{}", flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

fn user(name: &str, scopes: &[&str]) -> Link {
    link(Subject::User(name.into()), scopes)
}

fn link(subject: Subject, scopes: &[&str]) -> Link {
    let scopes = scopes.iter().map(|scope| Text::from(*scope)).collect();
    Link { subject, proof: Proof::Token, scopes, until: None }
}

fn skill(peer: &str, name: &str, effects: &[&str]) -> Skill {
    let schema = Schema(Json::from_tree(serde_json::json!({"type": "object"})));
    let effects = Effects { claimed_by: CardFrom::Configuration, ..Effects::claimed(effects) };
    Skill::new(SkillId::new(peer, name), SkillKind::Tool, "does something", schema, effects)
}

fn asked<'a>(by: &'a Link, action: Action, skill: &'a Skill) -> Asked<'a> {
    Asked { by, action, on: Object::Skill(skill), wire: Some("mcp"), trust: Some(Trust::Caller), now: NOON }
}

fn json(text: &str) -> Json {
    Json::parse(text.to_owned().into()).expect("a value")
}

fn may(ruling: &Ruling, by: &Link, skill: &Skill, args: &str) -> bool {
    decide(&*ruling.judge, &asked(by, Action::Call, skill), args).allows()
}

fn decide(judge: &dyn Judge, asked: &Asked<'_>, args: &str) -> Decision {
    let decision = judge.decide(asked, Some(&json(args)));
    match judge.could(asked) {
        Could::Yes => assert!(decision.allows(), "{decision:?}"),
        Could::No => assert!(!decision.allows(), "{decision:?}"),
        Could::Depends => {}
    }
    decision
}

fn because(decision: &Decision) -> Vec<&str> {
    decision.because.iter().map(|name| &**name).collect()
}

fn silent(decision: &Decision) -> bool {
    decision.effect == Effect::Silent && decision.because.is_empty()
}
