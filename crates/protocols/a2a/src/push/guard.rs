//! SSRF guard for webhooks. Callers choose webhook addresses: they must not lead to what only the hub can reach (section 13.2).

use http::Uri;
use interlingua_model::{Fault, FaultKind};

use interlingua_net::client::guard;
pub use interlingua_net::client::guard::Private;

/// An address that a webhook may have.
pub(super) fn check_url(url: &str, private: Private) -> Result<Uri, Fault> {
    guard::checked(url, private).map_err(|text| {
        let fault = Fault::caller(FaultKind::InvalidInput, format!("the webhook's address {text}"));
        fault.field("url", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_21_urls_that_lead_inside_are_refused_unless_that_is_allowed() {
        for url in [
            "http://localhost/x",
            "http://LOCALHOST./x",
            "https://a.localhost/",
            "http://127.0.0.1:9/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest",
            "http://10.0.0.1/",
        ] {
            assert!(check_url(url, Private::Refused).is_err(), "{url}");
            assert!(check_url(url, Private::Allowed).is_ok(), "{url}");
        }
        for url in ["ftp://example.com/", "/x", "http://", "https://user:pass@example.com/", "not a url"] {
            assert!(check_url(url, Private::Allowed).is_err(), "{url}");
        }
        // What one reader takes for a name and another for a number, or for another port.
        for url in [
            "http://0x7f.1/",
            "http://2130706433/",
            "http://127.1/",
            "http://0177.0.0.1/",
            "http://127.0.0.1../",
            "http://@127.0.0.1/",
            "http://example.com:99999/",
            "http://example.com:0/",
            "http://exa%6dple.com/",
            "http://[127.0.0.1]/",
        ] {
            assert!(check_url(url, Private::Allowed).is_err(), "{url}");
        }
        assert!(check_url("https://example.com/hook?x=1", Private::Refused).is_ok());
    }
}
