//! Re-authorization of running calls when the rules are replaced. A caller that waits for an exchange, or follows one, receives nothing
//! more of what the new rules forbid: a stream, a pending message on a socket and a plain wait all end with the same fault, which each
//! protocol encodes like any other. Calls that the rules still allow are not disturbed.
//!
//! The decision is the same as on entry, over the call as it was sent. This module does not decide what happens to the exchange: it is
//! treated as if its caller had disconnected.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use interlingua_machines::task::Task;
use interlingua_model::{Ask, Fault, FaultKind, Json, Noun, Principal, QuestionKind, Skill, Target, TaskId};
use tokio::sync::watch;

use super::Hub;
use super::audit::AuditLine;
use super::policy::Policy;
use super::prepared::Ready;

/// The rules in force, and word of every other set of them.
#[derive(Debug, Default)]
pub(crate) struct PolicyInForce {
    policy: ArcSwap<Policy>,
    replaced: watch::Sender<()>,
}

impl PolicyInForce {
    pub(crate) fn load(&self) -> Guard<Arc<Policy>> {
        self.policy.load()
    }

    pub(crate) fn load_full(&self) -> Arc<Policy> {
        self.policy.load_full()
    }

    /// New or revoked credentials change the policy, but no rule: their holders are checked elsewhere.
    pub(crate) fn store(&self, policy: Arc<Policy>) {
        let rules = policy.rules();
        if self.policy.swap(policy).rules() != rules {
            self.replaced.send_replace(());
        }
    }
}

/// Re-authorizes one reader of an exchange when the rules are replaced.
#[derive(Debug)]
pub struct Reauthorization {
    hub: Arc<Hub>,
    by: Principal,
    replaced: watch::Receiver<()>,
    lost: bool,
}

impl Reauthorization {
    /// Made before the rules are evaluated the first time, so that no replacement is missed.
    pub fn new(hub: &Arc<Hub>, by: &Principal) -> Reauthorization {
        Reauthorization { hub: hub.clone(), by: by.clone(), replaced: hub.policy.replaced.subscribe(), lost: false }
    }

    /// Must it be asked about again?
    pub(super) fn is_due(&self) -> bool {
        self.lost || self.replaced.has_changed().unwrap_or(false)
    }

    /// Resolves when it must. Cancel safe, and asks nothing: it stays due until it is settled.
    pub(super) async fn due(&mut self) {
        if self.lost {
            return;
        }
        match self.replaced.changed().await {
            Ok(()) => self.replaced.mark_changed(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Asks the rules there are now.
    pub(super) fn settle(&mut self, task: &Task) -> Result<(), Fault> {
        self.replaced.mark_unchanged();
        // What is over tells nothing new.
        self.lost |= task.finished().is_none() && !self.hub.still_allows(&self.by, task);
        if self.lost { Err(not_any_more()) } else { Ok(()) }
    }

    /// As [`Reauthorization::settle`], for a stored exchange; `folded` is its state, if that is known.
    pub(super) async fn settle_kept(&mut self, task: TaskId, folded: Option<Task>) -> Result<(), Fault> {
        let folded = match folded {
            Some(folded) => Ok(folded),
            None => self.hub.fold(task).await,
        };
        match folded {
            Ok(folded) => self.settle(&folded),
            // It is being written, or was forgotten: there is nothing to hear of it either way.
            Err(fault) if fault.kind == FaultKind::NotFound(Noun::Task) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Resolves when the permission is lost, with the reason. Cancel safe.
    pub async fn lost(&mut self, task: TaskId) -> Fault {
        loop {
            self.due().await;
            let folded = self.hub.live.get(task).and_then(|live| live.folded());
            if let Err(fault) = self.settle_kept(task, folded).await {
                return fault;
            }
        }
    }
}

fn not_any_more() -> Fault {
    Fault::caller(FaultKind::Denied, "the rules do not allow this any more")
}

/// As [`Reauthorization::due`]; never, if there is no claim.
pub(super) async fn due(claim: &mut Option<Reauthorization>) {
    match claim {
        Some(claim) => claim.due().await,
        None => std::future::pending().await,
    }
}

impl Hub {
    /// Do the rules still allow this principal a call that was begun? A call pending approval is the one that was shown; one that waits for
    /// arguments is checked when it has them.
    pub fn still_allows(&self, by: &Principal, task: &Task) -> bool {
        self.begun(task).is_none_or(|(skill, args)| self.permits(by, task, &skill, args.as_ref()))
    }

    /// The same of a call that has waited for its place at the peer and is about to be sent.
    pub(super) fn allows_now(&self, task: &Task, ready: &Ready) -> Result<(), Fault> {
        if self.permits(&task.by, task, &ready.skill, ready.args.as_ref()) { Ok(()) } else { Err(not_any_more()) }
    }

    fn permits(&self, by: &Principal, task: &Task, skill: &Skill, args: Option<&Json>) -> bool {
        let by = super::prepare::acting(by, &task.call);
        let allowed = self.policy.load().judge(&by, &task.call, skill, args, self.now()).allows();
        if !allowed {
            let line = AuditLine::new("authorize", by.owner()).on(&skill.id).task(task.id).call(&task.call);
            self.audit.write(line.refused(FaultKind::Denied));
        }
        allowed
    }

    /// What was sent, or is about to be: what an approver was shown, or what the call names and waits for a place at its peer with.
    fn begun(&self, task: &Task) -> Option<(Arc<Skill>, Option<Json>)> {
        if let Ok(ready) = self.ready_again(task) {
            return Some((ready.skill, ready.args));
        }
        let shown = task.open.values().find_map(|question| match &question.kind {
            QuestionKind::Confirm(confirm) => Some(confirm),
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => None,
        });
        let catalogue = self.registry.catalogue();
        match (shown, &task.call.ask) {
            (Some(shown), _) => Some((catalogue.skill(&shown.skill, None)?.clone(), shown.args.clone())),
            (None, Ask::Invoke { target: Target::Skill(skill, version), input }) if task.open.is_empty() => {
                Some((catalogue.skill(skill, version.as_ref())?.clone(), input.args.clone()))
            }
            (None, _) => None,
        }
    }
}
