//! A2A at the edge: agents are found, asked and followed over JSON-RPC, HTTP with JSON and gRPC, in both generations of the
//! protocol, and webhooks are told what becomes of a task.
//!
//! [`inbound`]: they call us. [`outbound`]: we call them.
//!
//! Every peer of the hub is an agent with a card and an address of its own; the hub itself is one for all of them.

mod called_agents;
mod desk;
pub mod inbound;
pub mod outbound;
mod protocol;
mod push;
pub mod refusal;
pub mod settings;
mod signing;

pub use called_agents::{CalledAgents, restore};
pub use desk::Desk;
pub use protocol::A2a;
pub(crate) use push::KIND as WEBHOOKS;
pub use push::{Private, Push};
pub use settings::Settings;
pub use signing::Signing;

/// The HTTP side of A2A.
pub type Endpoint = crate::endpoint::Endpoint<Desk>;

/// What metrics call it.
pub const PROTOCOL: &str = "a2a";
