//! Workspaces of runs: the file tools that a run calls work in the run's own workspace, not in the hub's.
//!
//! The origin of a call names its workspace, whatever wrapped the call on its way. A call that is resumed after a restart may arrive before
//! its run: it waits, and never works in another workspace instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interlingua_model::{Call, Fault, FaultKind, TaskId};
use tokio::sync::Notify;

use super::workspace::Workspace;

/// How long a call waits for its run.
const RUN_COMES: Duration = Duration::from_secs(60);

/// All loans of a hub: one for each run that has one, for as long as it goes on.
#[derive(Debug, Default)]
pub struct RunWorkspaces {
    table: Mutex<HashMap<TaskId, Workspace>>,
    changed: Notify,
}

/// Ends when it is dropped.
#[derive(Debug)]
pub struct Loan {
    lent: Arc<RunWorkspaces>,
    run: TaskId,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.lent.table().remove(&self.run);
    }
}

impl RunWorkspaces {
    fn table(&self) -> MutexGuard<'_, HashMap<TaskId, Workspace>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lend(self: &Arc<Self>, run: TaskId, workspace: Workspace) -> Loan {
        self.table().insert(run, workspace);
        self.changed.notify_waiters();
        Loan { lent: self.clone(), run }
    }

    /// The workspace this call is to work in, if it is not the hub's.
    pub async fn of(&self, call: &Call) -> Result<Option<Workspace>, Fault> {
        let Some(run) = call.origin.files() else { return Ok(None) };
        let found = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if let Some(workspace) = self.table().get(&run) {
                    return workspace.clone();
                }
                changed.await;
            }
        };
        let gone = |_| Fault::hub(FaultKind::Unreachable, "the run whose files these are is gone");
        tokio::time::timeout(RUN_COMES, found).await.map(Some).map_err(gone)
    }
}
