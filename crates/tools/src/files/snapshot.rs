//! Workspace snapshot: a read-only copy of a workspace for others. It is written under a temporary name and then renamed, so that it exists
//! whole or not at all, and never changes afterwards.
//!
//! Regular files and directories are copied, by handle like everything here. Links are omitted, because their targets may be outside the
//! workspace. What exceeds the bounds is omitted too, and counted.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};

use super::root::make_workspace;
use super::temp::{is_temporary, unfinished};
use super::walk::{MAX_DEPTH, open_dir};

/// How much one snapshot holds.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub files: u64,
    pub bytes: u64,
}

impl Default for Room {
    fn default() -> Room {
        Room { files: 10_000, bytes: 256 * 1024 * 1024 }
    }
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    pub files: u64,
    pub bytes: u64,
    /// Devices, and what there was no room for.
    pub left_out: u64,
}

/// Copies the directory `from` to `to`, unless `to` is there already. Blocks.
pub fn snapshot(from: &Path, to: &Path, room: Room) -> io::Result<Copied> {
    let nameless = || io::Error::from(io::ErrorKind::InvalidInput);
    let (parent, name) = (to.parent().ok_or_else(nameless)?, to.file_name().ok_or_else(nameless)?);
    make_workspace(parent).map_err(io::Error::other)?;
    let parent = opened(parent)?;
    if parent.symlink_metadata(name).is_ok() {
        return Ok(Copied::default());
    }
    let source = opened(from)?;
    let unfinished = unfinished().map_err(io::Error::other)?;
    let copied = copy_into(&source, &parent, &unfinished, room).and_then(|copied| {
        parent.rename(&unfinished, &parent, name)?;
        rustix::fs::fsync(&parent)?;
        Ok(copied)
    });
    if copied.is_err() {
        // What is left of it has a name that nobody can use.
        let _ = parent.remove_dir_all(&unfinished);
    }
    copied
}

fn opened(path: &Path) -> io::Result<Dir> {
    Ok(open_dir(&Dir::open_ambient_dir(path, ambient_authority())?, OsStr::new("."))?)
}

fn copy_into(source: &Dir, parent: &Dir, name: &OsStr, room: Room) -> io::Result<Copied> {
    let mut copying = Copying { room, copied: Copied::default() };
    copying.directory(source, parent, name, 0)?;
    Ok(copying.copied)
}

struct Copying {
    room: Room,
    copied: Copied,
}

impl Copying {
    fn directory(&mut self, source: &Dir, parent: &Dir, name: &OsStr, depth: usize) -> io::Result<()> {
        rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o700))?;
        let target = open_dir(parent, name)?;
        for entry in source.entries()? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if is_temporary(&name) || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() && depth < MAX_DEPTH {
                self.directory(&open_dir(source, &name)?, &target, &name, depth + 1)?;
            } else if kind.is_file() && self.copied.files < self.room.files {
                self.file(source, &target, &name)?;
            } else {
                self.copied.left_out += 1;
            }
        }
        Ok(rustix::fs::fsync(&target)?)
    }

    fn file(&mut self, source: &Dir, target: &Dir, name: &OsString) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut from = File::from(rustix::fs::openat(source, name, flags, Mode::empty())?);
        let found = from.metadata()?;
        if !found.is_file() || found.len() > self.room.bytes - self.copied.bytes {
            self.copied.left_out += 1;
            return Ok(());
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut to = File::from(rustix::fs::openat(target, name, flags, Mode::from_raw_mode(0o600))?);
        // One that grows meanwhile is copied as long as it was.
        self.copied.bytes += io::copy(&mut io::Read::take(&mut from, found.len()), &mut to)?;
        self.copied.files += 1;
        to.sync_all()
    }
}
