//! Aggregated answer. Reads an exchange to its end or its question: one answer holds all of what was said.

use crate::fault;
use interlingua_model::{Fault, FaultKind, Finished, Loss, Outcome, Route, Transcript};

use interlingua_hub::audit::losses::Named;
use interlingua_hub::{Running, Settled};

/// The HTTP status of an outcome: 200 but where nothing could be reached or the time ran out.
pub(super) fn outcome_status(finished: &Finished) -> u16 {
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
}

impl Stood {
    pub(super) fn finished(&self) -> Option<&Finished> {
        match &self.settled {
            Settled::Finished(finished) => Some(finished),
            Settled::Asked(_) => None,
        }
    }
}

/// Reads an exchange until it stands still.
pub(super) async fn watch(running: &mut Running) -> Result<Stood, Fault> {
    let mut transcript = Transcript::default();
    let mut settled = running.settle(&mut transcript).await?;
    if let Settled::Finished(finished) = &mut settled {
        // What they hold is among the parts now.
        finished.output.artifacts.clear();
    }
    let Transcript { route, losses, .. } = transcript;
    Ok(Stood { of: running.named(), settled, route, losses })
}
