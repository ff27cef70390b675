//! What follows when no phrase matches.

use super::*;
use crate::event::Why;
use crate::id::Text;
use crate::ports::Hit;
use crate::words::rank::{Bar, Ranked, quoted_args, rank};
use serde_json::json as tree;

fn hits(scores: &[(&str, f64)]) -> Vec<Hit> {
    scores.iter().map(|(skill, score)| Hit { skill: (*skill).into(), score: *score }).collect()
}

fn ids(ids: &[&str]) -> Vec<SkillId> {
    ids.iter().map(|id| id.parse().expect("peer/skill")).collect()
}

#[test]
fn one_good_and_clear_hit_is_taken() {
    let one = rank(&hits(&[("a/b", 0.2), ("c/d", 0.9)]), Bar::default());
    assert_eq!(one, Ranked::One("c/d".parse().expect("peer/skill")));
}

#[test]
fn below_the_threshold_or_the_margin_it_asks_with_the_candidates() {
    assert_eq!(rank(&hits(&[("a/b", 0.3)]), Bar::default()), Ranked::Several(ids(&["a/b"])));
    let close = rank(&hits(&[("a/b", 0.85), ("c/d", 0.9), ("e/f", 0.1)]), Bar::default());
    assert_eq!(close, Ranked::Several(ids(&["c/d", "a/b", "e/f"])));
}

#[test]
fn no_hit_or_a_score_that_is_none_is_nothing() {
    for none in [&[][..], &[("a/b", 0.0)], &[("a/b", f64::NAN)], &[("no id", 0.9)]] {
        assert_eq!(rank(&hits(none), Bar::default()), Ranked::None);
    }
}

#[test]
fn equal_scores_come_in_a_fixed_order_and_the_list_is_short() {
    let many: Vec<String> = (0..50).map(|n| format!("p/{n:02}")).collect();
    let mut scores: Vec<(&str, f64)> = many.iter().map(|id| (id.as_str(), 0.5)).collect();
    let forward = rank(&hits(&scores), Bar::default());
    scores.reverse();
    assert_eq!(forward, rank(&hits(&scores), Bar::default()));
    let Ranked::Several(listed) = forward else { panic!("expected several") };
    assert_eq!(listed.len(), MAX_CANDIDATES);
}

#[test]
fn only_a_quotation_fills_the_one_text_a_ranked_skill_requires() {
    let one =
        skill("a/b", r#"{"properties":{"query":{"type":"string"},"n":{"type":"integer"}},"required":["query"]}"#, &[]);
    assert_eq!(*quoted_args(&one, "please find \"big red bus\" now").tree(), tree!({"query": "big red bus"}));
    for text in ["find big red bus", "find \"a\" or \"b\"", "find \"open", &"\"".repeat(100_000)] {
        assert_eq!(*quoted_args(&one, text).tree(), tree!({}), "{}", text.len());
    }
    let two = skill("a/b", FLIGHTS, &[]);
    assert_eq!(*quoted_args(&two, "fly \"Paris\"").tree(), tree!({}));
    let number = skill("a/b", r#"{"properties":{"n":{"type":"integer"}},"required":["n"]}"#, &[]);
    assert_eq!(*quoted_args(&number, "show \"5\"").tree(), tree!({}));
}

#[test]
fn questions_are_asked_by_type_name_and_description_in_both_languages() {
    let schema = Schema(json(
        r#"{"properties":{"departure_date":{"type":"string","format":"date"},"at":{"type":"string","format":"time"},
        "path":{"type":"string","description":"The file to read."},"cabin":{"enum":["economy","first_class"]},
        "overwrite":{"type":"boolean"},"count":{"type":"integer"}}}"#,
    ));
    let asked = |name: &str| Language::ALL.map(|language| say::ask_for(language, &schema, &[name.into()]));
    assert_eq!(asked("departure_date"), ["On which date (departure date)?", "¿En qué fecha (departure date)?"]);
    assert_eq!(asked("at"), ["At what time?", "¿A qué hora?"]);
    assert_eq!(asked("path")[0], "What is the path (The file to read)?");
    assert_eq!(asked("cabin")[0], "Which cabin: economy or first_class?");
    assert_eq!(asked("overwrite")[1], "overwrite: ¿sí o no?");
    assert_eq!(asked("count")[0], "Which number for count?");
    let several: [Text; 3] = ["path".into(), "departure_date".into(), "count".into()];
    assert_eq!(say::ask_for(Language::English, &schema, &several), "I still need: path, departure date and count.");
    assert_eq!(say::ask_for(Language::Spanish, &schema, &several), "Todavía necesito: path, departure date y count.");
}

#[test]
fn what_peers_call_themselves_is_shown_short_and_on_one_line() {
    let id: SkillId = "p/s".parse().expect("peer/skill");
    let title: Text = format!("nice\n\u{1b}[2Jskill {}", "x".repeat(500)).into();
    let said = say::which_one(Language::English, &[(id.clone(), title)]);
    assert_eq!(said.lines().count(), 2);
    assert!(!said.contains('\u{1b}') && said.len() < 300, "{said}");
    assert_eq!(say::route(Language::English, &id, Why::Phrase), "Done by p/s: your words are one of its phrases.");
    assert!(
        say::confirm(
            Language::Spanish,
            &crate::Principal::anonymous().owner(),
            &id,
            Some(&crate::json::Json::empty_object()),
            &[]
        )
        .ends_with("Responde sí o no.")
    );
}

#[test]
fn where_an_approval_is_given_is_said_on_one_line_with_nothing_hidden() {
    let task = crate::id::TaskId(7);
    let hub = format!("http://hub.example/\n\u{202e}{}", "x".repeat(500));
    for language in Language::ALL {
        let there = say::approve_there(language, task, Some(&hub));
        assert!(there.contains(&format!("`interlingua approve {task}`")), "{there}");
        let others = say::approver_has_to(language, task, Some(&hub));
        assert!(others.contains(&task.to_string()) && !others.contains("interlingua approve"), "{others}");
        for said in [there, others] {
            assert!(said.lines().count() == 1 && !said.contains('\u{202e}') && said.len() < 500, "{said}");
        }
    }
    assert_eq!(
        say::approve_there(Language::English, task, None),
        format!("It waits for your approval: `interlingua approve {task}`.")
    );
}
