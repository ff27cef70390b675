//! Retention job: removes old data at intervals. Age is computed from the clock, and a clock that is wrong for one start would remove
//! everything. So if the clock is far past the newest record at a start, nothing is removed by age until the clock has said so for a day,
//! through restarts too, or until it is back, or until the operator allows such a leap (`retention.clock_leap`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use interlingua_model::ports::{Changed, Expect, Retention, Store, StoreFault};
use interlingua_model::{Log, Time, journal};
use serde::{Deserialize, Serialize};

use interlingua_hub::Hub;
use interlingua_hub::supervisor::round;

/// How often the rules are applied.
const EVERY: Duration = Duration::from_secs(600);
/// How long a clock that leapt is doubted.
const DOUBT: Duration = Duration::from_secs(24 * 3600);
/// Where the doubt is kept.
const KIND: &str = "retention";
const LEAP: &str = "leap";

/// What is kept, and for how long.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) records: Retention,
    /// Bytes of artifacts and uploads together.
    pub(super) artifacts: u64,
    /// How far the clock may be past the newest record at a start.
    pub(super) clock_leap: Duration,
}

/// That the clock stood far past the newest record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Leap {
    /// What the clock said then.
    at: Time,
    /// The newest record.
    newest: Time,
}

/// What a clock says of a leap that was noticed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    Goes,
    Stays,
}

impl Leap {
    /// The clock is believed when it is back where it was, when it has gone on for a day, or when such a leap is allowed.
    fn doubt(self, now: Time, allowed: Duration) -> Doubt {
        let is_back = now < self.at;
        let is_long = now >= self.at.after(DOUBT);
        if is_back || is_long || self.at.until(self.newest) <= allowed { Doubt::Goes } else { Doubt::Stays }
    }

    fn noticed(now: Time, newest: Option<Time>, allowed: Duration) -> Option<Leap> {
        newest.map(|newest| Leap { at: now, newest }).filter(|leap| leap.at.until(leap.newest) > allowed)
    }
}

/// When something was written last: a change of a task, or a page of the audit. Asked before the hub writes anything.
pub(super) async fn newest(store: &Store) -> Result<Option<Time>, StoreFault> {
    let changed = store.journal.changed(Changed { limit: 1, ..Changed::default() }).await?;
    let last = store.journal.last(Log::Audit).await?;
    let page = store.journal.read(Log::Audit, last.saturating_sub(1), 1).await?;
    Ok(changed.first().map(|row| row.updated).into_iter().chain(page.first().map(|page| page.at)).max())
}

pub(super) struct Purging {
    hub: Arc<Hub>,
    rules: Arc<ArcSwap<Rules>>,
    data: PathBuf,
    leap: Option<Leap>,
}

impl Purging {
    pub(super) async fn start(
        hub: &Arc<Hub>,
        rules: Arc<ArcSwap<Rules>>,
        newest: Option<Time>,
        data: &Path,
    ) -> Result<Purging, StoreFault> {
        let (now, allowed) = (hub.now(), rules.load().clock_leap);
        let known = hub.records(KIND).get(LEAP).await?;
        let known = known.map(|item| journal::from_bytes(&item.value));
        let (leap, is_new) = match known {
            Some(Ok(leap)) => (Some(leap), false),
            None => (Leap::noticed(now, newest, allowed), true),
            // There was a doubt: it begins anew.
            Some(Err(error)) => {
                tracing::error!(event = "clock_leap_unreadable", %error, "the record of a clock leap cannot be read; nothing is removed by age for a day");
                (Some(Leap { at: now, newest: Time(0) }), true)
            }
        };
        let purging = Purging { hub: hub.clone(), rules, data: data.to_owned(), leap };
        if let (true, Some(leap)) = (is_new, purging.leap)
            && let Ok(bytes) = journal::to_bytes(&leap)
        {
            hub.records(KIND).put(LEAP, bytes, None, Expect::Anything).await?;
        }
        Ok(purging)
    }

    pub(super) async fn run(mut self) {
        let mut ticks = tokio::time::interval(EVERY);
        loop {
            ticks.tick().await;
            round("retention", async {
                if let Err(error) = self.apply().await {
                    tracing::error!(event = "retention_failed", %error, "retention rules could not be applied");
                }
            })
            .await;
        }
    }

    async fn apply(&mut self) -> Result<(), StoreFault> {
        let (kept, now) = (self.rules.load_full(), self.hub.now());
        self.settle(now, kept.clock_leap).await?;
        let store = self.hub.store();
        if let Some(Leap { at, newest }) = self.leap {
            tracing::warn!(
                event = "clock_leap",
                clock = %at,
                %newest,
                "the clock is far past the newest record; nothing is removed by age until the clock has run on for a day"
            );
            // Counts and bytes hold all the same. At the beginning of time nothing is old.
            store.journal.retain(kept.records, Time(0)).await?;
            store.blobs.retain(kept.artifacts).await?;
            return Ok(());
        }
        store.journal.retain(kept.records, now).await?;
        store.records.expire(now).await?;
        store.blobs.retain(kept.artifacts).await?;
        interlingua_agents::tidy(&self.hub, &self.data).await;
        Ok(())
    }

    async fn settle(&mut self, now: Time, allowed: Duration) -> Result<(), StoreFault> {
        let Some(leap) = self.leap else { return Ok(()) };
        match leap.doubt(now, allowed) {
            Doubt::Stays => {}
            Doubt::Goes => {
                self.hub.records(KIND).take(LEAP).await?;
                self.leap = None;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use interlingua_keys::Keyring;
    use interlingua_model::Digest;
    use interlingua_model::ports::{BlobInfo, BlobWriter, Blobs, Pending};
    use interlingua_store_sqlite::{Embedded, Options};
    use tokio::sync::Notify;

    use super::*;
    use interlingua_hub::Settings;
    use interlingua_hub::admission::AdmissionLimits;

    /// Panics when it is first tidied up.
    #[derive(Default)]
    struct Brittle {
        rounds: AtomicUsize,
        again: Notify,
    }

    impl Blobs for Brittle {
        fn create(&self) -> Pending<'_, Box<dyn BlobWriter>> {
            Box::pin(std::future::pending())
        }
        fn info(&self, _: Digest) -> Pending<'_, Option<BlobInfo>> {
            Box::pin(std::future::pending())
        }
        fn read(&self, _: Digest, _: u64, _: usize) -> Pending<'_, Bytes> {
            Box::pin(std::future::pending())
        }
        fn retain(&self, _: u64) -> Pending<'_, u64> {
            assert_ne!(self.rounds.fetch_add(1, Ordering::Relaxed), 0, "the first round panics");
            self.again.notify_one();
            Box::pin(std::future::ready(Ok(0)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn h_19_a_round_that_panics_is_followed_by_the_next() {
        let dir = tempfile::tempdir().expect("a directory");
        let (store, blobs) =
            (Embedded::open(dir.path(), Options::default()).expect("opens"), Arc::new(Brittle::default()));
        let ports = Store { blobs: blobs.clone(), ..store.ports() };
        let keys = Arc::new(Keyring::from_text(&"07".repeat(32)).expect("a key"));
        let hub = Hub::new("test".into(), ports, keys, AdmissionLimits::default(), Settings::default());
        let records = Retention {
            tasks: DAY,
            tasks_count: 1,
            audit: DAY,
            audit_count: 1,
            audit_bytes: 1 << 20,
            topics: DAY,
            topics_count: 1,
        };
        let rules = Arc::new(ArcSwap::from_pointee(Rules { records, artifacts: 1 << 20, clock_leap: DAY }));
        let purging = Purging::start(&hub, rules, None, dir.path()).await.expect("starts");
        tokio::select! {
            () = purging.run() => panic!("it runs on"),
            () = blobs.again.notified() => {}
        }
    }

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn a_clock_that_leaps_is_believed_after_a_day_when_it_is_back_or_when_it_may() {
        let newest = Time(1_000_000);
        assert_eq!(Leap::noticed(newest.after(DAY / 2), Some(newest), DAY), None, "a hub that was off for some hours");
        assert_eq!(Leap::noticed(newest, None, DAY), None, "a new hub");
        let at = newest.after(DAY * 200);
        let leap = Leap::noticed(at, Some(newest), DAY).expect("a leap");
        assert_eq!(leap.doubt(at.after(DAY / 2), DAY), Doubt::Stays);
        assert_eq!(leap.doubt(at.after(DAY), DAY), Doubt::Goes);
        assert_eq!(leap.doubt(newest.after(DAY / 24), DAY), Doubt::Goes, "it is back");
        assert_eq!(leap.doubt(at, DAY * 365), Doubt::Goes, "it may");
    }
}
