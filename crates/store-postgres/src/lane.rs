//! A lane: a task with a writing connection and a row in the database, and its group commit.
//!
//! Whatever waits when the lane is free is written together: appends that stand alone in one statement, all other requests in one
//! transaction, each in a savepoint. Requests of one log go to one lane. A request is answered when its commit is known: one
//! whose answer was lost is settled by the row of the lane ([`super::outcome`]). A request whose future is dropped may still be
//! written.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use interlingua_keys::EncryptionAtRest;
use interlingua_model::ports::{Append, Appended, Condition, StoreFault};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_postgres::error::SqlState;

use super::append::{self, Fit};
use super::batch::{At, Batch, Job};
use super::connection::{ConnectFault, Session, Target};
use super::fault::{Class, Refused, SqlError, class, from_sql};
use super::outcome::{CommitOutcome, Doubt, Next, Verdict, after, judge};

/// At most so many requests, and so many bytes of appends, share a commit.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

pub(super) enum Message {
    Work(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

pub(super) struct Request<T, F> {
    pub(super) work: F,
    pub(super) found: Option<Result<T, StoreFault>>,
    pub(super) reply: oneshot::Sender<Result<T, StoreFault>>,
}

fn answer<T>(
    found: Option<Result<T, StoreFault>>,
    reply: oneshot::Sender<Result<T, StoreFault>>,
    commit: Result<(), StoreFault>,
) {
    let answer = match (found, commit) {
        (_, Err(fault)) => Err(fault),
        (Some(found), Ok(())) => found,
        (None, Ok(())) => Err(StoreFault::Closed),
    };
    // Whoever asked may have left.
    let _ = reply.send(answer);
}

impl<T, F> Job for Request<T, F>
where
    T: Send,
    F: for<'a> FnMut(&'a Session) -> BoxFuture<'a, Result<T, Refused>> + Send,
{
    fn append(&self) -> Option<&Append> {
        None
    }

    fn run<'a>(&'a mut self, session: &'a Session) -> BoxFuture<'a, Result<(), Refused>> {
        Box::pin(async move {
            self.found = Some(Ok((self.work)(session).await?));
            Ok(())
        })
    }

    fn found(&mut self, found: Result<Appended, StoreFault>) {
        self.found = found.err().map(Err);
    }

    fn found_no_room(&self) -> bool {
        matches!(self.found, Some(Err(StoreFault::Full(_))))
    }

    fn settle(self: Box<Self>, commit: Result<(), StoreFault>) {
        answer(self.found, self.reply, commit);
    }
}

pub(super) struct AppendRequest {
    pub(super) append: Append,
    pub(super) rest: EncryptionAtRest,
    pub(super) found: Option<Result<Appended, StoreFault>>,
    pub(super) reply: oneshot::Sender<Result<Appended, StoreFault>>,
}

impl Job for AppendRequest {
    fn append(&self) -> Option<&Append> {
        Some(&self.append)
    }

    fn run<'a>(&'a mut self, session: &'a Session) -> BoxFuture<'a, Result<(), Refused>> {
        Box::pin(async move {
            self.found = Some(Ok(append::one(session, &self.rest, &self.append).await?));
            Ok(())
        })
    }

    fn found(&mut self, found: Result<Appended, StoreFault>) {
        self.found = Some(found);
    }

    fn found_no_room(&self) -> bool {
        matches!(self.found, Some(Err(StoreFault::Full(_))))
    }

    fn settle(self: Box<Self>, commit: Result<(), StoreFault>) {
        answer(self.found, self.reply, commit);
    }
}

/// How requests are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Appends, in one statement.
    Together,
    /// In one transaction, one after the other.
    OneByOne,
}

pub(super) struct Lane {
    pub(super) target: Arc<Target>,
    pub(super) rest: EncryptionAtRest,
    pub(super) hub: i64,
    pub(super) lane: i32,
    /// Where the row stands after the last commit that is known.
    pub(super) acknowledged: u64,
    pub(super) session: Option<Session>,
    pub(super) condition: Arc<watch::Sender<Condition>>,
    pub(super) queue: mpsc::Receiver<Message>,
    pub(super) closes: Vec<oneshot::Sender<()>>,
}

impl Lane {
    /// Writes until the queue is closed and empty.
    pub(super) async fn serve(mut self) {
        while let Some(first) = self.queue.recv().await {
            let (mut batch, mut bytes, mut next) = (Batch::new(), 0, Some(first));
            while let Some(message) = next {
                bytes += self.take(message, &mut batch);
                let room = batch.len() < BATCH && bytes < BATCH_BYTES;
                next = if room { self.queue.try_recv().ok() } else { None };
            }
            let (together, alone) = append::partition(batch);
            self.commit(together, How::Together).await;
            self.commit(alone, How::OneByOne).await;
        }
        for close in self.closes.drain(..) {
            let _ = close.send(());
        }
    }

    /// The bytes that it brings.
    fn take(&mut self, message: Message, batch: &mut Batch) -> usize {
        match message {
            Message::Work(job) => {
                let bytes = job.append().map_or(0, append::weight);
                batch.push(job);
                bytes
            }
            Message::Close(reply) => {
                self.closes.push(reply);
                self.queue.close();
                0
            }
        }
    }

    async fn commit(&mut self, mut batch: Batch, mut how: How) {
        let mut collisions = 0;
        while !batch.is_empty() {
            if let Err(fault) = self.ready().await {
                return settle(batch, &Err(fault));
            }
            let (ended, fault) = self.attempt(&mut batch, how).await;
            match after(ended, collisions) {
                Next::Answer => {
                    self.acknowledged += 1;
                    let full = batch.iter().any(|job| job.found_no_room());
                    self.note(if full { Condition::Full } else { Condition::Writable });
                    return settle(batch, &Ok(()));
                }
                Next::Again => {
                    collisions += 1;
                    tokio::time::sleep(jitter(self.lane, collisions)).await;
                }
                Next::OneByOne => how = How::OneByOne,
                Next::Refuse => {
                    if matches!(fault, StoreFault::Full(_)) {
                        self.note(Condition::Full);
                    }
                    return settle(batch, &Err(fault));
                }
                Next::Settle => match self.look(Doubt::Batch).await {
                    Ok(Doubt::In) => return settle(batch, &Ok(())),
                    Ok(Doubt::Out | Doubt::Batch | Doubt::Nothing) => {}
                    Err(fault) => return settle(batch, &Err(fault)),
                },
            }
        }
    }

    /// How the last write went; `Failed` is final.
    fn note(&self, found: Condition) {
        super::note(&self.condition, found);
    }

    fn away(&self, error: &ConnectFault) -> StoreFault {
        tracing::warn!(event = "database_away", %error, "the database cannot be reached");
        self.note(Condition::Away);
        StoreFault::Away("no connection to the database".into())
    }

    /// A connection whose lane stands, or why there is none.
    async fn ready(&mut self) -> Result<(), StoreFault> {
        if *self.condition.borrow() == Condition::Failed {
            return Err(gone());
        }
        if self.session.as_ref().is_some_and(|session| !session.is_closed()) {
            return Ok(());
        }
        let session = self.target.connect().await.map_err(|error| self.away(&error))?;
        let row = self.row(&session, "").await.map_err(|error| from_sql(&error))?;
        match judge(self.acknowledged, self.acknowledged, Doubt::Nothing, row) {
            Verdict::Stands(_) => {
                self.session = Some(session);
                Ok(())
            }
            verdict => Err(self.fail(verdict)),
        }
    }

    async fn row(&self, session: &Session, lock: &str) -> Result<Option<u64>, SqlError> {
        let sql = format!("SELECT n FROM lanes WHERE hub = $1 AND lane = $2 {lock}");
        let rows = session.query(&sql, &[&self.hub, &self.lane]).await?;
        let n = rows.first().map(|row| row.try_get(0)).transpose()?;
        Ok(n.map(super::columns::number))
    }

    /// Nothing is written from now on: what others may rely on is not what this hub knows.
    fn fail(&mut self, verdict: Verdict) -> StoreFault {
        match verdict {
            Verdict::Lost(commits) => {
                tracing::error!(
                    event = "commits_lost",
                    commits,
                    "acknowledged commits are gone from the database; nothing is stored until the hub is restarted"
                );
            }
            Verdict::Buried | Verdict::Stands(_) => {
                tracing::error!(
                    event = "hub_evicted",
                    "another hub took the place of this one; nothing is stored until the hub is restarted"
                );
            }
        }
        self.condition.send_replace(Condition::Failed);
        self.session = None;
        gone()
    }

    async fn attempt(&mut self, batch: &mut Batch, how: How) -> (CommitOutcome, StoreFault) {
        let Some(session) = &self.session else { return (CommitOutcome::Unknown, gone()) };
        session.take_warning();
        let place = (self.hub, self.lane, self.acknowledged);
        let done = match how {
            How::Together => together(session, &self.rest, place, batch).await,
            How::OneByOne => one_by_one(session, place, batch).await,
        };
        match done {
            Ok(Fit::Written) if session.take_warning() => (CommitOutcome::Unknown, gone()),
            Ok(Fit::Written) => (CommitOutcome::Committed, gone()),
            Ok(Fit::NoLane) => (CommitOutcome::NoLane, gone()),
            Ok(Fit::Unfit) => (CommitOutcome::Unfit, gone()),
            Err(Refused::Port(fault)) => (CommitOutcome::Refused, fault),
            Err(Refused::Sql(error)) => match class(&error) {
                Class::Lost => (CommitOutcome::Unknown, gone()),
                Class::Collided => (CommitOutcome::Collided, from_sql(&error)),
                Class::Statement => (CommitOutcome::Refused, from_sql(&error)),
            },
        }
    }

    /// Asks the row of the lane until it has answered. What waits meanwhile, and is in no doubt, is refused.
    async fn look(&mut self, mut doubt: Doubt) -> Result<Doubt, StoreFault> {
        let (mut top, mut pause) = (self.acknowledged + 1, FIRST_PAUSE);
        loop {
            self.session = None;
            match self.target.connect().await {
                Err(error) => drop(self.away(&error)),
                Ok(session) => match self.step(&session, &mut doubt, &mut top).await {
                    Ok(Ok(Some(n))) => {
                        self.acknowledged = n;
                        self.session = Some(session);
                        self.note(Condition::Writable);
                        return Ok(doubt);
                    }
                    Ok(Ok(None)) => {}
                    Ok(Err(verdict)) => return Err(self.fail(verdict)),
                    Err(error) => drop(from_sql(&error)),
                },
            }
            self.refuse_waiting();
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits until the transaction before has ended either way, decides, and steps the row once more. Without a number the server
    /// warned: a standby may not have that step, so it proves nothing.
    async fn step(
        &self,
        session: &Session,
        doubt: &mut Doubt,
        top: &mut u64,
    ) -> Result<Result<Option<u64>, Verdict>, SqlError> {
        session.batch("BEGIN").await?;
        let found = self.row(session, "FOR UPDATE").await?;
        match (judge(self.acknowledged, *top, *doubt, found), found) {
            (Verdict::Stands(settled), Some(found)) => {
                (*doubt, *top) = (settled, (*top).max(found + 1));
                session
                    .execute("UPDATE lanes SET n = n + 1 WHERE hub = $1 AND lane = $2", &[&self.hub, &self.lane])
                    .await?;
                session.take_warning();
                session.batch("COMMIT").await?;
                Ok(Ok((!session.take_warning()).then_some(found + 1)))
            }
            (verdict, _) => Ok(Err(verdict)),
        }
    }

    fn refuse_waiting(&mut self) {
        while let Ok(message) = self.queue.try_recv() {
            let mut waiting = Batch::new();
            self.take(message, &mut waiting);
            settle(waiting, &Err(StoreFault::Away("no connection to the database".into())));
        }
    }
}

fn gone() -> StoreFault {
    StoreFault::Broken("this hub may not write to its database any more".into())
}

/// Not the same for two lanes that collided.
fn jitter(lane: i32, collisions: u32) -> Duration {
    Duration::from_millis(u64::from(lane.unsigned_abs() % 7 + 1) * 3 * u64::from(collisions))
}

fn settle(batch: Batch, commit: &Result<(), StoreFault>) {
    for job in batch {
        job.settle(commit.clone());
    }
}

async fn together(session: &Session, rest: &EncryptionAtRest, at: At, batch: &mut Batch) -> Result<Fit, Refused> {
    let appends: Vec<&Append> = batch.iter().filter_map(|job| job.append()).collect();
    let ends = append::ends(&appends);
    let fit = match append::together(session, rest, at, &appends).await {
        // How the statement says that a condition does not hold.
        Err(Refused::Sql(error)) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => return Ok(Fit::Unfit),
        done => done,
    };
    // Known before the answer: a commit that turns out to be in has given exactly these.
    for (job, end) in batch.iter_mut().zip(ends) {
        job.found(Ok(Appended::At(end)));
    }
    fit
}

async fn one_by_one(session: &Session, (hub, lane, n): At, batch: &mut Batch) -> Result<Fit, Refused> {
    let done = transaction(session, (hub, lane, n), batch).await;
    // A connection that is lost takes its transaction with it.
    let lost = matches!(&done, Err(Refused::Sql(error)) if class(error) == Class::Lost);
    if let (Ok(Fit::NoLane) | Err(_), false) = (&done, lost)
        && let Err(error) = session.batch("ROLLBACK").await
    {
        return Err(error.into());
    }
    done
}

async fn transaction(session: &Session, (hub, lane, n): At, batch: &mut Batch) -> Result<Fit, Refused> {
    session.batch("BEGIN").await?;
    let step = "UPDATE lanes SET n = n + 1 WHERE hub = $1 AND lane = $2 AND n = $3";
    if session.execute(step, &[&hub, &lane, &super::columns::integer(n)]).await? == 0 {
        return Ok(Fit::NoLane);
    }
    for job in batch.iter_mut() {
        session.batch("SAVEPOINT request").await?;
        let fault = match job.run(session).await {
            Ok(()) => {
                session.batch("RELEASE request").await?;
                continue;
            }
            Err(Refused::Port(fault)) => fault,
            Err(Refused::Sql(error)) if class(&error) == Class::Statement => from_sql(&error),
            Err(refused) => return Err(refused),
        };
        session.batch("ROLLBACK TO request").await?;
        job.found(Err(fault));
    }
    session.batch("COMMIT").await?;
    Ok(Fit::Written)
}
