//! The Model Context Protocol, both eras: 2026-07-28 (modern: stateless, every request says who asks and what it can take)
//! and 2025-03-26 to 2025-11-25 (legacy: sessions, `initialize`). 2024-11-05 is spoken to old servers only.
//!
//! | file | what |
//! |---|---|
//! | [`wire`] | what messages are made of: versions, `_meta`, capabilities, content, headers |
//! | [`discover`] | tools, resources, templates and prompts, both ways; unknown fields survive |
//! | [`question`] | what a client may be asked, and its answers; both ways |
//! | [`decode`], [`encode`] | the server's side: what is asked, and what goes back |
//! | [`client`] | the client's side: what a server is asked, and its answers |
//! | [`names`] | what tools, prompts and resources of many peers are called, and back |
//! | [`fault`] | the closed list of faults in this spelling, both ways |
//!
//! What a peer defined or answered in this protocol keeps its bytes, so that a caller of this protocol reads what was
//! written, with only what the hub owns in it changed: names, addresses, ids.
//!
//! MCP at the edge, both eras: clients come in by Streamable HTTP and stdio, servers are called by HTTP and as programs.

pub mod client;
pub mod decode;
pub mod discover;
pub mod encode;
pub mod fault;
#[doc(hidden)]
pub mod fuzzing;
pub mod names;
pub mod question;
pub mod wire;

pub use wire::version::{Era, Version};

/// What metrics call it.
pub const PROTOCOL: &str = "mcp";

pub mod inbound;
pub mod outbound;
mod protocol;
pub mod refusal;
pub mod settings;

pub use protocol::Mcp;

/// The HTTP side of MCP.
pub type Endpoint = interlingua_endpoint::Endpoint<inbound::ServerState>;
