//! One decoder and one encoder for each protocol, pure: no I/O, no runtime, no clock. Bytes and a context come in, the
//! model of `interlingua-core` goes out, and back.
//!
//! Every protocol has a folder with the same files: `wire` (its own types, faithful to its specification), `decode`,
//! `encode`, `fault` (the closed list of faults in its spelling), `discover`. No folder names another protocol; what several
//! wires are built of stands beside them: [`rpc`] (JSON-RPC 2.0), [`members`] and [`object`] (a JSON object read in one
//! pass, and written member by member), [`protobuf`] (fields by number), [`jcs`] (one spelling for what is signed), [`jwk`]
//! (public keys), [`hop`] (headers between hubs), [`claims`] (what somebody says of a skill), [`oauth`] (tokens: how a client comes by one, and what one says).

pub mod a2a;
pub mod aip;
pub mod claims;
pub mod envelope;
pub mod hop;
pub mod jcs;
pub mod jwk;
pub mod mcp;
pub mod members;
pub mod nlip;
pub mod nlweb;
pub mod oauth;
pub mod object;
pub mod protobuf;
pub mod providers;
pub mod rpc;
pub mod sse;
