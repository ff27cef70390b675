//! Stored sessions, if the definition enables them: sealed in the hub's records, until they have been idle long enough.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::Time;
use interlingua_model::ports::Expect;
use serde::{Deserialize, Serialize};

use super::{Key, Seen, Stands};
use crate::browser::host::BrowserHost;
use crate::browser::state::{BrowserState, MAX_BYTES};

/// The kind of the records.
pub const KIND: &str = "site-session";
/// How many are looked at for a list.
const MAX_LISTED: usize = 1_000;

#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) key: Key,
    pub(crate) begun: Time,
    used: Time,
    pub(crate) state: BrowserState,
}

/// Writes a session down. One that is too large is not, and says so in the log.
pub(crate) async fn write(keeper: &dyn BrowserHost, key: &Key, begun: Time, state: BrowserState, keep: Duration) {
    let (id, now) = (key.id(), keeper.now());
    let kept = Kept { key: key.clone(), begun, used: now, state };
    let Some(records) = keeper.records() else { return };
    let plain = serde_json::to_vec(&kept).unwrap_or_default();
    let sealed =
        Some(plain).filter(|plain| plain.len() <= MAX_BYTES).and_then(|plain| keeper.seal(id.as_bytes(), &plain));
    let Some(sealed) = sealed else {
        tracing::warn!(event = "site_session_not_stored", site = %key.site, session = %key.name, "a login session is too large or cannot be encrypted");
        return;
    };
    let put = records.put(KIND, &id, Bytes::from(sealed), Some(now.after(keep)), Expect::Anything, now);
    if let Err(error) = put.await {
        tracing::warn!(event = "site_session_not_stored", site = %key.site, session = %key.name, %error, "a login session could not be stored");
    }
}

/// What was written down of it. What cannot be opened any more is not there.
pub(crate) async fn read(keeper: &dyn BrowserHost, key: &Key) -> Option<Kept> {
    let id = key.id();
    let item = keeper.records()?.get(KIND, &id, keeper.now()).await.ok()??;
    let kept: Kept = serde_json::from_slice(&keeper.unseal(id.as_bytes(), &item.value)?).ok()?;
    (kept.key == *key).then_some(kept)
}

pub(crate) async fn forget(keeper: &dyn BrowserHost, key: &Key) {
    let Some(records) = keeper.records() else { return };
    if let Err(error) = records.take(KIND, &key.id(), keeper.now()).await {
        tracing::warn!(event = "site_session_not_deleted", site = %key.site, session = %key.name, %error, "an ended login session could not be deleted");
    }
}

pub(crate) async fn all(keeper: &dyn BrowserHost) -> Vec<Seen> {
    let Some(records) = keeper.records() else { return Vec::new() };
    let listed = records.list(KIND, None, MAX_LISTED, keeper.now()).await.unwrap_or_default();
    let seen = listed.into_iter().filter_map(|item| {
        let kept: Kept = serde_json::from_slice(&keeper.unseal(item.key.as_bytes(), &item.value)?).ok()?;
        let until = item.expires.unwrap_or(kept.used);
        Some(Seen { key: kept.key, stands: Stands::Kept, begun: kept.begun, used: kept.used, until, calls: 0 })
    });
    seen.collect()
}
