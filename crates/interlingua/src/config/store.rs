//! The section `store`: the data directory and its encryption.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Encryption;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// The data directory: database, blobs, keys and the hub's socket. One hub at a time can use it.
    pub embedded: PathBuf,
    /// Encryption at rest of tasks, conversations, records with their credentials, uploads and artifacts. An unencrypted store
    /// is encrypted at the first start with this setting; an encrypted store cannot be opened without it.
    pub encryption: Option<Encryption>,
}

impl Default for Store {
    fn default() -> Self {
        Store { embedded: "data".into(), encryption: None }
    }
}
