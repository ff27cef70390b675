//! Errors of the store: why it could not be opened, and how a database error appears at the ports.
//!
//! The texts name what failed and where in the data directory. SQLite's own message goes to the log, not to a caller.

use std::path::{Path, PathBuf};

use interlingua_model::ports::StoreFault;
use rusqlite::ErrorCode;

/// Why a data directory could not be opened, copied or checked.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    #[error("{} is in use by another hub", .dir.display())]
    InUse { dir: PathBuf },
    #[error("{} has schema {found}, this hub knows up to {known}: it was written by a newer version", .file.display())]
    Newer { file: PathBuf, found: i64, known: i64 },
    #[error("{} is not a database of a hub", .file.display())]
    Foreign { file: PathBuf },
    #[error("{} is damaged: {what}", .file.display())]
    Damaged { file: PathBuf, what: String },
    #[error("{} is encrypted, and no key was given that opens it", .dir.display())]
    Sealed { dir: PathBuf },
    #[error("{} is encrypted, and its wrapped keys are gone: bring back the file `keys` of this directory", .dir.display())]
    KeysGone { dir: PathBuf },
    #[error("the keys of an encrypted directory: {0}")]
    Keys(#[from] interlingua_keys::KeyFault),
    #[error("{} belongs to another user: a hub keeps its data where nobody else may write", .path.display())]
    NotOurs { path: PathBuf },
    #[error("{} holds the data of a hub without PostgreSQL (hub.db), which would not be seen: name another directory as `store.local`", .dir.display())]
    Embedded { dir: PathBuf },
    #[error("{} exists and is not empty", .dir.display())]
    Occupied { dir: PathBuf },
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("cannot {doing} {}: {source}", .file.display())]
    Database { doing: &'static str, file: PathBuf, source: rusqlite::Error },
}

impl OpenFault {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> OpenFault {
        let path = path.to_owned();
        move |source| OpenFault::Io { doing, path, source }
    }

    pub(super) fn database(doing: &'static str, file: &Path) -> impl FnOnce(rusqlite::Error) -> OpenFault {
        let file = file.to_owned();
        move |source| match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => OpenFault::Damaged { file, what: "it is not an SQLite file".into() },
            Some(ErrorCode::DatabaseCorrupt) => OpenFault::Damaged { file, what: "its pages contradict".into() },
            _ => OpenFault::Database { doing, file, source },
        }
    }
}

/// Why one piece of work on the database came to nothing: SQLite failed, or the port says no.
#[derive(Debug)]
pub(super) enum Refused {
    Sql(rusqlite::Error),
    Port(StoreFault),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Refused {
        Refused::Sql(error)
    }
}

impl From<StoreFault> for Refused {
    fn from(fault: StoreFault) -> Refused {
        Refused::Port(fault)
    }
}

impl From<Refused> for StoreFault {
    fn from(refused: Refused) -> StoreFault {
        match refused {
            Refused::Port(fault) => fault,
            Refused::Sql(error) => from_sql(&error),
        }
    }
}

/// A failure of the database as a port says it.
pub(super) fn from_sql(error: &rusqlite::Error) -> StoreFault {
    tracing::warn!(event = "database_error", %error, "the database reported an error");
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreFault::Full("no room for the database".into()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreFault::Damaged("database".into()),
        Some(code) => StoreFault::Broken(format!("database: {code:?}").into()),
        // No code: a value had another type than the schema says.
        None => StoreFault::Damaged("a row of the database".into()),
    }
}

/// A failure of a file beside the database as a port says it.
pub(super) fn from_io(doing: &'static str, error: &std::io::Error) -> StoreFault {
    tracing::warn!(event = "blob_error", %error, doing, "a file of stored content could not be used");
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreFault::Full(doing.into()),
        std::io::ErrorKind::NotFound => StoreFault::Missing(doing.into()),
        _ => StoreFault::Broken(format!("{doing}: {}", error.kind()).into()),
    }
}
