//! One request to a site and its answer, JSON or events, read up to a bound. A stream is read only as fast as it is passed on
//! (backpressure).

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use crate::client::{self, Reply};
use crate::discover;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Response, Uri};
use hyper::body::Frame;
use interlingua_model::Secret;
use interlingua_model::json::Tree;
use interlingua_wire::sse::Parser;
use tokio::sync::OnceCell;

use interlingua_net::client::answers::{Coming, too_large};
use interlingua_net::client::http::{Pool, read, retry_after, whole};
use interlingua_net::client::place::{Elsewhere, Own};
use interlingua_net::client::transport_error::TransportError;

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
    /// A stream that has begun to answer and goes on.
    pub(super) rest: Option<Reading>,
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
    async fn door(&self) -> Result<&Uri, TransportError> {
        if self.address.path() != "/" {
            return Ok(&self.address);
        }
        self.found.get_or_try_init(|| self.look()).await
    }

    async fn look(&self) -> Result<Uri, TransportError> {
        let request = Request::builder().uri(at(&self.address, "/llms.txt")?).header(ACCEPT, "text/plain");
        let response = self.pool.send(request.body(whole(Bytes::new())).map_err(TransportError::unconnected)?).await?;
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
    ) -> Result<Received, TransportError> {
        let door = self.door().await?;
        match request {
            client::Request::Get(query) => {
                let separator = if door.query().is_some() { '&' } else { '?' };
                let uri: Uri = format!("{door}{separator}{query}").parse().map_err(TransportError::unconnected)?;
                self.send(Method::GET, uri, Bytes::new(), headers).await
            }
            client::Request::Post(body) => {
                self.send(Method::POST, door.clone(), body.to_string().into(), headers).await
            }
        }
    }

    /// Looks after a promise, beside the door.
    pub(super) async fn wait(
        &self,
        body: &Tree,
        headers: &[(&'static str, String)],
    ) -> Result<Received, TransportError> {
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
    ) -> Result<Received, TransportError> {
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
        let response = self.pool.send(request.body(whole(body)).map_err(TransportError::unconnected)?).await?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let (mut reading, mut reply) = (Reading::new(response), Reply::default());
        let mut more = true;
        while more && !reply.has_begun() {
            more = std::future::poll_fn(|cx| reading.poll_more(cx, &mut reply)).await?;
        }
        Ok(Received { status, reply, retry_after, rest: more.then_some(reading) })
    }

    pub(super) fn address(&self) -> &Uri {
        &self.address
    }

    pub(super) async fn probe(&self) -> Result<(), TransportError> {
        self.pool.knock(Method::HEAD, &self.address).await
    }
}

/// Another path of the same site.
fn at(site: &Uri, path: &str) -> Result<Uri, TransportError> {
    let mut parts = site.clone().into_parts();
    parts.path_and_query = Some(path.parse().map_err(TransportError::unconnected)?);
    Uri::from_parts(parts).map_err(TransportError::unconnected)
}

/// An answer that is being read. Dropped, its connection is closed, and the site knows that nobody reads on.
#[derive(Debug)]
pub(super) struct Reading {
    body: Coming,
    form: Form,
    size: usize,
    /// All that is read of it.
    most: usize,
}

/// Whether it says something before it ends.
#[derive(Debug)]
enum Form {
    Whole(Vec<u8>),
    Events(Parser),
}

impl Form {
    /// How much of a message is there that has not ended.
    fn unfinished(&self) -> usize {
        match self {
            Form::Whole(all) => all.len(),
            Form::Events(parser) => parser.unfinished(),
        }
    }
}

impl Reading {
    fn new(response: Response<Coming>) -> Reading {
        let media = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let events = media.to_ascii_lowercase().starts_with("text/event-stream");
        let body = response.into_body();
        let most = MAX_ANSWER.min(body.most());
        let form = if events { Form::Events(Parser::new(MAX_EVENT.min(most))) } else { Form::Whole(Vec::new()) };
        Reading { body, form, size: 0, most }
    }

    /// Reads on. False at the end.
    pub(super) fn poll_more(&mut self, cx: &mut Context<'_>, reply: &mut Reply) -> Poll<Result<bool, TransportError>> {
        let Some(frame) = ready!(self.body.poll_frame(cx, self.form.unfinished())) else {
            if let Form::Whole(all) = &mut self.form {
                let whole = self.body.whole(Bytes::from(std::mem::take(all)))?;
                reply.hear(&whole, DEPTH);
            }
            return Poll::Ready(Ok(false));
        };
        Poll::Ready(frame.and_then(|frame| self.take(frame, reply)).map(|()| true))
    }

    fn take(&mut self, frame: Frame<Bytes>, reply: &mut Reply) -> Result<(), TransportError> {
        let Ok(data) = frame.into_data() else { return Ok(()) };
        self.size += data.len();
        if self.size > self.most {
            return Err(too_large("an answer without end"));
        }
        match &mut self.form {
            Form::Whole(all) => all.extend_from_slice(&data),
            Form::Events(parser) => {
                parser.feed(&data);
                while let Some(event) = parser.take().map_err(too_large)? {
                    reply.hear(&self.body.whole(event.data)?, DEPTH);
                }
            }
        }
        Ok(())
    }
}
