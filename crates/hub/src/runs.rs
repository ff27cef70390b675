//! Wakes readers that wait for the next record of a run. Agents, teams and plans write a journal of their own, which is read like any
//! other. Wake-ups are not stored: a reader that missed one reads the journal anyway.

use interlingua_model::TaskId;
use tokio::sync::broadcast;

/// How many words a listener may be behind.
const BEHIND: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Runs(broadcast::Sender<TaskId>);

impl Default for Runs {
    fn default() -> Runs {
        Runs(broadcast::Sender::new(BEHIND))
    }
}

impl Runs {
    /// The journal of this run has new records. Without listeners this costs nothing.
    pub(crate) fn appended(&self, task: TaskId) {
        let _ = self.0.send(task);
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

/// Waits for records of runs.
#[derive(Debug)]
pub struct Listener(broadcast::Receiver<TaskId>);

impl Listener {
    /// Waits until there may be more of this run.
    pub async fn more_of(&mut self, task: TaskId) {
        loop {
            match self.0.recv().await {
                Ok(other) if other != task => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}
