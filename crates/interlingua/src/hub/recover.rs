//! After a crash: every task that was not done is folded from its journal and goes on by the crash rule.

use std::sync::Arc;

use interlingua_core::ports::TaskFilter;
use interlingua_core::{Fault, TaskId};

use super::Hub;
use super::driver::Driver;

/// How many unfinished tasks are listed at once.
const PAGE: usize = 512;

impl Hub {
    /// Takes up every unfinished task; returns how many. Call it once, after the peers are registered.
    pub async fn recover(self: &Arc<Self>) -> Result<usize, Fault> {
        let mut before = None;
        let mut taken = 0;
        loop {
            let filter = TaskFilter { live: true, before, limit: PAGE, ..TaskFilter::default() };
            let rows = self.store.journal.tasks(filter).await.map_err(Fault::internal)?;
            let Some(last) = rows.last() else { return Ok(taken) };
            before = Some((last.created, last.task));
            for row in rows {
                match self.resume(row.task).await {
                    Ok(()) => taken += 1,
                    Err(fault) => {
                        tracing::error!(task = %row.task, error = %fault, cause = ?fault.source, "a task could not be taken up");
                    }
                }
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
        driver.carry_on(effects).await?;
        self.supervisor.run(driver.run());
        Ok(())
    }
}
