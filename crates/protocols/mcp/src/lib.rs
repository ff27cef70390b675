//! The Model Context Protocol, both eras: 2026-07-28 (modern: stateless, every request names its client and capabilities) and 2025-03-26 to
//! 2025-11-25 (legacy: sessions, `initialize`). 2024-11-05 is spoken to old servers only.
//!
//! | file | what |
//! |---|---|
//! | [`wire`] | building blocks of messages: versions, `_meta`, capabilities, content, headers |
//! | [`discover`] | tools, resources, templates and prompts, both ways; unknown fields survive |
//! | [`question`] | questions to a client, and its answers; both ways |
//! | [`decode`], [`encode`] | the server side: requests, and answers |
//! | [`client`] | the client side: requests to a server, and its answers |
//! | [`names`] | names of tools, prompts and resources of many peers, and back |
//! | [`fault`] | faults in this protocol, both ways |
//!
//! A definition or an answer that a peer wrote in this protocol keeps its bytes, so that a caller of this protocol reads what was written,
//! with only what the hub owns in it changed: names, addresses, ids.
//!
//! Clients connect by Streamable HTTP and stdio; servers are called over HTTP and as child processes.

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
