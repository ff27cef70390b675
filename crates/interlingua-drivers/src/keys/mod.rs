//! Keys, and what they seal: records encrypted at rest, and tokens that are handed out and brought back.
//!
//! A sealed value is `1 | key id (8) | nonce (12) | AES-256-GCM ciphertext and tag`. Each purpose has a key of its own, derived
//! from a master key with HKDF-SHA-256, so that what was sealed for one purpose never opens for another. The newest
//! master key seals; older ones still open what they sealed, until they are taken out of the list.
//!
//! What is deliberately absent: expiry, owners and task ids. Whoever seals puts them into the associated data or into
//! the sealed bytes. No key is ever printed; masters are wiped from memory when the ring goes.

mod load;
#[cfg(test)]
mod tests;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{constant_time, hkdf, hmac, rand};
use zeroize::Zeroizing;

pub use load::{FILE, KeyFault};

const VERSION: u8 = 1;
const ID: usize = 8;
const HEAD: usize = 1 + ID + NONCE_LEN;

/// Master keys, the newest first. Never empty.
pub struct Keyring {
    newest: Master,
    older: Vec<Master>,
}

struct Master {
    id: [u8; ID],
    bytes: Zeroizing<[u8; 32]>,
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
        write!(f, "Keyring({} keys)", 1 + self.older.len())
    }
}

impl Keyring {
    /// Encrypts, and binds to `purpose` and `associated`: the same two are needed to open it.
    pub fn seal(&self, purpose: &'static str, associated: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealFault> {
        let mut nonce = [0; NONCE_LEN];
        rand::fill(&mut nonce).map_err(|_| SealFault::Random)?;
        let key = self.newest.sealing_key(purpose)?;
        let mut body = plain.to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(associated), &mut body)
            .map_err(|_| SealFault::Forged)?;
        let mut sealed = Vec::with_capacity(HEAD + body.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&self.newest.id);
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
        let master = self.masters().find(|master| master.id == id).ok_or(SealFault::UnknownKey)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealFault::Forged)?;
        let mut plain = Zeroizing::new(body.to_vec());
        let key = master.sealing_key(purpose)?;
        let len = key.open_in_place(nonce, Aad::from(associated), &mut plain).map_err(|_| SealFault::Forged)?.len();
        plain.truncate(len);
        Ok(plain)
    }

    /// True when `sealed` was sealed by an older key and should be sealed anew when it is next written.
    pub fn is_stale(&self, sealed: &[u8]) -> bool {
        sealed.get(1..=ID) != Some(self.newest.id.as_slice())
    }

    /// The tagging keys for one purpose, derived once: for tags that are made with every message.
    pub fn tagger(&self, purpose: &'static str) -> Result<Tagger, SealFault> {
        let keys = self.masters().map(|master| master.tagging_key(purpose)).collect::<Result<_, _>>()?;
        Ok(Tagger { keys })
    }

    fn masters(&self) -> impl Iterator<Item = &Master> {
        std::iter::once(&self.newest).chain(&self.older)
    }
}

/// HMAC-SHA-256 for one purpose. The newest key makes tags, all of them are believed.
pub struct Tagger {
    /// The newest first. Never empty.
    keys: Vec<hmac::Key>,
}

/// A tag that is cut shorter than this proves nothing.
const SHORTEST_TAG: usize = 16;

impl Tagger {
    pub fn tag(&self, message: &[u8]) -> [u8; 32] {
        tag_with(&self.keys[0], message)
    }

    /// Whether any key gave this tag, which may be cut to its first 16 bytes or more; compared in constant time.
    pub fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        (SHORTEST_TAG..=32).contains(&tag.len())
            && self.keys.iter().any(|key| {
                let own = tag_with(key, message);
                constant_time::verify_slices_are_equal(&own[..tag.len()], tag).is_ok()
            })
    }
}

impl std::fmt::Debug for Tagger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tagger({} keys)", self.keys.len())
    }
}

fn tag_with(key: &hmac::Key, message: &[u8]) -> [u8; 32] {
    let mut tag = [0; 32];
    tag.copy_from_slice(hmac::sign(key, message).as_ref());
    tag
}

impl Master {
    fn new(bytes: Zeroizing<[u8; 32]>) -> Result<Master, SealFault> {
        let id = Zeroizing::new(derive(&bytes, "id", "")?);
        let mut short = [0; ID];
        short.copy_from_slice(&id[..ID]);
        Ok(Master { id: short, bytes })
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
