use interlingua_model::{FaultKind, Noun, SkillId, Target};

use super::registry;
use crate::names::{Named, Names, Table};
use crate::translators::{BUILTIN_NAMES, NotRegistered, Spellings, Translator, Translators};

fn skill(names: &Table, spelt: &str) -> Option<(String, String)> {
    match names.named(spelt) {
        Ok(Named { target: Target::Skill(skill, None), translator }) => {
            Some((skill.to_string(), translator.to_string()))
        }
        Ok(other) => panic!("{other:?}"),
        Err(_) => None,
    }
}

fn found(skill: &str, translator: &str) -> Option<(String, String)> {
    Some((skill.to_owned(), translator.to_owned()))
}

#[test]
fn r_06_an_unknown_name_is_guessed_by_its_spelling() {
    let translators = Translators::default();
    for (name, expected) in [
        ("mcp__anything", "mcp"),
        ("mcp__vote", "mcp"),
        ("mcp_one_underscore", "custom"),
        ("Vote", "custom"),
        ("my_tool", "custom"),
        ("custom_tool__x", "custom"),
        ("", "custom"),
    ] {
        assert_eq!(&*translators.guess(name).name, expected, "{name}");
    }
    assert_eq!(BUILTIN_NAMES.len(), 7);
    assert!(BUILTIN_NAMES.iter().all(|name| &*translators.guess(name).name == "builtin"));
}

#[test]
fn r_06_a_tool_is_found_under_each_of_its_spellings() {
    let (names, collisions) = Table::build(&Translators::default(), registry());
    assert_eq!(collisions, []);
    for spelt in ["mcp__search__web_search", "mcp__web_search", "search/web_search"] {
        assert_eq!(skill(&names, spelt), found("search/web_search", "mcp"), "{spelt}");
    }
    for spelt in ["custom_tool__search_flights", "search_flights", "tools/search_flights"] {
        assert_eq!(skill(&names, spelt), found("tools/search_flights", "custom"), "{spelt}");
    }
    assert_eq!(skill(&names, "read_file"), found("files/read_file", "builtin"));
    for spelt in ["web_search", "mcp__read_file", "READ_FILE", "mcp__search", "mcp__", ""] {
        assert_eq!(names.named(spelt).expect_err("unknown").kind, FaultKind::NotFound(Noun::Skill), "{spelt}");
    }
}

#[test]
fn h_13_the_registry_decides_and_not_the_prefix() {
    let skills =
        [(SkillId::new("tools", "vote"), "custom".into()), (SkillId::new("tools", "mcp__odd"), "custom".into())];
    let (names, collisions) = Table::build(&Translators::default(), skills);
    assert_eq!(collisions, []);
    assert_eq!(skill(&names, "vote"), found("tools/vote", "custom"));
    assert_eq!(skill(&names, "mcp__odd"), found("tools/mcp__odd", "custom"));
}

#[test]
fn h_13_a_name_claimed_twice_means_neither_and_the_ids_still_do() {
    // Split at another `__` the two would be one tool.
    let skills = [(SkillId::new("a", "b__c"), "mcp".into()), (SkillId::new("a__b", "c"), "mcp".into())];
    let (names, collisions) = Table::build(&Translators::default(), skills);
    assert_eq!(collisions.len(), 1);
    assert_eq!(collisions[0].name, "mcp__a__b__c");
    let fault = names.named("mcp__a__b__c").expect_err("neither by guess");
    assert_eq!(fault.kind, FaultKind::InvalidInput);
    assert!(fault.public.contains("a/b__c") && fault.public.contains("a__b/c"), "{}", fault.public);
    assert_eq!(skill(&names, "a/b__c"), found("a/b__c", "mcp"));
    assert_eq!(skill(&names, "a__b/c"), found("a__b/c", "mcp"));
}

#[test]
fn a_short_name_is_good_only_while_it_is_unique() {
    let skills = [(SkillId::new("a", "find"), "mcp".into()), (SkillId::new("b", "find"), "mcp".into())];
    let (names, collisions) = Table::build(&Translators::default(), skills);
    assert_eq!(collisions, []);
    assert_eq!(names.named("mcp__find").expect_err("ambiguous").kind, FaultKind::InvalidInput);
    assert_eq!(skill(&names, "mcp__b__find"), found("b/find", "mcp"));
}

#[test]
fn a_built_in_tool_is_not_hidden_by_a_custom_one() {
    let skills =
        [(SkillId::new("tools", "read_file"), "custom".into()), (SkillId::new("files", "read_file"), "builtin".into())];
    let (names, collisions) = Table::build(&Translators::default(), skills);
    assert_eq!(collisions, []);
    assert_eq!(skill(&names, "read_file"), found("files/read_file", "builtin"));
    assert_eq!(skill(&names, "custom_tool__read_file"), found("tools/read_file", "custom"));
}

#[test]
fn r_43_a_fourth_translator_is_registered_by_name_and_matcher() {
    let mut translators = Translators::default();
    let spell = |skill: &SkillId| Spellings { own: vec![format!("rpc.{}", skill.skill)], short: Vec::new() };
    let fourth = || Translator::new("rpc", |name| name.starts_with("rpc."), spell);
    translators.register(fourth()).expect("registered");
    assert_eq!(translators.register(fourth()), Err(NotRegistered::Taken("rpc".into())));
    assert_eq!(&*translators.guess("rpc.add").name, "rpc");
    let (names, _) = Table::build(&translators, [(SkillId::new("calc", "add"), "rpc".into())]);
    assert_eq!(skill(&names, "rpc.add"), found("calc/add", "rpc"));
}

#[test]
fn r_43_translators_are_bounded() {
    let mut translators = Translators::default();
    let refused = (0..100)
        .map(|n| Translator::new(format!("t{n}"), |_| false, |_| Spellings::default()))
        .filter(|translator| translators.register(translator.clone()) == Err(NotRegistered::Full))
        .count();
    assert_eq!(refused, 100 - 61);
}

#[test]
fn r_32_what_does_not_exist_cannot_be_switched() {
    let mut translators = Translators::default();
    assert!(!translators.switch("nobody", false));
    assert!(["mcp", "builtin", "custom"].iter().all(|name| translators.switch(name, false)));
    assert!(["mcp", "builtin", "custom"].iter().all(|name| !translators.get(name).expect("there").enabled));
}
