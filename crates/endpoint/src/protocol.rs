//! A protocol as the hub's program sees it, whichever it is. The table of protocols is a list of these.

use std::fmt::Debug;
use std::future::ready;

use axum::Router;
use futures_util::future::BoxFuture;
use interlingua_model::{Fault, Time};

/// Kind and purpose of records whose values are sealed with the hub's keys, under the key they are kept by.
pub type SealedRecords = &'static [(&'static str, &'static str)];

pub trait Protocol: Send + Sync + Debug {
    /// What metrics call it.
    fn name(&self) -> &'static str;

    /// Its paths.
    fn routes(&self) -> Router;

    fn sealed_records(&self) -> SealedRecords {
        &[]
    }

    /// Begins what it does by itself; before peers are registered.
    fn start(&self) {}

    /// Goes on with what it was doing before a restart; after unfinished tasks were taken up.
    fn resume(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(ready(Ok(())))
    }

    /// Seals what older keys sealed by the newest, where that is not in [`sealed_records`](Self::sealed_records); how many
    /// values that were.
    fn reseal(&self, _now: Time) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(ready(Ok(0)))
    }
}
