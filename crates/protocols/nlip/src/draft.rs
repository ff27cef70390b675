//! A partly decoded message: what JSON and CBOR have in common. Fields come in any order and any case; the type of binary content is known
//! only with its subformat.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use interlingua_model::Text;

use super::invalid::{Invalid, Problem};
use super::wire::{CONTROL, Content, Format, Message, Submessage};

/// The fields a message may have; `control` is the flag of the first draft (its clause 6.3), still sent by some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    MessageType,
    Control,
    Submessages,
    Member(Member),
}

/// The fields every submessage may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Format,
    Subformat,
    Content,
    Label,
}

impl Field {
    const ALL: [Field; 7] = [
        Field::Member(Member::Format),
        Field::Member(Member::Subformat),
        Field::Member(Member::Content),
        Field::Member(Member::Label),
        Field::MessageType,
        Field::Submessages,
        Field::Control,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Field::MessageType => "messagetype",
            Field::Control => "control",
            Field::Submessages => "submessages",
            Field::Member(Member::Format) => "format",
            Field::Member(Member::Subformat) => "subformat",
            Field::Member(Member::Content) => "content",
            Field::Member(Member::Label) => "label",
        }
    }
}

impl From<Member> for Field {
    fn from(member: Member) -> Field {
        Field::Member(member)
    }
}

/// Where in the message the reader stands; made into a path only when something is wrong there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Top,
    Entry(usize),
}

impl Place {
    pub(super) fn invalid(self, field: impl Into<Field>, problem: Problem) -> Invalid {
        let field = field.into().as_str();
        let path = match self {
            Place::Top => field.to_owned(),
            Place::Entry(index) => format!("submessages[{index}].{field}"),
        };
        Invalid { path, problem }
    }

    pub(super) fn itself(self, problem: Problem) -> Invalid {
        match self {
            Place::Top => Invalid::whole(problem),
            Place::Entry(index) => Invalid { path: format!("submessages[{index}]"), problem },
        }
    }
}

/// Content as found, borrowed where it can be: base64 is decoded from where it stands.
#[derive(Debug)]
pub(super) enum Found<'a> {
    Text(Cow<'a, str>),
    Bytes(Bytes),
    Json(interlingua_model::Json),
}

/// One object on its way to a [`Submessage`].
#[derive(Debug)]
pub(super) struct Draft<'a> {
    place: Place,
    seen: u8,
    format: Option<(Format, Option<Text>)>,
    subformat: Option<Cow<'a, str>>,
    content: Option<Found<'a>>,
    label: Option<Text>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(place: Place) -> Draft<'a> {
        Draft { place, seen: 0, format: None, subformat: None, content: None, label: None }
    }

    /// Which field a key names. Refuses a second key that names the same: two readers could choose differently.
    pub(super) fn field(&mut self, key: &str) -> Result<Option<Field>, Invalid> {
        // Names in any case (clause 5). Other fields are legal and mean nothing to us (Annex A).
        let Some(index) = Field::ALL.iter().position(|field| field.as_str().eq_ignore_ascii_case(key)) else {
            return Ok(None);
        };
        let (field, bit) = (Field::ALL[index], 1 << index);
        if self.seen & bit != 0 {
            return Err(self.place.invalid(field, Problem::SameKeyTwice));
        }
        self.seen |= bit;
        Ok(Some(field))
    }

    pub(super) fn invalid(&self, field: impl Into<Field>, problem: Problem) -> Invalid {
        self.place.invalid(field, problem)
    }

    pub(super) fn format(&mut self, name: &str) -> Result<(), Invalid> {
        let Some(format) = Format::named(name) else {
            return Err(self.invalid(Member::Format, Problem::UnknownFormat));
        };
        self.format = Some((format, (name != format.as_str()).then(|| name.into())));
        Ok(())
    }

    pub(super) fn subformat(&mut self, subformat: Cow<'a, str>) {
        self.subformat = Some(subformat);
    }

    pub(super) fn content(&mut self, content: Found<'a>) {
        self.content = Some(content);
    }

    pub(super) fn label(&mut self, label: &str) {
        self.label = Some(label.into());
    }

    /// Everything required is there, and binary content is bytes.
    pub(super) fn finish(self) -> Result<Submessage, Invalid> {
        let place = self.place;
        let missing = |field: Member| place.invalid(field, Problem::Missing);
        let (format, spelt) = self.format.ok_or_else(|| missing(Member::Format))?;
        let subformat = self.subformat.ok_or_else(|| missing(Member::Subformat))?;
        let content = self.content.ok_or_else(|| missing(Member::Content))?;
        let (subformat, content) = match format {
            Format::Binary => binary(place, &subformat, content)?,
            Format::Token => (subformat.into(), opaque(content)),
            Format::Text | Format::Structured | Format::Location | Format::Generic | Format::Error => {
                (subformat.into(), plain(place, content)?)
            }
        };
        Ok(Submessage { format, spelt, subformat, content, label: self.label })
    }
}

/// A token is its maker's business alone: whatever it is goes back.
fn opaque(content: Found<'_>) -> Content {
    match content {
        Found::Text(text) => Content::Text(text.into()),
        Found::Json(json) => Content::Json(json),
        Found::Bytes(bytes) => Content::Bytes(bytes),
    }
}

fn plain(place: Place, content: Found<'_>) -> Result<Content, Invalid> {
    match content {
        Found::Text(text) => Ok(Content::Text(text.into())),
        Found::Json(json) => Ok(Content::Json(json)),
        Found::Bytes(_) => Err(place.invalid(Member::Content, Problem::NoJsonForm)),
    }
}

/// Checks the kind (clause 5.3, Table 1) and decodes base64. `;base64` at the end of a subformat is the JSON binding's own
/// remark (ECMA-432 clause 8) and goes no further.
fn binary(place: Place, subformat: &str, content: Found<'_>) -> Result<(Text, Content), Invalid> {
    let bare = without_base64(subformat);
    if BinaryKind::of(bare).is_none() {
        return Err(place.invalid(Member::Subformat, Problem::BinaryKind));
    }
    let bytes = match content {
        Found::Bytes(bytes) => bytes,
        Found::Text(text) => STANDARD
            .decode(text.as_bytes())
            .map(Bytes::from)
            .map_err(|_| place.invalid(Member::Content, Problem::NotBase64))?,
        Found::Json(_) => return Err(place.invalid(Member::Content, Problem::NotBase64)),
    };
    Ok((bare.into(), Content::Bytes(bytes)))
}

fn without_base64(subformat: &str) -> &str {
    const SUFFIX: &str = ";base64";
    match subformat.len().checked_sub(SUFFIX.len()) {
        Some(at) if subformat.is_char_boundary(at) && subformat[at..].eq_ignore_ascii_case(SUFFIX) => &subformat[..at],
        _ => subformat,
    }
}

/// The kinds of binary content. The standard's table forgets video, which its own example uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryKind {
    Audio,
    Image,
    Video,
    Sensor,
    Generic,
}

impl BinaryKind {
    const ALL: [BinaryKind; 5] =
        [BinaryKind::Audio, BinaryKind::Image, BinaryKind::Video, BinaryKind::Sensor, BinaryKind::Generic];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            BinaryKind::Audio => "audio",
            BinaryKind::Image => "image",
            BinaryKind::Video => "video",
            BinaryKind::Sensor => "sensor",
            BinaryKind::Generic => "generic",
        }
    }

    /// Kind and encoding of `kind/encoding`; a dot before the encoding says nothing.
    pub(super) fn of(subformat: &str) -> Option<(BinaryKind, &str)> {
        let (kind, encoding) = subformat.split_once('/')?;
        let encoding = encoding.strip_prefix('.').unwrap_or(encoding);
        let kind = BinaryKind::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(kind))?;
        (!encoding.is_empty()).then_some((kind, encoding))
    }
}

/// The whole message on its way.
#[derive(Debug)]
pub(super) struct Top<'a> {
    pub(super) first: Draft<'a>,
    pub(super) messagetype: Option<Text>,
    pub(super) control: bool,
    pub(super) submessages: Vec<Submessage>,
}

impl Top<'_> {
    pub(super) fn new() -> Self {
        Top { first: Draft::new(Place::Top), messagetype: None, control: false, submessages: Vec::new() }
    }

    pub(super) fn finish(self) -> Result<Message, Invalid> {
        let messagetype = match self.messagetype {
            None if self.control => Some(CONTROL.into()),
            given => given,
        };
        Ok(Message { messagetype, first: self.first.finish()?, submessages: self.submessages })
    }
}
