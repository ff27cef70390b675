//! A panic with a secret in reach: the program logs where it was, and none of its data.
//!
//! The program cannot be made to panic. So this test starts itself again as a child that does what the program's `main` does first, and
//! panics in the usual ways.

use std::io::Write;
use std::panic::catch_unwind;
use std::process::Command;

const CANARY: &str = "canary-é-panic-5c1f";
/// Says to the child what it is to do.
const AS_CHILD: &str = "INTERLINGUA_TEST_PANICS";

/// What stands in the source may be told.
const FIXED: &str = "a text that stands in the source";

/// Panics in the ways in which programs do.
fn as_a_child(wanted: &str) {
    if wanted.contains("withheld") {
        interlingua_telemetry::panics::withhold();
    }
    if wanted.contains("logged") {
        interlingua::telemetry::Telemetry::start(&Default::default(), "hub").expect("a log");
    }
    // Put together while it runs, as a secret would be.
    let secret = CANARY.chars().collect::<String>();
    let ways: [fn(&str); 4] = [
        |secret| panic!("cannot do anything with {secret}"),
        |secret| drop(read(secret).expect("a number").to_string()),
        // In the middle of a letter: the text of this panic quotes the string.
        |secret| drop(secret[..8].to_owned()),
        |_| std::panic::panic_any(FIXED),
    ];
    for way in ways {
        assert!(catch_unwind(|| way(&secret)).is_err(), "it panics");
    }
    let thread = std::thread::spawn(move || panic!("in a thread of its own: {secret}"));
    assert!(thread.join().is_err());
    writeln!(std::io::stderr(), "the child is done").expect("written");
}

fn read(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

/// What the child says, all of it.
fn child(wanted: &str) -> String {
    let program = std::env::current_exe().expect("this test");
    let name = "panics::a_panic_tells_where_it_was_and_nothing_of_what_was_at_hand";
    let output = Command::new(program)
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(AS_CHILD, wanted)
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("the child runs");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("the child is done"), "{said}");
    said
}

#[test]
fn a_panic_tells_where_it_was_and_nothing_of_what_was_at_hand() {
    if let Ok(wanted) = std::env::var(AS_CHILD) {
        return as_a_child(&wanted);
    }
    assert!(child("bare").contains(CANARY), "without it a panic tells everything, so this test can fail");
    for wanted in ["withheld", "withheld and logged"] {
        let said = child(wanted);
        assert!(!said.contains("canary") && !said.contains("5c1f"), "{wanted}: {said}");
        assert_eq!(said.matches("panicked").count(), 5, "{wanted}: each of them is told: {said}");
        assert!(said.contains("tests/it/panics.rs:"), "{wanted}: and its place: {said}");
        assert_eq!(said.matches(FIXED).count(), 1, "{wanted}: {said}");
    }
}
