//! An operation on the wire of a binding (sections 9 to 11).

use bytes::Bytes;
use interlingua_model::percent::encoded;

use crate::Version;
use crate::invalid::Invalid;
use crate::json::{Dialect, write};
use crate::method::Method;
use crate::wire::Send;
use crate::{grpc, proto};
use interlingua_wire::object::Object;
use interlingua_wire::rpc;

/// What the hub asks of agents.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    Send(&'a Send),
    Stream(&'a Send),
    Get { task: &'a str },
    Cancel { task: &'a str },
    Subscribe { task: &'a str },
}

impl Ask<'_> {
    pub fn method(&self) -> Method {
        match self {
            Ask::Send(_) => Method::Send,
            Ask::Stream(_) => Method::Stream,
            Ask::Get { .. } => Method::Get,
            Ask::Cancel { .. } => Method::Cancel,
            Ask::Subscribe { .. } => Method::Subscribe,
        }
    }
}

/// The newest message of a task is enough.
const HISTORY: u64 = 1;

/// The body of a JSON-RPC request.
pub fn rpc(ask: &Ask<'_>, version: Version, tenant: Option<&str>, id: u64) -> Bytes {
    let params = params(ask, Dialect::of_rpc(version), tenant);
    let mut out = Vec::with_capacity(params.len() + 96);
    let params = interlingua_model::Json::slice(&params, (0, params.len()));
    let name = ask.method().name(version).unwrap_or_default();
    rpc::write_request(&rpc::Id::number(id), name, Some(&params), &mut out);
    out.into()
}

fn params(ask: &Ask<'_>, dialect: Dialect, tenant: Option<&str>) -> Bytes {
    let (task, history) = match ask {
        Ask::Send(send) | Ask::Stream(send) => return write::send(send, tenant, dialect),
        Ask::Get { task } => (*task, Some(HISTORY)),
        Ask::Cancel { task } | Ask::Subscribe { task } => (*task, None),
    };
    let mut out = Vec::with_capacity(96);
    let mut object = Object::open(&mut out);
    object.text("id", task);
    if let Some(history) = history {
        object.number("historyLength", history);
    }
    if let (Dialect::V1, Some(tenant)) = (dialect, tenant) {
        object.text("tenant", tenant);
    }
    object.finish();
    out.into()
}

/// A request over HTTP with JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    pub verb: Verb,
    /// Below the interface's address, beginning with a slash.
    pub path: String,
    pub body: Option<Bytes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
}

pub fn http(ask: &Ask<'_>, version: Version, tenant: Option<&str>) -> HttpRequest {
    let prefix = match (version, tenant) {
        (Version::V1, None) => String::new(),
        (Version::V1, Some(tenant)) => format!("/{}", encoded(tenant)),
        (Version::V03, _) => "/v1".to_owned(),
    };
    let dialect = Dialect::of_http(version);
    let post = |path: String, body| HttpRequest { verb: Verb::Post, path: format!("{prefix}{path}"), body: Some(body) };
    match ask {
        // The tenant stands in the path.
        Ask::Send(send) => post("/message:send".into(), write::send(send, None, dialect)),
        Ask::Stream(send) => post("/message:stream".into(), write::send(send, None, dialect)),
        Ask::Get { task } => HttpRequest {
            verb: Verb::Get,
            path: format!("{prefix}/tasks/{}?historyLength={HISTORY}", encoded(task)),
            body: None,
        },
        Ask::Cancel { task } => post(format!("/tasks/{}:cancel", encoded(task)), Bytes::from_static(b"{}")),
        Ask::Subscribe { task } => post(format!("/tasks/{}:subscribe", encoded(task)), Bytes::from_static(b"{}")),
    }
}

/// The text of the specification says POST where its proto says GET: whoever does not know the one is asked by the other.
pub fn other_verb(ask: &Ask<'_>, request: &HttpRequest) -> Option<HttpRequest> {
    match (ask, request.verb) {
        (Ask::Subscribe { .. }, Verb::Post) => {
            Some(HttpRequest { verb: Verb::Get, path: request.path.clone(), body: None })
        }
        (Ask::Subscribe { .. }, Verb::Get)
        | (Ask::Send(_) | Ask::Stream(_) | Ask::Get { .. } | Ask::Cancel { .. }, _) => None,
    }
}

/// A call of gRPC: its path, and its message in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrpcRequest {
    pub path: String,
    pub body: Bytes,
}

pub fn grpc(ask: &Ask<'_>, version: Version, tenant: Option<&str>) -> Result<GrpcRequest, Invalid> {
    let method = ask.method();
    let params = match (version, ask) {
        (Version::V1, _) | (Version::V03, Ask::Send(_) | Ask::Stream(_)) => {
            params(ask, Dialect::of_http(version), tenant)
        }
        (Version::V03, Ask::Get { task } | Ask::Cancel { task } | Ask::Subscribe { task }) => {
            Object::json(|object| object.text("name", &format!("tasks/{task}"))).as_bytes().clone()
        }
    };
    let message = proto::request_from_json(method, version, &params)?;
    let name = method.grpc(version).unwrap_or_default();
    Ok(GrpcRequest { path: format!("/{}/{name}", grpc::service(version)), body: grpc::frame(&message) })
}
