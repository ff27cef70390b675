//! The writer thread, and its group commit.
//!
//! All pending requests go into one transaction when the thread is free, each in a savepoint of its own unless it is alone: a request that
//! is refused leaves no trace and does not harm its neighbours. A future resolves after the COMMIT was synced. So one sync of the disk
//! serves everyone who waited for it, and nobody waits longer than two.
//!
//! A request whose future is dropped may still be written. After an I/O error the thread writes no more: after a failed sync the state of a
//! disk is unknown, so the store must be opened again.

use std::sync::Mutex;
use std::thread::JoinHandle;

use interlingua_model::ports::{Condition, StoreFault};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot, watch};

use super::condition::{Went, note};
use super::directory::Lock;
use super::fault::{Refused, from_sql};

/// At most this many requests share a commit.
const BATCH: usize = 512;

/// Sends work to the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    /// Absent only while dropping: the thread ends when no sender is left.
    queue: Option<mpsc::Sender<Message>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    condition: watch::Receiver<Condition>,
}

enum Message {
    Work(Box<dyn Job>),
    /// Finish what was sent before, close the database, then say so.
    Close(oneshot::Sender<()>),
}

/// One request. It may be run again when SQLite gave up the transaction it was in.
trait Job: Send {
    /// False when it was refused and what it wrote must go.
    fn run(&mut self, db: &Connection) -> bool;
    /// Was it refused for want of room?
    fn found_no_room(&self) -> bool;
    /// Answers whoever waits: with what `run` found, unless the whole commit failed.
    fn settle(self: Box<Self>, commit: Result<(), StoreFault>);
}

struct Request<T, F> {
    work: F,
    found: Option<Result<T, Refused>>,
    reply: oneshot::Sender<Result<T, StoreFault>>,
}

impl<T, F> Job for Request<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<T, Refused> + Send,
{
    fn run(&mut self, db: &Connection) -> bool {
        self.found.insert((self.work)(db)).is_ok()
    }

    fn found_no_room(&self) -> bool {
        match &self.found {
            Some(Err(Refused::Sql(error))) => error.sqlite_error_code() == Some(ErrorCode::DiskFull),
            Some(Err(Refused::Port(fault))) => matches!(fault, StoreFault::Full(_)),
            Some(Ok(_)) | None => false,
        }
    }

    fn settle(self: Box<Self>, commit: Result<(), StoreFault>) {
        let answer = match (self.found, commit) {
            (Some(Err(refused)), _) => Err(refused.into()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Ok(_)) | None, Err(fault)) => Err(fault),
            (None, Ok(())) => Err(StoreFault::Closed),
        };
        // Whoever asked may have left.
        let _ = self.reply.send(answer);
    }
}

impl Writer {
    /// Starts the thread. It holds `lock` for as long as it may write.
    pub(super) fn start(db: Connection, lock: Lock, queue: usize) -> std::io::Result<Writer> {
        let (sender, receiver) = mpsc::channel(queue);
        let (shown, condition) = watch::channel(Condition::Writable);
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || {
            let told = serve(&db, receiver, &shown);
            finish(db);
            drop(lock);
            for close in told {
                let _ = close.send(());
            }
        })?;
        Ok(Writer { queue: Some(sender), thread: Mutex::new(Some(thread)), condition })
    }

    pub(super) fn condition(&self) -> watch::Receiver<Condition> {
        self.condition.clone()
    }

    /// Runs `work` in a savepoint of the next commit. Resolves when that commit is on the disk.
    pub(super) async fn submit<T, F>(&self, work: F) -> Result<T, StoreFault>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Refused> + Send + 'static,
    {
        let (reply, done) = oneshot::channel();
        self.send(Message::Work(Box::new(Request { work, found: None, reply }))).await?;
        done.await.unwrap_or(Err(StoreFault::Closed))
    }

    /// Waits for everything sent before, then closes the database and gives up the directory.
    pub(super) async fn close(&self) {
        let (reply, done) = oneshot::channel();
        if self.send(Message::Close(reply)).await.is_ok() {
            // An error means that the thread has ended: closed either way.
            let _ = done.await;
        }
    }

    async fn send(&self, message: Message) -> Result<(), StoreFault> {
        let queue = self.queue.as_ref().ok_or(StoreFault::Closed)?;
        queue.send(message).await.map_err(|_| StoreFault::Closed)
    }
}

/// Waits for the thread, so that the directory is free afterwards. It is short: the queue is bounded.
impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        let thread = self.thread.get_mut().map(Option::take);
        if let Ok(Some(thread)) = thread {
            // The thread's panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// Commits batches until the queue is closed and empty. Returns who waits for the close.
fn serve(
    db: &Connection,
    mut queue: mpsc::Receiver<Message>,
    shown: &watch::Sender<Condition>,
) -> Vec<oneshot::Sender<()>> {
    let mut closes = Vec::new();
    let mut broken = None;
    while let Some(first) = queue.blocking_recv() {
        let waiting = std::iter::from_fn(|| queue.try_recv().ok()).take(BATCH - 1);
        let mut batch = Vec::new();
        for message in std::iter::once(first).chain(waiting) {
            match message {
                Message::Work(job) => batch.push(job),
                Message::Close(reply) => closes.push(reply),
            }
        }
        if !closes.is_empty() {
            queue.close();
        }
        commit(db, batch, &mut broken, shown);
    }
    closes
}

fn commit(
    db: &Connection,
    mut batch: Vec<Box<dyn Job>>,
    broken: &mut Option<StoreFault>,
    shown: &watch::Sender<Condition>,
) {
    if batch.is_empty() {
        return;
    }
    let before = db.total_changes();
    let outcome = attempt(db, &mut batch, broken);
    note(shown, went(&outcome, broken.as_ref(), &batch, db.total_changes() != before));
    if outcome.is_err() && broken.is_none() && batch.len() > 1 {
        // One request made SQLite give up the transaction of all: each gets one of its own.
        for job in batch {
            commit(db, vec![job], broken, shown);
        }
        return;
    }
    for job in batch {
        job.settle(outcome.clone());
    }
}

fn went(outcome: &Result<(), StoreFault>, broken: Option<&StoreFault>, batch: &[Box<dyn Job>], changed: bool) -> Went {
    if broken.is_some() {
        return Went::Failed;
    }
    match outcome {
        Err(StoreFault::Full(_)) => Went::NoRoom,
        Ok(()) | Err(_) if batch.iter().any(|job| job.found_no_room()) => Went::NoRoom,
        Ok(()) if changed => Went::Changed,
        Ok(()) | Err(_) => Went::Idle,
    }
}

/// One transaction for all; on failure nothing of it is left.
fn attempt(db: &Connection, batch: &mut [Box<dyn Job>], broken: &mut Option<StoreFault>) -> Result<(), StoreFault> {
    if let Some(fault) = broken {
        return Err(fault.clone());
    }
    let Err(error) = transaction(db, batch) else { return Ok(()) };
    if !db.is_autocommit()
        && let Err(error) = db.execute_batch("ROLLBACK")
    {
        tracing::error!(event = "rollback_failed", %error, "a failed transaction could not be rolled back");
    }
    let fault = from_sql(&error);
    if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) {
        tracing::error!(event = "store_failed", %error, "a write did not reach the disk; nothing is stored until the hub is restarted");
        *broken = Some(fault.clone());
    }
    Err(fault)
}

fn transaction(db: &Connection, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    run(db, "BEGIN IMMEDIATE")?;
    if let [job] = batch {
        let taken = job.run(db);
        // SQLite may have rolled back by itself, as it may when the disk is full.
        return if taken || !db.is_autocommit() { run(db, if taken { "COMMIT" } else { "ROLLBACK" }) } else { Ok(()) };
    }
    for job in batch {
        run(db, "SAVEPOINT request")?;
        if !job.run(db) {
            // Fails when SQLite has rolled back the whole transaction by itself, as it may when the disk is full.
            run(db, "ROLLBACK TO request")?;
        }
        run(db, "RELEASE request")?;
    }
    run(db, "COMMIT")
}

fn run(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// Moves the write-ahead log into the database, so that the next open has nothing to recover.
fn finish(db: Connection) {
    let moved = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    let closed = db.close().map_err(|(_, error)| error);
    for error in [moved, closed].into_iter().filter_map(Result::err) {
        tracing::warn!(event = "database_not_closed", %error, "the database could not be closed cleanly");
    }
}
