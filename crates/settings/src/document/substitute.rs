//! Substitution of values: `${NAME}` and `${NAME:-otherwise}` from the environment, in any text; `file:PATH` as a whole value from that
//! file, without its last line end. `$${` is a literal `${`.
//!
//! Substitution runs on the tree, after YAML has been parsed: a value from outside is always a text and cannot add keys. The one value that
//! is a document of its own, the list of access tokens, is read by [`Substitution::document`].

use std::path::{Path, PathBuf};

use super::tree::{Node, Value, parse_list};
use crate::problem::{Problem, Sources};
use crate::unreadable;

/// Where `${NAME}` is looked up; passed in, so that a test has its own.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// No value of a configuration is longer.
const FILE_LIMIT: u64 = 4 * 1024 * 1024;
/// And no list of callers: a hundred thousand need about ten MiB.
const LIST_LIMIT: u64 = 64 * 1024 * 1024;

pub struct Substitution<'a> {
    pub environment: Environment<'a>,
    /// The folder of the configuration file: relative paths start there.
    pub base: &'a Path,
    pub sources: &'a mut Sources,
    pub problems: &'a mut Vec<Problem>,
}

impl std::fmt::Debug for Substitution<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Substitution").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Substitution<'_> {
    /// Fills in every text below `node`.
    pub fn fill(&mut self, node: &mut Node, path: &str) {
        match &mut node.value {
            Value::List(items) => {
                for (index, item) in items {
                    self.fill(item, &join(path, &index.to_string()));
                }
            }
            Value::Map(entries) => {
                for (key, value) in entries {
                    self.fill(value, &join(path, &key.name));
                }
            }
            Value::Scalar { text, .. } => {
                let filled = expand(text, self.environment).and_then(|text| self.content(text));
                match filled {
                    Ok(filled) => *text = filled,
                    Err(message) => self.problems.push(self.sources.problem(node.at, path, message)),
                }
            }
        }
    }

    /// A value `file:PATH` whose file is itself a document is replaced by that document.
    pub fn document(&mut self, node: &mut Node, path: &str) {
        let Value::Scalar { text, .. } = &node.value else { return };
        let read = expand(text, self.environment).and_then(|text| match text.strip_prefix("file:") {
            // A list that is not there yet is empty, and looked for again.
            Some(name) if !self.base.join(name).exists() => Ok((self.base.join(name), String::new())),
            Some(name) => self.read(name, LIST_LIMIT),
            None => Err("expected a list, or `file:PATH` of one".into()),
        });
        match read {
            Ok((file, content)) => {
                // Tokens may stand in it, so nothing of it is kept for snippets.
                let source = self.sources.add(&file, "");
                match parse_list(&content, source) {
                    Ok(mut document) => {
                        // A file of remarks alone is a list without entries.
                        if matches!(&document.value, Value::Map(entries) if entries.is_empty()) {
                            document.value = Value::List(Vec::new());
                        }
                        *node = document;
                    }
                    Err(bad) => self.problems.push(self.sources.problem(bad.at, path, bad.message)),
                }
            }
            Err(message) => self.problems.push(self.sources.problem(node.at, path, message)),
        }
    }

    fn content(&mut self, text: String) -> Result<String, String> {
        let Some(name) = text.strip_prefix("file:") else { return Ok(text) };
        let (file, content) = self.read(name, FILE_LIMIT)?;
        // Its content may be a secret, so nothing of it is kept for snippets.
        self.sources.add(&file, "");
        Ok(content.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn read(&self, name: &str, limit: u64) -> Result<(PathBuf, String), String> {
        let file = self.base.join(name);
        let size = std::fs::metadata(&file).map_err(|error| unreadable(&file, &error))?.len();
        if size > limit {
            return Err(format!("{} is larger than {limit} bytes", file.display()));
        }
        let content = std::fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        Ok((file, content))
    }
}

pub fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

fn expand(text: &str, environment: Environment<'_>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if let Some(before) = rest[..start].strip_suffix('$') {
            filled.push_str(before);
            filled.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        filled.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after.find('}').ok_or("`${` without its `}`")?;
        filled.push_str(&lookup(&after[..end], environment)?);
        rest = &after[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn lookup(expression: &str, environment: Environment<'_>) -> Result<String, String> {
    let (name, otherwise) = match expression.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (expression, None),
    };
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("`${{{expression}}}` does not name a variable"));
    }
    environment(name)
        .or_else(|| otherwise.map(str::to_owned))
        .ok_or_else(|| format!("the environment has no `{name}`; set it, or write `${{{name}:-otherwise}}`"))
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn environment(name: &str) -> Option<String> {
        (name == "KEY").then(|| "value".into())
    }

    #[test]
    fn a_variable_is_put_in_anywhere_in_a_text() {
        assert_eq!(expand("a ${KEY} b${KEY}", &environment).unwrap(), "a value bvalue");
        assert_eq!(expand("${NONE:-other}", &environment).unwrap(), "other");
        assert_eq!(expand("$${KEY} $ {KEY}", &environment).unwrap(), "${KEY} $ {KEY}");
    }

    #[test]
    fn a_missing_variable_is_named() {
        let text = "the environment has no `NONE`; set it, or write `${NONE:-otherwise}`";
        assert_eq!(expand("${NONE}", &environment).unwrap_err(), text);
        assert_eq!(expand("${KEY", &environment).unwrap_err(), "`${` without its `}`");
        assert_eq!(expand("${a b}", &environment).unwrap_err(), "`${a b}` does not name a variable");
    }
}
