//! Filtered views: a named part of the hub under an address of its own, in which tools are selected, renamed, described otherwise or given
//! fixed arguments. A view shows less, never more: permissions are decided by the hub, with the skill's real name.

use std::collections::HashMap;

use interlingua_model::{Fault, FaultKind, Json, Noun, Principal, Schema, Skill, SkillId, Text};
use serde_json::Value;

use crate::settings::{McpView, McpViewTool};
use interlingua_hub::policy;

#[derive(Debug, Clone)]
pub(super) struct View {
    allow: Vec<String>,
    deny: Vec<String>,
    pub(super) tools: Vec<Renamed>,
}

/// A tool under a name of the view's own.
#[derive(Debug, Clone)]
pub(super) struct Renamed {
    pub(super) name: Text,
    pub(super) skill: SkillId,
    pub(super) fixed: Option<Json>,
    description: Option<Text>,
}

impl View {
    pub(super) fn new(written: &McpView) -> View {
        let tool = |(name, tool): (&String, &McpViewTool)| Renamed {
            name: name.as_str().into(),
            skill: tool.skill.0.clone(),
            fixed: (!tool.arguments.is_empty()).then(|| Value::Object(tool.arguments.clone()).into()),
            description: tool.description.as_deref().map(Into::into),
        };
        View {
            allow: written.allow.clone(),
            deny: written.deny.clone(),
            tools: written.tools.iter().map(tool).collect(),
        }
    }

    /// Is this skill in the view under its own name?
    pub(super) fn shows(&self, id: &SkillId) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| policy::matches(pattern, id));
        any(&self.allow) && !any(&self.deny)
    }
}

impl Renamed {
    /// The definition as the view tells it: what is fixed is not asked for.
    pub(super) fn defined(&self, skill: &Skill) -> Skill {
        let mut skill = skill.clone();
        if self.fixed.is_none() && self.description.is_none() {
            return skill;
        }
        // It is not its server's definition any more.
        skill.raw = None;
        if let Some(description) = &self.description {
            skill.description = description.clone();
        }
        if let Some(Value::Object(fixed)) = self.fixed.as_ref().map(Json::tree) {
            let mut input = skill.input.0.tree().clone();
            if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
                properties.retain(|name, _| !fixed.contains_key(name));
            }
            if let Some(required) = input.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|name| name.as_str().is_none_or(|name| !fixed.contains_key(name)));
            }
            skill.input = Schema(input.into());
        }
        skill
    }
}

/// There is no such view. Whose hub it is hears which there are.
pub(super) fn none(views: &HashMap<Text, View>, by: &Principal) -> Fault {
    let mut text = "there is no view of this name".to_owned();
    if by.is_hub_owner() {
        let mut names: Vec<&str> = views.keys().map(|name| &**name).collect();
        names.sort_unstable();
        text += &match names.is_empty() {
            true => "; the configuration has none (`mcp.views`)".to_owned(),
            false => format!("; there are: {}", names.join(", ")),
        };
    }
    Fault::caller(FaultKind::NotFound(Noun::Session), text).told_to(by)
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Effects, SkillKind};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_fixed_is_not_asked_for() {
        let fixed: Json = json!({"folder": "/public"}).into();
        let renamed = Renamed {
            name: "find".into(),
            skill: SkillId::new("files", "search"),
            fixed: Some(fixed),
            description: Some("Finds public files.".into()),
        };
        let input = json!({"type": "object", "properties": {"folder": {}, "text": {}}, "required": ["folder", "text"]});
        let id = SkillId::new("files", "search");
        let skill = Skill::new(id, SkillKind::Tool, "Searches.", Schema(input.into()), Effects::unknown());
        let told = renamed.defined(&skill);
        assert_eq!(
            (&*told.description, told.input.0.tree()["required"].clone()),
            ("Finds public files.", json!(["text"]))
        );
        assert!(told.input.0.tree()["properties"].get("folder").is_none());
    }
}
