//! Run journal: the records of one run. They are read once when the run is resumed, then only appended to.
//!
//! Records that nothing has to wait for are buffered and written with the next record that has consequences, as one append.

use std::sync::Arc;

use bytes::Bytes;
use interlingua_model::ports::{Append, Expected, StoreFault};
use interlingua_model::{Entry, Fault, Log, TaskId, Time, journal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use interlingua_hub::Hub;
use interlingua_hub::stall::until_stored;

/// How many records are read at once.
const PAGE: usize = 1_024;

pub(super) struct RunLog {
    hub: Arc<Hub>,
    task: TaskId,
    seq: u64,
    /// Taken, and not in the journal yet.
    unwritten: Vec<Bytes>,
}

impl RunLog {
    /// The log of a run, and what stands in it. A task's first attempt finds nothing there, so only later ones look.
    pub(super) async fn open<R: DeserializeOwned>(
        hub: Arc<Hub>,
        task: TaskId,
        attempt: u32,
    ) -> Result<(RunLog, Vec<Entry<R>>), Fault> {
        let entries = if attempt > 1 { written(&hub, task).await? } else { Vec::new() };
        let seq = entries.last().map_or(0, |entry| entry.seq);
        Ok((RunLog { hub, task, seq, unwritten: Vec::new() }, entries))
    }

    /// Appends these as one; resolves when they are safe.
    pub(super) async fn append<R: Serialize>(&mut self, records: &[R], at: Time) -> Result<(), Fault> {
        self.take(records)?;
        self.write(at).await
    }

    /// Takes records for the next [`RunLog::write`]: until then they are not safe.
    pub(super) fn take<'a, R: Serialize + 'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a R>,
    ) -> Result<(), Fault> {
        for record in records {
            self.unwritten.push(journal::to_bytes(record).map_err(Fault::internal)?);
        }
        Ok(())
    }

    pub(super) fn is_written(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// Appends all that was taken as one; resolves when it is safe. A store that is full or away makes the run wait, not forget.
    pub(super) async fn write(&mut self, at: Time) -> Result<(), Fault> {
        if self.is_written() {
            return Ok(());
        }
        let append = || Append {
            log: Log::Run(self.task),
            expected: Expected::At(self.seq),
            at,
            records: self.unwritten.clone(),
            unique: None,
            row: None,
            most: None,
            beside: 0,
            share: None,
        };
        let unwritten = |fault: StoreFault| {
            let public = "the run's journal could not be written".into();
            Fault { public, ..fault.into() }
        };
        until_stored(|| self.hub.journal().append(append())).await.map_err(unwritten)?;
        self.seq += self.unwritten.len() as u64;
        self.unwritten.clear();
        self.hub.run_appended(self.task);
        Ok(())
    }
}

/// All that stands in the log of a run.
async fn written<R: DeserializeOwned>(hub: &Hub, task: TaskId) -> Result<Vec<Entry<R>>, Fault> {
    let mut entries: Vec<Entry<R>> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.seq);
        let page = until_stored(|| hub.journal().read(Log::Run(task), after, PAGE)).await?;
        if page.is_empty() {
            return Ok(entries);
        }
        for stored in page {
            let record = journal::from_bytes(&stored.bytes).map_err(Fault::internal)?;
            entries.push(Entry { seq: stored.seq, at: stored.at, record });
        }
    }
}
