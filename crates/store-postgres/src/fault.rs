//! Errors of the store: why it could not be opened, and how an error of the database appears at the ports. What the server
//! itself said goes to the log, not to a caller.

use interlingua_model::ports::StoreFault;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    /// The address of the database cannot be used.
    #[error("the URL of the database: {0}")]
    Url(String),
    /// The certificate authority, or TLS itself.
    #[error("TLS to the database: {0}")]
    Tls(String),
    /// It cannot be reached, or it refuses.
    #[error("cannot {doing} the database: {source}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// What the connection or the server said.
        source: Error,
    },
    /// A newer version of the hub wrote it.
    #[error("the database has schema {found}, this hub knows up to {known}: it was written by a newer version")]
    Newer {
        /// The schema of the database.
        found: i64,
        /// The newest that this hub knows.
        known: i64,
    },
    /// The keys that seal its values.
    #[error("the keys of the store: {0}")]
    Keys(#[from] interlingua_keys::SealFault),
    /// The directory on this machine.
    #[error(transparent)]
    Beside(#[from] interlingua_store_sqlite::OpenFault),
}

impl OpenFault {
    pub(super) fn database(doing: &'static str) -> impl FnOnce(Error) -> OpenFault {
        move |source| OpenFault::Database { doing, source }
    }
}

/// Why one request came to nothing: the database failed, or the port says no.
#[derive(Debug)]
pub(super) enum Refused {
    Sql(Error),
    Port(StoreFault),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
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

/// What kind of failure it was, as far as the next step depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The connection is gone, or will be: nothing is known of what was under way.
    Lost,
    /// Another transaction was in the way; the same one may succeed.
    Collided,
    /// Only this statement failed.
    Statement,
}

pub(super) fn class(error: &Error) -> Class {
    let Some(code) = error.code() else { return Class::Lost };
    match code.code() {
        "40001" | "40P01" => Class::Collided,
        // The server was made a standby, or was one all the time; and a transaction that was ended for standing idle.
        "25006" | "25P03" => Class::Lost,
        code if code.starts_with("08") || code.starts_with("57P") => Class::Lost,
        _ => Class::Statement,
    }
}

/// A failure of the database as a port says it.
pub(super) fn from_sql(error: &Error) -> StoreFault {
    tracing::warn!(event = "database_error", error = ?error, "the database reported an error");
    match error.code() {
        None => StoreFault::Away("the connection to the database broke".into()),
        Some(code) if *code == SqlState::DISK_FULL => StoreFault::Full("no room for the database".into()),
        Some(code) if is_passing(code) => StoreFault::Away(format!("the database answered {}", code.code()).into()),
        Some(code) => StoreFault::Broken(format!("database: {}", code.code()).into()),
    }
}

/// Too many connections, a lock that was not given, a statement that was ended, a server that stops or starts.
fn is_passing(code: &SqlState) -> bool {
    let code = code.code();
    ["08", "40", "53", "57", "55P03", "25006", "25P03"].iter().any(|class| code.starts_with(class))
}
