//! The hub's boundary: what it lets others reach, and whom it knows.

use syn::{Fields, Item, Visibility};

use super::{Tracked, root_file, tracked};

const HUB: &str = "crates/interlingua/src/hub/";
/// What the hub knows nothing of: who uses it.
const USERS: [&str; 8] = ["agents", "api", "cli", "client", "edge", "endpoint", "protocols", "server"];

fn sources() -> impl Iterator<Item = Tracked> {
    tracked(".rs").into_iter().filter(|file| file.path.starts_with("crates/interlingua/src/"))
}

/// Lines of code: what stands in a comment reaches nobody.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn public_fields(text: &str, name: &str) -> Vec<String> {
    let file = syn::parse_file(text).expect("Rust");
    let fields = file.items.iter().find_map(|item| match item {
        Item::Struct(one) if one.ident == name => Some(&one.fields),
        _other => None,
    });
    let Some(Fields::Named(fields)) = fields else { panic!("{name} is no struct with named fields") };
    let public = fields.named.iter().filter(|field| !matches!(field.vis, Visibility::Inherited));
    public.filter_map(|field| field.ident.as_ref().map(ToString::to_string)).collect()
}

#[test]
fn nobody_reaches_into_the_hub() {
    let text = std::fs::read_to_string(root_file(&format!("{HUB}mod.rs"))).expect("the hub");
    assert_eq!(public_fields(&text, "Hub"), Vec::<String>::new());
    let leaky = "pub struct Hub { id: u8, pub store: u8, pub(crate) clock: u8 }";
    assert_eq!(public_fields(leaky, "Hub"), ["store", "clock"]);
}

/// `hub.visible(by)` decides what is listed; no protocol asks the rules itself.
fn decides_what_is_listed(line: &str) -> bool {
    line.contains("Action::List")
}

#[test]
fn what_a_caller_may_see_is_decided_in_one_place() {
    let elsewhere = sources().filter(|file| !file.path.starts_with(HUB));
    let found: Vec<String> =
        elsewhere.filter(|file| code(&file.text).any(decides_what_is_listed)).map(|file| file.path).collect();
    assert!(found.is_empty(), "these decide what is listed themselves: {found:?}");
    assert!(decides_what_is_listed("policy.allows(by, Action::List, skill, now)"));
}

fn names_a_user(line: &str) -> bool {
    USERS.iter().any(|user| line.contains(&format!("crate::{user}::")) || line.contains(&format!("crate::{user};")))
}

#[test]
fn the_hub_knows_nobody_who_uses_it() {
    let own = sources().filter(|file| file.path.starts_with(HUB) && !file.path.contains("/tests/"));
    let mut found = Vec::new();
    for file in own {
        found.extend(code(&file.text).filter(|line| names_a_user(line)).map(|line| format!("{}: {line}", file.path)));
    }
    assert!(found.is_empty(), "the hub names its users:\n{}", found.join("\n"));
    assert!(names_a_user("use crate::edge::Shared;") && !names_a_user("use crate::telemetry::trace;"));
}
