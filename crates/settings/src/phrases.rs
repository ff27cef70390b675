//! Phrases: sentences that an operator maps to a skill of a peer, in the grammar of `interlingua_machines::words`.
//!
//! Deliberately absent: the validation of a phrase. It needs the peer, and the sentences that the hub answers itself.

use indexmap::IndexMap;
use interlingua_model::{Phrase, Text};
use schemars::JsonSchema;
use serde::Deserialize;

/// Of one entry, over all languages.
const MOST: usize = 100;

/// Phrases in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "Written")]
pub struct Phrases(Vec<Placed>);

/// A phrase, and where it stands below `phrases`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub phrase: Phrase,
    pub at: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of phrases, or lists by language: `{ en: [\"…\"], es: [\"…\"] }`")]
#[schemars(rename = "Phrases")]
enum Written {
    /// In English.
    Listed(Vec<Text>),
    /// By language.
    Spoken(IndexMap<String, Vec<Text>>),
}

impl TryFrom<Written> for Phrases {
    type Error = String;

    fn try_from(written: Written) -> Result<Phrases, Self::Error> {
        let placed = |locale: &str, below: &str, patterns: Vec<Text>| {
            let placed = |(number, pattern): (usize, Text)| Placed {
                phrase: Phrase { locale: locale.into(), pattern },
                at: format!("{below}{number}"),
            };
            patterns.into_iter().enumerate().map(placed).collect::<Vec<_>>()
        };
        let phrases = match written {
            Written::Listed(patterns) => placed("en", "", patterns),
            Written::Spoken(spoken) => spoken
                .into_iter()
                .flat_map(|(locale, patterns)| placed(&locale, &format!("{locale}."), patterns))
                .collect(),
        };
        if phrases.len() > MOST {
            return Err(format!("expected at most {MOST} phrases"));
        }
        Ok(Phrases(phrases))
    }
}

impl JsonSchema for Phrases {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

impl Phrases {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Phrase> {
        self.0.iter().map(|placed| &placed.phrase)
    }

    /// Each with its place.
    pub fn placed(&self) -> &[Placed] {
        &self.0
    }
}
