//! Schema of the proto's messages, as far as JSON needs it: numbers, names, kinds. The tables are in [`super::v1`] and [`super::v03`].

/// A message of the proto.
#[derive(Debug)]
pub(super) struct Schema(&'static [Field]);

impl Schema {
    /// A reader notes in one bit for each field whether it was there: a table with more fields does not compile.
    pub(super) const fn of(fields: &'static [Field]) -> Schema {
        assert!(fields.len() <= u64::BITS as usize);
        Schema(fields)
    }

    pub(super) fn fields(&self) -> &'static [Field] {
        self.0
    }
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// As JSON spells it.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
    /// Said even where it is a default, in what is signed.
    pub(super) required: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// Base64 in JSON.
    Bytes,
    Bool,
    Int,
    /// Names by number.
    Enum(&'static [&'static str]),
    Message(&'static Schema),
    /// By a text as key.
    Map(&'static Schema),
    MapOfText,
    /// `google.protobuf.Struct`: an object.
    Struct,
    /// `google.protobuf.Value`: any JSON.
    Value,
    /// `google.protobuf.Timestamp`: RFC 3339.
    Time,
}

/// When a field is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// A default value is the same as none.
    Plain,
    /// A default value is a value: `optional`, and members of a `oneof`.
    Explicit,
    /// None is a default value, which says something.
    Always,
    Repeated,
}

pub(super) const fn one(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Plain, required: false }
}

pub(super) const fn text(number: u32, name: &'static str) -> Field {
    one(number, name, Kind::Text)
}

pub(super) const fn optional(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Explicit, required: false }
}

pub(super) const fn always(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Always, required: false }
}

pub(super) const fn many(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Repeated, required: false }
}

/// A text that is required.
pub(super) const fn needed(number: u32, name: &'static str) -> Field {
    Field { required: true, ..text(number, name) }
}

/// A list that is required.
pub(super) const fn needed_list(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { required: true, ..many(number, name, kind) }
}
