//! Decodes an agent's answer in each binding: an update, or a refusal. An unreadable answer is [`Invalid`].

use bytes::Bytes;
use interlingua_model::Json;

use super::fault::Refusal;
use crate::Version;
use crate::invalid::{Invalid, Problem};
use crate::json::Dialect;
use crate::json::read::Source;
use crate::method::Method;
use crate::proto;
use crate::wire::Update;
use interlingua_wire::rpc::{self, Frame, Message};

/// A JSON-RPC response: the whole answer, or one event of a stream.
pub fn rpc(frame: &Bytes, method: Method, version: Version, depth: usize) -> Result<Result<Update, Refusal>, Invalid> {
    let response = match rpc::decode(frame, depth) {
        Ok(Frame::One(Message::Response(response))) => response,
        Ok(Frame::One(Message::Request(_) | Message::Notification(_)) | Frame::Batch(_)) => {
            return Err(Invalid::whole(Problem::Shape("a response is wanted")));
        }
        Err(wrong) => match wrong.problem {
            rpc::Problem::Json(bad) => return Err(bad.into()),
            rpc::Problem::Shape(what) => return Err(Invalid::whole(Problem::Shape(what))),
        },
    };
    match response.outcome {
        Err(error) => Ok(Err(Refusal::of_rpc(&error))),
        Ok(result) => {
            let none = Bytes::from_static(b"null");
            let frame = result.json().map_or(&none, Json::as_bytes);
            update(&Source { frame, dialect: Dialect::of_rpc(version), depth }, method).map(Ok)
        }
    }
}

/// The body of a success over HTTP with JSON, or one event of a stream; an event may be an error.
pub fn http(frame: &Bytes, method: Method, version: Version, depth: usize) -> Result<Result<Update, Refusal>, Invalid> {
    let invalid = match update(&Source { frame, dialect: Dialect::of_http(version), depth }, method) {
        Ok(update) => return Ok(Ok(update)),
        Err(invalid) => invalid,
    };
    match Json::parse_within(frame.clone(), depth) {
        Ok(json) if json.get("error").is_some() => Ok(Err(Refusal::of_http(None, &json, None))),
        Ok(_) | Err(_) => Err(invalid),
    }
}

/// A message of gRPC: the whole answer, or one of a stream. A refusal is no message there.
pub fn grpc(message: &[u8], method: Method, version: Version, depth: usize) -> Result<Update, Invalid> {
    let frame = proto::answer_to_json(method, version, message, depth)?;
    update(&Source { frame: &frame, dialect: Dialect::of_http(version), depth }, method)
}

fn update(source: &Source<'_>, method: Method) -> Result<Update, Invalid> {
    match method {
        Method::Send | Method::Stream | Method::Subscribe => source.update(),
        Method::Get | Method::Cancel => source.task().map(Update::Task),
        Method::List
        | Method::PushCreate
        | Method::PushGet
        | Method::PushList
        | Method::PushDelete
        | Method::ExtendedCard => Err(Invalid::whole(Problem::UnknownValue)),
    }
}
