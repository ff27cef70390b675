//! Waits for the store. A store that is full or away comes back: what must be written waits for it, and is not given up.

use std::time::Duration;

use interlingua_model::ports::{Pending, StoreFault};

/// How long it takes until the store is tried again.
pub const STORE_WAIT: Duration = Duration::from_secs(1);

/// Attempts the same again until the store is neither full nor away.
pub async fn until_stored<'a, T>(mut attempt: impl FnMut() -> Pending<'a, T>) -> Result<T, StoreFault> {
    loop {
        match attempt().await {
            Err(fault) if fault.passes() => tokio::time::sleep(STORE_WAIT).await,
            done => return done,
        }
    }
}
