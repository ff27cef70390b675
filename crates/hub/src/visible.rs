//! Visibility filter: the skills that one caller may see and call. A skill that may not be called is not listed, and an unlisted skill is
//! treated as not found. Every list, search and card of every protocol is made from this view, so the decision is made in one place.

use std::sync::Arc;

use interlingua_model::{Health, PeerId, Principal, Skill, SkillId, Time, Version};

use super::Hub;
use super::policy::{Action, Policy};
use super::registry::{Catalogue, Registered};

/// The catalogue as this caller may see it, at one moment.
#[derive(Debug)]
pub struct Visible<'a> {
    by: &'a Principal,
    catalogue: Arc<Catalogue>,
    policy: Arc<Policy>,
    now: Time,
}

impl Hub {
    /// The health of a peer that is visible to the caller.
    pub fn health_of(&self, peer: &PeerId) -> Option<Health> {
        self.registry.catalogue().peers.get(peer).map(|registered| registered.card.health)
    }

    /// What this caller may see and call now.
    pub fn visible<'a>(&self, by: &'a Principal) -> Visible<'a> {
        Visible { by, catalogue: self.registry.catalogue(), policy: self.policy.load_full(), now: self.now() }
    }
}

impl Visible<'_> {
    /// May this caller see this skill?
    pub fn lists(&self, skill: &Skill) -> bool {
        self.policy.allows(self.by, Action::List, skill, self.now)
    }

    /// May this caller call it, as far as that is known without its arguments?
    pub fn calls(&self, skill: &Skill) -> bool {
        self.policy.allows(self.by, Action::Call, skill, self.now)
    }

    /// The newest version of every visible skill, in order of name.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.catalogue.newest().filter(|skill| self.lists(skill))
    }

    /// The same of one peer, or of all.
    pub fn skills_of(&self, peer: Option<&PeerId>) -> impl Iterator<Item = &Arc<Skill>> {
        let one = peer.map(|peer| self.catalogue.newest_of(peer)).into_iter().flatten();
        let all = peer.is_none().then(|| self.catalogue.newest()).into_iter().flatten();
        one.chain(all).filter(|skill| self.lists(skill))
    }

    /// The newest version of every callable skill.
    pub fn callable(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.catalogue.newest().filter(|skill| self.calls(skill))
    }

    /// A callable skill, in this version or the newest.
    pub fn skill(&self, id: &SkillId, version: Option<&Version>) -> Option<&Arc<Skill>> {
        self.catalogue.skill(id, version).filter(|skill| self.calls(skill))
    }

    /// Is the peer visible: may the caller see one of its skills or resources?
    pub fn has_peer(&self, peer: &PeerId) -> bool {
        self.peer(peer).is_some()
    }

    /// A visible peer.
    pub fn peer(&self, peer: &PeerId) -> Option<&Registered> {
        let registered = self.catalogue.peers.get(peer)?;
        registered.card.skills.iter().any(|skill| self.lists(skill)).then_some(registered)
    }

    /// The peers with a callable skill.
    pub fn callable_peers(&self) -> impl Iterator<Item = &Registered> {
        let callable = |peer: &&Registered| peer.card.skills.iter().any(|skill| self.calls(skill));
        self.catalogue.peers.values().filter(callable)
    }

    /// All peers in order of name, also those without a visible skill: the code that lists them decides whether to show those.
    pub fn peers(&self) -> impl Iterator<Item = &Registered> {
        self.catalogue.peers.values()
    }

    /// The newest versions of a peer's skills, in the order of its card: all of them for a caller that speaks for the peer, the visible
    /// ones for others.
    pub fn offered_by(&self, peer: &Registered, speaks_for_it: bool) -> Vec<Arc<Skill>> {
        let newest = peer.card.skills.iter().filter_map(|skill| self.catalogue.skill(&skill.id, None));
        let mut skills: Vec<Arc<Skill>> = newest.filter(|skill| speaks_for_it || self.lists(skill)).cloned().collect();
        skills.dedup_by(|a, b| a.id == b.id);
        skills
    }
}
