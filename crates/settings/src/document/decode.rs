//! Typed decoding of the configuration tree. After a problem the value with it is removed and the rest is read again, so one run reports
//! everything that is wrong.
//!
//! Messages never quote a value: it may be a secret, or may have come from the environment.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::tree::{Key, Node, Value};
use crate::problem::{At, Problem, Sources, nearest};

/// Why a key is refused that is part of the contract but not of this hub yet, by its path; `None` where it is simply unknown.
pub type Later = fn(&[String]) -> Option<String>;

/// More than this and something other than the configuration was given.
const PROBLEMS: usize = 50;

/// The typed value, or all that keeps it from being one.
pub fn decode<T: DeserializeOwned>(mut root: Node, sources: &Sources, later: Later) -> Result<T, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut removed: Vec<Vec<String>> = Vec::new();
    loop {
        let refusal = match T::deserialize(Place { node: &root }) {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => return Err(problems),
            Err(refusal) => refusal,
        };
        let steps = refusal.steps();
        // What a map lacks because something was taken out of it is a consequence, and the cause was told.
        let told = removed.iter().any(|below| below.starts_with(&steps));
        if !told {
            problems.push(sources.problem(refusal.at.unwrap_or(root.at), steps.join("."), refusal.message(later)));
        }
        if problems.len() >= PROBLEMS || !root.remove(&steps) {
            return Err(problems);
        }
        removed.push(steps);
    }
}

/// Why a value was not taken, and where: the path is gathered inside out on the way up.
#[derive(Debug)]
pub(super) struct Refusal {
    inside_out: Vec<String>,
    at: Option<At>,
    what: What,
}

#[derive(Debug)]
enum What {
    Unknown { name: String, known: &'static [&'static str] },
    Missing(&'static str),
    Wrong(String),
}

impl Refusal {
    fn new(what: What) -> Refusal {
        Refusal { inside_out: Vec::new(), at: None, what }
    }

    fn within(mut self, step: impl ToString, at: At) -> Refusal {
        self.inside_out.push(step.to_string());
        self.at.get_or_insert(at);
        self
    }

    fn steps(&self) -> Vec<String> {
        self.inside_out.iter().rev().cloned().collect()
    }

    fn message(&self, later: Later) -> String {
        match &self.what {
            What::Missing(field) => format!("the key `{field}` is missing"),
            What::Wrong(message) => message.clone(),
            What::Unknown { name, known } => {
                if let Some(why) = later(&self.steps()) {
                    return why;
                }
                match nearest(name, known.iter().copied()) {
                    Some(meant) => format!("unknown key `{name}`; did you mean `{meant}`?"),
                    None => format!("unknown key `{name}`; known here: {}", known.join(", ")),
                }
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(|_| None))
    }
}

impl std::error::Error for Refusal {}

impl serde::de::Error for Refusal {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Refusal::new(What::Wrong(message.to_string()))
    }

    fn invalid_type(unexpected: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        use serde::de::Unexpected::{Map, Seq, Unit};
        let found = match unexpected {
            Map => "a map",
            Seq => "a list",
            Unit => "nothing",
            _ => "a text",
        };
        Refusal::custom(format_args!("expected {expected}, found {found}"))
    }

    fn invalid_value(_: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Refusal::custom(format_args!("expected {expected}"))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Refusal::new(What::Unknown { name: field.to_owned(), known })
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let meant = nearest(variant, known.iter().copied());
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        Refusal::custom(format_args!("expected one of {}{hint}", known.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Refusal::new(What::Missing(field))
    }
}

#[derive(Clone, Copy)]
struct Place<'a> {
    node: &'a Node,
}

impl<'a> Place<'a> {
    fn scalar(self, expected: &str) -> Result<&'a str, Refusal> {
        match &self.node.value {
            Value::Scalar { text, .. } => Ok(text),
            Value::List(_) => Err(wrong(expected, "a list")),
            Value::Map(_) => Err(wrong(expected, "a map")),
        }
    }

    fn number<N: std::str::FromStr>(self, expected: &str) -> Result<N, Refusal> {
        // `1_000_000` is how people write it.
        self.scalar(expected)?.replace('_', "").parse().map_err(|_| wrong(expected, "something else"))
    }
}

fn wrong(expected: &str, found: &str) -> Refusal {
    serde::de::Error::custom(format_args!("expected {expected}, found {found}"))
}

macro_rules! numbers {
    ($($method:ident $visit:ident $expected:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            visitor.$visit(self.number($expected)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Place<'de> {
    type Error = Refusal;

    numbers! {
        deserialize_i8 visit_i8 "a small whole number"
        deserialize_i16 visit_i16 "a whole number"
        deserialize_i32 visit_i32 "a whole number"
        deserialize_i64 visit_i64 "a whole number"
        deserialize_u8 visit_u8 "a whole number from 0 to 255"
        deserialize_u16 visit_u16 "a whole number from 0 to 65535"
        deserialize_u32 visit_u32 "a whole number"
        deserialize_u64 visit_u64 "a whole number"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match &self.node.value {
            Value::Scalar { .. } if self.node.is_null() => visitor.visit_unit(),
            Value::Scalar { text, .. } => visitor.visit_borrowed_str(text),
            Value::List(_) => self.deserialize_seq(visitor),
            Value::Map(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.scalar("true or false")? {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(wrong("true or false", "something else")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        if self.node.is_null() {
            return Err(wrong("a text", "nothing"));
        }
        visitor.visit_borrowed_str(self.scalar("a text")?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match &self.node.value {
            Value::List(items) => visitor.visit_seq(Items { items: items.iter() }),
            Value::Scalar { .. } if self.node.is_null() => visitor.visit_seq(Items { items: [].iter() }),
            Value::Scalar { .. } => Err(wrong("a list", "a text")),
            Value::Map(_) => Err(wrong("a list", "a map")),
        }
    }

    /// A key with nothing under it is an empty map.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match &self.node.value {
            Value::Map(entries) => visitor.visit_map(Entries { entries: entries.iter(), current: None }),
            Value::Scalar { .. } if self.node.is_null() => {
                visitor.visit_map(Entries { entries: [].iter(), current: None })
            }
            Value::Scalar { .. } => Err(wrong("a map", "a text")),
            Value::List(_) => Err(wrong("a map", "a list")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let text: StrDeserializer<'_, Refusal> =
            self.scalar(&format!("one of {}", known.join(", ")))?.into_deserializer();
        visitor.visit_enum(text)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, (usize, Node)>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Refusal;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refusal> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        seed.deserialize(Place { node }).map(Some).map_err(|refusal| refusal.within(index, node.at))
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    current: Option<&'a (Key, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refusal> {
        self.current = self.entries.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        let name: StrDeserializer<'_, Refusal> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|refusal| refusal.within(&key.name, key.at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refusal> {
        let Some((key, node)) = self.current else { return Err(wrong("a key before its value", "none")) };
        seed.deserialize(Place { node }).map_err(|refusal| {
            // What is wrong with a whole map is shown at its key: that is where its name stands.
            let at = if matches!(node.value, Value::Map(_)) { key.at } else { node.at };
            refusal.within(&key.name, at)
        })
    }
}
