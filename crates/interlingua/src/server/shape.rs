//! The form in which a refusal before decoding is told: that of the protocol the path belongs to.

use axum::response::Response;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::Full;
use hyper::body::Frame;
use interlingua_core::{Fault, FaultKind, Feature, Retry};
use interlingua_protocols::envelope::encode::Stamp;
use interlingua_protocols::{a2a, envelope, mcp, nlip, nlweb, rpc};

use crate::api;
use crate::edge;
use crate::hub::clock::Clock;
use crate::hub::entropy;

/// How a stream ends before its end.
#[derive(Debug)]
pub enum Farewell {
    Said(Frame<Bytes>),
    Silent,
    /// It must not be taken for whole.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Nlip,
    Envelope,
    Mcp,
    A2aRpc,
    A2aHttp(a2a::Version),
    A2aGrpc(a2a::Version),
    Nlweb,
    Api,
}

impl Shape {
    pub fn of(path: &str) -> Shape {
        let nlip = path == "/nlip" || path.starts_with("/nlip/");
        if path == "/nlip/route" {
            Shape::Envelope
        } else if nlip || (path.starts_with("/agents/") && path.ends_with("/nlip")) {
            Shape::Nlip
        } else if path == "/mcp"
            || path.starts_with("/mcp/")
            || (path.starts_with("/agents/") && path.ends_with("/mcp"))
        {
            Shape::Mcp
        } else {
            a2a(path).or_else(|| nlweb_path(path)).unwrap_or(Shape::Api)
        }
    }

    /// A refusal: status, body and headers.
    pub fn refuse(self, fault: &Fault) -> Response {
        if let Shape::A2aGrpc(version) = self {
            return edge::a2a::inbound::refuse_grpc(fault, version);
        }
        let (status, message) = self.told(fault);
        let body = if self == Shape::Envelope { [b"[", &*message, b"]"].concat().into() } else { message };
        let mut response = json(status, body);
        add_headers(&mut response, fault);
        response
    }

    /// The last that is said in a stream which is ended before its end; by its head it is known what kind of stream it is.
    pub fn farewell(self, fault: &Fault, head: &HeaderMap) -> Farewell {
        if let Shape::A2aGrpc(version) = self {
            return Farewell::Said(Frame::trailers(edge::a2a::inbound::grpc_status(fault, version)));
        }
        let events = head.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"text/event-stream"));
        match self {
            _ if !events => Farewell::Broken,
            // An error there answers a request by its id; a stream may just end, and the next request is told why.
            Shape::Mcp => Farewell::Silent,
            _ => {
                let (_, message) = self.told(fault);
                Farewell::Said(Frame::data([b"event: error\ndata: ", &*message, b"\n\n"].concat().into()))
            }
        }
    }

    /// Status and message of a refusal.
    fn told(self, fault: &Fault) -> (u16, Bytes) {
        match self {
            Shape::Nlip => {
                let message = nlip::encode::refused(fault, &[], nlip::encode::ReplyTo::default());
                (nlip::fault::status(fault), nlip::json::encode(&message, nlip::json::Keys::Lower).into())
            }
            Shape::Envelope => {
                let stamp = Stamp { random: entropy::bits(), now: Clock::start().now() };
                let message = envelope::encode::refuse(&envelope::wire::Head::default(), fault, stamp);
                (envelope_status(fault), message.to_bytes())
            }
            Shape::Mcp => {
                let (code, status) = mcp_status(fault);
                let mut body = Vec::new();
                mcp::fault::write(None, &mcp::fault::error(fault, code), &mut body);
                (status, body.into())
            }
            Shape::A2aRpc => edge::a2a::inbound::refuse_rpc(fault),
            Shape::A2aHttp(version) | Shape::A2aGrpc(version) => edge::a2a::inbound::refuse_http(fault, version),
            Shape::Nlweb => {
                let envelope = nlweb::encode::Envelope::unread(nlweb::Dialect::Named, "".into());
                let body = nlweb::encode::whole(&envelope, &nlweb::encode::Stand::Refused(fault));
                (nlweb_status(fault), body.to_string().into())
            }
            Shape::Api => {
                let body = api::view::ErrorBody { error: fault.into() };
                (api::fault::status(fault).as_u16(), serde_json::to_vec(&body).unwrap_or_default().into())
            }
        }
    }

    pub fn not_allowed(self, allow: &'static str) -> Response {
        let kind = FaultKind::Unsupported(Feature::Operation);
        let mut response = self.refuse(&Fault::caller(kind, format!("only {allow} is taken here")));
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        response
    }
}

/// JSON-RPC at an agent's address, HTTP with JSON below it; cards are plain JSON; gRPC has paths of its own.
fn a2a(path: &str) -> Option<Shape> {
    if let Some(version) = a2a::grpc::version_of(path) {
        return Some(Shape::A2aGrpc(version));
    }
    let below = match path.strip_prefix("/agents/") {
        Some(rest) => rest.split_once('/')?.1,
        None => path.strip_prefix('/')?,
    };
    match below {
        "a2a" | "a2a/" => Some(Shape::A2aRpc),
        ".well-known/agent-card.json" => Some(Shape::A2aHttp(a2a::Version::V1)),
        _ if below.starts_with("a2a/v1/") => Some(Shape::A2aHttp(a2a::Version::V03)),
        _ if below.starts_with("a2a/") => Some(Shape::A2aHttp(a2a::Version::V1)),
        _ => None,
    }
}

fn nlweb_path(path: &str) -> Option<Shape> {
    let one = path.strip_prefix("/agents/").and_then(|rest| rest.split_once('/')).map(|(_, below)| below);
    let asks = matches!(path, "/ask" | "/ask/" | "/await" | "/sites" | "/who") || one == Some("ask");
    asks.then_some(Shape::Nlweb)
}

/// A request refused before it was read is never an answer.
fn nlweb_status(fault: &Fault) -> u16 {
    match nlweb::fault::status(fault) {
        200 => 503,
        status => status,
    }
}

/// A message refused whole is an error message: there is no tool call whose outcome it could be.
pub fn envelope_status(fault: &Fault) -> u16 {
    match envelope::fault::spelling(fault.kind) {
        envelope::fault::Spelling::Error(status) => status,
        envelope::fault::Spelling::Outcome => 403,
    }
}

/// A request refused before it was read: there is no call whose outcome it could be.
fn mcp_status(fault: &Fault) -> (i64, u16) {
    match mcp::fault::spelling(fault, mcp::Version::LATEST, mcp::fault::Verb::Other) {
        _ if fault.kind == FaultKind::Denied => (rpc::INVALID_REQUEST, 403),
        mcp::fault::Spelling::Error { code, status } => (code, status),
        mcp::fault::Spelling::Outcome => (rpc::INTERNAL_ERROR, 500),
    }
}

/// What a fault says outside the body.
pub fn add_headers(response: &mut Response, fault: &Fault) {
    let headers = response.headers_mut();
    if fault.kind == FaultKind::Unauthenticated {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let (FaultKind::Busy, Retry::After(after)) = (fault.kind, fault.retry) {
        let millis = after.map_or(1_000, |after| after.as_millis());
        let seconds = u64::try_from(millis.div_ceil(1_000).max(1)).unwrap_or(u64::MAX);
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// A JSON response.
pub fn json(status: u16, body: Bytes) -> Response {
    let mut response = Response::new(axum::body::Body::new(Full::new(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
