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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_21_addresses_inside_are_known_in_every_spelling() {
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.1",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "::127.0.0.1",
        ] {
            assert!(!is_public(inside.parse().expect("an address")), "{inside}");
        }
        for outside in ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"] {
            assert!(is_public(outside.parse().expect("an address")), "{outside}");
        }
    }
}
