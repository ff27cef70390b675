//! Maps the tool name of a request to a skill.
//!
//! The table is made from the registry, and names are looked up whole; a name is never split, because `__` may be part of any piece of it
//! (H-13). Whether the caller may use the skill is decided later and elsewhere.

use std::collections::HashMap;

use interlingua_model::{Fault, FaultKind, Noun, SkillId, Target, Text};

use super::translators::Translators;

/// What a name means: a target, and the translator its skill was registered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub target: Target,
    pub translator: Text,
}

/// Who knows the names.
pub trait Names {
    fn named(&self, spelt: &str) -> Result<Named, Fault>;
}

/// A name two skills claim. It means neither (H-13).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is claimed by {first} and by {second}, and means neither")]
pub struct Collision {
    pub name: String,
    pub first: SkillId,
    pub second: SkillId,
}

/// All spellings of all registered skills. As large as the registry it is made from, which is bounded.
#[derive(Debug, Clone, Default)]
pub struct Table {
    skills: Vec<(SkillId, Text)>,
    own: HashMap<String, usize>,
    /// Names that more than one skill claims as its own, and which.
    contested: HashMap<String, Vec<usize>>,
    /// `None`: several claim it.
    short: HashMap<String, Option<usize>>,
}

impl Table {
    /// Makes the table from skills and the name of the translator each was registered with. A skill of a translator nobody
    /// registered has only its id for a name.
    pub fn build(
        translators: &Translators,
        skills: impl IntoIterator<Item = (SkillId, Text)>,
    ) -> (Table, Vec<Collision>) {
        let mut table = Table::default();
        let mut collisions = Vec::new();
        for (skill, translator) in skills {
            let spellings = translators.get(&translator).map(|it| it.spell(&skill)).unwrap_or_default();
            let index = table.skills.len();
            for name in spellings.own.into_iter().chain([skill.to_string()]) {
                if let Some(&first) = table.own.get(&name) {
                    table.contested.entry(name.clone()).or_insert_with(|| vec![first]).push(index);
                    let first = table.skills[first].0.clone();
                    collisions.push(Collision { name, first, second: skill.clone() });
                } else {
                    table.own.insert(name, index);
                }
            }
            for name in spellings.short {
                table.short.entry(name).and_modify(|claim| *claim = None).or_insert(Some(index));
            }
            table.skills.push((skill, translator));
        }
        (table, collisions)
    }
}

impl Names for Table {
    fn named(&self, spelt: &str) -> Result<Named, Fault> {
        if let Some(claims) = self.contested.get(spelt) {
            let ids: Vec<String> = claims.iter().map(|claim| self.skills[*claim].0.to_string()).collect();
            let why = format!("several tools are called {spelt:?}: say {}", ids.join(" or "));
            return Err(Fault::caller(FaultKind::InvalidInput, why));
        }
        let index = match (self.own.get(spelt), self.short.get(spelt)) {
            (Some(&index), _) | (None, Some(&Some(index))) => index,
            (None, Some(None)) => return Err(Fault::caller(FaultKind::InvalidInput, several(spelt))),
            (None, None) => return Err(Fault::caller(FaultKind::NotFound(Noun::Skill), unknown(spelt))),
        };
        let (skill, translator) = &self.skills[index];
        Ok(Named { target: Target::Skill(skill.clone(), None), translator: translator.clone() })
    }
}

fn several(spelt: &str) -> String {
    format!("several tools are called {spelt:?}: spell the name with its server")
}

fn unknown(spelt: &str) -> String {
    format!("no tool is called {spelt:?}")
}
