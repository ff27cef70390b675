//! HTTP client for webhooks: names are resolved through the guard, redirects are not followed, proxies are not used.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use interlingua_model::Fault;
use tokio::sync::Semaphore;

use super::guard::Private;
use interlingua_hub::Hub;
use interlingua_net::client::guard::Reach;
use interlingua_net::client::http::{Pool, whole};
use interlingua_net::client::tls::{self, Trust};

/// How long a webhook may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many are called at once.
const AT_ONCE: usize = 64;

#[derive(Debug)]
pub(super) struct Webhooks {
    /// Only to addresses anyone can reach.
    outside: Pool,
    anywhere: Pool,
    turns: Semaphore,
}

/// Why a webhook did not take an event.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotTaken {
    #[error("it answered {0}")]
    Answered(StatusCode),
    #[error("it could not be reached")]
    Unreachable,
    #[error("it did not answer in time")]
    Silent,
}

impl Webhooks {
    pub(super) fn new(hub: &Hub) -> Result<Webhooks, Fault> {
        let tls = tls::config(&Trust::Machine).or_else(|_| tls::config(&Trust::Nobody))?;
        let pool = |private| Pool::new(tls.clone(), hub.supervisor(), Reach::chosen(hub, private), hub.answers());
        let (outside, anywhere) = (pool(Private::Refused), pool(Private::Allowed));
        Ok(Webhooks { outside, anywhere, turns: Semaphore::new(AT_ONCE) })
    }

    /// Any 2xx is a yes.
    pub(super) async fn post(&self, request: Request<Bytes>, private: Private) -> Result<(), NotTaken> {
        let _turn = self.turns.acquire().await.map_err(|_| NotTaken::Unreachable)?;
        let pool = match private {
            Private::Refused => &self.outside,
            Private::Allowed => &self.anywhere,
        };
        let answer = tokio::time::timeout(PATIENCE, pool.send(request.map(whole))).await;
        let status = answer.map_err(|_| NotTaken::Silent)?.map_err(|_| NotTaken::Unreachable)?.status();
        if status.is_success() { Ok(()) } else { Err(NotTaken::Answered(status)) }
    }
}
