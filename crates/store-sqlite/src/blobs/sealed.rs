//! Encrypted blobs: `magic (8) | head | pieces`.
//!
//! Each file has a random key of its own. Pieces of 64 KiB are sealed with it under their number, so any part can be read without the rest.
//! The head is that key, the length and the digest of the content, sealed by the ring: a file does not open under another file's name, nor
//! when a piece is missing. A new key of the ring leaves files as they are until the old key is to be removed: then a file gets a new head,
//! and its pieces do not change.
//!
//! The file name is a keyed tag of the digest, not the digest: somebody with the disk cannot test whether it holds known content.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::rand;
use interlingua_model::digest::Digest;
use interlingua_model::ports::StoreFault;
use zeroize::Zeroizing;

use super::super::fault::from_io;
use super::{SEALED, finished, path_of};
use interlingua_keys::{Keyring, SealFault, Sealer, Tagger};

const PURPOSE: &str = "blob";
const MAGIC: &[u8; 8] = b"ilblob\0\x02";
const KEY: usize = 32;
const TAG: usize = 16;
const PIECE: usize = 64 * 1024;
/// The key of a file, its length and the digest of its content, sealed.
const HEAD: usize = KEY + 8 + 32 + Sealer::OVERHEAD;
/// Where the first piece begins.
pub(super) const BODY: u64 = (MAGIC.len() + HEAD) as u64;

/// What heads are sealed and names are made with.
#[derive(Debug)]
pub(in super::super) struct BlobSeal {
    heads: Sealer,
    names: Tagger,
}

impl BlobSeal {
    pub(in super::super) fn new(ring: &Keyring) -> Result<BlobSeal, SealFault> {
        Ok(BlobSeal { heads: ring.sealer(PURPOSE)?, names: ring.tagger(PURPOSE)? })
    }

    /// Where a new blob goes.
    pub(super) fn path(&self, root: &Path, digest: Digest) -> PathBuf {
        path_of(root, Digest(self.names.tag(&digest.0))).with_extension(SEALED)
    }

    /// The blob with this digest, under its name by whichever key.
    pub(super) fn open(&self, root: &Path, digest: Digest) -> Result<Option<Opened>, StoreFault> {
        let names = self.names.tags(&digest.0);
        // Twice when there are several: it may get its new name between one look and the next.
        let looks = if names.len() > 1 { 2 } else { 1 };
        for name in names.iter().cycle().take(names.len() * looks) {
            match File::open(path_of(root, Digest(*name)).with_extension(SEALED)) {
                Ok(file) => return self.read_head(file, digest).map(Some),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(from_io("open a blob", &error)),
            }
        }
        Ok(None)
    }

    fn read_head(&self, file: File, digest: Digest) -> Result<Opened, StoreFault> {
        let head = self.head(sealed_head(&file)?)?;
        if head.digest()? != digest {
            return Err(damaged());
        }
        let key = cipher(&head.0[..KEY]).map_err(|_| damaged())?;
        Ok(Opened { file, key, len: head.len()? })
    }

    fn head(&self, sealed: Vec<u8>) -> Result<Head, StoreFault> {
        let inside = self.heads.open(b"", sealed).map(Zeroizing::new).map_err(|_| damaged())?;
        if inside.len() == KEY + 8 + 32 { Ok(Head(inside)) } else { Err(damaged()) }
    }

    /// The head of a file by the newest key, and where the file belongs by that; `None` when it is by that key already.
    pub(super) fn renewed(
        &self,
        root: &Path,
        file: &File,
        name: Digest,
    ) -> Result<Option<(Vec<u8>, PathBuf)>, StoreFault> {
        let sealed = sealed_head(file)?;
        if sealed.get(1..=8) == Some(self.heads.newest().as_slice()) {
            return Ok(None);
        }
        // One that does not open is lost by whichever key, and must not keep the others from theirs.
        let Ok(head) = self.head(sealed) else { return Ok(None) };
        let digest = head.digest()?;
        if !self.names.tags(&digest.0).contains(&name.0) {
            return Err(damaged());
        }
        let new = self.heads.seal(b"", &head.0).map_err(|_| damaged())?;
        Ok(Some(([&MAGIC[..], &new].concat(), self.path(root, digest))))
    }
}

/// What is in a head: the key of the file, the length and the digest of its content.
struct Head(Zeroizing<Vec<u8>>);

impl Head {
    fn len(&self) -> Result<u64, StoreFault> {
        self.0[KEY..KEY + 8].try_into().map(u64::from_be_bytes).map_err(|_| damaged())
    }

    fn digest(&self) -> Result<Digest, StoreFault> {
        self.0[KEY + 8..].try_into().map(Digest).map_err(|_| damaged())
    }
}

/// The head of a file as it is written.
pub(super) fn sealed_head(file: &File) -> Result<Vec<u8>, StoreFault> {
    let mut head = vec![0; MAGIC.len() + HEAD];
    file.read_exact_at(&mut head, 0).map_err(|_| damaged())?;
    if head.starts_with(MAGIC) { Ok(head.split_off(MAGIC.len())) } else { Err(damaged()) }
}

/// Whether a file begins like a sealed blob: as much as can be seen without keys.
pub(in super::super) fn begins_right(file: &File) -> std::io::Result<bool> {
    let mut magic = [0; MAGIC.len()];
    Ok(file.metadata()?.len() >= BODY && file.read_exact_at(&mut magic, 0).is_ok() && &magic == MAGIC)
}

/// How long the content of a file of this length is.
pub(super) fn content_len(file: u64) -> u64 {
    let pieces = file.saturating_sub(BODY);
    pieces.saturating_sub(pieces.div_ceil((PIECE + TAG) as u64) * TAG as u64)
}

fn damaged() -> StoreFault {
    tracing::error!(event = "blob_unreadable", "stored content cannot be decrypted");
    StoreFault::Damaged("a blob: it was not sealed by this hub, for this, or was altered".into())
}

fn cipher(key: &[u8]) -> Result<LessSafeKey, SealFault> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| SealFault::Forged)
}

/// The number of a piece is its nonce: the key is of one file, which is written once.
fn nonce(piece: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&piece.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// A blob that is being written.
pub(super) struct Sealing {
    key: LessSafeKey,
    bytes: Zeroizing<[u8; KEY]>,
    held: Vec<u8>,
    pieces: u64,
}

impl Sealing {
    /// Leaves room for the head: what belongs into it is known at the end.
    pub(super) fn start(file: &mut File) -> std::io::Result<Sealing> {
        let mut bytes = Zeroizing::new([0_u8; KEY]);
        rand::fill(&mut *bytes).map_err(|_| std::io::Error::other(SealFault::Random))?;
        let key = cipher(&*bytes).map_err(std::io::Error::other)?;
        file.write_all(&[0; MAGIC.len() + HEAD])?;
        Ok(Sealing { key, bytes, held: Vec::with_capacity(PIECE + TAG), pieces: 0 })
    }

    pub(super) fn add(&mut self, file: &mut File, mut bytes: &[u8]) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.held.len()));
            self.held.extend_from_slice(now);
            bytes = later;
            if self.held.len() == PIECE {
                self.write_piece(file)?;
            }
        }
        Ok(())
    }

    fn write_piece(&mut self, file: &mut File) -> std::io::Result<()> {
        let sealed = self.key.seal_in_place_append_tag(nonce(self.pieces), Aad::empty(), &mut self.held);
        sealed.map_err(|_| std::io::Error::other(SealFault::Forged))?;
        file.write_all(&self.held)?;
        self.held.clear();
        self.pieces += 1;
        Ok(())
    }

    /// Writes what is left, then the head.
    pub(super) fn finish(&mut self, file: &mut File, seal: &BlobSeal, of: Digest, len: u64) -> std::io::Result<()> {
        if !self.held.is_empty() {
            self.write_piece(file)?;
        }
        let inside = Zeroizing::new([&self.bytes[..], &len.to_be_bytes(), &of.0].concat());
        let head = seal.heads.seal(b"", &inside).map_err(std::io::Error::other)?;
        file.write_all_at(&[&MAGIC[..], &head].concat(), 0)
    }
}

/// A blob that is being read.
pub(super) struct Opened {
    file: File,
    key: LessSafeKey,
    pub(super) len: u64,
}

impl Opened {
    /// At most `limit` bytes from `offset`.
    pub(super) fn read(&self, offset: u64, limit: usize) -> Result<Vec<u8>, StoreFault> {
        let end = self.len.min(offset.saturating_add(limit as u64));
        let mut read = Vec::new();
        let mut at = offset;
        while at < end {
            let piece = self.piece(at / PIECE as u64)?;
            let from = usize::try_from(at % PIECE as u64).map_err(|_| damaged())?;
            let upto = piece.len().min(from + usize::try_from(end - at).unwrap_or(usize::MAX));
            read.extend_from_slice(piece.get(from..upto).ok_or_else(damaged)?);
            at += (upto - from) as u64;
        }
        Ok(read)
    }

    fn piece(&self, number: u64) -> Result<Vec<u8>, StoreFault> {
        let left = self.len.saturating_sub(number * PIECE as u64);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE);
        let mut piece = vec![0; len + TAG];
        self.file.read_exact_at(&mut piece, BODY + number * (PIECE + TAG) as u64).map_err(|_| damaged())?;
        self.key.open_in_place(nonce(number), Aad::empty(), &mut piece).map_err(|_| damaged())?;
        piece.truncate(len);
        Ok(piece)
    }

    /// The digest of what is in it.
    pub(super) fn digest(&self) -> Result<Digest, StoreFault> {
        let mut context = Context::new(&SHA256);
        for number in 0..self.len.div_ceil(PIECE as u64) {
            context.update(&self.piece(number)?);
        }
        Ok(finished(context))
    }
}

/// What was just written, read back.
pub(super) fn read_back(file: &File, seal: &BlobSeal, digest: Digest) -> Result<Digest, StoreFault> {
    let file = file.try_clone().map_err(|error| from_io("read back a blob", &error))?;
    seal.read_head(file, digest)?.digest()
}
