//! A2A in protocol buffers.
//!
//! The JSON of 1.0, and that of 0.3 over HTTP, is by its specification the JSON of `a2a.proto`. So a message of the proto is converted to
//! that JSON and back, by tables of the proto's fields ([`v1`], [`v03`]), and its meaning is read and written in one place,
//! [`super::json`].
//!
//! There are two exceptions. Numbers inside `google.protobuf.Value` are doubles: a number that no double can hold is carried as text. And
//! two members of a `oneof`, of which protobuf readers take the last, are refused like in JSON.

mod common;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod v03;
mod v1;
mod value;
mod view;
mod write;

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::Reader;

use self::schema::Schema;
use super::Version;
use super::invalid::{Invalid, Problem};
use super::method::Method;
use interlingua_wire::protobuf::Writer;

fn schemas(method: Method, version: Version) -> Result<(&'static Schema, &'static Schema), Invalid> {
    match version {
        Version::V1 => Ok(v1::method(method)),
        Version::V03 => v03::method(method).ok_or_else(|| Invalid::whole(Problem::Method(format!("{method:?}")))),
    }
}

/// What a client asks for, as the JSON of its version's HTTP binding.
pub fn request_to_json(method: Method, version: Version, message: &[u8], depth: usize) -> Result<Bytes, Invalid> {
    to_json(schemas(method, version)?.0, message, depth)
}

/// What a server answers, or one event of its stream.
pub fn answer_to_json(method: Method, version: Version, message: &[u8], depth: usize) -> Result<Bytes, Invalid> {
    to_json(schemas(method, version)?.1, message, depth)
}

pub fn request_from_json(method: Method, version: Version, json: &[u8]) -> Result<Bytes, Invalid> {
    from_json(schemas(method, version)?.0, json)
}

pub fn answer_from_json(method: Method, version: Version, json: &[u8]) -> Result<Bytes, Invalid> {
    from_json(schemas(method, version)?.1, json)
}

/// A card as a reader of the proto of 1.0 has it, without its signatures.
pub(super) fn card_view(card: &Json) -> Result<Json, Invalid> {
    view::view(&v1::CARD, card)
}

/// Without anything empty, at any depth.
pub(super) fn pruned(card: &Json) -> Result<Json, Invalid> {
    view::pruned(card)
}

fn to_json(schema: &Schema, message: &[u8], depth: usize) -> Result<Bytes, Invalid> {
    let mut out = Vec::with_capacity(message.len() * 2 + 32);
    read::message(schema, message, depth, &mut out)?;
    Ok(out.into())
}

/// The JSON was checked when it came or was written here: its depth is no question any more.
fn from_json(schema: &Schema, json: &[u8]) -> Result<Bytes, Invalid> {
    let mut out = Vec::with_capacity(json.len());
    write::message(schema, &mut Reader::written(json), &mut Writer::new(&mut out))?;
    Ok(out.into())
}
