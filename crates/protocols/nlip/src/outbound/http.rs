//! ECMA-431 as a client: one pool of connections for each agent.
//!
//! Redirects are not followed. A server may know its endpoint only with or only without the last slash and redirect from the other one;
//! then the other spelling is tried, once, and remembered.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::json::{self, Keys};
use crate::wire::Message;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Uri};
use rustls::ClientConfig;

use super::address::Address;
use super::transport::{self, LIMITS, Received};
use interlingua_hub::supervisor::Supervisor;
use interlingua_net::client::answers::Answers;
use interlingua_net::client::guard::Reach;
use interlingua_net::client::http::{Body, Pool, read, retry_after, whole};
use interlingua_net::client::transport_error::TransportError;

const JSON: &str = "application/json";
const OCTETS: &str = "application/octet-stream";

#[derive(Debug)]
pub(super) struct Http {
    pool: Pool,
    doors: [Uri; 2],
    /// Which of the doors answered last.
    chosen: AtomicUsize,
}

impl Http {
    pub(super) fn new(
        address: &Address,
        tls: ClientConfig,
        supervisor: &Supervisor,
        reach: Reach,
        answers: &Answers,
    ) -> Http {
        let pool = Pool::new(tls, supervisor, reach, answers);
        Http { pool, doors: address.doors.clone(), chosen: AtomicUsize::new(0) }
    }

    pub(super) async fn exchange(
        &self,
        message: &Message,
        headers: &[(&'static str, String)],
    ) -> Result<Received, TransportError> {
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

    async fn post(
        &self,
        door: &Uri,
        body: Bytes,
        headers: &[(&'static str, String)],
    ) -> Result<Received, TransportError> {
        let mut request =
            Request::builder().method(Method::POST).uri(door).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        // A caller's trace header that is no header text: nothing is sent.
        let request = request.body(whole(body)).map_err(TransportError::unconnected)?;
        self.send(request).await
    }

    /// Sends a request and reads what comes back, bounded.
    async fn send(&self, request: Request<Body>) -> Result<Received, TransportError> {
        let response = self.pool.send(request).await?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let wants_post = status == 405 && allows_post(response.headers());
        let body = read(response, LIMITS.bytes).await?;
        Ok(Received { status, message: transport::from_json(&body), retry_after, wants_post })
    }

    /// Sends content to where the agent wants it: as bytes and nothing else, whatever its caller calls them. A place that
    /// acts on what it is sent must not be given something to act on.
    pub(super) async fn upload(
        &self,
        method: Method,
        to: &Uri,
        length: u64,
        body: Body,
    ) -> Result<Received, TransportError> {
        let request = Request::builder()
            .method(method)
            .uri(to)
            .header(CONTENT_TYPE, OCTETS)
            .header(CONTENT_LENGTH, length)
            .body(body)
            .map_err(TransportError::unconnected)?;
        self.send(request).await
    }

    /// Where it was found last.
    pub(super) fn door(&self) -> &Uri {
        &self.doors[self.chosen.load(Ordering::Relaxed)]
    }

    /// NLIP has no ping, so the door is knocked at with a method that asks nothing of it.
    pub(super) async fn probe(&self) -> Result<(), TransportError> {
        self.pool.knock(Method::GET, self.door()).await
    }
}

/// RFC 9110 section 15.5.6: whoever refuses a method says which ones it takes.
fn allows_post(headers: &HeaderMap) -> bool {
    let allowed = headers.get_all(ALLOW).iter().filter_map(|value| value.to_str().ok());
    allowed.flat_map(|list| list.split(',')).any(|method| method.trim() == Method::POST)
}

/// The door is not here, and nothing was done at it.
fn is_elsewhere(status: u16) -> bool {
    matches!(status, 301 | 302 | 307 | 308 | 404 | 405)
}
