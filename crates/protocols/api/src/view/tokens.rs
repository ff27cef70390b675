//! Who has a token that the hub keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use interlingua_access::tokens::Kept;

/// Callers whose tokens the hub keeps, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokensView {
    pub items: Vec<TokenView>,
}

/// A caller, never its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    pub name: String,
    /// Skills it may call, as `peer/skill`; `*` stands for any letters.
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

/// A token for somebody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Who it is for: what tasks and the audit know the caller by.
    pub name: String,
    /// Skills it may call, as `peer/skill`; `*` stands for any letters. Empty: all.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Roles it has in the rules.
    #[serde(default)]
    pub roles: Vec<String>,
    /// It may say yes to what waits for a confirmation.
    #[serde(default)]
    pub approve: bool,
    /// It may register agents.
    #[serde(default)]
    pub register: bool,
    /// From then on it is refused, such as `2027-01-31T00:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// The token, this once.
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
