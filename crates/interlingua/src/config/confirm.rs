//! When a person is asked before a call is made.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_agents::settings::Consent;

/// What destroys or spends always waits for a human yes, and what writes does where plain words chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Confirmations {
    /// Of a skill whose effects nobody who is believed has told.
    pub unknown: Unknown,
}

/// Which calls of a skill with unknown effects wait for a human yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Those that an agent of this hub, plain words, `hub/ask`, `hub/call_skill` or a plan chose.
    #[default]
    ByModel,
    /// All.
    Ask,
    /// None for this reason; those that plain words chose ask as they do for what writes.
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
