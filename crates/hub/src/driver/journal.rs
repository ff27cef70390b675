//! Write-ahead journal of an exchange: writes everything so far when the exchange becomes stored, then batches as it proceeds. Nothing is
//! shown before it is durable.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use interlingua_machines::task::Happening;
use interlingua_model::ports::{Append, Appended, Expected, TaskRoom, TaskRow, Unique};
use interlingua_model::{
    Blob, Body, Digest, Entry, Event, Fault, FaultKind, Finished, Log, QuestionId, Record, Secret, SkillId, TaskId,
    Time, journal,
};

use super::super::Hub;
use super::super::conversations::is_bounded;
use super::super::fold::SNAPSHOT_EVERY;
use super::super::live::{Live, Liveness, no_such_task};
use super::super::stall::STORE_WAIT;
use super::{Driver, LiveEntry, decisions};
use interlingua_telemetry::meters::Phase;

/// What the first append of a kept exchange found.
pub(super) enum Keeping {
    Kept(Arc<Live>),
    Exists { task: TaskId, body: Digest },
}

/// A task that waits for its store.
#[derive(Default)]
struct Stall {
    is_told: bool,
}

impl Stall {
    /// Waits before the next attempt; a fault that does not pass is given back.
    async fn wait(&mut self, driver: &mut Driver, fault: Fault) -> Result<(), Fault> {
        if fault.kind != FaultKind::Busy {
            return Err(fault);
        }
        if !std::mem::replace(&mut self.is_told, true) {
            tracing::error!(event = "task_stalled", task = %driver.task.id, error = %fault, cause = ?fault.source, "the store takes nothing; the task waits until it can be written");
        }
        if let Some(kept) = &driver.kept {
            kept.live.stalled();
        }
        tokio::time::sleep(STORE_WAIT).await;
        Ok(())
    }

    fn over(self, driver: &Driver) {
        if let Some(kept) = driver.kept.as_ref().filter(|_| self.is_told) {
            kept.live.goes_on();
        }
    }
}

/// What may keep a task from being written.
#[derive(Clone, Copy, Default)]
struct Bounds {
    unique: Option<Unique>,
    most: Option<TaskRoom>,
}

impl Driver {
    /// Makes it a task: everything so far goes into the journal in one append, before anything more is shown. It is in the table of live
    /// tasks before that, so a reader that finds it in the journal finds it there too.
    pub(super) async fn keep(&mut self, unique: Option<Unique>) -> Result<Keeping, Fault> {
        self.hold_as_kept()?;
        let kept = self.enlist(0)?;
        let accepted = Record::Accepted { by: self.task.by.clone(), call: self.task.call.clone() };
        let mut records = vec![accepted];
        records.extend(self.history.iter().map(|entry| entry.record.clone()));
        records.append(&mut self.fresh);
        let bounds = Bounds { unique, most: Some(self.room()) };
        match append(&self.hub, self.task.id, self.row(), &mut records, 0, bounds).await? {
            Appended::Exists { task, body } => {
                // What a key leads to is kept in the clear.
                if !self.hub.is_accepted_from(&self.task.by, task).await? {
                    tracing::error!(event = "idempotency_key_mismatch", %task, "an idempotency key leads to another caller's task: something else wrote to the store");
                    return Err(no_such_task());
                }
                return Ok(Keeping::Exists { task, body });
            }
            Appended::At(seq) => self.task.seq = seq,
        }
        self.lines.write(&self.hub.audit);
        self.history.clear();
        self.note_readers(&records).await?;
        let entries = numbered(records, 1, self.task.updated);
        let live = kept.live.clone();
        let granted = self.publish(&live, &entries);
        self.hub.note_granted(&live.owner, granted).await;
        self.kept = Some(kept);
        Ok(Keeping::Kept(live))
    }

    /// Takes up a task that is in the journal already.
    pub(crate) fn adopt(&mut self) -> Result<(), Fault> {
        let kept = self.enlist(self.task.seq)?;
        kept.live.publish(&[], self.open_questions(), Liveness::Running);
        self.hold_adopted();
        if !self.task.open.is_empty() {
            self.waits = Some(self.hub.waiting.hold(&self.task.by)?);
        }
        self.kept = Some(kept);
        Ok(())
    }

    /// Shows what was committed, and reports which approvals it asks for or decides; returns those that were given.
    fn publish(&self, live: &Live, entries: &[Arc<Entry>]) -> Vec<(QuestionId, SkillId)> {
        let before = live.questions();
        live.publish(entries, self.open_questions(), self.liveness());
        self.hub.note_approvals(&self.task, &before, entries)
    }

    fn enlist(&self, seq: u64) -> Result<LiveEntry, Fault> {
        let (conversation, slow) = (self.task.call.conversation.clone(), self.hub.meters.slow_readers.clone());
        let (owner, shares) = (self.task.by.owner(), self.hub.holdings.exchanges.clone());
        let (live, incoming) = Live::new(self.task.id, owner, conversation, seq, slow, shares);
        self.hub.live.insert(&live)?;
        Ok(LiveEntry { hub: self.hub.clone(), live, incoming })
    }

    /// Appends the new records of a stored exchange and shows them.
    pub(super) async fn commit(&mut self) -> Result<(), Fault> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let mut records = std::mem::take(&mut self.fresh);
        let before = self.task.seq;
        let bounds = Bounds { unique: None, most: Some(self.room()) };
        let appended = match self.append_when_possible(&mut records, before, bounds).await {
            Err(fault) if fault.kind == FaultKind::TooLarge => {
                records = self.cut_short(fault)?;
                self.append_when_possible(&mut records, before, Bounds::default()).await?
            }
            appended => appended?,
        };
        let Appended::At(seq) = appended else {
            return Err(Fault::hub(FaultKind::Internal, "a running task's journal was taken by another"));
        };
        self.task.seq = seq;
        self.lines.write(&self.hub.audit);
        self.note_readers(&records).await?;
        let entries = numbered(records, before + 1, self.task.updated);
        if let Some(kept) = &self.kept {
            let granted = self.publish(&kept.live, &entries);
            self.hub.note_granted(&kept.live.owner, granted).await;
        }
        if before / SNAPSHOT_EVERY < seq / SNAPSHOT_EVERY {
            self.hub.fold_ahead(self.task.id).await;
        }
        Ok(())
    }

    /// What a task did must not be forgotten because the store was full or away for a while: it stands still until it can be
    /// written.
    async fn append_when_possible(
        &mut self,
        records: &mut [Record],
        before: u64,
        bounds: Bounds,
    ) -> Result<Appended, Fault> {
        let mut stall = Stall::default();
        loop {
            match append(&self.hub, self.task.id, self.row(), records, before, bounds).await {
                Err(fault) => stall.wait(self, fault).await?,
                Ok(appended) => return Ok(appended),
            }
        }
    }

    /// What is written beside the journal belongs to what was appended: it is not left out either.
    async fn note_readers(&mut self, records: &[Record]) -> Result<(), Fault> {
        let mut stall = Stall::default();
        while let Err(fault) = self.hub.note_readers(&self.task, records).await {
            stall.wait(self, fault).await?;
        }
        Ok(())
    }

    /// The value behind a name that the journal has.
    pub(super) async fn reveal(&mut self, secret: Secret) -> Result<Secret, Fault> {
        let mut stall = Stall::default();
        loop {
            match self.hub.vault.reveal(secret.clone(), self.hub.now()).await {
                Err(fault) => stall.wait(self, fault).await?,
                Ok(secret) => {
                    stall.over(self);
                    return Ok(secret);
                }
            }
        }
    }

    /// The task, or its caller, has reached its quota: what exceeds it is left out, and the task ends with that.
    fn cut_short(&mut self, fault: Fault) -> Result<Vec<Record>, Fault> {
        tracing::warn!(event = "task_too_large", task = %self.task.id, error = %fault, "the task stores more than it may and is ended");
        self.rest();
        self.permit = None;
        self.lines.discard();
        if self.task.finished().is_none() {
            self.decide(Happening::Refused(fault))?;
            return Ok(std::mem::take(&mut self.fresh));
        }
        // Its end itself is too large to keep.
        let end = Record::emitted(Event::Finished(Finished::failed(fault)));
        if let Some(line) = decisions::of(&self.task, &end) {
            self.lines.add(line);
        }
        self.task.apply(&end, self.hub.now());
        Ok(vec![end])
    }

    /// The quota of this task and its caller.
    fn room(&self) -> TaskRoom {
        let settings = self.hub.settings.load();
        let of_task = Some(settings.bytes_of_task);
        if !is_bounded(&self.task.by) {
            return TaskRoom { of_task, ..TaskRoom::default() };
        }
        let bytes = settings.bytes_of(&self.task.by.owner());
        TaskRoom { tasks: Some(settings.tasks_of_one), bytes, of_task }
    }

    fn row(&self) -> TaskRow {
        let routed = self.task.route.as_ref().map(|route| &route.skill);
        let skill = routed.or_else(|| self.task.call.names()).map(|skill| skill.to_string().into());
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

/// Bytes of content that these records bring and that is in the blob store; the same content once.
fn stored_beside(records: &[Record]) -> u64 {
    let mut known = HashMap::new();
    let parts = records.iter().flat_map(|record| match record {
        Record::Accepted { call, .. } => call.input().map(|input| input.parts.as_slice()).unwrap_or_default(),
        Record::Emitted { event: Event::Artifact(chunk), .. } => &chunk.parts,
        Record::Emitted { event: Event::Finished(finished), .. } => &finished.output.parts,
        Record::Emitted { event: Event::Said { parts, .. }, .. } => parts,
        Record::Emitted {
            event:
                Event::Started(_)
                | Event::Progress { .. }
                // It brings no files.
                | Event::Step(_)
                | Event::Asked(_)
                | Event::Settled { .. },
            ..
        }
        | Record::Sent(_)
        | Record::Selected(_)
        | Record::Received { .. } => &[],
    });
    for part in parts {
        if let Body::Blob(Blob::Stored { digest, len }) = &part.body {
            known.insert(*digest, *len);
        }
    }
    known.values().sum()
}

async fn append(
    hub: &Hub,
    task: TaskId,
    row: TaskRow,
    records: &mut [Record],
    expected: u64,
    Bounds { unique, most }: Bounds,
) -> Result<Appended, Fault> {
    let mut laps = hub.meters.laps();
    let mut bytes = Vec::with_capacity(records.len());
    let beside = stored_beside(records);
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
        most,
        beside,
        share: None,
    };
    let since = Instant::now();
    let appended = hub.store.journal.append(append).await;
    hub.meters.journal_append.record(since.elapsed());
    laps.done(Phase::Journal);
    Ok(appended?)
}
