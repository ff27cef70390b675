//! How blobs are sealed: a key for each, its chunks under their numbers, and a head that the ring seals.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::rand;
use interlingua_keys::{Keyring, SealFault, Sealer, Tagger};
use interlingua_model::digest::Digest;
use interlingua_model::ports::StoreFault;
use zeroize::Zeroizing;

const PURPOSE: &str = "blob";
const KEY: usize = 32;

/// What heads are sealed and rows are named with.
#[derive(Debug)]
pub(super) struct BlobSeal {
    heads: Sealer,
    names: Tagger,
}

/// What a head says.
pub(super) struct Head {
    pub(super) cipher: Cipher,
    pub(super) len: u64,
    pub(super) digest: Digest,
}

impl BlobSeal {
    pub(super) fn new(ring: &Keyring) -> Result<BlobSeal, SealFault> {
        Ok(BlobSeal { heads: ring.sealer(PURPOSE)?, names: ring.tagger(PURPOSE)? })
    }

    /// What a new row is named by.
    pub(super) fn tag(&self, digest: Digest) -> Vec<u8> {
        self.names.tag(&digest.0).to_vec()
    }

    /// What a row may be named by, whichever key made it.
    pub(super) fn tags(&self, digest: Digest) -> Vec<Vec<u8>> {
        self.names.tags(&digest.0).into_iter().map(|tag| tag.to_vec()).collect()
    }

    /// The id of the key that seals now.
    pub(super) fn newest(&self) -> Vec<u8> {
        self.heads.newest().to_vec()
    }

    pub(super) fn head(&self, cipher: &Cipher, len: u64, digest: Digest) -> Result<Vec<u8>, StoreFault> {
        let mut plain = Zeroizing::new(Vec::with_capacity(KEY + 8 + 32));
        plain.extend_from_slice(&cipher.bytes[..]);
        plain.extend_from_slice(&len.to_be_bytes());
        plain.extend_from_slice(&digest.0);
        self.heads.seal(b"", &plain).map_err(|_| no_randomness())
    }

    pub(super) fn open(&self, head: Vec<u8>) -> Result<Head, StoreFault> {
        let plain = self.heads.open(b"", head).map(Zeroizing::new).map_err(|_| damaged())?;
        let (key, rest) = plain.split_first_chunk::<KEY>().ok_or_else(damaged)?;
        let (len, digest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        let digest = Digest(digest.try_into().map_err(|_| damaged())?);
        Ok(Head { cipher: Cipher::of(Zeroizing::new(*key))?, len: u64::from_be_bytes(*len), digest })
    }
}

/// The key of one blob.
pub(super) struct Cipher {
    bytes: Zeroizing<[u8; KEY]>,
    key: LessSafeKey,
}

impl Cipher {
    pub(super) fn random() -> Result<Cipher, StoreFault> {
        let mut bytes = Zeroizing::new([0; KEY]);
        rand::fill(&mut bytes[..]).map_err(|_| no_randomness())?;
        Cipher::of(bytes)
    }

    fn of(bytes: Zeroizing<[u8; KEY]>) -> Result<Cipher, StoreFault> {
        let key = UnboundKey::new(&AES_256_GCM, &bytes[..]).map_err(|_| damaged())?;
        Ok(Cipher { bytes, key: LessSafeKey::new(key) })
    }

    /// Each number is sealed once: the key belongs to one blob, which is written from its beginning to its end.
    pub(super) fn seal(&self, n: u64, mut chunk: Vec<u8>) -> Result<Vec<u8>, StoreFault> {
        self.key.seal_in_place_append_tag(nonce(n), Aad::empty(), &mut chunk).map_err(|_| no_randomness())?;
        Ok(chunk)
    }

    pub(super) fn open(&self, n: u64, mut chunk: Vec<u8>) -> Result<Vec<u8>, StoreFault> {
        let len = self.key.open_in_place(nonce(n), Aad::empty(), &mut chunk).map_err(|_| damaged())?.len();
        chunk.truncate(len);
        Ok(chunk)
    }
}

fn nonce(n: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&n.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

pub(super) fn damaged() -> StoreFault {
    StoreFault::Damaged("a blob".into())
}

fn no_randomness() -> StoreFault {
    StoreFault::Broken("a blob could not be sealed".into())
}
