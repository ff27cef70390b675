//! The section `mcp`: how the hub appears to clients of the Model Context Protocol.

mod peer;

pub use peer::{McpChanges, McpCredentials, McpPeer, McpPlace};

use std::borrow::Cow;

use indexmap::IndexMap;
use interlingua_model::SkillId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use interlingua_endpoint::sections::Section;
use interlingua_settings::Span;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mcp {
    pub names: ToolNames,
    /// A client that would see more tools than this sees `find_skills` and `call_skill` instead. All can be called by name
    /// all the same.
    pub search_above: u32,
    /// Which of the hub's own tools are in the list of `/mcp`. It is about a model's context and not about rights: what is not
    /// listed can be called by its name all the same, by whoever may.
    pub hub_tools: HubTools,
    /// How long a call that waits for an approval holds a client that cannot ask its user. Then the client is told where to approve
    /// it and how to get the result; the call goes on waiting. Default: 50s, less than clients give a call.
    pub approval_wait: Span,
    /// Parts of the hub with an address of their own: `/mcp/NAME`.
    pub views: IndexMap<String, McpView>,
}

impl Default for Mcp {
    fn default() -> Self {
        Mcp {
            names: ToolNames::default(),
            search_above: 100,
            hub_tools: HubTools::default(),
            approval_wait: Span::seconds(50),
            views: IndexMap::new(),
        }
    }
}

impl Section for Mcp {}

/// Which of the hub's own tools are listed: `hub/*`, `graph/*`, and the file tools of `local/*` where peers are connected and no
/// `tools:` is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HubTools {
    /// None, however many tools there are.
    Off,
    /// `find_skills` and `call_skill`, where there are more tools than `search_above`.
    #[default]
    Search,
    /// All of them, like the tools of any peer.
    All,
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

/// What one view shows. It never shows what its client may not call.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpView {
    /// Skills that it shows under their own names, as `peer/skill`; `*` stands for any letters.
    pub allow: Vec<String>,
    /// Wins over `allow`.
    pub deny: Vec<String>,
    /// Tools under names of the view's own.
    pub tools: IndexMap<String, McpViewTool>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpViewTool {
    /// What is called.
    pub skill: SkillRef,
    /// Arguments that the client neither sees nor gives.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// Instead of the skill's own.
    pub description: Option<String>,
}

/// A skill by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRef(pub SkillId);

impl<'de> Deserialize<'de> for SkillRef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(d)?;
        text.parse().map(SkillRef).map_err(|_| serde::de::Error::custom("expected `peer/skill`"))
    }
}

impl JsonSchema for SkillRef {
    fn schema_name() -> Cow<'static, str> {
        "SkillRef".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[^/]+/.+$"})
    }
}
