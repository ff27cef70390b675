//! Scores the candidates for an element whose selector matches nothing any more, or another element than before.
//!
//! This module only scores: candidates are collected elsewhere, and every choice is reported. A candidate is taken when it is good enough
//! and clearly better than the next one; otherwise the step fails as it would have.

use serde::{Deserialize, Serialize};

use super::extract::{self, Field};
use interlingua_model::id::Text;

/// What an element looked like. Empty texts say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fingerprint {
    pub tag: String,
    #[serde(rename = "type")]
    pub input: String,
    pub role: String,
    /// The accessible name.
    pub name: String,
    pub label: String,
    /// The attribute `name`.
    pub field: String,
    pub id: String,
    pub placeholder: String,
    pub text: String,
    pub test: String,
    pub classes: Vec<String>,
    /// Tags from the body down.
    pub path: String,
    /// A selector for this element as it is now.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selector: String,
}

/// The least a candidate must reach of what is known, and the least it must be ahead.
pub const GOOD: f64 = 0.5;
pub const MARGIN: f64 = 0.12;
/// Below this a selector that still matches has drifted to something else.
pub const SAME: f64 = 0.35;

/// The element that was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    pub index: usize,
    pub score: f64,
    pub ahead: f64,
}

/// The candidate that is meant, if one clearly is.
pub fn choose(known: &Fingerprint, candidates: &[Fingerprint]) -> Option<Chosen> {
    best(candidates.iter().map(|candidate| score(known, candidate)))
}

fn best(scores: impl Iterator<Item = f64>) -> Option<Chosen> {
    let mut scored: Vec<(usize, f64)> = scores.enumerate().collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (index, best) = *scored.first()?;
    let ahead = best - scored.get(1).map_or(0.0, |(_, next)| *next);
    (best >= GOOD && ahead >= MARGIN).then_some(Chosen { index, score: best, ahead })
}

/// From 0 to 1: how much of what is known the candidate shows.
pub fn score(known: &Fingerprint, candidate: &Fingerprint) -> f64 {
    if !same_kind(known, candidate) {
        return 0.0;
    }
    let exact = |a: &str, b: &str| if a == b { 1.0 } else { 0.0 };
    let words = |a: &str, b: &str| similar(a, b);
    let any = |hint: &str| {
        let places = [
            &candidate.id,
            &candidate.field,
            &candidate.label,
            &candidate.placeholder,
            &candidate.name,
            &candidate.test,
        ];
        places.into_iter().map(|place| similar(hint, place)).fold(0.0, f64::max)
    };
    let features = [
        (3.0, &*known.name, words(&known.name, &candidate.name)),
        (2.5, &known.label, words(&known.label, &candidate.label)),
        (2.0, &known.placeholder, words(&known.placeholder, &candidate.placeholder)),
        (2.0, &known.field, words(&known.field, &candidate.field).max(0.9 * any(&known.field))),
        (2.0, &known.id, words(&known.id, &candidate.id).max(0.9 * any(&known.id))),
        (2.5, &known.test, words(&known.test, &candidate.test)),
        (2.5, &known.text, words(&known.text, &candidate.text)),
        (0.8, &known.input, exact(&known.input, &candidate.input)),
        (0.4, &known.role, exact(&known.role, &candidate.role)),
        (0.5, &known.path, exact(&known.path, &candidate.path)),
    ];
    let (mut reached, mut possible) = (0.0, 0.0);
    for (weight, said, part) in features {
        if !said.is_empty() {
            possible += weight;
            reached += weight * part;
        }
    }
    if !known.classes.is_empty() {
        possible += 0.8;
        reached += 0.8 * similar(&known.classes.join(" "), &candidate.classes.join(" "));
    }
    if possible == 0.0 { 0.0 } else { reached / possible }
}

/// A box for text is never mended with a button.
fn same_kind(a: &Fingerprint, b: &Fingerprint) -> bool {
    let kind = |one: &Fingerprint| match (one.tag.as_str(), one.input.as_str(), one.role.as_str()) {
        ("", "", "") => 0,
        ("select", ..) | (_, _, "combobox" | "listbox") => 1,
        ("button", ..)
        | ("input", "submit" | "button" | "image" | "reset", _)
        | ("a", ..)
        | (_, _, "button" | "link") => 2,
        ("input", "checkbox" | "radio", _) | (_, _, "checkbox" | "radio" | "switch") => 3,
        ("input" | "textarea", ..) | (_, _, "textbox" | "searchbox") => 4,
        _ => 5,
    };
    let (a, b) = (kind(a), kind(b));
    a == 0 || a == b
}

/// May an element of this kind be meant?
pub fn may_be(kind: &Fingerprint, candidate: &Fingerprint) -> bool {
    same_kind(kind, candidate)
}

/// Has a selector that still matches something come to another element? What selectors go by (ids, classes, places) says little
/// then: what people see counts, and the rest only where there is nothing to see.
pub fn drifted(known: &Fingerprint, found: &Fingerprint) -> Option<f64> {
    let bare = |one: &Fingerprint| Fingerprint {
        id: String::new(),
        field: String::new(),
        test: String::new(),
        classes: Vec::new(),
        path: String::new(),
        ..one.clone()
    };
    let seen = [&known.name, &known.label, &known.placeholder, &known.text].into_iter().any(|text| !text.is_empty());
    let score = if seen { score(&bare(known), &bare(found)) } else { score(known, found) };
    (score < SAME).then_some(score)
}

/// What can be known of an element that was never seen: its kind, and what its selector and its sequence call it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Called {
    pub kind: Fingerprint,
    pub words: Vec<String>,
}

/// Reads the last part of a selector; `also` are names that others have for the element.
pub fn called(selector: &str, tag: &str, also: &[&str]) -> Called {
    let mut known = Fingerprint { tag: tag.to_owned(), ..Fingerprint::default() };
    let last = selector.rsplit([' ', '>']).next().unwrap_or_default();
    let mut rest = last;
    while let Some(at) = rest.find(['#', '.', '[']) {
        let mark = rest.as_bytes()[at];
        let after = &rest[at + 1..];
        let end = after.find(['#', '.', '[', ':', ']']).unwrap_or(after.len());
        let word = &after[..end];
        match mark {
            b'#' => known.id = word.to_owned(),
            b'.' => known.classes.push(word.to_owned()),
            _ => attribute(&mut known, word),
        }
        rest = &after[end..];
    }
    let named: String = last.chars().take_while(char::is_ascii_alphanumeric).collect();
    if !named.is_empty() && known.tag.is_empty() {
        known.tag = named.to_ascii_lowercase();
    }
    let Fingerprint { id, field, placeholder, name, test, classes, tag, input, .. } = known;
    let words =
        [id, field, placeholder, name, test].into_iter().chain(classes).chain(also.iter().map(ToString::to_string));
    Called {
        kind: Fingerprint { tag, input, ..Fingerprint::default() },
        words: words.filter(|word| !word.is_empty()).collect(),
    }
}

/// The candidate that goes by one of these names, if one clearly does.
pub fn choose_called(called: &Called, candidates: &[Fingerprint]) -> Option<Chosen> {
    best(candidates.iter().map(|candidate| score_called(called, candidate)))
}

fn score_called(called: &Called, candidate: &Fingerprint) -> f64 {
    if !same_kind(&called.kind, candidate) {
        return 0.0;
    }
    let classes = candidate.classes.join(" ");
    let Fingerprint { id, field, label, placeholder, name, test, text, .. } = candidate;
    let places = [id, field, label, placeholder, name, test, text, &classes];
    let by = |word: &String| places.iter().map(|place| similar(word, place)).fold(0.0, f64::max);
    let named = called.words.iter().map(by).fold(0.0, f64::max);
    match (called.kind.input.as_str(), called.words.is_empty()) {
        ("", _) => named,
        (input, true) => {
            if input == candidate.input {
                0.6
            } else {
                0.0
            }
        }
        (input, false) => 0.85 * named + if input == candidate.input { 0.15 } else { 0.0 },
    }
}

fn attribute(known: &mut Fingerprint, inside: &str) {
    let Some((name, value)) = inside.split_once('=') else { return };
    let value = value.trim_matches(['"', '\'']).to_owned();
    match name.trim_end_matches(['*', '^', '$', '~', '|']) {
        "type" => known.input = value,
        "name" => known.field = value,
        "placeholder" => known.placeholder = value,
        "aria-label" => known.name = value,
        "id" => known.id = value,
        "data-testid" | "data-test" => known.test = value,
        _ => {}
    }
}

/// From 0 to 1: how many of the words of `a` are in `b`, and how few others. `fromCity`, `from-city` and `From city` are the
/// same words.
pub fn similar(a: &str, b: &str) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    if a == b {
        return 1.0;
    }
    let (a, b) = (tokens(a), tokens(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let near = |x: &str, y: &str| x == y || (x.len() >= 4 && y.len() >= 4 && (x.starts_with(y) || y.starts_with(x)));
    let shared = a.iter().filter(|word| b.iter().any(|other| near(word, other))).count();
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let (shared, most, own) = (shared as f64, a.len().max(b.len()) as f64, a.len() as f64);
    // All the known words are there: what was added around them counts little.
    0.7 * (shared / own) + 0.3 * (shared / most)
}

fn tokens(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower = false;
    for c in text.chars() {
        let breaks = !c.is_alphanumeric() || (lower && c.is_uppercase());
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.truncate(32);
    words
}

/// Elements that stand side by side and are built alike, as the page shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Alike {
    pub selector: String,
    pub class: String,
    pub count: usize,
    /// The texts of the first of them.
    pub leaves: Vec<Leaf>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Leaf {
    pub selector: String,
    /// Classes and the like.
    pub class: String,
    pub text: String,
}

/// Rows that were found again.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub selector: String,
    /// In the order of the fields asked for.
    pub fields: Vec<String>,
    pub score: f64,
}

/// The group that holds what the definition asks for. Every field must find its own place.
pub fn choose_rows(rows: &str, fields: &[(Text, Field)], groups: &[Alike]) -> Option<Rows> {
    let mut best: Option<Rows> = None;
    for group in groups.iter().filter(|group| group.count >= 2) {
        let Some((places, fit)) = places(fields, &group.leaves) else { continue };
        let score = 0.75 * fit + 0.25 * similar(rows, &group.class);
        if best.as_ref().is_none_or(|best| score > best.score) {
            best = Some(Rows { selector: group.selector.clone(), fields: places, score });
        }
    }
    best.filter(|rows| rows.score >= GOOD)
}

fn places(fields: &[(Text, Field)], leaves: &[Leaf]) -> Option<(Vec<String>, f64)> {
    let mut taken = vec![false; leaves.len()];
    let mut chosen = vec![None; fields.len()];
    let mut pairs: Vec<(usize, usize, f64)> = Vec::new();
    for (index, (name, field)) in fields.iter().enumerate() {
        pairs.extend(leaves.iter().enumerate().map(|(leaf, found)| (index, leaf, fit(name, field, found))));
    }
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    let mut sum = 0.0;
    for (field, leaf, score) in pairs {
        if chosen[field].is_none() && !taken[leaf] && score > 0.0 {
            (chosen[field], taken[leaf]) = (Some(leaf), true);
            sum += score;
        }
    }
    // One field without a name to go by takes the one place that is left.
    if let [lost] =
        chosen.iter().enumerate().filter(|(_, leaf)| leaf.is_none()).map(|(at, _)| at).collect::<Vec<_>>()[..]
        && let [free] = taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(at, _)| at).collect::<Vec<_>>()[..]
    {
        chosen[lost] = Some(free);
        sum += 0.3;
    }
    let places: Option<Vec<String>> = chosen.into_iter().map(|leaf| Some(leaves[leaf?].selector.clone())).collect();
    #[expect(clippy::cast_precision_loss, reason = "a handful of fields")]
    let fit = sum / fields.len().max(1) as f64;
    places.map(|places| (places, fit))
}

fn fit(name: &str, field: &Field, leaf: &Leaf) -> f64 {
    let named = similar(&field.selector, &leaf.class).max(similar(name, &leaf.class));
    let wanted = tokens(name);
    let is = |words: &[&str]| wanted.iter().any(|word| words.contains(&word.as_str()));
    let looks = match () {
        () if is(&["price", "cost", "amount", "fare", "precio"]) => {
            leaf.text.contains(['$', '€', '£', '¥']) && extract::number(&leaf.text).is_some()
        }
        () if is(&["time", "departure", "arrival", "hora"]) => {
            leaf.text.contains(':') && leaf.text.starts_with(|c: char| c.is_ascii_digit())
        }
        () => false,
    };
    if looks { named.max(0.8) } else { named }
}
