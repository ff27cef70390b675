//! NLIP at the edge: HTTP and WebSocket in, HTTP and WebSocket out.

/// What metrics call it.
pub const PROTOCOL: &str = "nlip";

pub mod inbound;
pub mod outbound;
mod protocol;
pub mod refusal;
pub mod settings;
mod switch;
pub(crate) mod uploads;

pub use protocol::Nlip;
pub use switch::Switch;

/// The HTTP side of NLIP.
pub type Endpoint = crate::endpoint::Endpoint<Switch>;
