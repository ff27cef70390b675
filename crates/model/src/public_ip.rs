//! Public IP addresses (SSRF guard): distinguishes globally reachable addresses from internal ones by IANA's registries of special-purpose
//! addresses (RFC 6890). An address that is not known to be globally reachable counts as internal.

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
    // Shared by carriers, protocol assignments, relays of 6to4, benchmarking, "this network", reserved.
    let shared = (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        || a == 0
        || a >= 240;
    !special && !shared
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only this part is given out to be reached by anyone (RFC 4291 section 2.4); the local translation of RFC 8215, what is
    // discarded, unique local, link local and multicast are all beyond it.
    let global = (first & 0xe000) == 0x2000;
    // Protocol assignments with Teredo among them, documentation, 6to4, documentation again: nobody serves anything there, and
    // tunnels lead to an address of the older kind that a relay inside would choose.
    let special = (first == 0x2001 && ((second & 0xfe00) == 0 || second == 0x0db8))
        || first == 0x2002
        || (first == 0x3fff && (second & 0xf000) == 0);
    match embedded(address) {
        Some(Embedded::Stands(inner)) => is_public_v4(inner),
        Some(Embedded::Tunnelled(inner)) => global && !special && is_public_v4(inner),
        None => global && !special,
    }
}

/// The address of the older kind inside one of the newer.
enum Embedded {
    /// It is that address: mapped, or translated on the way (RFC 6052).
    Stands(Ipv4Addr),
    /// Where packets for it are carried to (ISATAP, RFC 5214).
    Tunnelled(Ipv4Addr),
}

fn embedded(address: Ipv6Addr) -> Option<Embedded> {
    let part = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Embedded::Stands(part(high, low)))
        }
        [_, _, _, _, 0 | 0x0200, 0x5efe, high, low] => Some(Embedded::Tunnelled(part(high, low))),
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
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "192.0.0.1",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "100:0:0:1::1",
            "2001::1",
            "2001:0:7f00:1:0:0:80ff:fffe",
            "2001:2::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::",
            "3fff::1",
            "5f00::1",
            "2606:2800:220:1:0:5efe:10.0.0.1",
            "2606:2800:220:1:200:5efe:127.0.0.1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(inside.parse().expect("an address")), "{inside}");
        }
        for outside in [
            "93.184.216.34",
            "8.8.8.8",
            "192.0.1.1",
            "2606:2800:220:1:248:1893:25c8:1946",
            "2001:4860:4860::8888",
            "64:ff9b::8.8.8.8",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(outside.parse().expect("an address")), "{outside}");
        }
    }
}
