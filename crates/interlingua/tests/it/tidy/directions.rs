//! Which module may name which: no protocol names another, and nothing that they share names one of them.

use super::{Tracked, tracked};

const SOURCES: &str = "crates/interlingua/src/";
const PROTOCOLS: [&str; 7] = ["a2a", "aip", "api", "envelope", "mcp", "nlip", "nlweb"];
/// The envelope is a protocol over NLIP.
const ALLOWED: [(&str, &str); 1] = [("envelope", "nlip")];
/// The files of `server/` that put a hub together. They may name everything; the rest of it is below all protocols.
const ASSEMBLY: [&str; 9] =
    ["keys.rs", "mod.rs", "peers.rs", "ports.rs", "purge.rs", "reload.rs", "retire.rs", "run.rs", "storage.rs"];

/// Lines of code that name something of the crate: what stands in a comment names nothing.
fn naming<'a>(file: &'a Tracked, wanted: &'a str) -> impl Iterator<Item = String> + 'a {
    let code = file.text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter(move |line| names(line, wanted)).map(|line| format!("{}: {}", file.path, line.trim()))
}

/// `crate::edge::mcp` is named alone, with more behind it, or in a list.
fn names(line: &str, wanted: &str) -> bool {
    let whole = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let alone = line.match_indices(wanted).any(|(at, _)| whole(&line[at + wanted.len()..]));
    let listed = wanted.rsplit_once("::").is_some_and(|(module, name)| {
        let inside = line.split_once(&format!("{module}::{{")).map(|(_, inside)| inside).unwrap_or_default();
        inside.split(['{', '}', ',', ';', ' ']).any(|item| item.split("::").next() == Some(name))
    });
    alone || listed
}

fn under(folder: &str) -> impl Iterator<Item = Tracked> {
    let folder = format!("{SOURCES}{folder}/");
    tracked(".rs").into_iter().filter(move |file| file.path.starts_with(&folder))
}

#[test]
fn no_protocol_names_another() {
    let mut found = Vec::new();
    for own in PROTOCOLS {
        let others = PROTOCOLS.into_iter().filter(|other| *other != own && !ALLOWED.contains(&(own, other)));
        let others: Vec<String> = others.map(|other| format!("crate::edge::{other}")).collect();
        for file in under(&format!("edge/{own}")) {
            found.extend(others.iter().flat_map(|other| naming(&file, other)));
        }
    }
    assert!(found.is_empty(), "a protocol names another:\n{}", found.join("\n"));
}

#[test]
fn what_protocols_share_names_none_of_them() {
    let mut found = Vec::new();
    for folder in ["endpoint", "client", "agents"] {
        for file in under(folder) {
            let wanted = PROTOCOLS.map(|protocol| format!("crate::edge::{protocol}"));
            found.extend(wanted.iter().flat_map(|protocol| naming(&file, protocol)));
        }
    }
    assert!(found.is_empty(), "a shared module names a protocol:\n{}", found.join("\n"));
}

#[test]
fn only_what_assembles_the_hub_knows_what_it_is_made_of() {
    let assembles = |file: &Tracked| ASSEMBLY.iter().any(|name| file.path == format!("{SOURCES}server/{name}"));
    let mut found = Vec::new();
    for file in under("server").filter(|file| !assembles(file)) {
        for wanted in ["crate::edge", "crate::endpoint", "crate::agents", "crate::protocols"] {
            found.extend(naming(&file, wanted));
        }
    }
    assert!(found.is_empty(), "the server names what is above it:\n{}", found.join("\n"));
}

#[test]
fn a_name_is_found_alone_with_more_behind_it_and_in_a_list() {
    assert!(names("use crate::edge::mcp::PROTOCOL;", "crate::edge::mcp"));
    assert!(names("use crate::edge::{a2a, mcp};", "crate::edge::mcp"));
    assert!(names("use crate::edge::{self, mcp::inbound};", "crate::edge::mcp"));
    assert!(!names("use crate::edge::mcpx;", "crate::edge::mcp"));
    assert!(!names("use crate::edge::{a2a, nlip};", "crate::edge::mcp"));
}
