//! The embedded store: the core's ports on SQLite and files, in one data directory that one hub uses at a time.
//!
//! | file | what |
//! |---|---|
//! | `hub.db` (`-wal`, `-shm`) | journal, tasks, keys, records |
//! | `blobs/ab/abcd…` | artifact and upload bytes by SHA-256 |
//! | `hub.lock` | held while a hub runs |
//!
//! Reading order: `schema` (tables), `writer` (group commit), `readers`, `journal` with `tasks` and
//! `retention`, `records`, `blobs`, `index` with `words`, `backup`. Times are passed in; nothing here looks at
//! a clock. Records and journal entries are opaque: nothing here parses one.

mod backup;
mod blobs;
mod changed;
mod columns;
mod directory;
mod fault;
mod index;
mod journal;
mod readers;
mod records;
mod retention;
mod schema;
mod tasks;
#[cfg(test)]
mod tests;
mod words;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlingua_core::ports::Store;

pub use backup::{Integrity, integrity};
pub use fault::OpenFault;

use blobs::BlobFiles;
use index::Ranking;
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
        let lock = directory::claim(dir)?;
        let file = directory::database(dir)?;
        let db = schema::writer(&file, options, sync)?;
        let readers = Readers::open(&file, options.readers)?;
        let blobs = BlobFiles::open(&dir.join(directory::BLOBS))?;
        let index = Ranking::new().map_err(OpenFault::database("index skills beside", &file))?;
        directory::sync(dir).map_err(OpenFault::io("sync", dir))?;
        let writer =
            Writer::start(db, lock, options.queue.max(1)).map_err(OpenFault::io("start the writer of", dir))?;
        let database = Arc::new(Database { writer, readers });
        Ok(Embedded { dir: dir.to_owned(), database, blobs: Arc::new(blobs), index: Arc::new(index) })
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

/// Files of the data directory that a copy needs besides database and blobs.
const EXTRAS: &[&str] = &[crate::keys::FILE];
