//! The hub and its program.
//!
//! [`config`] is what can be said in a file or on the command line; [`server`] accepts connections and makes a hub of its
//! configuration; [`endpoint`] is what the HTTP sides of all protocols share, [`edge`] speaks each protocol, [`protocols`] is the
//! table of them; [`agents`] are those backed by a model, `client` is what those share that call others, [`api`] the hub's own
//! HTTP interface; [`hub`] is the service behind the one door; [`telemetry`] is what can be seen of it from outside; [`cli`] is
//! the program.

pub mod agents;
pub mod api;
pub mod cli;
mod client;
pub mod config;
pub mod edge;
pub mod endpoint;
#[doc(hidden)]
pub mod fuzzing;
pub mod hub;
pub mod protocols;
pub mod server;
pub mod settings;
pub mod telemetry;
