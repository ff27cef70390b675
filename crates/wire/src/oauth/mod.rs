//! OAuth client rules: how a client obtains the token that a server requires. OAuth 2.1 as the MCP authorization pages profile it, for
//! every protocol whose servers answer `401` with a challenge.
//!
//! | file | what |
//! |---|---|
//! | [`challenge`] | `WWW-Authenticate` (RFC 9110 section 11.6.1, RFC 6750) |
//! | [`address`] | which addresses may be asked, and where metadata is (RFC 9728, RFC 8414, OpenID Connect Discovery) |
//! | [`metadata`] | what a resource and an authorization server say of themselves |
//! | [`scope`] | which scopes to ask for, also when some are missing |
//! | [`client`] | who the client is: registered, or known by a document (RFC 7591, client id metadata documents) |
//! | [`request`] | the address a person is sent to, and the forms for the token endpoint (RFC 7636, RFC 8707, RFC 7523) |
//! | [`callback`] | what comes back by the person's browser (RFC 9207) |
//! | [`token`] | what the token endpoint answers |
//! | [`jwt`] | what a token says that an issuer signed, and whether it is meant for this hub (RFC 7519, RFC 9068) |
//!
//! Deliberately absent: any request, any clock, any random number, any signature: they are given. Tokens that are bound to a key
//! (DPoP), and every grant in which a password is typed into the client.

pub mod address;
pub mod callback;
pub mod challenge;
pub mod client;
mod form;
pub mod jwt;
pub mod metadata;
pub mod request;
pub mod scope;
#[cfg(test)]
mod tests;
pub mod token;

use bytes::Bytes;
use interlingua_model::json::{BadJson, Reader};

use crate::members::Members;

/// Deeper documents are not read: none of them nests.
const DEPTH: usize = 16;

/// Why what was said is not acted upon. No text of the other side is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("it is not JSON: {0}")]
    Json(#[from] BadJson),
    #[error("`{0}` is missing, or is not what it should be")]
    Field(&'static str),
    #[error("`{0}` is an address that is not asked: it must be https")]
    Address(&'static str),
    #[error("the metadata is for another resource")]
    Resource,
    #[error("the metadata names another issuer than the one that was asked for")]
    Issuer,
    #[error("the authorization server does not offer PKCE with S256")]
    Pkce,
    #[error("the answer came from another issuer")]
    OtherIssuer,
    #[error("the answer does not name its issuer, and it should")]
    NoIssuer,
    #[error("there is no way to become a client of this authorization server: configure a `client_id`")]
    NoClient,
    #[error("the token is of a kind that cannot be sent")]
    TokenType,
}

/// Reads a document that must be an object.
fn document(bytes: &Bytes) -> Result<Members, Invalid> {
    let mut reader = Reader::new(bytes, DEPTH)?;
    let members = Members::read(bytes, &mut reader)?;
    reader.end()?;
    if members.is_object() { Ok(members) } else { Err(Invalid::Field("{}")) }
}

/// The texts of a list; what is no text is passed over.
fn texts(members: &Members, key: &str) -> Option<Vec<String>> {
    /// A list of more is cut.
    const MOST: usize = 256;
    let list = members.list(key)?;
    let text = |json: &interlingua_model::Json| {
        Reader::new(json.as_bytes(), 0).and_then(|mut reader| reader.string()).ok().map(std::borrow::Cow::into_owned)
    };
    Some(list.iter().take(MOST).filter_map(text).collect())
}
