//! A test run cannot be green by luck: a test that ends early says so, and one that passed only at its second try is found in the runner's
//! output.

use std::io::Write;
use std::process::{Command, Stdio};

use super::rust::tests;
use super::{root_file, tracked};

/// `return` without a value, and the value with which a property passes.
fn ends_early(body: &str) -> bool {
    body.match_indices("return").any(|(at, word)| {
        let alone = !body[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = body[at + word.len()..].trim_start();
        alone && (rest.starts_with([';', ',', '}']) || rest.starts_with("Ok(())"))
    })
}

#[test]
fn a_test_ends_early_only_by_saying_that_it_was_skipped() {
    let found = |file: &super::Tracked| -> Vec<String> {
        let early = tests(&file.text).into_iter().filter(|test| ends_early(&test.body));
        early.map(|test| format!("{}:{}: {}", file.path, test.line, test.name)).collect()
    };
    let early: Vec<String> = tracked(".rs").iter().flat_map(found).collect();
    assert!(early.is_empty(), "`return interlingua_testkit::skipped(…)`, or no return at all:\n{}", early.join("\n"));
}

#[test]
fn a_return_of_nothing_is_told_from_others() {
    assert!(ends_early("if x { return; }") && ends_early("else { return }") && ends_early("None => return,"));
    assert!(ends_early("return Ok(());"));
    assert!(!ends_early("return skipped(x);") && !ends_early("let returned = 1;") && !ends_early("return Ok(1);"));
}

/// What `scripts/flaky` makes of a report.
fn flaky(report: &str) -> String {
    let mut script = Command::new(root_file("scripts/flaky"));
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the script is there");
    child.stdin.take().expect("a pipe").write_all(report.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The report is as the runner writes it (`[profile.default.junit]` in `.config/nextest.toml`).
#[test]
fn a_test_that_passed_at_its_second_try_is_named() {
    let report = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0">
    <testsuite name="interlingua::it" tests="3" disabled="0" errors="0" failures="1">
        <testcase name="a::passes" classname="interlingua::it" time="0.010">
        </testcase>
        <testcase name="b::luck" classname="interlingua::it" time="0.010">
            <flakyFailure timestamp="2026-01-01T00:00:00.000+00:00" time="0.008" message="m" type="test failure">x</flakyFailure>
            <flakyFailure timestamp="2026-01-01T00:00:00.000+00:00" time="0.008" message="m" type="test failure">x</flakyFailure>
        </testcase>
        <testcase name="c::fails" classname="interlingua::it" time="0.010">
            <failure type="test failure"></failure>
            <rerunFailure timestamp="2026-01-01T00:00:00.000+00:00" time="0.009" type="test failure"></rerunFailure>
        </testcase>
    </testsuite>
</testsuites>
"#;
    assert_eq!(flaky(report), "interlingua::it b::luck\n");
    assert_eq!(flaky(&report.replace("flakyFailure", "x")), "");
}
