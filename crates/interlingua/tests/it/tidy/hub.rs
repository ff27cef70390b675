//! The hub's boundary: what it exposes to others, and what it depends on.

use syn::{Fields, Item, Visibility};

use super::{Tracked, root_file, tracked};

const HUB: &str = "crates/hub/src/";
/// What a hub that others embed must not bring along: who uses it, how it is configured, and whatever speaks to the outside.
const FOREIGN: [&str; 12] = [
    "axum",
    "clap",
    "hyper",
    "interlingua-agents",
    "interlingua-endpoint",
    "interlingua-local",
    "interlingua-net",
    "interlingua-settings",
    "interlingua-sites",
    "interlingua-tools",
    "rusqlite",
    "rustls",
];

fn sources() -> impl Iterator<Item = Tracked> {
    tracked(".rs").into_iter().filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"))
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
    let text = std::fs::read_to_string(root_file(&format!("{HUB}lib.rs"))).expect("the hub");
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
    // The action is the model's, and what rules say of it the engine's.
    let decide = [HUB, "crates/model/src/", "crates/policy/src/"];
    let elsewhere = sources().filter(|file| !decide.iter().any(|own| file.path.starts_with(own)));
    let found: Vec<String> =
        elsewhere.filter(|file| code(&file.text).any(decides_what_is_listed)).map(|file| file.path).collect();
    assert!(found.is_empty(), "these decide what is listed themselves: {found:?}");
    assert!(decides_what_is_listed("policy.allows(by, Action::List, skill, now)"));
}

/// The names of a manifest's own dependencies, without those of tests. What they bring along is looked at by `scripts/directions`.
fn dependencies(manifest: &str) -> Vec<&str> {
    let section =
        manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
    section.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_hub_knows_nobody_who_uses_it() {
    let manifest = std::fs::read_to_string(root_file("crates/hub/Cargo.toml")).expect("the manifest");
    let named = dependencies(&manifest);
    assert!(named.contains(&"interlingua-model"), "{named:?}");
    let foreign: Vec<&&str> = named.iter().filter(|name| FOREIGN.contains(name)).collect();
    assert!(foreign.is_empty(), "the hub depends on {foreign:?}");
    let leaky =
        "[package]\nname = \"x\"\n\n[dependencies]\naxum.workspace = true\n\n[dev-dependencies]\nhyper = \"1\"\n";
    assert_eq!(dependencies(leaky), ["axum"]);
}
