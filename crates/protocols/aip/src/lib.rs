//! The Agent Interaction Protocol: an orchestrator (a *constellation*) drives devices through a server, one JSON object in each text frame
//! of a WebSocket.
//!
//! [`wire`] follows the Python implementation frame for frame: every declared member in its order, nulls included. What that implementation
//! lacks and its own description promises is the profile [`PROFILE`]: the same frames, with more in `metadata` and `messages`
//! ([`profile`]). [`telemetry`] reads what a device reports of itself. [`decode`] and [`encode`] convert to the model and back, [`discover`] makes cards, [`fault`] encodes refusals, [`plan`]
//! reads lists of commands, [`link`] and [`server`] are the rules of a connection and of the server behind all of them, without sockets or
//! clocks. [`binary`] is the transfer of files beside the frames, [`custom`] are frames of other types, [`layers`] are middleware. In these
//! modules the following is deliberately absent: sockets, timers, the choice of what a task needs (a planner's work), and the other
//! protocols of a hub.
//!
//! [`server_runtime`] runs the pure rules of the server and carries out their effects; [`inbound`] is the sockets and the small HTTP
//! interface; [`registrar`] is the registry of devices; [`outbound`] offers them as peers and calls them, and devices of other servers;
//! [`device`] is this program as a device itself. [`Extensions`] are the additions of a program that embeds the hub.

pub mod backoff;
pub mod binary;
pub mod client;
pub mod custom;
pub mod decode;
pub mod discover;
pub mod encode;
pub mod fault;
pub mod layers;
pub mod link;
pub mod plan;
pub mod profile;
pub mod say;
pub mod server;
pub mod telemetry;
pub mod wire;

mod invalid;
mod names;
#[cfg(test)]
mod tests;

pub use interlingua_wire::time::stamp;
pub use invalid::{Invalid, Problem};
pub use names::{client_id, safe_task_name, session_id};
pub use wire::{ClientMessage, Limits, ServerMessage};

/// As the wire is named in counts and audit lines.
pub const WIRE: &str = "aip/ufo";
/// The wider profile, asked for with `metadata.profile` in REGISTER.
pub const PROFILE: &str = "aip-1";

pub mod device;
mod extensions;
pub mod inbound;
pub mod outbound;
mod protocol;
mod queue;
mod registrar;
mod results;
pub(crate) mod server_runtime;
pub mod settings;
mod visibility;

pub use extensions::{Extensions, Foreign};
pub use protocol::Aip;
pub use server_runtime::ServerRuntime;
pub use settings::Settings;

/// The HTTP side of AIP.
pub type Endpoint = interlingua_endpoint::Endpoint<std::sync::Arc<ServerRuntime>>;

/// What this protocol is called in spans and metrics.
pub const PROTOCOL: &str = "aip";
