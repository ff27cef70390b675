//! Task supervisor: the only place that starts background work. All of it is counted and awaited when the hub stops. A panic ends its own
//! task only; [`interlingua_telemetry::panics`] logs where it happened.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Runs background work. A clone is the same supervisor.
#[derive(Debug, Clone)]
pub struct Supervisor {
    tracker: TaskTracker,
    stopping: CancellationToken,
    runtime: Handle,
}

impl Supervisor {
    /// Must be called within a runtime.
    pub fn new() -> Supervisor {
        Supervisor { tracker: TaskTracker::new(), stopping: CancellationToken::new(), runtime: Handle::current() }
    }

    /// Runs to its end; the hub waits for it when it stops.
    pub fn run(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn_on(work, &self.runtime);
    }

    /// Runs until the hub stops.
    pub fn run_until_stop(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        self.run(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Cancelled when everything is asked to end.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// How many pieces of background work are running.
    pub fn count(&self) -> usize {
        self.tracker.len()
    }

    /// Asks everything to end and waits for it, at most this long. True when all of it did.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.stopping.cancel();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}

/// One round of periodic work: a panic ends this round only, and the next one runs. What it leaves half done is behind locks that are used
/// even when poisoned, or in the store, whose changes are atomic.
pub async fn round(what: &'static str, work: impl Future<Output = ()>) {
    if AssertUnwindSafe(work).catch_unwind().await.is_err() {
        tracing::error!(event = "round_panicked", what, "a background job panicked; its next run is not affected");
    }
}

impl Default for Supervisor {
    fn default() -> Self {
        Supervisor::new()
    }
}
