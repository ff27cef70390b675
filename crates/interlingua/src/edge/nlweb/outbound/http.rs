//! One request to a site and its answer, JSON or events, read up to a bound.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Response, Uri};
use interlingua_core::Secret;
use interlingua_core::json::Tree;
use interlingua_protocols::nlweb::client::{self, Reply};
use interlingua_protocols::nlweb::discover;
use interlingua_protocols::sse::Parser;
use tokio::sync::OnceCell;

use crate::client::answers::{Coming, too_large};
use crate::client::http::{Pool, read, retry_after, whole};
use crate::client::lost::Lost;
use crate::client::place::{Elsewhere, Own};

const JSON: &str = "application/json";
const EITHER: &str = "text/event-stream, application/json;q=0.9";
/// All that one answer may hold.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
const MAX_EVENT: usize = 4 * 1024 * 1024;
/// A longer file for models is not read.
const MAX_FILE: usize = 256 * 1024;
const DEPTH: usize = 64;

/// What came back.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) reply: Reply,
    pub(super) retry_after: Option<std::time::Duration>,
}

/// Where a site is, and how it is shown who asks.
#[derive(Debug)]
pub(super) struct Http {
    pool: Pool,
    own: Own,
    /// As configured: its door, or only where it is.
    address: Uri,
    token: Option<Secret>,
    /// Its door, once it was looked for.
    found: OnceCell<Uri>,
    /// What its file named instead.
    elsewhere: Mutex<Option<Elsewhere>>,
}

impl Http {
    pub(super) fn new(pool: Pool, own: Own, address: Uri, token: Option<Secret>) -> Http {
        Http { pool, own, address, token, found: OnceCell::new(), elsewhere: Mutex::default() }
    }

    /// An address that its file named and that is not called; told once.
    pub(super) fn take_elsewhere(&self) -> Option<Elsewhere> {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// An address without a path is only where the site is: its file for models may say where it is asked.
    async fn door(&self) -> Result<&Uri, Lost> {
        if self.address.path() != "/" {
            return Ok(&self.address);
        }
        self.found.get_or_try_init(|| self.look()).await
    }

    async fn look(&self) -> Result<Uri, Lost> {
        let request = Request::builder().uri(at(&self.address, "/llms.txt")?).header(ACCEPT, "text/plain");
        let response = self.pool.send(request.body(whole(Bytes::new())).map_err(Lost::unconnected)?).await?;
        let text = read(response, MAX_FILE).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        // What the file says of other places is not this site's to say.
        let mut foreign = None;
        let own = |target: &str| self.own.place(target).map_err(|elsewhere| foreign = Some(elsewhere)).ok();
        if let Some(linked) = discover::ask_links(&text).find_map(own) {
            return Ok(linked);
        }
        *self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner) = foreign;
        at(&self.address, "/ask")
    }

    pub(super) async fn ask(
        &self,
        request: &client::Request,
        headers: &[(&'static str, String)],
    ) -> Result<Received, Lost> {
        let door = self.door().await?;
        match request {
            client::Request::Get(query) => {
                let separator = if door.query().is_some() { '&' } else { '?' };
                let uri: Uri = format!("{door}{separator}{query}").parse().map_err(Lost::unconnected)?;
                self.send(Method::GET, uri, Bytes::new(), headers).await
            }
            client::Request::Post(body) => {
                self.send(Method::POST, door.clone(), body.to_string().into(), headers).await
            }
        }
    }

    /// Looks after a promise, beside the door.
    pub(super) async fn wait(&self, body: &Tree, headers: &[(&'static str, String)]) -> Result<Received, Lost> {
        let door = self.door().await?;
        let path = door.path().trim_end_matches('/');
        let beside = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let uri = at(door, &format!("{beside}/await"))?;
        self.send(Method::POST, uri, body.to_string().into(), headers).await
    }

    async fn send(
        &self,
        method: Method,
        uri: Uri,
        body: Bytes,
        headers: &[(&'static str, String)],
    ) -> Result<Received, Lost> {
        let mut request = Request::builder().method(method).uri(uri).header(ACCEPT, EITHER);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        if let Some(token) = self.token.as_ref().and_then(Secret::text) {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let response = self.pool.send(request.body(whole(body)).map_err(Lost::unconnected)?).await?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let media = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let events = media.to_ascii_lowercase().starts_with("text/event-stream");
        let reply = heard(response, events).await?;
        Ok(Received { status, reply, retry_after })
    }

    pub(super) async fn probe(&self) -> Result<(), Lost> {
        self.pool.knock(Method::HEAD, &self.address).await
    }
}

/// Another path of the same site.
fn at(site: &Uri, path: &str) -> Result<Uri, Lost> {
    let mut parts = site.clone().into_parts();
    parts.path_and_query = Some(path.parse().map_err(Lost::unconnected)?);
    Uri::from_parts(parts).map_err(Lost::unconnected)
}

/// Reads an answer to its end: a whole object, or events as they come.
async fn heard(response: Response<Coming>, events: bool) -> Result<Reply, Lost> {
    let mut reply = Reply::default();
    if !events {
        reply.hear(&read(response, MAX_ANSWER).await?, DEPTH);
        return Ok(reply);
    }
    let mut body = response.into_body();
    let most = MAX_ANSWER.min(body.most());
    let (mut parser, mut size) = (Parser::new(MAX_EVENT.min(most)), 0);
    while let Some(frame) = body.frame(parser.unfinished()).await {
        let Ok(data) = frame?.into_data() else { continue };
        size += data.len();
        if size > most {
            return Err(too_large("an answer without end"));
        }
        parser.feed(&data);
        while let Some(event) = parser.take().map_err(too_large)? {
            reply.hear(&body.whole(event.data)?, DEPTH);
        }
    }
    Ok(reply)
}
