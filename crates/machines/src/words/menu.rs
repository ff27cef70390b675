//! Help text: what the hub can be asked for, in a few lines. It answers a greeting, and words that match nothing.

use std::collections::BTreeMap;

use super::lexicon::Language;
use super::say::shown;
use Language::{English, Spanish};
use interlingua_model::card::Skill;

/// More lines than these are a list, not an answer.
pub const MAX_LINES: usize = 10;
/// In characters.
const LONGEST: usize = 72;

/// A greeting, and what this speaker can ask for. `skills` are those it may call.
pub fn greeting(language: Language, skills: &[&Skill]) -> String {
    let hello = match language {
        English => "Hello! ",
        Spanish => "¡Hola! ",
    };
    format!("{hello}{}", listed(language, skills))
}

/// No skill fits what was said: says so, and what there is.
pub fn nothing_fits(language: Language, skills: &[&Skill]) -> String {
    let head = match language {
        English => "I found no skill for that. Ask for the list of skills, or say it in other words.",
        Spanish => "No encontré ninguna habilidad para eso. Pide la lista de habilidades o dilo con otras palabras.",
    };
    format!("{head}\n{}", listed(language, skills))
}

fn listed(language: Language, skills: &[&Skill]) -> String {
    let offered: Vec<&Skill> = skills.iter().copied().filter(|skill| !is_help(skill)).collect();
    let head = match (language, offered.is_empty()) {
        (English, false) => "I can do this:",
        (Spanish, false) => "Puedo hacer esto:",
        (English, true) => "I can do nothing for you yet.",
        (Spanish, true) => "Todavía no puedo hacer nada por ti.",
    };
    let chosen = chosen(&offered);
    let more = offered.len() - chosen.len();
    let rest = (more > 0).then(|| match language {
        English => format!("… and {more} more: interlingua skills"),
        Spanish => format!("… y {more} más: interlingua skills"),
    });
    let lines = chosen.into_iter().map(line);
    std::iter::once(head.to_owned()).chain(lines).chain(rest).collect::<Vec<_>>().join("\n")
}

/// Some of every peer before more of one, peers that somebody put here before the hub's own; in order of their names.
fn chosen<'s>(skills: &[&'s Skill]) -> Vec<&'s Skill> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(MenuRank, usize, &Skill)> = skills
        .iter()
        .map(|skill| {
            let before = seen.entry(skill.id.peer.as_str()).or_default();
            *before += 1;
            (standing(skill), *before, *skill)
        })
        .collect();
    ranked.sort_by(|a, b| (a.0, a.1, &a.2.id).cmp(&(b.0, b.1, &b.2.id)));
    ranked.truncate(MAX_LINES);
    ranked.sort_by(|a, b| (a.0, &a.2.id).cmp(&(b.0, &b.2.id)));
    ranked.into_iter().map(|(_, _, skill)| skill).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MenuRank {
    Own,
    Local,
    Hub,
}

/// Whose a skill is: the names of the built-in peers are reserved.
fn standing(skill: &Skill) -> MenuRank {
    match skill.id.peer.as_str() {
        "hub" | "graph" => MenuRank::Hub,
        "local" => MenuRank::Local,
        _ => MenuRank::Own,
    }
}

/// Whoever reads this has asked for it already.
fn is_help(skill: &Skill) -> bool {
    (skill.id.peer.as_str(), skill.id.skill.as_str()) == ("hub", "help")
}

/// The first sentence of what a skill says of itself.
fn line(skill: &Skill) -> String {
    let first = skill.description.trim().lines().next().unwrap_or_default();
    let sentence = first.split_once(". ").map_or(first, |(sentence, _)| sentence);
    let id = shown(&skill.id.to_string(), 120);
    match shown(sentence.trim_end_matches('.'), LONGEST) {
        none if none.is_empty() => format!("- {id}"),
        about => format!("- {id}: {about}"),
    }
}
