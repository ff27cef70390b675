//! `import`: prints a configuration of another program as a configuration of the hub, and says of every key of the file what became of it.
//!
//! It reads configurations of MassGen ([`massgen`]) and the tool servers of editors and chat programs ([`mcp_servers`]). It runs nothing that a
//! file names and opens no connection. Credentials that stand in a file are not copied: they become references to the environment. `connect`
//! uses the same conversion to find out which servers of a client a configuration has already.

mod massgen;
mod mcp_servers;
mod values;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write as _};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::arguments::ImportArguments;
use super::screen::{Screen, plain};
use super::{Exit, Failure};
use crate::config::{self, Overrides, load_text};
use interlingua_hub::names::is_reserved;
use interlingua_model::Secret;
use interlingua_settings::nearest;
pub(super) use mcp_servers::is_hub;
pub use write::yaml;

/// A larger file is no configuration.
const MAX_BYTES: u64 = 1024 * 1024;
/// A deeper one neither.
const MAX_DEPTH: usize = 32;
/// Nor one with more values.
const MAX_VALUES: usize = 10_000;

/// A hub's configuration, and what became of every key of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub config: Value,
    /// By the path of the key in the old file.
    pub fates: Vec<(String, Fate)>,
    /// What the old file says and the new one only refers to, by the variable that stands for it. It is printed nowhere.
    pub credentials: BTreeMap<String, Secret>,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It has a counterpart: the path in the new file.
    Kept(String),
    /// It has none, and why.
    Left(String),
    /// Something to know or to do.
    Note(String),
}

impl std::fmt::Display for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fate::Kept(path) => write!(f, "kept as {path}"),
            Fate::Left(why) => write!(f, "no counterpart: {why}"),
            Fate::Note(text) => f.write_str(text),
        }
    }
}

/// Why a file is not imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

pub(super) fn import(arguments: &ImportArguments) -> Result<Exit, Failure> {
    let file = &arguments.file;
    let imported = read(file)?;
    let screen = Screen::people();
    let written = yaml(&imported.config);
    match &arguments.output {
        Some(output) => save(output, &written)?,
        None => screen.say(written.trim_end())?,
    }
    for (path, fate) in &imported.fates {
        screen.note(&plain(&format!("{path}: {fate}")));
    }
    // Every variable has a value here: what is checked is the file, not this machine.
    let filled = |_: &str| Some("value".to_owned());
    if let Err(rejected) = load_text(&written, Path::new("imported.yaml"), &Overrides::default(), &filled) {
        let text = format!("the configuration needs your changes before a hub reads it:\n{rejected}");
        return Err(Failure::new(Exit::Configuration, text));
    }
    if let Some(output) = &arguments.output {
        let output = output.display();
        screen.say(&format!("{output} is written"))?;
        screen.note(&format!(
            "next: `interlingua serve -c {output}` runs it; `interlingua connect CLIENT -c {output} --write` has a client start it"
        ));
    }
    Ok(Exit::Done)
}

/// Into a new file: what is there is somebody's work.
fn save(output: &Path, text: &str) -> Result<(), Failure> {
    let written = std::fs::File::create_new(output).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::new(Exit::Usage, format!("{} is there already: name another file", output.display()))
        }
        kind => Failure::new(Exit::Failed, format!("cannot write {}: {kind}", output.display())),
    })
}

fn read(file: &Path) -> Result<Imported, Failure> {
    let bad = |text: String| Failure::new(Exit::Configuration, format!("{}: {text}", file.display()));
    let unreadable = |error: &std::io::Error| Failure::new(Exit::Configuration, config::unreadable(file, error));
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| unreadable(&error))?;
    opened.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    convert(&text).map_err(|error| bad(error.to_string()))
}

/// Reads the file of another program.
pub fn convert(text: &str) -> Result<Imported, Unreadable> {
    if text.len() as u64 > MAX_BYTES {
        return Err(Unreadable("it has more than 1 MiB".into()));
    }
    if nesting(text) > MAX_DEPTH {
        return Err(Unreadable(format!("it is nested deeper than {MAX_DEPTH} levels")));
    }
    let file: Value = serde_saphyr::from_str(&without_remarks(text)).map_err(|error| Unreadable(error.to_string()))?;
    if values(&file) > MAX_VALUES {
        return Err(Unreadable(format!("it has more than {MAX_VALUES} values")));
    }
    let mut conversion = Conversion::default();
    if let Some((at, servers)) = mcp_servers::found(&file) {
        mcp_servers::convert(&mut conversion, &at, servers)?;
        mcp_servers::inputs(&mut conversion, &file);
    } else {
        massgen::convert(&mut conversion, &file)?;
    }
    conversion.sweep(&file, "");
    Ok(Imported {
        config: Value::Object(conversion.config),
        fates: conversion.fates,
        credentials: conversion.credentials,
    })
}

fn values(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// How deep its brackets and its indentation go.
fn nesting(text: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(open);
    }
    let indented = text.lines().map(|line| line.len() - line.trim_start_matches([' ', '-']).len()).max().unwrap_or(0);
    deepest.max(indented / 4)
}

/// JSON as editors write it has remarks of the form `//` and `/* */`. YAML has none of these: a file that is not an object of JSON stays as it is.
fn without_remarks(text: &str) -> String {
    if !text.trim_start().starts_with(['{', '/']) {
        return text.to_owned();
    }
    let (mut kept, mut rest, mut in_text) = (String::with_capacity(text.len()), text, false);
    while let Some(letter) = rest.chars().next() {
        let skipped = match letter {
            '\\' if in_text => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
            '"' => {
                in_text = !in_text;
                1
            }
            '/' if !in_text && rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if !in_text && rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            _ => letter.len_utf8(),
        };
        kept.push_str(&rest[..skipped]);
        rest = &rest[skipped..];
    }
    kept
}

#[derive(Default)]
struct Conversion {
    config: Map<String, Value>,
    fates: Vec<(String, Fate)>,
    credentials: BTreeMap<String, Secret>,
    /// Servers by the name of the peer that each became.
    servers: HashMap<String, Value>,
}

impl Conversion {
    fn kept(&mut self, path: impl Into<String>, new: impl Into<String>) {
        self.fates.push((path.into(), Fate::Kept(new.into())));
    }

    fn left(&mut self, path: impl Into<String>, why: impl Into<String>) {
        self.fates.push((path.into(), Fate::Left(why.into())));
    }

    fn note(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.fates.push((path.into(), Fate::Note(text.into())));
    }

    /// A key of the old file that has no counterpart, where it is there.
    fn without(&mut self, map: &Value, path: &str, key: &str, why: &str) {
        if !map[key].is_null() {
            self.left(join(path, key), why);
        }
    }

    /// A key that the other program would not know either: a limit that is spelt wrongly is a limit that does not hold.
    fn unknown(&mut self, map: &Value, path: &str, known: &[&str]) {
        for key in map.as_object().into_iter().flat_map(Map::keys).filter(|key| !known.contains(&key.as_str())) {
            let hint = nearest(key, known.iter().copied()).map(|meant| format!("; did you mean `{meant}`?"));
            self.fates.push((join(path, key), Fate::Left(format!("unknown key{}", hint.unwrap_or_default()))));
        }
    }

    /// Says of every key that nothing was said of yet that it is left out.
    fn sweep(&mut self, value: &Value, path: &str) {
        if !path.is_empty() && self.fates.iter().any(|(told, _)| told == path) && !self.tells_more(path) {
            return;
        }
        let below: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(key, value)| (join(path, key), value)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(i, item)| (join(path, &i.to_string()), item)).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        };
        if below.is_empty() && !path.is_empty() && !self.fates.iter().any(|(told, _)| told == path) {
            return self.left(path, "a hub has no such setting");
        }
        below.into_iter().for_each(|(path, value)| self.sweep(value, &path));
    }

    /// Was something said of what stands below this key?
    fn tells_more(&self, path: &str) -> bool {
        self.fates.iter().any(|(told, _)| told.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Puts a value below a section, under a name.
    fn put(&mut self, section: &str, name: &str, value: Value) {
        let section = self.config.entry(section).or_insert_with(|| json!({}));
        if let Some(section) = section.as_object_mut() {
            section.insert(name.to_owned(), value);
        }
    }

    /// The name of a new peer for this server, like this one; the name of the peer that it is already, where two agents name the same.
    fn peer(&mut self, name: &str, server: &Value) -> Result<String, String> {
        let stem: String = name.chars().take(45).collect();
        let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{stem}-{n}")));
        for name in names {
            match self.servers.get(&name) {
                None => {
                    self.servers.insert(name.clone(), server.clone());
                    return Ok(name);
                }
                Some(known) if known == server => return Err(name),
                Some(_) => {}
            }
        }
        Ok(name.to_owned())
    }

    /// The variable for a credential: the first of these names, or one like the last, that stands for nothing else.
    fn credential(&mut self, names: [String; 2], value: &str) -> String {
        let value = Secret::new(value);
        let last = names[1].clone();
        let names = names.into_iter().chain((2..).map(|number| format!("{last}_{number}")));
        for name in names {
            match self.credentials.get(&name) {
                Some(other) if *other != value => {}
                Some(_) => return name,
                None => {
                    self.credentials.insert(name.clone(), value);
                    return name;
                }
            }
        }
        last
    }

    /// This name, or one like it that is not in the section yet.
    fn free(&self, section: &str, name: &str) -> String {
        let taken = |name: &str| !self.config.get(section).map_or(&Value::Null, |section| &section[name]).is_null();
        if !taken(name) {
            return name.to_owned();
        }
        let stem: String = name.chars().take(45).collect();
        (2..).map(|n| format!("{stem}-{n}")).find(|name| !taken(name)).unwrap_or_default()
    }
}

/// A name that peers may have; `otherwise` for a name of which nothing is left.
fn named(id: &str, otherwise: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let mut name: String = id.chars().map(plain).take(50).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    match name.trim_matches(['-', '_']) {
        "" => otherwise.to_owned(),
        taken if is_reserved(taken) => format!("{taken}-{otherwise}"),
        name => name.to_owned(),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests;
