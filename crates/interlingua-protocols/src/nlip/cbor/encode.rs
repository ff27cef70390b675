//! Writes a message, every length definite.

use ciborium_ll::{Encoder, Header, simple};
use interlingua_core::json::Tree;

use crate::nlip::draft::{Field, Member};
use crate::nlip::json::Keys;
use crate::nlip::wire::{Content, Message, Submessage};

/// Writes one message. A number that fits no CBOR integer or double is text, as it is to every rule that reads it.
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
            Content::Bytes(bytes) => {
                self.push(Header::Bytes(Some(bytes.len())));
                self.out.extend_from_slice(bytes);
            }
            Content::Json(json) => self.tree(json.tree()),
        }
        if let Some(label) = &submessage.label {
            self.field(Member::Label);
            self.text(label);
        }
    }

    fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::Null => self.push(Header::Simple(simple::NULL)),
            Tree::Bool(true) => self.push(Header::Simple(simple::TRUE)),
            Tree::Bool(false) => self.push(Header::Simple(simple::FALSE)),
            Tree::String(text) => self.text(text),
            Tree::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(positive), _) => self.push(Header::Positive(positive)),
                // The header holds -1 - n.
                (None, Some(negative)) => self.push(Header::Negative((!negative).unsigned_abs())),
                (None, None) => self.push(Header::Float(number.as_f64().unwrap_or_default())),
            },
            Tree::Array(items) => {
                self.push(Header::Array(Some(items.len())));
                items.iter().for_each(|item| self.tree(item));
            }
            Tree::Object(members) => {
                self.push(Header::Map(Some(members.len())));
                for (key, value) in members {
                    self.text(key);
                    self.tree(value);
                }
            }
        }
    }
}
