//! Logging and trace export: standard error, and an OTLP collector.
//!
//! The program calls [`Telemetry::start`] once; a program that embeds a hub sets up its own logging. Metrics and spans are in the crate
//! `interlingua-telemetry`, and work, at little cost, with or without a collector.
//!
//! The hub never passes a token, argument or content to a log line or a span: lines carry names, ids, kinds and times. Values that a
//! stranger chose (a name, an id) are escaped so that one event stays one line.

mod export;
mod log;
pub mod settings;
#[cfg(test)]
mod tests;

use std::time::Duration;

use interlingua_telemetry::trace;
use opentelemetry::trace::TracerProvider as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

use export::Export;
use log::LevelHandle;

/// Why telemetry could not be started or changed.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryFault {
    #[error("telemetry.log.level: {0}")]
    Level(#[from] tracing_subscriber::filter::ParseError),
    #[error("telemetry.otlp: `{0}` is not an http:// address")]
    Endpoint(String),
    #[error("telemetry.otlp: the exporter could not be made: {0}")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
    #[error("this process already has a subscriber for its log lines")]
    AlreadyStarted,
}

/// Running telemetry of a process. Call [`Telemetry::stop`] before the end: spans wait in a batch.
#[derive(Debug)]
pub struct Telemetry {
    level: LevelHandle,
    export: Option<Export>,
}

impl Telemetry {
    /// Log lines go to standard error. Must be called within a runtime when traces are exported.
    pub fn start(config: &settings::Telemetry, hub: &str) -> Result<Telemetry, TelemetryFault> {
        let export = config.otlp.as_deref().map(|endpoint| Export::start(endpoint, hub)).transpose()?;
        let (lines, level) = log::layer(&config.log, std::io::stderr)?;
        let spans = export.as_ref().map(spans);
        let subscriber = tracing_subscriber::registry().with(lines).with(spans);
        tracing::subscriber::set_global_default(subscriber).map_err(|_| TelemetryFault::AlreadyStarted)?;
        Ok(Telemetry { level, export })
    }

    /// Follows a change of configuration. An address of a collector takes effect at the next start.
    pub fn reload(&self, config: &settings::Telemetry) -> Result<(), TelemetryFault> {
        self.level.set(&config.log.level)
    }

    /// Sends the spans that wait, for at most `patience`. A collector that is gone holds nobody up for longer.
    pub async fn stop(self, patience: Duration) {
        if let Some(export) = self.export {
            export.stop(patience).await;
        }
    }
}

/// The layer that turns our own spans into exported ones, whatever the level of the log. Those of the HTTP client that
/// carries them out stay out of it.
fn spans<S>(export: &Export) -> impl Layer<S>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span>,
{
    let ours = Targets::new().with_target("interlingua", tracing::Level::DEBUG);
    let tracer = export.provider.tracer("interlingua");
    trace::tell_phases_to(tracer.clone());
    tracing_opentelemetry::layer().with_tracer(tracer).with_filter(ours)
}
