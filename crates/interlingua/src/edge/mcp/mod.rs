//! MCP at the edge: Streamable HTTP and stdio in, both eras.

/// What metrics call it.
pub const PROTOCOL: &str = "mcp";

pub mod inbound;
