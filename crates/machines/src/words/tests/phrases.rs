//! Phrases with slots.

use super::*;
use crate::words::matcher::BadPhrase;
use serde_json::json as tree;

#[test]
fn slots_take_the_words_up_to_the_next_fixed_one() {
    let matcher = compile(&[flights()]);
    let found = one(&matcher, "search flights from New York to Paris on May 1");
    assert_eq!(found.skill.to_string(), "airline/search_flights");
    assert_eq!(*found.args.tree(), tree!({"origin": "New York", "destination": "Paris", "date": "2027-05-01"}));
    assert!(found.missing.is_empty());
}

#[test]
fn a_missing_required_slot_is_named_and_asked_for_in_the_language_of_the_phrase() {
    let skill = flights();
    let matcher = compile(std::slice::from_ref(&skill));
    let found = one(&matcher, "search flights from NYC to Paris");
    assert_eq!(found.missing, ["date".into()]);
    let asked = form(&skill.input, &found.missing);
    assert_eq!(
        *asked.0.tree(),
        tree!({"type": "object", "properties": {"date": {"type": "string", "format": "date"}}, "required": ["date"],
            "additionalProperties": false})
    );
    assert_eq!(say::ask_for(found.locale.language, &asked, &found.missing), "On which date?");

    let found = one(&matcher, "busca vuelos de Madrid a París");
    assert_eq!(say::ask_for(found.locale.language, &asked, &found.missing), "¿En qué fecha?");
}

#[test]
fn case_accents_punctuation_and_courtesy_do_not_matter() {
    let matcher = compile(&[flights()]);
    let expected = tree!({"origin": "Málaga", "destination": "París", "date": "2026-11-16"});
    for text in [
        "busca vuelos de Málaga a París para mañana",
        "BUSCA VUELOS DESDE Málaga A París, para MAÑANA.",
        "Por favor, busca vuelos de Málaga a París para manana, gracias",
        "¡Hola! ¿Puedes buscar vuelos de Málaga a París para mañana?",
    ] {
        assert_eq!(*one(&matcher, text).args.tree(), expected, "{text}");
    }
}

#[test]
fn combining_accents_are_the_same_word() {
    let matcher = compile(&[skill("a/b", "{}", &[("es", "dime el próximo turno")])]);
    assert!(matches!(said(&matcher, "dime el pro\u{301}ximo turno"), Match::One(_)));
    assert!(matches!(said(&matcher, "dime el proximo turno"), Match::One(_)));
}

#[test]
fn values_keep_the_spelling_of_the_speaker() {
    let matcher = compile(&[flights()]);
    let (_, args) = call(&matcher, "Find flights from Zürich (ZRH) to São Paulo");
    assert_eq!(args, tree!({"origin": "Zürich (ZRH)", "destination": "São Paulo"}));
}

#[test]
fn a_fixed_word_inside_a_value_does_not_end_it_when_the_rest_would_not_fit() {
    let matcher = compile(&files());
    let (skill, args) = call(&matcher, "write go to bed to todo.txt");
    assert_eq!((skill.as_str(), args), ("local/write_file", tree!({"content": "go to bed", "path": "todo.txt"})));
    let matcher = compile(&[flights()]);
    let (_, args) = call(&matcher, "find flights from Paris to Frankfurt on Main");
    assert_eq!(args, tree!({"origin": "Paris", "destination": "Frankfurt on Main"}));
}

#[test]
fn quotation_marks_hold_a_value_together() {
    let matcher = compile(&files());
    let (_, args) = call(&matcher, "write \"to be, or not to be\" to \"my notes.txt\"");
    assert_eq!(args, tree!({"content": "to be, or not to be", "path": "my notes.txt"}));
    let (_, args) = call(&matcher, "lee el archivo «mis notas.txt»");
    assert_eq!(args, tree!({"path": "mis notas.txt"}));
}

#[test]
fn a_slot_without_a_type_has_the_type_of_its_property() {
    let matcher = compile(&[flights()]);
    let (_, args) = call(&matcher, "find flights from A to B for three passengers");
    assert_eq!(args, tree!({"origin": "A", "destination": "B", "passengers": 3}));
    let cabin = skill("a/b", FLIGHTS, &[("en", "fly {cabin} from {origin}")]);
    let matcher = compile(&[cabin]);
    let (_, args) = call(&matcher, "fly First Class from Oslo");
    assert_eq!(args, tree!({"cabin": "first_class", "origin": "Oslo"}));
    assert_eq!(said(&matcher, "fly standing from Oslo"), Match::None);
}

#[test]
fn every_type_can_be_written_in_a_pattern() {
    let phrase = "book {w:word} {p:path} {n:number} {i:integer} {d:date} {t:time} {e:email} {u:url} {b:boolean} {c:choice(red|light blue)} {x:text}";
    let matcher = compile(&[skill("a/b", "{}", &[("en", phrase)])]);
    let text = "book it ./a 2.5 four tomorrow at 5pm a@b.org https://b.org/ yes light blue and so on";
    let (_, args) = call(&matcher, text);
    assert_eq!(
        args,
        tree!({"w": "it", "p": "./a", "n": 2.5, "i": 4, "d": "2026-11-16", "t": "17:00", "e": "a@b.org",
            "u": "https://b.org/", "b": true, "c": "light blue", "x": "and so on"})
    );
}

#[test]
fn the_most_specific_phrase_wins_whatever_the_order() {
    let any = skill("a/any", "{}", &[("en", "show {x}")]);
    let status = skill("a/status", "{}", &[("en", "show status")]);
    let number = skill("a/number", "{}", &[("en", "show {n:integer}")]);
    for skills in [[any.clone(), status.clone(), number.clone()], [number, status, any]] {
        let matcher = compile(&skills);
        assert_eq!(call(&matcher, "show status").0, "a/status");
        assert_eq!(call(&matcher, "show 5").0, "a/number");
        assert_eq!(call(&matcher, "show me").0, "a/any");
    }
}

#[test]
fn equally_good_phrases_are_all_offered_and_never_guessed() {
    let matcher =
        compile(&[skill("a/find", "{}", &[("en", "find {x}")]), skill("b/find", "{}", &[("en", "find {y}")])]);
    let Match::Several(found) = said(&matcher, "find hotels") else { panic!("expected several") };
    assert_eq!(found.iter().map(|found| found.skill.to_string()).collect::<Vec<_>>(), ["a/find", "b/find"]);
}

#[test]
fn a_skill_that_may_not_be_called_is_not_there() {
    let matcher =
        compile(&[skill("a/find", "{}", &[("en", "find {x}")]), skill("b/find", "{}", &[("en", "find {y}")])]);
    let only_b = |id: &SkillId| id.peer.as_str() == "b";
    let Match::One(found) = matcher.match_words("find hotels", NOW, None, only_b) else { panic!("expected one") };
    assert_eq!(found.skill.to_string(), "b/find");
    assert_eq!(matcher.match_words("find hotels", NOW, None, |_| false), Match::None);
}

#[test]
fn the_hinted_language_decides_between_equals() {
    let skills = [skill("a/no", "{}", &[("en", "no")]), skill("b/no", "{}", &[("es", "no")])];
    let matcher = compile(&skills);
    assert!(matches!(said(&matcher, "no"), Match::Several(_)));
    let Match::One(found) = matcher.match_words("no", NOW, Some(Locale::SPANISH), |_| true) else { panic!("one") };
    assert_eq!(found.skill.to_string(), "b/no");
}

#[test]
fn two_versions_of_a_skill_are_one_candidate() {
    let mut old = skill("a/find", "{}", &[("en", "find {x}")]);
    let new = Skill { version: "2".into(), ..old.clone() };
    old.version = "1".into();
    let found = one(&compile(&[new, old]), "find it");
    assert_eq!(&*found.version, "2");
}

#[test]
fn a_phrase_must_cover_the_whole_text() {
    let matcher = compile(&files());
    for text in ["", "   ", "read", "read a b c", "do not read notes.txt", "notes.txt", "read notes.txt and delete it"]
    {
        assert_eq!(said(&matcher, text), Match::None, "{text}");
    }
}

#[test]
fn groups_are_alternatives_and_options_at_any_depth() {
    let pattern = "turn [the] (light|lamp [(over|on) [the] table]) (on|off|[completely] down)";
    let matcher = compile(&[skill("a/b", "{}", &[("en", pattern)])]);
    for text in ["turn the light on", "turn lamp over table off", "turn the lamp on the table completely down"] {
        assert!(matches!(said(&matcher, text), Match::One(_)), "{text}");
    }
    for text in ["turn the on", "turn the light", "turn the lamp table off"] {
        assert_eq!(said(&matcher, text), Match::None, "{text}");
    }
}

#[test]
fn special_characters_can_be_escaped() {
    let matcher = compile(&[skill("a/b", "{}", &[("en", r"use c\[0\] {x}")])]);
    assert_eq!(call(&matcher, "use c[0] now").1, tree!({"x": "now"}));
}

fn flaw(pattern: &str) -> Flaw {
    let schema = r#"{"properties":{"a":{"type":"string"},"n":{"type":"integer"},"b":{"type":"boolean"}}}"#;
    let (matcher, mut problems) = Matcher::compile(&[skill("p/s", schema, &[("en", pattern)])]);
    assert!(matcher.is_empty(), "{pattern}");
    match problems.pop().expect("one problem").problem {
        BadPhrase::Pattern(BadPattern { flaw, .. }) => flaw,
        BadPhrase::TooMany => panic!("one phrase is not too many"),
    }
}

#[test]
fn a_bad_pattern_is_reported_and_the_others_work() {
    assert_eq!(flaw("say {a"), Flaw::Unclosed('{'));
    assert_eq!(flaw("say [a"), Flaw::Unclosed('['));
    assert_eq!(flaw("say (a|b]"), Flaw::Unclosed('('));
    assert_eq!(flaw("say a)"), Flaw::Unexpected(')'));
    assert_eq!(flaw("say a}"), Flaw::Unexpected('}'));
    assert_eq!(flaw("flight(s)"), Flaw::Glued);
    assert_eq!(flaw("the {n}th"), Flaw::Glued);
    assert_eq!(flaw("say {}"), Flaw::BadName);
    assert_eq!(flaw("say {a b}"), Flaw::BadName);
    assert_eq!(flaw("say {a:colour}"), Flaw::UnknownType("colour".into()));
    assert_eq!(flaw("say {a:choice(|)}"), Flaw::UnknownType("choice(|)".into()));
    assert_eq!(flaw("say {a} and {a}"), Flaw::RepeatedSlot("a".into()));
    assert_eq!(flaw("say {zzz}"), Flaw::UnknownSlot("zzz".into()));
    assert_eq!(flaw("say {n:date}"), Flaw::TypeMismatch("n".into()));
    assert_eq!(flaw("{a}"), Flaw::NoFixedWord);
    assert_eq!(flaw("[say] {a}"), Flaw::NoFixedWord);
    assert_eq!(flaw("(say|{a})"), Flaw::NoFixedWord);
    assert_eq!(flaw(&"say ".repeat(200)), Flaw::TooLong);
    assert_eq!(flaw(&format!("say {}{}", "[".repeat(50), "]".repeat(50))), Flaw::TooDeep);
    let many = (0..17).map(|n| format!("{{a{n}}} x ")).collect::<String>();
    assert_eq!(flaw(&many), Flaw::TooManySlots);

    let (matcher, problems) = Matcher::compile(&[skill("p/s", "{}", &[("en", "say {"), ("en", "say {a}")])]);
    assert_eq!((matcher.len(), problems.len()), (1, 1));
    assert!(problems[0].to_string().contains("p/s"));
}

#[test]
fn the_same_slot_may_stand_in_several_alternatives() {
    let matcher = compile(&[skill("p/s", "{}", &[("en", "(open {x}|go to {x})")])]);
    assert_eq!(call(&matcher, "go to bed").1, tree!({"x": "bed"}));
}
