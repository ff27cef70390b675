//! One interface of an agent: sends a request and reads its answer or stream. Each supported binding encodes and decodes in its own way;
//! the content is the same.

use std::time::Duration;

use crate::client::request::{self, HttpRequest, Verb};
use crate::client::{Ask, Refusal, decode, fault};
use crate::discover::{Binding, Interface};
use crate::invalid::Invalid;
use crate::wire::Update;
use crate::{EXTENSIONS_HEADER, OLD_EXTENSIONS_HEADER, VERSION_HEADER, Version, ext, method};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use interlingua_model::Json;

use super::events::{Events, WebEvents};
use super::grpc;
use interlingua_net::client::answers::Coming;
use interlingua_net::client::h2_pool::H2Pool;
use interlingua_net::client::http::{Pool, read, retry_after, whole};
use interlingua_net::client::transport_error::TransportError;
use interlingua_net::large;

pub(super) const DEPTH: usize = 128;
/// What is read of an error.
const ERROR: usize = 1 << 20;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const ANSWERS: &str = "application/json, application/a2a+json";
const EITHER: &str = "text/event-stream, application/json, application/a2a+json";

/// What comes back.
#[derive(Debug)]
pub(super) enum Heard {
    Update(Box<Update>),
    Stream(Box<Events>),
}

/// What comes back instead.
#[derive(Debug)]
pub(super) enum Trouble {
    Refused(Refusal),
    Lost(TransportError),
    /// Something that is no answer.
    Bad(Invalid),
}

impl From<TransportError> for Trouble {
    fn from(lost: TransportError) -> Trouble {
        Trouble::Lost(lost)
    }
}

impl From<Invalid> for Trouble {
    fn from(invalid: Invalid) -> Trouble {
        Trouble::Bad(invalid)
    }
}

#[derive(Debug, Clone)]
pub(super) struct InterfaceClient {
    pub(super) interface: Interface,
    pub(super) uri: Uri,
    wire: Wire,
}

/// The connections of one agent.
#[derive(Debug)]
pub(super) struct Ways {
    pub(super) pool: Pool,
    pub(super) lanes: H2Pool,
}

/// How this hub speaks to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Web(Web),
    Grpc,
}

impl Wire {
    fn of(binding: Binding) -> Wire {
        match binding {
            Binding::JsonRpc => Wire::Web(Web::Rpc),
            Binding::HttpJson => Wire::Web(Web::Http),
            Binding::Grpc => Wire::Grpc,
        }
    }
}

/// The bindings whose messages are JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Web {
    Rpc,
    Http,
}

impl Web {
    /// A message of this wire: an answer, or one event of a stream.
    pub(super) fn decode(
        self,
        frame: &Bytes,
        method: method::Method,
        version: Version,
    ) -> Result<Result<Update, Refusal>, Invalid> {
        large::beside(frame.len(), || match self {
            Web::Rpc => decode::rpc(frame, method, version, DEPTH),
            Web::Http => decode::http(frame, method, version, DEPTH),
        })
    }
}

impl InterfaceClient {
    pub(super) fn new(interface: Interface, uri: Uri) -> InterfaceClient {
        InterfaceClient { wire: Wire::of(interface.binding), interface, uri }
    }

    /// The headers that every request on it has.
    pub(super) fn headers(&self, extended: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let version = self.interface.version;
        headers.insert(VERSION_HEADER, HeaderValue::from_static(version.as_str()));
        if extended {
            let name = match version {
                Version::V1 => EXTENSIONS_HEADER,
                Version::V03 => OLD_EXTENSIONS_HEADER,
            };
            headers.insert(name, HeaderValue::from_static(ext::URI));
        }
        headers
    }

    /// `wait`: how long the answer is of any use.
    pub(super) async fn ask(
        &self,
        ways: &Ways,
        ask: &Ask<'_>,
        headers: &HeaderMap,
        wait: Option<Duration>,
    ) -> Result<Heard, Trouble> {
        let (version, tenant) = (self.interface.version, self.interface.tenant.as_deref());
        match self.wire {
            Wire::Web(web @ Web::Rpc) => {
                let body = request::rpc(ask, version, tenant, 1);
                let response = self.send(&ways.pool, ask, Method::POST, &self.uri, Some(body), headers).await?;
                self.heard(web, ask, response).await
            }
            Wire::Web(Web::Http) => {
                let request = request::http(ask, version, tenant);
                match self.ask_http(&ways.pool, ask, &request, headers).await {
                    Err(Trouble::Refused(refusal)) if refusal.why == fault::Why::Method => {
                        match request::other_verb(ask, &request) {
                            Some(other) => self.ask_http(&ways.pool, ask, &other, headers).await,
                            None => Err(Trouble::Refused(refusal)),
                        }
                    }
                    heard => heard,
                }
            }
            Wire::Grpc => grpc::ask((&self.interface, &self.uri), &ways.lanes, ask, headers, wait).await,
        }
    }

    async fn ask_http(
        &self,
        pool: &Pool,
        ask: &Ask<'_>,
        request: &HttpRequest,
        headers: &HeaderMap,
    ) -> Result<Heard, Trouble> {
        let uri = self.below(&request.path)?;
        let method = match request.verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
        };
        let response = self.send(pool, ask, method, &uri, request.body.clone(), headers).await?;
        self.heard(Web::Http, ask, response).await
    }

    /// A path below the interface's address. Some cards of 0.3 name the version in it already.
    fn below(&self, path: &str) -> Result<Uri, TransportError> {
        let base = self.uri.path().trim_end_matches('/');
        let base = match self.interface.version {
            Version::V03 => base.strip_suffix("/v1").unwrap_or(base),
            Version::V1 => base,
        };
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(format!("{base}{path}").parse().map_err(TransportError::unconnected)?);
        Uri::from_parts(parts).map_err(TransportError::unconnected)
    }

    async fn send(
        &self,
        pool: &Pool,
        ask: &Ask<'_>,
        method: Method,
        uri: &Uri,
        body: Option<Bytes>,
        headers: &HeaderMap,
    ) -> Result<Response<Coming>, TransportError> {
        let accept = if ask.method().streams() { EITHER } else { ANSWERS };
        let mut request = Request::builder().method(method).uri(uri).header(ACCEPT, accept);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        if let Some(given) = request.headers_mut() {
            given.extend(headers.clone());
        }
        pool.send(request.body(whole(body.unwrap_or_default())).map_err(TransportError::unconnected)?).await
    }

    /// Reads an answer by what it is: events where they were asked for, an error by its body, else one message.
    async fn heard(&self, web: Web, ask: &Ask<'_>, response: Response<Coming>) -> Result<Heard, Trouble> {
        let (status, wait) = (response.status(), retry_after(response.headers()));
        let (method, version) = (ask.method(), self.interface.version);
        if status.is_success() && method.streams() && is_media(response.headers(), EVENTS) {
            return Ok(Heard::Stream(Box::new(Events::Web(WebEvents::new(response, web, version)))));
        }
        if status.is_success() {
            let body = read(response, usize::MAX).await?;
            let update = web.decode(&body, method, version)?.map_err(Trouble::Refused)?;
            return Ok(Heard::Update(Box::new(update)));
        }
        let body = read(response, ERROR).await.unwrap_or_default();
        // JSON-RPC may say more than the status does.
        if web == Web::Rpc
            && let Ok(Err(refusal)) = web.decode(&body, method, version)
            && !matches!(status.as_u16(), 401 | 403 | 429 | 503)
        {
            return Err(Trouble::Refused(refusal));
        }
        Err(Trouble::Refused(match Json::parse_within(body, DEPTH) {
            Ok(body) => Refusal::of_http(Some(status.as_u16()), &body, wait),
            Err(_) => Refusal::of_status(status.as_u16(), wait),
        }))
    }
}

pub(super) fn is_media(headers: &HeaderMap, media: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media)
}
