//! Site definitions: websites without an API, described as named sequences of browser steps with parameters, so that they can be called.
//!
//! Reading order: [`Site`] and [`Step`] (the content of a definition), [`mod@read`] (reading and validation), [`Template`] (values with
//! placeholders), [`bind`] (parameters into steps), [`skill`] (an action as a skill), [`repair`] (finding an element after a redesign),
//! [`proposal`] (the repaired definition), [`session`] (what persists between calls), [`extract`] (extraction from a page), [`advice`]
//! (questions to a model about a page), [`Trouble`] (failures on the way).
//!
//! Pure: no browser, no network, no file, no clock. A definition is code that acts in the user's name, so nothing in it can hold a script,
//! and values of callers only ever become values: never selectors, never addresses without escaping.

pub mod advice;
pub mod bind;
pub mod extract;
pub mod proposal;
mod read;
mod redact;
pub mod repair;
pub mod session;
mod skill;
mod template;
mod trouble;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use interlingua_model::address::{Address, Origin};

pub use read::{Problem, read};
pub use redact::Numbers;
pub use skill::skills;
pub use template::{BadTemplate, Piece, Template};
pub use trouble::Trouble;

use interlingua_model::card::{Effects, Phrase};
use interlingua_model::digest::Digest;
use interlingua_model::id::{Text, Version};
use interlingua_model::json::Tree;

/// One website, and what can be done with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    pub id: Text,
    pub name: Text,
    pub description: Text,
    pub version: Version,
    pub base: Address,
    /// Whom the page may speak to: the origin of `base` first, then those the definition adds.
    pub origins: Vec<Origin>,
    /// Names that resolve to addresses inside are reached too. A literal address in `base` or `origins` needs no leave.
    pub private: bool,
    /// A parameter no step uses is refused, instead of being ignored with a note.
    pub strict: bool,
    /// `None`: every call begins with nothing.
    pub sessions: Option<session::Sessions>,
    pub actions: BTreeMap<Text, Action>,
    /// Of the whole definition as it was written.
    pub digest: Digest,
    /// As it was written: what a repaired version is made from.
    pub source: Tree,
}

/// A named sequence of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub name: Text,
    pub description: Text,
    /// In order of first use, then those no step uses.
    pub parameters: Vec<Parameter>,
    pub phrases: Vec<Phrase>,
    pub effects: Effects,
    pub capability: Option<Text>,
    /// Equal calls may be answered from memory for this long.
    pub cached: Option<Duration>,
    /// For the whole sequence.
    pub limit: Duration,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub does: Does,
    pub limit: Duration,
    /// What this step does cannot be undone by the one who asked: buying, sending, deleting. Never repeated, and never done
    /// to an element that was only guessed.
    pub commits: bool,
    /// A picture of the page after it.
    pub picture: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Does {
    Navigate { to: Template },
    Click { on: Locator },
    Type { into: Locator, text: Template },
    Select { from: Locator, option: Template },
    Wait { until: Locator },
    Extract(Extract),
}

/// What is taken out of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract {
    pub rows: Locator,
    pub fields: Vec<(Text, extract::Field)>,
    pub name: Option<Text>,
    pub most: usize,
    /// The rows are texts, and a model finds the fields in them: only where the definition asks for it.
    pub by_model: bool,
}

impl Does {
    /// As definitions write it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Does::Navigate { .. } => "navigate",
            Does::Click { .. } => "click",
            Does::Type { .. } => "type",
            Does::Select { .. } => "select",
            Does::Wait { .. } => "wait",
            Does::Extract(_) => "extract",
        }
    }

    pub fn locator(&self) -> Option<&Locator> {
        match self {
            Does::Navigate { .. } => None,
            Does::Click { on } => Some(on),
            Does::Type { into, .. } => Some(into),
            Does::Select { from, .. } => Some(from),
            Does::Wait { until } => Some(until),
            Does::Extract(extract) => Some(&extract.rows),
        }
    }

    pub fn template(&self) -> Option<&Template> {
        match self {
            Does::Navigate { to } => Some(to),
            Does::Type { text, .. } => Some(text),
            Does::Select { option, .. } => Some(option),
            Does::Click { .. } | Does::Wait { .. } | Does::Extract(_) => None,
        }
    }
}

/// How an element is found: the selector that was written, then its alternates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator {
    pub tries: Vec<Text>,
    /// The name under `selectors` that the step used: one place to mend.
    pub alias: Option<Text>,
    /// What the element looked like when it was last found.
    pub known: Option<Box<repair::Fingerprint>>,
}

impl Locator {
    pub fn first(&self) -> &str {
        self.tries.first().map(|text| &**text).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: Text,
    /// The JSON Schema of its value.
    pub schema: Tree,
    pub required: bool,
    pub default: Option<Text>,
    /// Typed, but never logged, traced, pictured or told to a model.
    pub secret: bool,
}
