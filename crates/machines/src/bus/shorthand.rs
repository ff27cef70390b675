//! Shorthand for JSON Schema: `{"origin": "string", "seats": "integer"}` for an object with these members, all of them required.

use serde_json::{Map, Value, json};

use interlingua_model::card::Schema;
use interlingua_model::json::{Json, Tree};

/// The types JSON Schema knows.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
/// A member that only a whole schema has.
const WHOLE: [&str; 9] =
    ["$schema", "$ref", "$defs", "properties", "required", "additionalProperties", "oneOf", "anyOf", "allOf"];

/// The schema that is meant: a whole one as it stands, a short one written out. `None` for what is no object.
pub fn schema(given: &Json) -> Option<Schema> {
    let members = given.tree().as_object()?;
    let whole = WHOLE.iter().any(|member| members.contains_key(*member))
        || members.get("type").and_then(Tree::as_str) == Some("object");
    Some(Schema(if whole { given.clone() } else { object(members).into() }))
}

fn object(members: &Map<String, Value>) -> Value {
    let properties: Map<String, Value> = members.iter().map(|(name, kind)| (name.clone(), property(kind))).collect();
    let required: Vec<&String> = members.keys().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn property(kind: &Value) -> Value {
    match kind {
        Value::String(name) if TYPES.contains(&name.as_str()) => json!({ "type": name }),
        Value::String(words) => json!({ "description": words }),
        Value::Object(members) if members.contains_key("type") => kind.clone(),
        Value::Object(members) => object(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => json!({}),
    }
}

/// A result as its schema wants it: one that is no object, where an object with one member was promised, is that member.
pub fn result(result: &Json, promised: Option<&Schema>) -> Json {
    let properties = promised.and_then(|schema| schema.0.get("properties")).and_then(Tree::as_object);
    match properties.filter(|properties| properties.len() == 1 && !result.is_object()) {
        None => result.clone(),
        Some(properties) => {
            let member = properties.keys().map(|name| (name.clone(), result.tree().clone()));
            Json::from_tree(Tree::Object(member.collect()))
        }
    }
}
