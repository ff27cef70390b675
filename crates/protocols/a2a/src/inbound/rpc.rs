//! JSON-RPC (section 9): `POST` to an agent's address. Errors are answered with 200, except those that a proxy must see.

use crate::Version;
use crate::fault::Error;
use crate::invalid::Invalid;
use crate::json::{Dialect, write};
use crate::method::Method;
use crate::request::read_params;
use crate::wire::Update;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use interlingua_model::{Fault, FaultKind, Json};
use interlingua_wire::rpc::{self, Frame, Id, Message};

use super::sse::{self, Wrap};
use super::{Arrived, Reply};
use crate::refusal::{A2aErrors, error_frame};
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_net::body;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

pub(super) async fn not_allowed() -> Response {
    A2aErrors::Rpc.not_allowed("POST")
}

/// A call that could be read: whose, in which version, and what for.
struct Called {
    id: Id,
    version: Version,
    method: Option<Method>,
}

pub(super) async fn respond(arrived: Arrived, body: Body) -> Response {
    let frame = match body::read(body, arrived.shared.bounds().body).await {
        Ok(frame) => frame,
        Err(fault) => return A2aErrors::Rpc.refuse(&fault),
    };
    let mut called = Called { id: Id::NULL, version: Version::V1, method: None };
    let mut response = match answered(&arrived, &frame, &mut called).await {
        Ok(response) => response,
        Err(error) => refuse(&error, &called),
    };
    arrived.confirm(called.version, &mut response);
    response
}

async fn answered(arrived: &Arrived, frame: &Bytes, called: &mut Called) -> Result<Response, Error> {
    let meters = arrived.shared.hub.meters();
    let mut laps = meters.laps();
    let depth = arrived.shared.bounds().depth;
    let (method, params) = match large::worked(frame.len(), || rpc::decode(frame, depth)).await {
        Ok(Frame::One(Message::Request(request))) => {
            called.id = request.id;
            (request.method, request.params)
        }
        // A client that leaves the id out still wants to know.
        Ok(Frame::One(Message::Notification(notice))) => (notice.method, notice.params),
        Ok(Frame::One(Message::Response(response))) => {
            called.id = response.id;
            return Err(arrived.unread(malformed("a request is wanted here")));
        }
        Ok(Frame::Batch(_)) => return Err(arrived.unread(malformed("several requests at once are not taken here"))),
        Err(wrong) => {
            called.id = wrong.id.clone().unwrap_or(Id::NULL);
            let mut error = malformed(&wrong.to_string());
            error.row.rpc = i32::try_from(wrong.error().code).unwrap_or(error.row.rpc);
            return Err(arrived.unread(error));
        }
    };
    let invalid = |wrong: Invalid| arrived.invalid(&wrong);
    called.version = arrived.version().map_err(invalid)?;
    let named = Method::named(&method, called.version).map_err(invalid)?;
    called.method = Some(named);
    let params = params.json().map(Json::as_bytes);
    let decoding = || read_params(named, params, called.version, depth);
    let asked = large::worked(frame.len(), decoding).await.map_err(invalid)?;
    laps.done(Phase::Decode);
    let reply = arrived.perform(called.version, named, asked).await?;
    let mut laps = meters.laps();
    let dialect = Dialect::of_rpc(called.version);
    let response = match reply {
        Reply::Stream(feed) => sse::stream(*feed, Enveloped { id: called.id.clone(), version: called.version }),
        Reply::Whole(answer) => {
            let mut out = Vec::with_capacity(512);
            let result = write::answer(&answer, dialect);
            rpc::write_result(&called.id, &mut out, |out| out.extend_from_slice(&result));
            error_format::json(200, out.into())
        }
    };
    laps.done(Phase::Encode);
    Ok(response)
}

fn malformed(text: &str) -> Error {
    Error::of(&Fault::caller(FaultKind::Malformed, text), None)
}

fn refuse(error: &Error, called: &Called) -> Response {
    // A version that is not spoken is refused in the form of the newest that is.
    let status = match error.row.http {
        status @ (401 | 403 | 413) => status,
        _ => 200,
    };
    let frame = error_frame(error, &called.id, called.version);
    // Clients of 0.3 read nothing but events where they asked for a stream.
    let streams = called.version == Version::V03 && called.method.is_some_and(Method::streams);
    let mut response = if streams && status == 200 { sse::one(&frame) } else { error_format::json(status, frame) };
    if status == 401 {
        response.headers_mut().insert(http::header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Every event is a response of its own to the one request.
struct Enveloped {
    id: Id,
    version: Version,
}

impl Wrap for Enveloped {
    fn update(&self, update: &Update) -> Bytes {
        let result = write::update(update, Dialect::of_rpc(self.version));
        let mut out = Vec::with_capacity(result.len() + 64);
        rpc::write_result(&self.id, &mut out, |out| out.extend_from_slice(&result));
        out.into()
    }

    fn error(&self, error: &Error) -> Bytes {
        error_frame(error, &self.id, self.version)
    }
}
