//! Answers in words.

use super::*;
use crate::words::answer::{Consent, FormAnswer, consent, to_form};
use interlingua_model::question::Choice;
use serde_json::json as tree;

fn answer(schema: &str, text: &str) -> Option<Tree> {
    match to_form(&Schema(json(schema)), &[], text, NOW, None) {
        FormAnswer::Given(args) => Some(args.tree().clone()),
        FormAnswer::Cancel | FormAnswer::Unfit => None,
    }
}

const DATE: &str = r#"{"properties":{"date":{"type":"string","format":"date"}},"required":["date"]}"#;

#[test]
fn one_field_is_read_by_its_type() {
    let may_first = Some(tree!({"date": "2027-05-01"}));
    for text in ["May 1", "on May 1, please", "date: May 1", "el 1 de mayo", "2027-05-01"] {
        assert_eq!(answer(DATE, text), may_first, "{text}");
    }
    for text in ["Paris", "", "soon", "5/1"] {
        assert_eq!(answer(DATE, text), None, "{text}");
    }
}

#[test]
fn a_text_field_takes_any_text_even_a_long_one() {
    let form = r#"{"properties":{"content":{"type":"string"}},"required":["content"]}"#;
    assert_eq!(answer(form, "two words."), Some(tree!({"content": "two words"})));
    let long = "word ".repeat(100_000);
    assert_eq!(answer(form, &long), Some(tree!({"content": long.trim()})));
}

const TWO: &str = r#"{"properties":{"origin":{"type":"string"},"departure_date":{"type":"string","format":"date"}},
    "required":["origin","departure_date"]}"#;

#[test]
fn several_fields_are_read_by_name_in_order_or_as_json() {
    let expected = Some(tree!({"origin": "Rome", "departure_date": "2026-11-16"}));
    for text in [
        "Rome, tomorrow",
        "departure date: tomorrow; origin: Rome",
        "origin = Rome\ndeparture_date = tomorrow",
        r#"{"origin":"Rome","departure_date":"2026-11-16"}"#,
    ] {
        assert_eq!(answer(TWO, text), expected, "{text}");
    }
    for text in
        ["Rome", "tomorrow, Rome", "Rome, tomorrow, Paris", r#"{"origin":"Rome"}"#, "{", "origin: Rome, origin: Rome"]
    {
        assert_eq!(answer(TWO, text), None, "{text}");
    }
}

#[test]
fn a_choice_is_made_by_id_by_text_or_by_number() {
    let choices = [
        Choice { id: "a/find".into(), text: "Find hotels".into() },
        Choice { id: "b/find".into(), text: "Find flights".into() },
    ];
    let form = Schema(json(r#"{"properties":{"skill":{"type":"string"}},"required":["skill"]}"#));
    let read = |text: &str| to_form(&form, &choices, text, NOW, None);
    let second = FormAnswer::Given(Json::from(tree!({"skill": "b/find"})));
    for text in ["b/find", "find flights, please", "2", "2."] {
        assert_eq!(read(text), second, "{text}");
    }
    for text in ["0", "3", "find", "99999999999999999999999"] {
        assert_eq!(read(text), FormAnswer::Unfit, "{text}");
    }
}

#[test]
fn cancel_is_understood_in_both_languages() {
    let form = Schema(json(DATE));
    for text in ["cancel", "Cancel.", "never mind", "cancelar", "¡Cancela, por favor!", "olvídalo"] {
        assert_eq!(to_form(&form, &[], text, NOW, None), FormAnswer::Cancel, "{text}");
        assert_eq!(consent(text, None), Consent::Cancel, "{text}");
    }
}

#[test]
fn consent_is_a_yes_or_no_of_the_locale_and_nothing_else() {
    for (text, locale, expected) in [
        ("yes", Locale::ENGLISH, Consent::Yes),
        ("Yes, please.", Locale::ENGLISH, Consent::Yes),
        ("Y", Locale::ENGLISH, Consent::Yes),
        ("no", Locale::ENGLISH, Consent::No),
        ("sí", Locale::SPANISH, Consent::Yes),
        ("SI", Locale::SPANISH, Consent::Yes),
        ("No, gracias", Locale::SPANISH, Consent::No),
        ("sí", Locale::ENGLISH, Consent::Unclear),
        ("yes", Locale::SPANISH, Consent::Unclear),
    ] {
        assert_eq!(consent(text, Some(locale)), expected, "{text}");
    }
    for text in
        ["ok", "sure", "yes and delete the rest too", "yes no", "not no", "true", "on", "1", "", "👍", "\"yes\""]
    {
        assert_eq!(consent(text, Some(Locale::ENGLISH)), Consent::Unclear, "{text}");
    }
    assert_eq!(consent("sí", None), Consent::Yes);
    assert_eq!(consent(&"yes ".repeat(1 << 20), None), Consent::Unclear);
}
