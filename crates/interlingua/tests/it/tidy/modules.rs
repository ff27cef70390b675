//! The crates of the workspace as trees of modules, read from their roots as the compiler does, without what only tests use.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::{Attribute, Item};

use super::tracked;

/// Files by their path.
pub(super) type Files = BTreeMap<String, String>;

/// A crate without its tests.
pub(super) struct Crate {
    /// Where its sources are, such as `crates/hub/src`.
    pub(super) source: String,
    /// What `lib.rs` declares beside modules.
    pub(super) root: Vec<Item>,
    pub(super) modules: Vec<Module>,
}

/// One file of a crate other than its root.
pub(super) struct Module {
    pub(super) file: String,
    /// Its modules from the top, such as `driver`, `journal`.
    pub(super) path: Vec<String>,
    pub(super) items: Vec<Item>,
}

impl Module {
    /// The module of the crate's root that it belongs to.
    pub(super) fn top(&self) -> &str {
        &self.path[0]
    }
}

impl Crate {
    pub(super) fn read(source: &str, files: &Files) -> Crate {
        let root = items(&format!("{source}/lib.rs"), files).expect("a crate has a root");
        let mut modules = Vec::new();
        let mut open: Vec<Vec<String>> = declared(&root).map(|name| vec![name]).collect();
        while let Some(path) = open.pop() {
            let place = format!("{source}/{}", path.join("/"));
            let file = [format!("{place}.rs"), format!("{place}/mod.rs")];
            let file = file.into_iter().find(|file| files.contains_key(file));
            let file = file.unwrap_or_else(|| panic!("there is no file of the module {place}"));
            let items = items(&file, files).expect("it is there");
            open.extend(declared(&items).map(|name| [path.clone(), vec![name]].concat()));
            modules.push(Module { file, path, items });
        }
        modules.sort_by(|one, other| one.file.cmp(&other.file));
        Crate { source: source.to_owned(), root, modules }
    }

    pub(super) fn has(&self, top: &str) -> bool {
        self.modules.iter().any(|module| module.path == [top])
    }
}

/// Every crate of the workspace.
pub(super) fn crates() -> Vec<Crate> {
    let files: Files = tracked(".rs").into_iter().map(|file| (file.path, file.text)).collect();
    let roots = files.keys().filter_map(|file| file.strip_suffix("/src/lib.rs"));
    let roots = roots.filter(|crate_| crate_.starts_with("crates/"));
    let crates: Vec<Crate> = roots.map(|place| Crate::read(&format!("{place}/src"), &files)).collect();
    assert!(crates.len() > 20, "only {} crates were found", crates.len());
    crates
}

fn items(file: &str, files: &Files) -> Option<Vec<Item>> {
    let parsed = syn::parse_file(files.get(file)?).unwrap_or_else(|error| panic!("{file}: {error}"));
    Some(parsed.items.into_iter().filter(|item| !is_of_tests(attributes(item))).collect())
}

/// Modules in files of their own.
fn declared(items: &[Item]) -> impl Iterator<Item = String> {
    items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// What is built for tests only.
pub(super) fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && text.contains("test"))
    })
}

/// A crate that a test makes up, of files below its `src`.
pub(super) fn made_up(files: &[(&str, &str)]) -> Crate {
    let files = files.iter().map(|(file, text)| (format!("crates/made-up/src/{file}"), (*text).to_owned()));
    Crate::read("crates/made-up/src", &files.collect())
}

#[test]
fn a_crate_is_read_from_its_root_without_its_tests() {
    let read = made_up(&[
        ("lib.rs", "mod one; #[cfg(test)] mod tests; mod two;"),
        ("one.rs", "struct A; #[cfg(test)] mod tests { struct B; }"),
        ("two/mod.rs", "mod three;"),
        ("two/three.rs", ""),
        ("tests.rs", "struct C;"),
        ("forgotten.rs", "struct D;"),
    ]);
    let paths: Vec<String> = read.modules.iter().map(|module| module.path.join("::")).collect();
    assert_eq!(paths, ["one", "two", "two::three"]);
    assert_eq!(read.modules[0].items.len(), 1, "a module of tests does not count");
    assert!(read.has("two") && !read.has("three"));
}
