//! Path resolution: from a caller's path to an open directory and one name in it (S-02).
//!
//! Every step opens one component relative to the handle before it, without following links; a link is read and its
//! target walked in turn. The resolved path is therefore that of the handles in hand, and swapping a directory for a link
//! at any moment changes what the next step finds, never where it may lead. `..` goes back to a handle already held.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::fault::Problem;
use super::rights::Rights;
use super::root::{Permission, Root};
use super::temp;

const MAX_PATH: usize = 4096;
/// Each level holds a handle open during the walk.
pub(super) const MAX_DEPTH: usize = 64;
/// As Linux has it.
const MAX_LINKS: usize = 40;

/// What to do about a directory on the way that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Refuse,
    /// Make it, where writing is allowed.
    Create,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Place {
    pub dir: Dir,
    /// `None`: `dir` itself is meant.
    pub name: Option<OsString>,
    /// Every link resolved.
    pub real: PathBuf,
}

impl Place {
    pub(super) fn name(&self) -> Result<&OsStr, Problem> {
        self.name.as_deref().ok_or(Problem::NotAFile)
    }

    /// The directory that is meant.
    pub(super) fn open_dir(&self) -> Result<Dir, Problem> {
        match &self.name {
            None => Ok(self.dir.try_clone()?),
            Some(name) => Ok(open_dir(&self.dir, name)?),
        }
    }

    /// The regular file that is meant, for reading. A pipe or device is opened without waiting and then refused.
    pub(super) fn open_file(&self) -> Result<std::fs::File, Problem> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = std::fs::File::from(rustix::fs::openat(&self.dir, self.name()?, flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(Problem::NotAFile),
        }
    }
}

pub(super) fn open_dir(dir: &Dir, name: &OsStr) -> Result<Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    Ok(Dir::from_std_file(std::fs::File::from(opened)))
}

/// Walks `path`. Relative paths start in the first root, the workspace; `~` is the given home.
pub(super) fn walk(rights: Rights<'_>, home: Option<&Path>, path: &str, missing: Missing) -> Result<Place, Problem> {
    if path.contains('\0') {
        return Err(Problem::NulByte);
    }
    if path.is_empty() || path.len() > MAX_PATH {
        return Err(Problem::BadPath);
    }
    let mut walk = Walk { rights, root: 0, opened: Vec::new(), ahead: VecDeque::new(), links: 0, missing };
    walk.turn_to(&expand_home(home, path)?)?;
    while let Some(part) = walk.ahead.pop_front() {
        if let Some(place) = walk.step(part)? {
            return Ok(place);
        }
    }
    let real = walk.real();
    Ok(Place { dir: walk.here().try_clone()?, name: None, real })
}

fn expand_home(home: Option<&Path>, path: &str) -> Result<PathBuf, Problem> {
    match path.strip_prefix('~') {
        None => Ok(PathBuf::from(path)),
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            Ok(home.ok_or(Problem::Outside)?.join(rest.trim_start_matches('/')))
        }
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => Err(Problem::Outside),
        // An editor's `~$draft` is a file name.
        Some(_) => Ok(PathBuf::from(path)),
    }
}

struct Walk<'a> {
    rights: Rights<'a>,
    root: usize,
    opened: Vec<(OsString, Dir)>,
    ahead: VecDeque<OsString>,
    links: usize,
    missing: Missing,
}

impl<'a> Walk<'a> {
    fn root(&self) -> &'a Root {
        &self.rights.roots[self.root]
    }

    fn here(&self) -> &Dir {
        self.opened.last().map_or(&self.root().dir, |(_, dir)| dir)
    }

    fn real(&self) -> PathBuf {
        self.opened.iter().fold(self.root().real.clone(), |path, (name, _)| path.join(name))
    }

    /// Puts the components of `path` before what is still ahead. An absolute one starts anew at the root that it names.
    fn turn_to(&mut self, path: &Path) -> Result<(), Problem> {
        let relative = match path.is_absolute() {
            false => path,
            true => {
                let (root, rest) = named_root(self.rights.roots, path).ok_or(Problem::Outside)?;
                self.root = root;
                self.opened.clear();
                rest
            }
        };
        for part in relative.components().rev() {
            match part {
                Component::Normal(name) => self.ahead.push_front(name.to_owned()),
                Component::ParentDir => self.ahead.push_front("..".into()),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(Problem::Outside),
            }
        }
        match self.ahead.len() > MAX_PATH {
            true => Err(Problem::TooManyLinks),
            false => Ok(()),
        }
    }

    fn step(&mut self, part: OsString) -> Result<Option<Place>, Problem> {
        if part == ".." {
            return self.opened.pop().map(|_| None).ok_or(Problem::Outside);
        }
        if temp::is_temporary(&part) {
            return Err(Problem::Reserved);
        }
        match self.here().read_link_contents(&part) {
            Ok(target) => self.follow(&target).map(|()| None),
            Err(_) if self.ahead.is_empty() => Ok(Some(self.arrive(part)?)),
            Err(_) => self.enter(part).map(|()| None),
        }
    }

    fn arrive(&self, name: OsString) -> Result<Place, Problem> {
        let real = self.real().join(&name);
        Ok(Place { dir: self.here().try_clone()?, name: Some(name), real })
    }

    fn follow(&mut self, target: &Path) -> Result<(), Problem> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Problem::TooManyLinks);
        }
        self.turn_to(target)
    }

    fn enter(&mut self, name: OsString) -> Result<(), Problem> {
        if self.opened.len() >= MAX_DEPTH {
            return Err(Problem::TooDeep { limit: MAX_DEPTH });
        }
        let dir = match open_dir(self.here(), &name) {
            Err(Errno::NOENT) if self.missing == Missing::Create => self.create(&name)?,
            opened => opened?,
        };
        self.opened.push((name, dir));
        Ok(())
    }

    fn create(&self, name: &OsStr) -> Result<Dir, Problem> {
        match self.rights.of(&self.real().join(name)) {
            Some(Permission::Write) => {}
            Some(Permission::Read) => return Err(Problem::ReadOnly),
            None => return Err(Problem::Outside),
        }
        match rustix::fs::mkdirat(self.here(), name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(open_dir(self.here(), name)?),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// The root whose spelling is the longest beginning of `path`, and what follows it.
fn named_root<'p>(roots: &[Root], path: &'p Path) -> Option<(usize, &'p Path)> {
    let spellings =
        roots.iter().enumerate().flat_map(|(index, root)| root.spelt.iter().map(move |spelt| (index, spelt)));
    spellings
        .filter_map(|(index, spelt)| path.strip_prefix(spelt).ok().map(|rest| (index, rest)))
        .min_by_key(|(_, rest)| rest.components().count())
}
