//! Metrics and trace context.

mod metering;
mod tracing_context;
