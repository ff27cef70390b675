//! Reports of devices: what REGISTER and DEVICE_INFO_RESPONSE say of a device, in the names of the hub.
//!
//! The Python device writes `metadata.system_info`; the description of the protocol writes the same flat in `metadata`, with names of its
//! own (`ram_gb`, `capabilities`, `active_processes`). Both are read; `system_info` wins. What is too large for its field is left out and
//! named, and the rest counts. Whether a value can be is decided by [`DeviceState::read`].

use std::collections::BTreeMap;

use interlingua_model::json::write_string;
use interlingua_model::{DeviceReport, DeviceState, Json, Text};

use super::wire::ClientMessage;
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

/// Bytes of a report that is kept as it was told.
const MOST: usize = 64 * 1024;
/// Bytes of one of its values.
const VALUE: usize = 16 * 1024;
/// Bytes of the name of one.
const NAME: usize = 128;
/// How many of them are read.
const FIELDS: usize = 256;
/// How many network interfaces are added up.
const INTERFACES: usize = 256;

/// How else a field is called, by the description of the protocol and by devices that were seen. The first that is there counts.
const SPELLINGS: [(&str, &str); 14] = [
    ("os", "os_version"),
    ("cpu_model", "cpu"),
    ("cpu_cores", "cpu_count"),
    ("cpu_usage", "cpu_percent"),
    ("cpu_usage_percent", "cpu_percent"),
    ("ram_gb", "memory_total_gb"),
    ("ram_total_gb", "memory_total_gb"),
    ("ram_available_gb", "memory_available_gb"),
    ("ram_free_gb", "memory_available_gb"),
    ("memory_free_gb", "memory_available_gb"),
    ("gpu_usage", "gpu_percent"),
    ("gpu_name", "gpu"),
    ("load_average", "load"),
    ("processes", "active_processes"),
];

/// Members of `metadata` that are read where they stand flat, beside those of [`SPELLINGS`].
const FLAT: [&str; 26] = [
    "device_id",
    "platform",
    "os_version",
    "hostname",
    "ip_address",
    "cpu",
    "cpu_count",
    "cpu_percent",
    "load",
    "memory_total_gb",
    "memory_available_gb",
    "disk_total_gb",
    "disk_free_gb",
    "gpu",
    "gpu_percent",
    "gpu_memory_total_gb",
    "gpu_memory_free_gb",
    "active_processes",
    "network",
    "network_status",
    "network_received",
    "network_sent",
    "platform_type",
    "custom_metadata",
    "tags",
    "schema_version",
];

/// Systems that a text such as `Windows 11` names.
const SYSTEMS: [&str; 6] = ["windows", "linux", "macos", "darwin", "android", "ios"];

/// What a device said of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// As an orchestrator that asks for it is answered: `system_info` as it came, or what stood flat with the names of both.
    pub info: Json,
    /// All of it with the hub's names, from which the card is made.
    pub fields: Json,
    /// What of it is believed.
    pub report: DeviceReport,
}

/// Reads what a frame says of its device; `None` where it says nothing.
pub fn told(message: &ClientMessage) -> Option<Told> {
    let metadata = message.metadata.as_ref().map_or_else(Members::absent, Members::of);
    let system_info = metadata.get("system_info").filter(Json::is_object);
    let mut fields = Fields::default();
    if let Some(info) = &system_info {
        Members::of(info).iter().for_each(|(name, value)| fields.take(name, value));
    }
    let is_flat = |name: &str| FLAT.contains(&name) || SPELLINGS.iter().any(|(other, _)| *other == name);
    metadata.iter().filter(|(name, _)| is_flat(name)).for_each(|(name, value)| fields.take(name, value));
    fields.capabilities(&metadata);
    if fields.known.is_empty() && fields.refused.is_empty() && system_info.is_none() {
        return None;
    }
    Some(fields.told(system_info))
}

/// What a report says that came without a frame of its device, from the server of another hub or of UFO.
pub fn of_info(info: &Json) -> Told {
    let mut fields = Fields::default();
    let members = Members::of(info);
    members.iter().for_each(|(name, value)| fields.take(name, value));
    fields.capabilities(&Members::absent());
    fields.told(Some(info.clone()))
}

#[derive(Debug, Default)]
struct Fields {
    known: BTreeMap<Text, Json>,
    bytes: usize,
    refused: Vec<Text>,
}

impl Fields {
    /// The first of a name counts. Null says nothing.
    fn take(&mut self, name: &str, value: Json) {
        if value.is_null() || self.known.contains_key(name) {
            return;
        }
        let weight = name.len() + value.as_bytes().len();
        let fits = name.len() <= NAME && value.as_bytes().len() <= VALUE && self.bytes + weight <= MOST;
        if !fits || self.known.len() >= FIELDS {
            return self.refuse(name);
        }
        self.bytes += weight;
        self.known.insert(name.into(), value.alone());
    }

    fn refuse(&mut self, name: &str) {
        let name = Text::from(SPELLINGS.iter().find(|(other, _)| *other == name).map_or(name, |(_, ours)| *ours));
        if self.refused.len() < FIELDS && name.len() <= NAME && !self.refused.contains(&name) {
            self.refused.push(name);
        }
    }

    /// Both lists of what it can do, of both places, as one.
    fn capabilities(&mut self, metadata: &Members) {
        let own = |fields: &Fields, name: &str| fields.known.get(name).cloned();
        let lists = [
            own(self, "supported_features"),
            own(self, "capabilities"),
            metadata.get("supported_features"),
            metadata.get("capabilities"),
        ];
        let mut named = Vec::new();
        for list in lists.iter().flatten() {
            match elements(list).filter(|_| list.as_bytes().len() <= VALUE) {
                Some(list) => named.extend(list),
                None => self.refuse("supported_features"),
            }
        }
        if !named.is_empty() {
            let mut out = vec![b'['];
            for (index, name) in named.iter().enumerate() {
                out.extend((index > 0).then_some(b','));
                out.extend_from_slice(name.as_bytes());
            }
            out.push(b']');
            self.known.insert("supported_features".into(), Json::written(out));
        }
    }

    /// Adds the names of the hub to those of the device.
    fn rename(&mut self) {
        for (other, ours) in SPELLINGS {
            if let Some(value) = self.known.get(other).cloned().filter(|_| !self.known.contains_key(ours)) {
                self.known.insert(ours.into(), value);
            }
        }
        let system = self.known.get("os_version").and_then(system);
        if let Some(system) = system.filter(|_| !self.known.contains_key("platform")) {
            self.known.insert("platform".into(), system);
        }
        if let Some([received, sent]) = self.known.get("network").and_then(traffic) {
            for (name, bytes) in [("network_received", received), ("network_sent", sent)] {
                self.known.entry(name.into()).or_insert_with(|| Json::from_tree(bytes.into()));
            }
        }
    }

    fn told(mut self, system_info: Option<Json>) -> Told {
        self.rename();
        let fields = Object::json(|out| self.known.iter().for_each(|(name, value)| out.value(name, value)));
        // The other spelling of a field is not another number.
        let ours = self.known.iter().filter(|(name, _)| !SPELLINGS.iter().any(|(other, _)| *other == &***name));
        let ours = Object::json(|out| ours.for_each(|(name, value)| out.value(name, value)));
        let mut report = DeviceState::read(&ours);
        for name in self.refused {
            if !report.refused.contains(&name) {
                report.refused.push(name);
            }
        }
        let as_told = system_info.filter(|info| info.as_bytes().len() <= MOST).map(|info| info.alone());
        Told { info: as_told.unwrap_or_else(|| fields.clone()), fields, report }
    }
}

/// The system that a text begins with.
fn system(os: &Json) -> Option<Json> {
    let os = os.tree().as_str()?.split_whitespace().next()?.to_lowercase();
    let mut out = Vec::new();
    write_string(SYSTEMS.iter().find(|system| **system == os)?, &mut out);
    Some(Json::written(out))
}

/// Bytes received and sent, of all interfaces: `{"eth0": [received, sent]}`.
fn traffic(network: &Json) -> Option<[u64; 2]> {
    let interfaces = network.tree().as_object()?;
    let count = |pair: &serde_json::Value, index: usize| pair.get(index)?.as_u64();
    let mut sums = None;
    for pair in interfaces.values().take(INTERFACES) {
        let (Some(received), Some(sent)) = (count(pair, 0), count(pair, 1)) else { continue };
        let [all_received, all_sent] = sums.unwrap_or([0_u64, 0]);
        sums = Some([all_received.saturating_add(received), all_sent.saturating_add(sent)]);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Limits;

    fn read(metadata: &str) -> Option<Told> {
        let frame = format!(r#"{{"type":"register","status":"ok","client_id":"d","metadata":{metadata}}}"#);
        told(&ClientMessage::decode(&frame.into(), &Limits::default()).expect("a frame"))
    }

    fn state(metadata: &str) -> DeviceState {
        read(metadata).expect("a report").report.state
    }

    #[test]
    fn the_example_of_the_description_is_a_full_profile() {
        let state = state(
            r#"{"platform":"windows","os_version":"Windows 11","cpu":"Intel i7","ram_gb":16,"capabilities":["ui_automation","file_operations"]}"#,
        );
        assert_eq!((state.platform.as_deref(), state.os_version.as_deref()), (Some("windows"), Some("Windows 11")));
        assert_eq!((state.cpu.as_deref(), state.memory_total_gb), (Some("Intel i7"), Some(16.0)));
        assert_eq!(state.capabilities, ["file_operations".into(), "ui_automation".into()]);
        assert_eq!(state.others, [], "a second spelling is not a second number");
    }

    #[test]
    fn its_device_info_is_read_in_its_own_names() {
        let state = state(
            r#"{"system_info":{"os":"Windows 11","cpu":"Intel i7-12700K","ram_gb":32,"gpu":"NVIDIA RTX 3080","disk_free_gb":500,"active_processes":145,"network_status":"connected"}}"#,
        );
        assert_eq!(state.platform.as_deref(), Some("windows"));
        assert_eq!((state.memory_total_gb, state.disk_free_gb), (Some(32.0), Some(500.0)));
        assert_eq!(state.gpu, ["NVIDIA RTX 3080".into()]);
        assert_eq!((state.active_processes, state.network_status.as_deref()), (Some(145), Some("connected")));
    }

    #[test]
    fn system_info_wins_over_what_stands_flat_and_is_answered_as_it_came() {
        let told = read(
            r#"{"platform":"windows","ram_gb":8,"capabilities":["b"],"profile":"aip-1","registration_time":"T",
            "system_info":{"platform":"linux","supported_features":["a"],"x":[1.10]}}"#,
        )
        .expect("a report");
        assert_eq!(told.info.as_str(), r#"{"platform":"linux","supported_features":["a"],"x":[1.10]}"#);
        let state = told.report.state;
        assert_eq!((state.platform.as_deref(), state.memory_total_gb), (Some("linux"), Some(8.0)));
        assert_eq!(state.capabilities, ["a".into(), "b".into()]);
        assert_eq!(read(r#"{"profile":"aip-1","registration_time":"T"}"#), None);
        let empty = read(r#"{"system_info":{}}"#).expect("it has one");
        assert_eq!((empty.info.as_str(), empty.report), ("{}", DeviceReport::default()));
    }

    #[test]
    fn traffic_is_added_up_over_the_interfaces() {
        let state = state(r#"{"system_info":{"network":{"eth0":[1,2],"wlan0":[10,20],"odd":"x"}}}"#);
        assert_eq!((state.network_received, state.network_sent), (Some(11), Some(22)));
    }

    #[test]
    fn attack_megabytes_of_text_cost_their_field_alone() {
        let long = "x".repeat(1_000_000);
        for metadata in [
            format!(r#"{{"platform":"linux","cpu":"{long}"}}"#),
            format!(r#"{{"system_info":{{"platform":"linux","cpu":"{long}"}}}}"#),
            format!(r#"{{"system_info":{{"cpu":"{long}"}},"platform":"linux"}}"#),
        ] {
            let told = read(&metadata).expect("a report");
            assert_eq!(told.report.refused, ["cpu".into()]);
            assert_eq!(told.report.state.platform.as_deref(), Some("linux"));
            assert!(told.info.as_bytes().len() < 1_000 && told.fields.as_bytes().len() < 1_000);
        }
        let many: Vec<String> = (0..10_000).map(|n| format!("\"n{n}\":{n}")).collect();
        let told = read(&format!(r#"{{"system_info":{{{},"platform":"linux"}}}}"#, many.join(","))).expect("a report");
        assert!(told.fields.as_bytes().len() <= 2 * MOST && told.report.refused.len() <= 2 * FIELDS);
    }
}
