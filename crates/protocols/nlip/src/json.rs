//! JSON codec of a message: the HTTP binding (ECMA-431) and the WebSocket's text fallback (ECMA-432 clause 7.2). One pass in, one buffer
//! out; both are linear in the length of the message.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::{Kind, Reader, write_string};

use super::draft::{Draft, Field, Found, Member, Place, Top};
use super::invalid::{Invalid, Problem};
use super::wire::{Content, Limits, Message, Submessage};

/// Reads one message. Structured content stays a slice of the frame.
pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Message, Invalid> {
    if frame.len() > limits.bytes {
        return Err(Invalid::whole(Problem::TooManyBytes { limit: limits.bytes }));
    }
    let mut reader = Reader::new(frame, limits.depth)?;
    if reader.kind()? != Kind::Object {
        reader.skip()?;
        reader.end()?;
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    let mut top = Top::new();
    reader.object(|key, reader| match top.first.field(&key)? {
        None => {
            reader.skip()?;
            Ok(())
        }
        Some(Field::MessageType) => {
            top.messagetype = optional(reader, &top.first, Field::MessageType)?.map(Into::into);
            Ok(())
        }
        Some(Field::Control) => {
            top.control = flag(reader)?;
            Ok(())
        }
        Some(Field::Submessages) => {
            top.submessages = submessages(reader, frame, limits)?;
            Ok(())
        }
        Some(Field::Member(field)) => member(reader, frame, &mut top.first, field),
    })?;
    reader.end()?;
    top.finish()
}

/// The legacy flag counts only as `true`; what else stands there is an unknown field.
fn flag(reader: &mut Reader<'_>) -> Result<bool, Invalid> {
    if reader.kind()? == Kind::Bool {
        return Ok(reader.bool()?);
    }
    reader.skip()?;
    Ok(false)
}

/// Null is the same as absent, and so is an empty list: servers in the wild send both (the standard asks for one or more).
fn submessages(reader: &mut Reader<'_>, frame: &Bytes, limits: &Limits) -> Result<Vec<Submessage>, Invalid> {
    match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            return Ok(Vec::new());
        }
        Kind::Array => {}
        Kind::Bool | Kind::Number | Kind::String | Kind::Object => {
            return Err(Place::Top.invalid(Field::Submessages, Problem::NotAnArray));
        }
    }
    let mut submessages = Vec::new();
    reader.array(|index, reader| {
        if index >= limits.submessages {
            let problem = Problem::TooManySubmessages { limit: limits.submessages };
            return Err(Place::Top.invalid(Field::Submessages, problem));
        }
        submessages.push(submessage(reader, frame, Place::Entry(index))?);
        Ok(())
    })?;
    Ok(submessages)
}

/// Submessages do not nest: a message type or a list inside one is an unknown field (Annex A).
fn submessage(reader: &mut Reader<'_>, frame: &Bytes, place: Place) -> Result<Submessage, Invalid> {
    if reader.kind()? != Kind::Object {
        return Err(place.itself(Problem::NotAnObject));
    }
    let mut draft = Draft::new(place);
    reader.object(|key, reader| match draft.field(&key)? {
        None | Some(Field::MessageType | Field::Control | Field::Submessages) => {
            reader.skip()?;
            Ok(())
        }
        Some(Field::Member(field)) => member(reader, frame, &mut draft, field),
    })?;
    draft.finish()
}

/// A field that every submessage has.
fn member<'a>(reader: &mut Reader<'a>, frame: &Bytes, draft: &mut Draft<'a>, field: Member) -> Result<(), Invalid> {
    match field {
        Member::Format => draft.format(&required(reader, draft, field)?),
        Member::Subformat => {
            draft.subformat(required(reader, draft, field)?);
            Ok(())
        }
        Member::Label => {
            if let Some(label) = optional(reader, draft, field)? {
                draft.label(&label);
            }
            Ok(())
        }
        Member::Content => {
            draft.content(content(reader, frame)?);
            Ok(())
        }
    }
}

fn content<'a>(reader: &mut Reader<'a>, frame: &Bytes) -> Result<Found<'a>, Invalid> {
    if reader.kind()? == Kind::String {
        return Ok(Found::Text(reader.string()?));
    }
    Ok(Found::Json(Json::slice(frame, reader.skip()?)))
}

fn required<'a>(reader: &mut Reader<'a>, draft: &Draft<'a>, field: impl Into<Field>) -> Result<Cow<'a, str>, Invalid> {
    if reader.kind()? != Kind::String {
        return Err(draft.invalid(field, Problem::NotAString));
    }
    Ok(reader.string()?)
}

fn optional<'a>(
    reader: &mut Reader<'a>,
    draft: &Draft<'a>,
    field: impl Into<Field>,
) -> Result<Option<Cow<'a, str>>, Invalid> {
    if reader.kind()? == Kind::Null {
        reader.null()?;
        return Ok(None);
    }
    required(reader, draft, field).map(Some)
}

/// How field names are written. Any case is legal (clause 5); peers built on the public SDK read only lower case, the
/// examples of ECMA-432 are in title case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keys {
    #[default]
    Lower,
    Title,
}

impl Keys {
    pub(super) fn of(self, field: Field) -> &'static str {
        match self {
            Keys::Lower => field.as_str(),
            Keys::Title => match field {
                Field::MessageType => "MessageType",
                Field::Control => "Control",
                Field::Submessages => "Submessages",
                Field::Member(Member::Format) => "Format",
                Field::Member(Member::Subformat) => "Subformat",
                Field::Member(Member::Content) => "Content",
                Field::Member(Member::Label) => "Label",
            },
        }
    }
}

/// Writes one message: no nulls, no empty list.
pub fn encode(message: &Message, keys: Keys) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + message.all().map(size).sum::<usize>());
    out.push(b'{');
    if let Some(messagetype) = &message.messagetype {
        key(&mut out, keys, Field::MessageType);
        write_string(messagetype, &mut out);
        out.push(b',');
    }
    write_members(&message.first, keys, &mut out);
    if !message.submessages.is_empty() {
        out.push(b',');
        key(&mut out, keys, Field::Submessages);
        out.push(b'[');
        for (index, submessage) in message.submessages.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.push(b'{');
            write_members(submessage, keys, &mut out);
            out.push(b'}');
        }
        out.push(b']');
    }
    out.push(b'}');
    out
}

fn write_members(submessage: &Submessage, keys: Keys, out: &mut Vec<u8>) {
    key(out, keys, Member::Format);
    write_string(submessage.format_text(), out);
    out.push(b',');
    key(out, keys, Member::Subformat);
    write_string(&submessage.subformat, out);
    out.push(b',');
    key(out, keys, Member::Content);
    match &submessage.content {
        Content::Text(text) => write_string(text, out),
        Content::Json(json) => out.extend_from_slice(json.as_bytes()),
        Content::Bytes(bytes) => write_base64(bytes, out),
    }
    if let Some(label) = &submessage.label {
        out.push(b',');
        key(out, keys, Member::Label);
        write_string(label, out);
    }
}

fn key(out: &mut Vec<u8>, keys: Keys, field: impl Into<Field>) {
    out.push(b'"');
    out.extend_from_slice(keys.of(field.into()).as_bytes());
    out.extend_from_slice(b"\":");
}

/// Straight into the message, so that large content is copied once.
fn write_base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    debug_assert_eq!(start + written, out.len(), "padded base64 has four characters for every three bytes begun");
    out.push(b'"');
}

/// Enough for the common case of text without escapes.
fn size(submessage: &Submessage) -> usize {
    let content = match &submessage.content {
        Content::Text(text) => text.len() + text.len() / 32,
        Content::Json(json) => json.as_bytes().len(),
        Content::Bytes(bytes) => bytes.len() / 3 * 4 + 4,
    };
    64 + content + submessage.subformat.len() + submessage.label.as_deref().map_or(0, str::len)
}
