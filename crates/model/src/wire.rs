//! Name of the protocol that a call or a definition arrived by, and its original message, for a peer or caller that speaks the same
//! protocol.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::json::Json;

/// A protocol and generation, such as `mcp/2026-07-28`. The model only compares it, for relaying original messages and for counting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wire(pub Cow<'static, str>);

impl Wire {
    /// The protocol without its generation.
    pub fn protocol(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(protocol, _)| protocol)
    }
}

/// What a peer wrote, beside what the model has of it: for another that speaks the same wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raw {
    /// The protocol it is written in.
    pub wire: Wire,
    /// What was written.
    #[serde(rename = "bytes", with = "base64_json")]
    pub json: Json,
}

/// Journals have it as it was written, in Base64.
mod base64_json {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use crate::content::base64_bytes;
    use crate::json::Json;

    pub(super) fn serialize<S: Serializer>(json: &Json, to: S) -> Result<S::Ok, S::Error> {
        base64_bytes::serialize(json.as_bytes(), to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        serde_json::from_slice(&base64_bytes::deserialize(from)?).map_err(D::Error::custom)
    }
}
