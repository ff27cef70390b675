//! The signed view of a card, as a reader of `a2a.proto` sees it (section 8.4.1): members that the proto knows, without default values.

use interlingua_model::Json;
use interlingua_model::json::{Kind as Is, Reader, write_string};

use super::schema::{Field, Kind, Presence, Schema};
use crate::invalid::{Invalid, Problem};
use interlingua_wire::object::Object;

/// What is kept: required members and `optional` ones that are set, whatever they say; others when they say something.
/// `signatures` never.
pub(super) fn view(schema: &Schema, json: &Json) -> Result<Json, Invalid> {
    let mut out = Vec::with_capacity(json.as_bytes().len());
    message(schema, &mut Reader::of(json), &mut out)?;
    Ok(Json::written(out))
}

fn message(schema: &Schema, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Invalid> {
    if reader.kind()? != Is::Object {
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    let mut object = Object::open(out);
    reader.object(|key, reader| {
        let known = schema.fields().iter().find(|field| field.name == key && field.name != "signatures");
        let Some(field) = known else {
            reader.skip()?;
            return Ok(());
        };
        let mut value = Vec::new();
        member(field, reader, &mut value).map_err(|invalid: Invalid| invalid.under(&key))?;
        if !value.is_empty() {
            object.key(&key).extend_from_slice(&value);
        }
        Ok::<(), Invalid>(())
    })?;
    object.finish();
    Ok(())
}

/// Writes nothing for what is left out.
fn member(field: &Field, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Invalid> {
    if reader.kind()? == Is::Null && !matches!(field.kind, Kind::Value) {
        reader.null()?;
        return Ok(());
    }
    let list = field.presence == Presence::Repeated;
    match (list, field.kind) {
        (true, kind) => each(reader, Is::Array, out, |_, reader, out| single(kind, reader, out))?,
        (false, Kind::Map(schema)) => each(reader, Is::Object, out, |key, reader, out| {
            write_string(key, out);
            out.push(b':');
            message(schema, reader, out)
        })?,
        (false, Kind::MapOfText) => each(reader, Is::Object, out, |key, reader, out| {
            write_string(key, out);
            out.push(b':');
            single(Kind::Text, reader, out)
        })?,
        (false, kind) => single(kind, reader, out)?,
    }
    let says = match (list, field.kind) {
        (true, _) | (false, Kind::Map(_) | Kind::MapOfText) => !matches!(out.as_slice(), b"[]" | b"{}"),
        // These are there or not; what they are is no default.
        (false, Kind::Message(_) | Kind::Struct | Kind::Value | Kind::Time) => true,
        (false, Kind::Text | Kind::Bytes | Kind::Bool | Kind::Int | Kind::Enum(_)) => {
            field.presence != Presence::Plain || !matches!(out.as_slice(), b"\"\"" | b"false" | b"0")
        }
    };
    if !says && !field.required {
        out.clear();
    }
    Ok(())
}

fn each(
    reader: &mut Reader<'_>,
    kind: Is,
    out: &mut Vec<u8>,
    mut one: impl FnMut(&str, &mut Reader<'_>, &mut Vec<u8>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    let mut next = |key: &str, reader: &mut Reader<'_>, out: &mut Vec<u8>| {
        if out.len() > 1 {
            out.push(b',');
        }
        one(key, reader, out)
    };
    match (kind, reader.kind()?) {
        (Is::Array, Is::Array) => {
            out.push(b'[');
            reader.array::<Invalid>(|_, reader| next("", reader, out))?;
            out.push(b']');
            Ok(())
        }
        (Is::Object, Is::Object) => {
            out.push(b'{');
            reader.object::<Invalid>(|key, reader| next(&key, reader, out))?;
            out.push(b'}');
            Ok(())
        }
        (Is::Array, _) => Err(Invalid::whole(Problem::NotAnArray)),
        _ => Err(Invalid::whole(Problem::NotAnObject)),
    }
}

fn single(kind: Kind, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Invalid> {
    match (kind, reader.kind()?) {
        (Kind::Message(schema), _) => message(schema, reader, out),
        (Kind::Text | Kind::Bytes | Kind::Enum(_) | Kind::Time, Is::String) => {
            write_string(&reader.string()?, out);
            Ok(())
        }
        (Kind::Text | Kind::Bytes | Kind::Enum(_) | Kind::Time, _) => Err(Invalid::whole(Problem::NotAString)),
        (Kind::Bool, Is::Bool) | (Kind::Int, Is::Number) | (Kind::Value, _) | (Kind::Struct, Is::Object) => {
            copy(reader, out)
        }
        (Kind::Bool, _) => Err(Invalid::whole(Problem::NotABool)),
        (Kind::Int, _) => Err(Invalid::whole(Problem::NotANumber)),
        (Kind::Struct | Kind::Map(_) | Kind::MapOfText, _) => Err(Invalid::whole(Problem::NotAnObject)),
    }
}

/// One value as it is, without the space between its tokens.
fn copy(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Invalid> {
    match reader.kind()? {
        Is::Null => {
            reader.null()?;
            out.extend_from_slice(b"null");
        }
        Is::Bool => out.extend_from_slice(if reader.bool()? { b"true" } else { b"false" }),
        Is::Number => out.extend_from_slice(reader.number()?.as_bytes()),
        Is::String => write_string(&reader.string()?, out),
        Is::Array => {
            out.push(b'[');
            reader.array::<Invalid>(|index, reader| {
                if index > 0 {
                    out.push(b',');
                }
                copy(reader, out)
            })?;
            out.push(b']');
        }
        Is::Object => {
            let mut object = Object::open(out);
            reader.object::<Invalid>(|key, reader| copy(reader, object.key(&key)))?;
            object.finish();
        }
    }
    Ok(())
}

/// Without any empty text, list or object, and without nulls, at any depth: what the official Python SDK signs.
pub(super) fn pruned(json: &Json) -> Result<Json, Invalid> {
    let mut out = Vec::with_capacity(json.as_bytes().len());
    if !prune(&mut Reader::of(json), &mut out)? {
        out.extend_from_slice(b"{}");
    }
    Ok(Json::written(out))
}

/// Whether something was written.
fn prune(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<bool, Invalid> {
    let start = out.len();
    let mut any = false;
    match reader.kind()? {
        Is::Null => {
            reader.null()?;
            return Ok(false);
        }
        Is::String => {
            let text = reader.string()?;
            if text.is_empty() {
                return Ok(false);
            }
            write_string(&text, out);
            return Ok(true);
        }
        Is::Bool | Is::Number => {
            copy(reader, out)?;
            return Ok(true);
        }
        Is::Array => {
            out.push(b'[');
            reader.array::<Invalid>(|_, reader| {
                let before = out.len();
                if any {
                    out.push(b',');
                }
                match prune(reader, out)? {
                    true => any = true,
                    false => out.truncate(before),
                }
                Ok(())
            })?;
            out.push(b']');
        }
        Is::Object => {
            out.push(b'{');
            reader.object::<Invalid>(|key, reader| {
                let before = out.len();
                if any {
                    out.push(b',');
                }
                write_string(&key, out);
                out.push(b':');
                match prune(reader, out)? {
                    true => any = true,
                    false => out.truncate(before),
                }
                Ok(())
            })?;
            out.push(b'}');
        }
    }
    if !any {
        out.truncate(start);
    }
    Ok(any)
}
