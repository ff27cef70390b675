//! What must hold of the cookie of a session, for any bytes: what is set is one cookie with its attributes and is read again, and of
//! cookies that come nothing is taken for a session's that another reading does not find.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use interlingua_access::fuzzing::session_cookies;
use interlingua_access::sessions::named;

const NAMES: [&[u8]; 3] = [b"interlingua-", b"__Host-interlingua-", b"__Secure-interlingua-"];
const MOST: usize = 16;

/// The id of a hub, the address it is reached at, then one `Cookie` header a line.
pub(crate) fn session(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let hub = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let base = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut headers = HeaderMap::new();
    for line in lines.take(64) {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(COOKIE, value);
        }
    }
    let found = session_cookies(&headers);
    let expected: Vec<&[u8]> = headers.get_all(COOKIE).iter().flat_map(|header| again(header.as_bytes())).collect();
    assert_eq!(found.len(), expected.len().min(MOST));
    assert!(found.iter().zip(expected).all(|(found, expected)| found.as_bytes() == expected));
    is_set(&hub, &base);
}

/// The values of one header, read byte by byte.
fn again(header: &[u8]) -> Vec<&[u8]> {
    if !header.iter().all(|byte| *byte == b'\t' || (b' '..=b'~').contains(byte)) {
        return Vec::new();
    }
    let pairs = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let named = pairs.filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        NAMES.iter().any(|name| pair[..at].starts_with(name)).then(|| &pair[at + 1..])
    });
    named.collect()
}

/// Whatever the address is made of, the header says nothing beyond one cookie and where it belongs.
fn is_set(hub: &str, base: &str) {
    let cookie = named(hub, base);
    for (set, value) in [(cookie.set("0af"), "0af"), (cookie.removed(), "")] {
        let parts: Vec<&str> = set.split(';').map(str::trim).filter(|part| *part != "Max-Age=0").collect();
        let [pair, path, "HttpOnly", "SameSite=Strict", secure @ ..] = parts.as_slice() else {
            panic!("other attributes: {set:?}")
        };
        assert!(path.starts_with("Path=/") && path.ends_with('/'), "{set:?}");
        assert!(matches!(secure, [] | ["Secure"]), "{set:?}");
        assert_eq!(pair.starts_with("__"), !secure.is_empty(), "a prefix says that it is secure: {set:?}");
        assert!(!pair.starts_with("__Host-") || *path == "Path=/", "{set:?}");
        HeaderValue::from_str(&set).expect("a header");
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(pair).expect("a header"));
        assert_eq!(session_cookies(&headers), [value], "{set:?}");
    }
}
