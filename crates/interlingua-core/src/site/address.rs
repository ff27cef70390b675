//! Addresses of pages, as far as they decide who is spoken to. Only `http` and `https` are addresses here, so that `file:`,
//! `data:` and the browser's own pages cannot be written down.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// Who is spoken to: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    pub secure: bool,
    /// In lower case, without brackets or a final dot.
    pub host: String,
    pub port: u16,
}

impl Origin {
    /// An address literal, or the machine itself by name: written down on purpose.
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
    pub origin: Origin,
    /// Path and query, from the first slash on.
    rest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("only http:// and https:// addresses can be opened")]
    Scheme,
    #[error("it has no host")]
    NoHost,
    #[error("it holds a user or a password")]
    Credential,
    #[error("the host `{0}` is not spelt as a host")]
    Host(String),
    #[error("the port is not a port")]
    Port,
    #[error("it holds a character that no address has")]
    Character,
    #[error("only scheme, host and port belong here")]
    NotAnOrigin,
}

impl Address {
    pub fn parse(text: &str) -> Result<Address, BadAddress> {
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(BadAddress::Character);
        }
        let (scheme, after) = text.split_once("://").ok_or(BadAddress::Scheme)?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(BadAddress::Scheme),
        };
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        if authority.contains('@') {
            return Err(BadAddress::Credential);
        }
        let (host, port) = split_port(authority)?;
        let port = match port {
            None | Some("") => None,
            // `+80` is a number and no port (RFC 3986 section 3.2.3).
            Some(port) if !port.bytes().all(|byte| byte.is_ascii_digit()) => return Err(BadAddress::Port),
            Some(port) => Some(port.parse::<u16>().ok().filter(|port| *port != 0).ok_or(BadAddress::Port)?),
        };
        let origin = Origin { secure, host: host_of(host)?, port: port.unwrap_or(if secure { 443 } else { 80 }) };
        let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        Ok(Address { origin, rest })
    }

    /// What `value` means on a page of this address: absolute, from the root, or beside it.
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
        Address::parse(&format!("{}{rest}", self.origin))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.rest)
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), BadAddress> {
    if let Some(after) = authority.strip_prefix('[') {
        let (host, port) = after.split_once(']').ok_or_else(|| BadAddress::Host(authority.to_owned()))?;
        return match port.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if port.is_empty() => Ok((host, None)),
            None => Err(BadAddress::Port),
        };
    }
    Ok(authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))))
}

/// Names and numbers in one spelling. A host that a browser would read as a number in disguise (`0x7f.1`, `2130706433`) is
/// refused: whoever means an address writes it.
fn host_of(host: &str) -> Result<String, BadAddress> {
    let bad = || BadAddress::Host(host.to_owned());
    let host = host.to_ascii_lowercase();
    // One dot at the end is the root of all names; two are another host for a browser.
    let host = host.strip_suffix('.').unwrap_or(&host).to_owned();
    if host.is_empty() {
        return Err(BadAddress::NoHost);
    }
    if host.contains(':') {
        return host.parse::<std::net::Ipv6Addr>().map(|address| address.to_string()).map_err(|_| bad());
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !host.chars().all(fits) || host.contains("..") || host.ends_with('.') {
        return Err(bad());
    }
    // Browsers read a host whose last label is a number as an address of four bytes, in any base and of any length.
    let last = host.rsplit('.').next().unwrap_or_default();
    let number = last.chars().all(|c| c.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
    match number {
        true => host.parse::<Ipv4Addr>().map(|address| address.to_string()).map_err(|_| bad()),
        false => Ok(host),
    }
}
