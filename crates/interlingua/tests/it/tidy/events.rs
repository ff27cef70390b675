//! Log events: every warning and every error has a name, and `docs/operations.md` lists each name with its levels and fields.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{Tracked, root_file, tracked};

/// The head of each table of events.
const HEAD: &str = "| event | level | fields | what it means | what to do |";

#[derive(Debug, Default, PartialEq)]
struct Logged {
    levels: BTreeSet<String>,
    fields: BTreeSet<String>,
}

type Events = BTreeMap<String, Logged>;

/// Code of the program: what tests and their kit log is not for operators.
fn sources() -> Vec<Tracked> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    let is_program = |path: &str| path.starts_with("crates/") && path.contains("/src/") && !is_test(path);
    let ours = |file: &Tracked| is_program(&file.path) && !file.path.starts_with("crates/testkit/");
    tracked(".rs").into_iter().filter(ours).collect()
}

/// The arguments of a macro: what stands between its parentheses, split at commas that are not within something else.
fn arguments(text: &str) -> Vec<String> {
    let (mut found, mut one) = (Vec::new(), String::new());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for letter in text.chars() {
        match letter {
            _ if quoted => {
                quoted = letter != '"' || escaped;
                escaped = letter == '\\' && !escaped;
            }
            '"' => quoted = true,
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(std::mem::take(&mut one));
                continue;
            }
            _ => {}
        }
        one.push(letter);
    }
    found.push(one);
    found.iter().map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

/// `two_words`, as alerts name them.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}

/// Adds the events that a source writes; each warning or error without a name is a problem.
fn read(path: &str, text: &str, events: &mut Events) -> Vec<String> {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut nameless = Vec::new();
    for level in ["error", "warn", "info", "debug", "trace"] {
        let call = format!("{level}!(");
        for (at, _) in text.match_indices(&call) {
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            if line.trim_start().starts_with("//") || line.ends_with(|letter: char| letter.is_alphanumeric()) {
                continue;
            }
            let said = arguments(&text[at + call.len()..]);
            let named = said.iter().find_map(|one| one.strip_prefix("event = \"")?.strip_suffix('"'));
            match named.filter(|name| is_name(name)) {
                Some(name) => {
                    let logged = events.entry(name.to_owned()).or_default();
                    logged.levels.insert(level.to_owned());
                    let fields = said.iter().filter(|one| !one.starts_with('"'));
                    let fields =
                        fields.filter_map(|one| one.split('=').next()).map(|one| one.trim_matches(['%', '?', ' ']));
                    logged.fields.extend(fields.filter(|field| *field != "event").map(str::to_owned));
                }
                None if matches!(level, "error" | "warn") => {
                    nameless.push(format!("{path}: {level} without `event = \"a_name\"`: {}", said.join(", ")));
                }
                None => {}
            }
        }
    }
    nameless
}

/// The events that a page lists, in all its tables.
fn listed(page: &str) -> Events {
    let rows = page.split(HEAD).skip(1).filter_map(|table| table.split("\n\n").next()).flat_map(str::lines);
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>());
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    cells
        .filter(|cells| cells.len() == 5 && cells[0].starts_with('`'))
        .map(|cells| {
            let levels = cells[1].split(", ").map(str::to_owned).collect();
            (cells[0].trim_matches('`').to_owned(), Logged { levels, fields: words(cells[2]) })
        })
        .collect()
}

/// The events that a page lists, by name, and each of their fields: what alerts and searches name.
pub(crate) fn with_fields(page: &str) -> BTreeSet<String> {
    let lines = |(name, logged): (String, Logged)| {
        let fields: Vec<String> = logged.fields.iter().map(|field| format!("{name} {field}")).collect();
        std::iter::once(name).chain(fields)
    };
    listed(page).into_iter().flat_map(lines).collect()
}

/// What is written and not listed, listed and not written, or listed otherwise than it is written.
fn differences(written: &Events, listed: &Events) -> Vec<String> {
    let mut found = Vec::new();
    for (name, logged) in written {
        match listed.get(name) {
            None => found.push(format!("`{name}` is not listed in docs/operations.md: {logged:?}")),
            Some(page) if page != logged => found.push(format!("`{name}` is {logged:?}, the page says {page:?}")),
            Some(_) => {}
        }
    }
    let gone = listed.keys().filter(|name| !written.contains_key(*name));
    found.extend(gone.map(|name| format!("docs/operations.md lists `{name}`, which nothing writes")));
    found
}

#[test]
fn every_warning_and_error_is_an_event_that_the_page_for_operators_lists() {
    let (mut events, mut problems) = (Events::new(), Vec::new());
    for file in sources() {
        problems.extend(read(&file.path, &file.text, &mut events));
    }
    let page = fs::read_to_string(root_file("docs/operations.md")).expect("docs/operations.md");
    problems.extend(differences(&events, &listed(&page)));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(events.len() > 100, "{} events", events.len());
}

#[test]
fn a_planted_line_without_a_name_or_without_a_row_is_found() {
    let mut events = Events::new();
    let planted =
        "tracing::warn!(%peer, error = %fault, \"no answer, (again)\");\n// tracing::error!(\"a comment\");\n";
    assert_eq!(read("x.rs", planted, &mut events).len(), 1);
    assert_eq!(read("x.rs", "tracing::error!(event = \"peer.lost\", %why);", &mut events).len(), 1, "no snake_case");
    let good = "tracing::warn!(event = \"peer_lost\", %peer, why = ?told(a, b), \"the peer, it is lost\");";
    assert!(read("x.rs", good, &mut events).is_empty());
    let row = |name: &str, fields: &str| {
        format!("{HEAD}\n|---|---|---|---|---|\n| `{name}` | warn | {fields} | a | b |\n\nx")
    };
    assert!(differences(&events, &listed(&row("peer_lost", "`peer`, `why`"))).is_empty());
    assert_eq!(differences(&events, &listed(&row("peer_lost", "`peer`"))).len(), 1, "a field is missing");
    assert_eq!(differences(&events, &listed(&row("peer_found", "-"))).len(), 2, "one is unlisted, one is unwritten");
}
