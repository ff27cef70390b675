//! Authorization response: what a person's browser brings back from the authorization server.

use super::Invalid;
use super::form;
use super::metadata::AuthorizationServer;
use interlingua_model::Secret;

/// A longer query is not read.
const LONGEST: usize = 16_384;

/// The answer of the authorization endpoint (RFC 6749 section 4.1.2).
#[derive(Debug, Clone, PartialEq)]
pub struct Callback {
    pub state: String,
    pub issuer: Option<String>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Code(Secret),
    /// The code of an error, such as `access_denied`.
    Refused(String),
}

impl Callback {
    /// From the query. A parameter that comes twice makes it no answer (RFC 6749 section 3.1).
    pub fn decode(query: &str) -> Result<Callback, Invalid> {
        if query.len() > LONGEST {
            return Err(Invalid::Field("query"));
        }
        let (mut state, mut issuer, mut code, mut error) = (None, None, None, None);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = match name {
                "state" => &mut state,
                "iss" => &mut issuer,
                "code" => &mut code,
                "error" => &mut error,
                _ => continue,
            };
            let value = form::decode(value).ok_or(Invalid::Field("query"))?;
            if place.replace(value).is_some() {
                return Err(Invalid::Field("query"));
            }
        }
        let state = state.filter(|state| !state.is_empty()).ok_or(Invalid::Field("state"))?;
        let outcome = match (code, error) {
            (Some(code), None) if !code.is_empty() => Outcome::Code(Secret::new(code.as_bytes())),
            (None, Some(error)) => Outcome::Refused(error),
            (Some(_), _) | (None, None) => return Err(Invalid::Field("code")),
        };
        Ok(Callback { state, issuer, outcome })
    }

    /// Did it come from whom the person was sent to? Compared letter by letter (RFC 9207 section 2.4); also an error is believed
    /// only from there.
    pub fn check_issuer(&self, server: &AuthorizationServer) -> Result<(), Invalid> {
        match &self.issuer {
            Some(issuer) if *issuer == server.issuer => Ok(()),
            Some(_) => Err(Invalid::OtherIssuer),
            None if server.names_issuer => Err(Invalid::NoIssuer),
            None => Ok(()),
        }
    }
}
