//! After a crash: every task that was not done is folded from its journal and goes on by the crash rule.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use interlingua_core::ports::TaskFilter;
use interlingua_core::{Fault, TaskId};

use super::Hub;
use super::driver::Driver;

/// How many unfinished tasks are listed at once.
const PAGE: usize = 512;
/// How long the start waits for the first records of a task taken up.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many are taken up at once: their first records share a sync.
const AT_ONCE: usize = 64;

impl Hub {
    /// Takes up every unfinished task; returns how many. Call it once, after the peers are registered.
    pub async fn recover(self: &Arc<Self>) -> Result<usize, Fault> {
        let mut before = None;
        let mut taken = 0;
        loop {
            let filter = TaskFilter { live: true, before, limit: PAGE, ..TaskFilter::default() };
            let rows = self.store.journal.tasks(filter).await?;
            let Some(last) = rows.last() else { return Ok(taken) };
            before = Some((last.created, last.task));
            let resumed = stream::iter(rows).map(|row| self.taken_up(row.task)).buffer_unordered(AT_ONCE);
            taken += resumed.filter(|taken| ready(*taken)).count().await;
        }
    }

    /// One task that cannot be taken up must not keep the others down.
    async fn taken_up(self: &Arc<Self>, task: TaskId) -> bool {
        match self.resume(task).await {
            Ok(()) => true,
            Err(fault) => {
                tracing::error!(%task, error = %fault, cause = ?fault.source, "a task could not be taken up");
                false
            }
        }
    }

    async fn resume(self: &Arc<Self>, task: TaskId) -> Result<(), Fault> {
        let folded = self.fold(task).await?;
        if folded.finished().is_some() {
            return Ok(());
        }
        let mut driver = Driver::new(self.clone(), folded, None);
        driver.adopt()?;
        let effects = driver.restart()?;
        // A store that is full holds up this task, not the start.
        let _ = tokio::time::timeout(PATIENCE, driver.carry_on(effects)).await;
        Ok(())
    }
}
