//! A protocol is its own crate and one line of the table in `crates/interlingua/src/protocols.rs`. No other source names it.

use std::collections::BTreeSet;

use super::rust::without_comments;
use super::{Tracked, tracked};

/// The crates of protocols, as others would name them.
const CRATES: [&str; 7] = [
    "interlingua_nlip",
    "interlingua_envelope",
    "interlingua_mcp",
    "interlingua_a2a",
    "interlingua_aip",
    "interlingua_nlweb",
    "interlingua_api",
];
/// Where protocols are put together, and the command line, which is a client of some.
const PROGRAM: [&str; 2] = ["crates/interlingua/src/protocols.rs", "crates/interlingua/src/cli/"];
/// Names of protocols that no part of the hub knows.
const WORDS: [&str; 5] = ["nlip", "mcp", "a2a", "aip", "nlweb"];
/// Who knows none of them.
const NEUTRAL: [&str; 20] = [
    "model",
    "machines",
    "wire",
    "settings",
    "keys",
    "store-contract",
    "store-sqlite",
    "store-postgres",
    "policy",
    "process",
    "telemetry",
    "hub",
    "net",
    "access",
    "endpoint",
    "tools",
    "hooks",
    "sites",
    "agents",
    "interlingua",
];

/// Lines that name a protocol all the same: the file, a part of the line, and why.
const EXCEPTIONS: [(&str, &str, &str); 14] = [
    (
        "crates/hub/src/names.rs",
        "RESERVED",
        "`mcp__peer__tool` is how tools are called: a peer of that name would be mistaken",
    ),
    (
        "crates/hub/src/task_tokens.rs",
        "PURPOSE",
        "what keys are derived for: another text would break promises handed out",
    ),
    (
        "crates/endpoint/src/content.rs",
        "PURPOSE",
        "what keys are derived for: another text would break links handed out",
    ),
    (
        "crates/access/src/settings/issuers.rs",
        "{url}/mcp",
        "the resource that clients ask tokens for where none is configured",
    ),
    ("crates/access/src/settings/mod.rs", "an orchestrator of AIP", "tells an operator what to write"),
    ("crates/telemetry/src/meters.rs", "interlingua_session_bytes", "tells an operator whose sessions are counted"),
    ("crates/agents/src/configured.rs", "nlip_skipped", "the name of an event that operators may alert on"),
    ("crates/agents/src/engine.rs", "interlingua/nlip", "a key of requests"),
    ("crates/agents/src/settings/agents.rs", "rename", "a key of the configuration"),
    ("crates/agents/src/settings/teams.rs", "rename", "a key of the configuration"),
    ("crates/interlingua/src/config/overrides.rs", "\"www\"", "the first word of many hosts, whatever is there"),
    (
        "crates/interlingua/src/config/overrides.rs",
        "trim_start_matches",
        "how programs are named by those who publish them",
    ),
    (
        "crates/interlingua/src/config/overrides.rs",
        "trim_end_matches",
        "how programs are named by those who publish them",
    ),
    ("crates/interlingua/src/config/overrides.rs", "\"localhost\", \"mcp\"", "no good name for a peer"),
];

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs") || path.ends_with("fuzzing.rs")
}

/// What is compiled into the program: without comments, and without the tests at the end of a file.
fn program_code(text: &str) -> String {
    let code = without_comments(text);
    let tests = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
    code[..tests].to_owned()
}

fn sources() -> impl Iterator<Item = Tracked> {
    let sources = tracked(".rs").into_iter();
    sources.filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/") && !is_test(&file.path))
}

/// Runs of letters, digits and `_`.
fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// The parts of an identifier in snake or camel case, in small letters: `McpPeer` and `mcp_peer` are `mcp` and `peer`.
fn parts(identifier: &str) -> Vec<String> {
    let (mut parts, mut part, mut before) = (Vec::new(), String::new(), '_');
    for letter in identifier.chars() {
        if letter == '_' || (letter.is_uppercase() && before.is_lowercase()) {
            parts.push(std::mem::take(&mut part));
        }
        if letter != '_' {
            part.extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts.push(part);
    parts
}

fn names_a_protocol(line: &str) -> bool {
    identifiers(line).flat_map(parts).any(|part| WORDS.contains(&part.as_str()))
}

/// Crates of protocols that a file names and must not.
fn foreign_crates(path: &str, text: &str) -> Vec<String> {
    let own = |name: &str| {
        let folder = name.trim_start_matches("interlingua_");
        path.starts_with(&format!("crates/protocols/{folder}/"))
            || (name == "interlingua_nlip" && path.starts_with("crates/protocols/envelope/"))
    };
    if PROGRAM.iter().any(|place| path.starts_with(place)) || path.starts_with("crates/testkit/") {
        return Vec::new();
    }
    let code = program_code(text);
    let named: BTreeSet<&str> = identifiers(&code).filter(|name| CRATES.contains(name) && !own(name)).collect();
    named.into_iter().map(str::to_owned).collect()
}

#[test]
fn only_the_table_names_the_crate_of_a_protocol() {
    let files: Vec<Tracked> = sources().collect();
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| {
            foreign_crates(&file.path, &file.text).into_iter().map(|name| format!("{}: {name}", file.path))
        })
        .collect();
    assert!(found.is_empty(), "only crates/interlingua/src/protocols.rs names these:\n{}", found.join("\n"));

    let planted = "use interlingua_mcp::Mcp; // interlingua_a2a";
    assert_eq!(foreign_crates("crates/interlingua/src/server/run.rs", planted), ["interlingua_mcp"]);
    assert_eq!(foreign_crates("crates/protocols/a2a/src/lib.rs", planted), ["interlingua_mcp"]);
    assert!(foreign_crates("crates/protocols/mcp/src/inbound/mod.rs", planted).is_empty());
    assert!(foreign_crates("crates/interlingua/src/cli/mcp/mod.rs", planted).is_empty());
    assert!(foreign_crates("crates/protocols/envelope/src/ecma.rs", "use interlingua_nlip::json;").is_empty());
}

/// Lines of a file that name a protocol, and are not excepted.
fn naming<'a>(path: &str, code: &'a str, used: &mut BTreeSet<usize>) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate().filter(|(_, line)| names_a_protocol(line)) {
        let fits = |(file, part, _): &(&str, &str, &str)| *file == path && line.contains(part);
        match EXCEPTIONS.iter().position(fits) {
            Some(exception) => drop(used.insert(exception)),
            None => found.push((number + 1, line.trim())),
        }
    }
    found
}

#[test]
fn what_is_no_protocol_knows_none_by_name() {
    let mut used = BTreeSet::new();
    let is_neutral = |path: &str| {
        let of_crate = NEUTRAL.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")));
        of_crate && !PROGRAM.iter().any(|place| path.starts_with(place))
    };
    let mut found = Vec::new();
    for file in sources().filter(|file| is_neutral(&file.path)) {
        let code = program_code(&file.text);
        let lines = naming(&file.path, &code, &mut used);
        found.extend(lines.iter().map(|(number, line)| format!("{}:{number}: {line}", file.path)));
    }
    assert!(found.is_empty(), "these name a protocol:\n{}", found.join("\n"));
    let idle = EXCEPTIONS.iter().enumerate().filter(|(place, _)| !used.contains(place));
    let idle: Vec<String> = idle.map(|(_, (file, part, _))| format!("{file}: {part}")).collect();
    assert!(idle.is_empty(), "these exceptions are needed no more:\n{}", idle.join("\n"));
}

#[test]
fn a_name_is_found_as_a_word_and_as_a_part_of_one() {
    for line in ["let mcp = 1;", "McpPeer::new()", "mcp_sessions", "A2aPeer", "\"the NLIP door\"", "FOR_AIP", "/nlweb"]
    {
        assert!(names_a_protocol(line), "{line}");
    }
    for line in ["claip", "nlipper", "let amcp = mcpx;", "paip()"] {
        assert!(!names_a_protocol(line), "{line}");
    }
    let code = program_code(
        "let a = 1; // mcp\n/// nlip\nfn b() {}\n#[cfg(test)]\nmod tests {\n    const C: &str = \"mcp\";\n}\n",
    );
    assert!(!names_a_protocol(&code), "{code}");
    let planted = "fn open() {\n    let said = \"over MCP\";\n}\n";
    let code = program_code(planted);
    let lines = naming("crates/hub/src/door.rs", &code, &mut BTreeSet::new());
    assert_eq!(lines, [(2, "let said = \"over MCP\";")]);
}
