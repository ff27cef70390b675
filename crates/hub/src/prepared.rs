//! Result of preparing a call: a call that may be dispatched, or a question that must be answered first.

use std::sync::Arc;

use interlingua_machines::task::Asking;
use interlingua_model::peer::Peer;
use interlingua_model::{Call, Fault, FaultKind, Input, Json, Noun, PeerId, Route, Skill, SkillId, Why};

use super::limits::RunningSlot;
use super::registry::Catalogue;

/// What the phases lead to.
#[derive(Debug)]
pub(super) enum Prepared {
    Ready(Ready),
    /// A question; where it is about one of several skills that the call could go to, which.
    Ask(Asking, Option<Candidate>),
}

/// One of several skills of a capability.
#[derive(Debug)]
pub(super) struct Candidate {
    pub skill: SkillId,
    /// What to try when nothing can be begun at this one, the best last.
    pub others: Vec<SkillId>,
}

/// A call that may go to its peer.
pub(super) struct Ready {
    pub skill: Arc<Skill>,
    pub peer: Arc<dyn Peer>,
    pub route: Route,
    pub args: Option<Json>,
    /// What to try when nothing could be begun at this one, the best last. Each goes through all phases of its own.
    pub others: Vec<SkillId>,
    /// That it counts as running.
    pub held: Vec<RunningSlot>,
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ready").field("route", &self.route).field("args", &self.args).finish_non_exhaustive()
    }
}

/// Caller or skill asks for it, or the caller named it and running it twice would matter.
pub(super) fn must_keep(call: &Call, prepared: &Prepared) -> bool {
    let Prepared::Ready(ready) = prepared else { return true };
    let twice_matters = call.id_given && !ready.skill.effects.idempotent;
    call.limits.keep || ready.skill.always_kept || twice_matters
}

/// Does this peer have the hub find the tool that words mean?
pub(super) fn leaves_words(catalogue: &Catalogue, peer: &PeerId, input: &Input) -> bool {
    catalogue.peers.get(peer).is_some_and(|registered| registered.peer.leaves_words(input))
}

pub(super) fn ready(catalogue: &Catalogue, skill: &Arc<Skill>, why: Why, args: Option<Json>) -> Option<Ready> {
    let registered = catalogue.peers.get(&skill.id.peer)?;
    let class = registered.card.class;
    let route = Route { skill: skill.id.clone(), version: Some(skill.version.clone()), class, why, args: None };
    Some(Ready {
        skill: skill.clone(),
        peer: registered.peer.clone(),
        route,
        args,
        others: Vec::new(),
        held: Vec::new(),
    })
}

pub(super) fn no_such_skill(id: &SkillId) -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Skill), format!("no skill '{id}'"))
}
