//! The Agent Interaction Protocol: devices and orchestrators that are connected to this hub, and devices behind others' servers.
//!
//! [`desk`] holds the rules of the server, which are pure, and does what they say; [`inbound`] is the sockets and the small
//! HTTP interface; [`registrar`] shows devices as peers; [`outbound`] calls them, and devices of other servers; [`device`] is
//! this program as a device itself, [`graph`] works through plans over many of them. [`Extensions`] are what a program that embeds
//! the hub adds.

pub(crate) mod desk;
pub mod device;
mod extensions;
pub mod graph;
pub mod inbound;
pub mod outbound;
mod protocol;
mod queue;
mod registrar;
mod results;
pub mod settings;
mod sight;

pub use desk::Desk;
pub use extensions::{Extensions, Foreign};
pub use protocol::Aip;
pub use settings::Settings;

/// The HTTP side of AIP.
pub type Endpoint = crate::endpoint::Endpoint<std::sync::Arc<Desk>>;

/// What this protocol is called in spans and metrics.
pub const PROTOCOL: &str = "aip";
