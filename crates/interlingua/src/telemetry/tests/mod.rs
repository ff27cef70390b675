//! Telemetry, seen from where it arrives.

mod collector;
mod lines;
mod metering;
mod tracing_context;
