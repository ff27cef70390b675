//! Claims of a peer about its skills. Texts and schemas are bounded, and declared effects are read as claims. This module does not decide
//! whether a claim is trusted.

use interlingua_model::json::Tree;
use interlingua_model::{Effects, Json, Schema, Text};

/// No name of a skill is longer, in bytes.
pub const NAME: usize = 100;
const TEXT: usize = 4_096;
const SCHEMA: usize = 256 * 1024;

/// As much of it as is taken, in characters.
pub fn text(text: &str) -> Text {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => text[..end].into(),
        None => text.into(),
    }
}

/// An object that is not too large.
pub fn schema(tree: &Tree) -> Option<Schema> {
    let schema = tree.is_object().then(|| Json::from_tree(tree.clone()))?;
    (schema.as_str().len() <= SCHEMA).then_some(Schema(schema))
}

/// What it says of itself; without a word, anything.
pub fn effects(claimed: Option<&Tree>) -> Effects {
    let Some(names) = claimed.and_then(Tree::as_array) else { return Effects::unknown() };
    Effects::claimed(&names.iter().filter_map(Tree::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_taken_up_to_its_bounds() {
        assert_eq!(text(&"é".repeat(TEXT + 1)).chars().count(), TEXT);
        assert!(schema(&json!({"type": "object"})).is_some());
        assert_eq!(schema(&json!([])), None);
        assert_eq!(schema(&json!({"title": "x".repeat(SCHEMA)})), None);
    }

    #[test]
    fn who_says_nothing_of_effects_may_do_anything() {
        assert_eq!(effects(None), Effects::unknown());
        assert_eq!(effects(Some(&json!("reads"))), Effects::unknown());
        assert!(!effects(Some(&json!(["reads"]))).change());
        assert!(effects(Some(&json!(["reads", "spends"]))).spends);
    }
}
