//! Addresses of an agent: its endpoint with and without the last slash, and its WebSocket.

use http::Uri;
use http::uri::{PathAndQuery, Scheme};
use interlingua_model::{Fault, FaultKind};

use crate::settings::{Binding, NlipPeer};

/// The path of ECMA-431 clause 6, for a URL that names only a host.
const DOOR: &str = "/nlip";
/// The paths of ECMA-432 clause 6.
const SOCKET: &str = "/nlip/ws";
const TEXT_SOCKET: &str = "/nlip/ws/text";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// As configured, and with or without its last slash. Some servers know only one of the two.
    pub(super) doors: [Uri; 2],
    /// With the scheme `http` or `https`; the path is that of the first door.
    pub(super) origin: Uri,
    pub(super) secure: bool,
}

impl Address {
    pub(super) fn of(config: &NlipPeer) -> Result<Address, Fault> {
        let bad = || Fault::hub(FaultKind::Internal, format!("{} is not an address that can be called", config.url));
        let uri: Uri = config.url.parse().map_err(|_| bad())?;
        let secure = match uri.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            Some(_) | None => return Err(bad()),
        };
        let authority = uri.authority().ok_or_else(bad)?.clone();
        let given = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let path = match (given, config.binding()) {
            ("/", Binding::Http) => DOOR,
            ("/", Binding::Ws) => SOCKET,
            ("/", Binding::WsText) => TEXT_SOCKET,
            (given, Binding::Http | Binding::Ws | Binding::WsText) => given,
        };
        let scheme = if secure { Scheme::HTTPS } else { Scheme::HTTP };
        let at = |path: &str| {
            Uri::builder().scheme(scheme.clone()).authority(authority.clone()).path_and_query(path).build().ok()
        };
        let door = at(path).ok_or_else(bad)?;
        let other = at(&other_slash(path)).ok_or_else(bad)?;
        Ok(Address { origin: door.clone(), doors: [door, other], secure })
    }

    /// Host and port, in the form a connection wants.
    pub(super) fn host(&self) -> &str {
        self.origin.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    pub(super) fn port(&self) -> u16 {
        self.origin.port_u16().unwrap_or(if self.secure { 443 } else { 80 })
    }
}

fn other_slash(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let other = match path.strip_suffix('/') {
        Some(without) if !without.is_empty() => without.to_owned(),
        Some(_) | None => format!("{path}/"),
    };
    match query {
        Some(query) => format!("{other}?{query}"),
        None => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::of(&NlipPeer::new(url)).expect("a good address")
    }

    #[test]
    fn a_door_is_known_with_and_without_its_last_slash() {
        assert_eq!(
            address("http://h:1/nlip").doors.map(|door| door.to_string()),
            ["http://h:1/nlip", "http://h:1/nlip/"]
        );
        assert_eq!(address("http://h/nlip/?a=1").doors[1], "http://h/nlip?a=1");
        assert_eq!(address("http://h").doors[0], "http://h/nlip");
        assert_eq!(address("wss://h").doors[0], "https://h/nlip/ws");
    }
}
