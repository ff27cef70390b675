//! Which addresses anyone can reach, and which only those inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reachable by anyone, as far as its number says.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation();
    // Shared by carriers, protocol assignments, benchmarking, "this network", reserved.
    let shared = (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b))
        || a == 0
        || a >= 240;
    !special && !shared
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(address) {
        return is_public_v4(inner);
    }
    let first = address.segments()[0];
    let special = address.is_loopback() || address.is_unspecified() || address.is_multicast();
    // Unique local, link local, site local, documentation.
    let local = (first & 0xfe00) == 0xfc00 || (first & 0xffc0) == 0xfe80 || (first & 0xffc0) == 0xfec0;
    let documentation = first == 0x2001 && address.segments()[1] == 0x0db8;
    !(special || local || documentation)
}

/// The address of the older kind that one of the newer stands for: mapped, compatible, translated or tunnelled.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let part = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(part(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(part(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(part(high, low)),
        [0x2002, high, low, ..] => Some(part(high, low)),
        _ => None,
    }
}
