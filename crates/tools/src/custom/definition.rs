//! Short tool definition: a list of parameters and the returned value, converted to JSON Schema.

use interlingua_model::json::Tree;
use serde::Deserialize;
use serde_json::{Map, json};

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// One parameter of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameter {
    name: String,
    r#type: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    r#enum: Option<Vec<Tree>>,
    #[serde(default)]
    default: Option<Tree>,
}

/// The schema of an object with these parameters and no others.
pub(super) fn input(parameters: Vec<Parameter>) -> Result<Tree, String> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (index, parameter) in parameters.into_iter().enumerate() {
        if !TYPES.contains(&parameter.r#type.as_str()) {
            return Err(format!("item {index}: `type` must be one of {}", TYPES.join(", ")));
        }
        let mut property = json!({ "type": parameter.r#type });
        let known = [
            ("description", parameter.description.map(Tree::String)),
            ("enum", parameter.r#enum.map(Tree::Array)),
            ("default", parameter.default),
        ];
        for (key, value) in known {
            if let Some(value) = value {
                property[key] = value;
            }
        }
        if parameter.required {
            required.push(parameter.name.clone());
        }
        if properties.insert(parameter.name.clone(), property).is_some() {
            return Err(format!("item {index}: `{}` is there already", parameter.name));
        }
    }
    Ok(json!({
        "$schema": DIALECT,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

/// `{"type": …, "description": …}`. A type that is not one of JSON's says nothing to a machine and is left out.
pub(super) fn output(mut returns: Map<String, Tree>) -> Tree {
    let mut schema = json!({ "$schema": DIALECT });
    if let Some(Tree::String(kind)) = returns.remove("type")
        && TYPES.contains(&kind.as_str())
    {
        schema["type"] = kind.into();
    }
    if let Some(description) = returns.remove("description") {
        schema["description"] = description;
    }
    schema
}
