//! `interlingua chat`: a conversation from the command line.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use super::hub;

/// Runs the program with these lines on its standard input.
fn chat((address, token): (&str, &str), input: &str, more: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_interlingua"))
        .args(["chat", "ann", "--hub", address])
        .args(more)
        .env("INTERLINGUA_TOKEN", token)
        .env_remove("INTERLINGUA_HUB")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

const LINES: &str = r#"
replies:
  - { when: my name is Bea, say: Hello Bea. }
  - { when: count, call: [{ name: local__steps }] }
  - { when: counted, say: It counted to two. }
"#;

#[tokio::test]
async fn a_conversation_streams_to_standard_output_and_what_it_does_beside_it() {
    let hub = hub(LINES, "").await;
    let (address, token) = (hub.url(""), hub.token().expect("a token"));
    let output =
        tokio::task::spawn_blocking(move || chat((&address, &token), "my name is Bea\n/help\ncount, please\n", &[]));
    let output = output.await.expect("ran");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(out.lines().collect::<Vec<_>>(), ["Hello Bea.", "It counted to two."], "{err}");
    assert!(err.contains("calls local/steps") && err.contains("/new"), "{err}");
}

#[tokio::test]
async fn an_answer_that_fails_is_the_end_of_a_script_with_its_exit_code() {
    let hub = hub("replies: []", "").await;
    let (address, token) = (hub.url(""), hub.token().expect("a token"));
    let output =
        tokio::task::spawn_blocking(move || chat((&address, &token), "hello\nhello\n", &[])).await.expect("ran");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}
