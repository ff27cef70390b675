//! Every claim of SECURITY.md has a test, and the files for running a hub as a service are valid for their tools.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use interlingua_testkit::skipped;

use super::{root_file, rust, tracked};

/// The names of all tests, and of the functions of the stores' contract: its macros make a test of each for every store.
fn tests() -> BTreeSet<String> {
    let (files, contract) = (tracked(".rs"), fs::read_to_string(root_file("crates/store-contract/src/lib.rs")));
    let contract = contract.expect("the contract of the stores");
    let listed = contract.lines().filter_map(|line| line.trim().strip_suffix(',')).map(str::to_owned);
    let written = |name: &String| files.iter().any(|file| file.text.contains(&format!("pub async fn {name}(")));
    let of_stores: Vec<String> = listed.filter(written).collect();
    files.iter().flat_map(|file| rust::tests(&file.text)).map(|test| test.name).chain(of_stores).collect()
}

/// Words in backticks that are the name of a test: small letters, and more than two underlines.
fn named(text: &str) -> Vec<&str> {
    let is_name = |word: &&str| {
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        word.bytes().all(letters) && word.bytes().filter(|byte| *byte == b'_').count() > 2
    };
    text.split('`').skip(1).step_by(2).filter(is_name).collect()
}

#[test]
fn every_test_that_the_page_on_security_names_exists() {
    let page = fs::read_to_string(root_file("SECURITY.md")).expect("SECURITY.md");
    let (tests, named) = (tests(), named(&page));
    assert!(named.len() > 50, "the page names its tests: {named:?}");
    let unknown: Vec<&str> = named.into_iter().filter(|name| !tests.contains(*name)).collect();
    assert!(unknown.is_empty(), "no such tests: {unknown:?}");
}

/// No test can measure it, so this one reads. A token is kept as a `Hashed`, whose bytes nothing outside of its module reaches: the
/// compiler refuses any other comparison than `==`, and that is the one of the crypto library. A token that is not kept proves
/// itself by a tag, which is compared by the same function.
#[test]
fn h_06_tokens_of_sessions_are_compared_in_constant_time() {
    let text = fs::read_to_string(root_file("crates/protocols/envelope/src/session/token.rs")).expect("the source");
    let derives = text.lines().find(|line| line.starts_with("#[derive")).expect("a derive");
    let hashed = text.split(derives).nth(1).expect("what derives").trim_start();
    assert!(hashed.starts_with("pub struct Hashed([u8; 32]);"), "its bytes are its own: {hashed:.60}");
    assert!(!derives.contains("PartialEq") && !derives.contains("Ord"), "{derives}");
    let equal = text.split("impl PartialEq for Hashed").nth(1).and_then(|rest| rest.split("\n}\n").next());
    assert!(equal.is_some_and(|body| body.contains("verify_slices_are_equal(&self.0, &other.0)")), "{equal:?}");
    let compared = text.matches("==").count() + text.matches("!=").count() + text.matches(".eq(").count();
    assert!(
        compared == 1 && text.contains("*self == Hashed::of(token)"),
        "there is one comparison, of the type: {text}"
    );
    let tags = fs::read_to_string(root_file("crates/keys/src/derived.rs")).expect("the source");
    let verify =
        tags.split("pub fn verify(").nth(1).and_then(|rest| rest.split("\n    }\n").next()).expect("a function");
    assert!(verify.contains("constant_time::verify_slices_are_equal(") && !verify.contains("=="), "{verify}");
}

/// Each key, how it is changed, and the test that changes it.
#[test]
fn every_key_of_the_hardening_guide_has_a_test_that_changes_it() {
    let page = fs::read_to_string(root_file("docs/hardening.md")).expect("the guide");
    let part = page.split("\n## ").find(|part| part.starts_with("Changing keys")).expect("the part on keys");
    let rows = part.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| key |"));
    let rows: Vec<(&str, Vec<&str>)> = rows.map(|row| (row, named(row))).collect();
    assert!(rows.len() > 10, "{rows:#?}");
    let tests = tests();
    let bare = rows.iter().filter(|(_, named)| named.is_empty() || named.iter().any(|name| !tests.contains(*name)));
    let bare: Vec<&str> = bare.map(|(row, _)| *row).collect();
    assert!(bare.is_empty(), "no such tests: {bare:#?}");
}

/// A row without a test is a claim.
#[test]
fn every_attempt_and_every_objective_has_a_test() {
    let page = fs::read_to_string(root_file("SECURITY.md")).expect("SECURITY.md");
    let tables =
        page.split("\n## ").filter(|part| part.starts_with("Threats and defences") || part.starts_with("Profile"));
    let rows: Vec<&str> = tables.flat_map(|part| part.lines().filter(|line| line.starts_with("| "))).collect();
    let rows = rows.iter().filter(|row| !row.starts_with("| threat ") && !row.starts_with("| objective "));
    let bare: Vec<&&str> = rows.filter(|row| named(row).is_empty()).collect();
    assert!(bare.is_empty(), "{bare:#?}");
}

#[test]
fn names_of_tests_are_told_from_other_words() {
    assert_eq!(named("`a_b_c_d`, `access.policy`, `tls_x`, `A_b_c_d_e` and a_b_c_d_e"), ["a_b_c_d"]);
}

/// Where systemd's own checker is at hand; the unit itself is started by nobody here.
#[test]
fn the_unit_is_one_that_systemd_takes() {
    let unit = fs::read_to_string(root_file("deploy/interlingua.service")).expect("the unit");
    for wall in ["NoNewPrivileges=yes", "CapabilityBoundingSet=\n", "ProtectSystem=strict", "DynamicUser=yes"] {
        assert!(unit.contains(wall), "{wall}");
    }
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("interlingua.service");
    // The checker looks for the program, which is not installed here.
    fs::write(&file, unit.replace("/usr/local/bin/interlingua", "/bin/true")).expect("written");
    let Ok(output) = Command::new("systemd-analyze").arg("verify").arg(&file).output() else {
        return skipped("there is no `systemd-analyze`: the unit's words were looked at, its grammar not");
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let own: Vec<&str> = said.lines().filter(|line| line.contains("interlingua.service")).collect();
    assert!(own.is_empty(), "{own:#?}");
}

#[test]
fn the_image_is_built_with_the_compiler_of_the_repository_and_runs_as_nobody() {
    let image = fs::read_to_string(root_file("deploy/Containerfile")).expect("the file");
    let chosen = fs::read_to_string(root_file("rust-toolchain.toml")).expect("the choice of a compiler");
    let version = chosen.lines().find_map(|line| line.strip_prefix("channel = \"")?.split('"').next());
    let version = version.expect("a version");
    let short = version.rsplitn(2, '.').last().filter(|_| version.matches('.').count() == 2).unwrap_or(version);
    assert!(image.contains(&format!("rust:{short}-")), "the image is not built with {version}");
    assert!(image.contains("\nUSER nonroot\n") && image.contains("--locked"), "{image}");
}
