//! The data directory: its file permissions, and the lock that admits one hub at a time.
//!
//! The lock is advisory (`flock`) on a file that is never removed: removing it would let two hubs lock two files of the
//! same name. It ends with the process, however that ends.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::fault::OpenFault;

pub(super) const DATABASE: &str = "hub.db";
pub(super) const BLOBS: &str = "blobs";
const LOCK: &str = "hub.lock";
/// Characters of the id in a lock file.
const ID: usize = 32;

/// Held for as long as the directory is written to.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// The id in the lock file, which is made once: whoever holds the lock of this id is the only process that does.
    pub(super) fn id(&self) -> std::io::Result<String> {
        let mut found = [0; ID];
        match self.0.read_exact_at(&mut found, 0) {
            Ok(()) if found.iter().all(u8::is_ascii_hexdigit) => {}
            Ok(()) | Err(_) => {
                let mut drawn = [0; ID / 2];
                aws_lc_rs::rand::fill(&mut drawn).map_err(|_| std::io::Error::other("no randomness"))?;
                let text = format!("{:032x}", u128::from_be_bytes(drawn));
                found.copy_from_slice(text.as_bytes());
                self.0.write_all_at(&found, 0)?;
                self.0.sync_all()?;
            }
        }
        Ok(String::from_utf8_lossy(&found).into_owned())
    }
}

/// The directory, for its owner alone, and its lock.
pub(super) fn claim(dir: &Path) -> Result<Lock, OpenFault> {
    make_private(dir)?;
    all_ours(dir)?;
    let path = dir.join(LOCK);
    let file = private_file(&path).map_err(OpenFault::io("open", &path))?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(OpenFault::InUse { dir: dir.to_owned() }),
        Err(errno) => Err(OpenFault::io("lock", &path)(errno.into())),
    }
}

/// The database file, made for its owner alone before SQLite opens it: SQLite gives its companions the same mode.
pub(super) fn database(dir: &Path) -> Result<PathBuf, OpenFault> {
    let path = dir.join(DATABASE);
    private_file(&path).map_err(OpenFault::io("open", &path))?;
    Ok(path)
}

/// Makes a directory of mode 0700 (its parents too), or takes away what others may do with one that is there.
pub(super) fn make_private(dir: &Path) -> Result<(), OpenFault> {
    if !dir.exists() {
        private_folder(dir).map_err(OpenFault::io("make", dir))?;
        if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync(parent).map_err(OpenFault::io("sync", parent))?;
        }
    }
    let found = dir.metadata().map_err(OpenFault::io("look at", dir))?;
    if !is_ours(&found) {
        return Err(OpenFault::NotOurs { path: dir.to_owned() });
    }
    let mode = found.permissions().mode();
    if mode & 0o077 != 0 {
        std::fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(OpenFault::io("make private", dir))?;
    }
    Ok(())
}

/// Nothing in the directory was put there by somebody else, while it was open to them or by root: who owns a file may open it
/// to anybody, and change keys, tokens and records.
fn all_ours(dir: &Path) -> Result<(), OpenFault> {
    for entry in std::fs::read_dir(dir).map_err(OpenFault::io("look at", dir))? {
        let path = entry.map_err(OpenFault::io("look at", dir))?.path();
        match path.symlink_metadata() {
            Ok(found) if is_ours(&found) => {}
            // Gone since: a socket or a temporary file of a hub that just ended.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Ok(_) => return Err(OpenFault::NotOurs { path }),
            Err(error) => return Err(OpenFault::io("look at", &path)(error)),
        }
    }
    Ok(())
}

/// Would a hub of this user open the directory, as far as its owners go? One that is not there yet it makes itself.
pub fn is_private(dir: &Path) -> Result<(), OpenFault> {
    match dir.metadata() {
        Ok(found) if is_ours(&found) => all_ours(dir),
        Ok(_) => Err(OpenFault::NotOurs { path: dir.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(OpenFault::io("look at", dir)(error)),
    }
}

fn is_ours(found: &std::fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// A directory of mode 0700, and those above it; nothing happens when it is there.
pub(super) fn private_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opened for writing, made with mode 0600 when it was not there.
pub(super) fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Makes the names in a directory survive a power cut, as syncing a file does for its bytes.
pub(super) fn sync(dir: &Path) -> std::io::Result<()> {
    File::open(dir)?.sync_all()
}
