//! Invariants of a request's head for any headers: a request that the guard admits names this hub and comes from no other site's page, and
//! what is written from a head is exactly one head.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use interlingua::endpoints::PATHS;
use interlingua_model::Time;
use interlingua_net::fuzzing;
use interlingua_telemetry::trace;
use interlingua_wire::hub_headers::{Headers, Hop};

const HOST: &str = "hub.example";

/// A start line (`POST /nlip`), then one header a line.
pub(crate) fn request(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let start = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (method, target) = start.split_once(' ').unwrap_or(("GET", &start));
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), target.parse::<Uri>()) else { return };
    let mut headers = HeaderMap::new();
    for line in lines.take(64) {
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(at + 1..).unwrap_or_default().trim_ascii();
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(&line[..at]), HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    if interlingua_endpoint::fuzzing::judge(&PATHS, HOST, &method, &uri, &headers).is_none() {
        admitted(&method, &uri, &headers);
    }
    if let Some(accept) = fuzzing::websocket_accept(&headers) {
        assert_eq!(accept.len(), 28, "twenty bytes in base64");
    }
    let _ = trace::of_headers(&headers);
    if let Some(hop) = hop(&headers) {
        assert!(hop.via.is_none_or(|via| via.hubs.len() <= usize::from(via.limit)));
    }
}

/// A deadline, a chain of hubs and what else hubs tell one another.
fn hop(headers: &HeaderMap) -> Option<Hop> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    Headers::read(text).decode(Time(1_000)).ok()
}

fn admitted(method: &Method, uri: &Uri, headers: &HeaderMap) {
    let all = |name: &str| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect::<Vec<_>>();
    let hosts = all("host");
    assert!(hosts.len() <= 1, "two hosts");
    let host = uri.authority().map(|authority| authority.as_str()).or(hosts.first().copied());
    assert!(host.is_none_or(is_ours), "{host:?} is let in");
    for origin in all("origin") {
        let rest = origin.split_once("://").map(|(_, rest)| rest);
        assert!(rest == host && rest.is_some(), "a page of {origin} is let in at {host:?}");
    }
    let foreign = all("sec-fetch-site").iter().any(|site| matches!(*site, "cross-site" | "same-site"));
    let visited = *method == Method::GET
        && (uri.path().starts_with("/oauth/") || matches!(uri.path(), "/" | "/console/"))
        && all("sec-fetch-mode") == ["navigate"]
        && all("sec-fetch-dest") == ["document"];
    assert!(!foreign || visited, "a page of another site is let in");
    assert!(all("content-encoding").iter().all(|name| name.eq_ignore_ascii_case("identity")));
}

/// Loopback or the hub's own name, read here another way.
fn is_ours(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, port)) => (name, port),
        None => match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, ""),
            _ => (host, ""),
        },
    };
    let port_is_fine = port.is_empty() || port.starts_with(':');
    let loopback = name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    port_is_fine && (loopback || [HOST, "localhost"].iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// What the proxy of the browser passes on is one request and nothing more.
pub(crate) fn proxy(data: &[u8]) {
    let Some((host, port, sent)) = interlingua_sites::fuzzing::proxied(data) else { return };
    assert!(!host.is_empty() && port > 0);
    let sent = String::from_utf8(sent).expect("a head is text");
    let (head, rest) = sent.split_once("\r\n\r\n").expect("a head ends");
    assert!(rest.is_empty(), "a second request: {sent:?}");
    assert!(!head.replace("\r\n", "").contains(['\r', '\n']), "a line that ends early: {sent:?}");
    let own = |line: &str| {
        let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        ["proxy-authorization", "proxy-connection", "upgrade"].contains(&name.as_str())
    };
    assert!(!head.split("\r\n").skip(1).any(own), "{sent:?}");
}

/// The first byte says where the rest, frames of a WebSocket, is cut.
pub(crate) fn websocket(data: &[u8]) {
    let [cut, bytes @ ..] = data else { return };
    let whole = fuzzing::websocket_messages(&[bytes]);
    let (head, tail) = bytes.split_at(usize::from(*cut) % (bytes.len() + 1));
    assert_eq!(fuzzing::websocket_messages(&[head, tail]), whole);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(fuzzing::websocket_messages(&single), whole);
    assert!(whole <= bytes.len() / 2, "a frame has two bytes at least");
}
