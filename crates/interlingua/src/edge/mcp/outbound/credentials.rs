//! What the hub shows a server that is reached over HTTP: what configuration gives for it, and nothing of any caller's.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use interlingua_core::{Fault, FaultKind};

use crate::config::McpPeer;

#[derive(Debug, Default)]
pub(super) struct Credentials {
    given: HeaderMap,
}

impl Credentials {
    pub(super) fn of(config: &McpPeer) -> Result<Credentials, Fault> {
        let mut given = HeaderMap::new();
        if let Some(token) = &config.token {
            let text = token.expose().text().unwrap_or_default();
            given.insert(AUTHORIZATION, bearer(text)?);
        }
        for (name, value) in &config.headers {
            let header = HeaderName::try_from(name.as_str()).map_err(|cause| bad(name).because(cause))?;
            let mut value = HeaderValue::try_from(value.expose().text().unwrap_or_default())
                .map_err(|cause| bad(name).because(cause))?;
            value.set_sensitive(true);
            given.insert(header, value);
        }
        Ok(Credentials { given })
    }

    pub(super) fn apply(&self, headers: &mut HeaderMap) {
        headers.extend(self.given.clone());
    }
}

fn bearer(token: &str) -> Result<HeaderValue, Fault> {
    let mut value =
        HeaderValue::try_from(format!("Bearer {token}")).map_err(|cause| bad("authorization").because(cause))?;
    value.set_sensitive(true);
    Ok(value)
}

fn bad(name: &str) -> Fault {
    Fault::hub(FaultKind::Internal, format!("the header `{name}` cannot be sent as it is configured"))
}
