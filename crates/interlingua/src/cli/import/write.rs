//! YAML writer: blocks for large values, one line for small ones.

use serde_json::Value;

/// What fits into one line stays in one.
const LINE: usize = 100;

pub fn yaml(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

fn block(value: &Value, depth: usize, text: &mut String) {
    // A file without a word is no object: an empty one is written.
    let Some(members) = value.as_object().filter(|members| !members.is_empty()) else {
        text.push_str(&flow(value));
        text.push('\n');
        return;
    };
    for (key, value) in members {
        text.push_str(&"  ".repeat(depth));
        let line = flow(value);
        let large = depth < 2 && matches!(value, Value::Object(members) if !members.is_empty());
        if value.is_object() && (large || line.len() > LINE) {
            text.push_str(&format!("{}:\n", word(key)));
            block(value, depth + 1, text);
        } else {
            text.push_str(&format!("{}: {line}\n", word(key)));
        }
    }
}

/// In one line. Texts are quoted as in JSON, which YAML reads the same way.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}: {}", word(key), flow(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => word(text),
        Value::Number(_) | Value::Bool(_) | Value::Null => value.to_string(),
    }
}

/// A text that names of another file cannot break out of: quoted, unless it is a plain word.
fn word(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { Value::from(text).to_string() }
}

/// A word that means nothing else in YAML.
fn is_plain(text: &str) -> bool {
    let word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
    word && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str())
}
