//! State of a stored exchange, folded from its journal (event sourcing), and the snapshots that keep folding a long journal cheap.
//!
//! A snapshot is a stored fold. It saves reading the records behind it and never replaces them: an unreadable snapshot is ignored. It is
//! made from the journal, not from the running exchange, because only in the journal every secret has been replaced by its reference.

use interlingua_machines::task::{Task, fold};
use interlingua_model::ports::is_last;
use interlingua_model::{Fault, Log, Principal, Record, TaskId, journal};

use super::Hub;
use super::live::{decoded, no_such_task};

/// How many records are read at once.
const PAGE: usize = 1_024;
/// After so many records a snapshot may be worth its place.
pub(super) const SNAPSHOT_EVERY: u64 = 1_000;

/// What a fold had to read.
#[derive(Default)]
struct Effort {
    records: u64,
    bytes: usize,
}

impl Hub {
    /// The state after the last record. What was hard to read is easier the next time.
    pub(super) async fn fold(&self, id: TaskId) -> Result<Task, Fault> {
        let log = Log::Task(id);
        let mut task = self.last_snapshot(&log).await?;
        let mut effort = Effort::default();
        loop {
            let after = task.as_ref().map_or(0, |task| task.seq);
            let page = self.store.journal.read(log.clone(), after, PAGE).await?;
            let last = is_last(&page, PAGE);
            let mut entries = Vec::with_capacity(page.len());
            for stored in page {
                effort.records += 1;
                effort.bytes += stored.bytes.len();
                entries.push(decoded(stored)?);
            }
            task = match task {
                _ if entries.is_empty() => break,
                None => Some(fold(id, entries).map_err(Fault::internal)?),
                Some(mut task) => {
                    entries.iter().for_each(|entry| task.take(entry));
                    Some(task)
                }
            };
            if last {
                break;
            }
        }
        let task = task.ok_or_else(no_such_task)?;
        if effort.records >= SNAPSHOT_EVERY {
            self.snapshot(log, &task, effort.bytes).await;
        }
        Ok(task)
    }

    /// The state after the first record: who calls what. Of a task that is long this is much less to read.
    pub(super) async fn accepted(&self, id: TaskId) -> Result<Task, Fault> {
        let first = self.store.journal.read(Log::Task(id), 0, 1).await?.into_iter().next();
        let first = first.map(decoded).transpose()?.ok_or_else(no_such_task)?;
        fold(id, [first]).map_err(Fault::internal)
    }

    /// Does its first record name this owner? The list of tasks names owners as well, but unencrypted: a person who can write to the file
    /// of a sealed store can write another owner there, and only the record is sealed.
    pub(super) async fn is_accepted_from(&self, by: &Principal, id: TaskId) -> Result<bool, Fault> {
        let first = self.store.journal.read(Log::Task(id), 0, 1).await?.into_iter().next();
        let first = first.map(decoded).transpose()?.ok_or_else(no_such_task)?;
        match first.record {
            Record::Accepted { by: accepted, .. } => Ok(accepted.owner() == by.owner()),
            other => {
                tracing::error!(event = "task_journal_damaged", task = %id, record = ?std::mem::discriminant(&other), "the first record of a task is not the one that accepts it");
                Ok(false)
            }
        }
    }

    /// Folds a task that has grown, so that it can be resumed quickly.
    pub(super) async fn fold_ahead(&self, id: TaskId) {
        if let Err(fault) = self.fold(id).await {
            tracing::warn!(event = "snapshot_not_stored", task = %id, error = %fault, cause = ?fault.source, "a long task could not be folded into a snapshot");
        }
    }

    async fn last_snapshot(&self, log: &Log) -> Result<Option<Task>, Fault> {
        let Some(stored) = self.store.journal.latest(log.clone()).await? else {
            return Ok(None);
        };
        match journal::from_bytes(&stored.bytes) {
            Ok(task) => Ok(Some(task)),
            Err(error) => {
                tracing::warn!(event = "snapshot_not_read", ?log, %error, "a snapshot cannot be read; the records are read instead");
                Ok(None)
            }
        }
    }

    /// Kept only when it is smaller than the records it saves reading: so writing snapshots costs no more than writing the
    /// journal did, however much a task collects.
    async fn snapshot(&self, log: Log, task: &Task, saved: usize) {
        let bytes = match journal::to_bytes(task) {
            Ok(bytes) if bytes.len() < saved => bytes,
            Ok(_) => return,
            Err(error) => {
                return tracing::warn!(event = "snapshot_not_stored", task = %task.id, %error, "a snapshot could not be encoded");
            }
        };
        if let Err(error) = self.store.journal.snapshot(log, task.seq, task.updated, bytes).await {
            tracing::warn!(event = "snapshot_not_stored", task = %task.id, %error, "a snapshot could not be stored");
        }
    }
}
