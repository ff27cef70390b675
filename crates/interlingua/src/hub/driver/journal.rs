//! How an exchange gets into the journal: all at once when it becomes kept, then in batches as it goes on. Nothing is shown
//! before it is safe.

use std::sync::Arc;
use std::time::Instant;

use interlingua_core::ports::{Append, Appended, Expected, TaskRow, Unique};
use interlingua_core::{Digest, Entry, Fault, FaultKind, Log, Record, TaskId, Time, journal};

use tokio::sync::mpsc;

use super::super::Hub;
use super::super::live::{Incoming, Live, Liveness};
use super::{Driver, Kept};
use crate::telemetry::meters::Phase;

/// What the first append of a kept exchange found.
pub(super) enum Keeping {
    Kept(Arc<Live>),
    Exists { task: TaskId, body: Digest },
}

impl Driver {
    /// Makes it a task: all of it so far goes into the journal in one append, before anything more is shown.
    pub(super) async fn keep(&mut self, unique: Option<Unique>) -> Result<Keeping, Fault> {
        let (live, incoming) = self.live();
        let accepted = Record::Accepted { by: self.task.by.clone(), call: self.task.call.clone() };
        let mut records = vec![accepted];
        records.extend(self.history.iter().map(|entry| entry.record.clone()));
        records.append(&mut self.fresh);
        match append(&self.hub, self.task.id, self.row(), &mut records, 0, unique).await? {
            Appended::Exists { task, body } => return Ok(Keeping::Exists { task, body }),
            Appended::At(seq) => self.task.seq = seq,
        }
        self.history.clear();
        let entries = numbered(records, 1, self.task.updated);
        self.hub.live.insert(&live)?;
        live.publish(&entries, self.open_questions(), self.liveness());
        self.kept = Some(Kept { live: live.clone(), incoming });
        Ok(Keeping::Kept(live))
    }

    /// Takes up a task that is in the journal already.
    pub(in crate::hub) fn adopt(&mut self) -> Result<Arc<Live>, Fault> {
        let (live, incoming) = self.live();
        self.hub.live.insert(&live)?;
        live.publish(&[], self.open_questions(), Liveness::Running);
        self.kept = Some(Kept { live: live.clone(), incoming });
        Ok(live)
    }

    /// Appends the fresh records of a kept exchange and shows them.
    pub(super) async fn commit(&mut self) -> Result<(), Fault> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let mut records = std::mem::take(&mut self.fresh);
        let before = self.task.seq;
        let Appended::At(seq) = append(&self.hub, self.task.id, self.row(), &mut records, before, None).await? else {
            return Err(Fault::hub(FaultKind::Internal, "a running task's journal was taken by another"));
        };
        self.task.seq = seq;
        let entries = numbered(records, before + 1, self.task.updated);
        if let Some(kept) = &self.kept {
            kept.live.publish(&entries, self.open_questions(), self.liveness());
        }
        Ok(())
    }

    fn live(&self) -> (Arc<Live>, mpsc::Receiver<Incoming>) {
        let (conversation, slow) = (self.task.call.conversation.clone(), self.hub.meters.slow_readers.clone());
        Live::new(self.task.id, self.task.by.owner(), conversation, slow)
    }

    fn row(&self) -> TaskRow {
        let skill = self.task.route.as_ref().map(|route| route.skill.to_string().into());
        TaskRow {
            task: self.task.id,
            owner: self.task.by.owner().to_string().into(),
            conversation: self.task.call.conversation.clone(),
            parent: self.task.call.parent,
            skill,
            state: self.task.phase(),
            created: self.task.created,
            updated: self.task.updated,
        }
    }
}

/// Records as every reader sees them: one append has one time.
fn numbered(records: Vec<Record>, first: u64, at: Time) -> Vec<Arc<Entry>> {
    records.into_iter().zip(first..).map(|(record, seq)| Arc::new(Entry { seq, at, record })).collect()
}

async fn append(
    hub: &Hub,
    task: TaskId,
    row: TaskRow,
    records: &mut [Record],
    expected: u64,
    unique: Option<Unique>,
) -> Result<Appended, Fault> {
    let mut laps = hub.meters.laps();
    let mut bytes = Vec::with_capacity(records.len());
    for record in records {
        hub.vault.seal_record(record, hub.now()).await?;
        bytes.push(journal::to_bytes(record).map_err(Fault::internal)?);
    }
    let append = Append {
        log: Log::Task(task),
        expected: Expected::At(expected),
        at: row.updated,
        records: bytes,
        unique,
        row: Some(row),
    };
    let since = Instant::now();
    let appended = hub.store.journal.append(append).await;
    hub.meters.journal_append.record(since.elapsed());
    laps.done(Phase::Journal);
    appended.map_err(Fault::internal)
}
