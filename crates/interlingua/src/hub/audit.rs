//! One line for each decision, batched into the journal off the hot path. A line that cannot be taken is counted, never
//! waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use interlingua_core::ports::{Append, Expected, Journal};
use interlingua_core::{FaultKind, Log, Principal, SkillId, TaskId, Time};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::clock::Clock;
use super::supervisor::Supervisor;

/// How many lines may wait to be written.
const MAX_WAITING: usize = 16_384;
/// How many lines go into one append.
const BATCH: usize = 1_024;

/// Who did what, and was it allowed. Holds no arguments, no content and no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditLine {
    pub at: Time,
    pub by: String,
    pub phase: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Absent: allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

#[derive(Debug)]
pub struct Audit {
    lines: mpsc::Sender<AuditLine>,
    clock: Clock,
    dropped: Arc<AtomicU64>,
}

impl Audit {
    pub fn start(journal: Arc<dyn Journal>, clock: Clock, supervisor: &Supervisor) -> Audit {
        let (lines, waiting) = mpsc::channel(MAX_WAITING);
        let stopping = supervisor.stopping().clone();
        supervisor.run(write(journal, waiting, stopping));
        Audit { lines, clock, dropped: Arc::default() }
    }

    pub fn line(
        &self,
        phase: &str,
        by: &Principal,
        skill: Option<&SkillId>,
        task: Option<TaskId>,
        refused: Option<FaultKind>,
    ) {
        let line = AuditLine {
            at: self.clock.now(),
            by: by.owner().to_string(),
            phase: phase.to_owned(),
            skill: skill.map(ToString::to_string),
            task,
            refused: refused.map(|kind| kind.as_str().to_owned()),
        };
        if self.lines.try_send(line).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines that could not be taken since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

async fn write(
    journal: Arc<dyn Journal>,
    mut waiting: mpsc::Receiver<AuditLine>,
    stopping: tokio_util::sync::CancellationToken,
) {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let taken = tokio::select! {
            biased;
            taken = waiting.recv_many(&mut batch, BATCH) => taken,
            () = stopping.cancelled() => {
                waiting.close();
                waiting.recv_many(&mut batch, BATCH).await
            }
        };
        if taken == 0 {
            return;
        }
        let at = batch.last().map_or(Time(0), |line| line.at);
        let records = batch.drain(..).filter_map(|line| interlingua_core::journal::to_bytes(&line).ok()).collect();
        let append = Append { log: Log::Audit, expected: Expected::Any, at, records, unique: None, row: None };
        if let Err(error) = journal.append(append).await {
            tracing::error!(%error, "audit lines could not be written");
        }
    }
}
