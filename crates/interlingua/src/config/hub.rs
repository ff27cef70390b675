//! What the hub says of itself.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hub {
    /// Its name among hubs: how a loop between hubs is recognised. Without it one is made once in the data directory.
    pub id: Option<String>,
    /// Its name for people, on its card and status page. Default: Interlingua.
    pub name: Option<String>,
    /// Where people and other machines reach the hub, such as `https://hub.example`. Default: where it listens.
    pub url: Option<String>,
    /// The model that fills in a skill for words that no phrase fits, and that sums up what sites answer. Default: none for the
    /// first; for the second the one called `default`, if there is one.
    pub model: Option<String>,
}

impl Hub {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("Interlingua")
    }
}
