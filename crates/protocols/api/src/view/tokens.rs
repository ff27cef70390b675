//! JSON of access tokens that the hub stores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use interlingua_access::tokens::Kept;

/// Callers whose access tokens the hub stores, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokensView {
    pub items: Vec<TokenView>,
}

/// A caller with an access token, never the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    pub name: String,
    /// Skills that it may call, as `peer/skill`; `*` matches any characters.
    pub skills: Vec<String>,
    pub roles: Vec<String>,
    pub approve: bool,
    pub register: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

impl From<Kept> for TokenView {
    fn from(kept: Kept) -> TokenView {
        let Kept { name, skills, roles, approve, register, expires, sha256: _ } = kept;
        TokenView { name, skills, roles, approve, register, expires: expires.map(|expires| expires.to_string()) }
    }
}

/// An access token to create.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Name of the caller, in tasks and in the audit log.
    pub name: String,
    /// Skills that it may call, as `peer/skill`; `*` matches any characters. Empty: all.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Roles of the caller in the policy.
    #[serde(default)]
    pub roles: Vec<String>,
    /// It may approve calls.
    #[serde(default)]
    pub approve: bool,
    /// It may register agents.
    #[serde(default)]
    pub register: bool,
    /// Expiry, such as `2027-01-31T00:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// The token. It is shown only once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenMadeView {
    pub name: String,
    pub token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

impl Drop for TokenMadeView {
    fn drop(&mut self) {
        self.token.zeroize();
    }
}

impl std::fmt::Debug for TokenMadeView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenMadeView({})", self.name)
    }
}
