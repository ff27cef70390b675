//! Requests that a web page can make a user's browser send to a hub on the same machine.

/// Headers a browser adds, or that an attacker's name service brings about, and the statuses that answer them.
#[derive(Debug)]
pub struct CrossSiteCase {
    pub name: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub statuses: &'static [u16],
}

/// Requests from a foreign page. Each is refused before its body means anything, on every path alike.
pub const CROSS_SITE: &[CrossSiteCase] = &[
    CrossSiteCase { name: "a foreign origin", headers: &[("origin", "https://evil.example")], statuses: &[403] },
    CrossSiteCase { name: "an opaque origin", headers: &[("origin", "null")], statuses: &[403] },
    CrossSiteCase {
        name: "a foreign origin that begins like ours",
        headers: &[("origin", "http://127.0.0.1.evil.example")],
        statuses: &[403],
    },
    CrossSiteCase { name: "an origin that is no URL", headers: &[("origin", "evil")], statuses: &[400, 403] },
    CrossSiteCase {
        name: "fetch metadata: cross-site",
        headers: &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
        statuses: &[403],
    },
    CrossSiteCase {
        name: "fetch metadata: same-site, another port",
        headers: &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
        statuses: &[403],
    },
    CrossSiteCase { name: "a rebound name", headers: &[("host", "evil.example")], statuses: &[400, 403, 421] },
    CrossSiteCase {
        name: "a rebound name with our port",
        headers: &[("host", "evil.example:7447")],
        statuses: &[400, 403, 421],
    },
    CrossSiteCase {
        name: "a rebound name and a fitting origin",
        headers: &[("host", "evil.example"), ("origin", "http://evil.example")],
        statuses: &[400, 403, 421],
    },
];

/// The preflight of a foreign page: whatever the status, it must not be allowed.
pub const PREFLIGHT: &[(&str, &str)] = &[
    ("origin", "https://evil.example"),
    ("access-control-request-method", "POST"),
    ("access-control-request-headers", "content-type"),
    ("access-control-request-private-network", "true"),
];
