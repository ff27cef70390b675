//! Failover between several skills of one capability: the first choice, and another one if nothing was begun there.
//!
//! Each candidate passes through all phases. If one needs approval, the approver is asked; the journal names that skill, so the approved
//! call goes to exactly that skill, also after a restart.

use std::collections::VecDeque;

use interlingua_machines::task::{Effect, Happening, Task};
use interlingua_model::{Digest, Fault, FaultKind, QuestionKind, Retry, Selected, SkillId, Why};

use super::{Candidate, Driver, Hub, Prepared};

impl Driver {
    /// Is there another of the same capability, and is it certain that nothing was begun at this peer? One that answered,
    /// be it that it is busy, may have begun whatever it says.
    pub(super) fn may_go_elsewhere(&self, fault: &Fault) -> bool {
        let unsent = fault.kind == FaultKind::Unreachable && matches!(fault.retry, Retry::After(_));
        let unsent = unsent && self.task.is_only_dispatched() && self.task.cancelling.is_none();
        unsent && self.ready.as_ref().is_some_and(|ready| !ready.others.is_empty())
    }

    /// Nothing was begun at the peer: the call goes to the next.
    pub(super) async fn elsewhere(&mut self, fault: Fault) -> Result<VecDeque<Effect>, Fault> {
        let others = self.ready.take().map(|ready| ready.others).unwrap_or_default();
        self.try_next(others, fault).await
    }

    /// The question about the selected skill is answered. Another that takes its place was not asked about, so a first choice
    /// that is refused now ends the call; after a failover the next one has its turn.
    pub(super) async fn go_on_with(&mut self, selected: Selected) -> Result<VecDeque<Effect>, Fault> {
        let Selected { skill, others, fault, .. } = selected;
        let why = if fault.is_some() { Why::Failover } else { Why::BestClass };
        let candidate = Candidate { skill, others };
        match (prepared(&self.hub, &self.task, &candidate, why, self.task.granted).await, fault) {
            (Ok(prepared), _) => self.begin_again(as_selected(prepared)).await,
            (Err(refused), None) => self.decided(Happening::Refused(refused)).await,
            (Err(refused), Some(fault)) => {
                skipped(&candidate.skill, &refused.to_string());
                self.try_next(candidate.others, fault).await
            }
        }
    }

    /// The best of these that may be called, or asked about, as the call stands. Where there is none it ends by what became of
    /// it at the first.
    async fn try_next(&mut self, mut others: Vec<SkillId>, fault: Fault) -> Result<VecDeque<Effect>, Fault> {
        while let Some(skill) = others.pop() {
            let candidate = Candidate { skill, others: others.clone() };
            match prepared(&self.hub, &self.task, &candidate, Why::Failover, None).await {
                Ok(prepared) if lacks_input(&prepared) => skipped(&candidate.skill, "an argument is missing"),
                Ok(prepared) => {
                    let Candidate { skill, others } = candidate;
                    self.decide(Happening::Select { skill, others, fault: Some(fault) })?;
                    return self.begin_again(as_selected(prepared)).await;
                }
                Err(refused) => skipped(&candidate.skill, &refused.to_string()),
            }
        }
        self.decided(Happening::Refused(fault)).await
    }
}

async fn prepared(
    hub: &Hub,
    Task { by, call, id, .. }: &Task,
    candidate: &Candidate,
    why: Why,
    granted: Option<Digest>,
) -> Result<Prepared, Fault> {
    hub.prepare_candidate(by, call, *id, (candidate, why), granted).await
}

/// The selection is written already.
fn as_selected(prepared: Prepared) -> Prepared {
    match prepared {
        Prepared::Ask(asking, _) => Prepared::Ask(asking, None),
        ready @ Prepared::Ready(_) => ready,
    }
}

/// What the caller gave for the first skill is not enough for this one.
fn lacks_input(prepared: &Prepared) -> bool {
    match prepared {
        Prepared::Ask(asking, _) => !matches!(asking.kind, QuestionKind::Confirm(_)),
        Prepared::Ready(_) => false,
    }
}

fn skipped(skill: &SkillId, why: &str) {
    tracing::info!(event = "failover_skipped", skill = %skill, reason = why, "the alternative skill is not called");
}
