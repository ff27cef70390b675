//! Where what must survive is kept, and what it is encrypted with.

use std::path::PathBuf;

use interlingua_drivers::keys::Wrapping;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Secret;
use super::check::Found;

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

/// The outer key, which is not kept in the data directory: the keys that are there are wrapped by it. One of the two.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Encryption {
    /// 32 bytes in base64 or hexadecimal (`openssl rand -base64 32`): `file:PATH` or `${NAME}`. Several, the newest first,
    /// while it is changed.
    pub key: Option<Secret>,
    /// A program that prints it, with its arguments; run at each start and reload.
    pub command: Vec<String>,
}

impl Encryption {
    pub(super) fn check(&self, found: &mut Found) {
        let path = "store.encryption";
        match (&self.key, self.command.first()) {
            (Some(_), Some(_)) | (None, None) => found.refuse(path, "expected either `key` or `command`"),
            (Some(key), None) => {
                let text = key.expose().text().unwrap_or_default();
                if let Err(fault) = Wrapping::from_text(text) {
                    found.refuse(format!("{path}.key"), fault.to_string());
                }
            }
            (None, Some(program)) => {
                found.require(!program.is_empty(), &format!("{path}.command"), "a program is not named by nothing");
            }
        }
    }
}
