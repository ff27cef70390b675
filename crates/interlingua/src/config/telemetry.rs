//! What the hub tells of its work: log lines, and traces to a collector. Metrics are always at `/metrics`.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// The OTLP collector (gRPC) that gets traces, such as `http://127.0.0.1:4317`. Without it no trace leaves the hub.
    pub otlp: Option<String>,
    pub log: Log,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug` or `trace`; for single modules `info,interlingua::edge=debug`.
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
