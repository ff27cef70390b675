//! Redacts secrets of callers from what is reported of a page.
//!
//! A page may show what was typed into it. A secret is searched for as it was given, and in the spellings of URLs, forms, HTML, JSON and
//! base64. A hostile page can encode it in other ways; it has received the secret, after all.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use interlingua_model::json::Tree;
use interlingua_model::percent;

const BLOT: &str = "(secret)";
/// A shorter one stands in many texts by chance: it is taken out where it is a word of its own.
const SHORTEST: usize = 4;

/// Whose numbers there are in something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Read of a page: one may be a secret.
    OfPage,
    /// Counted by the hub.
    OfHub,
}

/// Secrets in all their spellings, the longest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Secrets {
        let mut all: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).flat_map(spellings).collect();
        // One may contain another.
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Secrets(all)
    }

    pub(super) fn without(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| match secret.chars().count() < SHORTEST {
            true => without_word(&text, secret),
            false if text.contains(secret.as_str()) => text.replace(secret, BLOT),
            false => text,
        })
    }

    /// The same for every text in it, and for every number where they are the page's. Names of members are the definition's.
    pub(super) fn without_in(&self, tree: Tree, numbers: Numbers) -> Tree {
        if self.0.is_empty() {
            return tree;
        }
        match tree {
            Tree::String(text) => Tree::String(self.without(&text)),
            Tree::Number(number) if numbers == Numbers::OfPage && self.0.contains(&number.to_string()) => BLOT.into(),
            Tree::Array(items) => Tree::Array(items.into_iter().map(|item| self.without_in(item, numbers)).collect()),
            Tree::Object(members) => {
                Tree::Object(members.into_iter().map(|(name, value)| (name, self.without_in(value, numbers))).collect())
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => tree,
        }
    }
}

fn spellings(value: &str) -> Vec<String> {
    let percent = percent::encoded(value);
    let page = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let json = Tree::String(value.to_owned()).to_string();
    let mut all = vec![
        percent.to_ascii_lowercase(),
        percent.replace("%20", "+"),
        page.replace('\'', "&#39;"),
        page,
        json.trim_matches('"').to_owned(),
        percent,
        value.to_owned(),
    ];
    // Of a short one it would be letters that stand anywhere.
    if value.chars().count() >= SHORTEST {
        all.extend([STANDARD.encode(value), STANDARD_NO_PAD.encode(value), URL_SAFE_NO_PAD.encode(value)]);
    }
    all.retain(|spelling| !spelling.is_empty());
    all
}

fn without_word(text: &str, secret: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(secret) {
        let (before, after) = (text[..at].chars().next_back(), text[at + secret.len()..].chars().next());
        let alone = |beside: Option<char>| beside.is_none_or(|beside| !beside.is_alphanumeric());
        if at >= from && alone(before) && alone(after) {
            told.push_str(&text[from..at]);
            told.push_str(BLOT);
            from = at + secret.len();
        }
    }
    told.push_str(&text[from..]);
    told
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_taken_out_however_it_is_spelt() {
        let secrets = Secrets::of(["S3CRET pw&'1", "S3CRET"]);
        for spelt in [
            "S3CRET pw&'1",
            "S3CRET%20pw%26%271",
            "s3cret%20pw%26%271",
            "S3CRET+pw%26%271",
            "S3CRET pw&amp;'1",
            "S3CRET pw&amp;&#39;1",
            "UzNDUkVUIHB3Jicx",
            "S3CRET",
        ] {
            let told = secrets.without(&format!("it was {spelt}, was it"));
            assert!(told.starts_with("it was (secret)"), "{told}");
        }
        assert_eq!(secrets.without("nothing of it"), "nothing of it");
        let told =
            secrets.without_in(json!({"a": ["S3CRET"], "m": {"b": "xS3CRETx"}, "n": 1, "t": true}), Numbers::OfPage);
        assert_eq!(told, json!({"a": ["(secret)"], "m": {"b": "x(secret)x"}, "n": 1, "t": true}));
    }

    #[test]
    fn a_short_secret_is_taken_out_where_it_stands_alone() {
        let secrets = Secrets::of(["12", ""]);
        assert_eq!(secrets.without("12 of 120, 3-12, x12"), "(secret) of 120, 3-(secret), x12");
        assert_eq!(secrets.without_in(json!([12, 120, "12"]), Numbers::OfPage), json!(["(secret)", 120, "(secret)"]));
        assert_eq!(secrets.without_in(json!([12, "12"]), Numbers::OfHub), json!([12, "(secret)"]));
    }

    #[test]
    fn without_secrets_nothing_changes() {
        assert_eq!(Secrets::of([]).without_in(json!({"a": "b"}), Numbers::OfPage), json!({"a": "b"}));
    }
}
