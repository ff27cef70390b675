//! Addresses that others choose: the hub must not be sent to what only it can reach.
//!
//! An address is judged when it is resolved for a connection, every time, so a name that changes its mind gains nothing.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::dns::Name;
use interlingua_core::reach::is_public;
use tower::Service;

/// Whether addresses inside may be called: for what configuration names itself, for tests, and where others live beside the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    Refused,
    Allowed,
}

impl Private {
    pub(crate) fn admits(self, address: IpAddr) -> bool {
        self == Private::Allowed || is_public(address)
    }

    /// A number in an address is never resolved, so it is looked at here. Names are judged when they are.
    pub(crate) fn admits_host(self, host: &str) -> bool {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let inside = host == "localhost" || host.ends_with(".localhost") || host.is_empty();
        let literal = host.parse::<IpAddr>().ok();
        self == Private::Allowed || !(inside || literal.is_some_and(|address| !is_public(address)))
    }
}

/// An http or https address with a host that is not inside by its very name; else what is wrong with it.
pub(crate) fn checked(url: &str, private: Private) -> Result<Uri, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "is not a URL")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("must begin with http:// or https://");
    }
    let authority = uri.authority().ok_or("has no host")?;
    if authority.as_str().contains('@') {
        return Err("must not hold a credential");
    }
    if !private.admits_host(authority.host()) {
        return Err("is one this hub does not call");
    }
    Ok(uri)
}

/// Resolves names to what may be called, each time anew.
#[derive(Debug, Clone)]
pub(super) struct Guarded(pub(super) Private);

type Resolving = Pin<Box<dyn Future<Output = std::io::Result<std::vec::IntoIter<SocketAddr>>> + Send>>;

impl Service<Name> for Guarded {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = Resolving;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Resolving {
        let private = self.0;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let admitted: Vec<SocketAddr> = found.filter(|address| private.admits(address.ip())).collect();
            if admitted.is_empty() {
                return Err(std::io::Error::other("the name leads to no address that may be called"));
            }
            Ok(admitted.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_21_names_of_the_machine_itself_are_inside_in_every_spelling() {
        for inside in ["localhost", "LOCALHOST.", "a.localhost", "[::1]", "127.0.0.1", ""] {
            assert!(!Private::Refused.admits_host(inside) && Private::Allowed.admits_host(inside), "{inside}");
        }
        assert!(Private::Refused.admits_host("example.com"));
    }
}
