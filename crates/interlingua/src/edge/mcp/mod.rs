//! MCP at the edge, both eras: clients come in by Streamable HTTP and stdio, servers are called by HTTP and as programs.

/// What metrics call it.
pub const PROTOCOL: &str = "mcp";

pub mod inbound;
pub mod outbound;
pub mod refusal;
