//! Backups of a data directory, and their verification.
//!
//! A backup is itself a data directory: to restore it, open it or move it to the old path. Keys in the data directory are part of the
//! backup, because what they sealed is useless without them; so a backup is as secret as the original. A backup of an encrypted directory
//! is encrypted, and opens with the same outer key.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::blobs::{self, Held};
use super::directory::{self, BLOBS, DATABASE};
use super::fault::OpenFault;
use super::schema;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integrity {
    pub schema: i64,
    pub blobs: u64,
    pub blob_bytes: u64,
}

/// Copies database, blobs and the given extra files of `from` into `to`, which must not hold anything yet. The database is copied
/// as of one moment; writers go on meanwhile. Blocks: call it where that is allowed.
pub(super) fn copy(from: &Path, to: &Path, extras: &[&str]) -> Result<(), OpenFault> {
    directory::make_private(to)?;
    if std::fs::read_dir(to).map_err(OpenFault::io("list", to))?.next().is_some() {
        return Err(OpenFault::Occupied { dir: to.to_owned() });
    }
    copy_database(&from.join(DATABASE), to)?;
    let target = to.join(BLOBS);
    directory::make_private(&target)?;
    let source = from.join(BLOBS);
    for blob in blobs::held(&source).map_err(OpenFault::io("list", &source))? {
        copy_blob(&blob, &target)?;
    }
    for name in extras {
        let file = from.join(name);
        if file.exists() {
            copy_file(&file, &to.join(name)).map_err(OpenFault::io("copy", &file))?;
        }
    }
    for dir in [&target, to] {
        directory::sync(dir).map_err(OpenFault::io("sync", dir))?;
    }
    Ok(())
}

fn copy_database(from: &Path, to: &Path) -> Result<(), OpenFault> {
    let target = directory::database(to)?;
    let source = schema::reader(from)?;
    let fail = || OpenFault::database("copy", from);
    let mut copy = Connection::open(&target).map_err(fail())?;
    // One step: a copy in several would start again after each commit of the writer.
    rusqlite::backup::Backup::new(&source, &mut copy).and_then(|backup| backup.step(-1)).map_err(fail())?;
    copy.close().map_err(|(_, error)| error).map_err(fail())?;
    std::fs::File::open(&target).and_then(|file| file.sync_all()).map_err(OpenFault::io("sync", &target))
}

/// A blob that retention removed meanwhile is not missed.
fn copy_blob(blob: &Held, root: &Path) -> Result<(), OpenFault> {
    let path = blob.path_in(root);
    let shard = path.parent().unwrap_or(root);
    directory::make_private(shard)?;
    match copy_file(&blob.path, &path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !blob.path.exists() => Ok(()),
        done => done.and_then(|()| directory::sync(shard)).map_err(OpenFault::io("copy", &blob.path)),
    }
}

fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = std::fs::File::open(from)?;
    let mut target = directory::private_file(to)?;
    std::io::copy(&mut source, &mut target)?;
    target.sync_all()
}

/// Reads everything in a data directory that no hub uses, and compares it with its own digests. Blocks, for as long as
/// reading it all takes. Of sealed values and blobs it sees only that they are there: who reads one is told if it was altered.
pub fn integrity(dir: &Path) -> Result<Integrity, OpenFault> {
    let _lock = directory::claim(dir)?;
    let file = dir.join(DATABASE);
    // Read-write, because a write-ahead log that was left behind has to be recovered first.
    let db = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(OpenFault::database("open", &file))?;
    let schema = schema::version(&db, &file)?;
    let said: String =
        db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(OpenFault::database("check", &file))?;
    if said != "ok" {
        return Err(OpenFault::Damaged { file, what: said });
    }
    let mut found = Integrity { schema, blobs: 0, blob_bytes: 0 };
    let root = dir.join(BLOBS);
    for blob in blobs::held(&root).map_err(OpenFault::io("list", &root))? {
        check_blob(&blob)?;
        found.blobs += 1;
        found.blob_bytes += blob.len;
    }
    Ok(found)
}

fn check_blob(blob: &Held) -> Result<(), OpenFault> {
    let sound = std::fs::File::open(&blob.path).and_then(|mut file| match blob.sealed {
        true => blobs::begins_right(&file),
        false => blobs::digest_of(&mut file).map(|digest| digest == blob.digest),
    });
    if sound.map_err(OpenFault::io("read", &blob.path))? {
        return Ok(());
    }
    Err(OpenFault::Damaged { file: blob.path.clone(), what: "its bytes are not those it is named by".into() })
}
