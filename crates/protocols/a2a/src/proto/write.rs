//! Converts JSON to a message of the proto. Members that the proto does not have are omitted.

use interlingua_model::json::{Kind as Is, Reader};

use super::schema::{Field, Kind, Presence, Schema};
use super::value;
use crate::invalid::{Invalid, Problem};
use crate::json::base64;
use interlingua_wire::protobuf::Writer;

pub(super) fn message(schema: &Schema, reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<(), Invalid> {
    if reader.kind()? != Is::Object {
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    reader.object(|key, reader| match schema.fields().iter().find(|field| field.name == key) {
        Some(field) => member(field, reader, writer).map_err(|invalid| invalid.under(&key)),
        None => {
            reader.skip()?;
            Ok(())
        }
    })
}

fn member(field: &Field, reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<(), Invalid> {
    if reader.kind()? == Is::Null && !matches!(field.kind, Kind::Value) {
        reader.null()?;
        return Ok(());
    }
    match field.presence {
        Presence::Repeated => {
            if reader.kind()? != Is::Array {
                return Err(Invalid::whole(Problem::NotAnArray));
            }
            reader.array(|_, reader| single(field, reader, writer))
        }
        Presence::Plain | Presence::Explicit | Presence::Always => single(field, reader, writer),
    }
}

fn single(field: &Field, reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<(), Invalid> {
    let number = field.number;
    let varint = |writer: &mut Writer<'_>, value: u64| {
        if value != 0 || field.presence != Presence::Plain {
            writer.varint(number, value);
        }
    };
    match field.kind {
        Kind::Text => {
            let text = text(reader)?;
            if !text.is_empty() || field.presence != Presence::Plain {
                writer.bytes(number, text.as_bytes());
            }
        }
        Kind::Bytes => writer.bytes(number, &base64(&text(reader)?)?),
        Kind::Bool => match reader.kind()? {
            Is::Bool => varint(writer, reader.bool()?.into()),
            _ => return Err(Invalid::whole(Problem::NotABool)),
        },
        Kind::Int => varint(writer, int(reader)?),
        Kind::Enum(names) => {
            let name = text(reader)?;
            let index = names.iter().position(|known| *known == name);
            varint(writer, index.ok_or_else(|| Invalid::whole(Problem::UnknownValue))? as u64);
        }
        Kind::Message(schema) => writer.message(number, |inner| message(schema, reader, inner))?,
        Kind::Map(schema) => entries(reader, |key, reader| {
            writer.message(number, |entry| {
                entry.bytes(1, key.as_bytes());
                entry.message(2, |inner| message(schema, reader, inner))
            })
        })?,
        Kind::MapOfText => entries(reader, |key, reader| {
            writer.message(number, |entry| {
                entry.bytes(1, key.as_bytes());
                entry.bytes(2, text(reader)?.as_bytes());
                Ok(())
            })
        })?,
        Kind::Struct => writer.message(number, |inner| value::write_struct(reader, inner))?,
        Kind::Value => writer.message(number, |inner| value::write(reader, inner))?,
        Kind::Time => {
            let stamp: jiff::Timestamp = text(reader)?.parse().map_err(|_| Invalid::whole(Problem::NotATime))?;
            writer.message(number, |inner| time(stamp, inner))?;
        }
    }
    Ok(())
}

fn text(reader: &mut Reader<'_>) -> Result<String, Invalid> {
    if reader.kind()? != Is::String {
        return Err(Invalid::whole(Problem::NotAString));
    }
    Ok(reader.string()?.into_owned())
}

/// What the proto's `int32` holds, the nearest to what is given: a total may be larger. One below zero fills 64 bits.
fn int(reader: &mut Reader<'_>) -> Result<u64, Invalid> {
    let wrong = || Invalid::whole(Problem::NotANumber);
    if reader.kind()? != Is::Number {
        return Err(wrong());
    }
    let given: i128 = reader.number()?.parse().map_err(|_| wrong())?;
    let held = given.clamp(i32::MIN.into(), i32::MAX.into());
    i64::try_from(held).map(i64::cast_unsigned).map_err(|_| wrong())
}

fn entries<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&str, &mut Reader<'a>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if reader.kind()? != Is::Object {
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    reader.object(|key, reader| each(&key, reader).map_err(|invalid| invalid.under(&key)))
}

/// jiff gives seconds and nanoseconds one sign; the proto counts nanoseconds forward.
fn time(stamp: jiff::Timestamp, writer: &mut Writer<'_>) -> Result<(), Invalid> {
    let (seconds, nanos) = match (stamp.as_second(), stamp.subsec_nanosecond()) {
        (seconds, nanos @ ..0) => (seconds - 1, nanos + 1_000_000_000),
        forward => forward,
    };
    writer.varint(1, u64::from_le_bytes(seconds.to_le_bytes()));
    writer.varint(2, u64::from(nanos.unsigned_abs()));
    Ok(())
}
