//! Telemetry: [`meters`] (metrics, those of devices in [`devices`]), [`trace`] (W3C trace context and spans), [`panics`] (panic hook).
//!
//! All of it works, at little cost, with or without a collector. The program decides where log lines and spans go.
//!
//! Deliberately absent: the audit log, which is a journal of the hub and not telemetry, and the `/metrics` route.

pub mod devices;
mod histogram;
pub mod meters;
pub mod panics;
#[cfg(test)]
mod tests;
pub mod trace;
