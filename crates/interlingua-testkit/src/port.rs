//! Ports nobody listens on.
//!
//! The kernel hands out ports for outgoing connections from 32768 up, so a port below it that is free now is not taken by a
//! neighbour's client a moment later, as one found by binding port 0 would be.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process,
    sync::atomic::{AtomicU32, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

const LOWEST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// A loopback address whose port was free a moment ago.
pub fn free() -> SocketAddr {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    for _ in 0..1_000 {
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let mixed = (process::id() ^ clock).wrapping_mul(2_654_435_761).wrapping_add(turn.wrapping_mul(40_503));
        let port = u16::try_from(LOWEST + (mixed >> 8) % COUNT).expect("the range ends below 65536");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no free port between {LOWEST} and {}", LOWEST + COUNT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_bound_and_is_below_the_ephemeral_range() {
        let address = free();
        assert!(TcpListener::bind(address).is_ok());
        assert!(address.port() < 32_768);
    }
}
