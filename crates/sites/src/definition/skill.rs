//! Skills of a site: one for each action, with a schema made from its parameters.

use super::session::{self, Sessions};
use super::{Action, Does, Parameter, Site};
use interlingua_model::card::{Schema, Skill, SkillKind};
use interlingua_model::id::{PeerId, SkillId};
use interlingua_model::json::{Json, Tree};

/// The skills of a site under the name its peer has in the hub.
pub fn skills(site: &Site, peer: &PeerId) -> Vec<Skill> {
    site.actions.values().map(|action| skill(site, peer, action)).collect()
}

fn skill(site: &Site, peer: &PeerId, action: &Action) -> Skill {
    let id = SkillId::new(peer.as_str(), &*action.name);
    let description = match action.description.is_empty() {
        true => format!("{} ({})", site.description, action.name.replace('_', " ")),
        false => action.description.to_string(),
    };
    let input = Schema(Json::from_tree(input(&action.parameters, site)));
    let mut skill = Skill::new(id, SkillKind::Tool, description, input, action.effects);
    skill.title = action.name.replace('_', " ").into();
    skill.version = site.version.clone();
    skill.output = Some(Schema(Json::from_tree(output(action))));
    skill.capability = action.capability.clone();
    skill.category = Some("website".into());
    skill.phrases = action.phrases.clone();
    skill.sealed()
}

fn input(parameters: &[Parameter], site: &Site) -> Tree {
    let mut properties: serde_json::Map<String, Tree> =
        parameters.iter().map(|one| (one.name.to_string(), one.schema.clone())).collect();
    if let Some(sessions) = &site.sessions {
        properties.insert(session::ARGUMENT.into(), named(sessions));
    }
    let required = parameters.iter().filter(|one| one.required).map(|one| Tree::from(&*one.name)).collect();
    let mut schema = serde_json::Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Tree::Object(properties));
    schema.insert("required".into(), Tree::Array(required));
    if site.strict {
        schema.insert("additionalProperties".into(), false.into());
    }
    Tree::Object(schema)
}

/// How a call says which session it means.
fn named(sessions: &Sessions) -> Tree {
    let otherwise = match &sessions.usual {
        Some(usual) => format!("`{usual}` without it"),
        None => "without it nothing is kept".to_owned(),
    };
    let description = format!(
        "A session of your own, in which a login stays for {} s after its last use; {otherwise}",
        sessions.keep.as_secs()
    );
    serde_json::json!({"type": "string", "pattern": session::PATTERN, "description": description})
}

fn output(action: &Action) -> Tree {
    let extracts = action.steps.iter().any(|step| matches!(step.does, Does::Extract(_)));
    let rows = || serde_json::json!({"type": "array", "items": {"type": "object"}});
    let mut properties = serde_json::Map::new();
    if extracts {
        properties.insert("extracted_data".into(), rows());
    }
    properties.insert("extracts".into(), serde_json::json!({"type": "object", "additionalProperties": rows()}));
    properties.insert("source_url".into(), serde_json::json!({"type": "string"}));
    properties.insert("trace".into(), rows());
    properties.insert("session".into(), serde_json::json!({"type": "object"}));
    properties.insert("proposed".into(), serde_json::json!({"type": "object"}));
    let required: Vec<Tree> = if extracts { vec!["extracted_data".into()] } else { Vec::new() };
    serde_json::json!({"type": "object", "properties": properties, "required": required})
}
