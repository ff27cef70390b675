//! Key derivation: keys derived once for one purpose, such as the tags of every message, or values that are sealed by the thousand. After
//! the ring is replaced they are derived again at their next use, so their holders need no notification.
//!
//! A value sealed in the store is `2 | key id (8) | salt (12) | nonce (12) | AES-256-GCM ciphertext and tag`. Each value has a
//! key of its own, expanded from the salt (HKDF-SHA-256): random nonces of 96 bits under one key would have to be counted.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{constant_time, hkdf, hmac, rand};
use zeroize::Zeroizing;

use super::{ID, Master, Masters, SealFault, derive};

/// One key of each master, the newest first.
struct Derived<T> {
    ring: Arc<ArcSwap<Masters>>,
    purpose: &'static str,
    derive: fn(&Master, &str) -> Result<T, SealFault>,
    made: ArcSwap<Made<T>>,
}

struct Made<T> {
    from: Arc<Masters>,
    keys: Vec<T>,
}

impl<T> Derived<T> {
    fn new(
        ring: Arc<ArcSwap<Masters>>,
        purpose: &'static str,
        derive: fn(&Master, &str) -> Result<T, SealFault>,
    ) -> Result<Derived<T>, SealFault> {
        let made = Made::new(ring.load_full(), purpose, derive)?;
        Ok(Derived { ring, purpose, derive, made: ArcSwap::from_pointee(made) })
    }

    /// The keys of the ring as it is now, of which there is always one. Were the derivation to fail, those of the ring before
    /// it would do: they are in the new one too.
    fn current(&self) -> Arc<Made<T>> {
        let (masters, made) = (self.ring.load(), self.made.load());
        if Arc::ptr_eq(&masters, &made.from) {
            return Guard::into_inner(made);
        }
        match Made::new(Guard::into_inner(masters), self.purpose, self.derive) {
            Ok(new) => {
                let new = Arc::new(new);
                self.made.store(new.clone());
                new
            }
            Err(_) => Guard::into_inner(made),
        }
    }
}

impl<T> Made<T> {
    fn new(
        from: Arc<Masters>,
        purpose: &str,
        derive: fn(&Master, &str) -> Result<T, SealFault>,
    ) -> Result<Made<T>, SealFault> {
        let keys = from.all().map(|master| derive(master, purpose)).collect::<Result<_, _>>()?;
        Ok(Made { from, keys })
    }
}

/// HMAC-SHA-256 for one purpose. The newest key makes tags, all of them are believed.
pub struct Tagger {
    keys: Derived<hmac::Key>,
}

/// A tag that is cut shorter than this proves nothing.
const SHORTEST_TAG: usize = 16;

impl Tagger {
    pub(super) fn new(ring: Arc<ArcSwap<Masters>>, purpose: &'static str) -> Result<Tagger, SealFault> {
        Ok(Tagger { keys: Derived::new(ring, purpose, Master::tagging_key)? })
    }

    pub fn tag(&self, message: &[u8]) -> [u8; 32] {
        tag_with(&self.keys.current().keys[0], message)
    }

    /// The tag by every key, the newest first: for names that were made with an older one.
    pub fn tags(&self, message: &[u8]) -> Vec<[u8; 32]> {
        self.keys.current().keys.iter().map(|key| tag_with(key, message)).collect()
    }

    /// Whether any key gave this tag, which may be cut to its first 16 bytes or more; compared in constant time.
    pub fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        (SHORTEST_TAG..=32).contains(&tag.len())
            && self.keys.current().keys.iter().any(|key| {
                let own = tag_with(key, message);
                constant_time::verify_slices_are_equal(&own[..tag.len()], tag).is_ok()
            })
    }
}

impl std::fmt::Debug for Tagger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tagger({})", self.keys.purpose)
    }
}

fn tag_with(key: &hmac::Key, message: &[u8]) -> [u8; 32] {
    let mut tag = [0; 32];
    tag.copy_from_slice(hmac::sign(key, message).as_ref());
    tag
}

/// Seals values that are kept. The newest key seals, all of them open.
pub struct Sealer {
    roots: Derived<Root>,
}

/// What the keys of single values are expanded from.
struct Root {
    id: [u8; ID],
    secret: hkdf::Prk,
}

const VERSION: u8 = 2;
const SALT: usize = 12;
const HEAD: usize = 1 + ID + SALT + NONCE_LEN;

impl Sealer {
    /// How much longer a sealed value is than what is in it.
    pub const OVERHEAD: usize = HEAD + 16;

    pub(super) fn new(ring: Arc<ArcSwap<Masters>>, purpose: &'static str) -> Result<Sealer, SealFault> {
        Ok(Sealer { roots: Derived::new(ring, purpose, Root::new)? })
    }

    /// Encrypts, and binds to `associated`, which is needed to open it.
    pub fn seal(&self, associated: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealFault> {
        let current = self.roots.current();
        let root = &current.keys[0];
        let mut drawn = [0; SALT + NONCE_LEN];
        rand::fill(&mut drawn).map_err(|_| SealFault::Random)?;
        let mut sealed = Vec::with_capacity(plain.len() + Sealer::OVERHEAD);
        sealed.push(VERSION);
        sealed.extend_from_slice(&root.id);
        sealed.extend_from_slice(&drawn);
        sealed.extend_from_slice(plain);
        let (salt, nonce) = drawn.split_at(SALT);
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealFault::Random)?;
        let body = &mut sealed[HEAD..];
        let tag = root.key(salt)?.seal_in_place_separate_tag(nonce, Aad::from(associated), body);
        sealed.extend_from_slice(tag.map_err(|_| SealFault::Random)?.as_ref());
        Ok(sealed)
    }

    /// What is in it; in the same memory, so nothing is copied.
    pub fn open(&self, associated: &[u8], mut sealed: Vec<u8>) -> Result<Vec<u8>, SealFault> {
        let head = sealed.get(..HEAD).filter(|head| head[0] == VERSION).ok_or(SealFault::Forged)?;
        let (id, drawn) = head[1..].split_at(ID);
        let current = self.roots.current();
        let root = current.keys.iter().find(|root| root.id == id).ok_or(SealFault::UnknownKey)?;
        let (salt, nonce) = drawn.split_at(SALT);
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealFault::Forged)?;
        let key = root.key(salt)?;
        let opened = key.open_within(nonce, Aad::from(associated), &mut sealed, HEAD..);
        let len = opened.map_err(|_| SealFault::Forged)?.len();
        sealed.truncate(len);
        Ok(sealed)
    }

    /// The id of the key that seals now.
    pub fn newest(&self) -> [u8; ID] {
        self.roots.current().keys[0].id
    }

    /// Whether it may be one of ours: it begins like one, by a key of the ring.
    pub fn looks_sealed(&self, value: &[u8]) -> bool {
        value.len() >= Sealer::OVERHEAD
            && value[0] == VERSION
            && self.roots.current().keys.iter().any(|root| root.id == value[1..=ID])
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sealer({})", self.roots.purpose)
    }
}

impl Root {
    fn new(master: &Master, purpose: &str) -> Result<Root, SealFault> {
        let secret = Zeroizing::new(derive(&master.bytes, "rest", purpose)?);
        let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, b"interlingua at rest 1").extract(&*secret);
        Ok(Root { id: master.id, secret })
    }

    fn key(&self, salt: &[u8]) -> Result<LessSafeKey, SealFault> {
        let mut key = Zeroizing::new([0_u8; 32]);
        let expanded = self.secret.expand(&[salt], hkdf::HKDF_SHA256).and_then(|okm| okm.fill(&mut *key));
        expanded.map_err(|_| SealFault::Forged)?;
        UnboundKey::new(&AES_256_GCM, &*key).map(LessSafeKey::new).map_err(|_| SealFault::Forged)
    }
}
