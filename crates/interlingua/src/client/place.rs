//! Which addresses are still a peer's own. What a peer says must not send the hub's requests to other machines.

use http::Uri;

/// An address that the peer at `origin` gave, if it is the peer's own: the same host, on any port, and no less protected.
/// One without a host is a path at `origin`.
pub(crate) fn own(origin: &Uri, given: &str) -> Option<Uri> {
    let uri: Uri = given.parse().ok()?;
    if uri.authority().is_none() {
        let mut parts = origin.clone().into_parts();
        parts.path_and_query = Some(uri.path_and_query()?.clone());
        return Uri::from_parts(parts).ok();
    }
    let same_host = uri.host()?.eq_ignore_ascii_case(origin.host()?);
    let safe = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => origin.scheme_str() == Some("http"),
        Some(_) | None => false,
    };
    (same_host && safe).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_peers_own_host_is_followed_and_never_to_less_protection() {
        let plain = Uri::from_static("http://agent:1/nlip");
        for given in ["http://agent:2/up", "https://agent/up", "/up"] {
            assert!(own(&plain, given).is_some(), "{given}");
        }
        assert_eq!(own(&plain, "/up/1").expect("a path"), "http://agent:1/up/1");
        for foreign in ["http://other/up", "ftp://agent/up", "http://agent.evil/", "not a uri \u{7}"] {
            assert!(own(&plain, foreign).is_none(), "{foreign}");
        }
        assert!(own(&Uri::from_static("https://agent/nlip"), "http://agent/up").is_none());
    }
}
