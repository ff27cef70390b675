//! Telemetry. What the hub counts and traces: [`meters`] (metrics), [`trace`] (W3C trace context and spans), [`panics`] (what a
//! panic may say).
//!
//! They work (and cost little) whether anyone listens or not. Where lines and spans go is the program's to say.
//!
//! Deliberately absent: the audit, which is a journal of the hub and no telemetry, and the `/metrics` route.

mod histogram;
pub mod meters;
pub mod panics;
#[cfg(test)]
mod tests;
pub mod trace;
