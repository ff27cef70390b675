//! JSON of the hub's keys for its Owner: their metadata, never the keys themselves.

use interlingua_keys::KeyInfo;
use interlingua_model::ports::Counts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use interlingua_hub::audit::key::Half;

/// The keys of a hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeysView {
    /// Whether the store is encrypted at rest.
    pub encrypted: bool,
    /// The hub's encryption keys. The first encrypts; the others only decrypt.
    pub keys: Vec<KeyView>,
    /// All keys but the first are being retired: data that they encrypted is re-encrypted in the background.
    #[serde(default)]
    pub retiring: bool,
    /// The wrapping keys, which are stored elsewhere. The first wraps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outer: Vec<KeyView>,
    /// The signing keys of the audit log. The first signs now. Ids are the SHA-256 of the public keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<KeyView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Number of stored values that this key encrypts, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<u64>,
}

impl KeyView {
    #[must_use]
    pub fn sealing(self, counts: &Counts) -> KeyView {
        let values = (!counts.is_empty()).then(|| counts.get(&self.id).copied().unwrap_or_default());
        KeyView { values, ..self }
    }
}

impl From<KeyInfo> for KeyView {
    fn from(info: KeyInfo) -> KeyView {
        KeyView { id: info.id, made: info.made, values: None }
    }
}

impl From<Half> for KeyView {
    fn from(half: Half) -> KeyView {
        KeyView { id: half.id().to_string(), made: half.made.map(|made| made.to_string()), values: None }
    }
}

/// What to rotate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateRequest {
    pub what: Rotated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotated {
    /// The key that encrypts what the hub stores and hands out.
    Key,
    /// The Owner's token, in the data directory.
    OwnerToken,
    /// The key that signs the audit log.
    AuditKey,
}
