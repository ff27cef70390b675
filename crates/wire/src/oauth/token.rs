//! Token responses.

use bytes::Bytes;
use interlingua_model::Secret;

use super::scope::Scopes;
use super::{Invalid, document};

/// A longer token is not sent with every request.
const LONGEST: usize = 16_384;

/// RFC 6749 section 5.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub access: Secret,
    pub refresh: Option<Secret>,
    /// In seconds from when it was given.
    pub expires_in: Option<u64>,
    /// Absent when it is what was asked for.
    pub scopes: Option<Scopes>,
}

impl Token {
    pub fn decode(bytes: &Bytes) -> Result<Token, Invalid> {
        let members = document(bytes)?;
        let kind = members.text("token_type").ok_or(Invalid::Field("token_type"))?;
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(Invalid::TokenType);
        }
        let sendable =
            |text: &str| !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        let secret = |key: &'static str| match members.text(key) {
            Some(text) if sendable(&text) => Ok(Some(Secret::new(text.as_bytes()))),
            Some(_) => Err(Invalid::Field(key)),
            None => Ok(None),
        };
        Ok(Token {
            access: secret("access_token")?.ok_or(Invalid::Field("access_token"))?,
            refresh: secret("refresh_token")?,
            expires_in: members.number("expires_in"),
            scopes: members.text("scope").map(|scopes| Scopes::parse(&scopes)),
        })
    }
}

/// The code of an error (RFC 6749 section 5.2), such as `invalid_grant`: no more than that is shown to anyone.
pub fn refusal(bytes: &Bytes) -> Option<String> {
    /// The codes are short.
    const LONGEST: usize = 64;
    let members = document(bytes).ok()?;
    let code = members.text("error")?;
    let plain =
        code.len() <= LONGEST && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    plain.then(|| code.into_owned())
}
