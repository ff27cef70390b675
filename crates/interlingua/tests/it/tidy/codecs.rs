//! Every protocol crate has the same roles, under the same names, and its codec is pure: decoders and encoders do no I/O and read no clock.

use std::collections::BTreeSet;

use super::{Tracked, tracked};

/// The roles of a codec, then those that do I/O. A newcomer finds them by these names in every protocol.
const ROLES: [&str; 9] = ["wire", "decode", "encode", "fault", "discover", "client", "inbound", "outbound", "settings"];

/// A role that a protocol has no file for, and why.
type Lacking = (&'static str, &'static str);

/// Which protocols there are, the roles each lacks, and its modules beside the roles that do I/O or hold state.
const PROTOCOLS: [(&str, &[Lacking], &[&str]); 6] = [
    ("nlip", &[], &["protocol", "refusal", "switch", "uploads"]),
    (
        "envelope",
        &[
            ("discover", "it is a form of messages: nothing is found by it"),
            ("client", "the hub answers such messages and sends none"),
            ("outbound", "the hub answers such messages and sends none"),
        ],
        &["inside", "inspect", "memory", "notes", "protocol", "refusal", "self_proving_token", "sessions", "spellings"],
    ),
    ("mcp", &[], &["protocol", "refusal"]),
    ("a2a", &[], &["called_agents", "protocol", "push", "refusal", "server_state", "signing"]),
    (
        "aip",
        &[],
        &["device", "extensions", "protocol", "queue", "registrar", "results", "server_runtime", "visibility"],
    ),
    ("nlweb", &[], &["protocol", "refusal"]),
];

/// What a codec has no use for: a runtime, sockets, files, a clock, the hub itself.
const IMPURE: [&str; 13] = [
    "tokio::",
    "axum::",
    "hyper::",
    "tracing::",
    "interlingua_access::",
    "interlingua_endpoint::",
    "interlingua_hub::",
    "interlingua_net::",
    "std::fs",
    "std::net::Tcp",
    "std::process",
    "SystemTime::now",
    "Instant::now",
];

/// The top-level module of a source of this protocol.
fn module<'a>(protocol: &str, path: &'a str) -> Option<&'a str> {
    let inside = path.strip_prefix("crates/protocols/")?.strip_prefix(protocol)?.strip_prefix("/src/")?;
    Some(inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs"))
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs") || path.ends_with("/arbitrary.rs")
}

/// Lines of code that do what a codec must not, up to the test module at the end of the file.
fn impure(text: &str) -> Vec<String> {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| IMPURE.iter().any(|word| line.contains(word))).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_protocol_has_the_same_roles_under_the_same_names() {
    let files = tracked(".rs");
    for (protocol, lacks, _) in PROTOCOLS {
        let modules: BTreeSet<&str> = files.iter().filter_map(|file| module(protocol, &file.path)).collect();
        assert!(modules.len() > 5, "{protocol} has sources");
        for role in ROLES {
            let why = lacks.iter().find(|(lacking, _)| *lacking == role).map(|(_, why)| *why);
            assert_eq!(modules.contains(role), why.is_none(), "{protocol}: the role {role} ({why:?})");
        }
    }
}

#[test]
fn a_codec_does_no_io_and_reads_no_clock() {
    let files = tracked(".rs");
    let mut found = Vec::new();
    for (protocol, _, acting) in PROTOCOLS {
        let acts = |module: &str| {
            ["inbound", "outbound", "settings", "lib", "fuzzing"].contains(&module) || acting.contains(&module)
        };
        let codec =
            |file: &&Tracked| module(protocol, &file.path).is_some_and(|module| !acts(module)) && !is_test(&file.path);
        for file in files.iter().filter(codec) {
            found.extend(impure(&file.text).into_iter().map(|line| format!("{}: {line}", file.path)));
        }
        let modules: BTreeSet<&str> = files.iter().filter_map(|file| module(protocol, &file.path)).collect();
        let gone: Vec<&&str> = acting.iter().filter(|module| !modules.contains(**module)).collect();
        assert!(gone.is_empty(), "{protocol} no longer has {gone:?}");
    }
    assert!(found.is_empty(), "a codec acts:\n{}", found.join("\n"));
    assert_eq!(impure("use tokio::sync::mpsc;\n// tokio::spawn\nfn a() {}\n"), ["use tokio::sync::mpsc;"]);
}
