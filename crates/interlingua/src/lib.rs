//! The hub and its program.
//!
//! [`config`] is what can be said in a file or on the command line, [`api`] the hub's own HTTP interface and
//! [`telemetry`] what can be seen of it from outside.

pub mod api;
pub mod config;
pub mod telemetry;
