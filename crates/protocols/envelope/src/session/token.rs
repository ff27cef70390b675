//! Stored form of tokens: their hash, never the tokens themselves.

use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Rules;
use interlingua_model::digest::Digest;
use interlingua_model::id::Time;
use interlingua_model::principal::Owner;
use interlingua_model::secret::Secret;

/// SHA-256 of a token. Its bytes stay in this module: outside, the one comparison there is takes the same time for all.
#[derive(Clone, Copy, Eq)]
pub struct Hashed([u8; 32]);

/// In constant time (H-06).
impl PartialEq for Hashed {
    fn eq(&self, other: &Hashed) -> bool {
        verify_slices_are_equal(&self.0, &other.0).is_ok()
    }
}

impl Hashed {
    pub fn of(token: &[u8]) -> Hashed {
        Hashed(Digest::of(token).0)
    }

    pub fn is(&self, token: &[u8]) -> bool {
        *self == Hashed::of(token)
    }

    /// The key of a record that this token of an owner leads to.
    pub(super) fn key(&self, owner: &Owner) -> Digest {
        Digest::of_fields([b"session token".as_slice(), owner.to_string().as_bytes(), &self.0])
    }
}

impl fmt::Debug for Hashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hashed(…)")
    }
}

impl Serialize for Hashed {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Hashed {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(serde::de::Error::custom)?;
        bytes.try_into().map(Hashed).map_err(|_| serde::de::Error::custom("not 32 bytes"))
    }
}

/// A token that was given out or taken over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Issued {
    hash: Hashed,
    at: Time,
    /// Made by this hub. One the caller brought is never replaced: the caller would not expect it.
    mine: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Time>,
}

impl Issued {
    pub(super) fn minted(token: &Secret, now: Time) -> Issued {
        Issued { hash: Hashed::of(token.value().unwrap_or_default()), at: now, mine: true, until: None }
    }

    pub(super) fn brought(token: &[u8], now: Time) -> Issued {
        Issued { hash: Hashed::of(token), at: now, mine: false, until: None }
    }

    /// The same, good no longer than this.
    pub(super) fn until(mut self, time: Time) -> Issued {
        self.until = Some(time);
        self
    }

    pub(super) fn is(&self, token: &[u8]) -> bool {
        self.hash.is(token)
    }

    pub(super) fn is_good(&self, now: Time) -> bool {
        self.until.is_none_or(|until| now <= until)
    }

    pub(super) fn is_due(&self, rules: &Rules, now: Time) -> bool {
        self.mine && now >= self.at.after(rules.rotate_after)
    }
}

/// 256 bits as text.
pub(super) fn mint(bits: [u8; 32]) -> Secret {
    Secret::new(URL_SAFE_NO_PAD.encode(bits))
}
