//! Artifacts that agents share.

use interlingua_model::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What somebody shares. Without `content` the artifact waits an hour for a `PUT` of its bytes to its `content_path`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRequest {
    pub name: String,
    /// A loose word: `document`, `data`, `model`.
    #[serde(rename = "type", default = "data")]
    pub kind: String,
    /// Text, or any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub content: Option<Json>,
    /// Of the content; without it, text is `text/plain` and everything else `application/json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// The agent that made it; a registered one must be the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// Who may read it: agents by name, people as `user:NAME`, `*` for all. Nobody named is nobody else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_control: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
}

fn data() -> String {
    "data".into()
}

/// Another list of readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelistRequest {
    pub access_control: Vec<String>,
}

/// An artifact, shared by an agent or made by a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedArtifactView {
    /// Of one that a task made: the task's id, a dot, and its own.
    pub artifact_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    /// When it is text or JSON and small enough to travel along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub content: Option<Json>,
    /// Where its bytes are.
    pub content_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// How many bytes; absent until they have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub created_by: String,
    pub created_at: String,
    /// Whose it is, proven.
    pub owner: String,
    pub access_control: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}
