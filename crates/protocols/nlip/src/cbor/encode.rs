//! Encodes a message to CBOR, every length definite. Structured content is read from its JSON bytes, not from a tree: a number that came as
//! CBOR is written back as the same item, so is a byte string, and members keep their order.

use ciborium_ll::{Encoder, Header, simple};
use interlingua_model::Json;
use interlingua_model::json::{BadJson, Kind, Reader};

use crate::draft::{Field, Member};
use crate::json::Keys;
use crate::wire::{Content, Message, Submessage};

/// Writes one message. A number that neither a CBOR integer nor a double holds is text, as it is to every rule that reads
/// it.
pub fn encode(message: &Message, keys: Keys) -> Vec<u8> {
    let mut writer = Writer { out: Vec::new(), keys };
    let extra = usize::from(message.messagetype.is_some()) + usize::from(!message.submessages.is_empty());
    writer.push(Header::Map(Some(members(&message.first) + extra)));
    if let Some(messagetype) = &message.messagetype {
        writer.field(Field::MessageType);
        writer.text(messagetype);
    }
    writer.submessage(&message.first);
    if !message.submessages.is_empty() {
        writer.field(Field::Submessages);
        writer.push(Header::Array(Some(message.submessages.len())));
        for submessage in &message.submessages {
            writer.push(Header::Map(Some(members(submessage))));
            writer.submessage(submessage);
        }
    }
    writer.out
}

fn members(submessage: &Submessage) -> usize {
    3 + usize::from(submessage.label.is_some())
}

struct Writer {
    out: Vec<u8>,
    keys: Keys,
}

impl Writer {
    fn push(&mut self, header: Header) {
        // The longest header is nine bytes (RFC 8949 section 3), so that the room is always enough.
        let mut room = [0; 9];
        let mut left = &mut room[..];
        let written = Encoder::from(&mut left).push(header).is_ok();
        debug_assert!(written, "a header is at most nine bytes");
        let length = 9 - left.len();
        self.out.extend_from_slice(&room[..length]);
    }

    fn text(&mut self, text: &str) {
        self.push(Header::Text(Some(text.len())));
        self.out.extend_from_slice(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.push(Header::Bytes(Some(bytes.len())));
        self.out.extend_from_slice(bytes);
    }

    fn field(&mut self, field: impl Into<Field>) {
        self.text(self.keys.of(field.into()));
    }

    fn submessage(&mut self, submessage: &Submessage) {
        self.field(Member::Format);
        self.text(submessage.format_text());
        self.field(Member::Subformat);
        self.text(&submessage.subformat);
        self.field(Member::Content);
        match &submessage.content {
            Content::Text(text) => self.text(text),
            Content::Bytes(bytes) => self.bytes(bytes),
            Content::Json(json) => self.json(json),
        }
        if let Some(label) = &submessage.label {
            self.field(Member::Label);
            self.text(label);
        }
    }

    /// Two passes: the first counts, since a length stands before what it counts. Content was checked when it was read,
    /// so that neither can fail.
    fn json(&mut self, json: &Json) {
        let mut sizes = Vec::new();
        let counted = count(&mut Reader::of(json), &mut sizes);
        let mut sizes = sizes.into_iter();
        let written = counted.and_then(|()| self.value(&mut Reader::of(json), &mut sizes));
        debug_assert!(written.is_ok(), "checked JSON is read again");
    }

    fn value(&mut self, reader: &mut Reader<'_>, sizes: &mut std::vec::IntoIter<usize>) -> Result<(), BadJson> {
        match reader.kind()? {
            Kind::Null => {
                reader.null()?;
                self.push(Header::Simple(simple::NULL));
            }
            Kind::Bool => {
                let value = if reader.bool()? { simple::TRUE } else { simple::FALSE };
                self.push(Header::Simple(value));
            }
            Kind::Number => self.number(reader.number()?),
            Kind::String => self.text(&reader.string()?),
            Kind::Array => {
                self.push(Header::Array(sizes.next()));
                reader.array(|_, reader| self.value(reader, sizes))?;
            }
            Kind::Object => {
                if let Some(bytes) = super::read_bytes(reader) {
                    self.bytes(&bytes);
                    return Ok(());
                }
                self.push(Header::Map(sizes.next()));
                reader.object(|key, reader| {
                    self.text(&key);
                    self.value(reader, sizes)
                })?;
            }
        }
        Ok(())
    }

    fn number(&mut self, text: &str) {
        match integer(text).or_else(|| float(text)) {
            Some(header) => self.push(header),
            None => self.text(text),
        }
    }
}

/// The sizes of arrays and objects, each before those inside it.
fn count(reader: &mut Reader<'_>, sizes: &mut Vec<usize>) -> Result<(), BadJson> {
    let own = sizes.len();
    match reader.kind()? {
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
            reader.skip()?;
        }
        Kind::Array => {
            sizes.push(0);
            reader.array(|_, reader| {
                sizes[own] += 1;
                count(reader, sizes)
            })?;
        }
        Kind::Object => {
            if super::read_bytes(reader).is_some() {
                return Ok(());
            }
            sizes.push(0);
            reader.object(|_, reader| {
                sizes[own] += 1;
                count(reader, sizes)
            })?;
        }
    }
    Ok(())
}

/// From -2^64 to 2^64 - 1 (RFC 8949 section 3.1). Minus zero is a float.
fn integer(text: &str) -> Option<Header> {
    let number: i128 = text.parse().ok().filter(|_| text != "-0")?;
    match u64::try_from(number) {
        Ok(positive) => Some(Header::Positive(positive)),
        // The header holds -1 - n.
        Err(_) => u64::try_from(-1 - number).ok().map(Header::Negative),
    }
}

/// A double has 17 digits at most; a text with more of them says more than one.
fn float(text: &str) -> Option<Header> {
    let mantissa = text.split(['e', 'E']).next()?;
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    let whole = text != "-0" && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    (digits <= 17 && !whole).then_some(Header::Float(number))
}
