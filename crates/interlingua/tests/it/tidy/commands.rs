//! Commands in documents exist, and the requests of the README are answered.

use std::fs;

use clap::CommandFactory;
use http::HeaderName;
use interlingua::cli::arguments::Arguments;
use interlingua_testkit::{Hub, post};

use super::{root_file, tracked};

/// Documents, and the scripts that show commands.
fn texts() -> Vec<super::Tracked> {
    let folders = ["docs/", "examples/", "conformance/"];
    let ours = |path: &str| !path.contains('/') || folders.iter().any(|folder| path.starts_with(folder));
    tracked(".md").into_iter().filter(|file| ours(&file.path)).chain(tracked("scripts/tour")).collect()
}

#[test]
fn every_command_named_exists() {
    let known = Arguments::command();
    let mut unknown = Vec::new();
    for text in texts() {
        for (name, rest) in commands(&text.text) {
            let Some(mut command) = known.find_subcommand(name) else {
                unknown.push(format!("{}: interlingua {name}", text.path));
                continue;
            };
            for word in rest.split_whitespace() {
                command = command.find_subcommand(word).unwrap_or(command);
            }
            for option in rest.split_whitespace().filter(|word| word.starts_with("--")) {
                let option = option.trim_start_matches('-').split('=').next().unwrap_or_default();
                // Every command has this one, of itself.
                let known = option == "help" || command.get_arguments().any(|it| it.get_long() == Some(option));
                if !known {
                    unknown.push(format!("{}: interlingua {name} --{option}", text.path));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn every_make_target_named_exists() {
    let makefile = fs::read_to_string(root_file("Makefile")).expect("a Makefile");
    for text in texts() {
        for target in text.text.split("`make ").skip(1).filter_map(|rest| rest.split('`').next()) {
            assert!(makefile.contains(&format!("\n{target}:")), "{}: make {target}", text.path);
        }
    }
}

/// Several packages of the workspace have programs: without a word, `cargo run` takes none of them.
#[test]
fn cargo_runs_the_program_that_the_readme_means() {
    let readme = fs::read_to_string(root_file("README.md")).expect("README.md");
    assert!(readme.contains("\ncargo run --release -- serve\n"), "the README starts a hub in another way");
    let chosen = tracked("Cargo.toml").into_iter().filter(|file| file.text.contains("\ndefault-run = "));
    let chosen: Vec<String> = chosen.map(|file| file.path).collect();
    assert_eq!(chosen, ["crates/interlingua/Cargo.toml"], "two of them are as good as none");
}

#[test]
fn the_help_tells_every_command_and_every_exit_code() {
    let help = Arguments::command().render_long_help().to_string();
    for command in Arguments::command().get_subcommands() {
        assert!(help.contains(command.get_name()), "{}: {help}", command.get_name());
        assert!(command.get_about().is_some(), "{} says nothing of itself", command.get_name());
    }
    for code in ["0 done", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "7 ", "130 "] {
        assert!(help.contains(code), "exit code {code}: {help}");
    }
}

#[tokio::test]
async fn what_the_readme_sends_is_answered() {
    let readme = fs::read_to_string(root_file("README.md")).expect("README.md");
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config("tools: { workspace: ./workspace }\n");
    let hub = builder.file("workspace/shopping.txt", "Two lemons\n").start().await;
    let examples = posts(&readme);
    assert_eq!(examples.len(), 5, "{examples:?}");
    for Post { path, headers, body } in examples {
        let mut sent = post(path, "application/json", body.to_owned());
        for (name, value) in headers {
            sent.headers_mut().insert(HeaderName::try_from(name).expect("a name"), value.parse().expect("a value"));
        }
        let answer = hub.connect().await.send(sent).await;
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text());
        let text = answer.text();
        for sign in [r#""messagetype":"error""#, r#""status":"error""#, r#""error":{"#, r#""isError":true"#] {
            assert!(!text.contains(sign), "{body}: {text}");
        }
        assert!(!body.contains("list_directory") || text.contains("shopping.txt"), "{body}: {text}");
    }
}

/// `interlingua NAME …` in a text, with the rest of the line. A name is a word of lower-case letters.
fn commands(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("interlingua ").filter_map(|(at, word)| {
        let before = text[..at].chars().next_back();
        let begins = before.is_none_or(|before| "`$ \n".contains(before)) && !is_prose(&text[..at]);
        let line = text[at + word.len()..].lines().next().unwrap_or_default();
        let line = line.split(['`', '#']).next().unwrap_or_default();
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let named = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        (begins && named).then_some((name, rest))
    })
}

/// A command starts a line or stands in backticks; within a sentence the word is the program's name.
fn is_prose(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    !line.trim().is_empty() && !line.ends_with('`') && !line.ends_with("$ ")
}

#[derive(Debug, PartialEq)]
struct Post<'a> {
    path: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a str,
}

/// Every `curl … -H '…' -d '…'`.
fn posts(text: &str) -> Vec<Post<'_>> {
    let mut found = Vec::new();
    for example in text.split("curl ").skip(1) {
        let Some((head, rest)) = example.split_once("-d '") else { continue };
        let Some((body, _)) = rest.split_once("'\n") else { continue };
        let path = head.split("http://127.0.0.1:7447").nth(1).and_then(|rest| rest.split_whitespace().next());
        let headers = head.split("-H '").skip(1).filter_map(|header| header.split_once('\'')?.0.split_once(": "));
        found.extend(path.map(|path| Post { path, headers: headers.collect(), body }));
    }
    found
}

#[test]
fn commands_are_told_from_prose() {
    let text = "Run `interlingua call a --json` or:\n\n    interlingua tasks # all\nThe hub interlingua runs.\n";
    assert_eq!(commands(text).collect::<Vec<_>>(), [("call", "a --json"), ("tasks", "")]);
    let post = Post { path: "/nlip", headers: vec![("X", "y")], body: "{\"a\": 1}" };
    assert_eq!(posts("curl -s http://127.0.0.1:7447/nlip -H 'X: y' -d '{\"a\": 1}'\n"), [post]);
}
