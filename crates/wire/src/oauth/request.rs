//! Authorization and token requests of a client.
//!
//! Every request names the resource that the token is for (RFC 8707), so the token is valid for no other.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use interlingua_model::{Digest, Secret};
use zeroize::Zeroizing;

use super::client::Client;
use super::form::{self, Form};
use super::metadata::Method;
use super::scope::Scopes;
use crate::object::Object;

/// What proves at the token endpoint that whoever brings the code is whoever asked for it (RFC 7636).
#[derive(Debug, Clone, PartialEq)]
pub struct Pkce {
    pub verifier: Secret,
    pub challenge: String,
}

impl Pkce {
    /// From 256 random bits.
    pub fn new(random: &[u8; 32]) -> Pkce {
        let verifier = Zeroizing::new(URL_SAFE_NO_PAD.encode(random));
        let challenge = URL_SAFE_NO_PAD.encode(Digest::of(verifier.as_bytes()).0);
        Pkce { verifier: Secret::new(verifier.as_bytes()), challenge }
    }
}

/// A person is to say yes to this.
#[derive(Debug)]
pub struct Authorization<'a> {
    pub endpoint: &'a str,
    pub client: &'a str,
    pub redirect: &'a str,
    pub state: &'a str,
    pub challenge: &'a str,
    pub resource: &'a str,
    pub scopes: &'a Scopes,
}

impl Authorization<'_> {
    /// Where the person's browser goes.
    pub fn url(&self) -> String {
        let mut query = Form::default();
        query.add("response_type", "code");
        query.add("client_id", self.client);
        query.add("redirect_uri", self.redirect);
        query.add("state", self.state);
        query.add("code_challenge", self.challenge);
        query.add("code_challenge_method", "S256");
        query.add("resource", self.resource);
        if !self.scopes.is_empty() {
            query.add("scope", &self.scopes.to_string());
        }
        let separator = if self.endpoint.contains('?') { '&' } else { '?' };
        format!("{}{separator}{}", self.endpoint, *query.into_text())
    }
}

/// What the token endpoint is asked for.
#[derive(Debug)]
pub enum Grant<'a> {
    Code { code: &'a str, redirect: &'a str, verifier: &'a str },
    Refresh { token: &'a str },
    Client { scopes: &'a Scopes },
}

/// A request to the token endpoint.
pub struct TokenRequest {
    pub body: Zeroizing<String>,
    /// `Authorization`, where the client shows itself by it.
    pub authorization: Option<Zeroizing<String>>,
}

impl std::fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenRequest(…)")
    }
}

/// `assertion`: signed by the client's key, where that is how it shows itself.
pub fn token(grant: &Grant<'_>, client: &Client, resource: &str, assertion: Option<&str>) -> TokenRequest {
    let mut form = Form::default();
    match grant {
        Grant::Code { code, redirect, verifier } => {
            form.add("grant_type", "authorization_code");
            form.add("code", code);
            form.add("redirect_uri", redirect);
            form.add("code_verifier", verifier);
        }
        Grant::Refresh { token } => {
            form.add("grant_type", "refresh_token");
            form.add("refresh_token", token);
        }
        Grant::Client { scopes } => {
            form.add("grant_type", "client_credentials");
            if !scopes.is_empty() {
                form.add("scope", &scopes.to_string());
            }
        }
    }
    form.add("resource", resource);
    let secret = client.secret.as_ref().and_then(Secret::text).unwrap_or_default();
    let mut authorization = None;
    match client.method {
        Method::None => form.add("client_id", &client.id),
        Method::SecretBasic => authorization = Some(basic(&client.id, secret)),
        Method::SecretPost => {
            form.add("client_id", &client.id);
            form.add("client_secret", secret);
        }
        Method::PrivateKeyJwt => {
            form.add("client_id", &client.id);
            form.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
            form.add("client_assertion", assertion.unwrap_or_default());
        }
    }
    TokenRequest { body: form.into_text(), authorization }
}

/// Both are escaped first (RFC 6749 section 2.3.1).
fn basic(id: &str, secret: &str) -> Zeroizing<String> {
    let mut pair = Zeroizing::new(String::new());
    form::encode(id, &mut pair);
    pair.push(':');
    form::encode(secret, &mut pair);
    Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
}

/// How a client's assertion is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Es256,
    EdDsa,
    Rs256,
}

impl Algorithm {
    fn as_str(self) -> &'static str {
        match self {
            Algorithm::Es256 => "ES256",
            Algorithm::EdDsa => "EdDSA",
            Algorithm::Rs256 => "RS256",
        }
    }
}

/// How long an assertion is good for, in seconds.
const ASSERTED: u64 = 60;

/// What is to be signed of an assertion (RFC 7523 section 3): its audience is the issuer, so that it is good nowhere else.
/// `now` in seconds.
pub fn assertion(algorithm: Algorithm, client: &str, issuer: &str, now: u64, id: &str) -> String {
    let header = Object::json(|object| {
        object.text("alg", algorithm.as_str());
        object.text("typ", "JWT");
    });
    let claims = Object::json(|object| {
        object.text("iss", client);
        object.text("sub", client);
        object.text("aud", issuer);
        object.text("jti", id);
        object.number("iat", now);
        object.number("exp", now + ASSERTED);
    });
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header.as_bytes()), URL_SAFE_NO_PAD.encode(claims.as_bytes()))
}

/// The assertion with its signature.
pub fn signed(input: &str, signature: &[u8]) -> Zeroizing<String> {
    Zeroizing::new(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
