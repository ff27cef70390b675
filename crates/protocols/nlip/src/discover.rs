//! The answer to "what can you do": skills as lines for people and as one `interlingua-skills` object for programs, schemas included. NLIP
//! itself has no card.

use interlingua_machines::words::{Language, menu};
use interlingua_model::Skill;
use interlingua_model::json::Tree;
use serde_json::json;

use super::client::skills::IMPORTED;
use super::encode::{self, ReplyTo};
use super::labels;
use super::wire::{Message, Submessage};

/// Skills the caller may call, in the order given; of them a few lines for people.
pub fn skills<'a>(skills: impl IntoIterator<Item = &'a Skill>, tokens: &[Submessage], to: ReplyTo) -> Message {
    let skills: Vec<&Skill> = skills.into_iter().collect();
    let list: Tree = skills.iter().map(|skill| structured(skill)).collect();
    let list = Submessage::json(json!({"skills": list}).into()).labelled(labels::SKILLS);
    encode::with_parts(&menu::greeting(Language::English, &skills), vec![list], tokens, to)
}

fn structured(skill: &Skill) -> Tree {
    let mut value = json!({
        "skill": skill.id.to_string(),
        "kind": skill.kind.as_str(),
        "title": &*skill.title,
        "description": &*skill.description,
        "version": &*skill.version,
        "input": skill.input.0.tree(),
        "effects": skill.effects.names().collect::<Vec<_>>(),
    });
    if let Some(output) = &skill.output {
        value["output"] = output.0.tree().clone();
    }
    if let Some(capability) = &skill.capability {
        value["capability"] = (**capability).into();
    }
    if skill.tags.iter().any(|tag| **tag == *IMPORTED) {
        value[IMPORTED] = true.into();
    }
    if !skill.examples.is_empty() {
        value["examples"] = skill.examples.iter().map(|example| &**example).collect();
    }
    value
}
