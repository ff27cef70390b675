//! The store on PostgreSQL: the model's ports on a database that other hubs may use too. Blobs stay in a directory of this
//! machine, and the index of skills in memory, as in the embedded store.
//!
//! Reading order: `schema` (tables), `outcome` (what follows from a commit; pure), `lane` (writing, group commit), `append`,
//! `quota`, `retention`, `records`; `connection` with `tls`, `readers`, `journal` with `tasks`. Values are sealed and bound to
//! their place as the embedded store does it. Times are passed in; nothing here looks at a clock.
//!
//! Isolation is READ COMMITTED: whatever is decided is a condition of the write it allows, or is read under the lock of a row.
//! There are no triggers, procedures, advisory locks or notifications, so that databases which speak PostgreSQL's protocol can
//! take its place.

mod append;
mod batch;
mod columns;
mod connection;
mod fault;
mod journal;
mod lane;
mod outcome;
mod quota;
mod readers;
mod records;
mod retention;
mod schema;
mod tasks;
#[cfg(test)]
mod tests;
mod tls;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use interlingua_keys::Keyring;
use interlingua_model::ports::{Append, Appended, Store, StoreFault};
use interlingua_store_sqlite::{Beside, EncryptionAtRest};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

pub use fault::OpenFault;
pub use interlingua_store_sqlite::Condition;

use batch::Job;
use connection::{ConnectFault, Session, Target};
use fault::Refused;
use lane::{AppendRequest, Lane, Message, Request};
use readers::Readers;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// `postgres://user:password@host/database`; several hosts are tried in turn.
    pub url: String,
    /// The certificate authority of the database, as PEM; without it that of the system.
    pub ca: Option<Vec<u8>>,
    /// Speak to a database on another machine without TLS.
    pub insecure: bool,
    /// The schema that holds the tables.
    pub schema: String,
    /// The name of this hub. Whoever had it before cannot write any more, even if it still runs: two hubs must not open one
    /// schema under one name.
    pub name: String,
    /// Connections that write.
    pub writers: u16,
    /// Connections that read.
    pub readers: u16,
    /// Writes that may wait on each writing connection; more are refused until there is room.
    pub queue: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: String::new(),
            ca: None,
            insecure: false,
            schema: "interlingua".into(),
            name: "hub".into(),
            writers: 4,
            readers: 6,
            queue: 1024,
        }
    }
}

/// Journal and records: lanes that write, and readers.
#[derive(Debug)]
struct Database {
    lanes: Vec<mpsc::Sender<Message>>,
    readers: Readers,
    rest: EncryptionAtRest,
}

/// An open store.
#[derive(Debug)]
pub struct Postgres {
    database: Arc<Database>,
    beside: Beside,
    condition: watch::Receiver<Condition>,
    serving: Mutex<JoinSet<()>>,
}

impl Postgres {
    /// Connects, brings the schema up to date and takes the place of the hub that had this name. `local` is the directory for
    /// what stays on this machine. With a ring every value is sealed.
    pub async fn open(options: &Options, local: &Path, ring: Option<&Keyring>) -> Result<Postgres, OpenFault> {
        let beside = Beside::open(local, ring)?;
        let rest = ring.map(EncryptionAtRest::sealed).transpose()?.unwrap_or_default();
        let target = Target::new(&options.url, options.ca.as_deref(), options.insecure, &options.schema)?;
        let target = Arc::new(target);
        let session = target.connect().await.map_err(|fault| match fault {
            ConnectFault::Database(source) => OpenFault::Database { doing: "reach", source },
            ConnectFault::OtherDatabase => OpenFault::Url(fault.to_string()),
        })?;
        schema::migrate(&session).await?;
        let writers = options.writers.max(1);
        let hub = schema::join(&session, &options.name, i32::from(writers)).await?;
        let (condition, seen) = watch::channel(Condition::Writable);
        let condition = Arc::new(condition);
        let (mut lanes, mut serving) = (Vec::new(), JoinSet::new());
        for lane in 0..i32::from(writers) {
            let (sender, queue) = mpsc::channel(options.queue.max(1));
            let lane = Lane {
                target: target.clone(),
                rest: rest.clone(),
                hub,
                lane,
                acknowledged: 0,
                session: None,
                condition: condition.clone(),
                queue,
                closes: Vec::new(),
            };
            serving.spawn(lane.serve());
            lanes.push(sender);
        }
        let readers = Readers::new(target, usize::from(options.readers));
        let database = Arc::new(Database { lanes, readers, rest });
        Ok(Postgres { database, beside, condition: seen, serving: Mutex::new(serving) })
    }

    /// The ports, as the hub holds them.
    pub fn ports(&self) -> Store {
        Store {
            journal: self.database.clone(),
            records: self.database.clone(),
            blobs: self.beside.blobs.clone(),
            index: self.beside.index.clone(),
        }
    }

    /// Whether it can keep anything, now and as that changes.
    pub fn condition(&self) -> watch::Receiver<Condition> {
        self.condition.clone()
    }

    /// Finishes what was asked before. Later requests are answered with `Closed`.
    pub async fn close(&self) {
        self.database.readers.close();
        for lane in &self.database.lanes {
            let (reply, done) = oneshot::channel();
            if lane.send(Message::Close(reply)).await.is_ok() {
                // An error means that the lane has ended: closed either way.
                let _ = done.await;
            }
        }
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

/// A message of the protocol, and a value in it, have less than 1 GiB. The server closes the connection of one who sends more,
/// which would look like a commit whose outcome is unknown, again and again.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// May so many bytes be sent for one request?
fn bounded(bytes: usize) -> Result<(), StoreFault> {
    if bytes > MOST_BYTES {
        return Err(StoreFault::Broken(
            format!("{bytes} bytes are more than one write to the database may have").into(),
        ));
    }
    Ok(())
}

/// Which lane requests about this go to.
fn spread(what: &impl Hash) -> usize {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    usize::try_from(hasher.finish() % 65_536).unwrap_or_default()
}

impl Database {
    /// Runs `work` in a savepoint of a lane's next transaction. Resolves when that is committed.
    async fn write<T, F>(&self, route: usize, work: F) -> Result<T, StoreFault>
    where
        T: Send + 'static,
        F: for<'a> FnMut(&'a Session) -> BoxFuture<'a, Result<T, Refused>> + Send + 'static,
    {
        let (reply, done) = oneshot::channel();
        self.send(route, Box::new(Request { work, found: None, reply }))?;
        done.await.unwrap_or(Err(StoreFault::Closed))
    }

    async fn write_append(&self, append: Append) -> Result<Appended, StoreFault> {
        bounded(append::weight(&append))?;
        let (reply, done) = oneshot::channel();
        let route = spread(&append.log);
        self.send(route, Box::new(AppendRequest { append, rest: self.rest.clone(), found: None, reply }))?;
        done.await.unwrap_or(Err(StoreFault::Closed))
    }

    fn send(&self, route: usize, job: Box<dyn Job>) -> Result<(), StoreFault> {
        self.lanes[route % self.lanes.len()].try_send(Message::Work(job)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreFault::Away("too many writes wait for the database".into()),
            mpsc::error::TrySendError::Closed(_) => StoreFault::Closed,
        })
    }
}
