//! The section `hub`: name and public address of the hub.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hub {
    /// Id of the hub, by which a loop between hubs is recognised. Default: an id that is created once in the data directory.
    pub id: Option<String>,
    /// Display name, on its card and status page. Default: Interlingua.
    pub name: Option<String>,
    /// Public address of the hub, such as `https://hub.example`. Default: the address that it listens on.
    pub url: Option<String>,
    /// The model that chooses a skill for plain words that match no phrase, and that summarizes answers of sites. Default: none
    /// for the first; for the second the one called `default`, if there is one.
    pub model: Option<String>,
}

impl Hub {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("Interlingua")
    }
}
