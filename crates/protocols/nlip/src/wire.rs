//! The message of ECMA-430 clause 5, as every binding carries it: a first submessage, a message type beside it, and
//! further submessages in order.
//!
//! It is not interpreted: tokens, labels and unknown message types are unchanged. Two things are decided at this level because they belong
//! to a binding and not to the message: binary content is bytes (JSON spells it in base64, CBOR does not), and an empty list of submessages
//! is the same as no list.

use std::fmt;

use bytes::Bytes;
use interlingua_model::{Json, Text};

use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

/// One message. The standard calls the fields beside `submessages` the first submessage; so does this type.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// `control` is reserved; any other value means data (clause 5.1.1). Spelt as it came.
    pub messagetype: Option<Text>,
    pub first: Submessage,
    pub submessages: Vec<Submessage>,
}

/// The message type of a request about the exchange itself, and of its answer (clause 6.3).
pub const CONTROL: &str = "control";
/// The message type of a failure (ECMA-432 clause 11).
pub const ERROR: &str = "error";
/// The language every end-point must support (clause 5.3).
pub const ENGLISH: &str = "english";

impl Message {
    pub fn new(first: Submessage) -> Message {
        Message { messagetype: None, first, submessages: Vec::new() }
    }

    pub fn text(text: impl Into<Text>) -> Message {
        Message::new(Submessage::text(text))
    }

    pub fn typed(mut self, messagetype: &str) -> Message {
        self.messagetype = Some(messagetype.into());
        self
    }

    pub fn with(mut self, submessage: Submessage) -> Message {
        self.submessages.push(submessage);
        self
    }

    pub fn is_control(&self) -> bool {
        self.is(CONTROL)
    }

    pub fn is_error(&self) -> bool {
        self.is(ERROR)
    }

    fn is(&self, messagetype: &str) -> bool {
        self.messagetype.as_deref().is_some_and(|given| given.eq_ignore_ascii_case(messagetype))
    }

    /// The first submessage, then the others in order.
    pub fn all(&self) -> impl Iterator<Item = &Submessage> {
        std::iter::once(&self.first).chain(&self.submessages)
    }

    /// The submessage whose label is this one, in any case.
    pub fn labelled(&self, label: &str) -> Option<&Submessage> {
        self.all().find(|submessage| submessage.has_label(label))
    }
}

/// Format, subformat, content and label of clause 5.2.
#[derive(Clone, PartialEq)]
pub struct Submessage {
    pub format: Format,
    /// How the sender spelt the format, where not in lower case: an echoed token goes back as it came.
    pub spelt: Option<Text>,
    pub subformat: Text,
    pub content: Content,
    /// Not defined for the first submessage by the standard, but in use there.
    pub label: Option<Text>,
}

impl Submessage {
    pub fn new(format: Format, subformat: impl Into<Text>, content: Content) -> Submessage {
        Submessage { format, spelt: None, subformat: subformat.into(), content, label: None }
    }

    pub fn text(text: impl Into<Text>) -> Submessage {
        Submessage::new(Format::Text, ENGLISH, Content::Text(text.into()))
    }

    pub fn json(json: Json) -> Submessage {
        Submessage::new(Format::Structured, "json", Content::of(&json))
    }

    pub fn uri(uri: impl Into<Text>) -> Submessage {
        Submessage::new(Format::Structured, "uri", Content::Text(uri.into()))
    }

    pub fn token(name: impl Into<Text>, value: impl Into<Text>) -> Submessage {
        Submessage::new(Format::Token, name, Content::Text(value.into()))
    }

    pub fn labelled(mut self, label: impl Into<Text>) -> Submessage {
        self.label = Some(label.into());
        self
    }

    /// The format as this message spells it.
    pub fn format_text(&self) -> &str {
        self.spelt.as_deref().unwrap_or(self.format.as_str())
    }

    /// Subformats compare without regard to case (clause 5).
    pub fn is(&self, format: Format, subformat: &str) -> bool {
        self.format == format && self.subformat.eq_ignore_ascii_case(subformat)
    }

    pub fn has_label(&self, label: &str) -> bool {
        self.label.as_deref().is_some_and(|given| given.eq_ignore_ascii_case(label))
    }
}

/// A token's content is its creator's business alone: it is never printed.
impl fmt::Debug for Submessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Submessage");
        shown.field("format", &self.format_text()).field("subformat", &self.subformat);
        match self.format {
            Format::Token => shown.field("content", &format_args!("…")),
            Format::Text | Format::Structured | Format::Binary | Format::Location | Format::Generic | Format::Error => {
                shown.field("content", &self.content)
            }
        };
        shown.field("label", &self.label).finish()
    }
}

/// Table 1 of clause 5.3, and what the first draft had besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Text,
    Token,
    Structured,
    Binary,
    Location,
    Generic,
    /// Only on input, from peers that still speak the first draft. An error of ours is a message type.
    Error,
}

impl Format {
    pub const ALL: [Format; 7] = [
        Format::Text,
        Format::Token,
        Format::Structured,
        Format::Binary,
        Format::Location,
        Format::Generic,
        Format::Error,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Token => "token",
            Format::Structured => "structured",
            Format::Binary => "binary",
            Format::Location => "location",
            Format::Generic => "generic",
            Format::Error => "error",
        }
    }

    /// In any case (clause 5).
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.as_str().eq_ignore_ascii_case(name))
    }
}

/// The one member of an object that stands for a value which is neither a string nor an object.
pub const VALUE: &str = "interlingua-value";

/// What a submessage carries. Annex A lets it be any JSON value; binary content is bytes in every binding.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    Text(Text),
    Bytes(Bytes),
    /// Anything but a string.
    Json(Json),
}

impl Content {
    /// A value as every reader can take it. The reference SDK declares content to be a string or an object and refuses a
    /// message that has anything else: other values go inside an object, and [`Content::as_json`] takes them out.
    pub fn of(json: &Json) -> Content {
        match json.as_bytes().first() {
            Some(b'{') => Content::Json(json.clone()),
            Some(b'"') => Content::Text(json.tree().as_str().unwrap_or_default().into()),
            Some(_) | None => Content::Json(Object::json(|object| object.value(VALUE, json))),
        }
    }

    /// A string as such, any other value in its JSON spelling, bytes not at all.
    pub fn as_text(&self) -> Option<Text> {
        match self {
            Content::Text(text) => Some(text.clone()),
            Content::Json(json) => Some(json.as_str().into()),
            Content::Bytes(_) => None,
        }
    }

    /// The value as JSON. A string that is itself an object or an array in JSON is taken as that: peers that can only send
    /// strings spell structured content so.
    pub fn as_json(&self, depth: usize) -> Option<Json> {
        match self {
            Content::Json(json) => Some(unwrapped(json)),
            Content::Bytes(_) => None,
            Content::Text(text) => Some(match text.trim_ascii_start().as_bytes().first() {
                Some(b'{' | b'[') => Json::parse_within(Bytes::copy_from_slice(text.as_bytes()), depth)
                    .map_or_else(|_| Json::from_tree(text.as_ref().into()), |json| unwrapped(&json)),
                _ => Json::from_tree(text.as_ref().into()),
            }),
        }
    }
}

/// What [`Content::of`] put into an object.
fn unwrapped(json: &Json) -> Json {
    let begins =
        |text: &str| text.strip_prefix('{')?.trim_ascii_start().strip_prefix('"')?.strip_prefix(VALUE).map(drop);
    let inside = begins(json.as_str()).map(|()| Members::of(json)).filter(|members| members.len() == 1);
    inside.and_then(|members| members.get(VALUE)).unwrap_or_else(|| json.clone())
}

/// What a message may cost. The edge's own limit on bodies comes first; this one holds for every binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// Levels of objects and arrays, the message itself being the first.
    pub depth: usize,
    pub submessages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 64 << 20, depth: 128, submessages: 100_000 }
    }
}
