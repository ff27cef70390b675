//! Credentials for peers over HTTP: what configuration gives for the peer, and nothing of any caller's.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use indexmap::IndexMap;
use interlingua_model::{Fault, FaultKind};

use interlingua_settings::Secret;

#[derive(Debug, Clone, Default)]
pub struct Credentials {
    given: HeaderMap,
}

impl Credentials {
    /// A bearer token, and whatever headers configuration names.
    pub fn new(token: Option<&Secret>, headers: &IndexMap<String, Secret>) -> Result<Credentials, Fault> {
        let mut credentials = Credentials::default();
        if let Some(token) = token {
            credentials.bearer(token.expose().text().unwrap_or_default())?;
        }
        for (name, value) in headers {
            credentials.header(name, value.expose().text().unwrap_or_default())?;
        }
        Ok(credentials)
    }

    pub fn bearer(&mut self, token: &str) -> Result<(), Fault> {
        self.header(AUTHORIZATION.as_str(), &format!("Bearer {token}"))
    }

    pub fn basic(&mut self, user: &str, password: &str) -> Result<(), Fault> {
        self.header(AUTHORIZATION.as_str(), &format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }

    pub fn header(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        let header = HeaderName::try_from(name).map_err(|cause| bad(name).because(cause))?;
        let mut value = HeaderValue::try_from(value).map_err(|cause| bad(name).because(cause))?;
        value.set_sensitive(true);
        self.given.insert(header, value);
        Ok(())
    }

    pub fn authorizes(&self) -> bool {
        self.given.contains_key(AUTHORIZATION)
    }

    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    pub fn apply(&self, headers: &mut HeaderMap) {
        headers.extend(self.given.clone());
    }
}

fn bad(name: &str) -> Fault {
    Fault::hub(FaultKind::Internal, format!("the header `{name}` cannot be sent as it is configured"))
}
