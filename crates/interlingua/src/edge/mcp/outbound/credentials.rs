//! What the hub shows a server that is reached over HTTP: what configuration gives for it, else a token that was fetched for it
//! ([`crate::client::oauth`]). Nothing of any caller's own.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use interlingua_core::{Fault, FaultKind, Owner};

use crate::client::oauth::{Account, Authority, Judged, Shown};
use crate::config::McpPeer;

#[derive(Debug, Clone, Default)]
pub(super) struct Credentials {
    given: HeaderMap,
    /// Where configuration gives no token.
    account: Option<Arc<Account>>,
}

/// What one request was sent with.
#[derive(Debug, Default)]
pub(super) struct Sent(Option<Shown>);

impl Credentials {
    /// `authority`: where tokens for the server come from.
    pub(super) fn of(config: &McpPeer, authority: Option<Arc<Authority>>) -> Result<Credentials, Fault> {
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
        let authority = authority.filter(|_| !given.contains_key(AUTHORIZATION));
        let account = authority.map(|authority| Arc::new(Account::new(authority, None)));
        Ok(Credentials { given, account })
    }

    /// The same server, with a token of this caller's own.
    pub(super) fn of_caller(&self, authority: &Arc<Authority>, owner: Owner) -> Credentials {
        let account = Arc::new(Account::new(authority.clone(), Some(owner)));
        Credentials { given: self.given.clone(), account: Some(account) }
    }

    pub(super) fn account(&self) -> Option<&Arc<Account>> {
        self.account.as_ref()
    }

    pub(super) async fn apply(&self, headers: &mut HeaderMap) -> Sent {
        headers.extend(self.given.clone());
        let Some(account) = &self.account else { return Sent(None) };
        let shown = account.show().await;
        if let Some(header) = &shown.header {
            headers.insert(AUTHORIZATION, header.clone());
        }
        Sent(Some(shown))
    }

    pub(super) async fn judge<B>(&self, sent: &Sent, response: &Response<B>) -> Judged {
        match (&self.account, &sent.0) {
            (Some(account), Some(shown)) => account.judge(shown, response.status(), response.headers()).await,
            (Some(_) | None, _) => Judged::Answer,
        }
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
