//! Retirement of old keys: removes them from the ring after everything they sealed is sealed by the newest key, in the background, while
//! the hub runs.
//!
//! The request is in a record until it is done, so a hub that was killed resumes it. A key is removed when a whole pass has found nothing
//! under it. Values that were handed out and are not stored (tokens of conversations, receipts, cursors) become invalid with their key.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use interlingua_keys::{KeyFault, KeyInfo, Keyring, Wrapping, sealed_by};
use interlingua_model::ports::{Counts, Expect};
use interlingua_model::{Fault, FaultKind};

use super::keys::KeyDesk;
use crate::endpoints::sealed_records;
use interlingua_access::Access;
use interlingua_endpoint::ports::{self, HeldKeys, Renewed};
use interlingua_endpoint::protocol::Protocol;
use interlingua_hub::Hub;

const KIND: &str = "keys";
const MARK: &str = "retiring";
/// How many records are looked at together.
const PAGE: usize = 500;
/// Keys may be made anew meanwhile, and values written: after so many passes it is given up until the next start.
const PASSES: usize = 16;

/// The keys of a hub, and everything that they seal.
#[derive(Debug, Clone)]
pub(super) struct HubKeys {
    pub(super) hub: Arc<Hub>,
    pub(super) access: Arc<Access>,
    pub(super) desk: Arc<KeyDesk>,
    /// Those that keep something sealed.
    pub(super) protocols: Vec<Arc<dyn Protocol>>,
}

impl ports::HubKeys for HubKeys {
    fn held(&self) -> HeldKeys {
        self.desk.held()
    }

    fn counts(&self) -> BoxFuture<'_, Result<Counts, Fault>> {
        Box::pin(counts(self))
    }

    fn retire(&self) -> BoxFuture<'_, Result<HeldKeys, Fault>> {
        Box::pin(retire(self))
    }

    fn rotate(&self, what: Renewed) -> BoxFuture<'_, Result<HeldKeys, Fault>> {
        Box::pin(async move {
            match what {
                Renewed::Key => self.desk.rotate(&self.hub).await,
                Renewed::OwnerToken => self.desk.rotate_owner(&self.access).await,
                Renewed::AuditKey => self.desk.rotate_audit(&self.hub).await,
            }
        })
    }
}

/// Whether an earlier run of this hub had begun; then it goes on.
pub(super) async fn resume(keys: &HubKeys) -> Result<(), Fault> {
    if is_marked(&keys.hub).await? {
        tracing::info!(event = "keys_retiring", "the deletion of old keys continues");
        begin(keys);
    }
    Ok(())
}

/// Begins to take out all keys but the newest. It is done when they are not listed any more.
async fn retire(keys: &HubKeys) -> Result<HeldKeys, Fault> {
    if keys.desk.held().ring.len() < 2 {
        return Err(Fault::caller(
            FaultKind::Conflict,
            "there is no old key to delete: `interlingua keys rotate` makes a new one",
        ));
    }
    keys.hub.records(KIND).put(MARK, Bytes::from_static(b"1"), None, Expect::Anything).await?;
    begin(keys);
    Ok(keys.desk.held())
}

fn begin(keys: &HubKeys) {
    if !keys.desk.retiring.swap(true, Ordering::AcqRel) {
        keys.hub.spawn_until_stop(work(keys.clone()));
    }
}

async fn work(keys: HubKeys) {
    loop {
        let done = take_out(&keys).await;
        keys.desk.retiring.store(false, Ordering::Release);
        match done {
            Ok(()) => tracing::info!(event = "keys_retired", "all keys but the newest are deleted"),
            Err(error) => {
                return tracing::error!(event = "keys_not_retired", %error, "old keys could not be deleted; the next start tries again");
            }
        }
        // Who asked again just before the end has left a mark, and nobody who sees it.
        if !is_marked(&keys.hub).await.unwrap_or(false) || keys.desk.retiring.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}

async fn is_marked(hub: &Hub) -> Result<bool, Fault> {
    Ok(hub.records(KIND).get(MARK).await?.is_some())
}

async fn take_out(keys: &HubKeys) -> Result<(), Fault> {
    let (hub, desk) = (&keys.hub, &keys.desk);
    for _ in 0..PASSES {
        if pass(keys).await? > 0 {
            continue;
        }
        let _turn = desk.turn.acquire().await.map_err(Fault::internal)?;
        // Nobody makes a new key now; and what somebody wrote since is looked at too.
        if pass(keys).await? == 0 {
            desk.keep_newest().await?;
            hub.records(KIND).take(MARK).await?;
            return Ok(());
        }
    }
    Err(Fault::hub(FaultKind::Busy, "keys change faster than values can be sealed"))
}

/// Seals everything that older keys sealed; how much that was.
async fn pass(keys: &HubKeys) -> Result<u64, Fault> {
    let (hub, mut done) = (&keys.hub, 0);
    for protocol in &keys.protocols {
        done += protocol.reseal(hub.now()).await?;
    }
    for (kind, purpose) in sealed_records(&keys.protocols) {
        done += reseal_records(hub, kind, purpose).await?;
    }
    Ok(done + keys.desk.at_rest.reseal().await?)
}

async fn reseal_records(hub: &Hub, kind: &'static str, purpose: &'static str) -> Result<u64, Fault> {
    let (mut after, mut done) = (None::<String>, 0);
    loop {
        let page = hub.records(kind).list(after.as_deref(), PAGE).await?;
        for item in page.iter().filter(|item| hub.keys().is_stale(&item.value)) {
            // What does not open is lost already, whichever keys are kept.
            let Ok(plain) = hub.keys().open(purpose, item.key.as_bytes(), &item.value) else { continue };
            let sealed = hub.keys().seal(purpose, item.key.as_bytes(), &plain).map_err(Fault::internal)?;
            done += u64::from(hub.records(kind).rewrite(&item.key, sealed.into(), item.revision).await?);
        }
        after = page.last().map(|item| item.key.to_string());
        if page.len() < PAGE {
            return Ok(done);
        }
    }
}

/// How many values that are kept each key seals.
async fn counts(keys: &HubKeys) -> Result<Counts, Fault> {
    let hub = &keys.hub;
    let mut counts = keys.desk.at_rest.counts().await?;
    for (kind, _) in sealed_records(&keys.protocols) {
        let mut after: Option<String> = None;
        loop {
            let page = hub.records(kind).list(after.as_deref(), PAGE).await?;
            for id in page.iter().filter_map(|item| sealed_by(&item.value)) {
                *counts.entry(id).or_default() += 1;
            }
            after = page.last().map(|item| item.key.to_string());
            if page.len() < PAGE {
                break;
            }
        }
    }
    Ok(counts)
}

impl KeyDesk {
    /// Whoever holds the turn calls this.
    async fn keep_newest(&self) -> Result<(), Fault> {
        let (data, outer, newest) = (self.data.clone(), self.outer.load_full(), self.ring.keys().into_iter().next());
        let kept = tokio::task::spawn_blocking(move || keep_newest(&data, outer.as_deref(), newest.as_ref()));
        match kept.await.map_err(Fault::internal)?.map_err(Fault::internal)? {
            Some(ring) => {
                self.keep_ring().await?;
                self.ring.replace(&ring);
            }
            None => return Err(Fault::hub(FaultKind::Conflict, "the file of keys was changed by hand: reload first")),
        }
        Ok(())
    }
}

/// `None`: somebody put another key into the file, and it is not in use yet.
fn keep_newest(data: &Path, outer: Option<&Wrapping>, newest: Option<&KeyInfo>) -> Result<Option<Keyring>, KeyFault> {
    let there = match outer {
        Some(outer) => outer.open(data)?.ring,
        None => Keyring::from_directory(data)?,
    };
    if there.keys().first() != newest {
        return Ok(None);
    }
    let kept = match outer {
        Some(outer) => outer.keep_newest(data),
        None => Keyring::keep_newest(data),
    };
    kept.map(Some)
}
