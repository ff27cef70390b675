//! Validation of peers: addresses, programs, credentials that would be sent unencrypted.

use super::{Kind, Peer};
use interlingua_settings::Found;

pub(super) fn peer(name: &str, peer: &Peer, found: &mut Found) {
    let path = format!("peers.{name}");
    // Only some peers name others' addresses.
    let names_addresses = peer.speaks.protocol().is_some_and(|section| section.names_addresses());
    peer.check_origins(&path, names_addresses, found);
    peer.check_skills(&path, found);
    match peer.speaks.kind() {
        Kind::Protocol(key, section) => section.check(&format!("{path}.{key}"), found),
        // Its definition is read, and checked, with the configuration.
        Kind::Site(_) => {}
    }
}
