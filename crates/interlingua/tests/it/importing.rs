//! `interlingua import`: what it writes is a configuration, and nothing of the file is run or read.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

fn program(directory: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_interlingua"))
        .args(words)
        .current_dir(directory)
        .env("GITHUB_TOKEN", "from the environment")
        .env("NOTES_KEY", "another")
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Imports a file and has the result checked; the result and the report.
fn imported(command: &str, name: &str, content: &str) -> (String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join(name), content).expect("a file");
    let done = program(directory.path(), &[command, name]);
    let (written, report) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{written}\n{report}");
    std::fs::write(directory.path().join("hub.yaml"), &written).expect("a file");
    let checked = program(directory.path(), &["check", "hub.yaml"]);
    assert!(checked.status.success(), "{written}\n{}{}", text(&checked.stdout), text(&checked.stderr));
    (written, report)
}

#[test]
fn what_is_imported_passes_the_check_and_every_key_is_reported() {
    let massgen = include_str!("../../../../fixtures/massgen/nlip.yaml");
    let (written, report) = imported("import", "massgen.yaml", massgen);
    assert!(written.contains("verbs: structured"), "{written}");
    assert!(
        report.contains("nlip.tokens.persist_context_tokens: kept as nlip.tokens.persist_context_tokens"),
        "{report}"
    );
    assert!(!report.contains("no counterpart"), "{report}");
    let (again, _) = imported("migrate", "massgen.yaml", massgen);
    assert_eq!(again, written, "the earlier name");
}

#[test]
fn attack_an_import_runs_no_command_and_copies_no_secret() {
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("ran");
    let servers = json!({"mcpServers": {
        "evil": {"command": "touch", "args": [mark.display().to_string()], "env": {"GITHUB_TOKEN": "ghp_verysecret"}},
        "notes": {"url": "https://notes.example/mcp", "headers": {"Authorization": "Bearer ${env:NOTES_KEY}"}},
    }});
    let (written, report) = imported("import", "mcp.json", &servers.to_string());
    assert!(!mark.exists(), "nothing was run");
    assert!(written.contains("${GITHUB_TOKEN}") && written.contains("Bearer ${NOTES_KEY}"), "{written}");
    assert!(!written.contains("ghp_verysecret") && !report.contains("ghp_verysecret"), "{written}{report}");
    assert!(report.contains("set GITHUB_TOKEN in the hub's environment"), "{report}");
}

#[test]
fn attack_a_file_that_is_too_large_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("large.json"), vec![b' '; 2 * 1024 * 1024]).expect("a file");
    let done = program(directory.path(), &["import", "large.json"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done.stderr).contains("more than 1 MiB"), "{}", text(&done.stderr));
}
