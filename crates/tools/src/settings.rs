//! The section `tools`: files in a workspace, and programs in a directory.

use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Found;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The directory of custom tools, each a manifest and a program. It is watched for changes. Default: `tools` in the data
    /// directory.
    pub directory: Option<PathBuf>,
    /// The directory in which the file tools read and write. Default: `workspace` in the data directory.
    pub workspace: Option<PathBuf>,
    /// Other directories and files that the file tools may use.
    pub roots: Vec<Root>,
}

/// What the peers inside the hub are made from.
#[derive(Debug, Clone, Copy)]
pub struct Sections<'a> {
    pub tools: &'a Tools,
    /// Agents that follow a script, by name: the file.
    pub scripts: &'a IndexMap<String, PathBuf>,
    /// The hub's data directory.
    pub data: &'a Path,
}

impl Tools {
    /// Where custom tools are looked for, in a hub with this data directory.
    pub fn directory_in(&self, data: &Path) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| data.join("tools"))
    }

    /// Where the file tools work, in a hub with this data directory.
    pub fn workspace_in(&self, data: &Path) -> PathBuf {
        self.workspace.clone().unwrap_or_else(|| data.join("workspace"))
    }

    /// `data`: the hub's data directory.
    pub fn check(&self, data: &Path, found: &mut Found) {
        let data = real(data);
        for (path, place) in [("tools.directory", &self.directory), ("tools.workspace", &self.workspace)] {
            let Some(place) = place else { continue };
            found.require(!place.is_file(), path, "this is a file, not a directory");
        }
        let workspace = self.workspace.iter().map(|place| ("tools.workspace".to_owned(), place));
        let roots = self.roots.iter().enumerate();
        let roots = roots.map(|(index, root)| (format!("tools.roots.{index}.path"), &root.path));
        for (path, place) in workspace.chain(roots) {
            if data.starts_with(real(place)) {
                found.refuse(path, "the file tools would reach the hub's data directory, which holds its keys");
            }
        }
        for (index, root) in self.roots.iter().enumerate() {
            let path = format!("tools.roots.{index}");
            if !root.path.exists() {
                found.warn(format!("{path}.path"), format!("{} does not exist and is skipped", root.path.display()));
            }
            for outside in root.protected.iter().filter(|place| !real(place).starts_with(real(&root.path))) {
                found.warn(&path, format!("{} is not below its root and is skipped", outside.display()));
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// A directory, or one file.
    pub path: PathBuf,
    #[serde(default)]
    pub permission: Permission,
    /// Paths below it that are read-only.
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

/// The path with its links followed as far as it exists, and without `..` beyond that.
pub(super) fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let existing = absolute.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, mut followed)) = existing else { return absolute };
    for component in absolute.strip_prefix(above).unwrap_or(Path::new("")).components() {
        match component {
            Component::ParentDir => drop(followed.pop()),
            other => followed.push(other),
        }
    }
    followed
}
