//! Origin check for addresses that a peer names (SSRF guard). A peer must not direct the hub's requests anywhere else: an address that it
//! gives must have the origin that configuration names for it, port included, or one of its `origins`.

use std::fmt;

use http::Uri;
use interlingua_model::PeerId;
use interlingua_model::address::{Address, Origin};

/// Whom an address speaks to; `None` where it names nobody, or holds a credential.
pub fn origin(uri: &Uri) -> Option<Origin> {
    let authority = uri.authority()?;
    Address::parse(&format!("{}://{authority}", uri.scheme_str()?)).ok().map(|address| address.origin)
}

/// The origins of one peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    peer: PeerId,
    address: Uri,
    /// That of the address, then those that configuration adds.
    origins: Vec<Origin>,
}

/// An address that a peer gave and that is not its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    peer: PeerId,
    /// `None`: it is no address that can be called.
    origin: Option<Origin>,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Some(origin) => write!(
                f,
                "it names an address at {origin}, which is not its own and is not called: if it should be, list {origin} in `peers.{}.origins`",
                self.peer
            ),
            None => f.write_str("it names an address that cannot be called"),
        }
    }
}

impl std::error::Error for Elsewhere {}

impl Own {
    /// `also`: what configuration adds, which was checked there.
    pub fn new(peer: &PeerId, address: &Uri, also: &[String]) -> Own {
        let added = also.iter().filter_map(|text| Origin::parse(text).ok());
        Own {
            peer: peer.clone(),
            address: address.clone(),
            origins: origin(address).into_iter().chain(added).collect(),
        }
    }

    pub fn called(self, peer: &PeerId) -> Own {
        Own { peer: peer.clone(), ..self }
    }

    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// An address that the peer gave, if it is its own. One without a host is a path at the peer's.
    pub fn place(&self, given: &str) -> Result<Uri, Elsewhere> {
        let nowhere = |origin| Elsewhere { peer: self.peer.clone(), origin };
        let uri: Uri = given.parse().map_err(|_| nowhere(None))?;
        if uri.authority().is_none() {
            let mut parts = self.address.clone().into_parts();
            parts.path_and_query = uri.path_and_query().cloned();
            return Uri::from_parts(parts).map_err(|_| nowhere(None));
        }
        match origin(&uri) {
            Some(origin) if self.origins.contains(&origin) => Ok(uri),
            origin => Err(nowhere(origin)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_peers_own_origin_is_followed_and_what_configuration_adds() {
        let at = Uri::from_static("http://agent:1/nlip");
        let own = Own::new(&"desk".into(), &at, &["https://files.example".to_owned()]);
        for given in
            ["http://agent:1/up", "http://AGENT:1/up", "/up", "https://files.example/x", "https://files.example:443/"]
        {
            assert!(own.place(given).is_ok(), "{given}");
        }
        assert_eq!(own.place("/up/1").expect("a path"), "http://agent:1/up/1");
        assert_eq!(own.place("//evil/up").expect("a path too"), "http://agent:1//evil/up");
        for foreign in [
            "http://agent:2/up",
            "https://agent:1/up",
            "http://agent/up",
            "http://other:1/up",
            "http://files.example/x",
            "http://u@agent:1/up",
            "http://agent:1@evil/up",
            "ftp://agent:1/up",
            "http://agent.evil:1/",
            "not a uri \u{7}",
        ] {
            assert!(own.place(foreign).is_err(), "{foreign}");
        }
        let told = own.place("http://agent:2/up").expect_err("another port").to_string();
        assert!(told.contains("http://agent:2") && told.contains("`peers.desk.origins`"), "{told}");
    }
}
