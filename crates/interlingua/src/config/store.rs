//! Where what must survive is kept.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// The data directory: database, blobs, keys and the hub's socket. One hub at a time holds it.
    pub embedded: PathBuf,
}

impl Default for Store {
    fn default() -> Self {
        Store { embedded: "data".into() }
    }
}
