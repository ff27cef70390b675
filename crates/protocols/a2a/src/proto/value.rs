//! `google.protobuf.Struct` and `Value`: JSON inside the proto.

use interlingua_model::json::{Kind, Reader, write_string};

use super::read::{deeper, map, text};
use crate::invalid::{Invalid, Problem};
use interlingua_wire::protobuf::{BadProtobuf, Fields, Value, Writer};

// `Struct.fields` and `ListValue.values`.
const MEMBERS: u32 = 1;
// The members of `Value`.
const NULL: u32 = 1;
const NUMBER: u32 = 2;
const TEXT: u32 = 3;
const BOOL: u32 = 4;
const STRUCT: u32 = 5;
const LIST: u32 = 6;

/// The largest whole number below which a double holds all of them.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// A double tells numbers of this many digits apart, and no more.
const DIGITS: usize = 17;

pub(super) fn read_struct(bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), Invalid> {
    let depth = deeper(depth)?;
    map(members(bytes)?, out, |value, out| match value {
        Value::Bytes(bytes) => read(bytes, depth, out),
        Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => Err(BadProtobuf::Kind.into()),
    })
}

fn members(bytes: &[u8]) -> Result<impl Iterator<Item = Value<'_>>, Invalid> {
    for field in Fields::of(bytes) {
        field?;
    }
    let all = Fields::of(bytes).filter_map(Result::ok);
    Ok(all.filter(|(number, _)| *number == MEMBERS).map(|(_, value)| value))
}

/// A value that says nothing is null.
pub(super) fn read(bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), Invalid> {
    let mut last = (NULL, Value::Varint(0));
    for field in Fields::of(bytes) {
        let (number, value) = field?;
        if (NULL..=LIST).contains(&number) {
            last = (number, value);
        }
    }
    match last {
        (NULL, Value::Varint(_)) => out.extend_from_slice(b"null"),
        (NUMBER, Value::Fixed64(bits)) => number(f64::from_bits(bits), out)?,
        (TEXT, Value::Bytes(bytes)) => write_string(text(bytes)?, out),
        (BOOL, Value::Varint(flag)) => out.extend_from_slice(if flag == 0 { b"false" } else { b"true" }),
        (STRUCT, Value::Bytes(bytes)) => read_struct(bytes, depth, out)?,
        (LIST, Value::Bytes(bytes)) => list(bytes, depth, out)?,
        _ => return Err(BadProtobuf::Kind.into()),
    }
    Ok(())
}

fn list(bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), Invalid> {
    let depth = deeper(depth)?;
    out.push(b'[');
    for (index, value) in members(bytes)?.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let Value::Bytes(bytes) = value else { return Err(BadProtobuf::Kind.into()) };
        read(bytes, depth, out)?;
    }
    out.push(b']');
    Ok(())
}

/// The shortest text that is the same number; whole ones without a point.
fn number(number: f64, out: &mut Vec<u8>) -> Result<(), Invalid> {
    if !number.is_finite() {
        return Err(BadProtobuf::NotFinite.into());
    }
    let plain = number == 0.0 || (1e-6..EXACT).contains(&number.abs());
    let text = if plain { format!("{number}") } else { format!("{number:e}") };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

pub(super) fn write_struct(reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<(), Invalid> {
    if reader.kind()? != Kind::Object {
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    reader.object(|key, reader| {
        writer.message(MEMBERS, |entry| {
            entry.bytes(1, key.as_bytes());
            entry.message(2, |value| write(reader, value))
        })
    })
}

pub(super) fn write(reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<(), Invalid> {
    match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            writer.varint(NULL, 0);
        }
        Kind::Bool => writer.varint(BOOL, reader.bool()?.into()),
        Kind::Number => {
            let spelled = reader.number()?;
            match double(spelled) {
                Some(number) => writer.double(NUMBER, number),
                None => writer.bytes(TEXT, spelled.as_bytes()),
            }
        }
        Kind::String => writer.bytes(TEXT, reader.string()?.as_bytes()),
        Kind::Object => writer.message(STRUCT, |inner| write_struct(reader, inner))?,
        Kind::Array => writer
            .message(LIST, |inner| reader.array(|_, reader| inner.message(MEMBERS, |value| write(reader, value))))?,
    }
    Ok(())
}

/// `None` for a number that a double would change: a large whole one, one with more digits, and one beyond all doubles.
fn double(spelled: &str) -> Option<f64> {
    let number: f64 = spelled.parse().ok().filter(|number: &f64| number.is_finite())?;
    let whole = !spelled.contains(['.', 'e', 'E']);
    let mantissa = spelled.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let digits = mantissa.filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    let fits = if whole { number.abs() <= EXACT } else { digits <= DIGITS };
    fits.then_some(number)
}
