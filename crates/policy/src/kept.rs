//! Decision cache, keyed by the question.
//!
//! A question is looked up by its digest and then compared in full, so no two questions can be confused. Two generations bound the size: an
//! entry that is used again moves to the younger one, and when that is full the older one is dropped. Entries do not expire: reloaded rules
//! are a new judge.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, PoisonError, RwLock};

use interlingua_model::policy::{Action, Asked, Object};
use interlingua_model::{Digest, Owner, PeerId, Proof, Subject, Text, Trust};

/// So that callers seldom wait for one another; and how many questions each of them keeps in a generation.
const SHARDS: usize = 16;
const GENERATION: usize = 2_048;

#[derive(Debug)]
pub(crate) struct Kept<V> {
    shards: [RwLock<Shard<V>>; SHARDS],
    hasher: RandomState,
}

#[derive(Debug)]
struct Shard<V> {
    young: Generation<V>,
    old: Generation<V>,
}

type Generation<V> = HashMap<u64, (Question, Arc<V>), BuildHasherDefault<Ready>>;

impl<V> Default for Kept<V> {
    fn default() -> Kept<V> {
        let shard = |_| RwLock::new(Shard { young: Generation::default(), old: Generation::default() });
        Kept { shards: std::array::from_fn(shard), hasher: RandomState::new() }
    }
}

impl<V> Kept<V> {
    /// What was known of this question, or is found out now.
    pub(crate) fn of(&self, asked: &Asked<'_>, find_out: impl FnOnce() -> V) -> Arc<V> {
        if length(asked) > LONGEST {
            return Arc::new(find_out());
        }
        let digest = self.hasher.hash_one(Asking(asked));
        // Bits from the middle: a map goes by the others.
        let shard = &self.shards[usize::try_from(digest >> 32).unwrap_or(0) % SHARDS];
        let known = |generation: &Generation<V>| {
            generation.get(&digest).filter(|(question, _)| question.is(asked)).map(|(_, known)| known.clone())
        };
        let aged = {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(young) = known(&shard.young) {
                return young;
            }
            known(&shard.old)
        };
        // Found out without the lock: others need not wait for it, and two who do the same find the same.
        let found = aged.unwrap_or_else(|| Arc::new(find_out()));
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        if shard.young.len() >= GENERATION {
            shard.old = std::mem::take(&mut shard.young);
        }
        shard.young.insert(digest, (Question::of(asked), found.clone()));
        found
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let count = |shard: &RwLock<Shard<V>>| {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            shard.young.len() + shard.old.len()
        };
        self.shards.iter().map(count).sum()
    }
}

/// Longer questions, in bytes of names that callers choose, are not remembered: so many of them would be all memory there is. As it
/// is, 65,536 questions take 90 MiB at most.
const LONGEST: usize = 1024;

fn length(asked: &Asked<'_>) -> usize {
    let name = match &asked.by.subject {
        Subject::Anonymous | Subject::HubOwner => 0,
        Subject::User(name) | Subject::Orchestrator(name) => name.len(),
        Subject::Agent(peer) | Subject::Device(peer) => peer.as_str().len(),
        Subject::Hub(hub) => hub.as_str().len(),
    };
    let object = match asked.on {
        Object::Peer(_) | Object::Skill(_) => 0,
        Object::Artifact { id, .. } | Object::Conversation { id, .. } => id.len(),
    };
    name + object + asked.by.scopes.iter().map(|scope| scope.len()).sum::<usize>()
}

/// All that an answer without arguments can depend on, but for the time of day.
#[derive(Debug)]
struct Question {
    subject: Subject,
    scopes: Vec<Text>,
    proof: Discriminant<Proof>,
    action: Action,
    wire: Option<Text>,
    trust: Option<Trust>,
    on: On,
}

#[derive(Debug)]
enum On {
    Peer(PeerId),
    Skill(Seen),
    Artifact(Text, Owner),
    Conversation(Text, Owner),
}

/// The digest holds a skill's name and its effects; the rest of what rules can see is beside it.
#[derive(Debug)]
struct Seen {
    digest: Digest,
    public: bool,
    category: Option<Text>,
    capability: Option<Text>,
    tags: Vec<Text>,
}

impl Question {
    fn of(asked: &Asked<'_>) -> Question {
        let Asked { by, action, on, wire, trust, now: _ } = asked;
        Question {
            subject: by.subject.clone(),
            scopes: by.scopes.clone(),
            proof: discriminant(&by.proof),
            action: *action,
            wire: wire.map(Text::from),
            trust: *trust,
            on: match *on {
                Object::Peer(peer) => On::Peer(peer.clone()),
                Object::Skill(skill) => On::Skill(Seen {
                    digest: skill.digest,
                    public: skill.public,
                    category: skill.category.clone(),
                    capability: skill.capability.clone(),
                    tags: skill.tags.clone(),
                }),
                Object::Artifact { id, owner } => On::Artifact(id.into(), owner.clone()),
                Object::Conversation { id, owner } => On::Conversation(id.into(), owner.clone()),
            },
        }
    }

    fn is(&self, asked: &Asked<'_>) -> bool {
        let Asked { by, action, on, wire, trust, now: _ } = asked;
        self.action == *action
            && self.trust == *trust
            && self.wire.as_deref() == *wire
            && self.proof == discriminant(&by.proof)
            && self.subject == by.subject
            && self.scopes == by.scopes
            && self.on.is(on)
    }
}

impl On {
    fn is(&self, object: &Object<'_>) -> bool {
        match (self, object) {
            (On::Peer(known), Object::Peer(peer)) => known == *peer,
            (On::Skill(known), Object::Skill(skill)) => {
                known.digest == skill.digest
                    && known.public == skill.public
                    && known.category == skill.category
                    && known.capability == skill.capability
                    && known.tags == skill.tags
            }
            (On::Artifact(known, of), Object::Artifact { id, owner })
            | (On::Conversation(known, of), Object::Conversation { id, owner }) => **known == **id && of == *owner,
            (On::Peer(_) | On::Skill(_) | On::Artifact(..) | On::Conversation(..), _) => false,
        }
    }
}

/// All of it: two questions of one digest would push each other out.
struct Asking<'a>(&'a Asked<'a>);

impl Hash for Asking<'_> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Asked { by, action, on, wire, trust, now: _ } = self.0;
        (&by.subject, &by.scopes, discriminant(&by.proof)).hash(to);
        (action, wire, trust, discriminant(on)).hash(to);
        match on {
            Object::Peer(peer) => peer.hash(to),
            Object::Skill(skill) => {
                (skill.digest, skill.public, &skill.category, &skill.capability, &skill.tags).hash(to);
            }
            Object::Artifact { id, owner } | Object::Conversation { id, owner } => (id, owner).hash(to),
        }
    }
}

/// A digest is one already.
#[derive(Debug, Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }
}
