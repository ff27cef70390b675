//! Memory accounting of one exchange, within the budget of all exchanges of its kind ([`crate::shares`]).
//!
//! An exchange that is not stored holds what its peer has sent so far, in case it will be stored; the first [`FREE`] bytes do not count, so
//! a plain call takes no share. A stored exchange counts from its first byte, with its arguments and its entry among the live tasks,
//! however long it waits. If there is no budget, an exchange is refused before it is stored; if there is none for further output, it ends
//! there.

use std::sync::Arc;

use interlingua_model::{Fault, Principal, Record, Retry, Signal};

use super::Driver;
use crate::shares::{NoRoom, Share, Shares, whose};

/// What an exchange that is not kept may hold without a share.
const FREE: u64 = 64 * 1024;
/// What a kept one takes besides what it carries: its driver, its place among the living, what waits for its peer. 1,500 tasks
/// that wait for a yes were measured to take 46 KiB each, all that comes with them included.
const PLACE: u64 = 32 * 1024;
/// A call is held by the task, and what is made of it again by whoever waits for it: arguments of 4 MB were measured to take 9.7.
const COPIES: u64 = 2;
/// Shares grow by this much, so that not every word of a stream is counted on its own.
const STEP: u64 = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Holding {
    /// What came while it was not kept.
    came: u64,
    /// The arguments of a kept one, and what was said to it.
    given: u64,
    share: Option<Share>,
}

impl Holding {
    /// Counts a further record of an exchange that is not stored.
    pub(super) fn came(&mut self, record: &Record) {
        self.came = self.came.saturating_add(record.weight() as u64);
    }

    fn resize(&mut self, shares: &Arc<Shares>, by: &Principal, bytes: u64) -> Result<(), NoRoom> {
        let bytes = bytes.next_multiple_of(STEP);
        match &mut self.share {
            Some(share) if share.bytes() == bytes => Ok(()),
            Some(share) => share.resize(bytes),
            None => shares.take(&whose(&by.owner()), bytes).map(|share| self.share = Some(share)),
        }
    }
}

impl Driver {
    /// Holds as much as there is now. Its peer has begun: not all may be sent again.
    pub(super) fn hold(&mut self) -> Result<(), Fault> {
        if self.kept.is_none() && self.holding.came <= FREE {
            return Ok(());
        }
        self.hold_with(0).map_err(|fault| fault.retry(Retry::IfIdempotent))
    }

    /// Holds a further signal, if there is budget for it.
    pub(super) fn hold_signal(&mut self, signal: &Signal) -> Result<(), Fault> {
        let more = signal.weight() as u64;
        if more <= STEP {
            return Ok(());
        }
        self.hold_with(more)?;
        self.holding.given = self.holding.given.saturating_add(more);
        Ok(())
    }

    fn hold_with(&mut self, more: u64) -> Result<(), Fault> {
        let bytes = match &self.kept {
            None => self.holding.came,
            Some(kept) => self.kept_bytes().saturating_add(kept.live.recent_bytes()),
        };
        let shares = &self.hub.holdings.exchanges;
        self.holding.resize(shares, &self.task.by, bytes.saturating_add(more)).map_err(NoRoom::for_exchanges)
    }

    /// Before it is stored.
    pub(super) fn hold_as_kept(&mut self) -> Result<(), Fault> {
        self.holding.given = COPIES * self.task.call.weight() as u64;
        let (bytes, shares) = (self.kept_bytes(), &self.hub.holdings.exchanges);
        self.holding.resize(shares, &self.task.by, bytes).map_err(NoRoom::for_exchanges)
    }

    /// An exchange that was stored before the hub started continues, even beyond the budget.
    pub(super) fn hold_adopted(&mut self) {
        self.holding.given = COPIES * self.task.call.weight() as u64;
        let bytes = self.kept_bytes().next_multiple_of(STEP);
        self.holding.share = Some(self.hub.holdings.exchanges.count_in(&whose(&self.task.by.owner()), bytes));
    }

    fn kept_bytes(&self) -> u64 {
        PLACE.saturating_add(self.holding.given).saturating_add(self.task.held() as u64)
    }
}
