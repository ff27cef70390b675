//! What types cannot say of the peers a hub calls: addresses, programs, credentials that would travel in the open.

use super::{Peer, Speaks};
use interlingua_settings::Found;

pub(super) fn peer(name: &str, peer: &Peer, found: &mut Found) {
    let path = format!("peers.{name}");
    peer.check_origins(&path, names_addresses(&peer.speaks), found);
    peer.check_skills(&path, found);
    match &peer.speaks {
        Speaks::Nlip(nlip) => nlip.check(&format!("{path}.nlip"), found),
        Speaks::Mcp(mcp) => mcp.check(&format!("{path}.mcp"), found),
        Speaks::Aip(aip) => aip.check(&format!("{path}.aip"), found),
        Speaks::Nlweb(nlweb) => nlweb.check(&format!("{path}.nlweb"), found),
        // Its definition is read, and checked, with the configuration.
        Speaks::Site(_) => {}
        Speaks::A2a(a2a) => a2a.check(&format!("{path}.a2a"), found),
    }
}

/// Only some peers name others' addresses.
fn names_addresses(speaks: &Speaks) -> bool {
    match speaks {
        Speaks::Nlip(_) | Speaks::A2a(_) | Speaks::Nlweb(_) => true,
        Speaks::Mcp(mcp) => mcp.url.is_some(),
        Speaks::Aip(_) | Speaks::Site(_) => false,
    }
}
