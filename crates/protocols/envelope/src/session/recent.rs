//! The last messages of a session: four bytes of each id's digest, enough to recognise a message again, and small enough to store a hundred
//! in every session.

use std::collections::VecDeque;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use interlingua_model::digest::Digest;
use interlingua_model::id::MessageId;

/// So many are remembered.
pub const RECENT: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recent(VecDeque<[u8; 4]>);

impl Recent {
    pub fn push(&mut self, message: &MessageId) {
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(mark(message));
    }

    pub fn has(&self, message: &MessageId) -> bool {
        self.0.contains(&mark(message))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn mark(message: &MessageId) -> [u8; 4] {
    let [a, b, c, d, ..] = Digest::of(message.as_str().as_bytes()).0;
    [a, b, c, d]
}

impl Serialize for Recent {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flatten().copied().collect();
        s.serialize_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Recent {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let bytes = URL_SAFE_NO_PAD.decode(String::deserialize(d)?).map_err(serde::de::Error::custom)?;
        let (marks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(serde::de::Error::custom("half a mark"));
        }
        Ok(Recent(marks.iter().rev().take(RECENT).rev().copied().collect()))
    }
}
