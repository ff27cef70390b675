//! Where what must survive is kept, and what it is encrypted with.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Encryption;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// The data directory: database, blobs, keys and the hub's socket. One hub at a time holds it.
    pub embedded: PathBuf,
    /// Encrypts what is kept: tasks, conversations, records with their credentials, uploads and artifacts. A store that was not
    /// encrypted is, at the first start with this; one that was never opens without it.
    pub encryption: Option<Encryption>,
}

impl Default for Store {
    fn default() -> Self {
        Store { embedded: "data".into(), encryption: None }
    }
}
