//! Crash recovery: folds every unfinished task from its journal and continues it by the crash rule.

use std::collections::HashSet;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use interlingua_machines::task::Task;
use interlingua_model::ports::{TaskFilter, TaskRow};
use interlingua_model::{Fault, FaultKind, TaskId};

use super::Hub;
use super::driver::Driver;
use super::stall::{STORE_WAIT, until_stored};

/// How many unfinished tasks are listed at once.
const PAGE: usize = 512;
/// How long the start waits for the first records of a task taken up.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many are taken up at once: their first records share a sync.
const AT_ONCE: usize = 64;

impl Hub {
    /// Resumes every unfinished task; returns how many. Call it once, after the peers are registered.
    ///
    /// All are in the table before the first one continues: a task may ask at once for one that it began. A task continues before those
    /// it started, because a child ends with its parent.
    pub async fn recover(self: &Arc<Self>) -> Result<usize, Fault> {
        let rows = stream::iter(self.unfinished().await?);
        let adopted = rows.map(|row| self.adopted(row.task)).buffer_unordered(AT_ONCE).filter_map(ready);
        let mut left: Vec<Driver> = adopted.collect().await;
        let mut taken = 0;
        while !left.is_empty() {
            let waiting: HashSet<TaskId> = left.iter().map(|driver| driver.task.id).collect();
            let after_parent =
                |driver: &Driver| driver.task.call.parent.is_some_and(|parent| waiting.contains(&parent));
            let (later, now): (Vec<Driver>, Vec<Driver>) = left.into_iter().partition(after_parent);
            // Nothing is its own ancestor; were it so in a damaged store, it would still be taken up.
            let (now, later) = if now.is_empty() { (later, now) } else { (now, later) };
            let resumed = stream::iter(now).map(|driver| self.taken_up(driver)).buffer_unordered(AT_ONCE);
            taken += resumed.filter(|taken| ready(*taken)).count().await;
            left = later;
        }
        Ok(taken)
    }

    async fn unfinished(&self) -> Result<Vec<TaskRow>, Fault> {
        let mut found: Vec<TaskRow> = Vec::new();
        loop {
            let before = found.last().map(|last| (last.created, last.task));
            let filter = TaskFilter { live: true, before, limit: PAGE, ..TaskFilter::default() };
            let page = until_stored(|| self.store.journal.tasks(filter.clone())).await?;
            if page.is_empty() {
                return Ok(found);
            }
            found.extend(page);
        }
    }

    /// A task that is not done, among the living again. One that cannot be read must not keep the others down.
    async fn adopted(self: &Arc<Self>, task: TaskId) -> Option<Driver> {
        let adopted = async {
            let mut driver = Driver::new(self.clone(), self.folded(task).await?, None);
            if driver.task.finished().is_none() {
                driver.adopt()?;
            }
            Ok(driver)
        };
        let driver: Result<Driver, Fault> = adopted.await;
        let driver = driver.inspect_err(|fault| could_not(task, fault)).ok()?;
        driver.task.finished().is_none().then_some(driver)
    }

    /// A store that is away for a moment must not leave a task behind until the next start.
    async fn folded(&self, task: TaskId) -> Result<Task, Fault> {
        loop {
            match self.fold(task).await {
                Err(fault) if fault.kind == FaultKind::Busy => tokio::time::sleep(STORE_WAIT).await,
                folded => return folded,
            }
        }
    }

    async fn taken_up(self: &Arc<Self>, driver: Driver) -> bool {
        let task = driver.task.id;
        self.resume(driver).await.inspect_err(|fault| could_not(task, fault)).is_ok()
    }

    async fn resume(self: &Arc<Self>, mut driver: Driver) -> Result<(), Fault> {
        let orphaned = match driver.task.call.parent {
            Some(parent) => {
                until_stored(|| self.store.journal.task(parent)).await?.is_none_or(|row| row.state.is_done())
            }
            None => false,
        };
        let effects = if orphaned { driver.let_go()? } else { driver.restart()? };
        // A store that is full or away holds up this task, not the start.
        let _ = tokio::time::timeout(PATIENCE, driver.carry_on(effects)).await;
        Ok(())
    }
}

fn could_not(task: TaskId, fault: &Fault) {
    tracing::error!(event = "task_not_resumed", %task, error = %fault, cause = ?fault.source, "a task could not be resumed after the start");
}
