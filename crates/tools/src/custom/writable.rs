//! File permission check of what the hub runs: a user who can write a program, its manifest or their directory can run any code as the hub.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const BY_OTHERS: u32 = 0o002;
const BY_GROUP: u32 = 0o020;
const ROOT: u32 = 0;

/// What is wrong with a file or directory that is trusted; nothing with one that is not there.
pub(super) fn problem(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    let why = judge(&found, rustix::process::geteuid().as_raw())?;
    Some(format!("{} {why}: nothing is run that others may change", path.display()))
}

fn judge(found: &Metadata, user: u32) -> Option<&'static str> {
    let (mode, owner, group) = (found.mode(), found.uid(), found.gid());
    // By convention a group with the number of a user has that user alone in it.
    let shared = group != user && group != ROOT;
    match () {
        () if owner != user && owner != ROOT => Some("belongs to another user"),
        () if mode & BY_OTHERS != 0 => Some("may be written by anybody (mode o+w)"),
        () if mode & BY_GROUP != 0 && shared => Some("may be written by a group (mode g+w)"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_others_may_write_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let user = rustix::process::geteuid().as_raw();
        let judged = |mode: u32, user: u32| {
            fs::set_permissions(directory.path(), PermissionsExt::from_mode(mode)).expect("ours");
            judge(&fs::metadata(directory.path()).expect("there"), user)
        };
        assert_eq!(judged(0o755, user), None);
        assert_eq!(judged(0o757, user), Some("may be written by anybody (mode o+w)"));
        assert_eq!(judged(0o1777, user), Some("may be written by anybody (mode o+w)"));
        if user != ROOT {
            assert_eq!(judged(0o755, user + 1), Some("belongs to another user"));
        }
        assert_eq!(problem(&directory.path().join("absent")), None);
    }
}
