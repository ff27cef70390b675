//! Why a skill that was named is not there: nobody offers it, or its peer is down and has not said what it offers.

use interlingua_core::{Fault, FaultKind, Health, Party, Principal, Retry, SkillId};

use super::Hub;
use super::policy::Action;
use super::prepare::no_such_skill;
use super::registry::{Catalogue, Registered};

impl Hub {
    /// To a caller who does not see the peer there is no such skill; why the peer is down is told to the Owner, as its problems are.
    pub(super) fn absent(&self, by: &Principal, catalogue: &Catalogue, id: &SkillId) -> Fault {
        let peer = catalogue.peers.get(&id.peer).filter(|peer| self.sees(by, peer));
        let Some(peer) = peer.filter(|_| catalogue.skill(id, None).is_none()) else { return no_such_skill(id) };
        let state = match peer.card.health {
            Health::Up | Health::Slow => return no_such_skill(id),
            Health::Starting => "is starting, and has not said yet what it offers",
            Health::Down { .. } => "is down",
        };
        let why = peer.problems.first().filter(|_| by.is_hub_owner());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let fault =
            Fault::new(FaultKind::Unreachable, Party::Peer(id.peer.clone()), format!("{} {state}{why}", id.peer));
        fault.retry(Retry::After(None))
    }

    fn sees(&self, by: &Principal, peer: &Registered) -> bool {
        let (policy, now) = (self.policy.load(), self.now());
        by.is_hub_owner() || peer.card.skills.iter().any(|skill| policy.allows(by, Action::List, skill, now))
    }
}
