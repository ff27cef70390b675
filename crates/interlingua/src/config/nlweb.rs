//! Sites that are asked in natural language.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::secret::Secret;

/// How a site that can be asked is reached.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NlwebPeer {
    /// Its door, such as `https://recipes.example/ask`; without a path, `/ask` or what the site's `llms.txt` says.
    pub url: String,
    /// Sent as the bearer token; a caller's own is never sent.
    pub token: Option<Secret>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// Send the token even where it can be read on the way (neither TLS nor loopback).
    #[serde(default)]
    pub insecure: bool,
}
