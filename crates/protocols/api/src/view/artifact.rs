//! JSON of artifacts that agents share.

use interlingua_model::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An artifact to share. Without `content` the hub waits one hour for a `PUT` of the bytes to its `content_path`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRequest {
    pub name: String,
    /// What it is, in a word of your choice, such as `document`, `data` or `model`.
    #[serde(rename = "type", default = "data")]
    pub kind: String,
    /// Text, or any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub content: Option<Json>,
    /// Media type of the content. Default: `text/plain` for text, `application/json` for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// The agent that made it; a registered one must be the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// Who else may read it: agents by name, people as `user:NAME`, `*` for all. Empty: only you.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_control: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
}

fn data() -> String {
    "data".into()
}

/// A new list of readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelistRequest {
    pub access_control: Vec<String>,
}

/// An artifact, shared by an agent or made by a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedArtifactView {
    /// For an artifact of a task: the task id, a dot, and the artifact's own id.
    pub artifact_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    /// The content, if it is text or JSON and small enough to be included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub content: Option<Json>,
    /// The path of its bytes.
    pub content_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// Size in bytes; absent until the bytes have been uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub created_by: String,
    pub created_at: String,
    /// The authenticated owner.
    pub owner: String,
    pub access_control: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}
