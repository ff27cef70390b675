//! JSON carried as checked bytes: UTF-8, bounded depth and number of values, no duplicate keys, no lone surrogates. Policy, validation and
//! the receiver therefore read the same value.
//!
//! [`Reader`] is the only scanner. Every JSON decoder of the hub uses it, so nothing is checked twice and no check can be forgotten.
//! [`Json`] is a checked slice that builds its tree on first use.

mod count;
mod reader;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

pub use count::{Count, VALUE_BYTES};
pub use reader::{BadJson, DEFAULT_DEPTH, Kind, MAX_DEPTH, MOST_VALUES, Problem, Reader, most_values, set_most_values};
pub use write::{Spelling, spell, write_string};

use crate::digest::Digest;

/// A parsed JSON value. Named nowhere else, so that it can be replaced in one place.
pub type Tree = serde_json::Value;

/// An object of these members. Unlike `json!`, which reads numbers once more and writes `1E5` as `1e+5`, it leaves them as they are.
pub fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// One checked JSON value.
#[derive(Clone)]
pub struct Json {
    raw: Bytes,
    made: OnceLock<Arc<Made>>,
}

/// Derived forms of a value, shared by all its holders.
struct Made {
    tree: Tree,
    digest: OnceLock<Digest>,
}

impl Made {
    fn of(tree: Tree) -> Arc<Made> {
        Arc::new(Made { tree, digest: OnceLock::new() })
    }
}

impl Json {
    /// Checks the bytes; nothing but white space may follow the value.
    pub fn parse(raw: Bytes) -> Result<Json, BadJson> {
        Json::parse_within(raw, DEFAULT_DEPTH)
    }

    /// As [`Json::parse`], with another limit of nesting: at most [`MAX_DEPTH`].
    pub fn parse_within(raw: Bytes, depth: usize) -> Result<Json, BadJson> {
        let mut reader = Reader::new(&raw, depth)?;
        let (start, end) = reader.skip()?;
        reader.end()?;
        Ok(Json { raw: raw.slice(start..end), made: OnceLock::new() })
    }

    /// A value that [`Reader::skip`] passed over in `frame`: already checked, so it is only sliced.
    pub fn slice(frame: &Bytes, span: (usize, usize)) -> Json {
        Json { raw: frame.slice(span.0..span.1), made: OnceLock::new() }
    }

    /// A value that this program wrote.
    pub fn written(text: Vec<u8>) -> Json {
        Json { raw: text.into(), made: OnceLock::new() }
    }

    /// Writes a tree as bytes, and stores the tree.
    pub fn from_tree(tree: Tree) -> Json {
        // Writing a tree of strings, numbers and maps with string keys has no way to fail.
        let raw = serde_json::to_vec(&tree).unwrap_or_else(|_| b"null".to_vec());
        let json = Json { raw: raw.into(), made: OnceLock::new() };
        let _ = json.made.set(Made::of(tree));
        json
    }

    /// A value of this program as JSON. Nothing is written for a value that cannot be: a map with keys that are not strings.
    pub fn of(value: &impl Serialize) -> Result<Json, serde_json::Error> {
        Ok(Json::written(serde_json::to_vec(value)?))
    }

    /// `null`.
    pub fn null() -> Json {
        Json { raw: Bytes::from_static(b"null"), made: OnceLock::new() }
    }

    /// `{}`.
    pub fn empty_object() -> Json {
        Json { raw: Bytes::from_static(b"{}"), made: OnceLock::new() }
    }

    /// The same with bytes of its own: a slice holds the whole frame it came in, so use this for what lives longer.
    #[must_use]
    pub fn alone(&self) -> Json {
        Json { raw: Bytes::copy_from_slice(&self.raw), made: self.made.clone() }
    }

    /// The bytes as they came, without white space around them.
    pub fn as_bytes(&self) -> &Bytes {
        &self.raw
    }

    /// The text as it came, without white space around it.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.raw).unwrap_or("null")
    }

    /// The parsed value, made once. A number holds the text it was written in; one that `i64`, `u64` or `f64` cannot hold says so to
    /// whoever asks for that type, so that a rule that compares it fails closed.
    pub fn tree(&self) -> &Tree {
        &self.made.get_or_init(|| Made::of(tree::tree(self))).tree
    }

    /// The member of this name, where the value is an object that has one. Makes the tree.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.tree().get(key)
    }

    /// Is it an object? Costs nothing.
    pub fn is_object(&self) -> bool {
        self.raw.first() == Some(&b'{')
    }

    /// Is it `null`? Costs nothing.
    pub fn is_null(&self) -> bool {
        &self.raw[..] == b"null"
    }

    /// Of the value, not of its spelling: keys sorted, white space dropped, one spelling of escapes, numbers as written.
    ///
    /// Of a value that was looked into, such as a schema, it is made once.
    pub fn digest(&self) -> Digest {
        match self.made.get() {
            Some(made) => *made.digest.get_or_init(|| self.canonical_digest()),
            None => self.canonical_digest(),
        }
    }

    fn canonical_digest(&self) -> Digest {
        let mut canonical = Vec::with_capacity(self.raw.len());
        write::canonical(self, &mut canonical);
        Digest::of(&canonical)
    }
}

impl From<Tree> for Json {
    fn from(tree: Tree) -> Json {
        Json::from_tree(tree)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.raw == other.raw || self.digest() == other.digest()
    }
}

impl Eq for Json {}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.raw).map_err(serde::ser::Error::custom)?;
        raw.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(d)?;
        let text: Box<str> = raw.into();
        // A key that is there twice means one thing to one reader and another to the next.
        let json = Json { raw: Bytes::from(text.into_string()), made: OnceLock::new() };
        Reader::whatever_its_size(&json.raw).skip().map_err(serde::de::Error::custom)?;
        Ok(json)
    }
}
