//! Key ring, and what it seals: records encrypted at rest, and tokens that the hub hands out and gets back.
//!
//! A sealed value is `1 | key id (8) | nonce (12) | AES-256-GCM ciphertext and tag`. Each purpose has a key of its own, derived from a
//! master key with HKDF-SHA-256, so a value sealed for one purpose never opens for another. The newest master key seals; older keys still
//! open what they sealed, until they are removed from the list. A ring can be replaced while it is in use ([`Keyring::replace`]): all keys
//! derived from it follow.
//!
//! Reading order: this file, `derived` (tags, and values sealed in the store), `at_rest` (what every store seals, and how), `load` (where keys come from), `wrapped` (the file of the
//! ring under a key that is stored elsewhere).
//!
//! Deliberately absent: expiry, owners and task ids. The caller puts them into the associated data or into the sealed bytes. No key is ever
//! printed; master keys are wiped from memory when the ring is dropped.

// The lowest crate that needs more of a system than the standard library offers everywhere.
#[cfg(not(unix))]
compile_error! { "Interlingua runs on Unix systems: on Windows, use the Windows Subsystem for Linux" }

mod at_rest;
mod derived;
pub mod jws;
mod load;
#[cfg(test)]
mod tests;
mod wrapped;

use std::sync::Arc;

use arc_swap::ArcSwap;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac, rand};
use zeroize::Zeroizing;

pub use at_rest::{EncryptionAtRest, Place};
pub use derived::{Sealer, Tagger};
pub use load::{FILE, KeyFault, put_new};
pub use wrapped::{Unwrapped, Wrapping, is_wrapped, put_wrapped, wrapped_text};

const VERSION: u8 = 1;
const ID: usize = 8;
const HEAD: usize = 1 + ID + NONCE_LEN;

/// Master keys, which may be replaced while they are in use.
pub struct Keyring {
    masters: Arc<ArcSwap<Masters>>,
}

/// The newest first. Never empty.
struct Masters {
    newest: Master,
    older: Vec<Master>,
}

struct Master {
    id: [u8; ID],
    /// When it was made, as its file says.
    made: Option<Box<str>>,
    bytes: Zeroizing<[u8; 32]>,
}

/// What may be known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// 16 hexadecimal digits; it says nothing about the key itself.
    pub id: String,
    pub made: Option<String>,
}

/// The id of the key that sealed a value, as far as can be seen without opening it.
pub fn sealed_by(value: &[u8]) -> Option<String> {
    value.get(1..=ID).map(hex::encode)
}

/// Why a sealed value was not opened. Which byte was wrong is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealFault {
    #[error("it was not sealed by this hub, for this, or was altered")]
    Forged,
    #[error("the key it was sealed with is not in the ring any more")]
    UnknownKey,
    #[error("the random source failed")]
    Random,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keyring({} keys)", 1 + self.masters.load().older.len())
    }
}

impl Keyring {
    fn new(newest: Master, older: Vec<Master>) -> Keyring {
        Keyring { masters: Arc::new(ArcSwap::from_pointee(Masters { newest, older })) }
    }

    /// From now on `other` seals and opens, also for whoever holds this ring or keys derived from it.
    pub fn replace(&self, other: &Keyring) {
        self.masters.store(other.masters.load_full());
    }

    /// The keys, the one that seals first.
    pub fn keys(&self) -> Vec<KeyInfo> {
        self.masters.load().all().map(Master::info).collect()
    }

    /// Encrypts, and binds to `purpose` and `associated`: the same two are needed to open it.
    pub fn seal(&self, purpose: &'static str, associated: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealFault> {
        let mut nonce = [0; NONCE_LEN];
        rand::fill(&mut nonce).map_err(|_| SealFault::Random)?;
        let masters = self.masters.load();
        let key = masters.newest.sealing_key(purpose)?;
        let mut body = plain.to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(associated), &mut body)
            .map_err(|_| SealFault::Forged)?;
        let mut sealed = Vec::with_capacity(HEAD + body.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&masters.newest.id);
        sealed.extend_from_slice(&nonce);
        sealed.append(&mut body);
        Ok(sealed)
    }

    pub fn open(
        &self,
        purpose: &'static str,
        associated: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SealFault> {
        let (head, body) = sealed.split_at_checked(HEAD).ok_or(SealFault::Forged)?;
        let (&version, head) = head.split_first().ok_or(SealFault::Forged)?;
        if version != VERSION {
            return Err(SealFault::Forged);
        }
        let (id, nonce) = head.split_at(ID);
        let masters = self.masters.load();
        let master = masters.all().find(|master| master.id == id).ok_or(SealFault::UnknownKey)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealFault::Forged)?;
        let mut plain = Zeroizing::new(body.to_vec());
        let key = master.sealing_key(purpose)?;
        let len = key.open_in_place(nonce, Aad::from(associated), &mut plain).map_err(|_| SealFault::Forged)?.len();
        plain.truncate(len);
        Ok(plain)
    }

    /// True when `sealed` was sealed by an older key and should be sealed anew when it is next written.
    pub fn is_stale(&self, sealed: &[u8]) -> bool {
        sealed.get(1..=ID) != Some(self.masters.load().newest.id.as_slice())
    }

    /// For tags that are made with every message: the tagging keys of one purpose, derived once.
    pub fn tagger(&self, purpose: &'static str) -> Result<Tagger, SealFault> {
        Tagger::new(self.masters.clone(), purpose)
    }

    /// For values that are sealed by the thousand: the roots of their keys, derived once.
    pub fn sealer(&self, purpose: &'static str) -> Result<Sealer, SealFault> {
        Sealer::new(self.masters.clone(), purpose)
    }
}

impl Masters {
    fn all(&self) -> impl Iterator<Item = &Master> {
        std::iter::once(&self.newest).chain(&self.older)
    }
}

impl Master {
    fn new(bytes: Zeroizing<[u8; 32]>, made: Option<Box<str>>) -> Result<Master, SealFault> {
        let id = Zeroizing::new(derive(&bytes, "id", "")?);
        let mut short = [0; ID];
        short.copy_from_slice(&id[..ID]);
        Ok(Master { id: short, made, bytes })
    }

    fn info(&self) -> KeyInfo {
        KeyInfo { id: hex::encode(self.id), made: self.made.as_deref().map(str::to_owned) }
    }

    fn sealing_key(&self, purpose: &str) -> Result<LessSafeKey, SealFault> {
        let key = Zeroizing::new(derive(&self.bytes, "seal", purpose)?);
        UnboundKey::new(&AES_256_GCM, &*key).map(LessSafeKey::new).map_err(|_| SealFault::Forged)
    }

    fn tagging_key(&self, purpose: &str) -> Result<hmac::Key, SealFault> {
        let key = Zeroizing::new(derive(&self.bytes, "tag", purpose)?);
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &*key))
    }
}

/// A key for one use and one purpose. The zero byte keeps the two apart: no use contains one.
fn derive(master: &[u8; 32], usage: &str, purpose: &str) -> Result<[u8; 32], SealFault> {
    let mut key = [0; 32];
    hkdf::Salt::new(hkdf::HKDF_SHA256, b"interlingua keyring 1")
        .extract(master)
        .expand(&[usage.as_bytes(), &[0], purpose.as_bytes()], hkdf::HKDF_SHA256)
        .and_then(|okm| okm.fill(&mut key))
        .map_err(|_| SealFault::Forged)?;
    Ok(key)
}
