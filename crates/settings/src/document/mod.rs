//! A configuration file as a tree in which every value knows its place.
//!
//! [`tree`] reads YAML 1.2 into the tree: one document, duplicate keys refused, aliases allowed within a bound.
//! [`substitute`] puts in what stands elsewhere: `${NAME}` from the environment, `file:PATH` from a file.
//! [`mod@decode`] turns the tree into typed configuration, and goes on after a problem to find the others.
//!
//! A plain scalar stays text until a type asks for it, so `version: 1.10` is the text `1.10` and not a number.

mod decode;
mod substitute;
mod tree;

pub use decode::{Later, decode};
pub use substitute::Environment;
pub use substitute::{Substitution, join};
pub use tree::{Key, Node, Unreadable, Value, parse, parse_list};

use std::path::{Path, PathBuf};

use super::problem::{At, Problem};

/// The files a configuration was read from; the first is the one that was asked for.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

#[derive(Debug, Clone)]
struct Source {
    file: PathBuf,
    /// Empty for a file whose content must not be shown.
    text: String,
}

impl Sources {
    pub fn add(&mut self, file: &Path, text: &str) -> usize {
        self.0.push(Source { file: file.into(), text: text.into() });
        self.0.len() - 1
    }

    pub fn line(&self, at: At) -> Option<&str> {
        self.0.get(at.source)?.text.lines().nth(at.line.checked_sub(1)?)
    }

    /// Every file that was read: when one changes, so may the configuration.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|source| source.file.as_path())
    }

    pub fn problem(&self, at: At, path: impl Into<String>, message: impl Into<String>) -> Problem {
        let file = self.0.get(at.source).map(|source| source.file.clone()).unwrap_or_default();
        Problem { at: Some((file, at)), ..Problem::new(path, message) }
    }
}
