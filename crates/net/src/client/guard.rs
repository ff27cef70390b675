//! SSRF guard for outgoing connections: an address that somebody else chose must not lead to what only the hub can reach, and no outgoing
//! request may enter one of the hub's own listeners.
//!
//! An address is checked each time it is resolved for a connection, and the connection goes to the checked address, so DNS rebinding gains
//! nothing.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http::Uri;
use interlingua_model::address::Origin;
use interlingua_model::public_ip::is_public;
use tokio::net::TcpStream;

use super::place::origin;
use interlingua_hub::Hub;
use interlingua_hub::listeners::Listeners;

/// Whether addresses inside may be called: for what configuration names itself, for tests, and where others live beside the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    Refused,
    Allowed,
}

impl Private {
    /// A number in an address can be looked at at once. Names are judged when they are resolved.
    pub fn admits_host(self, host: &str) -> bool {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let inside = host == "localhost" || host.ends_with(".localhost") || host.is_empty();
        let literal = host.parse::<IpAddr>().ok();
        self == Private::Allowed || !(inside || literal.is_some_and(|address| !is_public(address)))
    }
}

/// An http or https address with a host that is not inside by its very name; else what is wrong with it.
pub fn checked(url: &str, private: Private) -> Result<Uri, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "is not a URL")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("must begin with http:// or https://");
    }
    let authority = uri.authority().ok_or("has no host")?;
    if authority.as_str().contains('@') {
        return Err("must not hold a credential");
    }
    // Read as everywhere: the request goes to what is written, so that must be the host that is judged.
    let origin = origin(&uri).ok_or("has an invalid host or port")?;
    if !private.admits_host(&origin.host) {
        return Err("is one this hub does not call");
    }
    Ok(uri)
}

/// Why an address is not called. Trying again changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the name leads to no address that may be called")]
    Inside,
    #[error("the address is one of this hub's own: a peer that is the hub itself is configured by its number")]
    Own,
}

/// Whom a client of the hub's may connect to.
#[derive(Debug, Clone)]
pub struct Reach {
    private: Private,
    listeners: Listeners,
    /// What configuration spells out. Only there the hub may call itself, and only where that was written on purpose: as a
    /// number, not as a name that may lead there tomorrow.
    named: Arc<[Origin]>,
    /// A server that configuration places inside: its own address is called though it is not public.
    beside: Option<Arc<str>>,
}

impl Reach {
    /// To what configuration names.
    pub fn configured(hub: &Hub, named: impl IntoIterator<Item = Origin>) -> Reach {
        let named = named.into_iter().filter(Origin::is_literal).collect();
        Reach { private: Private::Allowed, listeners: hub.listeners().clone(), named, beside: None }
    }

    /// To this address of the configuration, and no other.
    pub fn address(hub: &Hub, uri: &Uri) -> Reach {
        Reach::configured(hub, origin(uri))
    }

    /// To what others name.
    pub fn chosen(hub: &Hub, private: Private) -> Reach {
        Reach { private, listeners: hub.listeners().clone(), named: Arc::default(), beside: None }
    }

    /// To what a server names: one that is itself inside may name its own address there, and no other.
    pub fn chosen_by(hub: &Hub, server: &Uri, private: Private) -> Reach {
        let inside = server.host().filter(|host| !Private::Refused.admits_host(host));
        Reach { beside: inside.map(|host| bare(host).into()), ..Reach::chosen(hub, private) }
    }

    /// Of a hub that does not listen.
    #[cfg(test)]
    pub fn of_nobody(private: Private) -> Reach {
        Reach { private, listeners: Listeners::default(), named: Arc::default(), beside: None }
    }

    pub fn admits_host(&self, host: &str) -> bool {
        self.beside.is_some() || self.private.admits_host(host)
    }

    /// The addresses of a host that may be connected to.
    pub async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        let host = bare(host);
        let mut found: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await?.collect();
        let beside = match &self.beside {
            Some(server) => tokio::net::lookup_host((&**server, 0)).await?.map(|own| own.ip().to_canonical()).collect(),
            None => Vec::new(),
        };
        let allowed = self.private == Private::Allowed;
        found.retain(|address| allowed || is_public(address.ip()) || beside.contains(&address.ip().to_canonical()));
        if found.is_empty() {
            return Err(std::io::Error::other(Refused::Inside));
        }
        if !self.names(host, port) {
            found.retain(|address| !self.listeners.include(*address));
        }
        if found.is_empty() { Err(std::io::Error::other(Refused::Own)) } else { Ok(found) }
    }

    /// Does an address lead to this hub itself? For what somebody else is sent to.
    pub async fn leads_home(&self, uri: &Uri) -> bool {
        let Some(origin) = origin(uri) else { return false };
        match tokio::net::lookup_host((origin.host.as_str(), origin.port)).await {
            Ok(mut found) => found.any(|address| self.listeners.include(address)),
            Err(_) => false,
        }
    }

    /// A connection without a protocol.
    pub async fn connect(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        TcpStream::connect(self.resolve(host, port).await?.as_slice()).await
    }

    fn names(&self, host: &str, port: u16) -> bool {
        self.named.iter().any(|origin| origin.port == port && origin.host.eq_ignore_ascii_case(host))
    }
}

/// A number of the newer kind without its brackets.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
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

    /// Hosts that are called, because every reader of addresses reads them alike: a name, or a number in its usual form.
    const CALLED: [&str; 11] = [
        "example.com",
        // The dot at the end is the root of all names.
        "EXAMPLE.com.",
        "8.8.8.8.",
        // Names of machines that no registry would give away.
        "a_b",
        "-a-",
        "xn--bcher-kva.example",
        // A name, because its last label is none of a number.
        "8.8.8.8.example",
        "8.8.8.8",
        "[2001:4860:4860::8888]",
        "[2001:4860:4860:0::8888]",
        "[::8.8.8.8]",
    ];
    /// Hosts that are not, and what a browser, a resolver or `http` alone would do with them.
    const REFUSED: [(&str, &str); 20] = [
        ("8.8.2056", "a number of three parts"),
        ("0x8.8.8.8", "a number in another base"),
        ("010.8.8.8", "a number in another base"),
        ("134744072", "a number of one part"),
        ("8.8.8.8..", "a name without a label"),
        ("a..b", "a name without a label"),
        (".", "the root alone"),
        ("", "nobody"),
        ("[8.8.8.8]", "a number in the brackets of another kind"),
        ("[a]", "a name in brackets"),
        ("[v1.x]", "a kind of number that does not exist"),
        ("a%2eb", "an escape, which a browser reads as a dot"),
        ("a~b", "no letter of a name"),
        ("a*b", "no letter of a name"),
        ("a,b", "no letter of a name"),
        ("a;b", "no letter of a name"),
        ("a$b", "no letter of a name"),
        ("a!b", "no letter of a name"),
        ("a'b", "no letter of a name"),
        ("a(b)", "no letter of a name"),
    ];
    /// None, none behind a colon, the usual one in two spellings, the last one.
    const PORTS: [(&str, u16); 5] = [("", 80), (":", 80), (":80", 80), (":080", 80), (":65535", 65_535)];
    /// Zero is nobody's, two are too large, two are no number.
    const NO_PORTS: [&str; 5] = [":0", ":65536", ":99999", ":1:2", ":x"];

    /// `http` sends the request, `url` says whom it is for: what they read differently is never sent.
    #[test]
    fn attack_a_21_who_is_judged_is_who_is_called() {
        for (host, (port, number)) in CALLED.iter().flat_map(|host| PORTS.map(|port| (host, port))) {
            let text = format!("http://{host}{port}/x?y");
            let uri = checked(&text, Private::Allowed).unwrap_or_else(|why| panic!("{text} {why}"));
            assert_eq!(uri.to_string(), text, "it goes out as it was written");
            let judged = origin(&uri).expect("it was judged");
            let called = bare(uri.host().expect("a host")).trim_end_matches('.').to_ascii_lowercase();
            let same = match judged.host.parse::<IpAddr>() {
                Ok(number) => called.parse() == Ok(number),
                Err(_) => called == judged.host,
            };
            assert!(same, "{text}: {judged} is judged, {called} is called");
            assert_eq!((judged.port, uri.port_u16().unwrap_or(80)), (number, number), "{text}");
        }
        for (host, port) in CALLED.iter().flat_map(|host| NO_PORTS.map(|port| (host, port))) {
            assert!(checked(&format!("http://{host}{port}/"), Private::Allowed).is_err(), "{host}{port}");
        }
        for ((host, why), (port, _)) in REFUSED.iter().flat_map(|host| PORTS.map(|port| (host, port))) {
            assert!(checked(&format!("http://{host}{port}/"), Private::Allowed).is_err(), "{host}{port}: {why}");
        }
    }

    fn reach(private: Private, listener: &str) -> Reach {
        let listeners = Listeners::default();
        listeners.add(listener.parse().expect("an address"));
        Reach { private, listeners, named: Arc::default(), beside: None }
    }

    fn why(refused: &std::io::Error) -> Option<Refused> {
        refused.get_ref().and_then(|why| why.downcast_ref()).copied()
    }

    #[tokio::test]
    async fn the_hubs_own_doors_are_known_in_every_spelling() {
        for (listener, host) in [
            ("127.0.0.1:7447", "127.0.0.1"),
            ("127.0.0.1:7447", "0.0.0.0"),
            ("127.0.0.1:7447", "localhost"),
            ("127.0.0.1:7447", "[::ffff:127.0.0.1]"),
            ("127.0.0.1:7447", "[::]"),
            ("127.0.0.1:7447", "127.1"),
            ("[::1]:7447", "[::1]"),
            ("0.0.0.0:7447", "127.0.0.9"),
            ("[::]:7447", "127.0.0.1"),
            ("[::]:7447", "[::1]"),
        ] {
            let reach = reach(Private::Allowed, listener);
            match reach.resolve(host, 7447).await {
                Err(refused) => assert_eq!(why(&refused), Some(Refused::Own), "{host}"),
                Ok(left) => {
                    let own = listener.parse::<SocketAddr>().expect("an address").ip();
                    assert!(left.iter().all(|it| it.ip() != own), "{host} {left:?}");
                }
            }
            assert!(reach.resolve(host, 7448).await.is_ok(), "{host}: another port is another's");
        }
        assert!(reach(Private::Allowed, "127.0.0.1:7447").resolve("127.0.0.2", 7447).await.is_ok());
    }

    #[tokio::test]
    async fn the_hub_calls_itself_only_where_configuration_spells_that_out() {
        let named = |url: &str| Reach {
            named: Origin::parse(url).into_iter().filter(Origin::is_literal).collect(),
            ..reach(Private::Allowed, "127.0.0.1:7447")
        };
        assert!(named("http://127.0.0.1:7447").resolve("127.0.0.1", 7447).await.is_ok());
        assert!(named("http://127.0.0.1:7448").resolve("127.0.0.1", 7447).await.is_err());
        assert!(named("http://hub.example:7447").named.is_empty(), "a name may lead anywhere tomorrow");
    }

    #[tokio::test]
    async fn a_server_inside_names_its_own_address_there_and_no_other() {
        let reach = Reach { beside: Some("127.0.0.1".into()), ..reach(Private::Refused, "127.0.0.1:7447") };
        assert!(reach.resolve("127.0.0.1", 9).await.is_ok());
        for (host, port, refused) in
            [("127.0.0.9", 9, Refused::Inside), ("10.0.0.1", 9, Refused::Inside), ("127.0.0.1", 7447, Refused::Own)]
        {
            let error = reach.resolve(host, port).await.expect_err(host);
            assert_eq!(why(&error), Some(refused), "{host}");
        }
    }
}
