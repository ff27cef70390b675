//! Credentials for a server over HTTP: what configuration gives for it, else a token that was fetched for it
//! ([`interlingua_net::client::oauth`]). Nothing of any caller's own is sent.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, Response};
use interlingua_model::{Fault, Owner};

use crate::settings::McpPeer;
use interlingua_net::client::credentials;
use interlingua_net::client::oauth::{Account, Authority, Judged, Shown};

#[derive(Debug, Clone, Default)]
pub(super) struct Credentials {
    given: credentials::Credentials,
    /// Where configuration gives no token.
    account: Option<Arc<Account>>,
}

/// What one request was sent with.
#[derive(Debug, Default)]
pub(super) struct Sent(Option<Shown>);

impl Sent {
    /// Only a token that was fetched may be refused and renewed.
    pub(super) fn is_of_account(&self) -> bool {
        self.0.is_some()
    }
}

impl Credentials {
    /// `authority`: where tokens for the server come from.
    pub(super) fn of(config: &McpPeer, authority: Option<Arc<Authority>>) -> Result<Credentials, Fault> {
        let given = credentials::Credentials::new(config.token.as_ref(), &config.headers)?;
        let authority = authority.filter(|_| !given.authorizes());
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
        self.given.apply(headers);
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
