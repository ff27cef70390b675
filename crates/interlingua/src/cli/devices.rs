//! `devices`: what each device is and how busy; one of them with charts of its last hours.

use clap::Args;
use interlingua_model::percent::encoded;
use serde::Serialize;

use super::arguments::HubArguments;
use super::client::Client;
use super::list::{all, briefly, show};
use super::screen::{Screen, plain};
use super::table::Table;
use super::{Exit, Failure};
use interlingua_api::view::{DeviceView, PageView, SampleView, TelemetryView};

/// The widest chart, in columns.
const COLUMNS: usize = 72;
/// From nothing to all.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// Show this device
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Show the last hours, up to 24
    #[arg(long, value_name = "HOURS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=24))]
    pub hours: u32,
    #[command(flatten)]
    pub hub: HubArguments,
}

/// A device and how it was, for programs.
#[derive(Serialize)]
struct Both {
    device: DeviceView,
    telemetry: TelemetryView,
}

pub(super) async fn devices(arguments: &DevicesArguments) -> Result<Exit, Failure> {
    match &arguments.name {
        None => list(&arguments.hub).await,
        Some(name) => one(name, arguments.hours, &arguments.hub).await,
    }
}

async fn list(hub: &HubArguments) -> Result<Exit, Failure> {
    let page: PageView<DeviceView> = all(hub, "/api/devices?limit=200").await?;
    let mut table =
        Table::new(&["name", "health", "platform", "cpu", "memory free", "disk free", "gpu", "reported", "can do"]);
    for device in &page.items {
        let now = &device.now;
        table.row([
            device.name.as_str(),
            &device.health,
            device.platform.as_deref().unwrap_or("-"),
            &percent(now.cpu_percent),
            &part(now.memory_available_gb, device.memory_total_gb),
            &part(now.disk_free_gb, device.disk_total_gb),
            &now.gpu_percent
                .map_or_else(|| device.gpu.first().cloned().unwrap_or_else(|| "-".to_owned()), |p| percent(Some(p))),
            &device.reported.as_deref().map_or_else(|| "-".to_owned(), briefly),
            &device.capabilities.join(", "),
        ]);
    }
    show(hub, &page, &table)
}

async fn one(name: &str, hours: u32, hub: &HubArguments) -> Result<Exit, Failure> {
    let client = Client::new(hub)?;
    let path = format!("/api/devices/{}", encoded(name));
    let device: DeviceView = client.get(&path).await?;
    let telemetry: TelemetryView = client.get(&format!("{path}/telemetry?minutes={}", hours * 60)).await?;
    let screen = Screen { json: hub.json };
    if screen.json {
        screen.value(&Both { device, telemetry })?;
    } else {
        screen.say(&described(&device, &telemetry, hours, screen.width()))?;
    }
    Ok(Exit::Done)
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0} %"))
}

/// `6.1 of 16 GB`, as far as it is known.
fn part(part: Option<f64>, whole: Option<f64>) -> String {
    let gigabytes = |value: f64| if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    match (part, whole) {
        (Some(part), Some(whole)) => format!("{} of {} GB", gigabytes(part), gigabytes(whole)),
        (Some(part), None) => format!("{} GB", gigabytes(part)),
        (None, Some(whole)) => format!("? of {} GB", gigabytes(whole)),
        (None, None) => "-".to_owned(),
    }
}

/// One device, a line for each thing there is to say, then its charts.
fn described(device: &DeviceView, telemetry: &TelemetryView, hours: u32, width: usize) -> String {
    let mut lines = vec![format!("device    {}", plain(&device.name))];
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty() && value != "-") {
            lines.push(format!("{name:<9} {}", plain(&value)));
        }
    };
    line("health", Some(device.health.clone()));
    line("down", device.down_since.as_ref().map(|since| format!("since {since}")));
    line("held", device.held_until.as_ref().map(|until| format!("until {until}, if it comes back")));
    line("profile", device.profile.clone());
    line("joined", device.joined.clone());
    line("reported", device.reported.clone());
    let system = [&device.platform, &device.os_version].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    line("system", Some(system));
    let host = [&device.hostname, &device.ip_address].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    line("host", Some(host));
    let count = device.cpu_count.map(|count| format!("{count} processors"));
    let cpu = [&device.cpu, &count].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    line("cpu", Some(cpu));
    line("busy", Some(percent(device.now.cpu_percent)));
    line("load", device.now.load.map(|load| format!("{load:.2}")));
    line(
        "memory",
        Some(part(device.now.memory_available_gb, device.memory_total_gb))
            .filter(|it| it != "-")
            .map(|it| format!("{it} free")),
    );
    line(
        "disk",
        Some(part(device.now.disk_free_gb, device.disk_total_gb)).filter(|it| it != "-").map(|it| format!("{it} free")),
    );
    line("gpu", Some(device.gpu.join(", ")));
    line("gpu busy", Some(percent(device.now.gpu_percent)));
    line("processes", device.now.active_processes.map(|count| count.to_string()));
    line("network", device.network_status.clone());
    line("can do", Some(device.capabilities.join(", ")));
    line("skills", Some(device.skills.to_string()));
    for (name, value) in &device.others {
        line("reports", Some(format!("{name} {value}")));
    }
    line("refused", Some(device.refused.join(", ")));
    lines.extend(charts(device, telemetry, hours, width));
    lines.join("\n")
}

/// A chart of each measure that was reported, all from the same hour to now.
fn charts(device: &DeviceView, telemetry: &TelemetryView, hours: u32, width: usize) -> Vec<String> {
    let columns = width.saturating_sub(30).clamp(20, COLUMNS);
    let used =
        |free: Option<f64>, total: Option<f64>| Some(100.0 * (1.0 - free? / total.filter(|total| *total > 0.0)?));
    type Measure<'a> = (&'static str, &'static str, Box<dyn Fn(&SampleView) -> Option<f64> + 'a>);
    let measures: [Measure<'_>; 6] = [
        ("cpu", "%", Box::new(|sample| sample.cpu_percent)),
        ("memory", "% used", Box::new(move |sample| used(sample.memory_available_gb, device.memory_total_gb))),
        ("disk", "% used", Box::new(move |sample| used(sample.disk_free_gb, device.disk_total_gb))),
        ("gpu", "%", Box::new(|sample| sample.gpu_percent)),
        ("load", "", Box::new(|sample| sample.load)),
        ("received", "kB/s", Box::new(|sample| sample.received_per_second.map(|bytes| bytes / 1000.0))),
    ];
    let mut lines =
        vec![String::new(), format!("last {}", if hours == 1 { "hour".to_owned() } else { format!("{hours} hours") })];
    for (name, unit, value) in measures {
        let means = columns_of(telemetry, hours * 60, columns, value);
        let known: Vec<f64> = means.iter().copied().flatten().collect();
        let Some(most) = known.iter().copied().reduce(f64::max) else { continue };
        let top = if unit.starts_with("%") { 100.0 } else { most.max(1.0) };
        let chart: String = means.iter().map(|mean| mean.map_or(' ', |mean| level(mean, top))).collect();
        lines.push(format!("{name:<9} {chart}  most {most:.1} {unit}").trim_end().to_owned());
    }
    if lines.len() == 2 {
        lines.push("it reported nothing".to_owned());
    }
    lines
}

fn level(value: f64, top: f64) -> char {
    let share = (value / top).clamp(0.0, 1.0);
    LEVELS[((share * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]
}

/// The mean of each column; a column in which nothing was reported is a gap.
fn columns_of(
    telemetry: &TelemetryView,
    minutes: u32,
    columns: usize,
    value: impl Fn(&SampleView) -> Option<f64>,
) -> Vec<Option<f64>> {
    let (minutes, mut sums) = (minutes.max(1) as usize, vec![(0.0, 0_u32); columns]);
    let minute = |time: &str| time.parse::<jiff::Timestamp>().ok().map(|time| time.as_second() / 60);
    let Some(from) = minute(&telemetry.from) else { return Vec::new() };
    for sample in &telemetry.samples {
        let at = minute(&sample.at).and_then(|at| usize::try_from(at - from).ok());
        let (Some(at), Some(value)) = (at.filter(|at| *at < minutes), value(sample)) else { continue };
        let (sum, count) = &mut sums[at * columns / minutes];
        (*sum, *count) = (*sum + value, *count + 1);
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telemetry(samples: &[(u32, f64)]) -> TelemetryView {
        let at = |minute: u32| format!("2026-11-18T{:02}:{:02}:00.000Z", 9 + minute / 60, minute % 60);
        let sample = |(minute, cpu): &(u32, f64)| SampleView {
            at: at(*minute),
            cpu_percent: Some(*cpu),
            load: None,
            memory_available_gb: None,
            disk_free_gb: None,
            gpu_percent: None,
            active_processes: None,
            received_per_second: None,
            sent_per_second: None,
        };
        let samples = samples.iter().map(sample).collect();
        TelemetryView { device: "box".into(), from: at(0), until: at(59), step_seconds: 60, samples }
    }

    #[test]
    fn a_chart_has_a_column_for_each_span_and_gaps_stay_gaps() {
        let told = telemetry(&[(0, 0.0), (1, 50.0), (2, 100.0), (30, 100.0), (31, 0.0), (59, 12.0), (60, 99.0)]);
        let columns = columns_of(&told, 60, 20, |sample| sample.cpu_percent);
        assert_eq!((columns[0], columns[10], columns[19]), (Some(50.0), Some(50.0), Some(12.0)));
        assert!(columns[1..10].iter().all(Option::is_none));
        assert_eq!((level(0.0, 100.0), level(50.0, 100.0), level(100.0, 100.0)), ('▁', '▅', '█'));
    }

    #[test]
    fn what_is_not_known_is_a_dash() {
        assert_eq!(part(Some(6.1), Some(16.0)), "6.1 of 16.0 GB");
        assert_eq!((part(None, None), percent(None)), ("-".to_owned(), "-".to_owned()));
        assert_eq!(part(Some(500.0), None), "500 GB");
    }
}
