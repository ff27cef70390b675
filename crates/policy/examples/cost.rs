//! Measures the cost of a decision alone: microseconds for a cached question, for a new question, and for rules that read arguments, with a
//! given number of rules. Prints one line of JSON.
//!
//! `cargo run --release --package interlingua-policy --example cost -- 10000`

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

use interlingua_model::policy::{Action, Asked, Judge, Legislator, Object, Roles, Source};
use interlingua_model::{
    CardFrom, Effects, Json, Link, Proof, Schema, Skill, SkillId, SkillKind, Subject, Time, Trust,
};

const ROUNDS: u32 = 20_000;

fn rules(count: usize) -> String {
    let mut text = String::from(
        "permit (principal == User::\"bench\", action in Action::\"use\", resource in Peer::\"hub\");\n\
         permit (principal, action in Action::\"use\", resource == Skill::\"bank/pay\")\n\
         when { context.numbers.hasTag(\"amount\") && context.numbers.getTag(\"amount\") < 1000 };\n",
    );
    for number in 0..count {
        let _ = writeln!(
            text,
            "permit (principal == User::\"user{number}\", action in Action::\"use\", resource == Skill::\"peer{number}/skill\");"
        );
    }
    text
}

fn skill(peer: &str, name: &str) -> Skill {
    let effects = Effects::reads_only(CardFrom::Configuration);
    let schema = Schema(Json::from_tree(serde_json::json!({ "type": "object" })));
    Skill::new(SkillId::new(peer, name), SkillKind::Tool, "does something", schema, effects)
}

fn caller(name: String) -> Link {
    Link { subject: Subject::User(name.into()), proof: Proof::Token, scopes: vec!["*".into()], until: None }
}

/// Microseconds for each of the questions.
fn timed(judge: &dyn Judge, skill: &Skill, callers: &[Link], args: Option<&Json>) -> f64 {
    let started = Instant::now();
    let mut allowed = 0_u32;
    for by in callers.iter().cycle().take(ROUNDS as usize) {
        let (action, on) = (Action::Call, Object::Skill(skill));
        let asked = Asked { by, action, on, wire: Some("nlip"), trust: Some(Trust::Caller), now: Time(1) };
        allowed += u32::from(judge.decide(&asked, args).allows());
    }
    let each = started.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS);
    assert_eq!(allowed, ROUNDS, "all of them may");
    each
}

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(0);
    let source = Source { name: "rules.cedar".into(), text: rules(count).into() };
    let Ok(ruling) = interlingua_policy::Cedar.read(&[source], &Roles::default()) else { return };
    let known = [caller("bench".into())];
    let strangers: Vec<Link> = (0..ROUNDS).map(|number| caller(format!("stranger{number}"))).collect();
    let amount = Json::from_tree(serde_json::json!({ "amount": 7, "to": "somebody" }));
    let (echo, pay) = (skill("hub", "echo"), skill("bank", "pay"));
    timed(&*ruling.judge, &echo, &known, None);
    let line = serde_json::json!({
        "rules": count,
        "again_us": timed(&*ruling.judge, &echo, &known, None),
        "first_us": timed(&*ruling.judge, &pay, &strangers, Some(&amount)),
        "arguments_us": timed(&*ruling.judge, &pay, &known, Some(&amount)),
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}
