//! Stored webhook: sealed, because it holds credentials, in a record that expires some time after the task.

use std::sync::Arc;
use std::time::Duration;

use crate::Version;
use crate::wire::{Authentication, PushConfig};
use bytes::Bytes;
use interlingua_keys::Keyring;
use interlingua_model::ports::{Expect, Item, Records, Room, StoreFault};
use interlingua_model::{Fault, Principal, Secret, TaskId, Text, Time};
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use super::{Asker, From};
use interlingua_access::KnownBy;
use interlingua_hub::{Hub, Settings};

/// The kind of the records, and what they are sealed for.
pub(crate) const KIND: &str = "a2a-push";
/// How long a configuration is kept. A task that lives longer is told no more.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// How many one caller may keep, for all tasks together.
const MOST: u64 = 100_000;
/// How many are read at once.
const PAGE: usize = 500;

/// A configuration, and how far its webhook was told.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) id: Text,
    /// Whose task it is.
    pub(super) by: Principal,
    /// By what they were known when they asked.
    pub(super) known: KnownBy,
    pub(super) url: Text,
    token: Option<String>,
    scheme: Option<Text>,
    credentials: Option<String>,
    old: bool,
    /// The last event that was taken: the journal's entry, and which event of it.
    pub(super) told: Option<(u64, u32)>,
    pub(super) stands: Stands,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stands {
    Telling,
    /// All of the task was told.
    Over,
    /// It did not answer for too long.
    Disabled,
    /// Whoever asked for it may not hear of the task any more.
    Refused,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.token.zeroize();
        self.credentials.zeroize();
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("id", &self.id).field("stands", &self.stands).finish_non_exhaustive()
    }
}

impl Kept {
    pub(super) fn new(id: Text, asker: &Asker<'_>, wanted: &PushConfig, version: Version, from: From) -> Kept {
        let text = |secret: &Secret| secret.text().map(str::to_owned);
        let authentication = wanted.authentication.as_ref();
        Kept {
            id,
            by: asker.by.clone(),
            known: asker.known,
            url: wanted.url.clone(),
            token: wanted.token.as_ref().and_then(text),
            scheme: authentication.map(|authentication| authentication.scheme.clone()),
            credentials: authentication.and_then(|authentication| authentication.credentials.as_ref().and_then(text)),
            old: version == Version::V03,
            told: match from {
                From::Beginning => None,
                From::After(seq) => Some((seq, u32::MAX)),
            },
            stands: Stands::Telling,
        }
    }

    /// The version it was asked for in: a client of 0.3 expects another shape (section 4.3.3).
    pub(super) fn version(&self) -> Version {
        if self.old { Version::V03 } else { Version::V1 }
    }

    /// What `Authorization` says.
    pub(super) fn authorization(&self) -> Option<String> {
        let scheme = self.scheme.as_ref()?;
        Some(match &self.credentials {
            Some(credentials) => format!("{scheme} {credentials}"),
            None => scheme.to_string(),
        })
    }

    pub(super) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// As its owner gets it back.
    pub(super) fn config(&self, task: TaskId) -> PushConfig {
        let credentials = self.credentials.as_ref().map(Secret::new);
        PushConfig {
            id: Some(self.id.clone()),
            task: Some(task.to_string().into()),
            url: self.url.clone(),
            token: self.token.as_ref().map(Secret::new),
            authentication: self.scheme.clone().map(|scheme| Authentication { scheme, credentials }),
        }
    }
}

pub(super) struct Configs<'a> {
    records: &'a Arc<dyn Records>,
    keys: &'a Keyring,
    settings: Arc<Settings>,
    now: Time,
}

fn key(task: TaskId, id: &str) -> String {
    format!("{task}/{id}")
}

impl<'a> Configs<'a> {
    pub(super) fn of(hub: &'a Hub) -> Configs<'a> {
        Configs { records: hub.store_records(), keys: hub.keys(), settings: hub.settings().clone(), now: hub.now() }
    }

    /// Writes one that was not there, as its owner's: what they may keep is bounded; the revision it has now.
    pub(super) async fn add(&self, task: TaskId, kept: &Kept) -> Result<u64, Fault> {
        let (key, sealed) = self.sealed(task, kept)?;
        let room = Room {
            of: "webhooks",
            owner: kept.by.owner().to_string().into(),
            most: MOST,
            bytes: self.settings.bytes_of(&kept.by.owner()),
            beside: 0,
        };
        let item = Item::new(key, sealed, Some(self.now.after(KEPT)));
        Ok(self.records.put_within(room, KIND, item, self.now).await?)
    }

    /// Writes what was asked for, whatever was there; the revision it has now.
    pub(super) async fn put(&self, task: TaskId, kept: &Kept) -> Result<u64, Fault> {
        Ok(self.write(task, kept, Expect::Anything).await??)
    }

    /// Writes how far a webhook was told; `None` when what is written is not `revision` any more: it was deleted or replaced.
    pub(super) async fn advance(&self, task: TaskId, kept: &Kept, revision: u64) -> Result<Option<u64>, Fault> {
        match self.write(task, kept, Expect::Revision(revision)).await? {
            Ok(revision) => Ok(Some(revision)),
            Err(StoreFault::Moved { .. }) => Ok(None),
            Err(fault) => Err(fault.into()),
        }
    }

    async fn write(&self, task: TaskId, kept: &Kept, expect: Expect) -> Result<Result<u64, StoreFault>, Fault> {
        let (key, sealed) = self.sealed(task, kept)?;
        let until = Some(self.now.after(KEPT));
        Ok(self.records.put(KIND, &key, sealed, until, expect, self.now).await)
    }

    fn sealed(&self, task: TaskId, kept: &Kept) -> Result<(String, Bytes), Fault> {
        let (key, plain) = (key(task, &kept.id), serde_json::to_vec(kept).map_err(Fault::internal)?);
        let sealed = self.keys.seal(KIND, key.as_bytes(), &plain).map_err(Fault::internal)?;
        Ok((key, sealed.into()))
    }

    /// The revision that is written now; `None` when it was deleted.
    pub(super) async fn revision(&self, task: TaskId, id: &str) -> Result<Option<u64>, Fault> {
        Ok(self.records.get(KIND, &key(task, id), self.now).await?.map(|item| item.revision))
    }

    fn open(&self, key: &str, sealed: &[u8]) -> Result<Kept, Fault> {
        let plain = self.keys.open(KIND, key.as_bytes(), sealed).map_err(Fault::internal)?;
        serde_json::from_slice(&plain).map_err(Fault::internal)
    }

    pub(super) async fn delete(&self, task: TaskId, id: &str) -> Result<(), Fault> {
        self.records.take(KIND, &key(task, id), self.now).await?;
        Ok(())
    }

    /// All of one task, in the order of their ids.
    pub(super) async fn list(&self, task: TaskId) -> Result<Vec<Kept>, Fault> {
        let prefix = format!("{task}/");
        let page = self.records.list(KIND, Some(&prefix), PAGE, self.now).await?;
        let theirs = page.into_iter().take_while(|item| item.key.starts_with(&prefix));
        theirs.map(|item| self.open(&item.key, &item.value)).collect()
    }

    /// All that have something left to tell, and their revisions.
    pub(super) async fn all(&self) -> Result<Vec<(TaskId, Kept, u64)>, Fault> {
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.records.list(KIND, after.as_deref(), PAGE, self.now).await?;
            let last = page.len() < PAGE;
            for item in page {
                let task = item.key.split('/').next().and_then(|task| task.parse().ok());
                match (task, self.open(&item.key, &item.value)) {
                    (Some(task), Ok(kept)) if kept.stands == Stands::Telling => found.push((task, kept, item.revision)),
                    (Some(_), Ok(_)) => {}
                    (None, _) | (_, Err(_)) => {
                        tracing::warn!(event = "webhook_unreadable", "a stored webhook cannot be read")
                    }
                }
                after = Some(item.key.to_string());
            }
            if last {
                return Ok(found);
            }
        }
    }
}
