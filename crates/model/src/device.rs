//! What a device reports of itself, checked field by field: one view for schedulers, lists, history and metrics.
//!
//! [`DeviceState::read`] takes a report with the names of this module. A value that cannot be (a negative size, a percentage of 10^300, a
//! name of a megabyte) is left out and its field is named; the rest of the report counts. Deliberately absent: how a protocol spells a
//! field (its own crate renames), and what was reported before (the hub keeps that).

use serde_json::{Map, Value};

use crate::card::Card;
use crate::id::Text;
use crate::json::{Json, Tree};

/// Bytes of one text of a report.
const TEXT: usize = 256;
/// Bytes of the name of a capability, or of a number that is not known here.
const NAME: usize = 128;
/// How many capabilities are believed.
const CAPABILITIES: usize = 256;
/// How many graphics processors are believed.
const GPUS: usize = 16;
/// How many numbers with other names are kept.
const OTHERS: usize = 32;
/// How many refused fields are named.
const REFUSED: usize = 32;
/// More gigabytes than any machine has.
const GIGABYTES: f64 = 1e9;
/// More processors, processes or load than any machine has.
const COUNT: f64 = 1e7;

/// What a device is and how it is, as it last said. Every value is within its bounds; what it did not say is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeviceState {
    /// Its system: `windows`, `linux`, `android`.
    pub platform: Option<Text>,
    /// Its system in words.
    pub os_version: Option<Text>,
    /// Its name in its network.
    pub hostname: Option<Text>,
    /// Its address in its network.
    pub ip_address: Option<Text>,
    /// The model of its processor.
    pub cpu: Option<Text>,
    /// How many processors it has.
    pub cpu_count: Option<u32>,
    /// How busy they are, 0 to 100.
    pub cpu_percent: Option<f64>,
    /// How many processes want to run, averaged over a minute.
    pub load: Option<f64>,
    /// Its memory.
    pub memory_total_gb: Option<f64>,
    /// The part of it that is free to use.
    pub memory_available_gb: Option<f64>,
    /// Its disk.
    pub disk_total_gb: Option<f64>,
    /// The part of it that is free.
    pub disk_free_gb: Option<f64>,
    /// The models of its graphics processors.
    pub gpu: Vec<Text>,
    /// How busy the busiest of them is, 0 to 100.
    pub gpu_percent: Option<f64>,
    /// The memory of all of them.
    pub gpu_memory_total_gb: Option<f64>,
    /// The part of it that is free.
    pub gpu_memory_free_gb: Option<f64>,
    /// How many processes it runs.
    pub active_processes: Option<u32>,
    /// Its connection to a network, in a word: `connected`.
    pub network_status: Option<Text>,
    /// Bytes received since it started.
    pub network_received: Option<u64>,
    /// Bytes sent since it started.
    pub network_sent: Option<u64>,
    /// What it says it can do, sorted.
    pub capabilities: Vec<Text>,
    /// Numbers of its own, by name.
    pub others: Vec<(Text, f64)>,
}

/// A report that was read: what is believed, and the fields that are not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeviceReport {
    /// What is believed.
    pub state: DeviceState,
    /// Names of fields whose values cannot be, at most 32.
    pub refused: Vec<Text>,
}

impl DeviceState {
    /// Reads a report. Anything but an object says nothing.
    pub fn read(report: &Json) -> DeviceReport {
        let Some(fields) = report.tree().as_object() else { return DeviceReport::default() };
        let mut reading = Reading { fields, refused: Vec::new() };
        let state = reading.state();
        DeviceReport { state, refused: reading.refused }
    }

    /// What the card of a peer says of its state.
    pub fn of(card: &Card) -> DeviceState {
        card.telemetry.as_ref().map(|report| DeviceState::read(report).state).unwrap_or_default()
    }

    /// The report that [`DeviceState::read`] reads as this.
    pub fn to_json(&self) -> Json {
        let mut fields = Map::new();
        let mut text = |name: &str, value: &Option<Text>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), Value::from(&**value));
            }
        };
        text("platform", &self.platform);
        text("os_version", &self.os_version);
        text("hostname", &self.hostname);
        text("ip_address", &self.ip_address);
        text("cpu", &self.cpu);
        text("network_status", &self.network_status);
        for (name, value) in self.numbers() {
            fields.extend(value.map(|value| (name.to_owned(), Value::from(value))));
        }
        let counts = [("cpu_count", self.cpu_count.map(u64::from)), ("network_received", self.network_received)];
        let more = [("network_sent", self.network_sent), ("active_processes", self.active_processes.map(u64::from))];
        for (name, value) in counts.into_iter().chain(more) {
            fields.extend(value.map(|value| (name.to_owned(), Value::from(value))));
        }
        let list = |texts: &[Text]| Value::from_iter(texts.iter().map(|text| Value::from(&**text)));
        if !self.gpu.is_empty() {
            fields.insert("gpu".to_owned(), list(&self.gpu));
        }
        if !self.capabilities.is_empty() {
            fields.insert("supported_features".to_owned(), list(&self.capabilities));
        }
        fields.extend(self.others.iter().map(|(name, value)| (name.to_string(), Value::from(*value))));
        Json::from_tree(Value::Object(fields))
    }

    /// The measures that are fractions, by name.
    fn numbers(&self) -> [(&'static str, Option<f64>); 9] {
        [
            ("cpu_percent", self.cpu_percent),
            ("load", self.load),
            ("memory_total_gb", self.memory_total_gb),
            ("memory_available_gb", self.memory_available_gb),
            ("disk_total_gb", self.disk_total_gb),
            ("disk_free_gb", self.disk_free_gb),
            ("gpu_percent", self.gpu_percent),
            ("gpu_memory_total_gb", self.gpu_memory_total_gb),
            ("gpu_memory_free_gb", self.gpu_memory_free_gb),
        ]
    }

    /// Is there news for somebody who knows the other? What it is and can do is; a measure that moved a little is not.
    pub fn is_news_to(&self, other: &DeviceState) -> bool {
        let lasting = |state: &DeviceState| DeviceState {
            cpu_percent: None,
            load: None,
            memory_available_gb: None,
            disk_free_gb: None,
            gpu_percent: None,
            gpu_memory_free_gb: None,
            active_processes: None,
            network_received: None,
            network_sent: None,
            others: Vec::new(),
            ..state.clone()
        };
        let moved = |a: Option<f64>, b: Option<f64>, by: f64| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() >= by,
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        };
        let tenth = |whole: Option<f64>| whole.unwrap_or(1.0).max(1.0) / 10.0;
        lasting(self) != lasting(other)
            || moved(self.cpu_percent, other.cpu_percent, 10.0)
            || moved(self.gpu_percent, other.gpu_percent, 10.0)
            || moved(self.load, other.load, 0.5)
            || moved(self.memory_available_gb, other.memory_available_gb, tenth(self.memory_total_gb))
            || moved(self.disk_free_gb, other.disk_free_gb, tenth(self.disk_total_gb))
            || moved(self.gpu_memory_free_gb, other.gpu_memory_free_gb, tenth(self.gpu_memory_total_gb))
    }
}

/// The fields of a report while they are read.
struct Reading<'r> {
    fields: &'r Map<String, Tree>,
    refused: Vec<Text>,
}

impl<'r> Reading<'r> {
    fn state(&mut self) -> DeviceState {
        let mut state = DeviceState {
            platform: self.text("platform"),
            os_version: self.text("os_version"),
            hostname: self.text("hostname"),
            ip_address: self.text("ip_address"),
            cpu: self.text("cpu"),
            cpu_count: self.count("cpu_count"),
            cpu_percent: self.number("cpu_percent", 100.0),
            load: self.load(),
            memory_total_gb: self.number("memory_total_gb", GIGABYTES),
            memory_available_gb: self.number("memory_available_gb", GIGABYTES),
            disk_total_gb: self.number("disk_total_gb", GIGABYTES),
            disk_free_gb: self.number("disk_free_gb", GIGABYTES),
            gpu: self.gpu(),
            gpu_percent: self.number("gpu_percent", 100.0),
            gpu_memory_total_gb: self.number("gpu_memory_total_gb", GIGABYTES),
            gpu_memory_free_gb: self.number("gpu_memory_free_gb", GIGABYTES),
            active_processes: self.count("active_processes"),
            network_status: self.text("network_status"),
            network_received: self.bytes("network_received"),
            network_sent: self.bytes("network_sent"),
            capabilities: self.texts("supported_features", CAPABILITIES),
            others: self.others(),
        };
        state.capabilities.sort_unstable();
        state.capabilities.dedup();
        state
    }

    /// A field that is there; null says nothing.
    fn get(&self, name: &str) -> Option<&'r Tree> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn refuse<T>(&mut self, name: &str) -> Option<T> {
        if self.refused.len() < REFUSED {
            self.refused.push(name.into());
        }
        None
    }

    fn text(&mut self, name: &str) -> Option<Text> {
        match self.get(name)?.as_str() {
            Some("") => None,
            Some(text) if is_plain(text, TEXT) => Some(text.into()),
            Some(_) | None => self.refuse(name),
        }
    }

    fn number(&mut self, name: &str, most: f64) -> Option<f64> {
        match self.get(name)?.as_f64() {
            Some(number) if (0.0..=most).contains(&number) => Some(number),
            Some(_) | None => self.refuse(name),
        }
    }

    fn count(&mut self, name: &str) -> Option<u32> {
        // In bounds, and a fraction of a processor is none.
        self.number(name, COUNT).map(|number| number as u32)
    }

    fn bytes(&mut self, name: &str) -> Option<u64> {
        match self.get(name)?.as_u64() {
            Some(number) => Some(number),
            None => self.refuse(name),
        }
    }

    /// One number, or averages of which the first is over a minute.
    fn load(&mut self) -> Option<f64> {
        let given = self.get("load")?;
        let first = given.as_array().map_or(Some(given), |averages| averages.first())?;
        match first.as_f64() {
            Some(load) if (0.0..=COUNT).contains(&load) => Some(load),
            Some(_) | None => self.refuse("load"),
        }
    }

    fn texts(&mut self, name: &str, most: usize) -> Vec<Text> {
        let Some(given) = self.get(name) else { return Vec::new() };
        let Some(list) = given.as_array() else { return self.refuse(name).unwrap_or_default() };
        let fit = |one: &Tree| one.as_str().filter(|text| !text.is_empty() && is_plain(text, NAME)).map(Text::from);
        let texts: Vec<Text> = list.iter().take(most).filter_map(fit).collect();
        if texts.len() < list.len() {
            self.refuse::<()>(name);
        }
        texts
    }

    /// A name, or a list of names or of objects that have one.
    fn gpu(&mut self) -> Vec<Text> {
        let Some(given) = self.get("gpu") else { return Vec::new() };
        let named = |one: &Tree| {
            let name = one.as_str().or_else(|| one.get("name")?.as_str())?;
            (!name.is_empty() && is_plain(name, TEXT)).then(|| Text::from(name))
        };
        let all: &[Tree] = given.as_array().map_or(std::slice::from_ref(given), Vec::as_slice);
        let gpus: Vec<Text> = all.iter().take(GPUS).filter_map(named).collect();
        if gpus.len() < all.len() {
            self.refuse::<()>("gpu");
        }
        gpus
    }

    /// Numbers that are not known here. They are shown, and nothing is decided by them.
    fn others(&mut self) -> Vec<(Text, f64)> {
        let other = |(name, value): (&String, &Tree)| {
            let number = value.as_f64().filter(|number| number.is_finite() && number.abs() <= 1e18)?;
            (!KNOWN.contains(&name.as_str()) && is_plain(name, NAME)).then(|| (Text::from(name.as_str()), number))
        };
        self.fields.iter().filter_map(other).take(OTHERS).collect()
    }
}

/// Fields with a meaning of their own.
const KNOWN: [&str; 21] = [
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
    "network_status",
    "network_received",
    "network_sent",
    "supported_features",
];

/// Short, and without characters that move a cursor or hide.
fn is_plain(text: &str, most: usize) -> bool {
    text.len() <= most && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DeviceReport {
        DeviceState::read(&Json::parse(text.to_owned().into()).expect("JSON"))
    }

    #[test]
    fn a_report_is_read_and_written_again() {
        let report = read(
            r#"{"platform":"linux","os_version":"6.1","hostname":"box","ip_address":"127.0.0.1","cpu":"Some i7","cpu_count":8,
            "cpu_percent":12.5,"load":[0.5,0.4,0.3],"memory_total_gb":16,"memory_available_gb":6.1,"disk_total_gb":100,
            "disk_free_gb":50.5,"gpu":["A","B"],"gpu_percent":71,"gpu_memory_total_gb":24,"gpu_memory_free_gb":3,
            "active_processes":145,"network_status":"connected","network_received":10,"network_sent":20,
            "supported_features":["b","a","a"],"battery_percent":80}"#,
        );
        assert_eq!(report.refused, Vec::<Text>::new());
        let state = report.state;
        assert_eq!((state.load, state.cpu_count, state.active_processes), (Some(0.5), Some(8), Some(145)));
        assert_eq!(state.capabilities, ["a".into(), "b".into()]);
        assert_eq!(state.others, [("battery_percent".into(), 80.0)]);
        assert_eq!(DeviceState::read(&state.to_json()).state, state);
        assert_eq!(read("[1]"), DeviceReport::default());
        assert_eq!(read(r#"{"cpu":null,"gpu":null}"#), DeviceReport::default());
    }

    #[test]
    fn attack_a_value_that_cannot_be_is_refused_alone() {
        let long = "x".repeat(1_000_000);
        for (field, value) in [
            ("cpu_percent", "-1"),
            ("cpu_percent", "1e300"),
            ("cpu_percent", "\"NaN\""),
            ("cpu_percent", "1e999"),
            ("memory_total_gb", "-0.5"),
            ("memory_available_gb", "1e300"),
            ("disk_free_gb", "true"),
            ("active_processes", "-7"),
            ("cpu_count", "1e15"),
            ("load", "[-1,0,0]"),
            ("load", "\"high\""),
            ("network_sent", "-3"),
            ("network_status", "\"a\\u001b[2Jb\""),
            ("gpu", "7"),
            ("supported_features", "{}"),
            ("os_version", format!("\"{long}\"").as_str()),
            ("hostname", "[]"),
        ] {
            let report = read(&format!(r#"{{"{field}":{value},"platform":"linux"}}"#));
            assert_eq!(report.refused, [Text::from(field)], "{field}");
            assert_eq!(
                report.state,
                DeviceState { platform: Some("linux".into()), ..DeviceState::default() },
                "{field}"
            );
        }
    }

    #[test]
    fn attack_lists_and_numbers_of_its_own_are_bounded() {
        let names: Vec<String> = (0..5_000).map(|n| format!("\"c{n}\"")).collect();
        let report = read(&format!(r#"{{"supported_features":[{}]}}"#, names.join(",")));
        assert_eq!(
            (report.state.capabilities.len(), report.refused),
            (CAPABILITIES, vec!["supported_features".into()])
        );
        let numbers: Vec<String> = (0..5_000).map(|n| format!("\"n{n}\":{n}")).collect();
        assert_eq!(read(&format!("{{{}}}", numbers.join(","))).state.others.len(), OTHERS);
        let gpus: Vec<String> = (0..5_000).map(|n| format!("{{\"name\":\"g{n}\"}}")).collect();
        let report = read(&format!(r#"{{"gpu":[{}]}}"#, gpus.join(",")));
        assert_eq!((report.state.gpu.len(), report.refused), (GPUS, vec!["gpu".into()]));
    }

    #[test]
    fn every_field_of_a_report_is_known() {
        let full = DeviceState {
            platform: Some("p".into()),
            os_version: Some("o".into()),
            hostname: Some("h".into()),
            ip_address: Some("i".into()),
            cpu: Some("c".into()),
            cpu_count: Some(1),
            cpu_percent: Some(1.0),
            load: Some(1.0),
            memory_total_gb: Some(1.0),
            memory_available_gb: Some(1.0),
            disk_total_gb: Some(1.0),
            disk_free_gb: Some(1.0),
            gpu: vec!["g".into()],
            gpu_percent: Some(1.0),
            gpu_memory_total_gb: Some(1.0),
            gpu_memory_free_gb: Some(1.0),
            active_processes: Some(1),
            network_status: Some("n".into()),
            network_received: Some(1),
            network_sent: Some(1),
            capabilities: vec!["c".into()],
            others: Vec::new(),
        };
        let json = full.to_json();
        let written: Vec<&String> = json.tree().as_object().expect("an object").keys().collect();
        assert_eq!(written.len(), KNOWN.len());
        assert!(written.iter().all(|name| KNOWN.contains(&name.as_str())), "{written:?}");
    }

    #[test]
    fn a_measure_that_moved_a_little_is_no_news() {
        let one = DeviceState {
            cpu_percent: Some(10.0),
            memory_total_gb: Some(16.0),
            memory_available_gb: Some(8.0),
            ..DeviceState::default()
        };
        let is_news = |change: fn(&mut DeviceState)| {
            let mut other = one.clone();
            change(&mut other);
            other.is_news_to(&one)
        };
        assert!(!is_news(|_| {}));
        assert!(!is_news(|it| it.cpu_percent = Some(15.0)));
        assert!(is_news(|it| it.cpu_percent = Some(25.0)));
        assert!(is_news(|it| it.cpu_percent = None));
        assert!(!is_news(|it| it.memory_available_gb = Some(7.0)));
        assert!(is_news(|it| it.memory_available_gb = Some(6.0)));
        assert!(!is_news(|it| it.active_processes = Some(9)));
        assert!(is_news(|it| it.capabilities = vec!["gpu".into()]));
    }
}
