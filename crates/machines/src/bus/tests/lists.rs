//! Access lists, topic patterns, and the search for agents.

use super::{link, principal};
use crate::bus::{Pattern, Search, listed, topic};
use interlingua_model::card::{Card, CardFrom, Effects, Health, Provider, RouteClass, Schema, Skill, SkillKind};
use interlingua_model::id::{SkillId, Time};
use interlingua_model::json::Json;
use interlingua_model::principal::{Principal, Subject};

fn reads(list: &[&str], by: &Principal) -> bool {
    // Ann registered these agents.
    listed(list, by, |name| {
        ["agent_hotel", "owner", "anonymous"].contains(&name) && by.owner().to_string() == "user:ann"
    })
}

#[test]
fn a_list_names_agents_people_and_everybody() {
    let ann = principal(Subject::User("ann".into()));
    let bob = principal(Subject::User("bob".into()));
    let device = principal(Subject::Device("lamp".into()));
    let orchestrator = principal(Subject::Orchestrator("bot".into()));
    let nobody = Principal::anonymous();
    for (list, by, expected) in [
        (&["agent_hotel"][..], &ann, true),
        (&["agent_hotel"], &bob, false),
        (&["user:bob"], &bob, true),
        (&["bob"], &bob, false),
        (&["user:agent_hotel"], &ann, false),
        (&["device:lamp", "x"], &device, true),
        (&["lamp", "agent:lamp", "orchestrator:lamp"], &device, false),
        (&["orchestrator:bot"], &orchestrator, true),
        (&["bot", "agent:bot", "device:bot"], &orchestrator, false),
        (&["owner", "anonymous"], &ann, false),
        (&["*"], &bob, true),
        (&["*", "anonymous"], &nobody, false),
        (&[], &ann, false),
    ] {
        assert_eq!(reads(list, by), expected, "{list:?} {by:?}");
    }
}

#[test]
fn who_comes_through_another_reads_what_both_may() {
    let ann = principal(Subject::User("ann".into())).through(link(Subject::Agent("bot".into())));
    assert!(!reads(&["user:ann"], &ann));
    assert!(reads(&["user:ann", "bot"], &ann));
}

#[test]
fn topics_have_steps_and_patterns_cover_them() {
    for bad in ["", ".", "a..b", "a b", "a.*", "é", &"x".repeat(201), &["a"; 17].join(".")] {
        assert!(topic::named(bad).is_err(), "{bad}");
    }
    for bad in ["", "a**", "**.a", "a.***", "a..b", "a.b*", &"x".repeat(201)] {
        assert!(Pattern::parse(bad).is_err(), "{bad}");
    }
    for (pattern, name, expected) in [
        ("travel.flights", "travel.flights", true),
        ("travel.*", "travel.flights", true),
        ("travel.*", "travel", false),
        ("travel.*", "travel.flights.late", false),
        ("travel.**", "travel.flights.late", true),
        ("travel.**", "travel", true),
        ("travel.**", "travelling", false),
        ("*.flights", "travel.flights", true),
        ("**", "anything.at-all", true),
    ] {
        let topic = topic::named(name).expect("a topic");
        assert_eq!(Pattern::parse(pattern).expect("a pattern").covers(&topic), expected, "{pattern} {name}");
    }
}

fn hotel() -> Card {
    let effects = Effects::reads_only(CardFrom::Manifest);
    let id = SkillId::new("agent_hotel", "search_hotels");
    let mut skill = Skill::new(id, SkillKind::Tool, "Search hotels", Schema(Json::empty_object()), effects);
    skill.tags = vec!["Séjour".into()];
    Card {
        peer: "agent_hotel".into(),
        title: "Hotel Expert".into(),
        description: "Hotel search and booking specialist".into(),
        version: "1.0.0".into(),
        class: RouteClass::Agent,
        provider: Some(Provider { name: "TravelCo".into(), url: None, contact: None }),
        skills: vec![skill],
        resources: Vec::new(),
        sources: Vec::new(),
        health: Health::Up,
        telemetry: None,
        seen: Time(0),
        raw: None,
    }
}

#[test]
fn agents_are_found_by_skill_tag_provider_and_words() {
    let card = hotel();
    let none = Search::default();
    let text = |text: &str| Some(text.to_owned());
    for (search, expected) in [
        (none.clone(), true),
        (Search { skill: text("search_hotels"), ..none.clone() }, true),
        (Search { skill: text("agent_hotel/search_hotels"), ..none.clone() }, true),
        (Search { skill: text("search"), ..none.clone() }, false),
        (Search { tag: text("sejour"), ..none.clone() }, true),
        (Search { tag: text("sej"), ..none.clone() }, false),
        (Search { provider: text("travelco"), ..none.clone() }, true),
        (Search { provider: text("Travel"), ..none.clone() }, false),
        (Search { words: text("BOOKING expert"), ..none.clone() }, true),
        (Search { words: text("booking flights"), ..none.clone() }, false),
        (Search { skill: text("search_hotels"), provider: text("other"), ..none.clone() }, false),
    ] {
        assert_eq!(search.fits(&card, card.skills.iter()), expected, "{search:?}");
    }
    let hidden = Search { skill: text("search_hotels"), ..none };
    assert!(!hidden.fits(&card, std::iter::empty()), "a skill that may not be seen is not found");
}

#[test]
fn a_short_schema_is_written_out_and_a_whole_one_stands() {
    use crate::bus::shorthand::{result, schema};
    use serde_json::json;
    let of = |value: serde_json::Value| schema(&value.into()).map(|schema| schema.0.tree().clone());
    let location = json!({"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]});
    assert_eq!(of(json!({"location": "string"})), Some(location.clone()));
    assert_eq!(of(location.clone()), Some(location));
    assert_eq!(of(json!({"type": "object"})), Some(json!({"type": "object"})));
    let nested = of(json!({"type": "string", "who": {"name": "string"}, "when": "a date"})).expect("an object");
    assert_eq!(nested["properties"]["type"], json!({"type": "string"}), "a member may be called so");
    assert_eq!(nested["properties"]["who"]["required"], json!(["name"]));
    assert_eq!(nested["properties"]["when"], json!({"description": "a date"}));
    assert_eq!(of(json!([])), None);

    let promised = schema(&json!({"hotels": "array"}).into());
    let told = |value: serde_json::Value| result(&value.into(), promised.as_ref()).tree().clone();
    assert_eq!(told(json!([1])), json!({"hotels": [1]}), "the one thing promised");
    assert_eq!(told(json!({"hotels": []})), json!({"hotels": []}));
    assert_eq!(result(&json!([1]).into(), None).tree(), &json!([1]));
}
