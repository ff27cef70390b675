//! Documents name only what exists.

use std::fs;

use super::{root_file, tracked};

/// Documents at the root and in `docs/`: every path they name is checked.
fn documents() -> Vec<super::Tracked> {
    let all = tracked(".md").into_iter();
    all.filter(|file| {
        !file.path.contains('/') || file.path.starts_with("docs/") || file.path.starts_with("conformance/")
    })
    .collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut dead = Vec::new();
    for document in documents() {
        let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&document.text) {
            if !root_file(folder).join(target).exists() {
                dead.push(format!("{}: {target}", document.path));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_path_in_backticks_exists() {
    let mut dead = Vec::new();
    for document in documents() {
        for path in paths_in_backticks(&document.text) {
            if !root_file(path).exists() {
                dead.push(format!("{}: {path}", document.path));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn the_readme_opens_with_the_two_commands() {
    let readme = fs::read_to_string(root_file("README.md")).expect("README.md");
    let opening: String = readme.lines().take(12).collect::<Vec<_>>().join("\n");
    assert!(opening.contains("make demo") && opening.contains("make test"), "{opening}");
}

#[test]
fn n_60_a_public_ethics_statement_covers_the_four_principles() {
    let statement = fs::read_to_string(root_file("ETHICS.md")).expect("ETHICS.md").to_lowercase();
    for principle in ["autonomy", "prevention of harm", "fairness", "explicability"] {
        assert!(
            statement.contains(&format!("## {principle}")) || statement.contains(&format!("{principle}\n")),
            "{principle}"
        );
    }
}

/// Targets of `[text](target)` that are files: no address of the web, no anchor alone.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter_map(|target| {
        let file = target.split('#').next().unwrap_or(target);
        (!file.is_empty() && !file.contains("://")).then_some(file)
    })
}

/// What stands in backticks and starts with one of our folders. A name with a placeholder or a wildcard names a shape.
fn paths_in_backticks(text: &str) -> impl Iterator<Item = &str> {
    let folders = ["crates/", "scripts/", "conformance/", "fixtures/", "examples/", "docs/", "bench/", "fuzz/", ".ci/"];
    text.split('`').skip(1).step_by(2).filter_map(move |quoted| {
        let path = quoted.split_whitespace().next()?;
        let path = path.trim_end_matches([',', '.', ':', ';']);
        let ours = folders.iter().any(|folder| path.starts_with(folder));
        (ours && !path.contains(['{', '*', '<', '$', '…'])).then_some(path)
    })
}

#[test]
fn links_and_paths_are_found() {
    let text = "See [a](docs/a.md#b) and [w](https://x.test/) or `crates/x/src` and `make test` and `crates/*/src`.";
    assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md"]);
    assert_eq!(paths_in_backticks(text).collect::<Vec<_>>(), ["crates/x/src"]);
}
