//! What somebody may know of: a device or another peer is there for whoever may see something of what it offers, and for
//! nobody else.

use interlingua_core::{PeerId, Principal, Proof};

use crate::hub::Hub;
use crate::hub::policy::Action;

/// May they know of this peer?
pub(super) fn sees(hub: &Hub, by: &Principal, peer: &PeerId) -> bool {
    if by.is_hub_owner() {
        return true;
    }
    let (catalogue, policy, now) = (hub.registry.catalogue(), hub.policy.load(), hub.now());
    let card = catalogue.peers.get(peer).map(|registered| &registered.card);
    card.is_some_and(|card| card.skills.iter().any(|skill| policy.allows(by, Action::List, skill, now)))
}

/// Is what belongs to the one the other's to know of? Whoever shares a key shares what was asked with it.
pub(super) fn shares(by: &Principal, of: &Principal) -> bool {
    let keyed = |it: &Principal| it.links().iter().all(|link| link.proof == Proof::Key);
    by.is_hub_owner() || by.owner() == of.owner() || (keyed(by) && keyed(of))
}
