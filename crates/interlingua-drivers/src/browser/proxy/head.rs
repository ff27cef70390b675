//! The head of an HTTP/1.1 message, as far as a proxy must understand it.

use std::fmt;

use interlingua_core::site::Address;

/// Start line and headers, as they came.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    start: &'a str,
    headers: Vec<&'a str>,
}

/// Whom a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) tunnel: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path and query.
    rest: String,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tunnel { "" } else { "http://" };
        write!(f, "{scheme}{}:{}", self.host, self.port)
    }
}

/// What belongs to one connection and is not passed on.
const OWN: [&str; 5] = ["connection", "proxy-connection", "keep-alive", "proxy-authorization", "upgrade"];

impl<'a> Head<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Head<'a>> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.trim_end_matches("\r\n").split("\r\n");
        let start = lines.next().filter(|start| !start.is_empty())?;
        Some(Head { start, headers: lines.collect() })
    }

    /// `CONNECT host:port`, or any other method with an absolute address.
    pub(crate) fn asked(&self) -> Option<Asked> {
        // A server may end a line at either alone (RFC 9112 section 2.2), and read a header or a request that was none here.
        let ends_early = |line: &&str| line.is_empty() || line.contains(['\r', '\n']);
        if ends_early(&self.start) || self.headers.iter().any(ends_early) {
            return None;
        }
        let mut words = self.start.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let tunnel = method == "CONNECT";
        // Read as a browser reads it, so that odd spellings of a host are one spelling, or none.
        let address = if tunnel { format!("https://{target}/") } else { target.to_owned() };
        let address = Address::parse(&address).ok()?;
        if !tunnel && address.origin.secure {
            return None;
        }
        let rest = address.to_string()[address.origin.to_string().len()..].to_owned();
        Some(Asked { tunnel, host: address.origin.host, port: address.origin.port, rest })
    }

    /// For the server itself: without the address before the path, one request only.
    pub(crate) fn forwarded(&self, asked: &Asked) -> Vec<u8> {
        let method = self.start.split(' ').next().unwrap_or("GET");
        self.written(&format!("{method} {} HTTP/1.1", asked.rest))
    }

    /// For the browser: the connection ends with this answer.
    pub(crate) fn answered(&self) -> Vec<u8> {
        self.written(self.start)
    }

    fn written(&self, start: &str) -> Vec<u8> {
        let kept = self.headers.iter().filter(|line| {
            let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
            !OWN.contains(&name.as_str())
        });
        let mut text = format!("{start}\r\n");
        kept.for_each(|line| {
            text.push_str(line);
            text.push_str("\r\n");
        });
        text.push_str("Connection: close\r\n\r\n");
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<Asked> {
        Head::parse(format!("{line}\r\nHost: elsewhere.example\r\n\r\n").as_bytes())?.asked()
    }

    #[test]
    fn w_60_the_address_decides_and_not_the_host_header() {
        let found = asked("GET http://a.example:8080/x?y HTTP/1.1").unwrap();
        assert_eq!((found.host.as_str(), found.port, found.tunnel), ("a.example", 8080, false));
        let found = asked("CONNECT a.example:443 HTTP/1.1").unwrap();
        assert_eq!((found.host.as_str(), found.port, found.tunnel), ("a.example", 443, true));
    }

    #[test]
    fn w_62_odd_spellings_of_an_address_are_refused() {
        for target in ["http://2130706433/", "http://0x7f.1/", "http://a@b/", "/x", "ftp://a/", "https://a/"] {
            assert_eq!(asked(&format!("GET {target} HTTP/1.1")), None, "{target}");
        }
        for target in ["0177.0.0.1:80", "a b:1", "x:99999", ""] {
            assert_eq!(asked(&format!("CONNECT {target} HTTP/1.1")), None, "{target}");
        }
    }

    #[test]
    fn attack_w_62_a_line_that_ends_early_hides_no_header_and_no_request() {
        for hidden in ["X: a\nProxy-Authorization: b", "X: a\rUpgrade: b", "X: a\r\n\r\nGET / HTTP/1.1"] {
            let head = format!("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n{hidden}\r\n\r\n");
            assert_eq!(Head::parse(head.as_bytes()).unwrap().asked(), None, "{hidden:?}");
        }
    }

    #[test]
    fn a_request_is_passed_on_alone() {
        let bytes = b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\nCookie: a=b\r\n\r\n";
        let head = Head::parse(bytes).unwrap();
        let sent = String::from_utf8(head.forwarded(&head.asked().unwrap())).unwrap();
        assert_eq!(sent, "GET /x HTTP/1.1\r\nHost: a.example\r\nCookie: a=b\r\nConnection: close\r\n\r\n");
    }
}
