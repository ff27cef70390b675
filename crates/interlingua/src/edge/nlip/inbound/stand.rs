//! Reads an exchange to its end or its question: one answer holds all of what was said.

use interlingua_core::{Event, Fault, FaultKind, Finished, Loss, Outcome, Record, Route, collect};
use interlingua_protocols::nlip::fault;

use crate::hub::audit::lost::Named;
use crate::hub::{Running, Settled};

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
    let (mut route, mut said, mut losses) = (None, Vec::new(), Vec::new());
    while let Some(entry) = running.next().await? {
        let Record::Emitted { event, losses: lost, .. } = &entry.record else { continue };
        losses.extend(lost.iter().cloned());
        let settled = match event {
            Event::Finished(finished) => {
                let mut finished = finished.clone();
                finished.output.parts = collect(&finished, &said);
                // What they hold is among the parts now.
                finished.output.artifacts.clear();
                Settled::Finished(Box::new(finished))
            }
            Event::Asked(question) if running.awaits(question) => Settled::Asked(Box::new(question.clone())),
            Event::Started(started) => {
                route = Some(started.clone());
                continue;
            }
            Event::Said { .. } | Event::Artifact(_) => {
                said.push(event.clone());
                continue;
            }
            Event::Asked(_) | Event::Progress { .. } | Event::Settled { .. } => continue,
        };
        return Ok(Stood { of: running.named(), settled, route, losses });
    }
    Err(Fault::shutting_down_kept())
}
