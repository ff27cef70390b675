//! The program: what can be configured, which protocols there are, how the parts of a hub are put together, and the command line.
//!
//! [`config`] is what can be said in a file or on the command line; [`protocols`] is the table of protocols,
//! [`endpoints`] what is made of it; [`server`] makes a hub of a
//! configuration and keeps it running; [`status`] answers `/healthz`, `/readyz` and `/metrics`; [`telemetry`] says where log lines and
//! traces go; [`cli`] is the program.

pub mod cli;
pub mod config;
pub mod console;
pub mod endpoints;
pub mod protocols;
pub mod server;
pub mod status;
pub mod telemetry;
