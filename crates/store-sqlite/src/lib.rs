//! The embedded store: implements the storage ports of the model on SQLite and files, in one data directory that one hub uses at a time.
//!
//! | file | what |
//! |---|---|
//! | `hub.db` (`-wal`, `-shm`) | journal, tasks, keys, records |
//! | `blobs/ab/abcd…` | artifact and upload bytes by SHA-256 |
//! | `hub.lock` | held while a hub runs |
//!
//! Reading order: `schema` (tables), `writer` (group commit), `readers`, `journal` with `tasks` and `retention`, `records`, `blobs`,
//! `index` with `words`, `backup`; `convert` and `reseal` for encryption. Times are passed in; nothing here reads a clock.
//! Records and journal entries are opaque: nothing here parses one.

mod backup;
mod blobs;
mod changed;
mod columns;
mod condition;
mod convert;
mod directory;
mod fault;
mod held;
mod index;
mod journal;
mod logs;
mod readers;
mod records;
mod reseal;
mod retention;
mod schema;
mod tasks;
#[cfg(test)]
mod tests;
mod words;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlingua_model::ports::{Condition, SkillIndex, Store};
use rusqlite::Connection;

pub use backup::{Integrity, integrity};
pub use directory::is_private;
pub use fault::OpenFault;

use blobs::{BlobFiles, BlobSeal};
use directory::Lock;
use fault::Refused;
use index::Ranking;
use interlingua_keys::{EncryptionAtRest, Keyring, Wrapping, is_wrapped};
use readers::Readers;
use schema::Sync;
use writer::Writer;

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Connections for reads.
    pub readers: u32,
    /// Writes that may wait; whoever comes then waits to be let in.
    pub queue: usize,
    /// The database grows to this and then says that it is full. Blobs have a rule of their own.
    pub max_bytes: Option<u64>,
    /// Pages in the write-ahead log after which a commit also moves them into the database.
    pub checkpoint: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { readers: 4, queue: 1024, max_bytes: None, checkpoint: 4000 }
    }
}

/// Journal and records: one database, one writer, some readers.
#[derive(Debug)]
struct Database {
    writer: Writer,
    readers: Readers,
    rest: EncryptionAtRest,
}

/// An open data directory.
#[derive(Debug)]
pub struct Embedded {
    dir: PathBuf,
    database: Arc<Database>,
    blobs: Arc<BlobFiles>,
    index: Arc<Ranking>,
}

impl Embedded {
    /// Opens the directory, makes it when it is not there, and brings its schema up to date.
    pub fn open(dir: &Path, options: Options) -> Result<Embedded, OpenFault> {
        Embedded::open_with(dir, options, Sync::Full)
    }

    fn open_with(dir: &Path, options: Options, sync: Sync) -> Result<Embedded, OpenFault> {
        let claimed = Claimed::new(dir, options, sync)?;
        if claimed.is_marked()? {
            return Err(OpenFault::Sealed { dir: dir.to_owned() });
        }
        let blobs = BlobFiles::open(&dir.join(directory::BLOBS), None)?;
        claimed.start(options, EncryptionAtRest::default(), blobs)
    }

    /// Opens the directory as an encrypted one, with the ring that is wrapped in it. What was written before it was to be
    /// encrypted is sealed first, however long that takes.
    pub fn open_sealed(dir: &Path, options: Options, outer: &Wrapping) -> Result<(Embedded, Keyring), OpenFault> {
        let mut claimed = Claimed::new(dir, options, Sync::Full)?;
        if claimed.is_marked()? && !is_wrapped(dir)? {
            return Err(OpenFault::KeysGone { dir: dir.to_owned() });
        }
        let unwrapped = outer.open(dir)?;
        let ring = unwrapped.ring;
        let rest = EncryptionAtRest::sealed(&ring).map_err(interlingua_keys::KeyFault::from)?;
        let seal = BlobSeal::new(&ring).map_err(interlingua_keys::KeyFault::from)?;
        let blobs = BlobFiles::open(&dir.join(directory::BLOBS), Some(seal))?;
        convert::mark(&claimed.db).map_err(OpenFault::database("mark", &claimed.file))?;
        if !unwrapped.sealed {
            let values = claimed.seal_all(&rest)?;
            let blobs = blobs.seal_all()?;
            outer.settle(dir)?;
            tracing::info!(event = "store_encrypted", values, blobs, "the store was encrypted");
        }
        Ok((claimed.start(options, rest, blobs)?, ring))
    }

    /// The ports, as the hub holds them.
    pub fn ports(&self) -> Store {
        Store {
            journal: self.database.clone(),
            records: self.database.clone(),
            blobs: self.blobs.clone(),
            index: self.index.clone(),
        }
    }

    /// Whether it can keep anything, now and as that changes.
    pub fn condition(&self) -> tokio::sync::watch::Receiver<Condition> {
        self.database.writer.condition()
    }

    /// Copies everything into an empty or new directory while the hub goes on.
    pub async fn backup(&self, to: &Path) -> Result<(), OpenFault> {
        let (from, to) = (self.dir.clone(), to.to_owned());
        let copied = tokio::task::spawn_blocking(move || backup::copy(&from, &to, EXTRAS)).await;
        copied.unwrap_or_else(|error| Err(OpenFault::io("copy", &self.dir)(std::io::Error::other(error))))
    }

    /// Finishes what was asked before, then lets go of the directory. Later requests are answered with `Closed`.
    pub async fn close(&self) {
        self.database.readers.close().await;
        self.database.writer.close().await;
    }
}

/// What a hub keeps on its own machine when its database is elsewhere: the lock of its directory, and the index of skills in memory.
pub struct Beside {
    /// The full-text index.
    pub index: Arc<dyn SkillIndex>,
    lock_id: String,
    _lock: Lock,
}

impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Beside")
    }
}

impl Beside {
    /// Opens the directory for this hub alone, and makes it when it is not there. One with an embedded store is refused.
    pub fn open(dir: &Path) -> Result<Beside, OpenFault> {
        let lock = directory::claim(dir)?;
        if dir.join(directory::DATABASE).exists() {
            return Err(OpenFault::Embedded { dir: dir.to_owned() });
        }
        let lock_id = lock.id().map_err(OpenFault::io("write the lock of", dir))?;
        let index = Ranking::new().map_err(OpenFault::database("index skills beside", dir))?;
        Ok(Beside { index: Arc::new(index), lock_id, _lock: lock })
    }

    /// The id of the lock that this holds.
    pub fn lock_id(&self) -> &str {
        &self.lock_id
    }
}

/// A directory that is ours, with its database.
struct Claimed {
    dir: PathBuf,
    file: PathBuf,
    lock: Lock,
    db: Connection,
}

impl Claimed {
    fn new(dir: &Path, options: Options, sync: Sync) -> Result<Claimed, OpenFault> {
        let lock = directory::claim(dir)?;
        let file = directory::database(dir)?;
        let db = schema::writer(&file, options, sync)?;
        Ok(Claimed { dir: dir.to_owned(), file, lock, db })
    }

    fn is_marked(&self) -> Result<bool, OpenFault> {
        convert::is_marked(&self.db).map_err(OpenFault::database("read", &self.file))
    }

    fn seal_all(&mut self, rest: &EncryptionAtRest) -> Result<u64, OpenFault> {
        convert::seal_all(&mut self.db, rest).map_err(|refused| match refused {
            Refused::Sql(error) => OpenFault::database("encrypt", &self.file)(error),
            Refused::Port(fault) => OpenFault::Damaged { file: self.file.clone(), what: fault.to_string() },
        })
    }

    fn start(self, options: Options, rest: EncryptionAtRest, blobs: BlobFiles) -> Result<Embedded, OpenFault> {
        let Claimed { dir, file, lock, db } = self;
        let readers = Readers::open(&file, options.readers)?;
        let index = Ranking::new().map_err(OpenFault::database("index skills beside", &file))?;
        directory::sync(&dir).map_err(OpenFault::io("sync", &dir))?;
        let writer =
            Writer::start(db, lock, options.queue.max(1)).map_err(OpenFault::io("start the writer of", &dir))?;
        let database = Arc::new(Database { writer, readers, rest });
        Ok(Embedded { dir, database, blobs: Arc::new(blobs), index: Arc::new(index) })
    }
}

/// Files of the data directory that a copy needs besides database and blobs.
const EXTRAS: &[&str] = &[interlingua_keys::FILE];
