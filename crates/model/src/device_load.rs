//! What a scheduler compares of a device: its platform and its load at the last report, and how old that is. Anything that it did not
//! report, or that [`DeviceState`] refused, is unknown.

use std::time::Duration;

use crate::device::DeviceState;
use crate::id::{Text, Time};

/// How long a report counts when the device does not say how often it reports.
const INTERVAL: Duration = Duration::from_secs(300);
/// No report counts for longer than this, whatever the device says.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// More than any machine has, in GiB: a larger number is not believed.
const MOST_MEMORY: f64 = 1_048_576.0;

/// How a device says how often it reports.
const INTERVAL_SECONDS: &str = "interval_seconds";

/// The last report of a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceLoad {
    /// The operating system, in lower case.
    pub platform: Option<Text>,
    /// How busy its processors are, 0 to 100.
    pub cpu_percent: Option<u8>,
    /// Free memory in MiB.
    pub free_memory: Option<u64>,
    /// Did it name a graphics processor?
    pub has_gpu: bool,
    /// How old the report is.
    pub age: Duration,
    /// How often the device reports.
    pub interval: Duration,
}

impl DeviceLoad {
    /// What a device reported at a time, as it is to be compared now.
    pub fn of(state: &DeviceState, reported: Time, now: Time) -> DeviceLoad {
        let interval = state.others.iter().find(|(name, _)| &**name == INTERVAL_SECONDS).map(|(_, seconds)| *seconds);
        let interval = interval.filter(|seconds| *seconds > 0.0);
        let interval = interval.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(INTERVAL);
        DeviceLoad {
            platform: state.platform.as_ref().map(|platform| platform.to_lowercase().into()),
            cpu_percent: state.cpu_percent.map(|percent| percent.clamp(0.0, 100.0) as u8),
            free_memory: state
                .memory_available_gb
                .filter(|gib| (0.0..=MOST_MEMORY).contains(gib))
                .map(|gib| (gib * 1024.0) as u64),
            has_gpu: !state.gpu.is_empty(),
            age: now.until(reported),
            interval: interval.min(LONGEST),
        }
    }

    /// Is the report no older than the interval of the device? An older one says nothing of the load now.
    pub fn is_fresh(&self) -> bool {
        self.age <= self.interval
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::Tree;

    fn load(report: Tree, now: u64) -> DeviceLoad {
        DeviceLoad::of(&DeviceState::read(&report.into()).state, Time(1_000), Time(now))
    }

    #[test]
    fn a_report_is_read_with_its_age() {
        let told = json!({"platform": "Linux", "cpu_percent": 41.7, "memory_available_gb": 3.5, "gpu": ["a"]});
        let load = load(told, 61_000);
        assert_eq!((load.platform.as_deref(), load.cpu_percent), (Some("linux"), Some(41)));
        assert_eq!((load.free_memory, load.has_gpu), (Some(3_584), true));
        assert_eq!((load.age, load.is_fresh()), (Duration::from_secs(60), true));
    }

    #[test]
    fn a_report_is_too_old_after_the_interval_that_the_device_says() {
        assert!(!load(json!({}), 302_000).is_fresh());
        assert!(load(json!({"interval_seconds": 600}), 302_000).is_fresh());
        assert!(!load(json!({"interval_seconds": 60}), 62_000).is_fresh());
        assert!(!load(json!({"interval_seconds": 1e300}), 90_000_000_000).is_fresh(), "no report counts for ever");
    }

    #[test]
    fn attack_nonsense_is_unknown() {
        let told = json!({"platform": 7, "cpu_percent": -1, "memory_available_gb": 1e300, "gpu": {"a": 1},
            "interval_seconds": -5});
        let load = load(told, 0);
        assert_eq!((load.platform, load.cpu_percent, load.free_memory, load.has_gpu), (None, None, None, false));
        assert_eq!((load.age, load.interval), (Duration::ZERO, INTERVAL));
        let list = json!({"gpu": [], "cpu_percent": "41", "memory_available_gb": null});
        assert!(!self::load(list, 0).has_gpu);
    }
}
