//! Hostile texts and phrases.

use super::*;
use proptest::prelude::*;

#[test]
fn a_text_of_ten_megabytes_matches_nothing() {
    let matcher = compile(&files());
    assert_eq!(said(&matcher, &format!("read {}", "a".repeat(10 << 20))), Match::None);
    assert_eq!(said(&matcher, &"read ".repeat(2 << 20)), Match::None);
    assert_eq!(said(&matcher, &"“".repeat(3 << 20)), Match::None);
    Locale::detect(None, &"á".repeat(5 << 20));
}

#[test]
fn ten_thousand_phrases_are_told_apart() {
    let skills: Vec<Skill> = (0..10_000)
        .map(|n| skill(&format!("p/s{n}"), "{}", &[("en", format!("run job number{n} with {{x}}").as_str())]))
        .collect();
    let matcher = compile(&skills);
    assert_eq!(matcher.len(), 10_000);
    for n in [0, 77, 9_999] {
        assert_eq!(call(&matcher, &format!("run job number{n} with care")).0, format!("p/s{n}"));
    }
    assert_eq!(said(&matcher, "run job number10000 with care"), Match::None);
}

#[test]
fn more_phrases_than_the_limit_are_reported_once() {
    let phrases: Vec<(String, String)> = (0..MAX_PHRASES + 5).map(|n| ("en".into(), format!("say w{n}"))).collect();
    let phrases: Vec<(&str, &str)> = phrases.iter().map(|(locale, pattern)| (&**locale, &**pattern)).collect();
    let (matcher, problems) = Matcher::compile(&[skill("p/s", "{}", &phrases)]);
    assert_eq!((matcher.len(), problems.len()), (MAX_PHRASES, 1));
    assert!(matches!(said(&matcher, "say w19999"), Match::One(_)));
}

#[test]
fn a_pattern_made_to_backtrack_ends_quickly() {
    // Sixteen free slots between optional words, against a text of one repeated word that never ends as it should.
    let pattern: String = (0..15).map(|n| format!("{{s{n}}} [a] (a|a a) ")).collect();
    let (matcher, problems) = Matcher::compile(&[skill("p/s", "{}", &[("en", &format!("{pattern} stop"))])]);
    assert_eq!(problems, []);
    assert_eq!(said(&matcher, &"a ".repeat(500)), Match::None);
    assert!(matches!(said(&matcher, &format!("{}stop", "a ".repeat(500))), Match::One(_)));
}

#[test]
fn when_all_phrases_look_alike_the_work_is_bounded_and_nothing_is_guessed() {
    let skills: Vec<Skill> =
        (0..10_000).map(|n| skill(&format!("p/s{n}"), "{}", &[("en", "a {x} a {y} a {z} a")])).collect();
    let matcher = compile(&skills);
    assert_eq!(said(&matcher, &"a ".repeat(500)), Match::None);
    assert!(matches!(said(&matcher, "a 1 a 2 a 3 a"), Match::Several(found) if found.len() == MAX_CANDIDATES));
}

fn mixed() -> Matcher {
    let mut skills = files();
    skills.push(flights());
    let any = "do {n:number} [{d:date}] [{t:time}] [{b:boolean}] {e:email} ({u:url}|{w:word}) {x}";
    skills.push(skill("p/any", "{}", &[("en", any), ("es", "haz {n:integer} {m:datetime} {x}")]));
    compile(&skills)
}

/// Fragments that the readers know, in any order, with noise between.
fn near_texts() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "read",
        "the",
        "file",
        "search",
        "flights",
        "from",
        "to",
        "on",
        "for",
        "passengers",
        "busca",
        "vuelos",
        "de",
        "a",
        "do",
        "haz",
        "next",
        "Friday",
        "May",
        "1",
        "31",
        "2026-02-30",
        "5/1",
        "99/99/9999",
        "at",
        "5pm",
        "17:00",
        "a",
        "las",
        "y",
        "veinte",
        "treinta",
        "in",
        "days",
        "999999999",
        "-1",
        "1,2.3",
        "\"",
        "“x y”",
        "\"a b\"",
        ".",
        "..",
        "a@b.c",
        "http://x",
        "yes",
        "no",
        "please",
        "gracias",
        "¿",
        "ñ",
        "\u{301}",
        "\u{200b}",
        "ǅ",
        "İ",
        "ß",
        "٣",
        "\u{feff}",
        "1º",
        "0am",
        "h",
    ]);
    let word = prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(word, 0..24).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn matching_never_panics_and_is_deterministic(text in near_texts(), now in any::<u64>(), offset in any::<i16>()) {
        let matcher = mixed();
        let clock = Clock { now: Time(now), offset_minutes: offset };
        let first = matcher.match_words(&text, clock, None, |_| true);
        prop_assert_eq!(&first, &mixed().match_words(&text, clock, None, |_| true));
        if let Match::One(found) = first {
            prop_assert!(found.args.is_object());
        }
    }

    #[test]
    fn reading_values_never_panics_and_is_deterministic(text in near_texts()) {
        let mut skills = files();
        skills.push(flights());
        for skill in &skills {
            let first = crate::words::given::given(skill, &text, None, Some("path"));
            prop_assert_eq!(&first, &crate::words::given::given(skill, &text, None, Some("path")));
            prop_assert!(first.args.is_object());
        }
    }

    #[test]
    fn answers_never_panic(text in near_texts(), now in any::<u64>()) {
        let form = flights().input;
        answer::to_form(&form, &[], &text, Time(now), None);
        answer::consent(&text, None);
    }

    #[test]
    fn patterns_never_panic(pattern in "[a-c {}\\[\\]()|:\\\\é\"]{0,60}", text in "[a-c \"]{0,20}") {
        let (matcher, _) = Matcher::compile(&[skill("p/s", "{}", &[("en", &pattern)])]);
        said(&matcher, &text);
    }

    #[test]
    fn any_pattern_and_any_text_never_panic(pattern in any::<String>(), text in any::<String>()) {
        let (matcher, _) = Matcher::compile(&[skill("p/s", "{}", &[("en", &pattern)])]);
        said(&matcher, &text);
    }
}
