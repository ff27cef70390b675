//! Ranking, when no phrase matches.

use super::*;
use crate::words::rank::{Bar, Ranked, rank, refit, subject};
use interlingua_model::event::Why;
use interlingua_model::id::Text;
use interlingua_model::ports::Hit;

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
fn a_number_in_the_sentence_is_for_a_skill_that_requires_one_and_a_question_looks_something_up() {
    let number = r#"{"properties":{"order_id":{"type":"integer"}},"required":["order_id"]}"#;
    let skills = [
        skill("orders/get_order", number, &[]),
        skill("orders/cancel_order", number, &[]),
        skill("orders/list_orders", "{}", &[]),
    ];
    let first = |text: &str, scores: [f64; 3]| {
        let mut hits: Vec<Hit> =
            skills.iter().zip(scores).map(|(skill, score)| Hit { skill: skill.id.to_string().into(), score }).collect();
        refit(&mut hits, text, |id| skills.iter().find(|skill| skill.id == *id));
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
        assert!((best - scores.into_iter().fold(0.0, f64::max)).abs() < 1e-9, "a weak hit stays weak: {hits:?}");
        rank(&hits, Bar::default())
    };
    let one = |id: &str| Ranked::One(id.parse().expect("peer/skill"));
    assert_eq!(first("what is the status of order 1001", [0.5, 0.5, 0.8]), one("orders/get_order"));
    assert_eq!(first("list orders", [0.5, 0.5, 0.7]), one("orders/list_orders"));
    assert_eq!(first("list 5 orders", [0.5, 0.5, 0.9]), one("orders/list_orders"));
    assert_eq!(first("cancel order 1001", [0.5, 0.9, 0.5]), one("orders/cancel_order"));
    assert!(matches!(first("order 1001", [0.8, 0.8, 0.8]), Ranked::Several(_)), "nothing is guessed");
}

#[test]
fn what_a_sentence_is_about_is_neither_that_it_wants_to_see_it_nor_a_number() {
    assert_eq!(subject("please list the open orders").as_deref(), Some("open orders"));
    assert_eq!(subject("muéstrame los pedidos: lista de pedidos").as_deref(), Some("muestrame pedidos pedidos"));
    for nothing in ["", "show me all of it", "get 1001", "what is there to see?"] {
        assert!(subject(nothing).is_none_or(|about| about == "there"), "{nothing}: {:?}", subject(nothing));
    }
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
fn what_is_unclear_is_asked_with_what_was_said() {
    let schema = Schema(json(r#"{"properties":{"order_id":{"type":"integer"},"status":{"enum":["open","shut"]}}}"#));
    let said: [Text; 2] = ["1001".into(), "1002".into()];
    let asked = |name: &str, said: &[Text]| say::ask_about(Language::English, &schema, &[name.into()], said);
    assert_eq!(asked("order_id", &said), "Which number for order id? You said 1001 and 1002.");
    assert_eq!(asked("status", &[]), "Which status: open or shut?");
    let names: [Text; 2] = ["door".into(), "front_window".into()];
    let which = |value: &str| say::which_parameter(Language::English, value, &names);
    assert_eq!(which("open"), "You said open. Which is that: door or front window?");
    assert!(which(&"x".repeat(16_000)).len() < 120 && !which("\u{202e}\n").contains(['\u{202e}', '\n']));
}

#[test]
fn a_greeting_lists_the_peers_of_the_operator_first_in_a_few_lines() {
    let long = format!("Says a lot. {}", "And more. ".repeat(50));
    let named = |id: &str| Skill { description: long.as_str().into(), ..skill(id, "{}", &[("en", "say {x} [twice]")]) };
    let hub = ["hub/help", "hub/echo", "graph/do", "local/read_file"].map(named);
    let shop: Vec<Skill> = (0..30).map(|n| named(&format!("shop/s{n:02}"))).collect();
    let desk = [named("desk/chat")];
    let all: Vec<&Skill> = hub.iter().chain(&shop).chain(&desk).collect();
    let said = menu::greeting(Language::English, &all);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((lines[0], lines[1]), ("Hello! I can do this:", "- desk/chat: Says a lot"));
    assert_eq!((lines.len(), lines[11]), (12, "… and 24 more: interlingua skills"));
    assert!(!said.contains("twice") && !said.contains("hub/") && !said.contains("help"), "{said}");
    let few: Vec<&Skill> = hub.iter().collect();
    let said = menu::nothing_fits(Language::Spanish, &few);
    assert!(said.starts_with("No encontré") && said.contains("\nPuedo hacer esto:\n- local/read_file: "), "{said}");
    assert!(said.ends_with("- hub/echo: Says a lot"), "{said}");
    assert_eq!(menu::greeting(Language::English, &few[..1]), "Hello! I can do nothing for you yet.");
    let odd = Skill { description: "\u{1b}[2Jnice\nskill".into(), ..skill("p/s", "{}", &[]) };
    let said = menu::greeting(Language::English, &[&odd]);
    assert!(said.lines().count() == 2 && !said.contains('\u{1b}'), "{said}");
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
            &interlingua_model::Principal::anonymous().owner(),
            &id,
            Some(&interlingua_model::json::Json::empty_object()),
            &[]
        )
        .ends_with("Responde sí o no.")
    );
}

#[test]
fn where_an_approval_is_given_is_said_on_one_line_with_nothing_hidden() {
    let task = interlingua_model::id::TaskId(7);
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
