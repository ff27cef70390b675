//! Self-proving tokens of new sessions, which were opened for a request without a session and have not been used since.
//!
//! Most never are. So the hub stores nothing: the token is the authentication code of owner, id and time. When it comes back, the session
//! is created from it, and from then on it is a session like any other, stored under the hash of the same token.

use crate::session::{self, PREFIX, Presented, Session};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_keys::Tagger;
use interlingua_model::{Owner, Secret, Text, Time, uuid_v4};

/// What the tags are made for.
pub(super) const PURPOSE: &str = "session promise";
/// Hexadecimal digits of the random part of a name, and of the whole: the time is the rest.
const RANDOM: usize = 32;
const NAME: usize = RANDOM + 12;

pub(super) struct SelfProvingToken {
    name: String,
    random: u128,
    created: Time,
    tag: [u8; 32],
}

impl SelfProvingToken {
    pub(super) fn new(owner: &Owner, tagger: &Tagger, random: u128, now: Time) -> SelfProvingToken {
        let name = format!("{random:0RANDOM$x}{:012x}", now.0);
        let tag = tagger.tag(&bound(owner, &name));
        SelfProvingToken { name, random, created: now, tag }
    }

    /// Reads a token that this hub made for this owner; `None` for every other.
    pub(super) fn read(owner: &Owner, tagger: &Tagger, token: &Secret) -> Option<SelfProvingToken> {
        let (name, secret) = token.text()?.split_once('.')?;
        if name.len() != NAME || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let (random, created) = name.split_at_checked(RANDOM)?;
        let random = u128::from_str_radix(random, 16).ok()?;
        let created = Time(u64::from_str_radix(created, 16).ok()?);
        let tag: [u8; 32] = URL_SAFE_NO_PAD.decode(secret).ok()?.try_into().ok()?;
        let ours = tagger.verify(&bound(owner, name), &tag);
        ours.then(|| SelfProvingToken { name: name.to_owned(), random, created, tag })
    }

    pub(super) fn id(&self) -> Text {
        format!("{PREFIX}_{}", uuid_v4(self.random)).into()
    }

    pub(super) fn token(&self) -> Secret {
        Secret::new(format!("{}.{}", self.name, URL_SAFE_NO_PAD.encode(self.tag)))
    }

    /// The session as it stood after the request it was opened for, which was its first turn.
    pub(super) fn session(&self, owner: Owner) -> Session {
        let (id, entropy) = (self.id(), session::Entropy { id: self.random, token: self.tag });
        let presented = Presented { id: Some(&id), token: None };
        let mut session = session::open(owner, presented, PREFIX, entropy, self.created).session;
        session.advance(0, None, self.created);
        session
    }
}

fn bound(owner: &Owner, name: &str) -> Vec<u8> {
    format!("{owner}\u{0}{name}").into_bytes()
}
