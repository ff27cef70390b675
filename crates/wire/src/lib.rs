//! What several protocols frame with, pure: no I/O, no runtime, no clock.
//!
//! [`codec`] (the shape of every protocol's codec), [`invalid`] (decoding errors with their position), [`rpc`] (JSON-RPC 2.0), [`sse`]
//! (server-sent events), [`time`] (how Python writes times), [`members`] and [`object`] (a JSON object read in one pass, and written member
//! by member), [`protobuf`] (fields by number), [`jcs`] (the canonical JSON that is signed), [`jwk`] (public keys), [`hub_headers`]
//! (headers between hubs), [`claims`] (a peer's claims about its skills), [`oauth`] (tokens: how a client obtains one, and the claims in
//! one).

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
