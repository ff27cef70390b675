//! Client registration: by configuration, by a metadata document, or dynamically (RFC 7591).

use bytes::Bytes;
use interlingua_model::Secret;

use super::metadata::{AuthorizationServer, Method};
use super::{Invalid, document};
use crate::object::Object;

/// A client of one authorization server. What identifies it there identifies it nowhere else.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    pub id: String,
    pub secret: Option<Secret>,
    pub method: Method,
}

/// How to become one.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    Known(Client),
    /// At this address.
    Register(String),
}

/// What configuration knows of the client.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configured {
    pub id: Option<String>,
    pub secret: Option<Secret>,
    /// It has a key to sign with.
    pub signs: bool,
    /// The address of a document that describes it.
    pub document: Option<String>,
}

impl Configured {
    /// Known before, then by a document, then registered: the order of the MCP authorization page.
    pub fn way(&self, server: &AuthorizationServer) -> Result<Way, Invalid> {
        if let Some(id) = &self.id {
            let method = method(&server.methods, self.secret.is_some(), self.signs);
            return Ok(Way::Known(Client { id: id.clone(), secret: self.secret.clone(), method }));
        }
        if let Some(document) = self.document.as_ref().filter(|_| server.documents) {
            return Ok(Way::Known(Client { id: document.clone(), secret: None, method: Method::None }));
        }
        server.register.clone().map(Way::Register).ok_or(Invalid::NoClient)
    }
}

/// The best way to show who the client is, of those the server takes.
fn method(offered: &[Method], has_secret: bool, signs: bool) -> Method {
    let usable = |method: &Method| match method {
        Method::PrivateKeyJwt => signs,
        Method::SecretBasic | Method::SecretPost => has_secret,
        Method::None => true,
    };
    let order = [Method::PrivateKeyJwt, Method::SecretBasic, Method::SecretPost, Method::None];
    let chosen = order.into_iter().find(|method| usable(method) && offered.contains(method));
    // A server that lists nothing of use is shown what there is.
    chosen.unwrap_or(match (signs, has_secret) {
        (true, _) => Method::PrivateKeyJwt,
        (false, true) => Method::SecretBasic,
        (false, false) => Method::None,
    })
}

/// What a client says of itself, to register or in its document (RFC 7591 section 2).
pub fn describe(name: &str, redirect: &str, id: Option<&str>) -> Bytes {
    let native = super::address::Address::parse(redirect).is_some_and(|address| address.is_loopback());
    let text = |item: &str, out: &mut Vec<u8>| interlingua_model::json::write_string(item, out);
    let described = Object::json(|object| {
        if let Some(id) = id {
            object.text("client_id", id);
        }
        object.text("client_name", name);
        object.array("redirect_uris", [redirect], text);
        object.array("grant_types", ["authorization_code", "refresh_token"], text);
        object.array("response_types", ["code"], text);
        object.text("application_type", if native { "native" } else { "web" });
        object.text("token_endpoint_auth_method", "none");
    });
    described.as_bytes().clone()
}

/// What registration answers (RFC 7591 section 3.2.1).
pub fn registered(bytes: &Bytes, server: &AuthorizationServer) -> Result<Client, Invalid> {
    let members = document(bytes)?;
    let id = members.text("client_id").filter(|id| !id.is_empty()).ok_or(Invalid::Field("client_id"))?.into_owned();
    let secret = members.text("client_secret").filter(|secret| !secret.is_empty());
    let secret = secret.map(|secret| Secret::new(secret.as_bytes()));
    let given = members.text("token_endpoint_auth_method").and_then(|given| Method::parse(&given));
    let method = match given {
        Some(given @ (Method::SecretBasic | Method::SecretPost)) if secret.is_some() => given,
        Some(Method::None) => Method::None,
        Some(Method::SecretBasic | Method::SecretPost | Method::PrivateKeyJwt) | None => {
            method(&server.methods, secret.is_some(), false)
        }
    };
    Ok(Client { id, secret, method })
}
