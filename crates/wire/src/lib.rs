//! What several protocols frame with, pure: no I/O, no runtime, no clock.
//!
//! [`codec`] (the shape of every protocol's codec), [`invalid`] (what is wrong with a message, and where), [`rpc`] (JSON-RPC 2.0), [`sse`] (server-sent events), [`time`] (how Python writes times), [`members`] and [`object`] (a JSON object read in one pass, and written member by
//! member), [`protobuf`] (fields by number), [`jcs`] (the canonical JSON that is signed), [`jwk`] (public keys), [`hub_headers`] (headers between
//! hubs), [`claims`] (what a peer says of a skill), [`oauth`] (tokens: how a client gets one, and what one says).

pub mod claims;
pub mod codec;
pub mod hub_headers;
pub mod invalid;
pub mod jcs;
pub mod jwk;
pub mod members;
pub mod oauth;
pub mod object;
pub mod protobuf;
pub mod rpc;
pub mod sse;
pub mod time;
