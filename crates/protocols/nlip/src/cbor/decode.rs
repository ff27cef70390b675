//! Decodes a message from CBOR.

use std::borrow::Cow;

use bytes::Bytes;
use ciborium_ll::{Header, simple};
use interlingua_model::Json;
use interlingua_model::json::write_string;

use super::items::Items;
use crate::draft::{Draft, Field, Found, Member, Place, Top};
use crate::invalid::{Invalid, Problem};
use crate::wire::{Limits, Message, Submessage};

/// Reads the one message of a frame.
pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Message, Invalid> {
    if frame.len() > limits.bytes {
        return Err(Invalid::whole(Problem::TooManyBytes { limit: limits.bytes }));
    }
    let mut items = Items::new(frame, limits.depth);
    let Header::Map(length) = items.header()? else { return Err(Invalid::whole(Problem::NotAnObject)) };
    let mut top = Top::new();
    items.map(length, |key, items| {
        let field = top.first.field(&key)?;
        let header = items.header()?;
        match field {
            None => items.skip(header),
            Some(Field::MessageType) => {
                top.messagetype = optional(items, header, &top.first, Field::MessageType)?.map(Into::into);
                Ok(())
            }
            Some(Field::Control) => {
                top.control = header == Header::Simple(simple::TRUE);
                items.skip(header)
            }
            Some(Field::Submessages) => {
                top.submessages = submessages(items, header, limits)?;
                Ok(())
            }
            Some(Field::Member(field)) => member(items, header, &mut top.first, field),
        }
    })?;
    items.end()?;
    top.finish()
}

fn submessages(items: &mut Items<'_>, header: Header, limits: &Limits) -> Result<Vec<Submessage>, Invalid> {
    let length = match header {
        Header::Simple(simple::NULL) => return Ok(Vec::new()),
        Header::Array(length) => length,
        _ => return Err(Place::Top.invalid(Field::Submessages, Problem::NotAnArray)),
    };
    let mut submessages = Vec::new();
    items.array(length, |index, items| {
        if index >= limits.submessages {
            let problem = Problem::TooManySubmessages { limit: limits.submessages };
            return Err(Place::Top.invalid(Field::Submessages, problem));
        }
        submessages.push(submessage(items, Place::Entry(index))?);
        Ok(())
    })?;
    Ok(submessages)
}

fn submessage(items: &mut Items<'_>, place: Place) -> Result<Submessage, Invalid> {
    let Header::Map(length) = items.header()? else { return Err(place.itself(Problem::NotAnObject)) };
    let mut draft = Draft::new(place);
    items.map(length, |key, items| {
        let field = draft.field(&key)?;
        let header = items.header()?;
        match field {
            None | Some(Field::MessageType | Field::Control | Field::Submessages) => items.skip(header),
            Some(Field::Member(field)) => member(items, header, &mut draft, field),
        }
    })?;
    draft.finish()
}

/// A field that every submessage has.
fn member<'a>(items: &mut Items<'a>, header: Header, draft: &mut Draft<'a>, field: Member) -> Result<(), Invalid> {
    match field {
        Member::Format => {
            let name = required(items, header, draft, field)?;
            draft.format(&name)
        }
        Member::Subformat => {
            let subformat = required(items, header, draft, field)?;
            draft.subformat(subformat);
            Ok(())
        }
        Member::Label => {
            if let Some(label) = optional(items, header, draft, field)? {
                draft.label(&label);
            }
            Ok(())
        }
        Member::Content => {
            let found = content(items, header, draft)?;
            draft.content(found);
            Ok(())
        }
    }
}

fn content<'a>(items: &mut Items<'a>, header: Header, draft: &Draft<'a>) -> Result<Found<'a>, Invalid> {
    match header {
        Header::Text(length) => items.text(length).map(Found::Text),
        Header::Bytes(length) => items.bytes(length).map(Found::Bytes),
        other => {
            let mut out = Vec::new();
            write_json(items, other, &mut out, draft)?;
            let length = out.len();
            // Checked as it was written: text is UTF-8, keys are unique, depth is bounded.
            Ok(Found::Json(Json::slice(&out.into(), (0, length))))
        }
    }
}

fn required<'a>(
    items: &mut Items<'a>,
    header: Header,
    draft: &Draft<'a>,
    field: impl Into<Field>,
) -> Result<Cow<'a, str>, Invalid> {
    match header {
        Header::Text(length) => items.text(length),
        _ => Err(draft.invalid(field, Problem::NotAString)),
    }
}

fn optional<'a>(
    items: &mut Items<'a>,
    header: Header,
    draft: &Draft<'a>,
    field: impl Into<Field>,
) -> Result<Option<Cow<'a, str>>, Invalid> {
    match header {
        Header::Simple(simple::NULL) => Ok(None),
        other => required(items, other, draft, field).map(Some),
    }
}

/// One item in JSON. Integers keep every digit; a float keeps its value.
fn write_json(items: &mut Items<'_>, header: Header, out: &mut Vec<u8>, draft: &Draft<'_>) -> Result<(), Invalid> {
    let no_form = || draft.invalid(Member::Content, Problem::NoJsonForm);
    match header {
        Header::Positive(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Header::Negative(number) => out.extend_from_slice((-1 - i128::from(number)).to_string().as_bytes()),
        Header::Float(number) if number.is_finite() => {
            // serde_json writes the shortest text that reads back as the same number; a finite one cannot fail.
            serde_json::to_writer(&mut *out, &number).map_err(|_| no_form())?;
        }
        Header::Simple(simple::TRUE) => out.extend_from_slice(b"true"),
        Header::Simple(simple::FALSE) => out.extend_from_slice(b"false"),
        Header::Simple(simple::NULL) => out.extend_from_slice(b"null"),
        Header::Text(length) => write_string(&items.text(length)?, out),
        Header::Array(length) => write_array(items, length, out, draft)?,
        Header::Map(length) => write_object(items, length, out, draft)?,
        Header::Bytes(length) => super::write_bytes(&items.bytes(length)?, out),
        Header::Float(_) | Header::Simple(_) => return Err(no_form()),
        Header::Tag(_) | Header::Break => return Err(items.malformed()),
    }
    Ok(())
}

fn write_array(
    items: &mut Items<'_>,
    length: Option<usize>,
    out: &mut Vec<u8>,
    draft: &Draft<'_>,
) -> Result<(), Invalid> {
    out.push(b'[');
    items.array(length, |index, items| {
        if index > 0 {
            out.push(b',');
        }
        let header = items.header()?;
        write_json(items, header, out, draft)
    })?;
    out.push(b']');
    Ok(())
}

fn write_object(
    items: &mut Items<'_>,
    length: Option<usize>,
    out: &mut Vec<u8>,
    draft: &Draft<'_>,
) -> Result<(), Invalid> {
    out.push(b'{');
    let mut first = true;
    items.map(length, |key, items| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_string(&key, out);
        out.push(b':');
        let header = items.header()?;
        write_json(items, header, out, draft)
    })?;
    out.push(b'}');
    Ok(())
}
