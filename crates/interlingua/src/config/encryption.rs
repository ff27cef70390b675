//! Encryption at rest: the key of the store.

use interlingua_keys::Wrapping;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Found, Secret};

/// The outer key, which is not stored in the data directory. It wraps the keys that are. Set one of the two.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Encryption {
    /// 32 bytes in base64 or hexadecimal (`openssl rand -base64 32`): `file:PATH` or `${NAME}`. A list, newest first,
    /// during a key rotation.
    pub key: Option<Secret>,
    /// A program, with its arguments, that prints the key. It runs at each start and reload.
    pub command: Vec<String>,
}

impl Encryption {
    pub fn check(&self, found: &mut Found) {
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
