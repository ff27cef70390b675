//! Redacts the output of a program: the values of allowed environment variables are removed from notes and errors. A result is the tool's
//! answer and is not changed.

use std::ffi::OsString;

/// Shorter values occur by chance everywhere.
const SHORTEST: usize = 4;
const BLOT: &str = "[redacted]";

#[derive(Debug)]
pub struct Redact {
    secrets: Vec<String>,
}

impl Redact {
    pub fn new(environment: &[(String, OsString)]) -> Redact {
        let mut secrets: Vec<String> = environment
            .iter()
            .filter_map(|(_, value)| value.to_str())
            .filter(|value| value.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        // One value may contain another: the longer goes first.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Redact { secrets }
    }

    /// One line for people: without secrets and control characters, of at most `max` characters.
    pub fn line(&self, text: &str, max: usize) -> String {
        let clean = self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, BLOT));
        let mut line: String = clean.chars().filter(|c| !c.is_control() || *c == '\t').take(max).collect();
        if clean.chars().nth(max).is_some() {
            line.push('…');
        }
        line
    }
}
