//! SHA-256 of bytes, or of JSON in its canonical spelling.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{Context, SHA256};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::BadId;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::of_fields([bytes])
    }

    /// Each field is preceded by its length, so that no two lists of fields share a digest.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let mut fields = fields.into_iter();
        let mut context = Context::new(&SHA256);
        let first = fields.next().unwrap_or_default();
        match fields.next() {
            None => context.update(first),
            Some(second) => {
                for field in [first, second].into_iter().chain(fields) {
                    context.update(&(field.len() as u64).to_be_bytes());
                    context.update(field);
                }
            }
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        if text.len() != 64 || !text.is_ascii() {
            return Err(BadId);
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| BadId)?;
        }
        Ok(Digest(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
