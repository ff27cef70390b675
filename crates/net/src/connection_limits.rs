//! Connection limits: a total, and a limit for one address, so that no client takes all connections.
//!
//! When the total is reached, further connections wait in the system's accept queue and are taken in their order. An address at its own
//! limit is refused at once, because it would only wait for itself. An IPv6 address counts as its network of 64 bits, because one machine
//! may own all of it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    all: Arc<Semaphore>,
    /// From one address.
    each: u32,
    /// Those that have some. Bounded by the connections there are.
    from: Arc<Mutex<HashMap<IpAddr, u32>>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
    _seat: Option<Seat>,
}

/// One of an address's places, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    from: Arc<Mutex<HashMap<IpAddr, u32>>>,
    address: IpAddr,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = from.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                from.remove(&self.address);
            }
        }
    }
}

impl ConnectionLimits {
    pub fn new(all: u32, each: u32) -> ConnectionLimits {
        let most = usize::try_from(all).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        ConnectionLimits { all: Arc::new(Semaphore::new(most)), each, from: Arc::default() }
    }

    /// A place, once there is one; `None` when the hub is closing. `seat`: which of its address's it is.
    pub(super) async fn take(&self, seat: Option<Seat>) -> Option<Place> {
        let permit = self.all.clone().acquire_owned().await.ok()?;
        Some(Place { _permit: permit, _seat: seat })
    }

    /// A place at once or none: one of its address's, where that is known.
    pub fn try_take(&self, address: Option<IpAddr>) -> Option<Place> {
        let seat = match address {
            Some(address) => Some(self.seat(address)?),
            None => None,
        };
        let permit = self.all.clone().try_acquire_owned().ok()?;
        Some(Place { _permit: permit, _seat: seat })
    }

    /// One more from this address, unless it has as many as it may.
    pub(super) fn seat(&self, address: IpAddr) -> Option<Seat> {
        let address = network(address);
        let mut from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        let count = from.get(&address).copied().unwrap_or(0);
        if count >= self.each {
            return None;
        }
        from.insert(address, count + 1);
        drop(from);
        Some(Seat { from: self.from.clone(), address })
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_gives_them_back() {
        let places = ConnectionLimits::new(9, 2);
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let held = [places.seat(address("192.0.2.1")), places.seat(address("::ffff:192.0.2.1"))];
        assert!(held.iter().all(Option::is_some));
        assert!(places.seat(address("192.0.2.1")).is_none());
        assert!(places.seat(address("192.0.2.2")).is_some(), "another has its own");
        let [first, _second] = held;
        drop(first);
        assert!(places.seat(address("192.0.2.1")).is_some());
        let network: Vec<_> = ["2001:db8::1", "2001:db8::2"].map(|text| places.seat(address(text))).into();
        assert!(network.iter().all(Option::is_some));
        assert!(places.seat(address("2001:db8::ffff:3")).is_none(), "one network is one address");
        assert!(places.seat(address("2001:db8:0:1::1")).is_some());
        drop(network);
        assert!(places.from.lock().expect("unharmed").len() == 1, "nothing is remembered of who has left");
    }
}
