//! Rate limit of failed sign-ins, by the network address they come from.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use interlingua_model::{Fault, FaultKind, Retry, Time};

const MOST: u32 = 5;
const PER: Duration = Duration::from_secs(60);
/// Addresses that are remembered; the one whose minute began first is forgotten for another.
const ADDRESSES: usize = 4096;

/// Failures in the minute that began with the first of them.
#[derive(Debug, Default)]
pub(super) struct Attempts(HashMap<IpAddr, (u32, Time)>);

impl Attempts {
    /// Refuses one more attempt of an address that has failed too often.
    pub(super) fn check(&self, from: Option<IpAddr>, now: Time) -> Result<(), Fault> {
        let Some((count, begun)) = from.and_then(|from| self.0.get(&network(from))) else { return Ok(()) };
        let over = begun.after(PER);
        if *count < MOST || now >= over {
            return Ok(());
        }
        let text = "too many failed sign-ins from this address: try again in a minute";
        Err(Fault::caller(FaultKind::Busy, text).retry(Retry::After(Some(over.until(now)))))
    }

    pub(super) fn failed(&mut self, from: Option<IpAddr>, now: Time) {
        let Some(from) = from.map(network) else { return };
        let (count, begun) = self.0.get(&from).copied().filter(|(_, begun)| now < begun.after(PER)).unwrap_or((0, now));
        if self.0.len() >= ADDRESSES && !self.0.contains_key(&from) {
            self.0.retain(|_, (_, begun)| now < begun.after(PER));
            let oldest = self.0.iter().min_by_key(|(_, (_, begun))| *begun).map(|(address, _)| *address);
            if let (true, Some(oldest)) = (self.0.len() >= ADDRESSES, oldest) {
                self.0.remove(&oldest);
            }
        }
        self.0.insert(from, (count + 1, begun));
    }
}

/// A machine has a whole /64 of version 6 for itself.
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
    fn attack_a_flood_of_sign_ins_is_slowed_down_for_its_address_alone() {
        let mut attempts = Attempts::default();
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        for _ in 0..MOST {
            attempts.check(Some(one), Time(1000)).expect("not yet");
            attempts.failed(Some(one), Time(1000));
        }
        assert_eq!(attempts.check(Some(one), Time(60_999)).expect_err("too many").kind, FaultKind::Busy);
        attempts.check(Some(other), Time(1000)).expect("another address");
        attempts.check(Some(one), Time(61_000)).expect("a minute later");
        for address in 0..20_000u32 {
            attempts.failed(Some(std::net::Ipv4Addr::from_bits(address).into()), Time(62_000));
        }
        assert!(attempts.0.len() <= ADDRESSES);
    }
}
