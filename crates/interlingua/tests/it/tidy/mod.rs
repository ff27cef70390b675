//! Rules about the repository itself that no compiler knows: sizes, words, paths, and the tests' names.
//!
//! Everything is read from the files git tracks, so a stray build product decides nothing.

mod architecture;
mod codecs;
mod commands;
mod copies;
mod crates;
mod cycles;
mod documents;
pub(crate) mod events;
mod features;
mod homonyms;
mod hub;
mod losses;
mod model;
mod modules;
mod pins;
mod platforms;
mod protocols;
mod requirements;
mod runs;
mod rust;
mod security;
mod shapes;
mod sources;

use std::{fs, path::PathBuf, process::Command};

/// A tracked text file.
struct Tracked {
    /// Relative to the repository's root, with `/`.
    path: String,
    text: String,
}

/// The tracked files whose name ends so, with their text.
fn tracked(ending: &str) -> Vec<Tracked> {
    let root = interlingua_testkit::root();
    paths()
        .into_iter()
        .filter(|path| path.ends_with(ending))
        .filter_map(|path| fs::read_to_string(root.join(&path)).ok().map(|text| Tracked { path, text }))
        .collect()
}

/// Every tracked path, and those about to be: new files count before they are committed.
fn paths() -> Vec<String> {
    let mut git = Command::new("git");
    git.current_dir(interlingua_testkit::root()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = git.output().expect("git is there").stdout;
    let paths: Vec<String> = String::from_utf8(listed).expect("paths are text").lines().map(str::to_owned).collect();
    assert!(paths.iter().any(|path| path == "Cargo.toml"), "git lists the repository's files");
    paths
}

fn root_file(path: &str) -> PathBuf {
    interlingua_testkit::root().join(path)
}
