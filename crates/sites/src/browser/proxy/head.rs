//! The head of an HTTP/1.1 message, as far as a proxy must understand it.

use std::fmt;

use httparse::{EMPTY_HEADER, Header, ParserConfig, Request, Response, Status};
use interlingua_model::address::Address;

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

/// Whom a request is for, and its head for the server itself: without the address before the path, one request only.
pub(crate) fn request(bytes: &[u8]) -> Option<(Asked, Vec<u8>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    // A server may end a line at either alone (RFC 9112 section 2.2), as the library does, and read a header that was none here.
    if text.replace("\r\n", "").contains(['\r', '\n']) {
        return None;
    }
    let mut headers = room(bytes);
    let mut request = Request::new(&mut headers);
    let whole = request.parse(bytes).ok() == Some(Status::Complete(bytes.len()));
    let (method, target) = (request.method?, request.path?);
    let asked = asked(method, target).filter(|_| whole && !bytes.starts_with(b"\r\n"))?;
    let forwarded = written(format!("{method} {} HTTP/1.1", asked.rest).as_bytes(), request.headers);
    Some((asked, forwarded))
}

/// `CONNECT host:port`, or any other method with an absolute address.
fn asked(method: &str, target: &str) -> Option<Asked> {
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

/// The head of an answer, for the browser: the connection ends with it. `None`: it is no answer.
pub(crate) fn answer(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut headers = room(bytes);
    let mut response = Response::new(&mut headers);
    // As browsers do: a line that is no header spoils no page.
    let read = ParserConfig::default()
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true)
        .ignore_invalid_headers_in_responses(true)
        .parse_response(&mut response, bytes);
    let Ok(Status::Complete(end)) = read else { return None };
    let start = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut answer = written(start.trim_ascii_end(), response.headers);
    // A server that ends its lines with a line feed alone has begun its body before the empty line that was looked for.
    answer.extend_from_slice(&bytes[end..]);
    Some(answer)
}

/// A header for each line: the length of a head is bounded, so their number is.
fn room(bytes: &[u8]) -> Vec<Header<'_>> {
    vec![EMPTY_HEADER; bytes.iter().filter(|byte| **byte == b'\n').count()]
}

/// One line for each header: one that was folded into several (RFC 9112 section 5.2) is one again.
fn written(start: &[u8], headers: &[Header<'_>]) -> Vec<u8> {
    let mut head = [start, b"\r\n"].concat();
    for header in headers.iter().filter(|header| !OWN.iter().any(|own| header.name.eq_ignore_ascii_case(own))) {
        head.extend_from_slice(header.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend(header.value.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }));
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<Asked> {
        request(format!("{line}\r\nHost: elsewhere.example\r\n\r\n").as_bytes()).map(|(asked, _)| asked)
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
            assert_eq!(request(head.as_bytes()), None, "{hidden:?}");
        }
    }

    #[test]
    fn a_request_is_passed_on_alone() {
        let bytes = b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\nCookie: a=b\r\n\r\n";
        let (_, sent) = request(bytes).unwrap();
        let sent = String::from_utf8(sent).unwrap();
        assert_eq!(sent, "GET /x HTTP/1.1\r\nHost: a.example\r\nCookie: a=b\r\nConnection: close\r\n\r\n");
    }

    #[test]
    fn attack_w_62_what_is_no_request_is_none() {
        for head in [
            "\r\nGET http://a.example/ HTTP/1.1\r\n\r\n",
            "GET  http://a.example/ HTTP/1.1\r\n\r\n",
            "GET http://a.example/ HTTP/1.1 x\r\n\r\n",
            "GET http://a.example/ HTTP/2.0\r\n\r\n",
            "GET http://a.example/\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nProxy-Authorization : b\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nX: a\r\n Upgrade: b\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nno header\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\n",
            "",
        ] {
            assert_eq!(request(head.as_bytes()), None, "{head:?}");
        }
    }

    /// The spelling of a header is brought into one form, so that what is dropped here is not there for the server either. How long the
    /// body is nobody asks here: all that follows goes to this server, and nothing comes after it on this connection.
    #[test]
    fn attack_w_62_headers_go_out_in_one_spelling() {
        let head = "POST http://a.example/?q={a}|^`b' HTTP/1.1\r\nhost:a.example\r\nX:\t a, b \r\nX:\r\nUPGRADE:h2c\r\n\
                    Content-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nCookie: n=\u{e9}\r\n\r\n";
        let (_, sent) = request(head.as_bytes()).unwrap();
        let expected = "POST /?q={a}|^`b' HTTP/1.1\r\nhost: a.example\r\nX: a, b\r\nX: \r\n\
                        Content-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nCookie: n=\u{e9}\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8(sent).unwrap(), expected);
        for value in ["\u{b}chunked", "chunked\0", "chunked\u{7f}"] {
            let head = format!("GET http://a.example/ HTTP/1.1\r\nTransfer-Encoding: {value}\r\n\r\n");
            assert_eq!(request(head.as_bytes()), None, "{value:?}");
        }
    }

    #[test]
    fn an_answer_ends_the_connection_whatever_the_server_writes() {
        let head = b"HTTP/1.0 404 Non trouv\xe9\r\nSet-Cookie: a=b; c\r\nset-cookie:d=e\r\nConnection: keep-alive\r\nX-Name: \xe9\r\nno header\r\nUpgrade : h2c\r\n\r\n";
        let expected = b"HTTP/1.0 404 Non trouv\xe9\r\nSet-Cookie: a=b; c\r\nset-cookie: d=e\r\nX-Name: \xe9\r\nConnection: close\r\n\r\n";
        assert_eq!(answer(head).unwrap(), expected);
        assert_eq!(answer(b"HTTP/1.1 200\r\n\r\n").unwrap(), b"HTTP/1.1 200\r\nConnection: close\r\n\r\n");
        assert_eq!(answer(b"220 mail.example\r\n\r\n"), None);
        assert_eq!(answer(b"HTTP/1.1 200 OK\r\nX: a\rConnection: keep-alive\r\n\r\n"), None);
    }

    #[test]
    fn attack_w_62_a_folded_line_hides_no_header_of_an_answer() {
        let head = b"HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nConnection: x\r\n Set-Cookie: c=d\r\nY: e\r\n\r\n";
        let expected = b"HTTP/1.1 200 OK\r\nX: a  \tb\r\nY: e\r\nConnection: close\r\n\r\n";
        assert_eq!(answer(head).unwrap(), expected);
    }

    /// As some small servers write: the head ends before the proxy looked for its end.
    #[test]
    fn an_answer_with_bare_line_feeds_keeps_its_body() {
        let head = b"HTTP/1.1 200 OK\nX: a\n\nbody\r\n\r\n";
        let expected = b"HTTP/1.1 200 OK\r\nX: a\r\nConnection: close\r\n\r\nbody\r\n\r\n";
        assert_eq!(answer(head).unwrap(), expected);
    }
}
