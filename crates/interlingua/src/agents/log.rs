//! The records of one run in the journal: read once when it is taken up, then only appended to.

use std::sync::Arc;
use std::time::Duration;

use interlingua_core::ports::{Append, Expected, StoreFault};
use interlingua_core::{Entry, Fault, FaultKind, Log, TaskId, Time, journal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hub::Hub;

/// How many records are read at once.
const PAGE: usize = 1_024;
/// How long a run waits before it tries a full store again.
const FULL_STORE_WAIT: Duration = Duration::from_secs(1);

pub(super) struct RunLog {
    hub: Arc<Hub>,
    task: TaskId,
    seq: u64,
}

impl RunLog {
    /// The log of a run, and what stands in it.
    pub(super) async fn open<R: DeserializeOwned>(
        hub: Arc<Hub>,
        task: TaskId,
    ) -> Result<(RunLog, Vec<Entry<R>>), Fault> {
        let mut entries = Vec::new();
        let mut seq = 0;
        loop {
            let page = hub.store.journal.read(Log::Run(task), seq, PAGE).await?;
            let Some(last) = page.last() else { break };
            seq = last.seq;
            for stored in page {
                let record = journal::from_bytes(&stored.bytes).map_err(Fault::internal)?;
                entries.push(Entry { seq: stored.seq, at: stored.at, record });
            }
        }
        Ok((RunLog { hub, task, seq }, entries))
    }

    /// Appends these as one; resolves when they are safe. A store that is full makes the run wait, not forget.
    pub(super) async fn append<R: Serialize>(&mut self, records: &[R], at: Time) -> Result<(), Fault> {
        if records.is_empty() {
            return Ok(());
        }
        let bytes = records.iter().map(journal::to_bytes).collect::<Result<Vec<_>, _>>().map_err(Fault::internal)?;
        loop {
            let append = Append {
                log: Log::Run(self.task),
                expected: Expected::At(self.seq),
                at,
                records: bytes.clone(),
                unique: None,
                row: None,
            };
            match self.hub.store.journal.append(append).await {
                Ok(_) => break,
                Err(StoreFault::Full(_)) => tokio::time::sleep(FULL_STORE_WAIT).await,
                Err(fault) => {
                    let text = "the run's journal could not be written";
                    return Err(Fault::hub(FaultKind::Internal, text).because(fault));
                }
            }
        }
        self.seq += bytes.len() as u64;
        self.hub.runs.appended(self.task);
        Ok(())
    }
}
