//! The client that calls webhooks: names are resolved through the guard, redirects are not followed, proxies not used.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper::rt::Executor;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioTimer;
use interlingua_core::Fault;
use tokio::sync::Semaphore;
use tower::Service;

use super::guard::Private;
use crate::client::http::CONNECT;
use crate::client::tls::{self, Trust};
use crate::hub::supervisor::Supervisor;

/// How long a webhook may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many are called at once.
const AT_ONCE: usize = 64;

type Via = Client<HttpsConnector<HttpConnector<Guarded>>, Full<Bytes>>;

#[derive(Debug)]
pub(super) struct Webhooks {
    /// Only to addresses anyone can reach.
    outside: Via,
    anywhere: Via,
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
    pub(super) fn new(supervisor: &Supervisor) -> Result<Webhooks, Fault> {
        let tls = tls::config(&Trust::Machine).or_else(|_| tls::config(&Trust::Nobody))?;
        let via = |private| {
            let mut tcp = HttpConnector::new_with_resolver(Guarded(private));
            tcp.enforce_http(false);
            tcp.set_nodelay(true);
            tcp.set_connect_timeout(Some(CONNECT));
            let https = HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http();
            let connector = https.enable_all_versions().wrap_connector(tcp);
            Client::builder(Driven(supervisor.clone()))
                .pool_idle_timeout(Duration::from_secs(30))
                .pool_max_idle_per_host(2)
                .pool_timer(TokioTimer::new())
                .build(connector)
        };
        Ok(Webhooks { outside: via(Private::Refused), anywhere: via(Private::Allowed), turns: Semaphore::new(AT_ONCE) })
    }

    /// Any 2xx is a yes.
    pub(super) async fn post(&self, request: Request<Full<Bytes>>, private: Private) -> Result<(), NotTaken> {
        // A number in the address is never resolved, so it is looked at here.
        let literal = request.uri().host().and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        if literal.is_some_and(|address| !private.admits(address)) {
            return Err(NotTaken::Unreachable);
        }
        let _turn = self.turns.acquire().await.map_err(|_| NotTaken::Unreachable)?;
        let client = match private {
            Private::Refused => &self.outside,
            Private::Allowed => &self.anywhere,
        };
        let answer = tokio::time::timeout(PATIENCE, client.request(request)).await.map_err(|_| NotTaken::Silent)?;
        let status = answer.map_err(|_| NotTaken::Unreachable)?.status();
        if status.is_success() { Ok(()) } else { Err(NotTaken::Answered(status)) }
    }
}

#[derive(Clone)]
struct Driven(Supervisor);

impl<F: Future + Send + 'static> Executor<F> for Driven {
    fn execute(&self, connection: F) {
        self.0.run_until_stop(async move {
            connection.await;
        });
    }
}

/// Resolves names to what may be called, each time anew.
#[derive(Debug, Clone)]
struct Guarded(Private);

type Resolving = Pin<Box<dyn Future<Output = std::io::Result<std::vec::IntoIter<SocketAddr>>> + Send>>;

impl Service<Name> for Guarded {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = Resolving;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Resolving {
        let private = self.0;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let admitted: Vec<SocketAddr> = found.filter(|address| private.admits(address.ip())).collect();
            if admitted.is_empty() {
                return Err(std::io::Error::other("the name leads to no address that may be called"));
            }
            Ok(admitted.into_iter())
        })
    }
}
