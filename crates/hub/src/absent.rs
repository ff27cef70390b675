//! Not-found errors: a named skill is missing because no peer offers it, or because its peer is down and has never listed its skills.

use interlingua_model::{Fault, FaultKind, Health, Party, Principal, Retry, SkillId};

use super::Hub;
use super::prepared::no_such_skill;
use super::registry::Catalogue;

impl Hub {
    /// A peer without skills is seen by the Owner alone, and so is why it has none. To everybody else there is no such skill.
    pub(super) fn absent(&self, by: &Principal, catalogue: &Catalogue, id: &SkillId) -> Fault {
        let peer = catalogue.peers.get(&id.peer).filter(|peer| by.is_hub_owner() && peer.card.skills.is_empty());
        let Some(peer) = peer else { return no_such_skill(id) };
        let state = match peer.card.health {
            Health::Up | Health::Slow => return no_such_skill(id),
            Health::Starting => "is starting, and has not said yet what it offers",
            Health::Down { .. } => "is down",
        };
        let why = peer.problems.first().map(|why| format!(": {why}")).unwrap_or_default();
        let text = format!("{} {state}{why}", id.peer);
        Fault::new(FaultKind::Unreachable, Party::Peer(id.peer.clone()), text).retry(Retry::After(None))
    }
}
