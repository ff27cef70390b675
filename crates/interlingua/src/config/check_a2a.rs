//! What types cannot say of A2A: what the hub's own cards need, and how agents are reached and believed.

use std::path::Path;

use interlingua_drivers::jws::{PublicKey, Signer};

use super::check::{Found, authorities, is_open, url};
use super::{A2aPeer, A2aSignature, Config};

pub(super) fn hub(config: &Config, found: &mut Found) {
    let a2a = &config.a2a;
    if let Some(url) = &a2a.url {
        let uri: Option<http::Uri> = url.parse().ok();
        let whole = uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
        });
        found.require(whole, "a2a.url", "this is no address such as `https://hub.example`");
    }
    if let Some(key) = &a2a.sign_with {
        let fits = key.expose().text().and_then(Signer::from_pem).is_some();
        found.require(fits, "a2a.sign_with", "this is no private key in PEM that can sign (P-256, Ed25519 or RSA)");
        // Whoever asks for a card by another name would else be given one that is signed for that name.
        let one = a2a.url.is_some() || config.listen.0.ip().is_loopback();
        found.require(one, "a2a.sign_with", "a card is signed for one address: say which in `a2a.url`");
    }
}

pub(super) fn peer(path: &str, a2a: &A2aPeer, found: &mut Found) {
    let uri = match url(&a2a.url, &["http", "https"]) {
        Ok(uri) => uri,
        Err(message) => return found.refuse(format!("{path}.url"), message),
    };
    if a2a.has_secret() && !a2a.insecure && is_open(&uri) {
        found.refuse(path, "the credentials would travel unencrypted; use https, or set `insecure: true` here");
    }
    found.require(
        !(a2a.token.is_some() && a2a.basic.is_some()),
        path,
        "expected either a `token` or `basic`, not both",
    );
    for name in a2a.headers.keys() {
        let known = http::HeaderName::try_from(name.as_str());
        found.require(known.is_ok(), &format!("{path}.headers"), &format!("`{name}` is not the name of a header"));
    }
    authorities(path, a2a.ca.as_deref(), found);
    signatures(path, a2a, found);
}

/// Who may sign a card.
fn signatures(path: &str, a2a: &A2aPeer, found: &mut Found) {
    if let Some(file) = &a2a.keys {
        let wanted = "expected a file of public keys: PEM, a JSON Web Key or a set of them (P-256, Ed25519 or RSA)";
        found.require(holds_keys(file), &format!("{path}.keys"), wanted);
    }
    for given in &a2a.key_urls {
        let at = format!("{path}.key_urls");
        match url(given, &["http", "https"]) {
            Ok(uri) => {
                found.require(!is_open(&uri), &at, "keys that can be changed on the way prove nothing; use https")
            }
            Err(message) => found.refuse(at, message),
        }
    }
    let named = a2a.keys.is_some() || !a2a.key_urls.is_empty();
    let wanted = "a signature can be required where `keys` or `key_urls` say whose";
    found.require(named || a2a.signature != A2aSignature::Require, &format!("{path}.signature"), wanted);
}

/// By its form; whether a key of it can be used is seen when the peer is made.
fn holds_keys(file: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else { return false };
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(json) => json.get("keys").is_some_and(serde_json::Value::is_array) || json.get("kty").is_some(),
        Err(_) => !PublicKey::all_from_pem(&text).is_empty(),
    }
}
