//! Backpressure of the audit log: bounds the bytes of lines that are not written yet.
//!
//! While more than half of the budget is used, new calls wait before they are decided ([`super::Audit::caught_up`]), because every decision
//! must be logged. The other half is for calls that are in progress. Refusals, which cost their caller nothing, have no part of it. A line
//! that finds no budget nevertheless is counted, and the next page says how many are missing.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::AuditLine;

/// Bytes of lines that wait or are being written.
const MOST: u64 = 16 << 20;
/// With more than this calls wait.
const BEHIND: u64 = MOST / 2;

#[derive(Debug, Default)]
pub(super) struct UnwrittenLines {
    bytes: AtomicU64,
    less: Notify,
}

impl UnwrittenLines {
    /// False if there is no budget for it.
    pub(super) fn add(&self, line: &AuditLine) -> bool {
        let most = if line.refusal { BEHIND } else { MOST };
        let more = |bytes: u64| bytes.checked_add(weight(line)).filter(|sum| *sum <= most);
        self.bytes.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more).is_ok()
    }

    pub(super) fn remove(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.less.notify_waiters();
    }

    pub(super) fn is_behind(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > BEHIND
    }

    /// Resolves when something was written after this was called.
    pub(super) fn less(&self) -> Notified<'_> {
        self.less.notified()
    }
}

/// About how many bytes a line takes.
pub(super) fn weight(line: &AuditLine) -> u64 {
    let texts = [&line.on, &line.trace].into_iter().flatten().map(String::len).sum::<usize>();
    let losses = line.losses.iter().map(|loss| size_of::<String>() + loss.len()).sum::<usize>();
    let arguments = line.arguments.as_ref().map_or(0, |arguments| arguments.as_bytes().len());
    (size_of::<AuditLine>() + line.by.len() + texts + losses + arguments) as u64
}
