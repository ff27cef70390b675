//! Allowed directories, each opened once as a handle (S-01, S-03, S-04, S-05).
//!
//! A path kind decides what may be done below it: the workspace is written, everything else is read unless the operator
//! declared `write` for a context.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::fault::Problem;
use super::walk::open_dir;

/// S-01: there are two permissions and no third. The order is that of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    Read,
    Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// Where relative paths start. Written.
    Workspace,
    /// Copies of others' workspaces. Read.
    Temporary,
    /// Configured. A context that is a file allows that file only (S-05).
    Context,
    /// What earlier turns left. Read.
    Previous,
}

/// What the operator declares of one root.
#[derive(Debug, Clone)]
pub struct RootSpec {
    pub path: PathBuf,
    pub kind: RootKind,
    pub permission: Permission,
    /// Relative to `path` or absolute; they and all below them stay read-only.
    pub protected: Vec<PathBuf>,
}

impl RootSpec {
    pub fn workspace(path: impl Into<PathBuf>) -> RootSpec {
        RootSpec::new(path, RootKind::Workspace, Permission::Write)
    }

    pub fn temporary(path: impl Into<PathBuf>) -> RootSpec {
        RootSpec::new(path, RootKind::Temporary, Permission::Read)
    }

    pub fn context(path: impl Into<PathBuf>, permission: Permission) -> RootSpec {
        RootSpec::new(path, RootKind::Context, permission)
    }

    pub fn previous(path: impl Into<PathBuf>) -> RootSpec {
        RootSpec::new(path, RootKind::Previous, Permission::Read)
    }

    pub fn protecting(mut self, path: impl Into<PathBuf>) -> RootSpec {
        self.protected.push(path.into());
        self
    }

    fn new(path: impl Into<PathBuf>, kind: RootKind, permission: Permission) -> RootSpec {
        RootSpec { path: path.into(), kind, permission, protected: Vec::new() }
    }
}

/// A declaration that was left out, and why. For the operator's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: String,
}

/// Which file, whatever it is called: a second name does not lift a protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    pub device: u64,
    pub inode: u64,
}

#[derive(Debug)]
pub(super) struct Protected {
    pub path: PathBuf,
    pub id: Option<FileId>,
}

/// One opened root.
#[derive(Debug)]
pub(super) struct Root {
    pub kind: RootKind,
    pub permission: Permission,
    /// The handle from which everything is reached; for a file context, that of its parent directory.
    pub dir: Dir,
    /// The directory behind `dir`, with every link resolved.
    pub real: PathBuf,
    /// Absolute spellings by which callers may name it.
    pub spelt: Vec<PathBuf>,
    /// S-05: the one file that this root allows.
    pub only: Option<OsString>,
    pub protected: Vec<Protected>,
}

impl Root {
    pub(super) fn open(spec: &RootSpec, skipped: &mut Vec<Skipped>) -> std::io::Result<Root> {
        let real = spec.path.canonicalize()?;
        let absolute = std::path::absolute(&spec.path)?;
        let (real, only, spelt) = match real.is_dir() {
            true => (real.clone(), None, vec![real, absolute]),
            false => split_file(&real, &absolute)?,
        };
        // The ambient open gives a handle for lookups only; this one can also be synced.
        let dir = open_dir(&Dir::open_ambient_dir(&real, ambient_authority())?, ".".as_ref())?;
        let permission = match spec.kind {
            RootKind::Workspace => Permission::Write,
            RootKind::Temporary | RootKind::Previous => Permission::Read,
            RootKind::Context => spec.permission,
        };
        let protected = spec.protected.iter().filter_map(|path| protect(&real, path, skipped)).collect();
        Ok(Root { kind: spec.kind, permission, dir, real, spelt, only, protected })
    }

    /// Does this root speak of the resolved path at all? Gives how many components they share.
    pub(super) fn covers(&self, path: &Path) -> Option<usize> {
        let below = path.strip_prefix(&self.real).ok()?;
        match &self.only {
            None => Some(self.real.components().count()),
            Some(only) => (below.as_os_str() == only.as_os_str()).then_some(usize::MAX),
        }
    }
}

/// A file context is its parent directory and one name in it; both spellings of that directory are kept.
fn split_file(real: &Path, absolute: &Path) -> std::io::Result<(PathBuf, Option<OsString>, Vec<PathBuf>)> {
    let no_parent = || std::io::Error::from(std::io::ErrorKind::NotADirectory);
    let parent = real.parent().ok_or_else(no_parent)?.to_path_buf();
    let name = real.file_name().ok_or_else(no_parent)?.to_owned();
    let mut spelt = vec![parent.clone()];
    // A link to the file has another name than the file: then only its real spelling can be used.
    if absolute.file_name() == Some(&name) {
        spelt.extend(absolute.parent().map(Path::to_path_buf));
    }
    Ok((parent, Some(name), spelt))
}

/// S-04: a protected path outside of its root is left out.
fn protect(real: &Path, path: &Path, skipped: &mut Vec<Skipped>) -> Option<Protected> {
    let wanted = real.join(path);
    let plain = wanted.components().all(|part| !matches!(part, Component::ParentDir));
    let (resolved, id) = match wanted.canonicalize() {
        Ok(resolved) => {
            let id = std::fs::metadata(&resolved).ok().map(|found| std_id(&found));
            (resolved, id)
        }
        // Not there yet: it is protected from being made.
        Err(_) if plain => (wanted, None),
        Err(_) => (PathBuf::new(), None),
    };
    if resolved.starts_with(real) {
        return Some(Protected { path: resolved, id });
    }
    skipped.push(Skipped { path: path.to_path_buf(), reason: "protected path outside its root".into() });
    None
}

fn std_id(metadata: &std::fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt as _;
    FileId { device: metadata.dev(), inode: metadata.ino() }
}

impl From<&rustix::fs::Stat> for FileId {
    #[allow(clippy::unnecessary_cast, reason = "the width of these fields differs between systems")]
    fn from(stat: &rustix::fs::Stat) -> FileId {
        FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}

/// Is the workspace usable at all? It is made when it does not exist, for its owner alone.
pub(super) fn make_workspace(path: &Path) -> Result<(), Problem> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Problem::from)
}
