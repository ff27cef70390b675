//! JSON writer and canonical forms: strings with the shortest escapes, and values in a spelling that allows two of them to be compared.
//!
//! [`spell`] walks the value for every canonical form. The forms differ in their [`Spelling`]; the hub's own, which compares arguments,
//! leaves numbers as they were written.

use std::cmp::Ordering;

use super::Json;
use super::reader::{BadJson, Kind, Problem, Reader};

/// What one canonical form differs in from another.
pub trait Spelling {
    /// Writes a number, given as it was written.
    fn number(text: &str, out: &mut Vec<u8>) -> Result<(), Problem>;
    /// Writes a string with its quotes, given unescaped.
    fn string(text: &str, out: &mut Vec<u8>);
    /// Which of two members of an object comes first.
    fn order(one: &str, other: &str) -> Ordering;
}

/// Writes the next value: members in their order, and nothing between that does not mean anything.
pub fn spell<S: Spelling>(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), BadJson> {
    match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            out.extend_from_slice(b"null");
        }
        Kind::Bool => out.extend_from_slice(if reader.bool()? { b"true" } else { b"false" }),
        Kind::Number => {
            let at = reader.position();
            S::number(reader.number()?, out).map_err(|problem| BadJson { at, problem })?;
        }
        Kind::String => S::string(&reader.string()?, out),
        Kind::Array => {
            out.push(b'[');
            reader.array::<BadJson>(|index, reader| {
                if index > 0 {
                    out.push(b',');
                }
                spell::<S>(reader, out)
            })?;
            out.push(b']');
        }
        Kind::Object => spell_object::<S>(reader, out)?,
    }
    Ok(())
}

fn spell_object<S: Spelling>(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), BadJson> {
    let mut members = Vec::new();
    reader.object::<BadJson>(|key, reader| {
        let mut value = Vec::new();
        spell::<S>(reader, &mut value)?;
        members.push((key, value));
        Ok(())
    })?;
    members.sort_unstable_by(|(one, _), (other, _)| S::order(one, other));
    out.push(b'{');
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        S::string(key, out);
        out.push(b':');
        out.extend_from_slice(value);
    }
    out.push(b'}');
    Ok(())
}

/// The spelling by which the hub compares.
struct Ours;

impl Spelling for Ours {
    fn number(text: &str, out: &mut Vec<u8>) -> Result<(), Problem> {
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn string(text: &str, out: &mut Vec<u8>) {
        write_string(text, out);
    }

    fn order(one: &str, other: &str) -> Ordering {
        one.cmp(other)
    }
}

/// A checked value, as the hub compares them.
pub(super) fn canonical(checked: &Json, out: &mut Vec<u8>) {
    let _ = spell::<Ours>(&mut Reader::of(checked), out);
}

/// A JSON string with the shortest escapes.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}
