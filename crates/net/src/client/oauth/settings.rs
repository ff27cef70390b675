//! The setting `oauth` of a peer: how the hub gets a token that a server requires (OAuth 2.1).

use interlingua_keys::jws::Signer;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::check::url;
use interlingua_settings::{Found, Secret};

/// OAuth settings. All are optional: the server states what it requires, and the hub registers itself as a client if needed.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OAuth {
    pub grant: OAuthGrant,
    /// The client id of the hub at the authorization server, if you registered it there. The redirect address is
    /// `/oauth/callback` at `hub.url`.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    /// Instead of a secret: a signing key in PEM form (P-256, Ed25519 or RSA); `file:PATH`.
    pub private_key: Option<Secret>,
    /// The address of a document that describes the client. Default: one of the hub's own for each authorization server, where
    /// `hub.url` begins with https.
    pub client_metadata: Option<String>,
    /// The only trusted authorization server, as it names itself: `client_secret` and `private_key` are sent nowhere else.
    /// Default: the first one that the server names is pinned, and another is refused.
    pub issuer: Option<String>,
    /// Scopes to request. Default: those that the server names.
    pub scopes: Vec<String>,
    /// Allow an authorization server inside the hub's own network. Without it a server that is itself inside may name its own
    /// address there, on any port.
    pub private_addresses: bool,
}

/// The OAuth grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OAuthGrant {
    /// A person signs in with a browser.
    #[default]
    AuthorizationCode,
    /// Client credentials: the hub authenticates with its secret or its key, without a person.
    ClientCredentials,
}

impl OAuth {
    pub fn check(&self, path: &str, found: &mut Found) {
        let at = |key: &str| format!("{path}.{key}");
        let shows = self.client_secret.is_some() || self.private_key.is_some();
        found.require(
            !shows || self.client_id.is_some(),
            &at("client_id"),
            "a secret or a key belongs to a client: name it",
        );
        let one = self.client_secret.is_none() || self.private_key.is_none();
        found.require(one, path, "either a `client_secret` or a `private_key`, not both");
        if self.grant == OAuthGrant::ClientCredentials {
            found.require(shows, path, "`client_credentials` need a `client_secret` or a `private_key`");
        }
        if let Some(key) = &self.private_key {
            let readable = key.expose().text().and_then(Signer::from_pem).is_some();
            found.require(readable, &at("private_key"), "expected a private key in PEM form, P-256, Ed25519 or RSA");
        }
        if let Some(given) = &self.issuer
            && let Err(message) = url(given, &["http", "https"])
        {
            found.refuse(at("issuer"), message);
        }
        if let Some(given) = &self.client_metadata
            && let Err(message) = url(given, &["https"])
        {
            found.refuse(at("client_metadata"), message);
        }
        for scope in &self.scopes {
            let fits =
                !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
            found.require(fits, &at("scopes"), "a scope has no spaces and no quotation marks");
        }
    }
}
