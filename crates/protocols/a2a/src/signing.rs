//! Card signing: signs the cards this hub serves, each for its one address.
//!
//! A signature is made once for a card and cached: a new signature for every reader would make every card different, and its entity tag
//! too.

use std::sync::Arc;

use crate::discover::signature::{Key, Material, WebKey, signed, write_key_set};
use interlingua_keys::jws::{PublicKey, Signer};
use interlingua_model::{Digest, Json};
use moka::sync::Cache;

/// Where the key is that verifies them.
pub(super) const KEYS: &str = "/.well-known/jwks.json";
/// How many signatures are kept: cards differ by agent, by address and by what their reader may call.
const KEPT: u64 = 1024;

/// The hub's key for cards.
#[derive(Debug, Clone)]
pub struct Signing {
    signer: Arc<Signer>,
    public: WebKey,
    made: Cache<Digest, Arc<[u8]>>,
}

impl Signing {
    /// `None` when the text is no private key of a kind that can sign.
    pub fn from_pem(text: &str) -> Option<Signing> {
        let signer = Signer::from_pem(text)?;
        let material = material(signer.public().clone());
        let public = WebKey { id: Some(material.thumbprint().into()), material };
        Some(Signing { signer: Arc::new(signer), public, made: Cache::new(KEPT) })
    }

    /// The key set that verifies what is signed here.
    pub(super) fn key_set(&self) -> Json {
        write_key_set(std::slice::from_ref(&self.public))
    }

    /// The card with a signature; `base` is the hub's address, below which its key is.
    pub(super) fn sign(&self, card: &Json, base: &str) -> Option<Json> {
        let url = format!("{base}{KEYS}");
        let id = self.public.id.as_deref().unwrap_or_default();
        let key = Key { algorithm: self.public.material.algorithm(), id, url: Some(&url) };
        signed(card, key, |input| {
            let digest = Digest::of(input);
            if let Some(made) = self.made.get(&digest) {
                return Some(made.to_vec());
            }
            let signature = self.signer.sign(input)?;
            self.made.insert(digest, signature.as_slice().into());
            Some(signature)
        })
    }
}

/// A key as the web writes it, made one that verifies.
pub(super) fn public(key: &Material) -> PublicKey {
    match key.clone() {
        Material::P256 { x, y } => PublicKey::P256 { x, y },
        Material::Ed25519 { x } => PublicKey::Ed25519 { x },
        Material::Rsa { n, e } => PublicKey::Rsa { n, e },
    }
}

/// A key as the web writes it.
pub(super) fn material(key: PublicKey) -> Material {
    match key {
        PublicKey::P256 { x, y } => Material::P256 { x, y },
        PublicKey::Ed25519 { x } => Material::Ed25519 { x },
        PublicKey::Rsa { n, e } => Material::Rsa { n, e },
    }
}
