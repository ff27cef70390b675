//! Free ports.
//!
//! The kernel hands out ports for outgoing connections from 32768 up, so a port below it that is free now is not taken by a
//! neighbour's client a moment later, as one found by binding port 0 would be. Nor is it taken by another test: each holds a
//! lock on the ports that it chose, for as long as its process runs, also while its hub is down.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
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
        if is_ours(port) && TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no free port between {LOWEST} and {}", LOWEST + COUNT);
}

/// Whether this process holds the port against other tests from now on. The locks go with the process.
fn is_ours(port: u16) -> bool {
    static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let folder = std::env::temp_dir().join("interlingua-test-ports");
    let opened = fs::create_dir_all(&folder).and_then(|()| File::create(folder.join(port.to_string())));
    // A folder of another user's cannot be written: then the ports are as safe as a random choice is.
    let Ok(file) = opened else { return true };
    let ours = file.try_lock().is_ok();
    if ours {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }
    ours
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

    #[test]
    fn a_port_that_was_chosen_is_not_chosen_again() {
        let address = free();
        assert!(!is_ours(address.port()), "the first choice holds it");
    }
}
