//! Validation of the section `a2a` and of a peer beyond their types: the requirements of the hub's own cards, and how agents are reached
//! and trusted.

use std::path::{Path, PathBuf};

use interlingua_keys::jws::{PublicKey, Signer};

use super::{A2a, A2aPeer, A2aSignature};
use crate::client::skills::{CHAT, chat_input};
use interlingua_endpoint::sections::{Around, NamedBy, PeerSection, Section};
use interlingua_model::Schema;
use interlingua_settings::Found;
use interlingua_settings::check::{authorities, is_open, url};

impl Section for A2a {
    fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    fn check(&self, around: &Around<'_>, found: &mut Found) {
        if let Some(url) = &self.url {
            let uri: Option<http::Uri> = url.parse().ok();
            let whole = uri.is_some_and(|uri| {
                matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
            });
            found.require(whole, "a2a.url", "this is no address such as `https://hub.example`");
        }
        if let Some(key) = &self.sign_with {
            let fits = key.expose().text().and_then(Signer::from_pem).is_some();
            found.require(fits, "a2a.sign_with", "this is no private key in PEM that can sign (P-256, Ed25519 or RSA)");
            // Whoever asks for a card by another name would else be given one that is signed for that name.
            let one = self.url.is_some() || around.loopback;
            found.require(one, "a2a.sign_with", "a card is signed for one address: say which in `a2a.url`");
        }
    }
}

impl PeerSection for A2aPeer {
    fn known_inputs(&self) -> Vec<(String, Schema)> {
        vec![(CHAT.into(), chat_input())]
    }

    /// Its card names them.
    fn has_more_skills(&self) -> bool {
        true
    }

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        self.ca.iter_mut().chain(&mut self.keys).collect()
    }

    fn names_addresses(&self) -> bool {
        true
    }

    fn of_words(text: &str) -> Result<A2aPeer, &'static str> {
        Ok(A2aPeer::new(text))
    }

    fn named_by(&self) -> NamedBy<'_> {
        NamedBy::Url(&self.url, Some("agent"))
    }

    fn check(&self, path: &str, found: &mut Found) {
        let uri = match url(&self.url, &["http", "https"]) {
            Ok(uri) => uri,
            Err(message) => return found.refuse(format!("{path}.url"), message),
        };
        if self.has_secret() && !self.insecure && is_open(&uri) {
            found.refuse(path, "the credentials would travel unencrypted; use https, or set `insecure: true` here");
        }
        found.require(
            !(self.token.is_some() && self.basic.is_some()),
            path,
            "expected either a `token` or `basic`, not both",
        );
        for name in self.headers.keys() {
            let known = http::HeaderName::try_from(name.as_str());
            found.require(known.is_ok(), &format!("{path}.headers"), &format!("`{name}` is not the name of a header"));
        }
        authorities(path, self.ca.as_deref(), found);
        signatures(path, self, found);
    }
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
