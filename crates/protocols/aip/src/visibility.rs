//! Visibility filter: a caller sees a device or another peer only if it may see something of what it offers.

use interlingua_model::{PeerId, Principal, Proof};

use interlingua_hub::Hub;

/// May they know of this peer?
pub(super) fn sees(hub: &Hub, by: &Principal, peer: &PeerId) -> bool {
    by.is_hub_owner() || hub.visible(by).has_peer(peer)
}

/// Is what belongs to the one the other's to know of? Whoever shares a key shares what was asked with it.
pub(super) fn shares(by: &Principal, of: &Principal) -> bool {
    let keyed = |it: &Principal| it.links().iter().all(|link| link.proof == Proof::Key);
    by.is_hub_owner() || by.owner() == of.owner() || (keyed(by) && keyed(of))
}
