//! Metrics and tracing of one exchange: its span, how long its peer took, how it ended.

use std::sync::Arc;
use std::time::Instant;

use interlingua_machines::task::Task;
use interlingua_model::{CancelWhy, FaultKind, Outcome, Party, SkillId};
use tracing::Span;

use interlingua_telemetry::meters::{Meters, Phase, WireMeters};
use interlingua_telemetry::trace;

pub(super) struct Meter {
    pub(super) span: Span,
    wire: Arc<WireMeters>,
    begun: Instant,
    dispatched: Option<Instant>,
}

impl Meter {
    /// For an exchange that is opened now, within the span of its entry; for a resumed one, a span of its own in its trace.
    pub(super) fn start(meters: &Meters, task: &Task) -> Meter {
        let current = Span::current();
        let opened = current.metadata().is_some_and(|metadata| metadata.name() == trace::EXCHANGE);
        let span = if opened {
            current
        } else {
            let wire = task.call.origin.wire().map_or("local", |wire| &wire.0);
            trace::resumed(wire, task.call.trace.as_ref())
        };
        if !span.is_disabled() {
            span.record("task", tracing::field::display(task.id));
        }
        Meter { span, wire: meters.of_call(task.call.origin.wire()), begun: Instant::now(), dispatched: None }
    }

    pub(super) fn dispatched(&mut self, skill: &SkillId) {
        if !self.span.is_disabled() {
            self.span.record("skill", tracing::field::display(skill));
        }
        self.dispatched = Some(Instant::now());
    }

    /// The peer has no part in it any more, until it is called again.
    pub(super) fn rested(&mut self, meters: &Meters) {
        if let Some(since) = self.dispatched.take() {
            meters.phase(Phase::Dispatch, since.elapsed());
        }
    }

    pub(super) fn ended(&mut self, meters: &Meters, task: &Task) {
        self.rested(meters);
        let _entered = self.span.enter();
        let Some(finished) = task.finished() else {
            // Nobody is left to be told, and nothing was kept: it ended all the same.
            let left = Outcome::Cancelled { by: Party::Caller, why: CancelWhy::Disconnected };
            self.wire.ended(&left, self.begun.elapsed());
            self.span.record("outcome", left.as_str());
            tracing::debug!("the exchange was abandoned");
            return;
        };
        self.wire.ended(&finished.outcome, self.begun.elapsed());
        let outcome = finished.outcome.as_str();
        self.span.record("outcome", outcome);
        match &finished.outcome {
            // What went wrong inside is told here and nowhere else (H-15).
            Outcome::Failed(fault) if fault.kind == FaultKind::Internal => {
                tracing::error!(event = "exchange_failed", task = %task.id, error = %fault, cause = ?fault.source, "the exchange failed inside the hub");
            }
            // The text of a fault may be a peer's own words, so it is not for the log.
            Outcome::Failed(fault) if fault.origin != Party::Caller => {
                let wire = task.call.origin.wire().map_or("local", |wire| &wire.0);
                let skill = task.route.as_ref().map(|route| tracing::field::display(&route.skill));
                tracing::info!(event = "exchange_fault", kind = fault.kind.as_str(), wire, task = %task.id, skill, "the exchange failed");
            }
            Outcome::Failed(fault) => tracing::debug!(kind = fault.kind.as_str(), "the exchange failed"),
            Outcome::Completed | Outcome::Cancelled { .. } => tracing::debug!(outcome, "the exchange ended"),
        }
    }
}
