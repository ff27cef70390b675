//! Manifest fields: reads the keys of a manifest one by one, so that every problem names its key and one does not hide the next.

use std::path::PathBuf;
use std::time::Duration;

use interlingua_model::json::Tree;
use serde::de::DeserializeOwned;

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}{reason}", file.display(), key.as_ref().map(|key| format!("`{key}`: ")).unwrap_or_default())]
pub struct ManifestProblem {
    /// Relative to the tools directory.
    pub file: PathBuf,
    pub key: Option<String>,
    pub reason: String,
}

/// The keys not read yet, and the problems so far.
#[derive(Debug)]
pub(super) struct Fields {
    keys: serde_json::Map<String, Tree>,
    problems: Vec<(Option<String>, String)>,
}

impl Fields {
    pub(super) fn new(tree: Tree) -> Result<Fields, String> {
        match tree {
            Tree::Object(keys) => Ok(Fields { keys, problems: Vec::new() }),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) | Tree::Array(_) => {
                Err("a manifest is an object".to_owned())
            }
        }
    }

    pub(super) fn problem(&mut self, key: &str, reason: impl Into<String>) {
        self.problems.push((Some(key.to_owned()), reason.into()));
    }

    /// A key that is absent or null says nothing.
    pub(super) fn take(&mut self, key: &str) -> Option<Tree> {
        self.keys.remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn read<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.take(key)?;
        match serde_json::from_value(value) {
            Ok(read) => Some(read),
            Err(error) => {
                self.problem(key, error.to_string());
                None
            }
        }
    }

    /// Text of at most `max` bytes, not empty.
    pub(super) fn text(&mut self, key: &str, max: usize) -> Option<String> {
        let text: String = self.read(key)?;
        if text.trim().is_empty() || text.len() > max {
            self.problem(key, format!("must have from 1 to {max} bytes"));
            return None;
        }
        Some(text)
    }

    pub(super) fn list<T: DeserializeOwned>(&mut self, key: &str, max: usize) -> Vec<T> {
        let list: Vec<T> = self.read(key).unwrap_or_default();
        if list.len() > max {
            self.problem(key, format!("has more than {max} items"));
            return Vec::new();
        }
        list
    }

    /// `500ms`, `30s`, `2m`, or a number of seconds.
    pub(super) fn duration(&mut self, key: &str, default: Duration, max: Duration) -> Duration {
        const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("", 1_000)];
        let millis = self.quantity(key, &UNITS, "a time such as 500ms, 30s or 2m");
        let Some(millis) = millis else { return default };
        match Duration::from_millis(millis) {
            span if span.is_zero() || span > max => {
                self.problem(key, format!("must be above 0 and at most {} s", max.as_secs()));
                default
            }
            span => span,
        }
    }

    /// `64KiB`, `1MiB`, `2GiB`, or a number of bytes.
    pub(super) fn size(&mut self, key: &str, default: usize, max: usize) -> usize {
        const UNITS: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)];
        let Some(bytes) = self.quantity(key, &UNITS, "a size such as 64KiB or 1MiB") else { return default };
        match usize::try_from(bytes) {
            Ok(size) if size > 0 && size <= max => size,
            Ok(_) | Err(_) => {
                self.problem(key, format!("must be from 1 to {max} bytes"));
                default
            }
        }
    }

    fn quantity(&mut self, key: &str, units: &[(&str, u64)], wanted: &str) -> Option<u64> {
        let read = match self.take(key)? {
            Tree::Number(number) => number.as_u64().and_then(|count| scaled(&count.to_string(), units)),
            Tree::String(text) => scaled(text.trim(), units),
            Tree::Null | Tree::Bool(_) | Tree::Array(_) | Tree::Object(_) => None,
        };
        if read.is_none() {
            self.problem(key, format!("must be {wanted}"));
        }
        read
    }

    /// What was not read is not known. Gives all problems.
    pub(super) fn finish(mut self) -> Vec<(Option<String>, String)> {
        let unknown: Vec<String> = self.keys.keys().cloned().collect();
        unknown.iter().for_each(|key| self.problem(key, "unknown key"));
        self.problems
    }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    units.iter().find_map(|(unit, factor)| {
        let count = text.strip_suffix(unit)?.trim_end();
        count.parse::<u64>().ok()?.checked_mul(*factor)
    })
}
