//! One line for each decision, batched into the journal off the hot path. A line that cannot be taken is counted, never
//! waited for.
//!
//! Lines hold no arguments, no content and no secret: who, what, on what, how it was decided, and the trace and task it
//! belongs to.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interlingua_core::ports::{Append, Expected, Journal, Stored};
use interlingua_core::{Call, Fault, FaultKind, Log, Principal, SkillId, TaskId, Time, journal};
use metrics::Counter;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::Hub;
use super::clock::Clock;
use super::supervisor::Supervisor;
use crate::telemetry::trace;

/// How many lines may wait to be written.
const MAX_WAITING: usize = 16_384;
/// How many lines one record holds at most.
const BATCH: usize = 1_024;
/// So that a line's number says where it stands: more than a record holds.
const PLACES: u64 = 4_096;
/// How long the first line of a record waits for company.
const PAUSE: Duration = Duration::from_millis(200);
/// How many lines one reading returns.
const MAX_PAGE: usize = 1_000;

/// How much of a name is written down.
const MAX_NAME: usize = 200;

/// The outcome of a decision in favour.
pub const ALLOWED: &str = "allowed";

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditLine {
    pub at: Time,
    /// Whose wish it was.
    pub by: String,
    /// What was decided about, such as `authorize` or `confirm`.
    pub action: Cow<'static, str>,
    /// A skill, a peer, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// [`ALLOWED`], what became of it, or the kind of a fault.
    pub outcome: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// What it came in by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl AuditLine {
    pub fn new(action: &'static str, by: impl Display) -> AuditLine {
        AuditLine {
            at: Time(0),
            by: by.to_string(),
            action: action.into(),
            on: None,
            outcome: ALLOWED.into(),
            task: None,
            wire: None,
            trace: None,
        }
    }

    #[must_use]
    pub fn on(mut self, what: impl Display) -> AuditLine {
        let mut what = what.to_string();
        // A stranger may have chosen the name.
        if let Some((end, _)) = what.char_indices().nth(MAX_NAME) {
            what.truncate(end);
        }
        self.on = Some(what);
        self
    }

    #[must_use]
    pub fn task(mut self, task: TaskId) -> AuditLine {
        self.task = Some(task);
        self
    }

    /// What a call says of where it belongs.
    #[must_use]
    pub fn call(mut self, call: &Call) -> AuditLine {
        self.wire = call.wire.as_ref().map(|wire| wire.0.to_string());
        self.trace = call.trace.as_ref().and_then(trace::id).map(str::to_owned);
        self
    }

    #[must_use]
    pub fn outcome(mut self, outcome: &'static str) -> AuditLine {
        self.outcome = outcome.into();
        self
    }

    #[must_use]
    pub fn refused(self, kind: FaultKind) -> AuditLine {
        self.outcome(kind.as_str())
    }
}

#[derive(Debug)]
pub struct Audit {
    lines: mpsc::Sender<Told>,
    clock: Clock,
    dropped: AtomicU64,
    counted: Counter,
    /// Its own, so that what the rest of the hub decides while it stops is still written.
    writer: Supervisor,
}

impl Audit {
    /// `counted` counts the lines that could not be taken. Must be called within a runtime.
    pub fn start(journal: Arc<dyn Journal>, clock: Clock, counted: Counter) -> Audit {
        let (lines, waiting) = mpsc::channel(MAX_WAITING);
        let writer = Supervisor::new();
        writer.run(write(journal, waiting, writer.stopping().clone()));
        Audit { lines, clock, dropped: AtomicU64::new(0), counted, writer }
    }

    /// Writes a line, which belongs to the trace of what is being done unless it says otherwise.
    pub fn write(&self, mut line: AuditLine) {
        line.at = self.clock.now();
        if line.trace.is_none() {
            line.trace = trace::ambient_id();
        }
        if self.lines.try_send(Told::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            self.counted.increment(1);
        }
    }

    pub fn line(
        &self,
        action: &'static str,
        by: &Principal,
        skill: Option<&SkillId>,
        task: Option<TaskId>,
        refused: Option<FaultKind>,
    ) {
        let mut line = AuditLine::new(action, by.owner());
        line.on = skill.map(ToString::to_string);
        line.task = task;
        self.write(match refused {
            Some(kind) => line.refused(kind),
            None => line,
        });
    }

    /// Lines that could not be taken since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Resolves when all that was told before is written.
    async fn written(&self) {
        let (reply, written) = oneshot::channel();
        if self.lines.send(Told::Flush(reply)).await.is_ok() {
            let _ = written.await;
        }
    }

    /// Writes what waits. Nothing is taken afterwards.
    pub(super) async fn stop(&self, patience: Duration) -> bool {
        self.writer.stop(patience).await
    }
}

/// What the writer is told.
#[derive(Debug)]
enum Told {
    Line(AuditLine),
    Flush(oneshot::Sender<()>),
}

/// What goes into the next record, and who waits for it.
#[derive(Debug, Default)]
struct Batch {
    lines: Vec<AuditLine>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Batch {
    fn take(&mut self, told: &mut Vec<Told>) {
        for told in told.drain(..) {
            match told {
                Told::Line(line) => self.lines.push(line),
                Told::Flush(reply) => self.waiting.push(reply),
            }
        }
    }

    fn is_due(&self) -> bool {
        self.lines.len() >= BATCH || !self.waiting.is_empty()
    }

    async fn append(&mut self, journal: &dyn Journal) {
        if let Some(last) = self.lines.last() {
            let (at, records) = (last.at, journal::to_bytes(&self.lines).into_iter().collect());
            let append = Append { log: Log::Audit, expected: Expected::Any, at, records, unique: None, row: None };
            if let Err(error) = journal.append(append).await {
                tracing::error!(%error, "audit lines could not be written");
            }
        }
        self.lines.clear();
        for reply in self.waiting.drain(..) {
            let _ = reply.send(());
        }
    }
}

/// Waits a little after the first line, so that one record of the journal holds all that were decided meanwhile; not when
/// somebody wants to read, and not when the hub stops.
async fn write(
    journal: Arc<dyn Journal>,
    mut told: mpsc::Receiver<Told>,
    stopping: tokio_util::sync::CancellationToken,
) {
    let (mut batch, mut taken) = (Batch::default(), Vec::with_capacity(BATCH));
    while next(&mut told, &mut taken, &stopping).await > 0 {
        batch.take(&mut taken);
        let pause = tokio::time::sleep(PAUSE);
        let mut pause = std::pin::pin!(pause);
        while !batch.is_due() {
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                () = pause.as_mut() => break,
                more = told.recv_many(&mut taken, BATCH) => if more == 0 { break } else { batch.take(&mut taken) },
            }
        }
        batch.append(&*journal).await;
    }
}

/// How much was taken; none when the hub stops and nothing is left.
async fn next(
    told: &mut mpsc::Receiver<Told>,
    taken: &mut Vec<Told>,
    stopping: &tokio_util::sync::CancellationToken,
) -> usize {
    tokio::select! {
        biased;
        () = stopping.cancelled() => told.close(),
        more = told.recv_many(taken, BATCH) => return more,
    }
    told.recv_many(taken, BATCH).await
}

impl Hub {
    /// A page of the audit, newest first: lines before the number `before`, or the newest. Only an Owner may read it.
    pub async fn audit_lines(
        &self,
        by: &Principal,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, AuditLine)>, Fault> {
        if !by.is_hub_owner() {
            self.audit.write(AuditLine::new("audit", by.owner()).refused(FaultKind::Denied));
            return Err(Fault::caller(FaultKind::Denied, "only the hub's Owner reads the audit"));
        }
        let limit = limit.clamp(1, MAX_PAGE);
        self.audit.written().await;
        let end = match before {
            Some(before) => before,
            None => number(self.store.journal.last(Log::Audit).await.map_err(Fault::internal)?.saturating_add(1), 0),
        };
        let mut lines = Vec::new();
        let mut record = end / PLACES;
        while lines.len() < limit {
            let found =
                self.store.journal.read(Log::Audit, record.saturating_sub(1), 1).await.map_err(Fault::internal)?;
            match found.first() {
                Some(stored) if stored.seq == record => {
                    lines.extend(numbered(stored)?.into_iter().rev().filter(|(number, _)| *number < end));
                }
                // Retention took it, and with it all that is older.
                Some(_) => break,
                None => {}
            }
            if record == 0 {
                break;
            }
            record -= 1;
        }
        lines.truncate(limit);
        Ok(lines)
    }
}

/// A line's number: its record's, and its place in it.
fn number(record: u64, place: u64) -> u64 {
    record * PLACES + place
}

fn numbered(stored: &Stored) -> Result<Vec<(u64, AuditLine)>, Fault> {
    let lines: Vec<AuditLine> = journal::from_bytes(&stored.bytes).map_err(Fault::internal)?;
    Ok((0..).zip(lines).map(|(place, line)| (number(stored.seq, place), line)).collect())
}
