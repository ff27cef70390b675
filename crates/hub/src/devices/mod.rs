//! Devices: what each of them is and last reported, and how it was in the last day.
//!
//! The protocol that devices speak reports here; lists, metrics and the command line read. Reports are averaged into a sample for each
//! minute ([`sample`]), kept in a bounded ring for each device ([`history`]), and written as one record a minute for all of them
//! ([`record`]), so that a restart loses at most the last minute. Deliberately absent: who may see a device. That is decided by
//! [`crate::visible`], for its telemetry as for its skills.

mod history;
mod record;
mod sample;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use interlingua_model::ports::{Expect, StoreFault};
use interlingua_model::{Card, DeviceLoad, DeviceReport, DeviceState, PeerId, Text, Time};
use tokio_util::sync::CancellationToken;

use super::Hub;
use history::{Histories, Tag};
use interlingua_telemetry::devices::DeviceMeters;
use sample::MINUTE;

pub use history::DAY;
pub use sample::Sample;

/// Records of this kind are minutes of all devices.
const KIND: &str = "device_minute";
/// How long they are stored.
const STORED: Duration = Duration::from_secs(24 * 3600);
/// How many are read at once when the hub starts.
const PAGE: usize = 32;

/// What is known of a device beside its card.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// What it calls itself.
    pub id: Text,
    /// Whose it is.
    pub owner: Text,
    /// Which form of its protocol it speaks.
    pub profile: &'static str,
    /// When it came in.
    pub joined: Time,
    /// It left, and its place is held for it until then.
    pub held_until: Option<Time>,
    /// What it last reported, and when.
    pub report: DeviceReport,
    /// When that was; `None` if it never did.
    pub reported: Option<Time>,
}

/// The devices of a hub.
#[derive(Debug, Default)]
pub struct Devices {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    devices: BTreeMap<PeerId, Device>,
    histories: Histories,
}

impl Devices {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A device came in, came back or left, or what is said of it changed. Its last report stays what it was.
    pub fn put(&self, peer: &PeerId, device: Device) {
        let mut known = self.known();
        let before = known.devices.remove(peer).filter(|before| before.owner == device.owner);
        let (report, reported) = match before {
            Some(before) => (before.report, before.reported),
            None => (device.report, device.reported),
        };
        known.devices.insert(peer.clone(), Device { report, reported, ..device });
    }

    /// It did not come back. Its history stays for when it does.
    pub fn remove(&self, peer: &PeerId) {
        self.known().devices.remove(peer);
    }

    /// A device reported how it is; one that is not known here says nothing.
    pub fn report(&self, peer: &PeerId, report: &DeviceReport, now: Time, meters: &DeviceMeters) {
        let mut known = self.known();
        let Known { devices, histories } = &mut *known;
        let Some(device) = devices.get_mut(peer) else { return };
        device.report.clone_from(report);
        device.reported = Some(now);
        histories.add(Tag::of(&device.owner, peer.as_str()), &report.state, now);
        meters.reports.increment(1);
        meters.fields_refused.increment(report.refused.len() as u64);
    }

    fn restore(&self, samples: impl Iterator<Item = (Tag, Sample)>) {
        let mut known = self.known();
        samples.for_each(|(tag, sample)| known.histories.restore(tag, sample));
    }

    /// What is known of this one.
    pub fn get(&self, peer: &PeerId) -> Option<Device> {
        self.known().devices.get(peer).cloned()
    }

    /// Its samples from this time on, oldest first. Minutes without a report are not there.
    pub fn since(&self, peer: &PeerId, from: Time) -> Vec<Sample> {
        let known = self.known();
        let Some(device) = known.devices.get(peer) else { return Vec::new() };
        known.histories.since(Tag::of(&device.owner, peer.as_str()), sample::minute(from))
    }

    /// Updates the gauges.
    pub(super) fn observe(&self, meters: &DeviceMeters) {
        let known = self.known();
        let here = known.devices.values().filter(|device| device.held_until.is_none());
        let busy: Vec<f64> = here.clone().filter_map(|device| device.report.state.cpu_percent).collect();
        let free = here.clone().filter_map(|device| {
            let state = &device.report.state;
            Some(state.memory_available_gb? / state.memory_total_gb.filter(|total| *total > 0.0)?)
        });
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let connected = here.count();
        meters.connected.set(count(connected));
        meters.away.set(count(known.devices.len() - connected));
        meters.cpu_mean.set(if busy.is_empty() { 0.0 } else { busy.iter().sum::<f64>() / count(busy.len()) });
        meters.cpu_max.set(busy.iter().copied().fold(0.0, f64::max));
        meters.memory_free_min.set(free.fold(1.0, f64::min));
    }
}

impl Hub {
    /// The devices that are connected, or away and expected back.
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// What a scheduler compares of a peer. The card of a device changes with its load only now and then: the last report counts.
    pub fn device_load(&self, card: &Card) -> DeviceLoad {
        let now = self.now();
        match self.devices.get(&card.peer) {
            Some(device) => DeviceLoad::of(&device.report.state, device.reported.unwrap_or(device.joined), now),
            None => DeviceLoad::of(&DeviceState::of(card), card.seen, now),
        }
    }

    /// Restores the histories of devices, and from now on stores them every minute, and once more when the hub stops.
    pub fn keep_device_histories(self: &Arc<Self>) {
        let (hub, stopping) = (Arc::downgrade(self), self.stopping().clone());
        self.spawn(keep(hub, stopping));
    }

    async fn restore_device_histories(&self) -> Result<(), StoreFault> {
        let mut after: Option<Text> = None;
        loop {
            let page = self.records(KIND).list(after.as_deref(), PAGE).await?;
            self.devices.restore(page.iter().flat_map(|item| record::read(&item.value)));
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.key.clone()),
                Some(_) | None => return Ok(()),
            }
        }
    }

    /// One record for each minute. Their keys differ between hubs that share a store, and between starts of one.
    async fn store_device_minutes(&self, closed: Vec<(Tag, Sample)>) {
        let mut minutes: BTreeMap<u32, Vec<(Tag, Sample)>> = BTreeMap::new();
        for (tag, sample) in closed {
            minutes.entry(sample.minute).or_default().push((tag, sample));
        }
        for (minute, samples) in minutes {
            let (key, value) = (format!("{minute:08x}-{:032x}", self.start), record::write(minute, &samples));
            let expires = Some(Time(u64::from(minute) * MINUTE).after(STORED));
            let stored = self.records(KIND).put(&key, value.into(), expires, Expect::Anything).await;
            if let Err(fault) = stored {
                tracing::warn!(event = "device_history_not_stored", error = %fault, devices = samples.len(), "a minute of the devices' history could not be stored");
            }
        }
    }
}

async fn keep(hub: Weak<Hub>, stopping: CancellationToken) {
    if let Some(hub) = hub.upgrade()
        && let Err(fault) = hub.restore_device_histories().await
    {
        tracing::warn!(event = "device_history_not_read", error = %fault, "the devices' history of the last day could not be read");
    }
    loop {
        let Some(wait) = hub.upgrade().map(|hub| MINUTE - hub.now().0 % MINUTE) else { return };
        let over = tokio::select! {
            () = stopping.cancelled() => true,
            () = tokio::time::sleep(Duration::from_millis(wait)) => false,
        };
        let Some(hub) = hub.upgrade() else { return };
        let now = hub.now();
        let closed = {
            let mut known = hub.devices.known();
            if over { known.histories.close_all(now) } else { known.histories.close(now) }
        };
        hub.store_device_minutes(closed).await;
        if over {
            return;
        }
    }
}

/// No bytes make reading panic, and what is read is written as it was.
pub(crate) fn check_record(bytes: &[u8]) {
    let read = record::read(bytes);
    let Some(minute) = read.first().map(|(_, sample)| sample.minute) else { return };
    assert_eq!(record::read(&record::write(minute, &read)), read);
}
