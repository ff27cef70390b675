//! The tables against the published protos: every number, name, kind and presence of every message that a method can carry.
//! `fixtures/a2a/a2a-*.binpb` are the descriptors (`google.protobuf.FileDescriptorProto`) inside the official Python SDK.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::schema::{Field, Kind, Presence, Schema};
use super::{Method, Version, schemas};
use interlingua_wire::protobuf::{Fields, Value};

/// Where a table says something else on purpose: the place, what is published, the reason.
const ON_PURPOSE: &[(&str, &str, &str)] = &[
    (
        ".lf.a2a.v1.CancelTaskRequest.metadata",
        "stands 0 times in the table",
        "the JSON reader does not look at it either: a cancellation says only which task",
    ),
    (
        ".a2a.v1.AgentCard.securityRequirements",
        "is called security",
        "the JSON of 0.3 spells `security` without the message around it; 1.0 has the same message under this name",
    ),
    (".a2a.v1.AgentSkill.securityRequirements", "is called security", "as in the card"),
    (
        ".a2a.v1.AuthorizationCodeOAuthFlow.pkceRequired",
        "has a number that is not published",
        "a field of 1.0 in a table that both generations share; 0.3 gives its number to no other",
    ),
    (
        ".a2a.v1.OAuthFlows.deviceCode",
        "has a number that is not published",
        "a field of 1.0 in a table that both generations share; 0.3 gives its number to no other",
    ),
    (".a2a.v1.DataPart.data", "is Plain", "an empty object is data too, and a part without data is none"),
];

/// Messages, enumerations and methods of a descriptor by their full names.
#[derive(Default)]
struct Published<'d> {
    messages: BTreeMap<String, Message<'d>>,
    enums: BTreeMap<String, BTreeMap<u64, &'d str>>,
    methods: BTreeMap<&'d str, (&'d str, &'d str)>,
}

#[derive(Default)]
struct Message<'d> {
    fields: BTreeMap<u64, Entry<'d>>,
    is_map_entry: bool,
}

struct Entry<'d> {
    json: &'d str,
    kind: u64,
    type_name: &'d str,
    repeated: bool,
    /// `optional`, or a member of a `oneof`.
    explicit: bool,
}

/// What a field of a message of the descriptor holds, each time it is there.
fn bytes(message: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    values(message, number).map(move |value| match value {
        Value::Bytes(bytes) => bytes,
        Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => panic!("field {number} is no text"),
    })
}

fn text(message: &[u8], number: u32) -> &str {
    bytes(message, number).next().map_or("", |bytes| std::str::from_utf8(bytes).expect("text"))
}

fn number(message: &[u8], number: u32) -> Option<u64> {
    values(message, number).next().map(|value| match value {
        Value::Varint(value) => value,
        Value::Bytes(_) | Value::Fixed64(_) | Value::Fixed32(_) => panic!("field {number} is no number"),
    })
}

fn values(message: &[u8], number: u32) -> impl Iterator<Item = Value<'_>> {
    let all = Fields::of(message).map(|field| field.expect("a field"));
    all.filter(move |(given, _)| *given == number).map(|(_, value)| value)
}

impl<'d> Published<'d> {
    /// The numbers are those of `google/protobuf/descriptor.proto`.
    fn of(file: &'d [u8]) -> Published<'d> {
        let mut published = Published::default();
        let package = format!(".{}", text(file, 2));
        bytes(file, 4).for_each(|message| published.message(&package, message));
        bytes(file, 5).for_each(|names| published.names(&package, names));
        for method in bytes(file, 6).flat_map(|service| bytes(service, 2)) {
            published.methods.insert(text(method, 1), (text(method, 2), text(method, 3)));
        }
        published
    }

    fn message(&mut self, within: &str, message: &'d [u8]) {
        let name = format!("{within}.{}", text(message, 1));
        let fields = bytes(message, 2).map(|field| {
            let explicit = number(field, 9).is_some() || number(field, 17) == Some(1);
            let entry = Entry {
                json: text(field, 10),
                kind: number(field, 5).expect("a type"),
                type_name: text(field, 6),
                repeated: number(field, 4) == Some(3),
                explicit,
            };
            (number(field, 3).expect("a number"), entry)
        });
        let is_map_entry = bytes(message, 7).any(|options| number(options, 7) == Some(1));
        let found = Message { fields: fields.collect(), is_map_entry };
        bytes(message, 3).for_each(|inner| self.message(&name, inner));
        bytes(message, 4).for_each(|names| self.names(&name, names));
        self.messages.insert(name, found);
    }

    fn names(&mut self, within: &str, names: &'d [u8]) {
        let values = bytes(names, 2).map(|value| (number(value, 2).unwrap_or_default(), text(value, 1)));
        self.enums.insert(format!("{within}.{}", text(names, 1)), values.collect());
    }
}

/// Compares one table with one message, and all they hold.
struct Comparing<'d> {
    published: &'d Published<'d>,
    done: HashSet<(*const Schema, String)>,
    fields: usize,
    /// Place, and what is published there.
    wrong: BTreeSet<(String, String)>,
}

impl Comparing<'_> {
    fn message(&mut self, schema: &Schema, name: &str) {
        if name == ".google.protobuf.Empty" {
            self.require(schema.fields().is_empty(), name, "is empty");
            return;
        }
        if !self.done.insert((std::ptr::from_ref(schema), name.to_owned())) {
            return;
        }
        let Some(message) = self.published.messages.get(name) else {
            self.require(false, name, "is not published");
            return;
        };
        for (number, entry) in &message.fields {
            let known = schema.fields().iter().filter(|field| u64::from(field.number) == *number).count();
            self.require(known == 1, &format!("{name}.{}", entry.json), &format!("stands {known} times in the table"));
        }
        for field in schema.fields() {
            let place = format!("{name}.{}", field.name);
            match message.fields.get(&u64::from(field.number)) {
                Some(entry) => self.field(field, entry, &place),
                None => self.require(false, &place, "has a number that is not published"),
            }
        }
    }

    fn field(&mut self, field: &Field, entry: &Entry<'_>, place: &str) {
        self.fields += 1;
        self.require(field.name == entry.json, place, &format!("is called {}", entry.json));
        let value = self.published.messages.get(entry.type_name).filter(|message| message.is_map_entry);
        let presence = match (value.is_some(), entry.repeated, entry.explicit) {
            (true, ..) | (false, false, false) => Presence::Plain,
            (false, true, _) => Presence::Repeated,
            (false, false, true) => Presence::Explicit,
        };
        let same = field.presence == presence || (field.presence, presence) == (Presence::Always, Presence::Plain);
        self.require(same, place, &format!("is {presence:?}"));
        let held = value.map_or(entry, |message| &message.fields[&2]);
        match (held.kind, held.type_name, field.kind) {
            (9, _, Kind::MapOfText) if value.is_some() => {}
            (11, inner, Kind::Map(schema)) if value.is_some() => self.message(schema, inner),
            (9, _, Kind::Text) | (12, _, Kind::Bytes) | (8, _, Kind::Bool) | (5, _, Kind::Int) => {}
            (11, ".google.protobuf.Struct", Kind::Struct) => {}
            (11, ".google.protobuf.Value", Kind::Value) => {}
            (11, ".google.protobuf.Timestamp", Kind::Time) => {}
            (11, inner, Kind::Message(schema)) => self.message(schema, inner),
            (14, inner, Kind::Enum(names)) => {
                let published = self.published.enums.get(inner).expect("an enumeration");
                let ours: BTreeMap<u64, &str> = (0..).zip(names.iter().copied()).collect();
                self.require(&ours == published, place, &format!("is one of {published:?}"));
            }
            (kind, inner, ours) => self.require(false, place, &format!("is of type {kind} {inner}, not {ours:?}")),
        }
    }

    fn require(&mut self, holds: bool, place: &str, what: &str) {
        if !holds {
            self.wrong.insert((place.to_owned(), what.to_owned()));
        }
    }
}

#[test]
fn a_36_the_tables_are_the_published_protos() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/a2a");
    let mut wrong = BTreeSet::new();
    for (version, file, fewest) in [(Version::V1, "a2a-1.0.binpb", 150), (Version::V03, "a2a-0.3.binpb", 130)] {
        let file = std::fs::read(folder.join(file)).expect("a descriptor");
        let published = Published::of(&file);
        let mut comparing =
            Comparing { published: &published, done: HashSet::new(), fields: 0, wrong: BTreeSet::new() };
        let methods = Method::ALL.into_iter().filter_map(|method| Some((method, method.grpc(version)?)));
        let mut called = 0;
        for (method, name) in methods {
            let (takes, answers) = published.methods.get(name).unwrap_or_else(|| panic!("{name} is not published"));
            let (request, answer) = schemas(method, version).expect("a method");
            comparing.message(request, takes);
            comparing.message(answer, answers);
            called += 1;
        }
        assert_eq!(called, published.methods.len(), "methods of {version:?}");
        assert!(comparing.fields >= fewest, "{} fields of {version:?} were compared", comparing.fields);
        wrong.append(&mut comparing.wrong);
    }
    let on_purpose = ON_PURPOSE.iter().map(|(place, what, _)| ((*place).to_owned(), (*what).to_owned())).collect();
    assert_eq!(wrong, on_purpose, "what differs, and what differs on purpose");
}
