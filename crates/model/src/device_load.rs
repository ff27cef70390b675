//! What a device last reported of its platform and load, in the terms that a scheduler compares. Anything that it did not report, or
//! reported as nonsense, is unknown.

use std::time::Duration;

use crate::card::Card;
use crate::id::{Text, Time};
use crate::json::{Json, Tree};

/// How long a report counts when the device does not say how often it reports.
const INTERVAL: Duration = Duration::from_secs(300);
/// No report counts for longer than this, whatever the device says.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// More than any machine has, in GiB: a larger number is not believed.
const MOST_MEMORY: f64 = 1_048_576.0;

/// The last report of a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceLoad {
    /// The operating system, in lower case.
    pub platform: Option<Text>,
    /// How busy its processors are, 0 to 100.
    pub cpu_percent: Option<u8>,
    /// Free memory in MiB.
    pub free_memory: Option<u64>,
    /// Does it have a graphics processor? `None`: it did not say.
    pub gpu: Option<bool>,
    /// How old the report is.
    pub age: Duration,
    /// How often the device reports.
    pub interval: Duration,
}

impl DeviceLoad {
    /// What the card of a device says of it at this time.
    pub fn of(card: &Card, now: Time) -> DeviceLoad {
        let interval = number(card.telemetry.as_ref(), "interval_seconds").filter(|seconds| *seconds > 0.0);
        let interval = interval.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(INTERVAL);
        let told = |key: &str| card.telemetry.as_ref().and_then(|told| told.get(key));
        DeviceLoad {
            platform: told("platform").and_then(Tree::as_str).map(|platform| platform.to_lowercase().into()),
            cpu_percent: number(card.telemetry.as_ref(), "cpu_percent").map(|percent| percent.min(100.0) as u8),
            free_memory: number(card.telemetry.as_ref(), "memory_available_gb")
                .filter(|gib| *gib <= MOST_MEMORY)
                .map(|gib| (gib * 1024.0) as u64),
            gpu: told("gpu").and_then(has_gpu),
            age: now.until(card.seen),
            interval: interval.min(LONGEST),
        }
    }

    /// Is the report no older than the interval of the device? An older one says nothing of the load now.
    pub fn is_fresh(&self) -> bool {
        self.age <= self.interval
    }
}

/// A number that is not negative.
fn number(told: Option<&Json>, key: &str) -> Option<f64> {
    told?.get(key)?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

/// A list of names, one name, or yes and no.
fn has_gpu(told: &Tree) -> Option<bool> {
    match told {
        Tree::Array(names) => Some(!names.is_empty()),
        Tree::String(name) => Some(!name.is_empty()),
        Tree::Bool(has) => Some(*has),
        Tree::Null | Tree::Number(_) | Tree::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::card::{Health, RouteClass};

    fn load(telemetry: Tree, now: u64) -> DeviceLoad {
        let card = Card {
            peer: "box".into(),
            title: "box".into(),
            description: "".into(),
            version: "1".into(),
            class: RouteClass::Device,
            provider: None,
            skills: Vec::new(),
            resources: Vec::new(),
            sources: Vec::new(),
            health: Health::Up,
            telemetry: Some(Json::from_tree(telemetry)),
            seen: Time(1_000),
            raw: None,
        };
        DeviceLoad::of(&card, Time(now))
    }

    #[test]
    fn a_report_is_read_with_its_age() {
        let told = json!({"platform": "Linux", "cpu_percent": 41.7, "memory_available_gb": 3.5, "gpu": ["a"]});
        let load = load(told, 61_000);
        assert_eq!((load.platform.as_deref(), load.cpu_percent), (Some("linux"), Some(41)));
        assert_eq!((load.free_memory, load.gpu), (Some(3_584), Some(true)));
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
        assert_eq!((load.platform, load.cpu_percent, load.free_memory, load.gpu), (None, None, None, None));
        assert_eq!((load.age, load.interval), (Duration::ZERO, INTERVAL));
        let list = json!({"gpu": [], "cpu_percent": "41", "memory_available_gb": null});
        assert_eq!(self::load(list, 0).gpu, Some(false));
    }
}
