//! The requirements' ids in test names, the list they come from, and the deviations agree.

use std::{collections::BTreeSet, fs};

use super::rust::tests;
use super::{root_file, tracked};

#[test]
fn every_id_in_a_test_name_is_a_known_requirement() {
    let known = required();
    let unknown: Vec<String> = tested().difference(&known).cloned().collect();
    assert!(unknown.is_empty(), "not in conformance/requirements.txt: {unknown:?}");
}

#[test]
fn a_deviation_is_a_known_requirement_and_claimed_by_no_test() {
    let deviations = deviations();
    let unknown: Vec<String> = deviations.difference(&required()).cloned().collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let both: Vec<String> = tested().intersection(&deviations).cloned().collect();
    assert!(both.is_empty(), "tested, and listed as a deviation: {both:?}");
}

#[test]
fn every_requirement_has_a_test_or_a_stated_deviation() {
    let shown: BTreeSet<String> = tested().union(&deviations()).cloned().collect();
    let missing: Vec<String> = required().difference(&shown).cloned().collect();
    assert!(missing.is_empty(), "no test is named for: {missing:?}");
}

/// The ids of `conformance/requirements.txt`.
fn required() -> BTreeSet<String> {
    let list = fs::read_to_string(root_file("conformance/requirements.txt")).expect("the list of requirements");
    list.lines().filter_map(|line| line.split(' ').next()).filter(|word| is_id(word)).map(str::to_owned).collect()
}

/// The ids of the table in `conformance/deviations.md`.
fn deviations() -> BTreeSet<String> {
    let list = fs::read_to_string(root_file("conformance/deviations.md")).expect("the list of deviations");
    let rows = list.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    rows.filter(|word| is_id(word)).map(str::to_owned).collect()
}

/// The ids that test functions carry as the start of their name, of the series that the list has.
fn tested() -> BTreeSet<String> {
    let series: BTreeSet<u8> = required().iter().map(|id| id.as_bytes()[0]).collect();
    let ids = tracked(".rs").into_iter().flat_map(|file| ids_of_tests(&file.text));
    ids.filter(|id| series.contains(&id.as_bytes()[0])).collect()
}

fn ids_of_tests(text: &str) -> Vec<String> {
    tests(text).iter().flat_map(|test| ids_of(&test.name)).collect()
}

/// `n_26_suffixed…` is N-26, and `m_08_m_09_foreign…` is both. A name without a number after its first letter carries no id.
fn ids_of(function: &str) -> Vec<String> {
    let words: Vec<&str> = function.split('_').collect();
    let pairs = words.chunks(2).take_while(|pair| pair.len() == 2);
    let ids = pairs.map(|pair| format!("{}-{}", pair[0].to_uppercase(), pair[1]));
    ids.take_while(|id| is_id(id)).collect()
}

fn is_id(word: &str) -> bool {
    matches!(word.as_bytes(), [b'A'..=b'Z', b'-', b'0'..=b'9', b'0'..=b'9'])
}

#[test]
fn ids_are_read_from_names() {
    assert_eq!(ids_of("n_26_suffixed_token"), ["N-26"]);
    assert_eq!(ids_of("m_08_m_09_foreign_pages"), ["M-08", "M-09"]);
    assert!(ids_of("s_curve_is_smooth").is_empty());
    assert!(ids_of("g2_p_56_a_device").is_empty(), "an id is the start of a name");
    assert_eq!(ids_of_tests("#[test]\nfn r_05_x() {}\n#[tokio::test]\nasync fn h_06_y() {}"), ["R-05", "H-06"]);
    for none in ["fn r_05_x() {}", "// #[test]\n// fn r_05_x() {}", "let x = \"#[test] fn r_05_x() {}\";"] {
        assert!(ids_of_tests(none).is_empty(), "{none}");
    }
}
