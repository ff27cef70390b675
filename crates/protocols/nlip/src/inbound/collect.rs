//! Aggregated answer: reads an exchange to its end or its question, and collects all its texts into one answer.

use crate::fault;
use interlingua_model::{Entry, Event, Fault, FaultKind, Finished, Loss, Outcome, Record, Route, Time, Transcript};

use interlingua_hub::audit::losses::Named;
use interlingua_hub::{Running, Settled};

/// The HTTP status of an outcome: 200 but where nothing could be reached or the time ran out.
fn outcome_status(finished: &Finished) -> u16 {
    match &finished.outcome {
        Outcome::Failed(fault)
            if matches!(
                fault.kind,
                FaultKind::Unreachable | FaultKind::BadReply | FaultKind::Deadline | FaultKind::Loop
            ) =>
        {
            fault::status(fault)
        }
        Outcome::Completed | Outcome::Failed(_) | Outcome::Cancelled { .. } => 200,
    }
}

/// Where an exchange stands, and by which way it came there.
pub(super) struct Stood {
    pub(super) of: Named,
    pub(super) settled: Settled,
    pub(super) route: Option<Route>,
    /// What its peer could not be told, or could not tell.
    pub(super) losses: Vec<Loss>,
    /// Of the last entry that was read.
    seq: u64,
}

impl Stood {
    pub(super) fn finished(&self) -> Option<&Finished> {
        match &self.settled {
            Settled::Finished(finished) => Some(finished),
            Settled::Asked(_) => None,
        }
    }

    /// The HTTP status of the answer.
    pub(super) fn status(&self) -> u16 {
        self.finished().map_or(200, outcome_status)
    }

    /// All that was read, as one entry: the end has the whole answer, and what was lost is that of every entry.
    pub(super) fn entry(self, at: Time) -> Entry {
        let event = match self.settled {
            Settled::Finished(finished) => Event::Finished(*finished),
            Settled::Asked(question) => Event::Asked(*question),
        };
        Entry { seq: self.seq, at, record: Record::Emitted { event, losses: self.losses, raw: None } }
    }
}

/// Reads an exchange until it stands still.
pub(super) async fn watch(running: &mut Running) -> Result<Stood, Fault> {
    let mut transcript = Transcript::default();
    let mut settled = running.settle(&mut transcript).await?;
    if let Settled::Finished(finished) = &mut settled {
        transcript.drop_held(&mut finished.output);
    }
    let Transcript { route, losses, .. } = transcript;
    Ok(Stood { of: running.named(), settled, route, losses, seq: running.seq() })
}
