//! Metrics of devices: sums and extremes over all of them. No device has a series of its own, so that none can add one.

use metrics::{Counter, Gauge, counter, gauge};

/// What a hub counts of its devices.
pub struct DeviceMeters {
    /// Devices that are connected.
    pub connected: Gauge,
    /// Devices that left and may come back.
    pub away: Gauge,
    /// Open sessions of devices and orchestrators.
    pub sessions: Gauge,
    /// How busy their processors are: the mean, and the busiest.
    pub cpu_mean: Gauge,
    pub cpu_max: Gauge,
    /// The share of memory that is free where least is.
    pub memory_free_min: Gauge,
    pub reports: Counter,
    pub fields_refused: Counter,
    pub lines_dropped: Counter,
}

impl std::fmt::Debug for DeviceMeters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DeviceMeters")
    }
}

impl DeviceMeters {
    pub(super) fn register() -> DeviceMeters {
        DeviceMeters {
            connected: gauge!("interlingua_devices", "state" => "connected"),
            away: gauge!("interlingua_devices", "state" => "away"),
            sessions: gauge!("interlingua_device_sessions"),
            cpu_mean: gauge!("interlingua_device_cpu_percent", "of" => "mean"),
            cpu_max: gauge!("interlingua_device_cpu_percent", "of" => "max"),
            memory_free_min: gauge!("interlingua_device_memory_free_ratio", "of" => "min"),
            reports: counter!("interlingua_device_reports_total"),
            fields_refused: counter!("interlingua_device_fields_refused_total"),
            lines_dropped: counter!("interlingua_device_lines_dropped_total"),
        }
    }
}

pub(super) fn describe() {
    metrics::describe_gauge!("interlingua_devices", "devices, connected or away and expected back");
    metrics::describe_gauge!("interlingua_device_sessions", "open sessions of devices and orchestrators");
    metrics::describe_gauge!("interlingua_device_cpu_percent", "how busy the processors of connected devices are");
    metrics::describe_gauge!(
        "interlingua_device_memory_free_ratio",
        "the free share of memory of the connected device that has least"
    );
    metrics::describe_counter!("interlingua_device_reports_total", "reports of devices on their state");
    metrics::describe_counter!("interlingua_device_fields_refused_total", "fields of reports with impossible values");
    metrics::describe_counter!("interlingua_device_lines_dropped_total", "log lines of devices beyond the rate limit");
}
