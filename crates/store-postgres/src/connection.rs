//! One connection to the database: how it is made, its settings, its prepared statements, and the server's warnings.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::poll_fn;
use tokio::task::JoinSet;
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls, Row, Socket, Statement};

use super::Options;
use super::bounded::Plain;
use super::fault::{OpenFault, SqlError};
use super::outcome::{Timeline, admits};
use super::tls::Tls;

/// Statements that a connection remembers.
const STATEMENTS: usize = 256;
/// How long one host may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// A transaction whose hub stands still is ended, so that its locks are free for others. A commit is never cancelled by us: one
/// that waits for a standby is not ended by the server's timeouts, and where ours has passed the connection is left, which cancels
/// nothing, and the commit counts as unknown.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '5s'; SET statement_timeout = '10s';
    SET lock_timeout = '6s'; SET client_min_messages = 'warning';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// How the bytes of a connection travel.
#[derive(Debug)]
enum Wire {
    /// A socket of this machine. The library speaks over it directly.
    Socket,
    Plain,
    Tls(Tls),
}

/// Where the database is, and which one it was.
#[derive(Debug)]
pub(super) struct Target {
    config: Config,
    wire: Wire,
    schema: String,
    patience: Duration,
    seen: Mutex<Option<Timeline>>,
}

impl Target {
    /// A database on another machine is spoken to over verified TLS, whatever the URL says, unless `insecure`.
    pub(super) fn new(options: &Options) -> Result<Target, OpenFault> {
        let wrong = |what: &str| OpenFault::Url(what.to_owned());
        let expected = "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE";
        // The library's own text may quote the URL.
        let config = options.url.text().and_then(|url| url.parse::<Config>().ok());
        let mut config = config.ok_or_else(|| wrong(expected))?;
        if config.get_hosts().is_empty() || config.get_user().is_none() {
            return Err(wrong(expected));
        }
        let schema = &options.schema;
        let fits = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_';
        if schema.is_empty() || schema.len() > 63 || schema.starts_with("pg_") || !schema.chars().all(fits) {
            return Err(wrong("the name of a schema has lower-case letters, digits and _"));
        }
        // An address beside the name decides where the connection goes, so it decides whether that is this machine.
        let near = config.get_hosts().iter().all(is_near) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        if config.get_ssl_mode() == SslMode::Disable && !near && !options.insecure {
            return Err(wrong(
                "`sslmode=disable` sends passwords and data readable to everyone on the way; remove it, or set `insecure: true`",
            ));
        }
        let ca = options.ca.as_deref();
        let sockets = config.get_hosts().iter().filter(|host| matches!(host, Host::Unix(_))).count();
        let wire = if sockets > 0 {
            if sockets < config.get_hosts().len() || !config.get_hostaddrs().is_empty() {
                return Err(wrong("sockets of this machine and other hosts do not go together"));
            }
            Wire::Socket
        } else if ca.is_some() || !(near || options.insecure) {
            Wire::Tls(Tls::new(ca)?)
        } else {
            Wire::Plain
        };
        match &wire {
            Wire::Socket => config.ssl_mode(SslMode::Disable),
            // See `Plain`: the library's word for "hand over the connection as it is".
            Wire::Plain => config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct),
            Wire::Tls(_) => config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Postgres),
        };
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.connect_timeout(CONNECT.min(options.patience)).application_name("interlingua");
        config.keepalives_idle(Duration::from_secs(10)).tcp_user_timeout(Duration::from_secs(20));
        Ok(Target { config, wire, schema: schema.clone(), patience: options.patience, seen: Mutex::new(None) })
    }

    /// A new connection to the database that was seen before, or a later timeline of it.
    pub(super) async fn connect(&self) -> Result<Session, ConnectFault> {
        // The library bounds the connection of the socket alone, not what the server says then.
        let connected = tokio::time::timeout(self.patience, self.prepared_session()).await;
        connected.unwrap_or(Err(SqlError::Silent(self.patience).into()))
    }

    async fn prepared_session(&self) -> Result<Session, ConnectFault> {
        let session = self.session().await?;
        session.batch(SETTINGS).await?;
        session.batch(&format!("SET search_path = {}", self.schema)).await?;
        let found = session.line().await?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !admits(*seen, found) {
            return Err(ConnectFault::OtherDatabase);
        }
        *seen = found;
        Ok(session)
    }

    async fn session(&self) -> Result<Session, SqlError> {
        match &self.wire {
            Wire::Socket => Session::open(&self.config, NoTls, self.patience).await,
            Wire::Plain => Session::open(&self.config, Plain, self.patience).await,
            Wire::Tls(tls) => Session::open(&self.config, tls.clone(), self.patience).await,
        }
    }

    /// The schema that holds the tables.
    pub(super) fn schema(&self) -> &str {
        &self.schema
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectFault {
    #[error("{}", .0.said())]
    Database(#[from] SqlError),
    #[error("it is another database than before, or an older timeline of it")]
    OtherDatabase,
}

impl From<ConnectFault> for OpenFault {
    fn from(fault: ConnectFault) -> OpenFault {
        match fault {
            ConnectFault::Database(error) => OpenFault::database("connect to")(error),
            ConnectFault::OtherDatabase => OpenFault::OtherDatabase,
        }
    }
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
    }
}

/// A connection that stands. It ends when it is dropped.
pub(super) struct Session {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
    warned: Arc<AtomicBool>,
    patience: Duration,
    _driver: JoinSet<()>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    async fn open<T>(config: &Config, tls: T, patience: Duration) -> Result<Session, SqlError>
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
        Ok(Session { client, statements: Mutex::default(), warned, patience, _driver: driver })
    }

    /// Did the server warn since this was asked last? A commit that a standby may not have is told in this way.
    pub(super) fn take_warning(&self) -> bool {
        self.warned.swap(false, Ordering::AcqRel)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), SqlError> {
        self.answered(self.client.batch_execute(sql)).await
    }

    pub(super) async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, SqlError> {
        self.answered(async {
            let statement = self.prepared(sql).await?;
            self.client.query(&statement, values).await
        })
        .await
    }

    pub(super) async fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, SqlError> {
        self.answered(async {
            let statement = self.prepared(sql).await?;
            self.client.execute(&statement, values).await
        })
        .await
    }

    /// A server that says nothing is not waited for. Whoever hears of it drops this connection: what was asked is not cancelled,
    /// and its answer may still come.
    async fn answered<T>(&self, asked: impl Future<Output = Result<T, Error>>) -> Result<T, SqlError> {
        match tokio::time::timeout(self.patience, asked).await {
            Ok(answered) => Ok(answered?),
            Err(_) => Err(SqlError::Silent(self.patience)),
        }
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
    async fn line(&self) -> Result<Option<Timeline>, SqlError> {
        let sql = "SELECT (SELECT system_identifier FROM pg_control_system()),
            ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8";
        let rows = match self.query(sql, &[]).await {
            Ok(rows) => rows,
            Err(error) if error.code().is_some_and(|code| code.code().starts_with("42")) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(row) = rows.first() else { return Ok(None) };
        let timeline = u32::try_from(row.try_get::<_, i64>(1)?).unwrap_or_default();
        Ok(Some(Timeline { system: row.try_get(0)?, timeline }))
    }
}
