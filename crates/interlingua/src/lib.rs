//! The program: configuration, the table of protocols, the assembly of a hub, and the command line.
//!
//! [`config`] is the configuration from a file or the command line; [`protocols`] is the table of protocols, [`endpoints`] is generated
//! from it; [`server`] makes a hub from a configuration and runs it; [`status`] answers `/healthz`, `/readyz` and `/metrics`; [`telemetry`]
//! sends log lines and traces to their outputs; [`cli`] is the program.

pub mod cli;
pub mod config;
pub mod console;
pub mod endpoints;
pub mod protocols;
pub mod server;
pub mod status;
pub mod telemetry;
