//! Writer of the audit log, a hash chain: it collects lines into pages, binds each page to the previous one, and writes checkpoints at
//! intervals.
//!
//! A page waits a little after its first line, so that one record of the journal holds all decisions of that time; it does not wait when a
//! reader needs it or when the hub stops. Lines that could not be taken or written are counted, and the next page says how many are
//! missing.
//!
//! The newest checkpoint is also stored beside the journal. If the journal lacks what the checkpoint covers, the journal was truncated:
//! then the checkpoint is left as it is, so that a verifier detects it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use interlingua_machines::audit::{BEGINNING, Checkpoint, Page, PageDraft};
use interlingua_model::ports::{Append, Appended, Expect, Expected, Journal, Records, Store, StoreFault};
use interlingua_model::{Digest, Log, Text, Time, journal};
use metrics::Counter;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::AuditLine;
use super::key::Signing;
use super::refusals::Refusals;
use super::waiting::{UnwrittenLines, weight};
use crate::clock::Clock;
use crate::entropy;
use crate::stall::STORE_WAIT;

/// How many lines one page holds at most.
const BATCH: usize = 1_024;
/// How long the first line of a page waits for company.
const PAUSE: Duration = Duration::from_millis(200);
/// How often it is looked whether refusals were counted long enough.
const LOOK: Duration = Duration::from_secs(5);
/// How many pages are written between two checkpoints.
const SIGN_EVERY: u32 = 64;
/// And how much time passes at most while pages are written.
const SIGN_AFTER: Duration = Duration::from_secs(600);
/// Where the newest checkpoint is kept.
const KIND: &str = "audit";
const CHECKPOINT: &str = "checkpoint";

/// Messages to the writer.
#[derive(Debug)]
pub(super) enum WriterMessage {
    Line(Box<AuditLine>),
    /// Write what waits.
    Flush(oneshot::Sender<()>),
    /// Write what waits, then sign all there is.
    Sign(oneshot::Sender<()>),
    /// Write what waits; then the key that signs says that this one does from now on.
    HandOver(Arc<Signing>, oneshot::Sender<()>),
}

/// The signing key, once it is loaded.
pub(super) type Seal = ArcSwapOption<Signing>;

pub(super) struct Writer {
    journal: Arc<dyn Journal>,
    records: Arc<dyn Records>,
    clock: Clock,
    seal: Arc<Seal>,
    /// The last page: its number and its digest. `None` until it was looked up.
    head: Option<(u64, Digest)>,
    /// Pages since the last checkpoint, and when that was.
    unsigned: u32,
    signed: Time,
    /// The journal does not hold what the newest checkpoint speaks of.
    cut: bool,
    dropped: Arc<AtomicU64>,
    counted: Counter,
    /// Of the dropped lines, how many the chain tells of.
    told_dropped: u64,
    refusals: Refusals,
    waiting: Arc<UnwrittenLines>,
    stopping: CancellationToken,
}

/// What goes into the next page, and who waits for it.
#[derive(Debug, Default)]
struct Batch {
    lines: PageDraft,
    waiting: Vec<oneshot::Sender<()>>,
    sign: bool,
    next: Option<Arc<Signing>>,
    /// What the lines took while they waited.
    bytes: u64,
    /// When the last line was decided, of this page or the one before it.
    latest: Option<Time>,
}

impl Batch {
    /// Lines are serialized as they arrive, not all at once when the page is due.
    fn take(&mut self, told: &mut Vec<WriterMessage>, refusals: &mut Refusals, waiting: &UnwrittenLines) {
        for told in told.drain(..) {
            match told {
                WriterMessage::Line(line) => {
                    let bytes = weight(&line);
                    match refusals.pass(*line) {
                        Some(line) => {
                            self.add(line);
                            self.bytes += bytes;
                        }
                        None => waiting.remove(bytes),
                    }
                }
                WriterMessage::Flush(reply) => {
                    self.add_all(refusals.so_far());
                    self.waiting.push(reply);
                }
                WriterMessage::Sign(reply) => {
                    self.add_all(refusals.so_far());
                    self.waiting.push(reply);
                    self.sign = true;
                }
                WriterMessage::HandOver(next, reply) => {
                    self.waiting.push(reply);
                    self.next = Some(next);
                }
            }
        }
    }

    /// Times never go back from one line to the next: a line that two threads decided at once, or that reports a count until now, is no
    /// older than the line before it.
    fn add(&mut self, mut line: AuditLine) {
        line.at = self.latest.map_or(line.at, |latest| line.at.max(latest));
        self.latest = Some(line.at);
        if let Err(error) = self.lines.add(&line, entropy::bits()) {
            tracing::error!(event = "audit_line_not_encoded", %error, "a line of the audit log could not be encoded and is missing");
        }
    }

    fn add_all(&mut self, lines: Vec<AuditLine>) {
        lines.into_iter().for_each(|line| self.add(line));
    }

    fn is_empty(&self) -> bool {
        self.lines.len() == 0 && self.waiting.is_empty() && self.next.is_none()
    }

    fn is_due(&self) -> bool {
        self.lines.len() >= BATCH || !self.waiting.is_empty()
    }
}

impl Writer {
    pub(super) fn new(
        store: &Store,
        clock: Clock,
        seal: Arc<Seal>,
        dropped: Arc<AtomicU64>,
        counted: Counter,
        waiting: Arc<UnwrittenLines>,
        stopping: CancellationToken,
    ) -> Writer {
        Writer {
            journal: store.journal.clone(),
            records: store.records.clone(),
            clock,
            seal,
            head: None,
            unsigned: 0,
            signed: clock.now(),
            cut: false,
            dropped,
            counted,
            told_dropped: 0,
            refusals: Refusals::default(),
            waiting,
            stopping,
        }
    }

    pub(super) async fn run(mut self, mut told: mpsc::Receiver<WriterMessage>) {
        let stopping = self.stopping.clone();
        let (mut batch, mut taken) = (Batch::default(), Vec::with_capacity(BATCH));
        loop {
            let wait = if self.refusals.is_empty() { Duration::MAX } else { LOOK };
            match tokio::time::timeout(wait, next(&mut told, &mut taken, &stopping)).await {
                Ok(0) => break,
                Ok(_) => batch.take(&mut taken, &mut self.refusals, &self.waiting),
                Err(_) => {}
            }
            batch.add_all(self.refusals.due(self.clock.now()));
            if batch.is_empty() {
                continue;
            }
            let pause = tokio::time::sleep(PAUSE);
            let mut pause = std::pin::pin!(pause);
            while !batch.is_due() {
                tokio::select! {
                    biased;
                    () = stopping.cancelled() => break,
                    () = pause.as_mut() => break,
                    more = told.recv_many(&mut taken, BATCH) => match more {
                        0 => break,
                        _ => batch.take(&mut taken, &mut self.refusals, &self.waiting),
                    },
                }
            }
            self.write(&mut batch).await;
        }
        batch.add_all(self.refusals.so_far());
        self.write(&mut batch).await;
        self.sign().await;
    }

    async fn write(&mut self, batch: &mut Batch) {
        let dropped = self.dropped.load(Ordering::Relaxed);
        if dropped > self.told_dropped {
            let missing = dropped - self.told_dropped;
            let line = AuditLine { at: self.clock.now(), ..AuditLine::new("missing", "hub") };
            batch.add(line.on(format!("{missing} lines")).outcome("not written"));
            self.told_dropped = dropped;
        }
        let count = batch.lines.len();
        if count > 0 && !self.append_lines(&mut batch.lines).await {
            self.dropped.fetch_add(count as u64, Ordering::Relaxed);
            self.counted.increment(count as u64);
        }
        self.waiting.remove(std::mem::take(&mut batch.bytes));
        if std::mem::take(&mut batch.sign) || self.is_time_to_sign() {
            self.sign().await;
        }
        if let Some(next) = batch.next.take() {
            self.hand_over(next).await;
        }
        for reply in batch.waiting.drain(..) {
            let _ = reply.send(());
        }
    }

    fn is_time_to_sign(&self) -> bool {
        self.unsigned >= SIGN_EVERY || self.clock.now() >= self.signed.after(SIGN_AFTER)
    }

    /// A checkpoint over all there is, unless the last page is one.
    async fn sign(&mut self) {
        let Some(head) = self.found_head().await else { return };
        if self.unsigned == 0 {
            return;
        }
        if let Some(checkpoint) = self.checkpoint(head, None) {
            self.write_checkpoint(checkpoint).await;
        }
    }

    /// The last checkpoint of the key that signs: it names the next one.
    async fn hand_over(&mut self, next: Arc<Signing>) {
        let Some(head) = self.found_head().await else { return };
        let public = next.known.first().map(|half| half.public.clone());
        let Some(checkpoint) = self.checkpoint(head, public) else { return };
        if self.write_checkpoint(checkpoint).await {
            self.seal.store(Some(next));
        }
    }

    async fn write_checkpoint(&mut self, checkpoint: Checkpoint) -> bool {
        let Some((last, _)) = self.found_head().await else { return false };
        let page = Page::of_checkpoint(checkpoint.clone());
        let Ok(record) = journal::to_bytes(&page) else { return false };
        if !self.append(last, record, page.digest).await {
            return false;
        }
        (self.unsigned, self.signed) = (0, checkpoint.at);
        if !self.cut
            && let Err(error) = keep(&*self.records, &checkpoint).await
        {
            tracing::warn!(event = "audit_checkpoint_not_kept", %error, "the newest checkpoint of the audit log could not be stored beside it");
        }
        true
    }

    fn checkpoint(&self, (record, head): (u64, Digest), next: Option<Text>) -> Option<Checkpoint> {
        let signing = self.seal.load_full()?;
        let at = self.clock.now();
        let signature = signing.signer.sign(&Checkpoint::statement_of(record, head, at, next.as_deref()))?;
        let (key, signature) = (signing.name.clone(), hex::encode(&signature).into());
        Some(Checkpoint { record, head, at, key, next, signature })
    }

    /// True when they are written; they are gone from the draft either way.
    async fn append_lines(&mut self, lines: &mut PageDraft) -> bool {
        let head = self.found_head().await;
        let (record, digest) = lines.finish(head.map_or(BEGINNING, |(_, digest)| digest));
        match head {
            Some((last, _)) => self.append(last, record, digest).await,
            None => false,
        }
    }

    /// One page after the record `last`. True when it is written.
    async fn append(&mut self, last: u64, record: Bytes, digest: Digest) -> bool {
        let (at, expected) = (self.clock.now(), Expected::At(last));
        let append = || Append {
            log: Log::Audit,
            expected,
            at,
            records: vec![record.clone()],
            unique: None,
            row: None,
            most: None,
            beside: 0,
            share: None,
        };
        // A store that is away comes back, and the page waits for it unless the hub stops. Meanwhile lines gather; when there are
        // too many, calls are refused as busy. A disk may stay full for days: then lines are missing, and the chain says how many.
        let appended = loop {
            match self.journal.append(append()).await {
                Err(StoreFault::Away(_)) if !self.stopping.is_cancelled() => self.pause().await,
                done => break done,
            }
        };
        match appended {
            Ok(Appended::At(number)) => {
                self.head = Some((number, digest));
                self.unsigned += 1;
                true
            }
            Ok(Appended::Exists { .. }) => false,
            Err(error) => {
                // It may be there all the same: the next page looks.
                self.head = None;
                tracing::error!(event = "audit_not_written", %error, "lines of the audit log could not be written");
                false
            }
        }
    }

    async fn pause(&self) {
        let _ = tokio::time::timeout(STORE_WAIT, self.stopping.cancelled()).await;
    }

    /// Where the chain ends; `None` when the store does not say.
    async fn found_head(&mut self) -> Option<(u64, Digest)> {
        if self.head.is_none() {
            let found = loop {
                match self.looked_up().await {
                    Err(StoreFault::Away(_)) if !self.stopping.is_cancelled() => self.pause().await,
                    found => break found,
                }
            };
            match found {
                Ok(head) => self.head = Some(head),
                Err(error) => {
                    tracing::error!(event = "audit_unreadable", %error, "the end of the audit log cannot be read")
                }
            }
        }
        self.head
    }

    async fn looked_up(&mut self) -> Result<(u64, Digest), StoreFault> {
        let last = self.journal.last(Log::Audit).await?;
        let digest = page_at(&*self.journal, last).await?;
        if let Some(checkpoint) = kept(&*self.records, self.clock.now()).await? {
            let there =
                if checkpoint.record == last { digest } else { page_at(&*self.journal, checkpoint.record).await? };
            // What retention removed by its age cannot be compared any more.
            let removed = there.is_none() && checkpoint.record < last;
            self.cut = !removed && there != Some(checkpoint.head);
            if self.cut {
                tracing::error!(
                    event = "audit_cut",
                    record = checkpoint.record,
                    "the audit log does not contain what was signed; run `interlingua audit verify`"
                );
            }
        }
        // Whether the last page is a checkpoint is not worth knowing: one more does no harm.
        self.unsigned += u32::from(last > 0);
        Ok((last, digest.unwrap_or(BEGINNING)))
    }
}

/// The digest of one page; of a record that is none, the digest of its bytes, so that it cannot be changed later.
async fn page_at(journal: &dyn Journal, number: u64) -> Result<Option<Digest>, StoreFault> {
    let Some(before) = number.checked_sub(1) else { return Ok(None) };
    let found = journal.read(Log::Audit, before, 1).await?;
    Ok(found.first().filter(|stored| stored.seq == number).map(|stored| {
        journal::from_bytes::<Page>(&stored.bytes).map_or_else(|_| Digest::of(&stored.bytes), |page| page.digest)
    }))
}

/// The newest checkpoint that was stored beside the journal.
pub(super) async fn kept(records: &dyn Records, now: Time) -> Result<Option<Checkpoint>, StoreFault> {
    let item = records.get(KIND, CHECKPOINT, now).await?;
    Ok(item.and_then(|item| journal::from_bytes(&item.value).ok()))
}

async fn keep(records: &dyn Records, checkpoint: &Checkpoint) -> Result<(), StoreFault> {
    let Ok(bytes) = journal::to_bytes(checkpoint) else { return Ok(()) };
    records.put(KIND, CHECKPOINT, bytes, None, Expect::Anything, checkpoint.at).await.map(|_| ())
}

/// How much was taken; none when the hub stops and nothing is left.
async fn next(
    told: &mut mpsc::Receiver<WriterMessage>,
    taken: &mut Vec<WriterMessage>,
    stopping: &CancellationToken,
) -> usize {
    tokio::select! {
        biased;
        () = stopping.cancelled() => told.close(),
        more = told.recv_many(taken, BATCH) => return more,
    }
    told.recv_many(taken, BATCH).await
}
