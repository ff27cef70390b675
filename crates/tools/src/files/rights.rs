//! Path permissions (S-03) of a resolved path. The order of the rules: excluded names, protected paths, the one file of a file context, the
//! deepest containing root; nothing else is allowed.
//!
//! Only resolved paths come here: `walk` makes them from the very handles that are then used, so nothing can be swapped
//! between the check and the use.

use std::path::Path;

use super::root::{FileId, Permission, Root, RootKind};

/// S-03: read-only wherever they occur below a context or an earlier turn. Compared without case, as some file systems do.
const EXCLUDED: [&str; 13] = [
    ".massgen",
    ".gemini",
    ".env",
    ".git",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".DS_Store",
    "massgen_logs",
];

/// Who writes what at this time (S-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A caller alone, or the final presenter: declared permissions hold.
    Alone,
    /// Several work side by side: contexts are read-only for all of them.
    Coordinating,
}

/// The roots as seen by one caller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rights<'a> {
    pub roots: &'a [Root],
    pub stage: Stage,
}

impl Rights<'_> {
    /// `None`: no permission at all.
    pub(super) fn of(self, path: &Path) -> Option<Permission> {
        let (_, root) =
            self.roots.iter().filter_map(|root| Some((root.covers(path)?, root))).max_by_key(|(deep, _)| *deep)?;
        if excluded(root, path) || self.protected(path) {
            return Some(Permission::Read);
        }
        Some(match (self.stage, root.kind) {
            (Stage::Coordinating, RootKind::Context) => Permission::Read,
            (Stage::Coordinating | Stage::Alone, _) => root.permission,
        })
    }

    /// The same file under a second name: a hard link, or another case where the file system ignores it.
    pub(super) fn protects(self, id: FileId) -> bool {
        self.roots.iter().flat_map(|root| &root.protected).any(|protected| protected.id == Some(id))
    }

    fn protected(self, path: &Path) -> bool {
        self.roots.iter().flat_map(|root| &root.protected).any(|protected| path.starts_with(&protected.path))
    }
}

fn excluded(root: &Root, path: &Path) -> bool {
    let applies = match root.kind {
        RootKind::Workspace | RootKind::Temporary => false,
        RootKind::Context | RootKind::Previous => true,
    };
    let below = path.strip_prefix(&root.real).unwrap_or(path);
    applies
        && below
            .components()
            .filter_map(|part| part.as_os_str().to_str())
            .any(|part| EXCLUDED.iter().any(|name| name.eq_ignore_ascii_case(part)))
}
