//! Search for agents by what they offer.

use crate::words::fold;
use interlingua_model::card::{Card, Skill};

/// What an agent must have, each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Exactly this skill: by its name, its id, or the capability it declares.
    pub skill: Option<String>,
    /// A skill with this tag.
    pub tag: Option<String>,
    /// From this organisation.
    pub provider: Option<String>,
    /// All of these words, somewhere in what it says of itself.
    pub words: Option<String>,
}

impl Search {
    /// Does an agent fit, by its card and those of its skills that may be seen?
    pub fn fits<'a>(&self, card: &Card, skills: impl Iterator<Item = &'a Skill> + Clone) -> bool {
        self.skill.as_deref().is_none_or(|wanted| skills.clone().any(|skill| is(skill, wanted)))
            && self.tag.as_deref().is_none_or(|wanted| skills.clone().any(|skill| has_tag(skill, wanted)))
            && self
                .provider
                .as_deref()
                .is_none_or(|wanted| card.provider.as_ref().is_some_and(|provider| same(&provider.name, wanted)))
            && self.words.as_deref().is_none_or(|wanted| says(card, skills, wanted))
    }
}

fn is(skill: &Skill, wanted: &str) -> bool {
    skill.id.skill.as_str() == wanted || skill.capability.as_deref() == Some(wanted) || skill.id.to_string() == wanted
}

fn has_tag(skill: &Skill, wanted: &str) -> bool {
    skill.tags.iter().any(|tag| same(tag, wanted))
}

fn same(a: &str, b: &str) -> bool {
    fold(a) == fold(b)
}

fn says<'a>(card: &Card, skills: impl Iterator<Item = &'a Skill>, wanted: &str) -> bool {
    let mut about = fold(&format!("{} {} {}", card.peer, card.title, card.description));
    about.extend(card.provider.iter().map(|provider| format!(" {}", fold(&provider.name))));
    for skill in skills {
        let tags = skill.tags.join(" ");
        about.push_str(&fold(&format!(" {} {} {} {tags}", skill.id.skill, skill.title, skill.description)));
    }
    fold(wanted).split_whitespace().all(|word| about.contains(word))
}
