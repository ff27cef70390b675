//! MCP at the edge, both eras: clients come in by Streamable HTTP and stdio, servers are called by HTTP and as programs.

/// What metrics call it.
pub const PROTOCOL: &str = "mcp";

pub mod inbound;
pub mod outbound;
mod protocol;
pub mod refusal;
pub mod settings;

pub use protocol::Mcp;

/// The HTTP side of MCP.
pub type Endpoint = crate::endpoint::Endpoint<inbound::Desk>;
