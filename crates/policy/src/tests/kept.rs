//! The decision cache: bounded, and never one question's answer for another.

use super::*;
use crate::kept::Kept;

fn on(object: Object<'_>, by: &Link) -> String {
    format!("{by:?} {object:?}")
}

#[test]
fn what_is_kept_is_bounded_and_what_is_asked_for_again_stays() {
    let (kept, tool) = (Kept::<String>::default(), skill("a", "b", &[]));
    let often = user("often", &[]);
    let mut found_out = 0;
    for n in 0..200_000_u32 {
        let by = user(&format!("u{n}"), &[]);
        assert_eq!(*kept.of(&asked(&by, Action::Call, &tool), || n.to_string()), n.to_string());
        kept.of(&asked(&often, Action::Call, &tool), || {
            found_out += 1;
            String::new()
        });
    }
    assert!(kept.len() <= 65_536, "{}", kept.len());
    assert_eq!(found_out, 1, "it was asked for all the time");
}

#[test]
fn a_question_as_long_as_its_asker_likes_is_not_kept() {
    let (kept, tool) = (Kept::<String>::default(), skill("a", "b", &[]));
    for by in [link(Subject::Hub("h".repeat(5_000).into()), &[]), user("ann", &[&"s".repeat(5_000)])] {
        assert_eq!(*kept.of(&asked(&by, Action::Call, &tool), || "no".to_owned()), "no");
        assert_eq!(kept.len(), 0);
    }
}

#[test]
fn whatever_a_rule_can_see_tells_questions_apart() {
    let tool = skill("a", "b", &[]);
    let with = |change: &dyn Fn(&mut Skill)| {
        let mut skill = tool.clone();
        change(&mut skill);
        skill
    };
    let skills = [
        tool.clone(),
        skill("a", "c", &[]),
        skill("a", "b", &["writes"]),
        with(&|skill| skill.public = true),
        with(&|skill| skill.category = Some("c".into())),
        with(&|skill| skill.capability = Some("c".into())),
        with(&|skill| skill.tags = vec!["t".into()]),
    ];
    let callers = [
        user("ann", &[]),
        user("ann", &["role:r"]),
        user("bob", &[]),
        link(Subject::Agent("ann".into()), &[]),
        Link { proof: Proof::Jwt, ..user("ann", &[]) },
    ];
    let owners =
        [interlingua_model::Owner([Subject::Anonymous].into()), interlingua_model::Owner([Subject::HubOwner].into())];
    let (first, second) = ("a/b".into(), "x".into());
    let mut objects: Vec<Object<'_>> = skills.iter().map(Object::Skill).collect();
    objects.extend([Object::Peer(&first), Object::Peer(&second)]);
    for (id, owner) in ["x", "y"].into_iter().flat_map(|id| owners.iter().map(move |owner| (id, owner))) {
        objects.extend([Object::Artifact { id, owner }, Object::Conversation { id, owner }]);
    }
    let kept = Kept::<String>::default();
    let mut asked_so_far = 0;
    for _ in 0..2 {
        for (by, object) in callers.iter().flat_map(|by| objects.iter().map(move |object| (by, *object))) {
            for action in [Action::Read, Action::Call] {
                for (wire, trust) in [(None, None), (Some("mcp"), None), (None, Some(Trust::World))] {
                    let asked = Asked { by, action, on: object, wire, trust, now: NOON };
                    let name = || format!("{} {action:?} {wire:?} {trust:?}", on(object, by));
                    assert_eq!(*kept.of(&asked, name), name());
                    asked_so_far += 1;
                }
            }
        }
    }
    assert_eq!(kept.len() * 2, asked_so_far, "each is there once");
}

/// Answers are kept for all times of day only where no rule looks at it.
#[test]
fn the_time_of_day_is_looked_at_each_time() {
    let ruling = read("permit (principal, action, resource) when { context.time.toTime() < duration(\"13h\") };");
    let (by, tool) = (user("ann", &[]), skill("a", "b", &[]));
    let at = |now: Time| ruling.judge.decide(&Asked { now, ..asked(&by, Action::Call, &tool) }, None).allows();
    assert_eq!([at(NOON), at(Time(NOON.0 + 3 * HOUR)), at(NOON)], [true, false, true]);
}
