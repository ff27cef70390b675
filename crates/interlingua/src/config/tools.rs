//! The hub's own tools: files in a workspace, and programs in a directory.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// Custom tools: a manifest and a program each; watched for changes. Default: `tools` in the data directory.
    pub directory: Option<PathBuf>,
    /// Where the file tools read and write. Default: `workspace` in the data directory.
    pub workspace: Option<PathBuf>,
    /// Other places the file tools may reach.
    pub roots: Vec<Root>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// A directory, or one file.
    pub path: PathBuf,
    #[serde(default)]
    pub permission: Permission,
    /// Paths below it that are only ever read.
    #[serde(default)]
    pub protected: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    #[default]
    Read,
    Write,
}
