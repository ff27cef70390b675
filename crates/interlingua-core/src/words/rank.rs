//! When no phrase matches: what to make of the hits of the full-text index.
//!
//! One hit is taken only if it is good and clearly better than the next; otherwise the speaker is asked. Arguments are
//! never cut out of free text: only what stands in quotation marks can fill the one text a skill requires.

use super::field::{field, required};
use super::token::tokens;
use super::value::Wanted;
use crate::card::Skill;
use crate::id::SkillId;
use crate::json::{Json, Tree};
use crate::ports::Hit;

use super::matcher::MAX_CANDIDATES;

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

/// The arguments a text gives a skill that was found by ranking: what it quotes, if the skill requires exactly one text
/// and the text has exactly one quotation; otherwise none, and the skill's form asks.
pub fn quoted_args(skill: &Skill, text: &str) -> Json {
    let names = required(&skill.input);
    let [name] = &names[..] else { return Json::empty_object() };
    let is_text = field(&skill.input, name).is_some_and(|field| field.wanted == Wanted::Text);
    let tokens = tokens(text).unwrap_or_default();
    let mut quotations = tokens.iter().filter_map(|token| token.quoted);
    match (is_text, quotations.next(), quotations.next()) {
        (true, Some((start, end)), None) => {
            let argument = (name.to_string(), Tree::from(&text[start..end]));
            Json::from_tree(Tree::Object([argument].into_iter().collect()))
        }
        _ => Json::empty_object(),
    }
}
