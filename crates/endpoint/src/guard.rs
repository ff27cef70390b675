//! Request guard (host and origin checks, DNS rebinding): one layer before every path, WebSocket and `/api` included. A refused request is
//! not parsed further.
//!
//! It stops what a web page could make a visitor's browser send: a foreign `Host` (DNS rebinding), a foreign `Origin`, a
//! cross-site fetch, and the content types a page may send without asking (RFC 9110, Fetch "simple requests").

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Method};
use interlingua_model::{Fault, FaultKind, Feature, Subject};

use super::gate::Gate;
use super::paths::PathTable;
use super::{Shared, catch_panic, revocation};
use interlingua_access::sessions::KEY_HEADER;
use interlingua_hub::audit::AuditLine;
use interlingua_net::body_budget;
use interlingua_telemetry::meters::Phase;

/// The content type of HTML forms.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// The headers that decide whether a request is taken, and in whose name. Each is sent once (RFC 9110 section 5.3).
static JUDGED: [HeaderName; 9] = [
    HOST,
    ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
    HeaderName::from_static("sec-fetch-mode"),
    HeaderName::from_static("sec-fetch-dest"),
    CONTENT_TYPE,
    CONTENT_ENCODING,
    AUTHORIZATION,
    KEY_HEADER,
];

/// The page that says what this is.
pub const HOME: &str = "/";
/// The page of the console. Like [`HOME`] it is the same bytes for everybody, so a link of another site may lead to it.
pub const CONSOLE: &str = "/console/";

/// What the guard compares with; made from configuration.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Names a request may give as its host besides loopback's; empty on a listener that is not loopback means any.
    pub hosts: Vec<String>,
    /// The hub has loopback listeners only: then a foreign `Host` is DNS rebinding.
    pub loopback_only: bool,
}

impl Guard {
    /// The layer's function.
    pub async fn check(self, shared: Arc<Shared>, request: Request, next: Next) -> Response {
        let hub = &shared.hub;
        let mut laps = hub.meters().laps();
        let (path, headers) = (request.uri().path(), request.headers());
        let judged = self.judge(&shared.paths, request.method(), path, request.uri().authority(), headers);
        laps.done(Phase::Accept);
        match judged {
            Ok(()) => {
                let uri = request.uri().clone();
                let shown = request.extensions().get().map(|connection| shared.shown(*connection, path, headers));
                // A file goes to disk as it comes.
                let admitted = if shared.paths.is_upload(uri.path()) {
                    Ok((request, None))
                } else {
                    body_budget::admit(&shared.room, request, || shown.as_ref().map(|shown| Gate::new(&shared, shown)))
                };
                let (request, _held) = match admitted {
                    Ok(admitted) => admitted,
                    Err(fault) => {
                        hub.write_audit(
                            AuditLine::new("accept", Subject::Anonymous).on(uri.path()).refused(fault.kind),
                        );
                        return shared.error_format(uri.path()).refuse(&fault);
                    }
                };
                let response = catch_panic::answered(|| shared.error_format(uri.path()), next.run(request)).await;
                match shown {
                    Some(shown) => revocation::watched(&shared, shown, uri.path(), response),
                    None => response,
                }
            }
            Err(fault) => {
                hub.write_audit(AuditLine::new("accept", Subject::Anonymous).on(path).refused(fault.kind));
                shared.error_format(path).refuse(&fault)
            }
        }
    }

    pub(crate) fn judge(
        &self,
        paths: &PathTable,
        method: &Method,
        path: &str,
        authority: Option<&http::uri::Authority>,
        headers: &HeaderMap,
    ) -> Result<(), Fault> {
        check_judged(headers)?;
        let host = authority.map(|authority| authority.as_str()).or_else(|| text(headers, HOST.as_str()));
        if !host.is_none_or(|host| self.knows(host)) {
            return Err(denied("this hub is not known by the name in the Host header"));
        }
        let same_origin =
            |origin: &str| origin.split_once("://").is_some_and(|(_, rest)| Some(rest) == host && self.knows(rest));
        if headers.contains_key(ORIGIN) && !text(headers, ORIGIN.as_str()).is_some_and(same_origin) {
            return Err(denied("requests from other sites' pages are not taken"));
        }
        let visit = *method == Method::GET
            && text(headers, "sec-fetch-mode") == Some("navigate")
            && text(headers, "sec-fetch-dest") == Some("document")
            && (matches!(path, HOME | CONSOLE) || super::oauth::is_visited(path));
        if let (Some("cross-site" | "same-site"), false) = (text(headers, "sec-fetch-site"), visit) {
            return Err(denied("requests from other sites' pages are not taken"));
        }
        check_content_encoding(headers)?;
        check_content_type(paths, method, path, headers)
    }

    fn knows(&self, host: &str) -> bool {
        let name = without_port(host);
        // One of version 6 stands in brackets, and nothing else does (RFC 3986 section 3.2.2).
        let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inner) => inner.parse().map(IpAddr::V6),
            None => name.parse().map(IpAddr::V4),
        };
        let loopback = name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback());
        loopback || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name)) || !self.loopback_only
    }
}

/// With two values a proxy and the hub could each use another one, and an unreadable value cannot be compared: both are refused, never
/// treated as absent.
fn check_judged(headers: &HeaderMap) -> Result<(), Fault> {
    for name in &JUDGED {
        let mut values = headers.get_all(name).iter();
        if values.next().is_some_and(|value| value.to_str().is_err()) {
            return Err(Fault::caller(FaultKind::Malformed, format!("the header {name} is not text")));
        }
        if values.next().is_some() {
            return Err(Fault::caller(FaultKind::Malformed, format!("a request has one {name} header")));
        }
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(at) if !host.ends_with(']') && host[at + 1..].bytes().all(|byte| byte.is_ascii_digit()) => &host[..at],
        _ => host,
    }
}

fn denied(text: &'static str) -> Fault {
    Fault::caller(FaultKind::Denied, text)
}

/// Bodies are read without decompression: a compressed one would be misread, and could grow past any limit.
fn check_content_encoding(headers: &HeaderMap) -> Result<(), Fault> {
    let plain =
        |value: &http::HeaderValue| value.to_str().is_ok_and(|name| name.trim().eq_ignore_ascii_case("identity"));
    if headers.get_all(CONTENT_ENCODING).iter().all(plain) {
        return Ok(());
    }
    Err(Fault::caller(FaultKind::Unsupported(Feature::Media), "compressed bodies are not taken here: send it as it is"))
}

/// A body must have a content type that no page can send without a preflight; uploads may have any.
fn check_content_type(paths: &PathTable, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Fault> {
    if !matches!(*method, Method::POST | Method::PUT | Method::PATCH) || paths.is_upload(path) {
        return Ok(());
    }
    let Some(value) = headers.get(CONTENT_TYPE) else {
        // A client that names none is taken at its bytes; a browser always names one or is caught by its Origin.
        return Ok(());
    };
    let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let json = kind.eq_ignore_ascii_case("application/json") || kind.to_ascii_lowercase().ends_with("+json");
    if json || paths.takes(path, kind) {
        return Ok(());
    }
    let text = format!("content type '{kind}' is not taken here: send application/json");
    Err(Fault::caller(FaultKind::Unsupported(Feature::Media), text))
}

#[cfg(test)]
mod tests {
    use super::super::error_format::{ErrorFormat, Farewell};
    use super::super::paths::PathRules;
    use super::*;

    #[derive(Debug)]
    struct Plain;

    impl ErrorFormat for Plain {
        fn refuse(&self, _: &Fault) -> Response {
            Response::default()
        }

        fn farewell(&self, _: &Fault, _: &HeaderMap) -> Farewell {
            Farewell::Broken
        }
    }

    /// A form is accepted at one path.
    const TABLE: PathTable = PathTable {
        protocols: &[PathRules { takes: |path, media| path == "/ask" && media == FORM, ..PathRules::NONE }],
        default: &Plain,
    };

    fn judge(method: &Method, headers: &[(&'static str, &str)]) -> Option<FaultKind> {
        judge_at("/nlip", method, headers)
    }

    fn judge_at(path: &str, method: &Method, headers: &[(&'static str, &str)]) -> Option<FaultKind> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a header"));
        }
        let guard = Guard { hosts: vec!["hub.example".into()], loopback_only: true };
        guard.judge(&TABLE, method, path, None, &map).err().map(|fault| fault.kind)
    }

    #[test]
    fn attack_a_header_that_is_judged_does_not_come_twice() {
        let guard = Guard { hosts: Vec::new(), loopback_only: true };
        for name in &JUDGED {
            // What the guard would let in, and behind it what it would not.
            let (good, bad) = match name.as_str() {
                "host" => ("localhost", "evil.example"),
                "origin" => ("http://localhost", "http://evil.example"),
                "content-type" => ("application/json", "text/plain"),
                "content-encoding" => ("identity", "gzip"),
                _ => ("same-origin", "cross-site"),
            };
            let mut map = HeaderMap::new();
            map.insert(HOST, http::HeaderValue::from_static("localhost"));
            map.insert(name, http::HeaderValue::from_static(good));
            assert_eq!(
                guard.judge(&TABLE, &Method::POST, "/mcp", None, &map).map_err(|fault| fault.kind),
                Ok(()),
                "{name}"
            );
            map.append(name, http::HeaderValue::from_static(bad));
            let judged = guard.judge(&TABLE, &Method::POST, "/mcp", None, &map).map_err(|fault| fault.kind);
            assert_eq!(judged, Err(FaultKind::Malformed), "{name}");
        }
    }

    #[test]
    fn a_rebound_name_a_foreign_page_and_a_simple_request_are_stopped() {
        let json = ("content-type", "application/json; charset=utf-8");
        let post = Method::POST;
        assert_eq!(judge(&post, &[("host", "127.0.0.1:7447"), json]), None);
        assert_eq!(judge(&post, &[("host", "[::1]:7447"), json]), None);
        assert_eq!(judge(&post, &[("host", "HUB.example"), json]), None);
        for half in ["::1]:7447", "[::1:7447", "[127.0.0.1]:7447", "[[::1]]", "127.0.0.1]"] {
            assert_eq!(judge(&post, &[("host", half), json]), Some(FaultKind::Denied), "{half}");
        }
        assert_eq!(judge(&post, &[("host", "evil.example"), json]), Some(FaultKind::Denied));
        assert_eq!(judge(&post, &[("host", "127.0.0.1.evil.example"), json]), Some(FaultKind::Denied));
        assert_eq!(judge(&post, &[("host", "localhost"), ("origin", "null"), json]), Some(FaultKind::Denied));
        assert_eq!(
            judge(&post, &[("host", "localhost"), ("origin", "http://evil.example"), json]),
            Some(FaultKind::Denied)
        );
        assert_eq!(judge(&post, &[("host", "localhost:1"), ("origin", "http://localhost:1"), json]), None);
        assert_eq!(
            judge(&post, &[("host", "localhost:1"), ("origin", "http://localhost:2"), json]),
            Some(FaultKind::Denied)
        );
        assert_eq!(
            judge(&Method::GET, &[("host", "localhost"), ("sec-fetch-site", "cross-site")]),
            Some(FaultKind::Denied)
        );
        let visit = [
            ("host", "localhost"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(judge(&Method::GET, &visit), Some(FaultKind::Denied), "nobody comes here by another site's link");
        assert_eq!(judge_at("/oauth/callback", &Method::GET, &visit), None);
        for page in [HOME, CONSOLE] {
            assert_eq!(judge_at(page, &Method::GET, &visit), None, "{page}");
            assert_eq!(judge_at(page, &post, &visit), Some(FaultKind::Denied), "{page}");
            assert_eq!(judge_at(page, &Method::GET, &visit[..3]), Some(FaultKind::Denied), "{page}: a fetch");
        }
        assert_eq!(judge_at("/api/session", &Method::GET, &visit), Some(FaultKind::Denied));
        let framed = [
            ("host", "localhost"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ];
        assert_eq!(judge_at("/oauth/callback", &Method::GET, &framed), Some(FaultKind::Denied));
        assert_eq!(judge_at("/oauth/callback", &post, &visit), Some(FaultKind::Denied));
        assert_eq!(judge(&post, &[("content-type", "application/nlip+json")]), None);
        assert_eq!(judge(&post, &[("content-encoding", "identity"), json]), None);
        assert_eq!(judge(&post, &[("content-encoding", "gzip"), json]), Some(FaultKind::Unsupported(Feature::Media)));
        let form = ("content-type", FORM);
        assert_eq!(judge_at("/ask", &post, &[("host", "localhost"), form]), None);
        assert_eq!(
            judge_at("/ask", &post, &[("host", "localhost"), ("origin", "http://evil.example"), form]),
            Some(FaultKind::Denied)
        );
        assert_eq!(judge(&post, &[("host", "localhost"), form]), Some(FaultKind::Unsupported(Feature::Media)));
        assert_eq!(
            judge(&post, &[("host", "localhost"), ("content-type", "text/plain")]),
            Some(FaultKind::Unsupported(Feature::Media))
        );
    }
}
