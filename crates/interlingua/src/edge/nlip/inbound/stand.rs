//! Reads an exchange to its end or its question: one answer holds all of what was said.

use interlingua_core::{Event, Fault, FaultKind, Finished, Outcome, Route, collect};
use interlingua_protocols::nlip::fault;

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
    pub(super) settled: Settled,
    pub(super) route: Option<Route>,
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
    let mut route = None;
    let mut said = Vec::new();
    let mut settled = running
        .settle(|event| match event {
            Event::Started(started) => route = Some(started.clone()),
            Event::Said { .. } | Event::Artifact(_) => said.push(event.clone()),
            Event::Progress { .. } | Event::Asked(_) | Event::Settled { .. } | Event::Finished(_) => {}
        })
        .await?;
    if let Settled::Finished(finished) = &mut settled {
        finished.output.parts = collect(finished, &said);
        // What they hold is among the parts now.
        finished.output.artifacts.clear();
    }
    Ok(Stood { settled, route })
}
