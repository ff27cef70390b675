//! Configuration problems: the file and position, what is wrong, and what was probably meant.
//!
//! [`Problem`]'s `Display` is one line and quotes nothing from the file, so it may go to a log. [`Problem::render`] adds
//! the line of the file with a mark under the place; it is for the person at the terminal, whose file it is.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// A place in one of the files that were read. Lines and columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub source: usize,
    pub line: usize,
    pub column: usize,
}

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Nowhere, when there is no file: a value of the command line, or a default.
    pub at: Option<(PathBuf, At)>,
    /// The keys from the top, such as `peers.hotels.nlip.url`; empty for the whole file.
    pub path: String,
    pub message: String,
}

impl Problem {
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { at: None, path: path.into(), message: message.into() }
    }

    /// The one line of `Display`, then the line of the file with a mark under the place.
    pub fn render(&self, sources: &Sources) -> String {
        let Some((_, at)) = &self.at else { return self.to_string() };
        let Some(line) = sources.line(*at) else { return self.to_string() };
        let number = at.line.to_string();
        let margin = " ".repeat(number.len());
        let (shown, mark) = window(line, at.column);
        format!("{self}\n {margin} |\n {number} | {shown}\n {margin} | {}^", " ".repeat(mark))
    }
}

/// How much of a long line is shown.
const SNIPPET: usize = 100;

/// The part of `line` around `column`, and where the column is in it.
fn window(line: &str, column: usize) -> (String, usize) {
    let place = column.saturating_sub(1);
    let from = if place < SNIPPET { 0 } else { place - SNIPPET / 2 };
    let shown = line.chars().skip(from).take(SNIPPET).map(|c| if c.is_control() { ' ' } else { c }).collect();
    (shown, place - from)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, at)) = &self.at {
            write!(f, "{}:{}:{}: ", file.display(), at.line, at.column)?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// The candidate most like `word`, when one is near enough to have been meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word.to_lowercase(), candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(word.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Why a file that somebody named is not read.
pub fn unreadable(file: &Path, error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("there is no file {}", file.display()),
        kind => format!("cannot read {}: {kind}", file.display()),
    }
}
