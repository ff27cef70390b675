//! One connection to the database: how it is made, its settings, its prepared statements, and the server's warnings.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::poll_fn;
use tokio::task::JoinSet;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls, Row, Socket, Statement};

use super::fault::OpenFault;
use super::outcome::{Timeline, admits};
use super::tls::Tls;

/// Statements that a connection remembers.
const STATEMENTS: usize = 256;

/// A transaction whose hub stands still is ended, so that its locks are free for others. A commit is never cancelled by us:
/// no timeout of ours is above it.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '5s'; SET statement_timeout = '10s';
    SET lock_timeout = '6s'; SET client_min_messages = 'warning';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// Where the database is, and which one it was.
#[derive(Debug)]
pub(super) struct Target {
    config: Config,
    tls: Option<Tls>,
    schema: String,
    seen: Mutex<Option<Timeline>>,
}

impl Target {
    /// A database on another machine is spoken to over verified TLS, whatever the URL says, unless `insecure`.
    pub(super) fn new(url: &str, ca: Option<&[u8]>, insecure: bool, schema: &str) -> Result<Target, OpenFault> {
        let mut config: Config = url.parse().map_err(|error: Error| OpenFault::Url(error.to_string()))?;
        if schema.is_empty()
            || !schema.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_')
        {
            return Err(OpenFault::Url("the name of a schema has lower-case letters, digits and _".into()));
        }
        let near = config.get_hosts().iter().all(is_near);
        let tls = if ca.is_some() || !(near || insecure) { Some(Tls::new(ca)?) } else { None };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.connect_timeout(Duration::from_secs(5)).application_name("interlingua");
        config.keepalives_idle(Duration::from_secs(10)).tcp_user_timeout(Duration::from_secs(20));
        Ok(Target { config, tls, schema: schema.to_owned(), seen: Mutex::new(None) })
    }

    /// A new connection to the database that was seen before, or a later timeline of it.
    pub(super) async fn connect(&self) -> Result<Session, ConnectFault> {
        let session = match &self.tls {
            Some(tls) => Session::open(&self.config, tls.clone()).await?,
            None => Session::open(&self.config, NoTls).await?,
        };
        session.batch(SETTINGS).await?;
        session.batch(&format!("CREATE SCHEMA IF NOT EXISTS {0}; SET search_path = {0}", self.schema)).await?;
        let found = session.line().await?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !admits(*seen, found) {
            return Err(ConnectFault::OtherDatabase);
        }
        *seen = found;
        Ok(session)
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectFault {
    #[error(transparent)]
    Database(#[from] Error),
    #[error("it is another database than before, or an older timeline of it")]
    OtherDatabase,
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()),
    }
}

/// A connection that stands. It ends when it is dropped.
pub(super) struct Session {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
    warned: Arc<AtomicBool>,
    _driver: JoinSet<()>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    async fn open<T>(config: &Config, tls: T) -> Result<Session, Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let (client, mut connection) = config.connect(tls).await?;
        let warned = Arc::new(AtomicBool::new(false));
        let (heard, mut driver) = (warned.clone(), JoinSet::new());
        driver.spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notice(notice) = message {
                    tracing::warn!(
                        event = "database_warning",
                        code = notice.code().code(),
                        "the database sent a warning"
                    );
                    heard.store(true, Ordering::Release);
                }
            }
        });
        Ok(Session { client, statements: Mutex::default(), warned, _driver: driver })
    }

    /// Did the server warn since this was asked last? A commit that a standby may not have is told in this way.
    pub(super) fn take_warning(&self) -> bool {
        self.warned.swap(false, Ordering::AcqRel)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await
    }

    pub(super) async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(sql).await?;
        self.client.query(&statement, values).await
    }

    pub(super) async fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let statement = self.prepared(sql).await?;
        self.client.execute(&statement, values).await
    }

    async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        if statements.len() >= STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Which database this is; `None` where the engine cannot say.
    async fn line(&self) -> Result<Option<Timeline>, Error> {
        let sql = "SELECT (SELECT system_identifier FROM pg_control_system()),
            ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8";
        match self.query(sql, &[]).await {
            Ok(rows) => Ok(rows.first().map(|row| Timeline {
                system: row.get(0),
                timeline: u32::try_from(row.get::<_, i64>(1)).unwrap_or_default(),
            })),
            Err(error) if error.code().is_some_and(|code| code.code().starts_with("42")) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
