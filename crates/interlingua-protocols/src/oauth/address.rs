//! Addresses that others name: which may be asked at all, and where the documents about a server are.
//!
//! Only `https`, except between programs of one machine: a server that is itself reached by plain `http` on loopback may name
//! an authorization server there. Whether a name leads to an address inside a network is judged where it is resolved.

use std::net::IpAddr;

/// A longer one is nobody's.
const LONGEST: usize = 2_048;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// An absolute `http` or `https` address without a fragment or a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address<'a> {
    scheme: &'a str,
    authority: &'a str,
    /// Empty, or begins with a slash.
    path: &'a str,
}

impl<'a> Address<'a> {
    pub fn parse(text: &'a str) -> Option<Address<'a>> {
        let (scheme, rest) = text.split_once("://")?;
        let known = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        let plain = text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !known || !plain || rest.contains(['#', '@', '\\']) {
            return None;
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let path = rest.split('?').next().unwrap_or_default();
        let address = Address { scheme, authority, path };
        (!address.host().is_empty()).then_some(address)
    }

    fn host(&self) -> &'a str {
        match self.authority.rfind(':') {
            Some(at) if !self.authority.ends_with(']') => &self.authority[..at],
            _ => self.authority,
        }
    }

    fn is_https(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn origin(&self) -> String {
        format!("{}://{}", self.scheme.to_ascii_lowercase(), self.authority)
    }

    fn same_origin(&self, other: &Address<'_>) -> bool {
        self.scheme.eq_ignore_ascii_case(other.scheme) && self.authority.eq_ignore_ascii_case(other.authority)
    }

    /// The path without slashes at its end.
    fn bare_path(&self) -> &'a str {
        self.path.trim_end_matches('/')
    }
}

/// May an address be asked that was named on behalf of `server`?
pub fn is_safe(given: &str, server: &str) -> bool {
    let (Some(given), Some(server)) = (Address::parse(given), Address::parse(server)) else { return false };
    given.is_https() || (given.is_loopback() && !server.is_https() && server.is_loopback())
}

/// Where a server's metadata may be, best first: at the two well-known places (RFC 9728 section 3.1). Whether an address that its
/// challenge names is its own is for whoever knows its configuration.
pub fn resource_metadata(server: &str) -> Vec<String> {
    let Some(own) = Address::parse(server) else { return Vec::new() };
    let root = format!("{}{RESOURCE}", own.origin());
    match own.bare_path() {
        "" => vec![root],
        path => vec![format!("{root}{path}"), root],
    }
}

/// Where an authorization server's metadata may be: RFC 8414 with the path inserted, OpenID Connect the same way, OpenID Connect
/// with the path before it. In that order.
pub fn server_metadata(issuer: &str) -> Vec<String> {
    let Some(address) = Address::parse(issuer) else { return Vec::new() };
    let origin = address.origin();
    match address.bare_path() {
        "" => vec![format!("{origin}{SERVER}"), format!("{origin}{OPENID}")],
        path => vec![
            format!("{origin}{SERVER}{path}"),
            format!("{origin}{OPENID}{path}"),
            format!("{origin}{path}{OPENID}"),
        ],
    }
}

/// The origin of an address: where a server of 2025-03-26, which has no metadata of its own, keeps its authorization server.
pub fn origin(address: &str) -> Option<String> {
    Address::parse(address).map(|address| address.origin())
}

/// Is `server` the resource that is named, or a part of it?
pub fn covers(resource: &str, server: &str) -> bool {
    let (Some(resource), Some(server)) = (Address::parse(resource), Address::parse(server)) else { return false };
    let within = server.bare_path().strip_prefix(resource.bare_path());
    resource.same_origin(&server) && within.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
