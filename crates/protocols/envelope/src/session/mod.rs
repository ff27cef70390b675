//! Rules of a session, which links a caller's requests if its protocol has tokens for that. The rules are pure; the record itself is behind
//! [`interlingua_model::ports::Records`].
//!
//! An id is a name and a token is a proof. A session belongs to its owner, and naming it proves nothing: an authenticated owner is
//! recognised by its principal, an Anonymous one only by the session's token. Tokens are 256 random bits, stored as SHA-256, compared in
//! constant time, and rotated; the previous token stays valid for a grace period, so that a lost response locks nobody out.
//!
//! The turn is counted here and nowhere else; the caller's own count is only compared. Time is passed in: the caller must take it from a
//! clock that does not jump, and a time before the last activity is taken as that activity's.

mod heads;
mod recent;
#[cfg(test)]
mod tests;
mod token;

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use interlingua_model::digest::Digest;
use interlingua_model::fault::{Fault, FaultKind, Noun};
use interlingua_model::id::{ConversationId, MessageId, Text, Time, uuid_v4};
use interlingua_model::principal::{Owner, Subject};
use interlingua_model::secret::Secret;

pub use heads::{HEADS, Head, HeadKind, Heads};
pub use recent::{RECENT, Recent};
pub use token::Hashed;
use token::Issued;

/// What the ids of sessions begin with. An agent's name would tell others who speaks (H-06).
pub(crate) const PREFIX: &str = "nlip";

/// How long things last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A session without activity for longer is gone.
    pub max_age: Duration,
    /// A token of ours older than this is replaced.
    pub rotate_after: Duration,
    /// A replaced token stays good for this long.
    pub grace: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            max_age: Duration::from_secs(24 * 60 * 60),
            rotate_after: Duration::from_secs(60 * 60),
            grace: Duration::from_secs(5 * 60),
        }
    }
}

/// Random bits for one step: enough for an id and a token.
#[derive(Clone, Copy)]
pub struct Entropy {
    pub id: u128,
    pub token: [u8; 32],
}

impl std::fmt::Debug for Entropy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entropy(…)")
    }
}

/// What a request says of its session. It proves nothing yet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Presented<'a> {
    pub id: Option<&'a str>,
    pub token: Option<&'a Secret>,
}

/// One session, small enough that an idle one costs well under 1 KiB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    id: Text,
    owner: Owner,
    created: Time,
    active: Time,
    turn: u64,
    token: Issued,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Issued>,
    /// The last state token the caller brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<Hashed>,
    /// What an Anonymous caller's conversation is called: others may know the session's id, nobody knows this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<Text>,
    /// What is kept for the caller under its token. It is in the session's own record, so that it expires with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Sealed>,
    #[serde(default, skip_serializing_if = "Recent::is_empty")]
    recent: Recent,
    #[serde(default, skip_serializing_if = "Heads::is_empty")]
    heads: Heads,
}

/// Bytes that only whoever sealed them can open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(#[serde(with = "interlingua_model::content::base64_bytes")] pub Bytes);

/// A session at hand, and the token the caller has to be told, if it is a new one.
#[derive(Debug)]
pub struct Held {
    pub session: Session,
    pub tell: Option<Secret>,
}

/// Why a session is not resumed. Callers are told the same in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the session has expired")]
    Expired,
    #[error("the session is another's")]
    NotYours,
}

impl Refused {
    /// Whether a session exists is nobody's business but its owner's.
    pub fn fault(self) -> Fault {
        match self {
            Refused::Expired | Refused::NotYours => {
                Fault::caller(FaultKind::NotFound(Noun::Session), "the session has expired or never was").because(self)
            }
        }
    }
}

/// The turn a request was counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub number: u64,
    /// The caller had the same count before it asked.
    pub as_given: bool,
}

/// Begins a session. A name the caller chose is kept; without one it gets `prefix_` and a random id. A proven owner may
/// bring a token of its own; an Anonymous one, who has no other proof, always gets one that cannot be guessed.
pub fn open(owner: Owner, presented: Presented<'_>, prefix: &str, entropy: Entropy, now: Time) -> Held {
    let id = presented.id.map_or_else(|| format!("{prefix}_{}", uuid_v4(entropy.id)).into(), Text::from);
    let own = presented.token.filter(|_| !is_anonymous(&owner)).and_then(Secret::value);
    let (token, tell) = match own {
        Some(token) => (Issued::brought(token, now), None),
        None => {
            let secret = token::mint(entropy.token);
            (Issued::minted(&secret, now), Some(secret))
        }
    };
    let thread = is_anonymous(&owner).then(|| {
        let digest = Digest::of_fields([b"session conversation".as_slice(), &entropy.token]);
        Text::from(format!("{:.32}", digest.to_string()))
    });
    let session = Session {
        id,
        thread,
        owner,
        created: now,
        active: now,
        turn: 0,
        token,
        before: None,
        state: None,
        context: None,
        recent: Recent::default(),
        heads: Heads::default(),
    };
    Held { session, tell }
}

/// Takes up a session again. The token is replaced when it is due, and when the caller still has the one before: then it
/// has not heard of the present one.
pub fn resume(
    mut session: Session,
    by: &Owner,
    presented: Presented<'_>,
    entropy: Entropy,
    rules: &Rules,
    now: Time,
) -> Result<Held, Refused> {
    if session.is_expired(rules, now) {
        return Err(Refused::Expired);
    }
    if session.owner != *by {
        return Err(Refused::NotYours);
    }
    let tell = match presented.token.and_then(Secret::value) {
        None if is_anonymous(by) => return Err(Refused::NotYours),
        None => None,
        Some(token) if session.token.is(token) => {
            session.token.is_due(rules, now).then(|| session.rotate(entropy, rules, now))
        }
        Some(token) if session.before.as_ref().is_some_and(|before| before.is(token) && before.is_good(now)) => {
            Some(session.replace(entropy, rules, now))
        }
        Some(_) => return Err(Refused::NotYours),
    };
    session.touch(now);
    Ok(Held { session, tell })
}

impl Session {
    pub fn id(&self) -> &Text {
        &self.id
    }

    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The conversation that its requests are part of.
    pub fn conversation(&self) -> ConversationId {
        ConversationId(self.thread.clone().unwrap_or_else(|| self.id.clone()))
    }

    pub fn turn(&self) -> u64 {
        self.turn
    }

    pub fn created(&self) -> Time {
        self.created
    }

    pub fn active(&self) -> Time {
        self.active
    }

    /// The key of its record. Owners cannot reach each other's sessions, whatever ids they choose.
    pub fn key(owner: &Owner, id: &str) -> Digest {
        Digest::of_fields([b"session".as_slice(), owner.to_string().as_bytes(), id.as_bytes()])
    }

    /// The key under which a token leads back to its session.
    pub fn token_key(owner: &Owner, token: &Secret) -> Option<Digest> {
        token.value().map(|token| Hashed::of(token).key(owner))
    }

    /// When it is gone, unless something happens before.
    pub fn expires(&self, rules: &Rules) -> Time {
        self.active.after(rules.max_age)
    }

    pub fn is_expired(&self, rules: &Rules, now: Time) -> bool {
        now > self.expires(rules)
    }

    /// Counts a request as the next turn. `given` is the turn the caller believes in.
    pub fn advance(&mut self, given: u64, state: Option<&Secret>, now: Time) -> Turn {
        let as_given = given == self.turn;
        self.turn = self.turn.saturating_add(1);
        if let Some(state) = state.and_then(Secret::value) {
            self.state = Some(Hashed::of(state));
        }
        self.touch(now);
        Turn { number: self.turn, as_given }
    }

    /// Notes a message, so that it is known again.
    pub fn note(&mut self, message: &MessageId, now: Time) {
        self.recent.push(message);
        self.touch(now);
    }

    /// Stores the head of a message, for the owner to read.
    pub fn store_head(&mut self, message: &MessageId, kind: HeadKind, now: Time) {
        let age = Duration::from_millis(now.0.saturating_sub(self.created.0));
        self.heads.push(message, kind, age);
    }

    pub fn heads(&self) -> &Heads {
        &self.heads
    }

    /// Was this message among the last ones?
    pub fn has_seen(&self, message: &MessageId) -> bool {
        self.recent.has(message)
    }

    pub fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Is this the state token the caller brought last?
    pub fn is_state(&self, state: &Secret) -> bool {
        match (&self.state, state.value()) {
            (Some(kept), Some(state)) => kept.is(state),
            (None, _) | (_, None) => false,
        }
    }

    /// A new token; the present one stays good for the grace.
    fn rotate(&mut self, entropy: Entropy, rules: &Rules, now: Time) -> Secret {
        let old = self.token.clone();
        let secret = self.replace(entropy, rules, now);
        self.before = Some(old.until(now.after(rules.grace)));
        secret
    }

    /// A new token; the one before the present one gets a new grace.
    fn replace(&mut self, entropy: Entropy, rules: &Rules, now: Time) -> Secret {
        let secret = token::mint(entropy.token);
        self.token = Issued::minted(&secret, now);
        self.before = self.before.take().map(|before| before.until(now.after(rules.grace)));
        secret
    }

    fn touch(&mut self, now: Time) {
        self.active = self.active.max(now);
    }
}

fn is_anonymous(owner: &Owner) -> bool {
    owner.0.contains(&Subject::Anonymous)
}
