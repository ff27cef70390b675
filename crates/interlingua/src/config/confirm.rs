//! The section `confirm`: when a person is asked before a call is made.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_agents::settings::Consent;

/// Approvals. Calls that destroy or spend always need one. Calls that write need one if plain words chose the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Confirmations {
    /// For skills whose effects no trusted source declares.
    pub unknown: Unknown,
}

/// Which calls of skills with unknown effects need an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Calls that an agent of this hub, plain words, `hub/ask`, `hub/call_skill` or a plan chose.
    #[default]
    ByModel,
    /// All calls.
    Ask,
    /// None for this reason. Calls that plain words chose need one as for skills that write.
    Allow,
}

impl Unknown {
    /// The rule of an agent that has none of its own: a model chooses what it calls.
    pub fn of_agents(self) -> Consent {
        match self {
            Unknown::ByModel | Unknown::Ask => Consent::Ask,
            Unknown::Allow => Consent::Allow,
        }
    }
}
