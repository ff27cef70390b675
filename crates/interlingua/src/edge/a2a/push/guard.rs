//! Webhook addresses are chosen by callers: the hub must not be sent to what only it can reach (section 13.2).
//!
//! An address is judged when it is resolved for a connection, every time, so a name that changes its mind gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use interlingua_core::{Fault, FaultKind};

/// Whether addresses inside may be told: for tests, and where webhooks live beside the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    Refused,
    Allowed,
}

impl Private {
    pub(super) fn admits(self, address: IpAddr) -> bool {
        self == Private::Allowed || is_public(address)
    }
}

/// An http or https address with a host that is not inside by its very name.
pub(super) fn check_url(url: &str, private: Private) -> Result<Uri, Fault> {
    let refused = |text: &str| {
        let fault = Fault::caller(FaultKind::InvalidInput, format!("the webhook's address {text}"));
        fault.field("url", text)
    };
    let uri: Uri = url.parse().map_err(|_| refused("is not a URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(refused("must begin with http:// or https://"));
    }
    let authority = uri.authority().ok_or_else(|| refused("has no host"))?;
    if authority.as_str().contains('@') {
        return Err(refused("must not hold a credential"));
    }
    let host = authority.host().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let inside = host == "localhost" || host.ends_with(".localhost") || host.is_empty();
    let literal = host.parse::<IpAddr>().ok();
    if private == Private::Refused && (inside || literal.is_some_and(|address| !is_public(address))) {
        return Err(refused("is one this hub does not call"));
    }
    Ok(uri)
}

/// Reachable by anyone, as far as its number says.
pub(super) fn is_public(address: IpAddr) -> bool {
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

    #[test]
    fn a_21_urls_that_lead_inside_are_refused_unless_that_is_allowed() {
        for url in [
            "http://localhost/x",
            "http://LOCALHOST./x",
            "https://a.localhost/",
            "http://127.0.0.1:9/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest",
            "http://10.0.0.1/",
        ] {
            assert!(check_url(url, Private::Refused).is_err(), "{url}");
            assert!(check_url(url, Private::Allowed).is_ok(), "{url}");
        }
        for url in ["ftp://example.com/", "/x", "http://", "https://user:pass@example.com/", "not a url"] {
            assert!(check_url(url, Private::Allowed).is_err(), "{url}");
        }
        assert!(check_url("https://example.com/hook?x=1", Private::Refused).is_ok());
    }
}
