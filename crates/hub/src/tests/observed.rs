//! A test journal that counts its reads, and can be made full or slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use interlingua_model::ports::{
    Append, Appended, Changed, Journal, Pending, Removed, Retention, Store, StoreFault, Stored, TaskFilter, TaskRow,
};
use interlingua_model::{Digest, Log, TaskId, Time, TopicId};
use tokio::sync::watch;

pub(super) struct Observed {
    inner: Arc<dyn Journal>,
    pub records: AtomicUsize,
    pub rows: AtomicUsize,
    /// Looks for the row of one task.
    looks: AtomicUsize,
    full: AtomicBool,
    /// Appends that were refused because it is full.
    refused: AtomicUsize,
    held: watch::Sender<bool>,
}

impl Observed {
    /// These ports with an observed journal.
    pub(super) fn over(mut store: Store) -> (Store, Arc<Observed>) {
        let (records, rows, looks, full, refused) = Default::default();
        let held = watch::Sender::new(false);
        let observed = Arc::new(Observed { inner: store.journal.clone(), records, rows, looks, full, refused, held });
        store.journal = observed.clone();
        (store, observed)
    }

    pub(super) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    /// Appends wait while it is held.
    pub(super) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    pub(super) fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// Records read since the last time this was asked.
    pub(super) fn records_read(&self) -> usize {
        self.records.swap(0, Ordering::SeqCst)
    }

    /// What was looked for and read since the last time this was asked: rows by their task, rows of lists, records.
    pub(super) fn work(&self) -> [usize; 3] {
        [self.looks.swap(0, Ordering::SeqCst), self.rows_read(), self.records_read()]
    }

    /// Rows listed since the last time this was asked.
    pub(super) fn rows_read(&self) -> usize {
        self.rows.swap(0, Ordering::SeqCst)
    }
}

impl Journal for Observed {
    fn append(&self, append: Append) -> Pending<'_, Appended> {
        if self.full.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Box::pin(async { Err(StoreFault::Full("test".into())) });
        }
        Box::pin(async move {
            let _ = self.held.subscribe().wait_for(|held| !held).await;
            self.inner.append(append).await
        })
    }

    fn read(&self, log: Log, after: u64, limit: usize) -> Pending<'_, Vec<Stored>> {
        Box::pin(async move {
            let read = self.inner.read(log, after, limit).await?;
            self.records.fetch_add(read.len(), Ordering::SeqCst);
            Ok(read)
        })
    }

    fn last(&self, log: Log) -> Pending<'_, u64> {
        self.inner.last(log)
    }

    fn snapshot(&self, log: Log, upto: u64, at: Time, fold: Bytes) -> Pending<'_, ()> {
        self.inner.snapshot(log, upto, at, fold)
    }

    fn latest(&self, log: Log) -> Pending<'_, Option<Stored>> {
        self.inner.latest(log)
    }

    fn task(&self, task: TaskId) -> Pending<'_, Option<TaskRow>> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.inner.task(task)
    }

    fn tasks(&self, filter: TaskFilter) -> Pending<'_, Vec<TaskRow>> {
        Box::pin(async move {
            let rows = self.inner.tasks(filter).await?;
            self.rows.fetch_add(rows.len(), Ordering::SeqCst);
            Ok(rows)
        })
    }

    fn changed(&self, filter: Changed) -> Pending<'_, Vec<TaskRow>> {
        self.inner.changed(filter)
    }

    fn count(&self, filter: Changed) -> Pending<'_, u64> {
        self.inner.count(filter)
    }

    fn unique(&self, key: Digest, now: Time) -> Pending<'_, Option<(TaskId, Digest)>> {
        self.inner.unique(key, now)
    }

    fn retain(&self, rules: Retention, now: Time) -> Pending<'_, Removed> {
        self.inner.retain(rules, now)
    }

    fn forget(&self, task: TaskId) -> Pending<'_, bool> {
        self.inner.forget(task)
    }

    fn clear(&self, topic: TopicId) -> Pending<'_, ()> {
        self.inner.clear(topic)
    }

    fn redact(&self, log: Log, seq: u64, bytes: Bytes) -> Pending<'_, bool> {
        self.inner.redact(log, seq, bytes)
    }

    fn forget_owner(&self, owner: &str) -> Pending<'_, u64> {
        self.inner.forget_owner(owner)
    }
}
