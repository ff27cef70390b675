//! Redaction of arguments in the audit log: nothing, their shape, or their values without secrets.
//!
//! A secret is recognised by its schema (`writeOnly`, `format: password`), by its name, or by the usual forms of tokens. Names match
//! generously: redacting one value too many does no harm.

use interlingua_model::json::{Json, Tree};

/// What is kept is no longer, as JSON.
const MOST: usize = 4 * 1024;
/// Stands for a secret.
const SECRET: &str = "[secret]";
/// What names of secrets hold, in small letters and without separators.
const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "session",
    "signature",
];
/// How tokens begin.
const BEGINNINGS: [&str; 9] =
    ["ilg_", "Bearer ", "Basic ", "eyJ", "sk-", "ghp_", "github_pat_", "xoxb-", "-----BEGIN "];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    #[default]
    Off,
    /// Names, and of what kind and how long their values are.
    Redacted,
    /// All but secrets.
    Full,
}

/// What is kept of arguments that a schema describes.
pub fn kept(keep: Keep, arguments: &Json, schema: &Json) -> Option<Json> {
    let shown = match keep {
        Keep::Off => return None,
        Keep::Redacted => Json::from_tree(shape(arguments.tree())),
        Keep::Full => shown(arguments, schema),
    };
    let long = shown.as_bytes().len();
    Some(if long <= MOST { shown } else { Json::from_tree(format!("[{long} bytes]").into()) })
}

/// Arguments as somebody besides the callee is shown them: without secrets.
pub fn shown(arguments: &Json, schema: &Json) -> Json {
    Json::from_tree(without_secrets(arguments.tree(), Some(schema.tree())))
}

fn shape(value: &Tree) -> Tree {
    match value {
        Tree::Null | Tree::Bool(_) => value.clone(),
        Tree::Number(_) => "[number]".into(),
        Tree::String(text) => format!("[text of {}]", text.chars().count()).into(),
        Tree::Array(items) => items.iter().map(shape).collect(),
        Tree::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shape(value))).collect(),
    }
}

fn without_secrets(value: &Tree, schema: Option<&Tree>) -> Tree {
    if schema.is_some_and(is_secret_by_schema) {
        return SECRET.into();
    }
    let of = |name: &str| schema.and_then(|schema| schema.get("properties")?.get(name));
    match value {
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => value.clone(),
        Tree::String(text) if BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning)) => {
            SECRET.into()
        }
        Tree::String(_) => value.clone(),
        Tree::Array(items) => {
            let of_items = schema.and_then(|schema| schema.get("items"));
            items.iter().map(|item| without_secrets(item, of_items)).collect()
        }
        Tree::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let value = if is_secret_by_name(name) { SECRET.into() } else { without_secrets(value, of(name)) };
                (name.clone(), value)
            })
            .collect(),
    }
}

/// Is the value of this property a secret, by what its schema says or by its name?
pub(crate) fn is_secret(name: &str, schema: &Tree) -> bool {
    is_secret_by_schema(schema) || is_secret_by_name(name)
}

fn is_secret_by_schema(schema: &Tree) -> bool {
    schema.get("writeOnly") == Some(&Tree::Bool(true))
        || schema.get("format").and_then(Tree::as_str) == Some("password")
}

fn is_secret_by_name(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.iter().any(|secret| plain.contains(secret))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(keep: Keep, arguments: Tree) -> Option<Tree> {
        let schema = json!({"type": "object", "properties": {
            "door": {"type": "string", "writeOnly": true},
            "guests": {"type": "array", "items": {"type": "object", "properties": {"pin": {"format": "password"}}}},
        }});
        kept(keep, &Json::from_tree(arguments), &Json::from_tree(schema)).map(|kept| kept.tree().clone())
    }

    #[test]
    fn nothing_the_shape_or_all_but_secrets_is_kept() {
        let arguments = json!({"city": "Zürich", "nights": 3, "late": true, "notes": ["a", null]});
        assert_eq!(of(Keep::Off, arguments.clone()), None);
        assert_eq!(of(Keep::Full, arguments.clone()), Some(arguments.clone()));
        let shape = json!({"city": "[text of 6]", "nights": "[number]", "late": true, "notes": ["[text of 1]", null]});
        assert_eq!(of(Keep::Redacted, arguments), Some(shape));
    }

    #[test]
    fn a_secret_is_never_kept_whatever_it_is_called() {
        let secret = "hunter2-hunter2";
        let arguments = json!({
            "door": secret, "API-Key": secret, "userPassword": {"old": secret, "new": secret}, "x": "Bearer hunter2-hunter2",
            "headers": {"Authorization": secret, "Cookie": [secret]}, "y": "eyJhunter2-hunter2",
            "guests": [{"pin": secret, "name": "Ann"}],
        });
        for keep in [Keep::Redacted, Keep::Full] {
            let kept = of(keep, arguments.clone()).expect("kept").to_string();
            assert!(!kept.contains("hunter2"), "{keep:?} {kept}");
        }
        assert!(of(Keep::Full, arguments).expect("kept").to_string().contains("Ann"));
    }

    #[test]
    fn what_is_long_is_told_by_its_length_alone() {
        let kept = of(Keep::Full, json!({"text": "x".repeat(10_000)})).expect("kept");
        assert_eq!(kept, json!("[10011 bytes]"));
    }
}
