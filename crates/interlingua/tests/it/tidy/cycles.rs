//! No two modules of a crate depend on each other: the modules at its root can be read from the bottom up.
//!
//! A dependency is a path from the crate's root, or by `super`, in code that is not a test. Names that `lib.rs` imports or exports lead to
//! the module they come from. What `lib.rs` itself defines belongs to all modules, and a method is not a path: neither counts.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

use super::modules::{Crate, crates, is_of_tests, made_up};

/// From one module to another, and the files that have it.
type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// The paths of one file.
#[derive(Default)]
struct Paths {
    /// The module that is read.
    within: Vec<String>,
    /// From the crate's root; `*` is all of it.
    found: Vec<Vec<String>>,
}

impl Paths {
    fn of(within: &[String], items: &[Item]) -> Vec<Vec<String>> {
        let mut paths = Paths { within: within.to_vec(), found: Vec::new() };
        items.iter().for_each(|item| paths.visit_item(item));
        paths.found
    }

    /// Notes a path that begins with `crate`, `super` or `self`; any other begins with a name that one of these brought here.
    fn note(&mut self, path: &[String]) {
        let mut from = self.within.as_slice();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("crate") => (from, rest) = (&[], &rest[1..]),
            Some("self" | "super") => {}
            _ => return,
        }
        while let Some(step @ ("self" | "super")) = rest.first().map(String::as_str) {
            if step == "super" {
                from = from.split_last().map_or(&[], |(_, above)| above);
            }
            rest = &rest[1..];
        }
        self.found.push([from, rest].concat());
    }

    fn note_tree(&mut self, before: &[String], tree: &UseTree) {
        each_use(before, tree, &mut |path, _| self.note(path));
    }

    /// Of a macro or an attribute, whose language nobody knows here.
    fn note_words(&mut self, text: &str) {
        let text = text.replace(" :: ", "::");
        for word in text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':')) {
            let path: Vec<String> = word.split("::").map(str::to_owned).collect();
            if path.len() > 1 {
                self.note(&path);
            }
        }
    }
}

/// Every name that a tree of `use` brings: its path, and what it is called here.
fn each_use(before: &[String], tree: &UseTree, each: &mut impl FnMut(&[String], &str)) {
    let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => each_use(&with(&path.ident), &path.tree, each),
        UseTree::Group(group) => group.items.iter().for_each(|tree| each_use(before, tree, each)),
        UseTree::Name(name) if name.ident == "self" => {
            each(before, before.last().map(String::as_str).unwrap_or_default());
        }
        UseTree::Name(name) => each(&with(&name.ident), &name.ident.to_string()),
        UseTree::Rename(renamed) => each(&with(&renamed.ident), &renamed.rename.to_string()),
        UseTree::Glob(_) => each(&with(&"*"), "*"),
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_of_tests(&module.attrs) {
            self.within.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.within.pop();
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_of_tests(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_of_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, used: &'ast syn::ItemUse) {
        if !is_of_tests(&used.attrs) {
            self.note_tree(&[], &used.tree);
        }
    }

    /// `pub(in crate::one)` says who may look, not what is looked at.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.note(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.note_words(&call.tokens.to_string());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !attribute.path().is_ident("doc") {
            self.note_words(&attribute.to_token_stream().to_string());
        }
    }
}

/// Which module each name at the crate's root comes from.
fn exported(read: &Crate) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for item in &read.root {
        let Item::Use(used) = item else { continue };
        each_use(&[], &used.tree, &mut |path, name| {
            let path = path.iter().filter(|step| !matches!(step.as_str(), "crate" | "self")).collect::<Vec<_>>();
            let Some(top) = path.first().filter(|top| read.has(top)) else { return };
            match name {
                "*" => names.extend(public(read, top).map(|name| (name, (*top).clone()))),
                name => drop(names.insert(name.to_owned(), (*top).clone())),
            }
        });
    }
    names
}

/// The names that a module at the root defines or passes on.
fn public<'a>(read: &'a Crate, top: &'a str) -> impl Iterator<Item = String> + 'a {
    let items = read.modules.iter().filter(move |module| module.path == [top]).flat_map(|module| &module.items);
    items.flat_map(|item| match item {
        Item::Const(it) => vec![it.ident.to_string()],
        Item::Enum(it) => vec![it.ident.to_string()],
        Item::Fn(it) => vec![it.sig.ident.to_string()],
        Item::Static(it) => vec![it.ident.to_string()],
        Item::Struct(it) => vec![it.ident.to_string()],
        Item::Trait(it) => vec![it.ident.to_string()],
        Item::Type(it) => vec![it.ident.to_string()],
        Item::Use(it) => {
            let mut names = Vec::new();
            each_use(&[], &it.tree, &mut |_, name| names.push(name.to_owned()));
            names
        }
        _ => Vec::new(),
    })
}

fn arrows(read: &Crate) -> Arrows {
    let exported = exported(read);
    let mut arrows = Arrows::new();
    for module in &read.modules {
        for path in Paths::of(&module.path, &module.items) {
            let to: Vec<&str> = match path.first().map(String::as_str) {
                Some("*") => exported.values().map(String::as_str).collect(),
                Some(name) if read.has(name) => vec![name],
                Some(name) => exported.get(name).map(String::as_str).into_iter().collect(),
                None => Vec::new(),
            };
            for to in to.into_iter().filter(|to| *to != module.top()) {
                let arrow = (module.top().to_owned(), to.to_owned());
                arrows.entry(arrow).or_default().insert(module.file.clone());
            }
        }
    }
    arrows
}

/// Is there a way from one to the other?
fn leads(arrows: &Arrows, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(here) = open.pop() {
        if here == to {
            return true;
        }
        if seen.insert(here) {
            open.extend(arrows.keys().filter(|(from, _)| from == here).map(|(_, to)| to.as_str()));
        }
    }
    false
}

/// The arrows of every cycle, with the files that have them.
fn cycles(read: &Crate) -> Vec<String> {
    let arrows = arrows(read);
    let back = arrows.iter().filter(|((from, to), _)| leads(&arrows, to, from));
    back.map(|((from, to), files)| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        format!("{}: {from} -> {to} in {}", read.source, files.join(", "))
    })
    .collect()
}

#[test]
fn no_modules_of_a_crate_need_each_other() {
    let found: Vec<String> = crates().iter().flat_map(cycles).collect();
    assert!(found.is_empty(), "move what two modules share to one below them:\n{}", found.join("\n"));
}

#[test]
fn a_cycle_of_modules_is_found_however_its_paths_are_written() {
    let root = "mod day; mod rain; mod sun; mod sky; pub use sky::Cloud;";
    let sky = "pub struct Cloud; mod high;";
    let found = cycles(&made_up(&[
        ("lib.rs", root),
        ("day.rs", "fn long() -> crate::rain::Drop { todo() }"),
        ("rain.rs", "use super::{Cloud, sun::Ray}; struct Drop;"),
        ("sun.rs", "#[cfg(test)] mod tests { use crate::day; } struct Ray;"),
        ("sky/mod.rs", sky),
        ("sky/high.rs", "fn wet() { assert!(crate::day::long() > super::super::sun::Ray); }"),
    ]));
    let expected = [
        "crates/made-up/src: day -> rain in crates/made-up/src/day.rs",
        "crates/made-up/src: rain -> sky in crates/made-up/src/rain.rs",
        "crates/made-up/src: sky -> day in crates/made-up/src/sky/high.rs",
    ];
    assert_eq!(found, expected, "the sun is needed and needs nobody");
}
