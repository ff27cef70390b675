//! SSRF guard for the hub's own listeners: the hub sends no request to its own listening addresses unless configuration allows it.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use arc_swap::ArcSwap;

/// The listening addresses of this hub.
#[derive(Debug, Clone, Default)]
pub struct Listeners(Arc<ArcSwap<Vec<SocketAddr>>>);

impl Listeners {
    /// Adds an address on which the hub listens.
    pub fn add(&self, address: SocketAddr) {
        self.0.rcu(|known| known.iter().copied().chain([address]).collect::<Vec<_>>());
    }

    /// Would a connection to this address reach this hub?
    pub fn include(&self, address: SocketAddr) -> bool {
        self.0.load().iter().any(|listener| leads_to(*listener, address))
    }
}

fn leads_to(listener: SocketAddr, address: SocketAddr) -> bool {
    let (ours, theirs) = (listener.ip().to_canonical(), address.ip().to_canonical());
    // No address at all means this machine to whoever connects; to whoever listens it means all that the machine has.
    let reaches =
        || ours == theirs || theirs.is_unspecified() || (ours.is_unspecified() && is_of_this_machine(address));
    listener.port() == address.port() && reaches()
}

/// Only an address of this machine can be listened on. Checked only for addresses with a port of the hub's own.
fn is_of_this_machine(mut address: SocketAddr) -> bool {
    let canonical = address.ip().to_canonical();
    if canonical != address.ip() {
        address.set_ip(canonical);
    }
    address.set_port(0);
    canonical.is_loopback() || UdpSocket::bind(address).is_ok()
}
