//! Declared losses of an answer, in the form of each protocol.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loss {
    pub(super) what: String,
    pub(super) kind: String,
}

/// Sorted, each once.
pub(super) fn of(answer: &Value) -> Vec<Loss> {
    let mut found = Vec::new();
    look(answer, &mut found);
    found.sort();
    found.dedup();
    found
}

fn look(value: &Value, found: &mut Vec<Loss>) {
    match value {
        Value::Array(inner) => inner.iter().for_each(|value| look(value, found)),
        Value::Object(inner) => {
            if let (Some(Value::String(what)), Some(Value::String(kind)), 2) =
                (inner.get("what"), inner.get("kind"), inner.len())
            {
                found.push(Loss { what: what.clone(), kind: kind.clone() });
            }
            inner.values().for_each(|value| look(value, found));
        }
        // A wire without a place for data says it in a line.
        Value::String(text) => {
            let line = text.strip_prefix("lost on the way: ").and_then(|text| text.strip_suffix(')'));
            if let Some((what, kind)) = line.and_then(|line| line.split_once(" (")) {
                found.push(Loss { what: what.to_owned(), kind: kind.to_owned() });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Does this loss tell of what is missing on this way? By its kind: that something else was dropped excuses nothing.
pub(super) fn covers(loss: &Loss, way: &str, missing: &str) -> bool {
    let kind = match missing {
        "bytes" => "blob",
        "extension" => "other",
        other => other,
    };
    // Arguments are data.
    let as_arguments = missing == "data" && loss.what == format!("{way}.args");
    loss.what == format!("{way}.parts.{kind}") || as_arguments
}

#[test]
fn a_loss_excuses_its_own_kind_alone() {
    let lost = |what: &str| Loss { what: what.to_owned(), kind: "dropped".to_owned() };
    assert!(covers(&lost("input.parts.blob"), "input", "bytes") && covers(&lost("input.parts.code"), "input", "code"));
    for what in ["input.parts", "input.parts.link", "output.parts.blob", "output.artifacts", "output.structured"] {
        assert!(!covers(&lost(what), "input", "bytes"), "{what}");
    }
    assert!(
        !covers(&lost("output.artifacts"), "output", "bytes") && !covers(&lost("output.structured"), "output", "link")
    );
}
