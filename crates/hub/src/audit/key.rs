//! Signing keys of the audit log: the current key, and the public halves of all earlier ones.
//!
//! Both are in one record, sealed with the hub's keys like every credential. A key is changed while the hub runs: the old key signs a last
//! checkpoint that names the new one ([`interlingua_machines::audit`]). Until that is written both are stored, so a hub that was killed in
//! between continues with the key that the chain knows.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use interlingua_keys::jws::{PublicKey, Signer};
use interlingua_machines::audit::{Page, key_name};
use interlingua_model::ports::{Expect, Journal};
use interlingua_model::{Fault, FaultKind, Log, Text, Time, journal};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::Hub;

/// The kind of the record, and what it is sealed for.
pub const KIND: &str = "audit-key";
const NAME: &str = "signing";
/// How many public halves are remembered: what older ones signed has gone by its age.
const MOST: usize = 64;

/// The public half of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Half {
    /// Ed25519, in hexadecimal.
    pub public: Text,
    /// When the hub made it; `None` for one of which that was not written.
    pub made: Option<Time>,
}

impl Half {
    /// The digest of its bytes.
    pub fn id(&self) -> Text {
        hex::decode(&*self.public).map(|public| key_name(&public)).unwrap_or_default()
    }
}

/// The key that signs.
#[derive(Debug)]
pub(super) struct Signing {
    pub(super) signer: Signer,
    pub(super) name: Text,
    /// All that ever signed, this one first. Never empty.
    pub(super) known: Vec<Half>,
}

/// What is in the record.
#[derive(Serialize, Deserialize)]
struct Written {
    /// Private keys in PEM: the one that signs, then the one it is about to hand over to.
    signs: Vec<String>,
    known: Vec<Half>,
}

impl Drop for Written {
    fn drop(&mut self) {
        self.signs.zeroize();
    }
}

impl Written {
    fn of(pem: &str, known: Vec<Half>) -> Written {
        Written { signs: vec![pem.to_owned()], known }
    }

    fn signing(&self, place: usize) -> Option<Signing> {
        let signer = Signer::from_pem(self.signs.get(place)?)?;
        let name = key_name(&public_bytes(signer.public()));
        // While it is handed over the newest is the successor of who signs.
        let known: Vec<Half> = self.known.iter().skip_while(|half| half.id() != name).cloned().collect();
        (!known.is_empty()).then_some(Signing { signer, name, known })
    }
}

fn half(signer: &Signer, made: Option<Time>) -> Half {
    Half { public: hex::encode(public_bytes(signer.public())).into(), made }
}

fn public_bytes(key: &PublicKey) -> Vec<u8> {
    match key {
        PublicKey::Ed25519 { x } => x.clone(),
        PublicKey::P256 { x, y } => [x.as_slice(), y].concat(),
        PublicKey::Rsa { n, e } => [n.as_slice(), e].concat(),
    }
}

impl Hub {
    /// Starts signing the audit log: with the stored key, else with that of `file`, where earlier versions had it and which is then
    /// removed, else with a new one.
    pub async fn open_audit_key(&self, file: &Path) -> Result<(), Fault> {
        let written = match self.kept_audit_key().await? {
            Some(written) => written,
            None => self.first_audit_key(file)?,
        };
        let successor = written.signing(1);
        let handed = match &successor {
            Some(next) => is_handed_over(&*self.store.journal, &next.name).await?,
            None => false,
        };
        let place = usize::from(handed);
        let unusable = || Fault::hub(FaultKind::Internal, "the audit's key is none");
        let signing = successor.filter(|_| handed).or_else(|| written.signing(0)).ok_or_else(unusable)?;
        let pem = written.signs.get(place).ok_or_else(unusable)?;
        self.keep_audit_key(&Written::of(pem, signing.known.clone())).await?;
        let _ = std::fs::remove_file(file);
        self.audit.sign_with(signing);
        Ok(())
    }

    fn first_audit_key(&self, file: &Path) -> Result<Written, Fault> {
        let found = std::fs::read_to_string(file).ok().map(Zeroizing::new);
        let (pem, made) = match found.filter(|pem| Signer::from_pem(pem).is_some()) {
            Some(pem) => (pem, None),
            None => (Signer::new_pem().map_err(Fault::internal)?, Some(self.now())),
        };
        let signer =
            Signer::from_pem(&pem).ok_or_else(|| Fault::hub(FaultKind::Internal, "a key that was made is none"))?;
        Ok(Written::of(&pem, vec![half(&signer, made)]))
    }

    /// Signs the audit log with a new key from now on; the previous key signs the change.
    pub async fn rotate_audit_key(&self) -> Result<(), Fault> {
        let none = || Fault::hub(FaultKind::Internal, "the audit has no key");
        let old = self.kept_audit_key().await?.ok_or_else(none)?;
        // Two are kept where an earlier change did not come to its end: the one that signs hands over.
        let signs = self.audit.seal.load_full().ok_or_else(none)?;
        let place = (0..old.signs.len()).find(|place| old.signing(*place).is_some_and(|key| key.name == signs.name));
        let signs = place.and_then(|place| old.signs.get(place)).ok_or_else(none)?.clone();
        let pem = Signer::new_pem().map_err(Fault::internal)?;
        let signer = Signer::from_pem(&pem).ok_or_else(none)?;
        let mut known = vec![half(&signer, Some(self.now()))];
        known.extend(old.known.iter().take(MOST - 1).cloned());
        let both = Written { signs: vec![signs, pem.to_string()], known };
        self.keep_audit_key(&both).await?;
        let next = Arc::new(both.signing(1).ok_or_else(none)?);
        self.audit.hand_over(next.clone()).await;
        // A page of which nobody knows whether it was written is asked for.
        if !is_handed_over(&*self.store.journal, &next.name).await? {
            self.keep_audit_key(&old).await?;
            return Err(Fault::hub(FaultKind::Internal, "the audit's key could not hand over to a new one"));
        }
        self.audit.seal.store(Some(next.clone()));
        self.keep_audit_key(&Written::of(&pem, next.known.clone())).await
    }

    /// Seals the stored key again with the current sealing key.
    pub async fn reseal_audit_key(&self) -> Result<(), Fault> {
        match self.kept_audit_key().await? {
            Some(written) => self.keep_audit_key(&written).await,
            None => Ok(()),
        }
    }

    async fn kept_audit_key(&self) -> Result<Option<Written>, Fault> {
        let Some(item) = self.store.records.get(KIND, NAME, self.now()).await? else { return Ok(None) };
        let Ok(plain) = self.keys.open(KIND, NAME.as_bytes(), &item.value) else {
            tracing::error!(
                event = "audit_key_unreadable",
                "the key that signs the audit log cannot be decrypted; a new key signs from now on"
            );
            return Ok(None);
        };
        serde_json::from_slice(&plain).map(Some).map_err(Fault::internal)
    }

    async fn keep_audit_key(&self, written: &Written) -> Result<(), Fault> {
        let plain = Zeroizing::new(serde_json::to_vec(written).map_err(Fault::internal)?);
        let sealed = self.keys.seal(KIND, NAME.as_bytes(), &plain).map_err(Fault::internal)?;
        self.store.records.put(KIND, NAME, Bytes::from(sealed), None, Expect::Anything, self.now()).await?;
        Ok(())
    }
}

/// Whether the newest checkpoint names this key as the one that signs what follows. Only asked when a key is changed.
async fn is_handed_over(journal: &dyn Journal, to: &str) -> Result<bool, Fault> {
    let mut record = journal.last(Log::Audit).await?;
    while let Some(before) = record.checked_sub(1) {
        let found = journal.read(Log::Audit, before, 1).await?;
        let Some(stored) = found.first().filter(|stored| stored.seq == record) else { break };
        if let Ok(Page { signed: Some(signed), .. }) = journal::from_bytes::<Page>(&stored.bytes) {
            return Ok(signed.signs_next().is_some_and(|name| &*name == to));
        }
        record = before;
    }
    Ok(false)
}
