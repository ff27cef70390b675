//! Decision by full-text rank, when no phrase matches.
//!
//! A hit is taken only if it is good and clearly better than the next; otherwise the speaker is asked. The arguments in the sentence are
//! read in [`given`](super::given).

use std::collections::HashSet;

use super::field::{field, required};
use super::given::is_figures;
use super::lexicon::{Lexicon, any_has};
use super::matcher::{MAX_CANDIDATES, without_courtesy};
use super::token::tokens;
use super::value::Kind;
use interlingua_model::card::Skill;
use interlingua_model::id::SkillId;
use interlingua_model::ports::Hit;

/// How good a hit must be, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    pub threshold: f64,
    /// How much better than the next one.
    pub margin: f64,
}

impl Default for Bar {
    fn default() -> Bar {
        Bar { threshold: 0.5, margin: 0.15 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranked {
    One(SkillId),
    /// Best first: ask which.
    Several(Vec<SkillId>),
    None,
}

/// Decides on hits of skills the speaker may call, in any order.
pub fn rank(hits: &[Hit], bar: Bar) -> Ranked {
    let mut hits: Vec<(f64, SkillId)> = hits
        .iter()
        .filter(|hit| hit.score > 0.0)
        .filter_map(|hit| Some((hit.score, hit.skill.parse().ok()?)))
        .collect();
    hits.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    let runner_up = hits.get(1).map_or(0.0, |(score, _)| *score);
    let clear = |score: f64| score >= bar.threshold && (hits.len() == 1 || score - runner_up >= bar.margin);
    match hits.first() {
        None => Ranked::None,
        Some((score, skill)) if clear(*score) => Ranked::One(skill.clone()),
        Some(_) => Ranked::Several(hits.into_iter().map(|(_, skill)| skill).take(MAX_CANDIDATES).collect()),
    }
}

/// What a sentence is about: its words without those that any wish to be shown something has, and without its numbers. `None`
/// when nothing is left.
pub fn subject(text: &str) -> Option<String> {
    let lists: [fn(&Lexicon) -> &'static [&'static str]; 3] =
        [|lexicon| lexicon.showing, |lexicon| lexicon.little, |lexicon| lexicon.asking];
    let tokens = tokens(text)?;
    let tells = |word: &&str| !is_figures(word) && !lists.iter().any(|list| any_has(list, word));
    let told: Vec<&str> = without_courtesy(&tokens).iter().map(|token| token.core.as_str()).filter(tells).collect();
    Some(told.join(" ")).filter(|told| !told.trim().is_empty())
}

/// What a sentence says of the skill it means, beside what the index finds in it.
struct Shape {
    words: HashSet<String>,
    /// It has a number.
    number: bool,
    /// It is a question.
    asks: bool,
}

impl Shape {
    fn of(text: &str) -> Shape {
        let tokens = tokens(text).unwrap_or_default();
        let plain = without_courtesy(&tokens);
        let asks = plain.first().is_some_and(|token| any_has(|lexicon| lexicon.asking, &token.core));
        let number = tokens.iter().any(|token| token.quoted.is_none() && is_figures(&token.core));
        Shape { words: tokens.into_iter().map(|token| token.core).collect(), number, asks }
    }

    /// How well a skill fits: one that requires a number fits a sentence that has one better than one that takes none and is
    /// not named; a question is answered by a skill that looks something up.
    fn fits(&self, skill: &Skill) -> f64 {
        let is_number = |kind: Kind| matches!(kind, Kind::Integer | Kind::Number);
        let required = required(&skill.input);
        let takes = required.iter().any(|name| field(&skill.input, name).is_some_and(|field| is_number(field.kind)));
        let verb = skill.id.skill.as_str().split(['_', '-', '.']).next().unwrap_or_default();
        let number = match (self.number, takes) {
            (true, true) => MORE,
            (true, false) if !self.words.contains(verb) => LESS,
            (true, false) | (false, _) => 1.0,
        };
        let asks = if self.asks && LOOKS_UP.contains(&verb) { MORE } else { 1.0 };
        number * asks
    }
}

/// What a good and a bad fit make of a score.
const MORE: f64 = 1.5;
const LESS: f64 = 0.2;

/// How names of skills begin that look something up.
const LOOKS_UP: [&str; 16] = [
    "check", "count", "describe", "fetch", "find", "get", "info", "list", "look", "lookup", "query", "read", "search",
    "show", "status", "view",
];

/// Scores again by the shape of the sentence. Only their order changes: the best keeps the score that the index gave it, so
/// that a weak hit does not become a good one.
pub fn refit<'s>(hits: &mut [Hit], text: &str, skill: impl Fn(&SkillId) -> Option<&'s Skill>) {
    let shape = Shape::of(text);
    let best = |hits: &[Hit]| hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
    let before = best(hits);
    for hit in hits.iter_mut() {
        let known = hit.skill.parse().ok().and_then(|id| skill(&id));
        hit.score *= known.map_or(1.0, |skill| shape.fits(skill));
    }
    let after = best(hits);
    if after > 0.0 {
        hits.iter_mut().for_each(|hit| hit.score *= before / after);
    }
}
