//! The hub's keys as its Owner sees them: which there are, never what they are.

use interlingua_keys::KeyInfo;
use interlingua_model::ports::Counts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use interlingua_hub::audit::key::Half;

/// Which keys a hub has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeysView {
    /// Whether what is kept is encrypted.
    pub encrypted: bool,
    /// The hub's own keys; the first seals, the others open what they sealed.
    pub keys: Vec<KeyView>,
    /// All of them but the first are being taken out: what they sealed is sealed anew meanwhile.
    #[serde(default)]
    pub retiring: bool,
    /// What wraps them, which is kept elsewhere; the first wraps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outer: Vec<KeyView>,
    /// What signs the audit; the first does now, the others did. Their ids are the SHA-256 of their public halves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<KeyView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// How many values that are kept it seals, where that was counted.
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

/// What is to be made anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateRequest {
    pub what: Rotated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotated {
    /// The key that seals what the hub keeps and hands out.
    Key,
    /// The Owner's token; it is found in the data directory.
    OwnerToken,
    /// The key that signs the audit.
    AuditKey,
}
