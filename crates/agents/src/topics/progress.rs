//! Progress of one listener, as it is stored: the last event that was read, and the runs in progress.
//!
//! It is written before a run starts, so an event whose run may have started is known after a crash. It is written again when the run has
//! an id, so that the run is found again.

use bytes::Bytes;
use interlingua_hub::Hub;
use interlingua_model::ports::Expect;
use interlingua_model::{Fault, PeerId, TaskId};
use serde::{Deserialize, Serialize};

const KIND: &str = "topic-start";

/// What a listener has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The pattern it is about: with another one a listener begins anew.
    topic: String,
    /// The number of the last event that was read.
    pub(super) after: u64,
    runs: Vec<Begun>,
}

/// A run in progress, or about to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The number of its event.
    pub(super) seq: u64,
    /// Which of the runs of this event it is, from 1.
    pub(super) attempt: u8,
    /// Absent until the run is stored.
    pub(super) task: Option<TaskId>,
}

impl Progress {
    /// Where the listener stopped; at the end of the log if it is new or listens to another topic. Runs in progress stay.
    pub(super) async fn load(hub: &Hub, peer: &PeerId, topic: &str) -> Result<Progress, Fault> {
        let stored = hub.records(KIND).get(peer.as_str()).await?;
        let known = stored.map(|item| serde_json::from_slice::<Progress>(&item.value)).transpose();
        match known.map_err(Fault::internal)? {
            Some(known) if known.topic == topic => Ok(known),
            other => {
                let runs = other.map(|known| known.runs).unwrap_or_default();
                let new = Progress { topic: topic.to_owned(), after: hub.last_event().await?, runs };
                new.save(hub, peer).await?;
                Ok(new)
            }
        }
    }

    /// Durable when this returns.
    pub(super) async fn save(&self, hub: &Hub, peer: &PeerId) -> Result<(), Fault> {
        let value = Bytes::from(serde_json::to_vec(self).map_err(Fault::internal)?);
        hub.records(KIND).put(peer.as_str(), value, None, Expect::Anything).await?;
        Ok(())
    }

    /// A run of this event is about to start.
    pub(super) fn begin(&mut self, seq: u64, attempt: u8) {
        self.after = self.after.max(seq);
        self.end(seq);
        self.runs.push(Begun { seq, attempt, task: None });
    }

    /// The run has an id.
    pub(super) fn stored_as(&mut self, seq: u64, task: TaskId) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.seq == seq) {
            run.task = Some(task);
        }
    }

    /// No run of this event has begun. It is read again if it was the last one.
    pub(super) fn take_back(&mut self, seq: u64) {
        self.end(seq);
        if self.after == seq {
            self.after = seq.saturating_sub(1);
        }
    }

    /// There is nothing more to do for this event.
    pub(super) fn end(&mut self, seq: u64) {
        self.runs.retain(|run| run.seq != seq);
    }

    /// The runs in progress.
    pub(super) fn runs(&self) -> &[Begun] {
        &self.runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_is_known_until_it_ends() {
        let mut progress = Progress { topic: "a".to_owned(), after: 3, runs: Vec::new() };
        progress.begin(5, 1);
        progress.begin(4, 1);
        assert_eq!(progress.after, 5, "an older event does not lead back");
        progress.stored_as(5, TaskId(7));
        assert_eq!(progress.runs()[0], Begun { seq: 5, attempt: 1, task: Some(TaskId(7)) });
        progress.begin(5, 2);
        assert_eq!(progress.runs().last(), Some(&Begun { seq: 5, attempt: 2, task: None }), "the same event again");
        progress.end(4);
        progress.end(5);
        assert!(progress.runs().is_empty());
        let written = serde_json::to_vec(&progress).expect("JSON");
        assert_eq!(serde_json::from_slice::<Progress>(&written).expect("JSON"), progress);
    }
}
