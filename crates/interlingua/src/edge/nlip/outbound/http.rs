//! ECMA-431 as a client: one pool of connections for each agent, HTTP/1.1 or HTTP/2 as it offers.
//!
//! Redirects are not followed. A server may know its door only with or only without the last slash and redirect from the
//! other one; then the other is tried, once, and remembered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioTimer;
use interlingua_core::ports::StoreFault;
use interlingua_protocols::nlip::json::{self, Keys};
use interlingua_protocols::nlip::wire::Message;
use rustls::ClientConfig;

use super::address::Address;
use super::transport::{self, Begun, LIMITS, Lost, Received, Why};
use crate::hub::supervisor::Supervisor;

pub(super) const CONNECT: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);
/// Idle connections kept to one agent.
const KEPT: usize = 32;
const JSON: &str = "application/json";

/// A body is a message, or a blob read from the store as it goes.
pub(super) type Body = UnsyncBoxBody<Bytes, StoreFault>;

pub(super) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

#[derive(Debug)]
pub(super) struct Http {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    doors: [Uri; 2],
    /// Which of the doors answered last.
    chosen: AtomicUsize,
}

/// Connections are driven under the supervisor: nothing of theirs outlives the hub.
#[derive(Clone)]
struct Driven(Supervisor);

impl<F> Executor<F> for Driven
where
    F: Future + Send + 'static,
{
    fn execute(&self, connection: F) {
        self.0.run_until_stop(async move {
            connection.await;
        });
    }
}

impl Http {
    pub(super) fn new(address: &Address, tls: ClientConfig, supervisor: &Supervisor) -> Http {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_all_versions().wrap_connector(tcp);
        let client = Client::builder(Driven(supervisor.clone()))
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(KEPT)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .build(connector);
        Http { client, doors: address.doors.clone(), chosen: AtomicUsize::new(0) }
    }

    pub(super) async fn exchange(
        &self,
        message: &Message,
        headers: &[(&'static str, String)],
    ) -> Result<Received, Lost> {
        let body = Bytes::from(json::encode(message, Keys::Lower));
        let chosen = self.chosen.load(Ordering::Relaxed);
        let received = self.post(&self.doors[chosen], body.clone(), headers).await?;
        if !is_elsewhere(received.status) {
            return Ok(received);
        }
        let other = 1 - chosen;
        let again = self.post(&self.doors[other], body, headers).await?;
        if is_elsewhere(again.status) {
            return Ok(received);
        }
        self.chosen.store(other, Ordering::Relaxed);
        Ok(again)
    }

    async fn post(&self, door: &Uri, body: Bytes, headers: &[(&'static str, String)]) -> Result<Received, Lost> {
        let mut request =
            Request::builder().method(Method::POST).uri(door).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        // A caller's trace header that is no header text: nothing is sent.
        let request = request.body(whole(body)).map_err(Lost::unconnected)?;
        self.send(request).await
    }

    /// Sends a request and reads what comes back, bounded.
    async fn send(&self, request: Request<Body>) -> Result<Received, Lost> {
        let response = self.client.request(request).await.map_err(|error| {
            if error.is_connect() {
                Lost::unconnected(error)
            } else {
                Lost::new(Begun::Perhaps, Why::Connection, error)
            }
        })?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let body = read(response).await?;
        Ok(Received { status, message: transport::from_json(&body), retry_after })
    }

    /// Sends content to where the agent wants it.
    pub(super) async fn upload(
        &self,
        method: Method,
        to: &Uri,
        media: &str,
        length: u64,
        body: Body,
    ) -> Result<Received, Lost> {
        let request = Request::builder()
            .method(method)
            .uri(to)
            .header(CONTENT_TYPE, media)
            .header(CONTENT_LENGTH, length)
            .body(body)
            .map_err(Lost::unconnected)?;
        self.send(request).await
    }

    /// Is anybody there? NLIP has no ping, so the door is knocked at with a method that asks nothing of it. Any answer will
    /// do, also the end of a connection that was taken: a server of WebSockets has nothing to say to a plain request.
    pub(super) async fn probe(&self) -> Result<(), Lost> {
        let door = &self.doors[self.chosen.load(Ordering::Relaxed)];
        let request = Request::builder().method(Method::GET).uri(door).body(whole(Bytes::new()));
        let request = request.map_err(Lost::unconnected)?;
        let answered = tokio::time::timeout(CONNECT, self.client.request(request)).await;
        match answered {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if !error.is_connect() => Ok(()),
            Ok(Err(error)) => Err(Lost::unconnected(error)),
            Err(late) => Err(Lost::unconnected(late)),
        }
    }
}

/// The door is not here, and nothing was done at it.
fn is_elsewhere(status: u16) -> bool {
    matches!(status, 301 | 302 | 307 | 308 | 404 | 405)
}

async fn read(response: Response<Incoming>) -> Result<Bytes, Lost> {
    let body = Limited::new(response.into_body(), LIMITS.bytes).collect().await;
    let body = body.map_err(|error| {
        let why = if error.is::<LengthLimitError>() { Why::TooLarge } else { Why::Connection };
        Lost::new(Begun::Perhaps, why, error)
    })?;
    Ok(body.to_bytes())
}

/// Seconds only: the other form is a date, and clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}
