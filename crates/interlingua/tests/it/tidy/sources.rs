//! Rules of source files.

use super::tracked;

/// Lines of code a file may have, comments and blank lines aside.
const LIMIT: usize = 500;

/// Files that may be longer, each with its reason.
const LONGER: &[(&str, &str)] = &[];

/// Words of unfinished work. They are put together here so that this file does not contain them.
fn unfinished() -> [String; 5] {
    [
        "todo".to_owned() + "!(",
        "unimplemented".to_owned() + "!(",
        "FIX".to_owned() + "ME",
        "TO".to_owned() + "DO",
        "for ".to_owned() + "now",
    ]
}

#[test]
fn source_files_stay_small_enough_to_hold_one_idea() {
    let long: Vec<String> = tracked(".rs")
        .iter()
        .filter(|file| !is_test(&file.path) && !LONGER.iter().any(|(path, _)| *path == file.path))
        .map(|file| (lines_of_code(&file.text), &file.path))
        .filter(|(lines, _)| *lines > LIMIT)
        .map(|(lines, path)| format!("{path}: {lines} lines of code, {LIMIT} allowed"))
        .collect();
    assert!(long.is_empty(), "split by idea:\n{}", long.join("\n"));
}

#[test]
fn every_exception_to_the_size_still_needs_it() {
    let files = tracked(".rs");
    for (path, reason) in LONGER {
        let file = files.iter().find(|file| file.path == *path);
        let lines = file.map(|file| lines_of_code(&file.text));
        assert!(lines.is_some_and(|lines| lines > LIMIT), "{path} is excepted ({reason}) and no longer needs it");
    }
}

/// Fields that are called like a secret in a file that wipes none, each with its reason.
const NOT_SECRET: &[(&str, &str)] = &[
    ("crates/wire/src/oauth/metadata.rs", "an address"),
    ("crates/protocols/nlweb/src/client/mod.rs", "what a promised answer is asked for by"),
    ("crates/protocols/api/src/view/call.rs", "as it is on the wire; whoever decodes it wipes it"),
];

/// A field that holds a credential as plain text.
fn holds_a_secret(line: &str) -> bool {
    const NAMES: [&str; 8] = ["token", "password", "api_key", "secret", "credentials", "refresh", "access", "pem"];
    const PLAIN: [&str; 4] = ["String,", "Option<String>,", "Text,", "Option<Text>,"];
    let line = line.trim_start();
    let field = line.strip_prefix("pub").map_or(line, |rest| rest.split_once(' ').map_or(rest, |(_, field)| field));
    let Some((name, kind)) = field.rsplit(") ").next().and_then(|field| field.split_once(": ")) else { return false };
    let word = name.rsplit('_').next().unwrap_or(name);
    (NAMES.contains(&name) || NAMES.contains(&word)) && PLAIN.contains(&kind.trim_end())
}

#[test]
fn whoever_holds_a_secret_as_text_wipes_it() {
    assert!(holds_a_secret("    pub(super) refresh: Option<String>,") && holds_a_secret("    token: String,"));
    assert!(!holds_a_secret("    token: Secret,") && !holds_a_secret("    tokens: Vec<String>,"));
    let files = tracked(".rs");
    let held = files.iter().filter(|file| file.path.contains("/src/") && !is_test(&file.path));
    let plain = held.filter(|file| file.text.lines().any(holds_a_secret) && !file.text.contains("zeroize"));
    let plain: Vec<&str> = plain.map(|file| file.path.as_str()).collect();
    let known: Vec<&str> = NOT_SECRET.iter().map(|(path, _)| *path).collect();
    let unknown: Vec<&&str> = plain.iter().filter(|path| !known.contains(path)).collect();
    assert!(unknown.is_empty(), "a secret is an `interlingua_model::Secret`, or is wiped: {unknown:#?}");
    assert!(known.iter().all(|path| plain.contains(path)), "no longer needed: {plain:#?}");
}

#[test]
fn no_source_is_unfinished() {
    let words = unfinished();
    let found =
        lines_with(&[".rs", ".py", ".sh", "Makefile", ".toml"], |line| words.iter().any(|word| line.contains(word)));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_module_says_what_it_is() {
    let silent: Vec<String> = tracked(".rs")
        .into_iter()
        .filter(|file| {
            file.path.contains("/src/") && !is_test(&file.path) && !file.text.trim_start().starts_with("//!")
        })
        .map(|file| file.path)
        .collect();
    assert!(silent.is_empty(), "no `//!` at the top of:\n{}", silent.join("\n"));
}

#[test]
fn no_test_is_switched_off() {
    let ignored = "#[".to_owned() + "ignore";
    let found = lines_with(&[".rs"], |line| line.trim_start().starts_with(&ignored));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let homes = ["work", "root", "home", "Users", "farm"].map(|home| format!("/{home}/"));
    let begins = |line: &str, at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}/".contains(c));
    let found = lines_with(&[".rs", ".md", ".py", ".yaml", ".yml", ".toml", ".json", "Makefile", ".sh"], |line| {
        homes.iter().any(|home| line.match_indices(home.as_str()).any(|(at, _)| begins(line, at)))
    });
    let found: Vec<&String> =
        found.iter().filter(|line| !line.starts_with("crates/interlingua/tests/it/tidy/")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Every caller is told the same of the hub's stop, and may try again: no other place makes this fault with a kind of its own.
#[test]
fn one_place_says_that_the_hub_is_shutting_down() {
    let makes = |line: &str| line.contains("Fault::") && line.contains("hub is shutting down");
    let made = lines_with(&[".rs"], makes);
    let own = |line: &&String| line.contains("crates/model/src/fault.rs") || line.contains("tidy/sources.rs");
    let elsewhere: Vec<&String> = made.iter().filter(|line| !own(line)).collect();
    assert!(elsewhere.is_empty(), "`Fault::shutting_down()` says it: {elsewhere:#?}");
}

#[test]
fn functions_are_named_for_what_they_do() {
    let vague = ["handle_", "process_", "do_"].map(|prefix| format!("fn {prefix}"));
    let found = lines_with(&[".rs"], |line| vague.iter().any(|prefix| line.contains(prefix)));
    let found: Vec<&String> =
        found.iter().filter(|line| !line.starts_with("crates/interlingua/tests/it/tidy/")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// `path:line: text` of every tracked line that matches, in files whose name ends in one of `endings`.
fn lines_with(endings: &[&str], matches: impl Fn(&str) -> bool) -> Vec<String> {
    let files = endings.iter().flat_map(|ending| tracked(ending));
    files
        .flat_map(|file| {
            let found = file.text.lines().enumerate().filter(|(_, line)| matches(line));
            found.map(|(at, line)| format!("{}:{}: {}", file.path, at + 1, line.trim())).collect::<Vec<_>>()
        })
        .collect()
}

/// Tests are read as lists and may be long; so may generated code.
fn is_test(path: &str) -> bool {
    let folders = ["/tests/", "/benches/", "/examples/", "fuzz/", "bench/"];
    folders.iter().any(|folder| path.contains(folder)) || path.ends_with("/tests.rs")
}

/// Lines that are neither blank nor comment, up to a test module at the end of the file.
fn lines_of_code(text: &str) -> usize {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn comments_blank_lines_and_the_test_module_are_no_code() {
    assert_eq!(lines_of_code("//! x\n\nfn a() {\n    // why\n}\n#[cfg(test)]\nmod tests {\nfn b() {}\n}\n"), 2);
}
