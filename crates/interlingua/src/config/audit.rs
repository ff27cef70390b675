//! The section `audit`: what the audit log stores besides caller, action and outcome.

use interlingua_machines::audit::arguments::Keep;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// What the audit log stores of the arguments of calls. The first rule that matches a skill counts. Without a rule:
    /// nothing.
    pub arguments: Vec<AuditArguments>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditArguments {
    /// Patterns over `peer/skill`; `*` matches any characters.
    pub skills: Vec<String>,
    pub keep: KeepArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeepArguments {
    Off,
    /// The names of arguments, and the type and length of their values.
    Redacted,
    /// All values except secrets, up to 4 KiB.
    Full,
}

impl From<KeepArguments> for Keep {
    fn from(keep: KeepArguments) -> Keep {
        match keep {
            KeepArguments::Off => Keep::Off,
            KeepArguments::Redacted => Keep::Redacted,
            KeepArguments::Full => Keep::Full,
        }
    }
}
