//! JSON of devices and of how they were in the last day.

use std::collections::BTreeMap;

use interlingua_hub::devices::{Device, Sample};
use interlingua_model::{Card, DeviceState, Health, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::card::health;

/// A device: what it is, what it can do, and how it is now. What it did not report is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceView {
    /// Its name as a peer.
    pub name: String,
    /// What it calls itself.
    pub id: String,
    /// `starting`, `up`, `slow` or `down`.
    pub health: String,
    /// When it went down, for a device that is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_since: Option<String>,
    /// It left; until then it may come back and resume its sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_until: Option<String>,
    /// The form of its protocol that it speaks: `aip/ufo` or `aip-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// When it came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<String>,
    /// When it last reported its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<String>,
    /// How many of its skills you may see.
    pub skills: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    /// The model of its processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_total_gb: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_total_gb: Option<f64>,
    /// The models of its graphics processors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpu: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory_total_gb: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_status: Option<String>,
    /// What it says it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// How it is now.
    pub now: MeasuresView,
    /// Numbers of its own that have no meaning to the hub.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, f64>,
    /// Fields of its last report whose values were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

/// How a device is, as it last reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuresView {
    /// How busy its processors are, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// How many processes want to run, averaged over a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_available_gb: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_free_gb: Option<f64>,
    /// How busy its busiest graphics processor is, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_percent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory_free_gb: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_processes: Option<u32>,
}

/// How a device was: a sample for each minute in which it reported. A minute without a sample is a gap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TelemetryView {
    /// The name of the device as a peer.
    pub device: String,
    /// The first minute that was asked for.
    pub from: String,
    /// The time of the hub.
    pub until: String,
    /// Seconds from one sample to the next.
    pub step_seconds: u32,
    /// Oldest first. The last one may be of a minute that is not over.
    pub samples: Vec<SampleView>,
}

/// One minute: the means of what the device reported in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleView {
    /// When the minute began.
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_available_gb: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_free_gb: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_percent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_processes: Option<u32>,
    /// Bytes received in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_per_second: Option<f64>,
    /// Bytes sent in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_per_second: Option<f64>,
}

impl DeviceView {
    /// A device of another server is known by its card alone.
    pub fn new(card: &Card, device: Option<Device>, skills: usize) -> DeviceView {
        let down_since = match card.health {
            Health::Starting | Health::Up | Health::Slow => None,
            Health::Down { since, quarantined: _ } => Some(since.to_string()),
        };
        let state = device.as_ref().map_or_else(|| DeviceState::of(card), |device| device.report.state.clone());
        let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        let texts = |texts: &[Text]| texts.iter().map(ToString::to_string).collect();
        DeviceView {
            name: card.peer.to_string(),
            id: device.as_ref().map_or_else(|| card.title.to_string(), |device| device.id.to_string()),
            health: health(card.health).into(),
            down_since,
            held_until: device.as_ref().and_then(|device| device.held_until).map(|until| until.to_string()),
            profile: device.as_ref().map(|device| device.profile.to_owned()),
            joined: device.as_ref().map(|device| device.joined.to_string()),
            reported: device.as_ref().and_then(|device| device.reported).map(|at| at.to_string()),
            skills,
            platform: text(&state.platform),
            os_version: text(&state.os_version),
            hostname: text(&state.hostname),
            ip_address: text(&state.ip_address),
            cpu: text(&state.cpu),
            cpu_count: state.cpu_count,
            memory_total_gb: state.memory_total_gb,
            disk_total_gb: state.disk_total_gb,
            gpu: texts(&state.gpu),
            gpu_memory_total_gb: state.gpu_memory_total_gb,
            network_status: text(&state.network_status),
            capabilities: texts(&state.capabilities),
            now: MeasuresView::from(&state),
            others: state.others.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
            refused: device.map(|device| texts(&device.report.refused)).unwrap_or_default(),
        }
    }
}

impl From<&DeviceState> for MeasuresView {
    fn from(state: &DeviceState) -> MeasuresView {
        MeasuresView {
            cpu_percent: state.cpu_percent,
            load: state.load,
            memory_available_gb: state.memory_available_gb,
            disk_free_gb: state.disk_free_gb,
            gpu_percent: state.gpu_percent,
            gpu_memory_free_gb: state.gpu_memory_free_gb,
            active_processes: state.active_processes,
        }
    }
}

impl From<&Sample> for SampleView {
    fn from(sample: &Sample) -> SampleView {
        SampleView {
            at: sample.at().to_string(),
            cpu_percent: sample.cpu_percent(),
            load: sample.load(),
            memory_available_gb: sample.memory_available_gb(),
            disk_free_gb: sample.disk_free_gb(),
            gpu_percent: sample.gpu_percent(),
            active_processes: sample.active_processes(),
            received_per_second: sample.received_per_second(),
            sent_per_second: sample.sent_per_second(),
        }
    }
}
