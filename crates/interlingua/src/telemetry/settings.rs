//! The section `telemetry`: log lines, and traces to a collector. Metrics are always at `/metrics`.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Found;
use interlingua_settings::check::url;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// The OTLP collector (gRPC) for traces, such as `http://127.0.0.1:4317`. Without it no trace leaves the hub.
    pub otlp: Option<String>,
    pub log: Log,
}

impl Telemetry {
    pub fn check(&self, found: &mut Found) {
        if let Some(otlp) = &self.otlp
            && let Err(message) = url(otlp, &["http", "https"])
        {
            found.refuse("telemetry.otlp", message);
        }
        if tracing_subscriber::EnvFilter::try_new(&self.log.level).is_err() {
            found.refuse("telemetry.log.level", "expected error, warn, info, debug or trace, or `info,MODULE=debug`");
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug` or `trace`; for single modules `info,interlingua_mcp=debug`.
    pub level: String,
}

impl Default for Log {
    fn default() -> Self {
        Log { format: LogFormat::default(), level: "info".into() }
    }
}

/// Lines for people, or one JSON object a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}
