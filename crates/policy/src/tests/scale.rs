//! Many rules and many principals: a question is evaluated against as few rules as before.

use std::fmt::Write;

use super::*;
use crate::index::{Index, Rule};
use crate::reads::Reads;
use crate::roles::Membership;
use crate::world::Types;

/// Rules about one principal, one skill, one peer, one role; each a quarter.
fn rules(count: usize) -> String {
    let mut text = String::new();
    for n in 0..count / 4 {
        let _ = write!(text, "permit (principal == User::\"u{n}\", action, resource);");
        let _ = write!(text, "permit (principal, action, resource == Skill::\"p{n}/s\");");
        let _ = write!(text, "permit (principal, action in Action::\"use\", resource in Peer::\"q{n}\");");
        let _ =
            write!(text, "forbid (principal in Role::\"r{n}\", action, resource) when {{ context.effects.destroys }};");
    }
    text
}

#[test]
fn a_question_meets_the_same_few_rules_however_many_there_are() {
    let types = Types::new().expect("names");
    let counts = [40, 10_000].map(|count| {
        let parsed: cedar_policy::PolicySet = rules(count).parse().expect("rules");
        let rules = parsed.policies().map(|policy| Rule { policy: policy.clone(), reads: Reads::default() });
        let index = Index::new(rules.collect(), &types);
        let (by, skill) = (user("u3", &["role:r1", "role:r2"]), skill("p3", "s", &[]));
        let roles = Membership::default().of(&by);
        index.find(&types, &asked(&by, Action::Call, &skill), &roles).expect("a user").len()
    });
    assert_eq!(counts, [4, 4]);
}

#[test]
fn thousands_of_principals_are_told_apart() {
    let ruling = read("permit (principal in Role::\"clerk\", action, resource);");
    let tool = skill("a", "b", &[]);
    for n in 0..3_000_u32 {
        let by = user(&format!("u{n}"), if n % 2 == 0 { &["role:clerk"] } else { &[] });
        let could = ruling.judge.could(&asked(&by, Action::Call, &tool));
        assert_eq!(could, if n % 2 == 0 { Could::Yes } else { Could::No }, "{n}");
    }
}
