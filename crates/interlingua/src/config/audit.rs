//! What the record of decisions keeps besides who asked for what and how it went.

use interlingua_machines::audit::arguments::Keep;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// What is kept of the arguments of calls; the first rule that fits a skill counts. Without one: nothing.
    pub arguments: Vec<AuditArguments>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditArguments {
    /// Patterns over `peer/skill`; `*` stands for any run of characters.
    pub skills: Vec<String>,
    pub keep: KeepArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeepArguments {
    Off,
    /// The names of arguments, and of what kind and how long their values are.
    Redacted,
    /// All but secrets, up to 4 KiB.
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
