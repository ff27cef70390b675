//! The `mcp:` block: how the hub looks to clients of the Model Context Protocol.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mcp {
    pub names: ToolNames,
    /// A client that would see more tools than this sees `find_skills` and `call_skill` instead. All can be called by name
    /// all the same.
    pub search_above: u32,
}

impl Default for Mcp {
    fn default() -> Self {
        Mcp { names: ToolNames::default(), search_above: 100 }
    }
}

/// What tools are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolNames {
    /// `peer__tool`.
    #[default]
    Prefixed,
    /// As their own server calls them; a name that two have is told with its peer's.
    Bare,
}
