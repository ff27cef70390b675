//! `list_directory`: the entries of a directory, by name. Links are shown as links and not followed.

use cap_std::fs::FileType;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::{FileFault, Problem};
use super::temp::is_temporary;
use super::tool::{Answer, Facts, Tool, object, path_schema};
use super::walk::Missing;
use super::workspace::Workspace;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListDirectory {
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    pub path: String,
    pub entries: Vec<DirectoryEntry>,
    /// There are more entries than are given here.
    pub truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DirectoryEntry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

impl EntryKind {
    pub(super) fn of(kind: FileType) -> EntryKind {
        match kind {
            kind if kind.is_dir() => EntryKind::Directory,
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Other,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            EntryKind::File => "[FILE]",
            EntryKind::Directory => "[DIR]",
            EntryKind::Link => "[LINK]",
            EntryKind::Other => "[OTHER]",
        }
    }
}

pub(super) fn facts() -> Facts {
    Facts {
        title: "List a directory",
        description: "Lists the files and directories in one directory of the workspace, by name.",
        input: object(
            json!({ "path": path_schema("The directory, relative to the workspace (`.` is the workspace itself) or absolute within a declared root.") }),
            &["path"],
        ),
        output: object(
            json!({
                "path": { "type": "string" },
                "entries": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": { "type": "string" },
                            "kind": { "enum": ["file", "directory", "link", "other"] },
                        },
                        "required": ["name", "kind"],
                        "additionalProperties": false,
                    },
                },
                "truncated": { "type": "boolean", "description": "There are more entries than are given here." },
            }),
            &["path", "entries", "truncated"],
        ),
        examples: &["list the directory reports", "list files in .", "lista el directorio informes"],
        phrases: &[
            ("en", "list [the] (directory|folder) {path:path}"),
            ("en", "list [the] files in {path:path}"),
            ("es", "lista [el] (directorio|carpeta) {path:path}"),
            ("es", "lista los archivos (de|en) {path:path}"),
        ],
    }
}

impl Listing {
    pub(super) fn answer(self) -> Answer {
        let mut lines: Vec<String> =
            self.entries.iter().map(|entry| format!("{} {}", entry.kind.mark(), entry.name)).collect();
        if self.truncated {
            lines.push("… and more".to_owned());
        }
        if lines.is_empty() {
            lines.push("the directory is empty".to_owned());
        }
        let structured = json!({ "path": self.path, "entries": self.entries, "truncated": self.truncated });
        Answer::text(lines.join("\n"), structured)
    }
}

impl Workspace {
    pub fn list_directory(&self, args: &ListDirectory) -> Result<Listing, FileFault> {
        self.list(args).map_err(|problem| problem.at(&args.path))
    }

    fn list(&self, args: &ListDirectory) -> Result<Listing, Problem> {
        let dir = self.locate(Tool::ListDirectory, &args.path, Missing::Refuse)?.open_dir()?;
        let limit = self.limits().directory_entries;
        let mut entries = Vec::new();
        let mut truncated = false;
        for entry in dir.entries()? {
            let entry = entry?;
            if is_temporary(&entry.file_name()) {
                continue;
            }
            if entries.len() == limit {
                truncated = true;
                break;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(DirectoryEntry { name, kind: EntryKind::of(entry.file_type()?) });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Listing { path: args.path.clone(), entries, truncated })
    }
}
