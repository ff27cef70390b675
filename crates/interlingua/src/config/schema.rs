//! The JSON Schema of the configuration, from the types that read it.

use schemars::generate::SchemaSettings;

use super::Config;

/// Draft 2020-12; what an editor needs to complete and check a configuration file.
pub fn schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    tokens_may_be_a_file(&mut schema);
    schema
}

/// `access.tokens` is a list, or `file:PATH` of one; the type only knows the list.
fn tokens_may_be_a_file(schema: &mut serde_json::Value) {
    let Some(tokens) = schema.pointer_mut("/$defs/Access/properties/tokens") else { return };
    if let Some(tokens) = tokens.as_object_mut() {
        tokens.insert("type".into(), serde_json::json!(["array", "string"]));
        tokens.insert("pattern".into(), "^file:".into());
    }
}

/// Every key, as paths from the top; `*` stands for a name of the user's own, list items add nothing.
pub fn keys() -> Vec<String> {
    let schema = schema();
    let mut paths = Vec::new();
    walk(&schema, &schema, "", &mut paths);
    paths
}

fn walk(root: &serde_json::Value, node: &serde_json::Value, path: &str, paths: &mut Vec<String>) {
    let target = node.get("$ref").and_then(serde_json::Value::as_str).and_then(|name| name.strip_prefix('#'));
    if let Some(resolved) = target.and_then(|pointer| root.pointer(pointer)) {
        return walk(root, resolved, path, paths);
    }
    for choice in node.get("anyOf").and_then(serde_json::Value::as_array).into_iter().flatten() {
        walk(root, choice, path, paths);
    }
    if let Some(items) = node.get("items") {
        walk(root, items, path, paths);
    }
    if let Some(values) = node.get("additionalProperties").filter(|values| values.is_object()) {
        walk(root, values, &interlingua_settings::document::join(path, "*"), paths);
    }
    for (name, property) in node.get("properties").and_then(serde_json::Value::as_object).into_iter().flatten() {
        let below = interlingua_settings::document::join(path, name);
        paths.push(below.clone());
        walk(root, property, &below, paths);
    }
}
