//! Encryption at rest: seals what the store writes, if it is configured. Journal entries, folds and the values of records are sealed.
//!
//! Each value is bound to its place (log and sequence, kind and key), so it cannot be moved to another. In a sealed store an unsealed value
//! is damage: somebody else put it there. The columns that lists and retention use are not sealed: ids, owners, names of skills, states and
//! times of tasks, keys and expiry of records. Putting an old value back at its own place is not detected.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use interlingua_model::journal::Log;
use interlingua_model::ports::StoreFault;

use super::{Keyring, SealFault, Sealer};

const PURPOSE: &str = "store";

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A record of a log.
    Entry { log: &'a Log, seq: u64 },
    /// The fold of a log.
    Fold { log: &'a Log, seq: u64 },
    /// The value of a record.
    Record { kind: &'a str, key: &'a str },
}

impl Place<'_> {
    fn bytes(self) -> Vec<u8> {
        match self {
            Place::Entry { log, seq } => of_log(b'e', log, seq),
            Place::Fold { log, seq } => of_log(b'f', log, seq),
            Place::Record { kind, key } => [b"r".as_slice(), kind.as_bytes(), &[0], key.as_bytes()].concat(),
        }
    }

    /// As a fault names it: keys of records may be names that nobody should know.
    fn name(self) -> String {
        match self {
            Place::Entry { seq, .. } => format!("entry {seq} of a journal"),
            Place::Fold { seq, .. } => format!("the fold of a journal up to {seq}"),
            Place::Record { kind, .. } => format!("a record of kind {kind}"),
        }
    }
}

fn of_log(what: u8, log: &Log, seq: u64) -> Vec<u8> {
    let (kind, id) = log.columns();
    let mut bytes = vec![what];
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&seq.to_be_bytes());
    bytes.extend_from_slice(&id);
    bytes
}

/// Seals what is written and opens what is read, or leaves both as they are.
#[derive(Debug, Clone, Default)]
pub struct EncryptionAtRest(Option<Arc<Sealer>>);

impl EncryptionAtRest {
    /// Seals with the newest key of the ring.
    pub fn sealed(ring: &Keyring) -> Result<EncryptionAtRest, SealFault> {
        Ok(EncryptionAtRest(Some(Arc::new(ring.sealer(PURPOSE)?))))
    }

    /// The value as it is written.
    pub fn seal<'a>(&self, place: Place<'_>, plain: &'a [u8]) -> Result<Cow<'a, [u8]>, StoreFault> {
        let Some(sealer) = &self.0 else { return Ok(Cow::Borrowed(plain)) };
        let sealed = sealer.seal(&place.bytes(), plain);
        sealed.map(Cow::Owned).map_err(|fault| StoreFault::Broken(format!("{}: {fault}", place.name()).into()))
    }

    /// The value as it was given.
    pub fn open(&self, place: Place<'_>, stored: Vec<u8>) -> Result<Bytes, StoreFault> {
        let Some(sealer) = &self.0 else { return Ok(stored.into()) };
        let opened = sealer.open(&place.bytes(), stored);
        opened.map(Bytes::from).map_err(|fault| {
            tracing::error!(event = "value_unreadable", place = place.name(), error = %fault, "a stored value cannot be decrypted");
            StoreFault::Damaged(format!("{}: {fault}", place.name()).into())
        })
    }

    /// The id of the key that seals; `None` when nothing is sealed.
    pub fn newest(&self) -> Option<Vec<u8>> {
        self.0.as_ref().map(|sealer| sealer.newest().to_vec())
    }

    /// A value that an older key sealed, sealed by the newest; `None` when that sealed it already, and when it does not open: it is
    /// lost by whichever key, and must not keep the others from theirs.
    pub fn resealed(&self, place: Place<'_>, stored: &[u8]) -> Result<Option<Vec<u8>>, StoreFault> {
        if self.newest().is_none_or(|newest| stored.get(1..=newest.len()) == Some(newest.as_slice())) {
            return Ok(None);
        }
        let Ok(plain) = self.open(place, stored.to_vec()) else { return Ok(None) };
        Ok(Some(self.seal(place, &plain)?.into_owned()))
    }

    /// A value that was not sealed, sealed; `None` when it was. For a store of which a part is not sealed yet.
    pub fn sealed_first(&self, place: Place<'_>, stored: &[u8]) -> Result<Option<Vec<u8>>, StoreFault> {
        if self.is_sealed(place, stored) {
            return Ok(None);
        }
        Ok(Some(self.seal(place, stored)?.into_owned()))
    }

    /// Whether a value is one that this seals; for a store of which a part is not sealed yet.
    fn is_sealed(&self, place: Place<'_>, stored: &[u8]) -> bool {
        self.0
            .as_ref()
            .is_some_and(|sealer| sealer.looks_sealed(stored) && sealer.open(&place.bytes(), stored.to_vec()).is_ok())
    }
}
