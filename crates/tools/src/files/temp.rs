//! Atomic file write: a temporary file beside the target is written, synced and renamed, then the directory is synced.
//!
//! An existing file is never written in place, so another hard link of it keeps what it had.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::fault::Problem;
use super::root::FileId;

/// Callers cannot name such files, and listings leave them out.
const PREFIX: &str = ".interlingua-write-";

pub(super) fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}

/// A name for something that is not whole yet.
pub(super) fn unfinished() -> Result<OsString, Problem> {
    let mut random = [0; 8];
    aws_lc_rs::rand::fill(&mut random).map_err(|_| Problem::Failed(std::io::ErrorKind::Other.into()))?;
    Ok(OsString::from(format!("{PREFIX}{:016x}", u64::from_ne_bytes(random))))
}

/// What an existing file was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub id: FileId,
    pub len: u64,
    modified: (i64, i64),
    pub mode: u32,
}

impl Seen {
    /// The links of the path are resolved already: a link found here came meanwhile.
    pub(super) fn at(dir: &Dir, name: &OsStr) -> Result<Option<Seen>, Problem> {
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Seen::regular(&stat).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn of(file: &File) -> Result<Seen, Problem> {
        Seen::regular(&rustix::fs::fstat(file)?)
    }

    #[allow(clippy::unnecessary_cast, reason = "the width of these fields differs between systems")]
    fn regular(stat: &rustix::fs::Stat) -> Result<Seen, Problem> {
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(Problem::NotAFile);
        }
        let len = u64::try_from(stat.st_size).unwrap_or(0);
        let modified = (stat.st_mtime as i64, stat.st_mtime_nsec as i64);
        Ok(Seen { id: FileId::from(stat), len, modified, mode: stat.st_mode as u32 & 0o777 })
    }
}

/// Makes a new file; one that appeared meanwhile is left alone.
pub(super) fn create(dir: &Dir, name: &OsStr, content: &[u8]) -> Result<(), Problem> {
    let mut temp = Temp::new(dir)?;
    temp.fill(content)?;
    dir.hard_link(&temp.name, dir, name)?;
    drop(temp);
    Ok(rustix::fs::fsync(dir)?)
}

/// Replaces the file that was `seen`; one that changed meanwhile is left alone.
pub(super) fn replace(dir: &Dir, name: &OsStr, seen: Seen, content: &[u8]) -> Result<(), Problem> {
    let mut temp = Temp::new(dir)?;
    rustix::fs::fchmod(&temp.file, Mode::from_raw_mode(seen.mode))?;
    temp.fill(content)?;
    if Seen::at(dir, name)? != Some(seen) {
        return Err(Problem::Changed);
    }
    dir.rename(&temp.name, dir, name)?;
    Ok(rustix::fs::fsync(dir)?)
}

/// Removed when dropped; after a rename there is nothing left to remove.
struct Temp<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
}

impl Temp<'_> {
    fn new(dir: &Dir) -> Result<Temp<'_>, Problem> {
        let name = unfinished()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(dir, &name, flags, Mode::from_raw_mode(0o666))?);
        Ok(Temp { dir, name, file })
    }

    fn fill(&mut self, content: &[u8]) -> Result<(), Problem> {
        self.file.write_all(content)?;
        Ok(self.file.sync_all()?)
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        let _ = self.dir.remove_file(&self.name);
    }
}
