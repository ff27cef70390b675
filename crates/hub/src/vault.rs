//! Secret store: secrets that must outlive a request, sealed, in records with an expiry. The journal holds only their names.

use std::sync::Arc;

use bytes::Bytes;
use interlingua_keys::Keyring;
use interlingua_model::ports::{Expect, Records};
use interlingua_model::{Answer, Event, Fault, FaultKind, Record, Secret, SecretRef, Signal, Time};

use super::entropy;

/// The kind of the records, and what they are sealed for.
pub const KIND: &str = "secret";
/// How long a secret is kept at most.
const KEPT: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

pub(super) struct Vault {
    records: Arc<dyn Records>,
    keys: Arc<Keyring>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    pub(super) fn new(records: Arc<dyn Records>, keys: Arc<Keyring>) -> Vault {
        Vault { records, keys }
    }

    /// Replaces every value in a record by the name of a sealed one.
    pub(super) async fn seal_record(&self, record: &mut Record, now: Time) -> Result<(), Fault> {
        for secret in secrets(record) {
            if let Some(value) = secret.value() {
                let name = SecretRef(entropy::bits());
                let key = format!("{:032x}", name.0);
                let sealed = self.keys.seal(KIND, key.as_bytes(), value).map_err(Fault::internal)?;
                let put = self.records.put(KIND, &key, Bytes::from(sealed), Some(now.after(KEPT)), Expect::Absent, now);
                put.await?;
                *secret = Secret::Ref(name);
            }
        }
        Ok(())
    }

    /// The value behind a name.
    pub(super) async fn reveal(&self, secret: Secret, now: Time) -> Result<Secret, Fault> {
        let Secret::Ref(name) = secret else { return Ok(secret) };
        let key = format!("{:032x}", name.0);
        let item = self.records.get(KIND, &key, now).await?;
        let item =
            item.ok_or_else(|| Fault::hub(FaultKind::OutcomeUnknown, "what the peer needs to go on has expired"))?;
        let value = self.keys.open(KIND, key.as_bytes(), &item.value).map_err(Fault::internal)?;
        Ok(Secret::new(value))
    }
}

/// Every secret a record holds.
fn secrets(record: &mut Record) -> Vec<&mut Secret> {
    match record {
        Record::Sent(sent) => sent.remote.iter_mut().collect(),
        Record::Received { signal: Signal::Answered { answer: Answer::Token(secret), .. }, .. } => vec![secret],
        Record::Emitted { event: Event::Asked(question), .. } => question.resume.iter_mut().collect(),
        Record::Accepted { .. } | Record::Selected(_) | Record::Received { .. } | Record::Emitted { .. } => Vec::new(),
    }
}
