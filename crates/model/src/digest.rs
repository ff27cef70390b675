//! SHA-256 of bytes, or of JSON in its canonical spelling.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{self, Context, SHA256};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::BadId;

/// A SHA-256 digest, spelt as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

/// What is shorter is put together and digested at once: a context costs more to begin and to end than a short text does.
const SHORT: usize = 512;

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::from_library(&digest::digest(&SHA256, bytes))
    }

    /// Each field is preceded by its length, so that no two lists of fields share a digest.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let mut fields = fields.into_iter();
        let first = fields.next().unwrap_or_default();
        let Some(second) = fields.next() else { return Digest::of(first) };
        let mut gathered = Gathered { short: [0; SHORT], len: 0, long: None };
        for field in [first, second].into_iter().chain(fields) {
            gathered.add(&(field.len() as u64).to_be_bytes());
            gathered.add(field);
        }
        gathered.finish()
    }

    /// The digest of a text as it is displayed, which is not written anywhere first.
    pub fn of_text(text: impl fmt::Display) -> Digest {
        use fmt::Write;
        let mut gathered = Gathered { short: [0; SHORT], len: 0, long: None };
        // `Gathered` takes everything.
        let _ = write!(gathered, "{text}");
        gathered.finish()
    }

    fn from_library(digest: &digest::Digest) -> Digest {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest.as_ref());
        Digest(bytes)
    }
}

/// Bytes that belong together, as long as they are short; then a context that has seen them.
struct Gathered {
    short: [u8; SHORT],
    len: usize,
    long: Option<Context>,
}

impl fmt::Write for Gathered {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

impl Gathered {
    fn finish(self) -> Digest {
        match self.long {
            Some(context) => Digest::from_library(&context.finish()),
            None => Digest::of(&self.short[..self.len]),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match (&mut self.long, self.short.get_mut(self.len..end)) {
            (Some(context), _) => context.update(bytes),
            (None, Some(place)) => {
                place.copy_from_slice(bytes);
                self.len = end;
            }
            (None, None) => {
                let mut context = Context::new(&SHA256);
                context.update(&self.short[..self.len]);
                context.update(bytes);
                self.long = Some(context);
            }
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 64];
        hex::encode_to_slice(self.0, &mut text).map_err(|_| fmt::Error)?;
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
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
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| BadId)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the length of what comes before a border, the same as if all had been one text.
    #[test]
    fn fields_are_their_lengths_and_their_bytes_in_a_row() {
        for lengths in [[0, 0], [1, 2], [200, 296], [200, 297], [496, 0], [504, 1], [600, 3], [3, 5_000]] {
            let fields = lengths.map(|length| vec![b'x'; length]);
            let row: Vec<u8> =
                fields.iter().flat_map(|field| [&(field.len() as u64).to_be_bytes()[..], field].concat()).collect();
            assert_eq!(Digest::of_fields(fields.iter().map(Vec::as_slice)), Digest::of(&row), "{lengths:?}");
        }
        assert_eq!(Digest::of_fields([b"abc".as_slice()]), Digest::of(b"abc"), "one field is itself");
    }

    #[test]
    fn the_digest_of_abc_is_the_one_everybody_knows() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), known);
        assert_eq!(known.parse(), Ok(Digest::of(b"abc")));
        let signed = known.replacen("ba", "+b", 1);
        assert_eq!(signed.parse::<Digest>(), Err(BadId), "a sign is no digit");
    }
}
