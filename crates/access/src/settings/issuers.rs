//! Trusted issuers of JSON Web Tokens (OpenID Connect), such as a company runs for all its programs.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::check::{authorities, is_open, url};
use interlingua_settings::{Found, Span};

/// An issuer of tokens. A caller with one of its tokens is `user:NAME/SUBJECT`, with the name of this entry.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// The issuer exactly as its tokens name it (`iss`).
    pub issuer: String,
    /// Accepted audiences of its tokens (`aud`). Default: `hub.url`, and its `/mcp`.
    #[serde(default)]
    pub audience: Vec<String>,
    /// Its public keys: the address of a JSON Web Key Set, which is refreshed from time to time; or the set itself,
    /// `file:PATH`.
    pub keys: String,
    /// Certificate authorities (a PEM file) to trust instead of the system's when the keys are fetched.
    pub ca: Option<PathBuf>,
    /// Skills that all its tokens may call, as `peer/skill`; `*` matches any characters.
    #[serde(default)]
    pub skills: Vec<String>,
    /// What each scope of a token allows: skills, `approve`, `register`. Without it scopes are read as if they were written
    /// here: `hotels/*` allows all skills of `hotels`.
    #[serde(default)]
    pub scopes: IndexMap<String, Vec<String>>,
    /// The claim that lists roles for `policy`, such as `groups`.
    pub roles: Option<String>,
    /// Tolerated clock skew. Default: 60s.
    #[serde(default = "skew")]
    pub skew: Span,
}

fn skew() -> Span {
    Span(Duration::from_secs(60))
}

impl Issuer {
    /// The set itself, when it is not at an address.
    pub fn key_set(&self) -> Option<&str> {
        self.keys.trim_start().starts_with('{').then_some(self.keys.as_str())
    }

    /// `hub_url`: where others reach the hub.
    pub fn audiences(&self, hub_url: Option<&str>) -> Vec<String> {
        match hub_url {
            Some(url) if self.audience.is_empty() => {
                let url = url.trim_end_matches('/');
                vec![url.to_owned(), format!("{url}/"), format!("{url}/mcp")]
            }
            Some(_) | None => self.audience.clone(),
        }
    }
}

pub(super) fn check(issuers: &IndexMap<String, Issuer>, hub_url: Option<&str>, found: &mut Found) {
    for (name, issuer) in issuers {
        let path = format!("access.issuers.{name}");
        let at = |key: &str| format!("{path}.{key}");
        let named = !name.is_empty() && name.len() <= 64 && !name.contains(|c: char| c.is_control() || c == '/');
        found.require(named, &path, "an issuer's name is 1 to 64 characters without `/`");
        found.require(!issuer.issuer.is_empty(), &at("issuer"), "expected what its tokens call it");
        let meant = "say whom its tokens are meant for, here or with `hub.url`: others' tokens must not count here";
        found.require(!issuer.audiences(hub_url).is_empty(), &at("audience"), meant);
        match issuer.key_set() {
            Some(set) => {
                let keys = interlingua_model::Json::parse(set.to_owned().into()).ok();
                let keys = keys.and_then(|json| interlingua_wire::jwk::key_set(&json));
                let usable = keys.is_some_and(|keys| !keys.is_empty());
                found.require(usable, &at("keys"), "expected a JSON Web Key Set with RSA, P-256 or Ed25519 keys");
            }
            None => match url(&issuer.keys, &["https", "http"]) {
                Ok(uri) if is_open(&uri) => {
                    found.refuse(at("keys"), "keys are read by https: whoever changes them on the way is believed");
                }
                Ok(_) => authorities(&path, issuer.ca.as_deref(), found),
                Err(message) => found.refuse(at("keys"), message),
            },
        }
    }
    let twice = |issuer: &String| issuers.values().filter(|other| other.issuer == *issuer).count() > 1;
    for (name, _) in issuers.iter().filter(|(_, issuer)| twice(&issuer.issuer)) {
        found.refuse(format!("access.issuers.{name}.issuer"), "another entry has the same issuer");
    }
}
