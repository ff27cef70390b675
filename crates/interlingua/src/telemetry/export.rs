//! OTLP trace export over gRPC, in batches, off the hot path. The queue of the exporter is bounded; what does not fit is dropped, never
//! waited for.

use std::time::Duration;

use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};

use super::TelemetryFault;

/// One export may take this long.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Export {
    pub(super) provider: SdkTracerProvider,
}

impl Export {
    /// Connects when the first batch is sent. A caller's decision to sample is followed; without one everything is.
    pub(super) fn start(endpoint: &str, hub: &str) -> Result<Export, TelemetryFault> {
        // The client is built without TLS: a collector stands beside the hub, or a proxy of its own does.
        let Some(authority) = endpoint.strip_prefix("http://").filter(|rest| !rest.is_empty()) else {
            return Err(TelemetryFault::Endpoint(without_user(endpoint)));
        };
        let endpoint = format!("http://{authority}");
        let exporter =
            SpanExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(EXPORT_TIMEOUT).build()?;
        let resource = Resource::builder()
            .with_service_name("interlingua")
            .with_attribute(opentelemetry::KeyValue::new("service.instance.id", hub.to_owned()))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_resource(resource)
            .build();
        Ok(Export { provider })
    }

    /// Waits on a thread of its own: the batch is sent by a thread, which must not be waited for on the runtime.
    pub(super) async fn stop(self, patience: Duration) {
        let provider = self.provider;
        let stopped = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(patience)).await;
        if let Ok(Err(error)) = stopped {
            tracing::warn!(event = "spans_not_exported", %error, "the last spans could not be sent to the collector");
        }
    }
}

/// An address may carry a password.
fn without_user(endpoint: &str) -> String {
    match endpoint.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => endpoint.to_owned(),
    }
}
