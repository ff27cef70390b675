//! Addresses in OAuth documents: which may be requested, and where the metadata of a server is.
//!
//! Only `https`, except between programs of one machine: a server that is itself reached by plain `http` on loopback may name
//! an authorization server there. Whether a name leads to an address inside a network is judged where it is resolved.

use interlingua_model::address;
use interlingua_model::address::{Origin, Written};

/// A longer one is nobody's.
const LONGEST: usize = 2_048;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// An absolute `http` or `https` address without a fragment or a credential. Whom it speaks to is read where all addresses are;
/// what is sent is made of what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address<'a> {
    speaks_to: Origin,
    written: Written<'a>,
    /// Empty, or begins with a slash.
    path: &'a str,
}

impl<'a> Address<'a> {
    pub fn parse(text: &'a str) -> Option<Address<'a>> {
        let plain = text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain || text.contains(['#', '@']) {
            return None;
        }
        let speaks_to = address::Address::parse(text).ok()?.origin;
        let written = Written::of(text)?;
        let path = written.rest.split('?').next().unwrap_or_default();
        Some(Address { speaks_to, written, path })
    }

    /// A name with a dot at its end is looked up like any other, and may be anybody's.
    pub fn is_loopback(&self) -> bool {
        self.speaks_to.is_loopback() && !self.written.host().ends_with('.')
    }

    fn is_https(&self) -> bool {
        self.speaks_to.secure
    }

    fn origin(&self) -> String {
        format!("{}://{}", self.written.scheme.to_ascii_lowercase(), self.written.authority)
    }

    /// Letter by letter: whoever names a port where another names none is not taken for the same.
    fn same_origin(&self, other: &Address<'_>) -> bool {
        self.is_https() == other.is_https() && self.written.authority.eq_ignore_ascii_case(other.written.authority)
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
