//! Building blocks of messages, both eras and both ways. JSON-RPC itself is in [`interlingua_wire::rpc`].
//!
//! | file | what |
//! |---|---|
//! | [`version`] | dated versions, eras, what each can carry |
//! | [`meta`] | keys of `_meta`, the protocol's and ours |
//! | [`capabilities`] | what a client declares, and what the hub offers |
//! | [`content`] | content blocks and resource contents |
//! | [`headers`] | the headers that repeat parts of a body |

pub mod capabilities;
pub mod content;
pub mod headers;
pub mod meta;
pub mod version;
