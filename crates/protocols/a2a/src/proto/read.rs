//! Converts a message of the proto to JSON.
//!
//! A field may be anywhere in a message, and the items of a list may be scattered over it. So a message is scanned once for each field in
//! it; nothing is collected, and the cost of hostile bytes is bounded by their length.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::json::write_string;

use super::schema::{Field, Kind, Presence, Schema};
use super::value;
use crate::invalid::{Invalid, Problem};
use interlingua_wire::object::Object;
use interlingua_wire::protobuf::{BadProtobuf, Fields, Value};

pub(super) fn message(schema: &Schema, bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), Invalid> {
    let depth = deeper(depth)?;
    let mut there = 0_u64;
    for field in Fields::of(bytes) {
        let (number, _) = field?;
        if let Some(index) = schema.fields().iter().position(|field| field.number == number) {
            there |= 1_u64 << index;
        }
    }
    let mut object = Object::open(out);
    for (index, field) in schema.fields().iter().enumerate() {
        let written = match field.presence {
            _ if there & (1_u64 << index) != 0 => member(field, bytes, depth, &mut object),
            Presence::Always => {
                object.bool(field.name, false);
                Ok(())
            }
            Presence::Plain | Presence::Explicit | Presence::Repeated => Ok(()),
        };
        written.map_err(|invalid| invalid.under(field.name))?;
    }
    object.finish();
    Ok(())
}

pub(super) fn deeper(depth: usize) -> Result<usize, Invalid> {
    depth.checked_sub(1).ok_or_else(|| BadProtobuf::TooDeep.into())
}

/// Every value of one field.
fn values<'m>(field: &Field, bytes: &'m [u8]) -> impl Iterator<Item = Value<'m>> {
    let number = field.number;
    // The whole was gone over before.
    Fields::of(bytes).filter_map(Result::ok).filter(move |(given, _)| *given == number).map(|(_, value)| value)
}

fn member(field: &Field, bytes: &[u8], depth: usize, object: &mut Object<'_>) -> Result<(), Invalid> {
    let mut all = values(field, bytes);
    match (field.kind, field.presence) {
        (Kind::Map(schema), _) => map(all, object.key(field.name), |value, out| match value {
            Value::Bytes(bytes) => message(schema, bytes, depth, out),
            Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => Err(BadProtobuf::Kind.into()),
        }),
        (Kind::MapOfText, _) => map(all, object.key(field.name), |value, out| single(Kind::Text, value, depth, out)),
        (kind, Presence::Repeated) => {
            let out = object.key(field.name);
            out.push(b'[');
            for (index, value) in all.enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                single(kind, value, depth, out).map_err(|invalid| invalid.under(&format!("[{index}]")))?;
            }
            out.push(b']');
            Ok(())
        }
        (kind @ (Kind::Message(_) | Kind::Struct | Kind::Value | Kind::Time), _) => {
            let (first, second) = (all.next(), all.next());
            match (first, second) {
                (Some(value), None) => single(kind, value, depth, object.key(field.name)),
                _ => Err(BadProtobuf::Twice.into()),
            }
        }
        (kind, presence) => match all.last() {
            Some(value) if presence != Presence::Plain || !is_default(value) => {
                single(kind, value, depth, object.key(field.name))
            }
            Some(_) | None => Ok(()),
        },
    }
}

fn is_default(value: Value<'_>) -> bool {
    match value {
        Value::Varint(number) | Value::Fixed64(number) => number == 0,
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Fixed32(number) => number == 0,
    }
}

fn single(kind: Kind, value: Value<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), Invalid> {
    match (kind, value) {
        (Kind::Text, Value::Bytes(bytes)) => write_string(text(bytes)?, out),
        (Kind::Bytes, Value::Bytes(bytes)) => base64(bytes, out),
        (Kind::Bool, Value::Varint(flag)) => out.extend_from_slice(if flag == 0 { b"false" } else { b"true" }),
        (Kind::Int, Value::Varint(number)) => {
            // 32 bits, of which a negative number fills 64 on the wire.
            let number = i32::from_le_bytes(low(number));
            out.extend_from_slice(number.to_string().as_bytes());
        }
        (Kind::Enum(names), Value::Varint(number)) => {
            match usize::try_from(number).ok().and_then(|index| names.get(index)) {
                Some(name) => write_string(name, out),
                None => return Err(Invalid::whole(Problem::UnknownValue)),
            }
        }
        (Kind::Message(schema), Value::Bytes(bytes)) => return message(schema, bytes, depth, out),
        (Kind::Struct, Value::Bytes(bytes)) => return value::read_struct(bytes, depth, out),
        (Kind::Value, Value::Bytes(bytes)) => return value::read(bytes, depth, out),
        (Kind::Time, Value::Bytes(bytes)) => write_string(&time(bytes)?, out),
        (_, Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_))
        | (Kind::Bool | Kind::Int | Kind::Enum(_) | Kind::Map(_) | Kind::MapOfText, Value::Bytes(_)) => {
            return Err(BadProtobuf::Kind.into());
        }
    }
    Ok(())
}

fn low(number: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = number.to_le_bytes();
    [a, b, c, d]
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, Invalid> {
    std::str::from_utf8(bytes).map_err(|_| BadProtobuf::Utf8.into())
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // There is room for all of it.
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or_default();
    out.truncate(start + written);
    out.push(b'"');
}

/// The entries of a map, each a message of key and value. Protobuf keeps the last of two with one key; JSON knows none such.
pub(super) fn map<'m>(
    entries: impl Iterator<Item = Value<'m>>,
    out: &mut Vec<u8>,
    mut each: impl FnMut(Value<'m>, &mut Vec<u8>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    let mut keys = HashSet::new();
    let mut object = Object::open(out);
    for entry in entries {
        let Value::Bytes(entry) = entry else { return Err(BadProtobuf::Kind.into()) };
        let (mut key, mut value) = ("", Value::Bytes(&[]));
        for field in Fields::of(entry) {
            match field? {
                (1, Value::Bytes(bytes)) => key = text(bytes)?,
                (1, _) => return Err(BadProtobuf::Kind.into()),
                (2, given) => value = given,
                _ => {}
            }
        }
        if !keys.insert(key) {
            return Err(BadProtobuf::Twice.into());
        }
        each(value, object.key(key)).map_err(|invalid| invalid.under(key))?;
    }
    object.finish();
    Ok(())
}

/// `{seconds = 1, nanos = 2}`.
fn time(bytes: &[u8]) -> Result<String, Invalid> {
    let (mut seconds, mut nanos) = (0, 0);
    for field in Fields::of(bytes) {
        match field? {
            (1, Value::Varint(number)) => seconds = i64::from_le_bytes(number.to_le_bytes()),
            (2, Value::Varint(number)) => nanos = i32::from_le_bytes(low(number)),
            (1 | 2, _) => return Err(BadProtobuf::Kind.into()),
            _ => {}
        }
    }
    let stamp = jiff::Timestamp::new(seconds, nanos).map_err(|_| Invalid::whole(Problem::NotATime))?;
    // Three, six or nine digits after the point, or none, as protobuf's own writers do.
    let nanos = stamp.subsec_nanosecond();
    let digits = [(1_000_000_000, 0), (1_000_000, 3), (1_000, 6)].into_iter().find(|(unit, _)| nanos % unit == 0);
    Ok(format!("{stamp:.*}", digits.map_or(9, |(_, digits)| digits)))
}
