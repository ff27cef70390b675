//! The Agent Interaction Protocol: an orchestrator (a *constellation*) drives devices through a server, one JSON object in
//! each text frame of a WebSocket.
//!
//! [`wire`] is faithful to the Python implementation, frame for frame: every declared member in its order, nulls included.
//! What that implementation lacks and its own description promises is the profile [`PROFILE`]: the same frames, with more in
//! `metadata` and `messages` ([`profile`]). [`decode`] and [`encode`] lead to the model and back, [`discover`] makes cards,
//! [`fault`] spells refusals, [`plan`] reads lists of commands, [`constellation`] is the plan format, [`link`] and [`server`] are the rules of a connection and
//! of the server behind all of them, without sockets or clocks. [`binary`] is the transfer of files beside the frames, [`custom`]
//! are frames of other kinds, [`layers`] what may stand between a wire and whoever speaks it.
//!
//! Deliberately absent: sockets, timers, the choice of what a task needs (that is a planner's work), and the other way round,
//! anything of what else a hub speaks.

pub mod backoff;
pub mod binary;
pub mod client;
pub mod constellation;
pub mod custom;
pub mod decode;
pub mod discover;
pub mod encode;
pub mod fault;
pub mod layers;
pub mod link;
pub mod plan;
pub mod profile;
pub mod server;
pub mod wire;

mod invalid;
mod names;
#[cfg(test)]
mod tests;

pub use invalid::{Invalid, Problem};
pub use names::{client_id, safe_task_name, session_id, stamp};
pub use wire::{ClientMessage, Limits, ServerMessage};

/// As the wire is named in counts and audit lines.
pub const WIRE: &str = "aip/ufo";
/// The wider profile, asked for with `metadata.profile` in REGISTER.
pub const PROFILE: &str = "aip-1";
