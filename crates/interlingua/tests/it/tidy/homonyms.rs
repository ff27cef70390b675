//! A name means one thing: no type's name is defined more than twice in a crate, and some names say too little for any type.

use std::collections::BTreeMap;

use syn::Item;

use super::modules::{Crate, crates, is_of_tests, made_up};

/// How often a name may be defined.
const MOST: usize = 2;

/// Names that a crate may define more often, with the reason.
const EXCEPTED: &[(&str, &[&str], &str)] = &[(
    "crates/machines/src",
    &["Record", "Happening", "Decision", "Effect", "Damaged", "Step"],
    "the words of every state machine, used with the name of its module: `agent::Record`",
)];

/// Names that no type has, with what to call it instead. Each of them once named several types in different crates.
const VAGUE: &[(&str, &str)] = &[
    ("Lost", "the error of a transport or of a command"),
    ("Ended", "a failure, a final result or a reason to stop"),
    ("Talk", "an outbound call, a socket or a session"),
    ("Work", "a future, a cost, or what follows a task"),
    ("Line", "a line of what: an input, a reply, a page; or a connection, an interface, a context"),
    ("Flight", "a request in flight"),
    ("Seats", "the rounds of a team"),
    ("Desk", "the state or the runtime of a server, an outbox, a list of sign-ins"),
    ("Claim", "a reservation, an authorization, an identity, a predicate"),
    ("Leg", "the context or the recipient of a message"),
    ("Rest", "encryption at rest, or the state of a stream or a session"),
];

/// The names of types that the items define, also in modules within.
fn types(items: &[Item]) -> Vec<String> {
    items
        .iter()
        .flat_map(|item| match item {
            Item::Enum(it) => vec![it.ident.to_string()],
            Item::Struct(it) => vec![it.ident.to_string()],
            Item::Trait(it) => vec![it.ident.to_string()],
            Item::Type(it) => vec![it.ident.to_string()],
            Item::Union(it) => vec![it.ident.to_string()],
            Item::Mod(it) if !is_of_tests(&it.attrs) => it.content.iter().flat_map(|(_, items)| types(items)).collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// Where each type of a crate is defined.
fn defined(read: &Crate) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let root = types(&read.root).into_iter().map(|name| (name, format!("{}/lib.rs", read.source)));
    let modules =
        read.modules.iter().flat_map(|module| types(&module.items).into_iter().map(|name| (name, module.file.clone())));
    for (name, file) in root.chain(modules) {
        places.entry(name).or_default().push(file);
    }
    places
}

fn is_excepted(source: &str, name: &str) -> bool {
    EXCEPTED.iter().any(|(of, names, _)| *of == source && names.contains(&name))
}

fn homonyms(read: &Crate) -> Vec<String> {
    let too_often =
        defined(read).into_iter().filter(|(name, places)| places.len() > MOST && !is_excepted(&read.source, name));
    too_often.map(|(name, places)| format!("{name} is defined in {}", places.join(", "))).collect()
}

fn vague(read: &Crate) -> Vec<String> {
    let meant = |name: &str| VAGUE.iter().find(|(vague, _)| *vague == name).map(|(_, meant)| *meant);
    let found = defined(read).into_iter().filter_map(|(name, places)| meant(&name).map(|meant| (name, places, meant)));
    found.map(|(name, places, meant)| format!("{name} in {} may be {meant}", places.join(", "))).collect()
}

#[test]
fn no_type_has_a_name_that_says_too_little() {
    let found: Vec<String> = crates().iter().flat_map(vague).collect();
    assert!(found.is_empty(), "call each what it is:\n{}", found.join("\n"));
}

#[test]
fn no_name_of_a_type_is_defined_more_than_twice_in_a_crate() {
    let found: Vec<String> = crates().iter().flat_map(homonyms).collect();
    assert!(found.is_empty(), "call each what it is:\n{}", found.join("\n"));
}

#[test]
fn every_exception_to_the_rule_of_names_still_needs_it() {
    let crates = crates();
    for (source, names, reason) in EXCEPTED {
        let read = crates.iter().find(|read| read.source == *source).expect("an excepted crate is there");
        let defined = defined(read);
        for name in *names {
            let places = defined.get(*name).map_or(0, Vec::len);
            assert!(places > MOST, "{source}: {name} is excepted ({reason}) and no longer needs it");
        }
    }
}

#[test]
fn a_name_that_three_types_have_is_found() {
    let found = homonyms(&made_up(&[
        ("lib.rs", "mod one; mod two; pub struct Held; pub struct Kept;"),
        ("one.rs", "enum Held {} trait Kept {} #[cfg(test)] mod tests { struct Kept; }"),
        ("two.rs", "mod within { type Held = u8; }"),
    ]));
    let src = "crates/made-up/src";
    assert_eq!(found, [format!("Held is defined in {src}/lib.rs, {src}/one.rs, {src}/two.rs")]);
}

#[test]
fn a_type_with_a_vague_name_is_found() {
    let found = vague(&made_up(&[
        ("lib.rs", "mod one; struct SignIns;"),
        ("one.rs", "mod within { type Desk = u8; } enum Step { Flight } #[cfg(test)] mod tests { struct Talk; }"),
    ]));
    let meant = "the state or the runtime of a server, an outbox, a list of sign-ins";
    assert_eq!(found, [format!("Desk in crates/made-up/src/one.rs may be {meant}")]);
}
