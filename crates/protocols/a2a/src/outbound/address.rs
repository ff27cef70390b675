//! Agent discovery and origin check (SSRF guard): the address of an agent's card, and which of the addresses in it are the agent's own.

use http::Uri;
use http::uri::{Authority, PathAndQuery};
use interlingua_model::{Fault, FaultKind, PeerId};

use interlingua_net::client::place::Own;

/// Where cards are looked for: of 0.3 and later, and before.
const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) origin: Uri,
    /// In the order in which they are tried.
    pub cards: Vec<Uri>,
    /// Which addresses on its card are its own.
    pub(crate) own: Own,
}

impl Address {
    /// `also`: origins that configuration adds.
    pub(crate) fn of(peer: &PeerId, url: &str, also: &[String]) -> Result<Address, Fault> {
        let bad = || Fault::hub(FaultKind::Internal, format!("{url} is not an address that can be called"));
        let origin: Uri = url.parse().map_err(|_| bad())?;
        if origin.authority().is_none() || !matches!(origin.scheme_str(), Some("http" | "https")) {
            return Err(bad());
        }
        let own = Own::new(peer, &origin, also);
        let path = origin.path().trim_end_matches('/');
        if path.ends_with(".json") {
            return Ok(Address { cards: vec![origin.clone()], origin, own });
        }
        let mut cards = Vec::new();
        for known in WELL_KNOWN {
            // A card stands beside its agent, or at the root of a host that has one agent.
            for base in [path, ""] {
                let card = with_path(&origin, &format!("{base}{known}")).ok_or_else(bad)?;
                if !cards.contains(&card) {
                    cards.push(card);
                }
            }
        }
        Ok(Address { origin, cards, own })
    }

    /// The address of an interface, if it is the agent's own. Cards are often written on the machine they were tried on:
    /// a loopback address on a card that came from elsewhere means the host it came from.
    pub(crate) fn interface(&self, given: &str) -> Result<Uri, String> {
        let unusable = || "one of its interfaces is left out: that is no address".to_owned();
        let uri: Uri = given.parse().map_err(|_| unusable())?;
        let inward = uri.host().is_some_and(is_inward);
        let uri = match (inward, self.origin.host().is_some_and(is_inward)) {
            (false, _) => uri,
            (true, true) => moved(&uri, &self.origin, uri.port_u16()).ok_or_else(unusable)?,
            (true, false) => moved(&uri, &self.origin, self.origin.port_u16()).ok_or_else(unusable)?,
        };
        self.own.place(&uri.to_string()).map_err(|elsewhere| format!("one of its interfaces is left out: {elsewhere}"))
    }

    /// The same for gRPC, whose addresses are `host:port` (section 4.4.6): as protected as the card itself was. Cards of older
    /// versions write one of the web.
    pub(crate) fn service(&self, given: &str) -> Result<Uri, String> {
        match given.split_once("://") {
            Some(("grpc", at)) => self.interface(&format!("http://{at}")),
            Some(("grpcs", at)) => self.interface(&format!("https://{at}")),
            Some(_) => self.interface(given),
            None => self.interface(&format!("{}://{given}", self.origin.scheme_str().unwrap_or_default())),
        }
    }
}

fn is_inward(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let numbered = bare.parse::<std::net::IpAddr>();
    bare.eq_ignore_ascii_case("localhost")
        || numbered.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

/// The same path at the host of `to`, on this port.
fn moved(uri: &Uri, to: &Uri, port: Option<u16>) -> Option<Uri> {
    let host = to.host()?;
    let authority = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let mut parts = uri.clone().into_parts();
    parts.scheme = to.scheme().cloned();
    parts.authority = Some(authority.parse::<Authority>().ok()?);
    parts.path_and_query.get_or_insert(PathAndQuery::from_static("/"));
    Uri::from_parts(parts).ok()
}

fn with_path(origin: &Uri, path: &str) -> Option<Uri> {
    let mut parts = origin.clone().into_parts();
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::of(&"desk".into(), url, &[]).expect("a good address")
    }

    #[test]
    fn a_card_is_looked_for_beside_the_agent_then_at_the_root_under_both_names() {
        let cards = |url: &str| address(url).cards.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            cards("http://h:1"),
            ["http://h:1/.well-known/agent-card.json", "http://h:1/.well-known/agent.json"]
        );
        assert_eq!(
            cards("http://h/agents/a/"),
            [
                "http://h/agents/a/.well-known/agent-card.json",
                "http://h/.well-known/agent-card.json",
                "http://h/agents/a/.well-known/agent.json",
                "http://h/.well-known/agent.json",
            ]
        );
        assert_eq!(cards("https://h/cards/a.json"), ["https://h/cards/a.json"]);
        for bad in ["ftp://h", "h", "/x", ""] {
            Address::of(&"desk".into(), bad, &[]).expect_err(bad);
        }
    }

    #[test]
    fn an_interface_is_the_agents_own_and_a_loopback_address_means_the_host_the_card_came_from() {
        let at = |origin: &str, given: &str| address(origin).interface(given).map(|uri| uri.to_string());
        assert_eq!(at("http://h:1", "http://h:1/a"), Ok("http://h:1/a".into()));
        assert_eq!(at("http://127.0.0.1:9002", "http://localhost:9002/"), Ok("http://127.0.0.1:9002/".into()));
        assert_eq!(at("http://127.0.0.1:9002", "http://0.0.0.0:9002/x"), Ok("http://127.0.0.1:9002/x".into()));
        assert_eq!(at("https://agent.example", "http://localhost:9999/rpc"), Ok("https://agent.example/rpc".into()));
        for foreign in ["http://evil.example/", "http://h:2/a", "https://h:1/", "not a url"] {
            at("http://h:1", foreign).expect_err(foreign);
        }
        at("http://127.0.0.1:9002", "http://127.0.0.1:9003/x").expect_err("another port is another's");
        let added = Address::of(&"desk".into(), "http://h:1", &["http://h:2".to_owned()]).expect("a good address");
        assert_eq!(added.interface("http://h:2/a").map(|uri| uri.to_string()), Ok("http://h:2/a".into()));
        at("https://agent.example", "http://agent.example/").expect_err("less protected");
    }

    #[test]
    fn a_43_an_address_of_grpc_has_no_scheme_and_is_as_protected_as_the_card() {
        let at = |origin: &str, given: &str| address(origin).service(given).map(|uri| uri.to_string());
        assert_eq!(at("http://h:1", "h:1"), Ok("http://h:1/".into()));
        assert_eq!(at("https://h", "h:443"), Ok("https://h:443/".into()));
        assert_eq!(at("http://127.0.0.1:9002", "localhost:9002"), Ok("http://127.0.0.1:9002/".into()));
        assert_eq!(at("http://h:1", "http://h:1"), Ok("http://h:1/".into()));
        assert_eq!(at("http://h:1", "grpc://h:1"), Ok("http://h:1/".into()));
        assert_eq!(at("https://h:1", "grpcs://h:1"), Ok("https://h:1/".into()));
        for foreign in ["h:2", "grpcs://h:1", "other:2", "dns:///h:2", "h:2 ", "unix:/tmp/socket"] {
            at("http://h:1", foreign).expect_err(foreign);
        }
        at("https://h", "grpc://h:2").expect_err("less protected");
    }
}
