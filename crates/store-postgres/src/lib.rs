//! The store on PostgreSQL: the model's ports on a database that other hubs may use too. The index of skills is whatever the program
//! gives it: every hub makes its own from the cards of its peers.
//!
//! Reading order: `schema` (tables), `members` (which hub has a name), `outcome` (what follows from a commit; pure), `lane`
//! (writing, group commit), `append`, `quota`, `retention`, `records`, `blobs`; `connection` with `tls` and `bounded`, `readers`,
//! `journal` with `tasks`; `reseal` and `kept` for keys. Values are sealed and bound to their place as the embedded store does
//! it. Times are passed in; nothing here looks at a clock.
//!
//! Isolation is READ COMMITTED: whatever is decided is a condition of the write it allows, or is read under the lock of a row.
//! There are no triggers, procedures, advisory locks or notifications, so that databases which speak PostgreSQL's protocol can
//! take its place.

mod append;
mod batch;
mod blob_seal;
mod blobs;
mod bounded;
mod columns;
mod connection;
mod fault;
pub mod fuzzing;
mod inspect;
mod journal;
mod kept;
mod lane;
mod members;
mod outcome;
mod quota;
mod readers;
mod records;
mod reseal;
mod retention;
mod schema;
mod tasks;
#[cfg(test)]
mod tests;
mod tls;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use interlingua_keys::{EncryptionAtRest, Keyring};
use interlingua_model::Secret;
use interlingua_model::ports::{Append, Appended, AtRest, Condition, SkillIndex, Store, StoreFault};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

pub use fault::OpenFault;
pub use inspect::{Inspection, inspect};

use batch::Job;
use blobs::BlobTable;
use connection::{Session, Target};
use fault::Refused;
use lane::{AppendRequest, Lane, Message, Request};
use readers::Readers;
use reseal::SealedValues;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// `postgres://user:password@host/database`; several hosts are tried in turn.
    pub url: Secret,
    /// The certificate authority of the database, as PEM; without it that of the system.
    pub ca: Option<Vec<u8>>,
    /// Speak to a database on another machine without TLS.
    pub insecure: bool,
    /// The schema that holds the tables.
    pub schema: String,
    /// The name of this hub. A hub of this name that lives keeps this one from starting; one that is gone is evicted.
    pub name: String,
    /// Names a lock of this machine that this process holds: a hub whose row has the same id is gone.
    pub lock_id: String,
    /// How long a hub is silent before it counts as gone.
    pub dead_after: Duration,
    /// Connections that write.
    pub writers: u16,
    /// Connections that read.
    pub readers: u16,
    /// Writes that may wait on each writing connection; more are refused until there is room.
    pub queue: usize,
    /// How long an answer of the database is waited for. Longer than the server's own limit of a statement, which is 10 s.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: Secret::new(""),
            ca: None,
            insecure: false,
            schema: "interlingua".into(),
            name: "hub".into(),
            lock_id: String::new(),
            dead_after: Duration::from_secs(10),
            writers: 4,
            readers: 6,
            queue: 1024,
            patience: Duration::from_secs(15),
        }
    }
}

impl Options {
    /// Could a database be reached by these, as far as can be said without asking it?
    pub fn check(&self) -> Result<(), OpenFault> {
        Target::new(self).map(drop)
    }
}

/// Journal and records: lanes that write, and readers.
#[derive(Debug)]
struct Database {
    lanes: Vec<mpsc::Sender<Message>>,
    readers: Readers,
    rest: EncryptionAtRest,
}

/// How the hub signs off.
type Leaving = oneshot::Sender<oneshot::Sender<()>>;

/// A database that this hub has joined: nobody else writes under its name. Nothing can be stored yet.
#[derive(Debug)]
pub struct Joined {
    options: Options,
    target: Arc<Target>,
    session: Session,
    hub: i64,
    condition: Arc<watch::Sender<Condition>>,
    serving: JoinSet<()>,
    leaving: Leaving,
}

impl Joined {
    /// Connects, brings the schema up to date and takes the name.
    pub async fn join(options: &Options) -> Result<Joined, OpenFault> {
        let target = Arc::new(Target::new(options)?);
        let session = target.connect().await?;
        schema::migrate(&session, &target).await?;
        let hub = members::join(&session, options).await?;
        let condition = Arc::new(watch::Sender::new(Condition::Writable));
        let (leaving, asked) = oneshot::channel();
        let mut serving = JoinSet::new();
        serving.spawn(members::beat(target.clone(), hub, condition.clone(), asked));
        Ok(Joined { options: options.clone(), target, session, hub, condition, serving, leaving })
    }

    /// The ring of keys as it is kept with the data, wrapped.
    pub async fn ring(&self) -> Result<Option<String>, OpenFault> {
        kept::get(&self.session, kept::RING).await.map_err(OpenFault::database("read the keys of"))
    }

    /// Is nothing stored yet?
    pub async fn is_empty(&self) -> Result<bool, OpenFault> {
        kept::is_empty(&self.session).await.map_err(OpenFault::database("read"))
    }

    /// Keeps the ring with the data.
    pub async fn keep_ring(&self, wrapped: &str) -> Result<(), OpenFault> {
        kept::put(&self.session, kept::RING, wrapped).await.map_err(OpenFault::database("keep the keys in"))
    }

    /// The id by which others know the hub of this database: the one that is kept, or this one from now on.
    pub async fn hub_id(&self, proposed: &str) -> Result<String, OpenFault> {
        kept::get_or_put(&self.session, kept::HUB, proposed).await.map_err(OpenFault::database("read the hub's id of"))
    }

    /// Starts to write and read. With a ring every value is sealed.
    pub fn open(self, ring: Option<&Keyring>, index: Arc<dyn SkillIndex>) -> Result<Postgres, OpenFault> {
        let Joined { options, target, hub, condition, mut serving, leaving, session: _ } = self;
        let rest = ring.map(EncryptionAtRest::sealed).transpose()?.unwrap_or_default();
        let mut lanes = Vec::new();
        for lane in 0..i32::from(options.writers.max(1)) {
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
        let blobs = Arc::new(BlobTable::new(database.clone(), hub, ring)?);
        let (serving, leaving) = (Mutex::new(serving), Mutex::new(Some(leaving)));
        let (condition, patience) = (condition.subscribe(), options.patience);
        Ok(Postgres { database, blobs, index, condition, serving, leaving, patience })
    }
}

/// An open store.
pub struct Postgres {
    database: Arc<Database>,
    blobs: Arc<BlobTable>,
    index: Arc<dyn SkillIndex>,
    condition: watch::Receiver<Condition>,
    serving: Mutex<JoinSet<()>>,
    leaving: Mutex<Option<Leaving>>,
    patience: Duration,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

impl Postgres {
    /// The ports, as the hub holds them.
    pub fn ports(&self) -> Store {
        Store {
            journal: self.database.clone(),
            records: self.database.clone(),
            blobs: self.blobs.clone(),
            index: self.index.clone(),
        }
    }

    /// What is kept, as it is sealed.
    pub fn at_rest(&self) -> Arc<dyn AtRest> {
        Arc::new(SealedValues { database: self.database.clone(), blobs: self.blobs.clone() })
    }

    /// Whether it can keep anything, now and as that changes.
    pub fn condition(&self) -> watch::Receiver<Condition> {
        self.condition.clone()
    }

    /// Finishes what was asked before, then gives the name up. Later requests are answered with `Closed`. A database that does not
    /// answer is not waited for: a write in doubt then stays in doubt.
    pub async fn close(&self) {
        self.database.readers.close();
        let _ = tokio::time::timeout(self.patience, self.finish()).await;
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    async fn finish(&self) {
        for lane in &self.database.lanes {
            let (reply, done) = oneshot::channel();
            if lane.send(Message::Close(reply)).await.is_ok() {
                // An error means that the lane has ended: closed either way.
                let _ = done.await;
            }
        }
        let leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (reply, done) = oneshot::channel();
        if leaving.is_some_and(|leaving| leaving.send(reply).is_ok()) {
            let _ = done.await;
        }
    }
}

/// How it went last; `Failed` is final.
fn note(condition: &watch::Sender<Condition>, found: Condition) {
    condition.send_if_modified(|now| *now != Condition::Failed && std::mem::replace(now, found) != found);
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

    /// The same, for whoever does not wait for it. Where there is no room in the queue nothing is done.
    fn write_unheard<F>(&self, route: usize, work: F)
    where
        F: for<'a> FnMut(&'a Session) -> BoxFuture<'a, Result<(), Refused>> + Send + 'static,
    {
        let (reply, _) = oneshot::channel();
        let _ = self.send(route, Box::new(Request { work, found: None, reply }));
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
