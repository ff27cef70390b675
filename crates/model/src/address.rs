//! HTTP addresses, as far as they decide which host is contacted. Only `http` and `https` are accepted, so `file:`, `data:` and the
//! browser's own pages cannot be expressed.
//!
//! Host and port are read by `url`, as browsers read them. A browser repairs much: it reads `0x7f.1` as a number, `\` as `/`,
//! `%2e` as a dot, and drops tabs. A parser that repairs in another way reads another host, so an address that needs repair is
//! refused: the host that is written is the host that is contacted.

use std::fmt;
use std::net::IpAddr;

use url::{Host, ParseError, Url};

/// Scheme, host and port of an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// `https` or `http`.
    pub secure: bool,
    /// In lower case, without brackets or a final dot.
    pub host: String,
    /// Always written out, also where it is the scheme's usual one; never 0.
    pub port: u16,
}

impl Origin {
    /// Is the host an IP address, or `localhost`? Then it was written down on purpose.
    pub fn is_literal(&self) -> bool {
        self.host == "localhost" || self.host.ends_with(".localhost") || self.host.parse::<IpAddr>().is_ok()
    }

    /// Does it lead to this machine and to no other?
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// Reads `https://host:port`, with nothing after it but a slash.
    pub fn parse(text: &str) -> Result<Origin, BadAddress> {
        let address = Address::parse(text)?;
        match address.rest.as_str() {
            "/" => Ok(address.origin),
            _ => Err(BadAddress::NotAnOrigin),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        let usual = if self.secure { 443 } else { 80 };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port == usual {
            true => write!(f, "{scheme}://{host}"),
            false => write!(f, "{scheme}://{host}:{}", self.port),
        }
    }
}

/// An absolute address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The scheme, host and port of the address.
    pub origin: Origin,
    /// Path and query, from the first slash on.
    rest: String,
}

/// Why a text is not an address that the hub opens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// The scheme is neither `http` nor `https`, or there is no `://`.
    #[error("only http:// and https:// addresses can be opened")]
    Scheme,
    /// Nothing stands where the host belongs.
    #[error("it has no host")]
    NoHost,
    /// There is an `@` before the path.
    #[error("it holds a user or a password")]
    Credential,
    /// A browser would read another host than the one that is written, or refuse it.
    #[error("the host `{0}` is not spelt as a host")]
    Host(String),
    /// The port is not a number from 1 to 65535.
    #[error("the port is not a port")]
    Port,
    /// White space, a control character or a backslash.
    #[error("it holds a character that no address has")]
    Character,
    /// [`Origin::parse`] found a path, a query or a fragment.
    #[error("only scheme, host and port belong here")]
    NotAnOrigin,
}

/// The parts of an address as they are written. [`Address::parse`] decides whether they are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written<'a> {
    /// What stands before `://`.
    pub scheme: &'a str,
    /// Host and port, between `://` and the path.
    pub authority: &'a str,
    /// Path, query and fragment.
    pub rest: &'a str,
}

impl<'a> Written<'a> {
    /// Splits a text at `://` and at the first of `/`, `?` and `#`; `None` where there is no `://`.
    pub fn of(text: &'a str) -> Option<Written<'a>> {
        let (scheme, after) = text.split_once("://")?;
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        Some(Written { scheme, authority, rest })
    }

    /// The authority without its port.
    pub fn host(&self) -> &'a str {
        match self.authority.rfind(':') {
            Some(at) if !self.authority.ends_with(']') => &self.authority[..at],
            Some(_) | None => self.authority,
        }
    }
}

impl Address {
    /// Reads an absolute address, as strictly as the module says.
    pub fn parse(text: &str) -> Result<Address, BadAddress> {
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(BadAddress::Character);
        }
        let written = Written::of(text).ok_or(BadAddress::Scheme)?;
        if !["http", "https"].iter().any(|scheme| written.scheme.eq_ignore_ascii_case(scheme)) {
            return Err(BadAddress::Scheme);
        }
        if written.authority.contains('@') {
            return Err(BadAddress::Credential);
        }
        if written.host().is_empty() {
            return Err(BadAddress::NoHost);
        }
        let host = written.host();
        // `url` would map what is not ASCII by tables of Unicode, which are not linked: it does not get to see it.
        if !host.chars().all(is_of_a_name) && !is_in_brackets(host) {
            return Err(BadAddress::Host(host.to_owned()));
        }
        let spelt = format!("{}://{}{}", written.scheme, written.authority.to_ascii_lowercase(), written.rest);
        let origin = browsers(&spelt).map_err(|error| refused(error, host)).and_then(|url| origin_of(&url))?;
        // A number of the newer kind stands in brackets, and `url` reads it as any other does.
        let named = host.strip_suffix('.').unwrap_or(host);
        if !host.starts_with('[') && !named.eq_ignore_ascii_case(&origin.host) {
            return Err(BadAddress::Host(host.to_owned()));
        }
        let rest = if written.rest.starts_with('/') { written.rest.to_owned() } else { format!("/{}", written.rest) };
        Ok(Address { origin, rest })
    }

    /// Resolves `value` on a page of this address: absolute, from the root, or relative.
    pub fn join(&self, value: &str) -> Result<Address, BadAddress> {
        let scheme = value.split_once(':').map(|(scheme, _)| scheme);
        let named = scheme.is_some_and(|scheme| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        });
        if named {
            return Address::parse(value);
        }
        if let Some(other) = value.strip_prefix("//") {
            let scheme = if self.origin.secure { "https" } else { "http" };
            return Address::parse(&format!("{scheme}://{other}"));
        }
        let path = self.rest.split(['?', '#']).next().unwrap_or("/");
        let rest = match value.chars().next() {
            Some('/') => value.to_owned(),
            None => self.rest.clone(),
            Some('?' | '#') => format!("{path}{value}"),
            Some(_) => format!("{}/{value}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
        };
        let joined = Address::parse(&format!("{}{rest}", self.origin))?;
        // A browser resolves it by rules of its own, and must arrive at the same host.
        let resolved = browsers(&self.to_string()).and_then(|base| base.join(value));
        let origin = resolved.map_err(|error| refused(error, value)).and_then(|url| origin_of(&url))?;
        if origin == joined.origin { Ok(joined) } else { Err(BadAddress::Host(origin.host)) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.rest)
    }
}

/// As browsers read it. The one place that may: what is repaired on the way is refused by whoever asked.
#[expect(clippy::disallowed_methods)]
fn browsers(text: &str) -> Result<Url, ParseError> {
    Url::parse(text)
}

fn refused(error: ParseError, host: &str) -> BadAddress {
    match error {
        ParseError::EmptyHost => BadAddress::NoHost,
        ParseError::InvalidPort => BadAddress::Port,
        _ => BadAddress::Host(host.to_owned()),
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Could it be a number of the newer kind? Whether it is one `url` says.
fn is_in_brackets(host: &str) -> bool {
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(|inside| inside.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.')))
}

/// Whom an address speaks to, in one spelling.
fn origin_of(url: &Url) -> Result<Origin, BadAddress> {
    let host = match url.host().ok_or(BadAddress::NoHost)? {
        Host::Domain(name) => {
            // One dot at the end is the root of all names; two are another host for a browser.
            let plain = name.strip_suffix('.').unwrap_or(name);
            if plain.is_empty() {
                return Err(BadAddress::NoHost);
            }
            if !plain.chars().all(is_of_a_name) || plain.contains("..") || plain.ends_with('.') {
                return Err(BadAddress::Host(name.to_owned()));
            }
            plain.to_owned()
        }
        Host::Ipv4(number) => number.to_string(),
        Host::Ipv6(number) => number.to_string(),
    };
    let port = url.port_or_known_default().filter(|port| *port != 0).ok_or(BadAddress::Port)?;
    Ok(Origin { secure: url.scheme() == "https", host, port })
}
