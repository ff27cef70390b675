//! Metadata of a resource (RFC 9728) and of an authorization server (RFC 8414, OpenID Connect Discovery).

use bytes::Bytes;

use super::address::{covers, is_safe};
use super::scope::Scopes;
use super::{Invalid, document, texts};

/// A protected resource: a server that wants tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What tokens are asked for (RFC 8707).
    pub resource: String,
    /// Its authorization servers, the one to use first.
    pub servers: Vec<String>,
    pub scopes: Scopes,
}

impl Resource {
    /// Of the server at `server`: metadata for another one is refused (RFC 9728 section 3.3), and so are authorization servers
    /// that are not asked.
    pub fn decode(bytes: &Bytes, server: &str) -> Result<Resource, Invalid> {
        let members = document(bytes)?;
        let resource = members.text("resource").ok_or(Invalid::Field("resource"))?.into_owned();
        if !covers(&resource, server) {
            return Err(Invalid::Resource);
        }
        let named = texts(&members, "authorization_servers").unwrap_or_default();
        let first = named.first().ok_or(Invalid::Field("authorization_servers"))?;
        if !is_safe(first, server) {
            return Err(Invalid::Address("authorization_servers"));
        }
        let servers = named.into_iter().filter(|address| is_safe(address, server)).collect();
        let scopes = texts(&members, "scopes_supported").unwrap_or_default();
        Ok(Resource { resource, servers, scopes: Scopes::of(scopes.iter().map(String::as_str)) })
    }

    /// Of a server that says nothing of itself: its authorization server is at its own origin (2025-03-26).
    pub fn assumed(server: &str, origin: String) -> Resource {
        Resource { resource: server.to_owned(), servers: vec![origin], scopes: Scopes::default() }
    }
}

/// How a client shows at the token endpoint who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    None,
    SecretBasic,
    SecretPost,
    PrivateKeyJwt,
}

impl Method {
    pub const ALL: [Method; 4] = [Method::None, Method::SecretBasic, Method::SecretPost, Method::PrivateKeyJwt];

    pub fn as_str(self) -> &'static str {
        match self {
            Method::None => "none",
            Method::SecretBasic => "client_secret_basic",
            Method::SecretPost => "client_secret_post",
            Method::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub fn parse(text: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationServer {
    pub issuer: String,
    /// Absent where only machines are clients.
    pub authorize: Option<String>,
    pub token: String,
    pub register: Option<String>,
    pub methods: Vec<Method>,
    pub scopes: Scopes,
    /// PKCE with S256 is offered.
    pub pkce: bool,
    /// A client may be known by a document at its address.
    pub documents: bool,
    /// The answer that a browser brings back names its issuer (RFC 9207).
    pub names_issuer: bool,
}

impl AuthorizationServer {
    /// The metadata that was found for `issuer`, on behalf of `server`. Its own `issuer` must be the same, letter by letter
    /// (RFC 8414 section 3.3).
    pub fn decode(bytes: &Bytes, issuer: &str, server: &str) -> Result<AuthorizationServer, Invalid> {
        let members = document(bytes)?;
        if members.text("issuer").as_deref() != Some(issuer) {
            return Err(Invalid::Issuer);
        }
        let endpoint = |key: &'static str| match members.text(key) {
            Some(address) if is_safe(&address, server) => Ok(Some(address.into_owned())),
            Some(_) => Err(Invalid::Address(key)),
            None => Ok(None),
        };
        let methods = texts(&members, "token_endpoint_auth_methods_supported");
        let challenges = texts(&members, "code_challenge_methods_supported").unwrap_or_default();
        let scopes = texts(&members, "scopes_supported").unwrap_or_default();
        Ok(AuthorizationServer {
            issuer: issuer.to_owned(),
            authorize: endpoint("authorization_endpoint")?,
            token: endpoint("token_endpoint")?.ok_or(Invalid::Field("token_endpoint"))?,
            register: endpoint("registration_endpoint")?,
            // The default of RFC 8414 section 2.
            methods: methods
                .map_or(vec![Method::SecretBasic], |list| list.iter().filter_map(|it| Method::parse(it)).collect()),
            scopes: Scopes::of(scopes.iter().map(String::as_str)),
            pkce: challenges.iter().any(|method| method == "S256"),
            documents: members.bool("client_id_metadata_document_supported") == Some(true),
            names_issuer: members.bool("authorization_response_iss_parameter_supported") == Some(true),
        })
    }

    /// One without metadata, at the fixed places of 2025-03-26.
    pub fn assumed(origin: &str) -> AuthorizationServer {
        AuthorizationServer {
            issuer: origin.to_owned(),
            authorize: Some(format!("{origin}/authorize")),
            token: format!("{origin}/token"),
            register: Some(format!("{origin}/register")),
            methods: vec![Method::None, Method::SecretBasic, Method::SecretPost],
            scopes: Scopes::default(),
            pkce: true,
            documents: false,
            names_issuer: false,
        }
    }

    /// Where a person signs in. Without PKCE nobody is sent there.
    pub fn sign_in(&self) -> Result<&str, Invalid> {
        let authorize = self.authorize.as_deref().ok_or(Invalid::Field("authorization_endpoint"))?;
        if self.pkce { Ok(authorize) } else { Err(Invalid::Pkce) }
    }
}
