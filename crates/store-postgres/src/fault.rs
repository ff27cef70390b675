//! Errors of the store: why it could not be opened, and how an error of the database appears at the ports. What the server
//! itself said goes to the log, not to a caller. No text has anything of the URL: it holds a password.

use std::error::Error as _;
use std::time::Duration;

use interlingua_model::ports::StoreFault;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why the store could not be opened. The texts are for the operator, and say what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    /// The address of the database cannot be used.
    #[error("the URL of the database: {0}")]
    Url(String),
    /// The certificate authority, or the handshake.
    #[error(
        "TLS to the database: {0}; the certificate of the server must be issued by `store.postgres.ca`, for the host of the URL"
    )]
    Tls(String),
    /// Nobody answers.
    #[error(
        "the database cannot be reached: {0}; check that the server runs, and the host and port of `store.postgres.url`"
    )]
    Unreachable(String),
    /// Who asks is not let in.
    #[error(
        "the database refuses this user: {0}; check user and password of `store.postgres.url`, and pg_hba.conf of the server"
    )]
    Login(String),
    /// The server has no such database.
    #[error("the database is not there: {0}; create it (`createdb`), or correct the last part of `store.postgres.url`")]
    NoDatabase(String),
    /// The user may not do what a hub does.
    #[error(
        "the database user lacks a permission: {0}; grant it CREATE on the database, or make it the owner of the schema"
    )]
    Forbidden(String),
    /// The server is older than the oldest that works.
    #[error("the database is PostgreSQL {found}; the hub needs {needed} or newer")]
    Version {
        /// As the server says it.
        found: String,
        /// The oldest that works.
        needed: u32,
    },
    /// A newer version of the hub wrote it.
    #[error(
        "the database has schema {found}, this hub knows up to {known}: a newer release of the hub wrote it; start that release"
    )]
    Newer {
        /// The schema of the database.
        found: i64,
        /// The newest that this hub knows.
        known: i64,
    },
    /// A hub with this name runs.
    #[error(
        "another hub named `{name}` runs on this database: two hubs must not share it. Stop that one, or wait until it has been silent for {dead_after:?}"
    )]
    NameTaken {
        /// The name of both.
        name: String,
        /// How long a hub is silent before it counts as dead.
        dead_after: Duration,
    },
    /// Sealed values, and nothing that opens them.
    #[error(
        "the database holds data of a hub and no key ring: restore the row `ring` of its table `meta`, or the file `keys` of `store.local`"
    )]
    KeysGone,
    /// Another database than before, or an older timeline of it.
    #[error("the database is another one than before, or an older timeline of it")]
    OtherDatabase,
    /// Something else went wrong.
    #[error("cannot {doing} the database: {what}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// What the connection or the server said.
        what: String,
    },
    /// The keys that seal its values.
    #[error("the keys of the store: {0}")]
    Keys(#[from] interlingua_keys::SealFault),
}

impl OpenFault {
    /// What an error means to the operator of a hub that starts.
    pub(super) fn database(doing: &'static str) -> impl FnOnce(SqlError) -> OpenFault {
        move |error| {
            let what = error.said();
            match error.code().map(SqlState::code) {
                Some(code) if code.starts_with("28") => OpenFault::Login(what),
                Some("3D000") => OpenFault::NoDatabase(what),
                Some("42501") => OpenFault::Forbidden(what),
                Some(_) => OpenFault::Database { doing, what },
                None if error.is_tls() => OpenFault::Tls(what),
                None if error.is_login() => OpenFault::Login(what),
                None => OpenFault::Unreachable(what),
            }
        }
    }
}

/// Why a statement, or a connection, has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqlError {
    #[error(transparent)]
    Database(#[from] Error),
    /// The server said nothing for so long. What became of the statement is unknown.
    #[error("no answer within {0:?}")]
    Silent(Duration),
}

impl SqlError {
    /// What the server called it; `None` where the connection failed.
    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            SqlError::Database(error) => error.code(),
            SqlError::Silent(_) => None,
        }
    }

    /// With its cause: the library's own texts do not have it.
    pub(super) fn said(&self) -> String {
        match self {
            SqlError::Silent(_) => self.to_string(),
            SqlError::Database(error) => match (error.as_db_error(), error.source()) {
                (Some(answer), _) => format!("{} ({})", answer.message(), answer.code().code()),
                (None, Some(cause)) => cause.to_string(),
                (None, None) => error.to_string(),
            },
        }
    }

    /// The library has no public kind of its errors; its texts are fixed.
    fn is_tls(&self) -> bool {
        matches!(self, SqlError::Database(error) if error.to_string().contains("TLS"))
    }

    /// A password that is wanted and not given, or a method that is not spoken.
    fn is_login(&self) -> bool {
        let texts = ["authentication error", "invalid configuration"];
        matches!(self, SqlError::Database(error) if texts.contains(&error.to_string().as_str()))
    }
}

/// Why one request came to nothing: the database failed, or the port says no.
#[derive(Debug)]
pub(super) enum Refused {
    Sql(SqlError),
    Port(StoreFault),
}

impl From<SqlError> for Refused {
    fn from(error: SqlError) -> Refused {
        Refused::Sql(error)
    }
}

/// Of a column that is not what was asked for: all else that the library reports comes as [`SqlError`].
impl From<Error> for Refused {
    fn from(_: Error) -> Refused {
        Refused::Port(StoreFault::Damaged("a column of the database".into()))
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

pub(super) fn class(error: &SqlError) -> Class {
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
pub(super) fn from_sql(error: &SqlError) -> StoreFault {
    tracing::warn!(event = "database_error", error = error.said(), "the database reported an error");
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
